//! Sessions resumed by tickets: at our cloud, with the clients of OpenSSL, GnuTLS, Mbed TLS and wolfSSL, and by our client, with the
//! servers of the first two (with those of the others: `peers/`).

use std::fs;
use std::net::SocketAddr;

use sixlock_cloud::{Config, Device, ResourceId, Rotation, Running, Secret};
use sixlock_dtls::{Config as Dtls, Suite, Suites};
use sixlock_interop::{
    Authentication, Authority, Credential, Library, PATIENCE, Process, Seen, Settings, TicketClient,
    gnutls_serv,
};
use tempfile::TempDir;

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
const KEY_HEX: &str = "3031323334353637383961626364656630313233343536373839616263646566";
/// GnuTLS with a pre-shared key, by the suite of every device.
const PRIORITIES: &str =
    "NONE:+VERS-DTLS1.2:+AES-128-CCM-8:+PSK:+AEAD:+COMP-NULL:+SIGN-ALL:+GROUP-ALL:+CTYPE-X509";

const CERTIFIED_PRIORITIES: &str =
    "NONE:+VERS-DTLS1.2:+AES-128-CCM-8:+ECDHE-ECDSA:+AEAD:+COMP-NULL:+SIGN-ALL:+GROUP-ALL:+CTYPE-X509";

fn credential() -> Credential {
    Credential { identity: IDENTITY.into(), key: KEY.into() }
}

fn openssl(arguments: &[&str]) -> Process {
    Process::start_with("openssl", "openssl", arguments, &[("OPENSSL_CONF", "/dev/null")])
}

/// A cloud that knows one device, and is started anew at the same data.
struct Cloud {
    running: Option<Running>,
    directory: TempDir,
    resource: ResourceId,
}

impl Cloud {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let running = sixlock_cloud::start(Config::on_loopback(directory.path()), None).await.unwrap();
        let device = Device { key: Some(Secret::new(KEY.into())), ..Device::named(IDENTITY) };
        let resource = running.enrol(device).await.unwrap().resource.id;
        Self { running: Some(running), directory, resource }
    }

    async fn restart(&mut self) {
        self.stop().await;
        let config = Config::on_loopback(self.directory.path());
        self.running = Some(sixlock_cloud::start(config, None).await.unwrap());
    }

    async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await.unwrap();
        }
    }

    fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().coaps
    }

    /// How much is kept on the disk of sessions with ids.
    fn kept(&self) -> u64 {
        fs::metadata(self.directory.path().join("sessions")).unwrap().len()
    }

    /// From now on the device has another key.
    async fn replace_key(&self) {
        self.running.as_ref().unwrap().store.rotate(self.resource, Rotation::until(0), 0).await.unwrap();
    }
}

