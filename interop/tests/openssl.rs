//! DTLS 1.2 with OpenSSL on the other side.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sixlock_dtls::{Client, Config, Failure, Profile, Refusal, Suites};
use sixlock_interop::{
    Credential, PATIENCE, PlainClient, Process, SecureClient, SecureServer, SecureSocket, Seen,
};

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
const KEY_HEX: &str = "3031323334353637383961626364656630313233343536373839616263646566";
const WRONG_KEY_HEX: &str = "ff31323334353637383961626364656630313233343536373839616263646566";

fn credential() -> Credential {
    named(IDENTITY)
}

fn named(identity: &str) -> Credential {
    Credential { identity: identity.into(), key: KEY.into() }
}

/// So short a patience that silence shows within seconds.
const HASTY: Config = Config { retransmissions: 2, ..Config::HOST };
/// So short a patience that a wrong key shows within seconds; silence does not, so that a peer may be slow.
const STRICT: Config = Config { bad_records: 2, ..Config::HOST };

/// OpenSSL's configuration as it comes.
const AS_IT_COMES: &str = "/dev/null";
/// A configuration in which it knows nothing of the extended master secret.
const WITHOUT_EXTENDED_MASTER_SECRET: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/data/no-extended-master-secret.cnf");

/// OpenSSL with the configuration in a file.
fn openssl(configuration: &str, arguments: &[&str]) -> Process {
    Process::start_with("openssl", "openssl", arguments, &[("OPENSSL_CONF", configuration)])
}

/// An OpenSSL server and its address.
fn server(key: &str, more: &[&str]) -> (Process, SocketAddr) {
    server_configured(AS_IT_COMES, key, more)
}

fn server_configured(configuration: &str, key: &str, more: &[&str]) -> (Process, SocketAddr) {
    let mut arguments = vec!["s_server", "-dtls1_2", "-nocert", "-accept", "127.0.0.1:0"];
    arguments.extend(["-cipher", "PSK-AES128-CCM8", "-psk", key]);
    arguments.extend(more);
    let server = openssl(configuration, &arguments);
    let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
    let address = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    (server, address)
}

/// An OpenSSL client of `address`.
fn client(address: SocketAddr, identity: &str, key: &str) -> Process {
    client_configured(AS_IT_COMES, address, identity, key)
}

fn client_configured(configuration: &str, address: SocketAddr, identity: &str, key: &str) -> Process {
    let address = address.to_string();
    let mut arguments = vec!["s_client", "-dtls1_2", "-connect", &address, "-cipher", "PSK-AES128-CCM8"];
    arguments.extend(["-psk_identity", identity, "-psk", key]);
    openssl(configuration, &arguments)
}

/// A client that knows another suite only.
fn client_of_suite(address: SocketAddr, cipher: &str) -> Process {
    let address = address.to_string();
    let mut arguments = vec!["s_client", "-dtls1_2", "-connect", &address, "-cipher", cipher];
    arguments.extend(["-psk_identity", IDENTITY, "-psk", KEY_HEX]);
    openssl(AS_IT_COMES, &arguments)
}

fn our_client_speaks_with(server: Process, address: SocketAddr, credential: Credential, config: Config) {
    speak(SecureClient::connect(address, credential, config), server);
}

/// Until either side has closed the session.
fn speak<P: Profile>(mut client: SecureSocket<Client<P>>, mut server: Process) {
    assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
    client.send(b"from the client\n");
    assert!(server.prints("from the client", PATIENCE), "{}", server.output());
    server.write("from the server\n");
    assert_eq!(client.receive(PATIENCE).unwrap(), b"from the server\n");
    client.close();
    assert_eq!(client.seen(), [Seen::Connected, Seen::Closed]);
    assert!(server.prints("DONE", PATIENCE), "{}", server.output());
}

#[test]
fn our_client_speaks_with_a_server_without_cookies() {
    let (server, address) = server(KEY_HEX, &["-psk_identity", IDENTITY]);
    our_client_speaks_with(server, address, credential(), Config::HOST);
}

#[test]
fn our_client_speaks_with_a_server_with_cookies() {
    let (server, address) = server(KEY_HEX, &["-psk_identity", IDENTITY, "-listen"]);
    our_client_speaks_with(server, address, credential(), Config::HOST);
}

#[test]
fn our_plain_client_speaks_with_a_server_that_can_do_more() {
    let (server, address) = server(KEY_HEX, &["-psk_identity", IDENTITY, "-listen"]);
    speak(PlainClient::connect(address, credential(), Config::HOST), server);
}

#[test]
fn our_client_speaks_with_a_server_that_gives_a_hint() {
    let (server, address) = server(KEY_HEX, &["-psk_identity", IDENTITY, "-psk_hint", "whatever"]);
    our_client_speaks_with(server, address, credential(), Config::HOST);
}

