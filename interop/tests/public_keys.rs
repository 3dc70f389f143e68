//! DTLS 1.2 by certificates and by raw public keys, with OpenSSL and GnuTLS on the other side.

use std::net::SocketAddr;

use sixlock_dtls::{Config, Failure, Refusal, Suite, Suites};
use sixlock_interop::{
    Authority, CertifiedClient, CertifiedServer, Keys, PATIENCE, Process, Seen, gnutls_serv,
};

const CONFIG: Config = Config {
    suites: Suites::new(&[
        Suite::EcdheEcdsaAes128Ccm8,
        Suite::EcdheEcdsaAes128Ccm,
        Suite::EcdheEcdsaAes128Gcm,
    ]),
    resumable: true,
    ..Config::HOST
};
/// So short a patience that a refusal shows at once; silence does not, so that a peer may be slow.
const STRICT: Config = Config { bad_records: 1, ..CONFIG };

/// OpenSSL's names of them.
const CIPHERS: [&str; 3] =
    ["ECDHE-ECDSA-AES128-CCM8", "ECDHE-ECDSA-AES128-CCM", "ECDHE-ECDSA-AES128-GCM-SHA256"];

fn openssl(arguments: &[&str]) -> Process {
    Process::start_with("openssl", "openssl", arguments, &[("OPENSSL_CONF", "/dev/null")])
}

/// An OpenSSL server with the cloud's certificate, which asks its clients for theirs.
fn openssl_server(authority: &Authority, cipher: &str) -> (Process, SocketAddr) {
    let [own, key, root] = ["cloud.pem", "cloud.key", "authority.pem"].map(|file| authority.path(file));
    let server = openssl(&[
        "s_server",
        "-dtls1_2",
        "-accept",
        "127.0.0.1:0",
        "-cipher",
        cipher,
        "-cert",
        &own,
        "-key",
        &key,
        "-CAfile",
        &root,
        "-Verify",
        "2",
        "-verify_return_error",
    ]);
    let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
    (server, SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap())))
}

/// An OpenSSL client with the device's certificate.
fn openssl_client(authority: &Authority, address: SocketAddr, cipher: &str) -> Process {
    let [own, key, root] = ["device.pem", "device.key", "authority.pem"].map(|file| authority.path(file));
    openssl(&[
        "s_client",
        "-dtls1_2",
        "-connect",
        &address.to_string(),
        "-cipher",
        cipher,
        "-cert",
        &own,
        "-key",
        &key,
        "-CAfile",
        &root,
        "-verify_return_error",
    ])
}

/// Data both ways, and our close.
fn our_client_speaks(client: &mut CertifiedClient, server: &mut Process, closed: &str) {
    assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
    client.send(b"from the client\n");
    assert!(server.prints("from the client", PATIENCE), "{}", server.output());
    server.write("from the server\n");
    assert_eq!(client.receive(PATIENCE).unwrap(), b"from the server\n");
    client.close();
    assert!(server.prints(closed, PATIENCE), "{}", server.output());
}

/// Data both ways.
fn our_server_speaks(server: &mut CertifiedServer, client: &mut Process) {
    assert!(server.until(Seen::Connected, PATIENCE), "{:?} {}", server.seen(), client.output());
    client.write("from the client\n");
    assert_eq!(server.receive(PATIENCE).unwrap(), b"from the client\n");
    server.send(b"from the server\n");
    assert!(client.prints("from the server", PATIENCE), "{}", client.output());
}

#[test]
fn our_client_speaks_with_openssl_by_certificates() {
    let authority = Authority::new();
    for cipher in CIPHERS {
        let (mut server, address) = openssl_server(&authority, cipher);
        let mut client = CertifiedClient::connect_with(address, authority.certified("device"), CONFIG);
        our_client_speaks(&mut client, &mut server, "DONE");
        assert_eq!(client.seen(), [Seen::Connected, Seen::Closed]);
        assert!(server.output().contains("CN = device"), "{}", server.output());
    }
}

#[test]
fn openssl_resumes_the_session_of_a_client_with_a_certificate() {
    let authority = Authority::new();
    let (mut server, address) = openssl_server(&authority, "ECDHE-ECDSA-AES128-CCM8");
    let mut client = CertifiedClient::connect_with(address, authority.certified("device"), CONFIG);
    our_client_speaks(&mut client, &mut server, "DONE");
    client.reconnect(address);
    assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
    assert_eq!(client.resumptions(), 1);
}

#[test]
fn our_server_speaks_with_openssl_by_certificates() {
    let authority = Authority::new();
    for cipher in CIPHERS {
        let mut server = CertifiedServer::bind_with(authority.certified("cloud"), CONFIG);
        let mut client = openssl_client(&authority, server.address(), cipher);
        our_server_speaks(&mut server, &mut client);
        assert!(client.prints("Verify return code: 0 (ok)", PATIENCE), "{}", client.output());
        server.close();
        assert!(client.prints("closed", PATIENCE), "{}", client.output());
    }
}

#[test]
fn our_client_refuses_openssl_with_a_certificate_of_another_authority() {
    let (server, address) = openssl_server(&Authority::new(), "ECDHE-ECDSA-AES128-CCM8");
    let mut client = CertifiedClient::connect_with(address, Authority::new().certified("device"), STRICT);
    let failed = client.until(Seen::Failed(Failure::Authentication(Refusal::CertificateInvalid)), PATIENCE);
    assert!(failed, "{:?} {}", client.seen(), server.output());
    assert!(server.prints("alert bad certificate", PATIENCE), "{}", server.output());
}