/// Makes a session with the cloud at `address`, and saves it in a file, or resumes the one that is there.
fn openssl_connects(address: SocketAddr, option: &str, file: &str, prints: &str) {
    let address = address.to_string();
    let mut arguments = vec!["s_client", "-dtls1_2", "-connect", &address, "-cipher", "PSK-AES128-CCM8"];
    arguments.extend(["-psk_identity", IDENTITY, "-psk", KEY_HEX, option, file]);
    let mut client = openssl(&arguments);
    assert!(client.prints(prints, PATIENCE), "{}", client.output());
    if option == "-sess_out" {
        assert!(client.prints("TLS session ticket lifetime hint: 86400", PATIENCE), "{}", client.output());
    }
    client.write("Q\n");
    assert!(client.succeeds(PATIENCE) || prints.starts_with("alert"), "{}", client.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn openssl_resumes_at_a_cloud_that_was_started_anew_until_its_key_is_replaced() {
    let mut cloud = Cloud::start().await;
    let before = cloud.kept();
    let file = cloud.directory.path().join("openssl.session").display().to_string();
    let connects = async |cloud: &Cloud, option: &'static str, prints: &'static str| {
        let (address, file) = (cloud.address(), file.clone());
        tokio::task::spawn_blocking(move || openssl_connects(address, option, &file, prints)).await.unwrap();
    };
    connects(&cloud, "-sess_out", "New, ").await;
    for _ in 0..2 {
        cloud.restart().await;
        connects(&cloud, "-sess_in", "Reused, ").await;
    }
    cloud.replace_key().await;
    connects(&cloud, "-sess_in", "alert decrypt error").await;
    cloud.stop().await;
    assert_eq!(cloud.kept(), before, "nothing was kept of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn gnutls_resumes_at_our_cloud() {
    let mut cloud = Cloud::start().await;
    let before = cloud.kept();
    let port = cloud.address().port().to_string();
    let resumes = move || {
        let mut arguments = vec!["--udp", "--resume", "--port", &port, "--priority", PRIORITIES];
        arguments.extend(["--pskusername", IDENTITY, "--pskkey", KEY_HEX, "127.0.0.1"]);
        let client = Process::start("gnutls-cli", "gnutls-bin", &arguments);
        assert!(client.prints("This is a resumed session", PATIENCE), "{}", client.output());
    };
    tokio::task::spawn_blocking(resumes).await.unwrap();
    cloud.stop().await;
    assert_eq!(cloud.kept(), before, "nothing was kept of it");
}

async fn resumes_at_a_cloud_that_was_started_anew(library: Library, suite: Suite) {
    let mut cloud = Cloud::start().await;
    let before = cloud.kept();
    let credential = credential();
    let settings = Settings {
        authentication: Authentication::Shared(&credential),
        suites: &[suite],
        connection_id: None,
        server: Some(cloud.address()),
    };
    let mut client = library.start(env!("CARGO_TARGET_TMPDIR"), &settings);
    client.write("!connect");
    tokio::task::block_in_place(|| client.prints("connected "));
    cloud.restart().await;
    client.write(&format!("!server {}", cloud.address().port()));
    client.write("!resume");
    client.write("!connect");
    tokio::task::block_in_place(|| client.prints("resumed "));
    cloud.stop().await;
    assert_eq!(cloud.kept(), before, "nothing was kept of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn mbed_tls_resumes_at_a_cloud_that_was_started_anew() {
    resumes_at_a_cloud_that_was_started_anew(Library::MbedTls, Suite::PskAes128Ccm8).await;
}

/// Of the suites with pre-shared keys it has no other.
#[tokio::test(flavor = "multi_thread")]
async fn wolfssl_resumes_at_a_cloud_that_was_started_anew() {
    resumes_at_a_cloud_that_was_started_anew(Library::WolfSsl, Suite::EcdhePskAes128Gcm).await;
}

/// Makes a session, and resumes it twice.
fn resumes(mut client: TicketClient, server: &Process, address: SocketAddr, (begins, echoes): (&str, bool)) {
    for resumptions in 0..3 {
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
        assert_eq!(client.resumptions(), resumptions, "{}", server.output());
        let text = format!("{begins} {resumptions}\n");
        client.send(text.as_bytes());
        if echoes {
            assert_eq!(client.receive(PATIENCE).as_deref(), Some(text.as_bytes()), "{}", server.output());
        } else {
            assert!(server.prints(text.trim(), PATIENCE), "{}", server.output());
        }
        client.close();
        client.reconnect(address);
    }
    let lengths: Vec<usize> = client.tickets().iter().map(Vec::len).collect();
    println!("{begins}: tickets of {lengths:?} bytes");
    assert!(!lengths.is_empty(), "{}", server.output());
}

/// Of its sessions the server keeps nothing (`-no_cache`).
#[test]
fn our_client_resumes_with_openssl() {
    let authority = Authority::new();
    let [own, secret, trusted] = ["cloud.pem", "cloud.key", "authority.pem"].map(|file| authority.path(file));
    let psk = ["-nocert", "-cipher", "PSK-AES128-CCM8", "-psk_identity", IDENTITY, "-psk", KEY_HEX];
    let keys = authority.certified("device");
    let certified =
        ["-cipher", "ECDHE-ECDSA-AES128-CCM8", "-cert", &own, "-key", &secret, "-CAfile", &trusted];
    for (more, keys) in [(&psk[..], None), (&certified[..], Some(keys))] {
        let begin = ["s_server", "-dtls1_2", "-no_cache", "-accept", "127.0.0.1:0"];
        let server = openssl(&[&begin[..], more].concat());
        let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
        let address = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
        let suites = Suites::new(&[Suite::PskAes128Ccm8, Suite::EcdheEcdsaAes128Ccm8]);
        let config = Dtls { suites, ..Dtls::HOST };
        let client = match keys {
            None => TicketClient::connect(address, credential(), config),
            Some(keys) => TicketClient::connect_with(address, keys, config),
        };
        resumes(client, &server, address, ("to OpenSSL", false));
    }
}

/// The client's certificate stands in its tickets, too.
#[test]
fn our_client_resumes_with_gnutls() {
    let authority = Authority::new();
    let [own, secret, trusted] = ["cloud.pem", "cloud.key", "authority.pem"].map(|file| authority.path(file));
    let keys = authority.path("keys");
    fs::write(&keys, format!("{IDENTITY}:{KEY_HEX}\n")).unwrap();
    let psk = ["--pskpasswd", &keys, "--priority", PRIORITIES];
    let certified = ["--x509certfile", &own, "--x509keyfile", &secret, "--x509cafile", &trusted];
    let certified = [&certified[..], &["--require-client-cert", "--priority", CERTIFIED_PRIORITIES]].concat();
    for (more, keys) in [(&psk[..], None), (&certified[..], Some(authority.certified("device")))] {
        let begin = ["--udp", "--echo", "--mtu", "600"];
        let (server, address) = gnutls_serv(&[&begin[..], more].concat(), "listening on IPv6");
        let suites = Suites::new(&[Suite::PskAes128Ccm8, Suite::EcdheEcdsaAes128Ccm8]);
        let config = Dtls { suites, ..Dtls::HOST };
        let client = match keys {
            None => TicketClient::connect(address, credential(), config),
            Some(keys) => TicketClient::connect_with(address, keys, config),
        };
        resumes(client, &server, address, ("to GnuTLS", true));
    }
}

/// The client's certificate stands in it.
#[test]
fn our_client_passes_over_a_ticket_of_openssl_s_that_is_too_long_in_many_pieces() {
    let authority = Authority::new();
    let names: Vec<String> = (0..30).map(|n| format!("DNS:verbose-{n}.example.net")).collect();
    authority.certify("verbose", &format!("subjectAltName={}", names.join(",")));
    let [own, secret, trusted] = ["cloud.pem", "cloud.key", "authority.pem"].map(|file| authority.path(file));
    let mut arguments = vec!["s_server", "-dtls1_2", "-mtu", "400", "-accept", "127.0.0.1:0", "-Verify", "2"];
    arguments.extend(["-cipher", "ECDHE-ECDSA-AES128-CCM8", "-cert", &own, "-key", &secret]);
    arguments.extend(["-CAfile", &trusted]);
    let server = openssl(&arguments);
    let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
    let address = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    let config = Dtls { suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]), ..Dtls::HOST };
    let mut client = TicketClient::connect_with(address, authority.certified("verbose"), config);
    assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
    client.send(b"past a long ticket\n");
    assert!(server.prints("past a long ticket", PATIENCE), "{}", server.output());
    assert_eq!(client.tickets().len(), 0);
}
