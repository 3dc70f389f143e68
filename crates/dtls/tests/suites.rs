//! Which suite is taken, and what it adds to a record, between our own client and server.

mod pair;

use pair::{DELAY, Pair, Seen, Side};
use sixlock_base::Counter;
use sixlock_dtls::{
    AlertDescription, Config, ConnectionId, Failure, MAX_CONNECTION_ID, MAX_RECORD_OVERHEAD, Refusal, Suite,
    Suites,
};
use sixlock_dtls_msg::CipherSuite;

const CCM_8: Suite = Suite::PskAes128Ccm8;
const CCM: Suite = Suite::PskAes128Ccm;
const GCM: Suite = Suite::PskAes128Gcm;

fn config(suites: &'static [Suite]) -> Config {
    Config { suites: Suites::new(suites), resumable: true, ..Config::HOST }
}

/// A client and a server that know these suites, after their handshake.
fn between(client: &'static [Suite], server: &'static [Suite]) -> Pair {
    let mut pair = Pair::new(1, config(client));
    pair.config = config(server);
    pair.run(200_000);
    pair
}

/// What a record of either side is longer than its data.
fn overheads(pair: &mut Pair) -> [usize; 2] {
    pair.data.clear();
    let data = b"a reading of a sensor";
    let overheads = [Side::Client, Side::Server].map(|side| {
        pair.send(side, data);
        pair.sent.last().unwrap().2.len() - data.len()
    });
    pair.run(1000);
    assert_eq!(pair.data.len(), 2);
    overheads
}

#[test]
fn the_server_takes_the_first_of_its_own_that_the_client_offers() {
    let (ccm_8, ccm) = (CCM_8.overhead(), CCM.overhead());
    println!("bytes that a record adds to its data: CCM_8 {ccm_8}, CCM {ccm}");
    assert_eq!((ccm_8, ccm), (29, 37));
    for (client, server, expected) in [
        (&[CCM_8][..], &[CCM_8][..], ccm_8),
        (&[CCM], &[CCM], ccm),
        (&[CCM_8, CCM], &[CCM, CCM_8], ccm),
        (&[CCM, CCM_8], &[CCM_8, CCM], ccm_8),
        (&[CCM, CCM_8], &[CCM_8], ccm_8),
        (&[CCM], &[CCM_8, CCM], ccm),
        (&[GCM], &[CCM_8, GCM], ccm),
        (&[CCM_8, GCM], &[GCM, CCM_8], ccm),
    ] {
        let mut pair = between(client, server);
        assert!(pair.connected(), "{client:?} {server:?}: {:?}", pair.seen);
        assert_eq!(overheads(&mut pair), [expected; 2], "{client:?} {server:?}");
        assert_eq!(pair.client.overhead(), expected);
    }
}

#[test]
fn without_a_common_suite_there_is_no_session() {
    let refused = Seen::Failed(Failure::Refused(AlertDescription::HANDSHAKE_FAILURE));
    for (client, server) in [(&[CCM_8][..], &[CCM][..]), (&[CCM], &[CCM_8]), (&[CCM], &[GCM])] {
        let pair = between(client, server);
        assert!(pair.seen.contains(&(Side::Client, refused)), "{:?}", pair.seen);
        assert!(
            pair.seen
                .contains(&(Side::Server, Seen::Failed(Failure::Negotiation(Refusal::NoCommonCipherSuite)))),
            "{:?}",
            pair.seen
        );
    }
}

#[test]
fn a_session_is_resumed_with_its_suite_or_not_at_all() {
    for (client, server, resumed) in [
        (&[CCM][..], &[CCM][..], true),
        (&[CCM_8, CCM], &[CCM], true),
        // A server that prefers another by now, and a client that no longer has the suite.
        (&[CCM_8, CCM], &[CCM_8, CCM], false),
        (&[CCM_8], &[CCM_8, CCM], false),
    ] {
        let first = between(&[CCM], &[CCM]);
        let mut pair = Pair::resuming(2, config(client), first.kept);
        pair.config = config(server);
        pair.run(1000);
        assert_eq!(pair.here.count(Counter::DtlsResumptions) == 1, resumed, "{client:?} {server:?}");
        let expected = if resumed { CCM } else { CCM_8 };
        assert_eq!(overheads(&mut pair), [expected.overhead(); 2]);
    }
}

#[test]
fn a_server_that_resumes_with_another_suite_is_not_followed() {
    let first = between(&[CCM], &[CCM]);
    let mut pair = Pair::resuming(3, config(&[CCM, CCM_8]), first.kept);
    pair.config = config(&[CCM]);
    let [was, becomes] = [CipherSuite::PSK_WITH_AES_128_CCM, CipherSuite::PSK_WITH_AES_128_CCM_8];
    pair.fate = Box::new(move |_, side, mut datagram| {
        let at = datagram.windows(2).position(|window| window == was.0.to_be_bytes());
        if let (Side::Server, Some(at)) = (side, at) {
            datagram[at..at + 2].copy_from_slice(&becomes.0.to_be_bytes());
        }
        vec![(DELAY, datagram)]
    });
    pair.run(200_000);
    assert!(
        pair.seen.contains(&(Side::Client, Seen::Failed(Failure::Negotiation(Refusal::ResumedCipherSuite)))),
        "{:?}",
        pair.seen
    );
}

#[test]
fn the_longest_records_fit_the_smallest_datagrams() {
    let id = ConnectionId::new(&[7; MAX_CONNECTION_ID]);
    for suites in [&[CCM], &[GCM]] {
        the_longest_fit(Config { connection_id: id, max_datagram: Config::MIN_DATAGRAM, ..config(suites) });
    }
}

fn the_longest_fit(config: Config) {
    let mut kept = [Vec::new(), Vec::new()];
    for seed in 4..6 {
        let mut pair = Pair::resuming(seed, config, kept);
        pair.run(1000);
        assert!(pair.connected(), "{:?}", pair.seen);
        let from_server = pair.sent.iter().filter(|sent| sent.1 == Side::Server);
        assert!(from_server.map(|sent| sent.2.len()).max() <= Some(Config::MIN_DATAGRAM.into()));
        assert_eq!(overheads(&mut pair), [MAX_RECORD_OVERHEAD; 2]);
        kept = pair.kept;
    }
}
