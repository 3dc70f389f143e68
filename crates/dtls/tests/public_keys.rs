//! Handshakes with public keys, raw and in certificates, between our own client and server.

mod pair;

use pair::{DELAY, Party, Public, Seen, Side, certified, certified_by, raw};
use sixlock_base::Counter;
use sixlock_dtls::{AlertDescription, CertificateType, Config, Failure, Refusal, Suite, Suites};
use sixlock_dtls_msg::HandshakeType;
use sixlock_testing::Random;
use sixlock_x509::{Clock, Time};

const BOTH_CONNECTED: [(Side, Seen); 2] = [(Side::Server, Seen::Connected), (Side::Client, Seen::Connected)];

const CONFIG: Config =
    Config { suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8, Suite::PskAes128Ccm8]), ..Config::HOST };

fn between(seed: u32, config: Config, parties: [Party; 2]) -> Public {
    let mut pair = Public::with_public_keys(seed, config, parties);
    pair.run(1000);
    pair
}

fn bytes(pair: &Public) -> usize {
    pair.bytes(Side::Client) + pair.bytes(Side::Server)
}

#[test]
fn raw_public_keys_prove_both_sides() {
    let mut pair = between(1, CONFIG, raw());
    assert_eq!(pair.seen, BOTH_CONNECTED);
    assert_eq!(pair.sent.len(), 6, "{:?}", pair.sent);
    println!("a full handshake with raw public keys: {} bytes", bytes(&pair));
    pair.carries_data();
    assert_eq!(pair.key_log[0], pair.key_log[1]);
    let of = |side| pair.tasks.iter().filter(|task| task.0 == side).map(|task| task.1).collect::<Vec<_>>();
    assert_eq!(of(Side::Client), ["chain", "verify", "generate", "sign", "agree"]);
    assert_eq!(of(Side::Server), ["generate", "sign", "chain", "verify", "agree"]);
}

/// mbedTLS takes 1,759 bytes with its certificates of 370 bytes.
#[test]
fn certificates_prove_both_sides_in_no_more_bytes_than_mbedtls_takes() {
    let parties = certified();
    let own: usize = parties.iter().map(|party| party.credentials.certificates[0].len()).sum();
    let mut pair = between(2, CONFIG, parties);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    let total = bytes(&pair);
    println!("a full handshake with certificates: {total} bytes, {own} of them certificates");
    assert!(total - own + 2 * 370 <= 1_759, "{total} bytes, {own} of them certificates");
    pair.carries_data();
}

#[test]
fn a_server_need_not_ask_for_the_client_s_certificate() {
    for [client, server] in [raw(), certified()] {
        let server = server.with(|server| server.mutual = false);
        let client = client.with(|client| (client.raw_public_key, client.certificates) = (None, &[]));
        let mut pair = between(3, CONFIG, [client, server]);
        assert_eq!(pair.seen, BOTH_CONNECTED);
        let server = pair.tasks.iter().filter(|task| task.0 == Side::Server).map(|task| task.1);
        assert_eq!(server.collect::<Vec<_>>(), ["generate", "sign", "agree"]);
        pair.carries_data();
    }
}

#[test]
fn both_kinds_are_offered_at_once_and_the_peer_chooses() {
    // Each side has its raw key beside its certificate and takes both.
    let both = |parties: [Party; 2]| {
        let points = parties.clone().map(|party| {
            use sixlock_crypto::p256::P256 as _;
            sixlock_crypto::Soft.p256_public_key(&party.secret).unwrap()
        });
        let [client, server] = parties;
        [(client, points[0], points[1]), (server, points[1], points[0])].map(|(mut party, own, other)| {
            party.trusted_keys = vec![other];
            party.with(|credentials| {
                credentials.raw_public_key = Some(own);
                credentials.accepts = &[CertificateType::RawPublicKey, CertificateType::X509];
            })
        })
    };
    let parties = certified();
    let all = both(parties.clone());
    let [client, server] = [0, 1].map(|at| [&parties[at], &all[at]].map(Clone::clone));
    let mut sizes = Vec::new();
    for client in &client {
        for server in &server {
            let mut pair = between(4, CONFIG, [client.clone(), server.clone()]);
            assert_eq!(pair.seen, BOTH_CONNECTED);
            sizes.push(bytes(&pair));
            pair.carries_data();
        }
    }
    assert!(sizes[3] + 400 < sizes[0], "both know raw keys, and use them: {sizes:?}");
    // One that has both and a peer that has raw keys alone.
    let alone = all[1].clone().with(|server| {
        server.certificates = &[];
        server.accepts = &[CertificateType::RawPublicKey];
    });
    let mut pair = between(5, CONFIG, [all[0].clone(), alone.clone()]);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    pair.carries_data();
    // And one that has certificates alone: no way is left.
    let mut pair = Public::with_public_keys(5, CONFIG, [parties[0].clone(), alone]);
    pair.credential.1 = b"another key".to_vec();
    pair.run(200_000);
    assert!(!pair.connected() && pair.tasks.is_empty(), "only pre-shared keys are left");
}

