//! Californium's Scandium: every mode, and what no other has, connection ids and suites with pre-shared and ephemeral keys.

use std::net::SocketAddr;

use sixlock_dtls::{AlertDescription, Config, ConnectionId, Failure, Refusal, Suite};
use sixlock_interop::{Authentication, CertifiedClient, CertifiedServer, Nat, Peer, Seen, Settings};

use crate::cases::{self, By, PATIENCE, Pair, config, credential};

fn start(settings: &Settings<'_>) -> Peer {
    Peer::new(sixlock_interop::californium(env!("CARGO_TARGET_TMPDIR"), "Peer", settings))
}

/// What our side finds who proves no key that it knows, in each of the modes.
const STRANGERS: [Failure; 3] = [
    Failure::Authentication(Refusal::WrongKey),
    Failure::Authentication(Refusal::CertificateInvalid),
    Failure::Authentication(Refusal::UnknownAuthority),
];

/// One of each mode.
const MODES: [(By, Suite); 3] = [
    (By::SharedKeys, Suite::PskAes128Ccm8),
    (By::Certificates, Suite::EcdheEcdsaAes128Ccm8),
    (By::RawPublicKeys, Suite::EcdheEcdsaAes128Ccm8),
];

#[test]
fn our_client_speaks_with_californium() {
    for (by, suite) in MODES {
        cases::our_client_speaks(start, by, suite);
    }
}

#[test]
fn our_server_speaks_with_californium() {
    for (by, suite) in MODES {
        cases::our_server_speaks(start, by, suite);
    }
}

#[test]
fn our_client_and_californium_refuse_each_other() {
    // The server waits for a Finished under its own key.
    for (mode, failure) in MODES.into_iter().zip([Failure::TimedOut, STRANGERS[1], STRANGERS[2]]) {
        cases::our_client_fails(start, mode, failure, "");
    }
}

#[test]
fn our_server_and_californium_refuse_each_other() {
    let refused = Failure::Refused(AlertDescription::BAD_CERTIFICATE);
    for (mode, failure) in MODES.into_iter().zip([STRANGERS[0], refused, refused]) {
        cases::our_server_fails(start, mode, failure, "alert: ");
    }
}

fn with_id(suite: Suite, bytes: &[u8]) -> Config {
    Config { connection_id: ConnectionId::new(bytes), ..config(suite) }
}

#[test]
fn our_client_changes_its_address_and_resumes() {
    for ((by, suite), ours, theirs) in
        [(MODES[0], &[][..], 6), (MODES[0], &[7; 8], 8), (MODES[1], &[], 6), (MODES[2], &[5; 4], 1)]
    {
        let pair = Pair::new(start, by, suite);
        let mut peer = pair.peer(None, Some(theirs));
        let mut client = pair.our_client(peer.address(), with_id(suite, ours));
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), peer.output());
        peer.answers(&mut client, "first");
        client.change_address();
        peer.answers(&mut client, "elsewhere");
        client.close();
        client.reconnect(peer.address());
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), peer.output());
        assert_eq!(client.resumptions(), 1, "{}", peer.output());
        peer.answers(&mut client, "resumed");
    }
}

#[test]
fn our_servers_client_changes_its_address_and_resumes() {
    for (by, suite) in MODES {
        let pair = Pair::new(start, by, suite);
        let mut server = pair.our_server(with_id(suite, &[1, 2, 3]));
        let nat = Nat::before(server.address());
        let mut peer = pair.peer(Some(nat.address()), Some(0));
        peer.asks(&mut server, "first");
        for text in ["elsewhere", "elsewhere again"] {
            nat.forget();
            peer.asks(&mut server, text);
        }
        assert_eq!((server.seen(), server.resumptions()), (&[Seen::Connected][..], 0));
        peer.write("!resume");
        peer.asks(&mut server, "resumed");
        assert_eq!(server.resumptions(), 1, "{}", peer.output());
    }
}

#[test]
fn ids_are_only_used_when_both_sides_know_them() {
    let suite = Suite::PskAes128Ccm8;
    let pair = Pair::new(start, By::SharedKeys, suite);
    // Each gives one that the other does not ask for, or does not know.
    for (ours, theirs) in
        [(with_id(suite, &[1, 2, 3]), None), (config(suite), Some(4)), (with_id(suite, &[]), Some(4))]
    {
        let mut server = pair.our_server(ours);
        let mut peer = pair.peer(Some(server.address()), theirs);
        peer.asks(&mut server, "first");
    }
}

/// Those with ephemeral keys beside the pre-shared one.
const EPHEMERAL: [Suite; 3] = [Suite::EcdhePskAes128Ccm8, Suite::EcdhePskAes128Ccm, Suite::EcdhePskAes128Gcm];

/// A peer that knows all of them.
fn ephemeral_peer(server: Option<SocketAddr>) -> Peer {
    let credential = credential();
    let authentication = Authentication::Shared(&credential);
    start(&Settings { authentication, suites: &EPHEMERAL, connection_id: None, server })
}

#[test]
fn our_client_speaks_by_ephemeral_keys() {
    let mut peer = ephemeral_peer(None);
    for suite in EPHEMERAL {
        let mut client = CertifiedClient::connect(peer.address(), credential(), config(suite));
        assert!(client.until(Seen::Connected, PATIENCE), "{suite:?} {:?} {}", client.seen(), peer.output());
        peer.answers(&mut client, &format!("by {suite:?}"));
        client.close();
        client.reconnect(peer.address());
        assert!(client.until(Seen::Connected, PATIENCE), "{suite:?} {:?} {}", client.seen(), peer.output());
        assert_eq!(client.resumptions(), 1, "{}", peer.output());
        peer.answers(&mut client, &format!("resumed by {suite:?}"));
    }
}

#[test]
fn our_server_speaks_by_ephemeral_keys() {
    let servers = EPHEMERAL.map(|suite| CertifiedServer::bind(credential(), config(suite)));
    let mut peer = ephemeral_peer(Some(servers[0].address()));
    for (mut server, suite) in servers.into_iter().zip(EPHEMERAL) {
        peer.write(&format!("!server {}", server.address().port()));
        peer.asks(&mut server, &format!("{suite:?}"));
        peer.write("!resume");
        peer.asks(&mut server, &format!("resumed {suite:?}"));
        assert_eq!(server.resumptions(), 1, "{}", peer.output());
    }
}