#[test]
fn our_server_refuses_openssl_with_a_certificate_of_another_authority() {
    let (ours, other) = (Authority::new(), Authority::new());
    let mut server = CertifiedServer::bind_with(ours.certified("cloud"), STRICT);
    let [own, key] = ["device.pem", "device.key"].map(|file| other.path(file));
    let client = openssl(&[
        "s_client",
        "-dtls1_2",
        "-connect",
        &server.address().to_string(),
        "-cipher",
        "ECDHE-ECDSA-AES128-CCM8",
        "-cert",
        &own,
        "-key",
        &key,
    ]);
    let failed = server.until(Seen::Failed(Failure::Authentication(Refusal::CertificateInvalid)), PATIENCE);
    assert!(failed, "{:?} {}", server.seen(), client.output());
    assert!(client.prints("alert bad certificate", PATIENCE), "{}", client.output());
}

/// GnuTLS's suite with this cipher and one kind of certificates.
fn priority(cipher: &str, kinds: &str) -> String {
    format!(
        "NONE:+VERS-DTLS1.2:+{cipher}:+ECDHE-ECDSA:+AEAD:+SIGN-ECDSA-SHA256:+GROUP-SECP256R1:+COMP-NULL:{kinds}"
    )
}

const CCM_8: &str = "AES-128-CCM-8";
/// Its ciphers, each with certificates or with raw public keys.
const GNUTLS: [(&str, bool); 4] =
    [(CCM_8, false), (CCM_8, true), ("AES-128-CCM", false), ("AES-128-GCM", false)];
const X509: &str = "+CTYPE-X509";
const RAW: &str = "+CTYPE-CLI-RAWPK:+CTYPE-SRV-RAWPK";

/// The files of a name, as GnuTLS's programs take them.
fn gnutls_keys(authority: &Authority, name: &str, raw: bool) -> Vec<String> {
    let [key, own, public, root] =
        [format!("{name}.key"), format!("{name}.pem"), format!("{name}.pub"), "authority.pem".into()]
            .map(|file| authority.path(&file));
    let arguments: Vec<&str> = if raw {
        vec!["--rawpkkeyfile", &key, "--rawpkfile", &public]
    } else {
        vec!["--x509keyfile", &key, "--x509certfile", &own, "--x509cafile", &root]
    };
    arguments.into_iter().map(str::to_owned).collect()
}

fn gnutls_server(authority: &Authority, cipher: &str, raw: bool) -> (Process, SocketAddr) {
    let mut arguments = vec!["--udp".to_owned(), "--echo".into()];
    arguments.extend(["--priority".into(), priority(cipher, if raw { RAW } else { X509 })]);
    arguments.push("--require-client-cert".into());
    if !raw {
        arguments.push("--verify-client-cert".into());
    }
    arguments.extend(gnutls_keys(authority, "cloud", raw));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    gnutls_serv(&arguments, "listening on IPv4")
}

fn gnutls_client(authority: &Authority, address: SocketAddr, cipher: &str, raw: bool) -> Process {
    let mut arguments = vec!["--udp".to_owned(), "--port".into(), address.port().to_string()];
    arguments.extend(["--priority".into(), priority(cipher, if raw { RAW } else { X509 })]);
    // Names are not what is tested here, and of raw keys GnuTLS's program knows none in advance.
    arguments.push(if raw { "--no-ca-verification" } else { "--verify-hostname=cloud" }.into());
    arguments.extend(gnutls_keys(authority, "device", raw));
    arguments.push("127.0.0.1".into());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Process::start("gnutls-cli", "gnutls-bin", &arguments)
}

fn ours(authority: &Authority, own: &str, peer: &str, raw: bool) -> Keys {
    if raw { authority.raw(own, peer) } else { authority.certified(own) }
}

#[test]
fn our_client_speaks_with_gnutls_by_certificates_and_raw_public_keys() {
    let authority = Authority::new();
    for (cipher, raw) in GNUTLS {
        let (server, address) = gnutls_server(&authority, cipher, raw);
        let mut client =
            CertifiedClient::connect_with(address, ours(&authority, "device", "cloud", raw), CONFIG);
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
        client.send(b"there and back\n");
        assert_eq!(client.receive(PATIENCE).unwrap(), b"there and back\n", "{}", server.output());
        client.close();
        assert_eq!(client.seen(), [Seen::Connected, Seen::Closed]);
    }
}

#[test]
fn our_server_speaks_with_gnutls_by_certificates_and_raw_public_keys() {
    let authority = Authority::new();
    for (cipher, raw) in GNUTLS {
        let mut server = CertifiedServer::bind_with(ours(&authority, "cloud", "device", raw), CONFIG);
        let mut client = gnutls_client(&authority, server.address(), cipher, raw);
        our_server_speaks(&mut server, &mut client);
        server.close();
        assert!(client.prints("Peer has closed the GnuTLS connection", PATIENCE), "{}", client.output());
    }
}

#[test]
fn our_server_refuses_a_raw_public_key_of_gnutls_that_it_does_not_know() {
    let authority = Authority::new();
    let mut server = CertifiedServer::bind_with(authority.raw("cloud", "authority"), STRICT);
    let client = gnutls_client(&authority, server.address(), CCM_8, true);
    let failed = server.until(Seen::Failed(Failure::Authentication(Refusal::UnknownAuthority)), PATIENCE);
    assert!(failed, "{:?} {}", server.seen(), client.output());
    assert!(client.prints("Fatal error", PATIENCE), "{}", client.output());
}