#[test]
fn the_server_chooses_between_public_and_pre_shared_keys() {
    let pre_shared = Config { suites: Suites::WITHOUT_EPHEMERAL_PSK, ..CONFIG };
    let mut pair = between(6, pre_shared, raw());
    assert_eq!(pair.seen, BOTH_CONNECTED);
    assert!(pair.tasks.is_empty());
    pair.carries_data();
}

#[test]
fn who_is_not_trusted_is_refused_with_the_reason() {
    let far = Clock::At(Time::new(40_000, 0));
    type Change = fn(&mut [Party; 2]);
    let cases: [(&str, [Party; 2], Change, Side, Refused); 8] = [
        (
            "the server's key",
            raw(),
            |p| p[0].trusted_keys.clear(),
            Side::Client,
            (AlertDescription::UNKNOWN_CA, Refusal::UnknownAuthority),
        ),
        (
            "the client's key",
            raw(),
            |p| p[1].trusted_keys.clear(),
            Side::Server,
            (AlertDescription::UNKNOWN_CA, Refusal::UnknownAuthority),
        ),
        (
            "a key that it has not",
            raw(),
            |p| p[1].secret = [7; 32],
            Side::Client,
            (AlertDescription::DECRYPT_ERROR, Refusal::Signature),
        ),
        (
            "a key that it has not",
            raw(),
            |p| p[0].secret = [7; 32],
            Side::Server,
            (AlertDescription::DECRYPT_ERROR, Refusal::Signature),
        ),
        (
            "another authority",
            certified(),
            |p| p[0].authorities = certified()[0].authorities.clone(),
            Side::Client,
            (AlertDescription::BAD_CERTIFICATE, Refusal::CertificateInvalid),
        ),
        (
            "another device's key",
            certified(),
            |p| p[0].secret = certified()[0].secret,
            Side::Server,
            (AlertDescription::DECRYPT_ERROR, Refusal::Signature),
        ),
        (
            "another name",
            certified(),
            |p| p[0].name = Some(b"other.example"),
            Side::Client,
            (AlertDescription::CERTIFICATE_UNKNOWN, Refusal::CertificateUse),
        ),
        (
            "no authority",
            certified(),
            |p| p[1].authorities.clear(),
            Side::Server,
            (AlertDescription::UNKNOWN_CA, Refusal::UnknownAuthority),
        ),
    ];
    for (what, mut parties, change, refuses, reason) in cases {
        change(&mut parties);
        refused(what, parties, refuses, reason);
    }
    for (refuses, at) in [(Side::Client, 0), (Side::Server, 1)] {
        let mut parties = certified();
        parties[at].clock = far;
        refused(
            "an expired certificate",
            parties,
            refuses,
            (AlertDescription::CERTIFICATE_EXPIRED, Refusal::CertificateExpired),
        );
    }
}

/// What the peer is told, and what is told here.
type Refused = (AlertDescription, Refusal);

fn refused(what: &str, parties: [Party; 2], refuses: Side, (alert, refusal): Refused) {
    let mut pair = Public::with_public_keys(7, CONFIG, parties);
    pair.run(200_000);
    assert!(!pair.connected(), "{what}");
    assert!(
        pair.seen.contains(&(refuses, Seen::Failed(Failure::Authentication(refusal)))),
        "{what}: {:?}",
        pair.seen
    );
    let told = [21, 0xfe, 0xfd, 0, 0];
    let alerts: Vec<_> =
        pair.sent.iter().filter(|(_, side, sent)| *side == refuses && sent.starts_with(&told)).collect();
    assert!(alerts.iter().any(|(.., sent)| sent.ends_with(&[2, alert.0])), "{what}: {alerts:?}");
}

#[test]
fn a_client_without_a_certificate_is_refused_where_one_is_asked_for() {
    for [client, server] in [raw(), certified()] {
        let client = client.with(|client| (client.raw_public_key, client.certificates) = (None, &[]));
        let config = Config { suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]), ..CONFIG };
        let mut pair = Public::with_public_keys(8, config, [client, server]);
        pair.run(200_000);
        assert!(
            !pair.connected() && !pair.seen.iter().any(|seen| seen.1 == Seen::Connected),
            "{:?}",
            pair.seen
        );
    }
}