#[test]
fn our_client_speaks_without_the_extended_master_secret() {
    let (server, address) =
        server_configured(WITHOUT_EXTENDED_MASTER_SECRET, KEY_HEX, &["-psk_identity", IDENTITY]);
    our_client_speaks_with(server, address, credential(), Config::HOST);
}

#[test]
fn our_client_speaks_in_fragments() {
    let identity = "long".repeat(32);
    let (server, address) = server(KEY_HEX, &["-psk_identity", &identity]);
    our_client_speaks_with(server, address, named(&identity), Config { max_datagram: 64, ..Config::HOST });
}

#[test]
fn our_client_understands_fragments() {
    let (server, address) =
        server(KEY_HEX, &["-psk_identity", IDENTITY, "-mtu", "256", "-psk_hint", &"long ".repeat(24)]);
    our_client_speaks_with(server, address, credential(), Config::HOST);
}

#[test]
fn our_client_with_a_wrong_key_is_refused() {
    let (server, address) = server(WRONG_KEY_HEX, &["-psk_identity", IDENTITY]);
    let mut client = SecureClient::connect(address, credential(), HASTY);
    assert!(
        client.until(Seen::Failed(Failure::TimedOut), PATIENCE),
        "{:?} {}",
        client.seen(),
        server.output()
    );
    assert!(!client.seen().contains(&Seen::Connected));
}

#[test]
fn our_server_speaks_with_a_client() {
    let mut server = SecureServer::bind(credential(), Config::HOST);
    let mut client = client(server.address(), IDENTITY, KEY_HEX);
    assert!(server.until(Seen::Connected, PATIENCE), "{:?} {}", server.seen(), client.output());
    client.write("from the client\n");
    assert_eq!(server.receive(PATIENCE).unwrap(), b"from the client\n");
    server.send(b"from the server\n");
    assert!(client.prints("from the server", PATIENCE), "{}", client.output());
    for property in ["Secure Renegotiation IS supported", "Extended master secret: yes", "PSK-AES128-CCM8"] {
        assert!(client.prints(property, PATIENCE), "{}", client.output());
    }
    client.write("Q\n");
    assert!(server.until(Seen::Closed, PATIENCE), "{:?} {}", server.seen(), client.output());
}

#[test]
fn our_server_speaks_without_the_extended_master_secret() {
    let mut server = SecureServer::bind(credential(), Config::HOST);
    let mut client = client_configured(WITHOUT_EXTENDED_MASTER_SECRET, server.address(), IDENTITY, KEY_HEX);
    assert!(server.until(Seen::Connected, PATIENCE), "{:?} {}", server.seen(), client.output());
    client.write("from the client\n");
    assert_eq!(server.receive(PATIENCE).unwrap(), b"from the client\n");
    assert!(client.prints("Extended master secret: no", PATIENCE), "{}", client.output());
}

#[test]
fn our_server_closes() {
    let mut server = SecureServer::bind(credential(), Config::HOST);
    let mut client = client(server.address(), IDENTITY, KEY_HEX);
    assert!(server.until(Seen::Connected, PATIENCE), "{:?} {}", server.seen(), client.output());
    server.close();
    assert!(client.prints("closed", PATIENCE), "{}", client.output());
    assert!(client.succeeds(PATIENCE), "{}", client.output());
}

#[test]
fn our_server_refuses_a_wrong_key_and_an_unknown_identity_alike() {
    for (identity, key, refusal) in
        [(IDENTITY, WRONG_KEY_HEX, Refusal::WrongKey), ("nobody", KEY_HEX, Refusal::UnknownIdentity)]
    {
        let mut server = SecureServer::bind(credential(), STRICT);
        let mut client = client(server.address(), identity, key);
        let failed = server.until(Seen::Failed(Failure::Authentication(refusal)), PATIENCE);
        assert!(failed, "{:?} {}", server.seen(), client.output());
        assert!(client.prints("alert decrypt error", PATIENCE), "{}", client.output());
        assert!(!client.succeeds(Duration::from_secs(5)), "{}", client.output());
    }
}

/// A handshake's datagrams, as our client has sent them.
fn sent(client: &SecureClient) -> (usize, usize) {
    (client.sent().len(), client.sent().iter().sum())
}

#[test]
fn our_client_resumes_a_session() {
    for more in [&["-psk_identity", IDENTITY][..], &["-psk_identity", IDENTITY, "-listen"]] {
        let (server, address) = server(KEY_HEX, more);
        let mut client = SecureClient::connect(address, credential(), Config::HOST);
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
        let full = sent(&client);
        client.close();
        assert!(server.prints("DONE", PATIENCE), "{}", server.output());
        client.reconnect(address);
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
        client.send(b"resumed\n");
        assert!(server.prints("resumed", PATIENCE), "{}", server.output());
        println!("our client's datagrams and bytes: full {full:?}, resumed {:?}", sent(&client));
        assert_eq!(client.resumptions(), 1, "{}", server.output());
    }
}

