//! DTLS 1.2 with Californium's Scandium on the other side: connection ids, resumption, and suites with ephemeral keys.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use sixlock_dtls::{Client, Config, ConnectionId, Profile, Server, Suite, Suites};
use sixlock_interop::{
    CertifiedClient, CertifiedServer, Credential, Nat, Process, SecureClient, SecureServer, SecureSocket,
    Seen,
};

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/californium");
/// A Java machine starts slowly, and compiles its program first.
const PATIENCE: Duration = Duration::from_secs(120);

fn credential() -> Credential {
    Credential { identity: IDENTITY.into(), key: KEY.into() }
}

/// Where the libraries are, once Maven has fetched them.
fn libraries() -> &'static str {
    static LIBRARIES: OnceLock<String> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let folder = format!("{}/californium", env!("CARGO_TARGET_TMPDIR"));
        let output = Command::new("mvn")
            .args([
                "--quiet",
                "--batch-mode",
                "--file",
                &format!("{SOURCES}/pom.xml"),
                "dependency:copy-dependencies",
            ])
            .arg(format!("-DoutputDirectory={folder}"))
            .output()
            .unwrap_or_else(|error| panic!("cannot start mvn ({error}): apt-get install maven"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        format!("{folder}/*")
    })
}

/// A peer that gives connection ids of this length, if any, and the port it listens at.
fn peer(id_length: Option<usize>, server: Option<SocketAddr>) -> (Process, SocketAddr) {
    peer_of_suites("TLS_PSK_WITH_AES_128_CCM_8", id_length, server)
}

fn peer_of_suites(
    suites: &str,
    id_length: Option<usize>,
    server: Option<SocketAddr>,
) -> (Process, SocketAddr) {
    let id_length = id_length.map_or("-1".to_owned(), |length| length.to_string());
    let program = format!("{SOURCES}/Peer.java");
    let mut arguments = vec!["-cp", libraries(), &program, suites, IDENTITY, KEY, &id_length];
    let port = server.map(|server| server.port().to_string());
    arguments.extend(port.as_deref());
    let peer = Process::start("java", "default-jdk-headless", &arguments);
    let Some(port) = peer.line("port ", PATIENCE) else { panic!("{}", peer.output()) };
    let address = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    (peer, address)
}

fn with_id(bytes: &[u8]) -> Config {
    Config { connection_id: ConnectionId::new(bytes), resumable: true, ..Config::HOST }
}

/// Data goes both ways.
fn client_speaks<P: Profile>(client: &mut SecureSocket<Client<P>>, peer: &mut Process, text: &str) {
    client.send(text.as_bytes());
    let from = client.address().port();
    assert!(peer.prints(&format!("received {text} from port {from}"), PATIENCE), "{}", peer.output());
    peer.write(&format!("answer to {text}\n"));
    assert_eq!(client.receive(PATIENCE).unwrap(), format!("answer to {text}").as_bytes());
}

#[test]
fn our_client_changes_its_address_and_resumes() {
    for (ours, theirs) in [(&[][..], 6), (&[7; 8], 8)] {
        let (mut peer, address) = peer(Some(theirs), None);
        let mut client = SecureClient::connect(address, credential(), with_id(ours));
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), peer.output());
        client_speaks(&mut client, &mut peer, "first");
        client.change_address();
        client_speaks(&mut client, &mut peer, "elsewhere");
        client.close();
        client.reconnect(address);
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), peer.output());
        assert_eq!(client.resumptions(), 1, "{}", peer.output());
        client_speaks(&mut client, &mut peer, "resumed");
    }
}

/// Data goes both ways.
fn server_hears<P: Profile>(server: &mut SecureSocket<Server<P>>, peer: &mut Process, text: &str) {
    peer.write(&format!("{text}\n"));
    assert_eq!(server.receive(PATIENCE).unwrap_or_default(), text.as_bytes(), "{}", peer.output());
    server.send(format!("answer to {text}").as_bytes());
    assert!(peer.prints(&format!("received answer to {text} "), PATIENCE), "{}", peer.output());
}

#[test]
fn our_servers_client_changes_its_address_and_resumes() {
    let mut server = SecureServer::bind(credential(), with_id(&[1, 2, 3]));
    let nat = Nat::before(server.address());
    let (mut peer, _) = peer(Some(0), Some(nat.address()));
    server_hears(&mut server, &mut peer, "first");
    for text in ["elsewhere", "elsewhere again"] {
        nat.forget();
        server_hears(&mut server, &mut peer, text);
    }
    assert_eq!((server.seen(), server.resumptions()), (&[Seen::Connected][..], 0));
    peer.write("!resume\n");
    server_hears(&mut server, &mut peer, "resumed");
    assert_eq!(server.resumptions(), 1, "{}", peer.output());
}

#[test]
fn ids_are_only_used_when_both_sides_know_them() {
    // Each gives one that the other does not ask for, or does not know.
    for (ours, theirs) in [(with_id(&[1, 2, 3]), None), (Config::HOST, Some(4)), (with_id(&[]), Some(4))] {
        let mut server = SecureServer::bind(credential(), ours);
        let (mut peer, _) = peer(theirs, Some(server.address()));
        server_hears(&mut server, &mut peer, "first");
    }
}

/// Those with ephemeral keys, which no other peer has, and their names.
const EPHEMERAL: [(Suite, &str); 3] = [
    (Suite::EcdhePskAes128Ccm8, "TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256"),
    (Suite::EcdhePskAes128Ccm, "TLS_ECDHE_PSK_WITH_AES_128_CCM_SHA256"),
    (Suite::EcdhePskAes128Gcm, "TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256"),
];

fn of_suite(suite: Suite) -> Config {
    Config { suites: Suites::new(vec![suite].leak()), resumable: true, ..Config::HOST }
}

/// A peer that knows all of them.
fn ephemeral_peer(server: Option<SocketAddr>) -> (Process, SocketAddr) {
    peer_of_suites(&EPHEMERAL.map(|(_, name)| name).join(","), None, server)
}

#[test]
fn our_client_speaks_by_ephemeral_keys() {
    let (mut peer, address) = ephemeral_peer(None);
    for (suite, name) in EPHEMERAL {
        let mut client = CertifiedClient::connect(address, credential(), of_suite(suite));
        assert!(client.until(Seen::Connected, PATIENCE), "{name} {:?} {}", client.seen(), peer.output());
        client_speaks(&mut client, &mut peer, &format!("by {name}"));
        client.close();
        client.reconnect(address);
        assert!(client.until(Seen::Connected, PATIENCE), "{name} {:?} {}", client.seen(), peer.output());
        assert_eq!(client.resumptions(), 1, "{}", peer.output());
        client_speaks(&mut client, &mut peer, &format!("resumed by {name}"));
    }
}

#[test]
fn our_server_speaks_by_ephemeral_keys() {
    let servers = EPHEMERAL.map(|(suite, _)| CertifiedServer::bind(credential(), of_suite(suite)));
    let (mut peer, _) = ephemeral_peer(Some(servers[0].address()));
    for (mut server, (_, name)) in servers.into_iter().zip(EPHEMERAL) {
        peer.write(&format!("!server {}\n", server.address().port()));
        server_hears(&mut server, &mut peer, name);
        peer.write("!resume\n");
        server_hears(&mut server, &mut peer, &format!("resumed {name}"));
        assert_eq!(server.resumptions(), 1, "{}", peer.output());
    }
}