#[test]
fn a_certificate_by_an_authority_that_is_not_named_is_not_shown() {
    let [client, server] = certified();
    let other = certified_by("another")[1].credentials.authorities;
    let server = server.with(|server| server.authorities = other);
    let mut pair = Public::with_public_keys(9, CONFIG, [client, server]);
    pair.run(200_000);
    assert!(!pair.connected());
    let signs = pair.tasks.contains(&(Side::Client, "sign"));
    assert!(!signs, "{:?}", pair.tasks);
}

#[test]
fn handshakes_survive_any_network() {
    const SMALL: Config = Config { max_datagram: 200, retransmissions: 30, ..CONFIG };
    for seed in 0..60 {
        let parties = if seed % 2 == 0 { raw() } else { certified() };
        let mut pair = Public::with_public_keys(
            seed,
            if seed % 3 == 0 { SMALL } else { Config { retransmissions: 30, ..CONFIG } },
            parties,
        );
        let mut random = Random::new(seed + 1000);
        pair.fate = Box::new(move |_, _, datagram| {
            let copies = [0, 1, 1, 1, 2][random.below(5) as usize];
            (0..copies).map(|_| (1 + random.below(3000), datagram.clone())).collect()
        });
        for _ in 0..2000 {
            pair.run(1000);
            if pair.connected() {
                break;
            }
        }
        assert!(pair.connected(), "seed {seed}: {:?}", pair.seen);
        pair.carries_data();
    }
}

#[test]
fn what_is_forged_before_there_are_keys_ends_nothing() {
    // Each datagram of the server's flight, and of the client's, comes damaged at some place before it comes right.
    for seed in 0..40 {
        for damaged in [Side::Client, Side::Server] {
            let parties = if seed % 2 == 0 { raw() } else { certified() };
            let mut pair = Public::with_public_keys(seed, CONFIG, parties);
            let mut random = Random::new(seed + 77);
            let mut left = 2;
            pair.fate = Box::new(move |_, from, datagram| {
                if from != damaged || datagram.len() < 200 || left == 0 {
                    return vec![(DELAY, datagram)];
                }
                left -= 1;
                let mut forged = datagram.clone();
                let at = 13 + random.below(datagram.len() as u32 - 13) as usize;
                forged[at] ^= 1 << random.below(8);
                vec![(DELAY / 2, forged), (DELAY, datagram)]
            });
            pair.run(100_000);
            assert!(pair.connected(), "seed {seed}, {damaged:?}: {:?}", pair.seen);
            pair.carries_data();
        }
    }
}

/// A pair in which the client's answer is lost, and the server's flight comes again with another random value, so that its signature
/// is wrong. If `ends`, every later datagram is lost, too.
fn with_another_flight(seed: u32, ends: bool) -> Public {
    let mut pair = Public::with_public_keys(seed, CONFIG, raw());
    let (mut flights, mut forged) = (0, false);
    pair.fate = Box::new(move |_, from, mut datagram| {
        let is_flight = datagram.len() > 200;
        match from {
            _ if forged && ends => return vec![],
            Side::Client if is_flight && !forged => return vec![],
            Side::Server if is_flight => flights += 1,
            _ => {}
        }
        // Behind the headers of the record and the message and the version. The client has sent its flight again by the third.
        if from == Side::Server && is_flight && flights == 3 && !forged {
            assert_eq!(datagram[13], HandshakeType::SERVER_HELLO.0);
            datagram[13 + 12 + 2] ^= 1;
            forged = true;
        }
        vec![(DELAY, datagram)]
    });
    pair.run(400_000);
    assert!(pair.refusals.contains(&(Side::Client, Refusal::Signature)), "{:?}", pair.refusals);
    pair
}

#[test]
fn a_forged_flight_after_the_true_one_does_not_end_the_handshake() {
    let mut pair = with_another_flight(8, false);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    pair.carries_data();
}

#[test]
fn a_client_that_took_a_forged_flight_gives_up_in_time() {
    let pair = with_another_flight(9, true);
    assert!(
        pair.seen.iter().any(|(side, seen)| *side == Side::Client && matches!(seen, Seen::Failed(_))),
        "{:?}",
        pair.seen
    );
    assert!(pair.client.is_idle() && pair.client.poll_timeout().is_none());
}

#[test]
fn a_session_is_resumed_without_public_keys() {
    let config = Config { resumable: true, ..CONFIG };
    let parties = certified();
    let mut first = between(10, config, parties.clone());
    assert!(first.connected());
    first.carries_data();
    let mut second = Public::of(11, config, first.kept, Some(parties));
    second.run(1000);
    assert!(second.connected() && second.tasks.is_empty(), "{:?}", second.tasks);
    assert_eq!(second.here.count(Counter::DtlsResumptions), 1);
    println!("a handshake that resumes: {} bytes", bytes(&second));
    second.carries_data();
}