#[test]
fn our_server_resumes_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session");
    let path = file.to_str().unwrap();
    let mut server = SecureServer::bind(credential(), Config { resumable: true, ..Config::HOST });
    for (option, resumed) in [("-sess_out", "New, "), ("-sess_in", "Reused, ")] {
        let address = server.address().to_string();
        let mut arguments = vec!["s_client", "-dtls1_2", "-connect", &address, "-cipher", "PSK-AES128-CCM8"];
        arguments.extend(["-psk_identity", IDENTITY, "-psk", KEY_HEX, option, path]);
        let mut client = openssl(AS_IT_COMES, &arguments);
        assert!(server.until(Seen::Connected, PATIENCE), "{:?} {}", server.seen(), client.output());
        client.write("from the client\n");
        assert_eq!(server.receive(PATIENCE).unwrap(), b"from the client\n");
        server.send(b"from the server\n");
        assert!(client.prints("from the server", PATIENCE), "{}", client.output());
        assert!(client.prints(resumed, PATIENCE), "{}", client.output());
        client.write("Q\n");
        assert!(server.until(Seen::Closed, PATIENCE), "{:?} {}", server.seen(), client.output());
        assert!(client.succeeds(PATIENCE), "{}", client.output());
        server.next();
    }
    assert_eq!(server.resumptions(), 1);
}

const ALL_SUITES: Config = Config { suites: Suites::ALL, ..Config::HOST };
/// Those that are not the one of every device.
const OTHER_SUITES: [&str; 2] = ["PSK-AES128-CCM", "PSK-AES128-GCM-SHA256"];

#[test]
fn our_client_speaks_by_other_suites() {
    for cipher in OTHER_SUITES {
        let (server, address) = server(KEY_HEX, &["-psk_identity", IDENTITY, "-cipher", cipher]);
        our_client_speaks_with(server, address, credential(), ALL_SUITES);
    }
}

#[test]
fn our_server_speaks_by_other_suites() {
    for cipher in OTHER_SUITES {
        let mut server = SecureServer::bind(credential(), ALL_SUITES);
        let mut client = client_of_suite(server.address(), cipher);
        assert!(server.until(Seen::Connected, PATIENCE), "{:?} {}", server.seen(), client.output());
        client.write("from the client\n");
        assert_eq!(server.receive(PATIENCE).unwrap(), b"from the client\n");
        server.send(b"from the server\n");
        for text in ["from the server", &format!("Cipher is {cipher}\n")] {
            assert!(client.prints(text, PATIENCE), "{}", client.output());
        }
    }
}

#[test]
fn our_server_refuses_a_suite_that_it_does_not_know() {
    let mut server = SecureServer::bind(credential(), ALL_SUITES);
    let mut client = client_of_suite(server.address(), "PSK-AES256-GCM-SHA384");
    let end = Instant::now() + PATIENCE;
    let mut refused = false;
    while !refused && Instant::now() < end {
        server.until(Seen::Connected, Duration::from_millis(100));
        refused = client.output().contains("alert handshake failure");
    }
    assert!(refused && server.seen().is_empty(), "{:?} {}", server.seen(), client.output());
    assert!(!client.succeeds(PATIENCE), "{}", client.output());
}

#[test]
fn our_client_asks_for_short_records() {
    let (mut server, address) = server(KEY_HEX, &["-psk_identity", IDENTITY]);
    let mut client =
        SecureClient::connect(address, credential(), Config { record_limit: Some(512), ..Config::HOST });
    assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
    assert_eq!(client.max_data(), 512, "OpenSSL knows of max_fragment_length");
    server.write(&format!("{}\n", "x".repeat(511)));
    assert_eq!(client.receive(PATIENCE).unwrap().len(), 512);
}

#[test]
fn our_server_keeps_to_what_a_client_asks_for() {
    let mut server = SecureServer::bind(credential(), Config::HOST);
    let address = server.address().to_string();
    let mut arguments = vec!["s_client", "-dtls1_2", "-connect", &address, "-cipher", "PSK-AES128-CCM8"];
    arguments.extend(["-psk_identity", IDENTITY, "-psk", KEY_HEX, "-maxfraglen", "1024"]);
    let client = openssl(AS_IT_COMES, &arguments);
    assert!(server.until(Seen::Connected, PATIENCE), "{:?} {}", server.seen(), client.output());
    assert_eq!(server.max_data(), 1024);
    server.send(&[b'x'; 1024]);
    assert!(client.prints(&"x".repeat(1024), PATIENCE), "{}", client.output());
}
