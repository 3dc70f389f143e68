//! Devices that resume their sessions.

mod network;

use network::{Network, SessionEvent, Small, address, key};
use sixlock_base::{Counter, Duration};
use sixlock_coap_msg::Code;
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Soft, Tag, prf_sha256};
use sixlock_dtls::{AlertDescription, Config as Dtls, Failure, Refusal, SessionState, Suite, Suites};
#[cfg(feature = "alloc")]
use sixlock_endpoint::OnHeap;
use sixlock_endpoint::{Config, InPlace, Storage, Transport};
use std::net::SocketAddrV6;

/// Device `n` posts, and gets its answer.
fn posts<S: Storage<Soft, SocketAddrV6>>(network: &mut Network<S>, n: usize, payload: &[u8]) {
    network.post(n, payload);
    network.run(2_000);
    assert_eq!(network.devices[n].responses.last(), Some(&(Code::CHANGED, payload.to_vec())));
    assert_eq!(network.done.last(), Some(&(Some(network.devices[n].identity.clone()), payload.to_vec())));
}

/// Device `n` resumes its session if it can: how often that worked so far.
fn comes_back<S: Storage<Soft, SocketAddrV6>>(network: &mut Network<S>, n: usize, payload: &[u8]) -> u32 {
    network.reconnect(n);
    network.run(2_000);
    posts(network, n, payload);
    network.count(Counter::DtlsResumptions)
}

fn resumes<S: Storage<Soft, SocketAddrV6>>() {
    let mut network = Network::<S>::new(1, 2, Config::default());
    for n in 0..2 {
        network.connect(n);
        posts(&mut network, n, b"first");
    }
    let secret = network.devices[0].secret.clone();
    // Again and again, and from elsewhere.
    assert_eq!(comes_back(&mut network, 0, b"second"), 1);
    network.devices[0].address = address(77);
    assert_eq!(comes_back(&mut network, 0, b"third"), 2);
    assert_eq!(comes_back(&mut network, 1, b"another"), 3);
    assert_eq!(network.devices[0].secret, secret);
    // Each time the application was asked whether the device still has its key.
    let connected = network.events.iter().filter(|event| matches!(event, SessionEvent::Connected(_))).count();
    assert_eq!((connected, network.count(Counter::DtlsHandshakes)), (5, 5));
}

#[test]
fn a_device_resumes_its_session() {
    resumes::<Small>();
    #[cfg(feature = "alloc")]
    resumes::<OnHeap<1152>>();
}

#[test]
fn a_device_resumes_over_a_network_that_loses_datagrams() {
    // With fifteen of a thousand seeds so much is lost, or the server's two handshakes are taken for so long, that a device
    // gives up; not with these.
    for seed in 50..100 {
        let mut network = Network::<Small>::new(seed, 3, Config::default());
        (0..3).for_each(|n| network.connect(n));
        network.run(5_000);
        network.loss = 100;
        for n in 0..3 {
            network.reconnect(n);
            network.post(n, b"reading");
        }
        network.run(120_000);
        for device in &network.devices {
            assert_eq!((device.connected, device.responses.len()), (2, 1), "seed {seed}");
        }
        assert_eq!(network.count(Counter::DtlsResumptions), 3, "seed {seed}");
    }
}

#[test]
fn after_a_restart_of_a_server_that_kept_nothing_a_new_session_begins() {
    let mut network = Network::<Small>::new(2, 1, Config::default());
    network.connect(0);
    posts(&mut network, 0, b"before");
    network.restart();
    assert_eq!(comes_back(&mut network, 0, b"after"), 0);
}

#[test]
fn a_device_whose_key_is_gone_or_another_does_not_resume() {
    let mut network = Network::<Small>::new(3, 2, Config::default());
    for n in 0..2 {
        network.connect(n);
        posts(&mut network, n, b"before");
    }
    // Both go through a whole handshake: with its new key the one connects, the other is unknown.
    network.keys.insert(b"device 0".to_vec(), Some(key(5)));
    network.devices[0].key = key(5);
    network.keys.insert(b"device 1".to_vec(), None);
    assert_eq!(comes_back(&mut network, 0, b"after"), 0);
    network.reconnect(1);
    network.run(200_000);
    assert_eq!(network.devices[1].connected, 1);
    assert_eq!(
        network.events.last(),
        Some(&SessionEvent::Failed(b"device 1".to_vec(), Failure::Authentication(Refusal::UnknownIdentity)))
    );
    // Nor when the key comes back: what was left of its session is gone.
    network.keys.clear();
    assert_eq!(comes_back(&mut network, 1, b"enrolled again"), 0);
}

#[test]
fn a_session_can_be_resumed_for_a_day_from_its_full_handshake_on() {
    let day = 24 * 3_600_000;
    let mut network = Network::<Small>::new(4, 1, Config::default());
    network.connect(0);
    posts(&mut network, 0, b"first");
    network.run(day / 2);
    assert_eq!(comes_back(&mut network, 0, b"after half a day"), 1);
    network.run(day / 2 - 20_000);
    assert_eq!(comes_back(&mut network, 0, b"just in time"), 2);
    network.run(20_000);
    assert_eq!(comes_back(&mut network, 0, b"too late"), 2);
}

fn makes_room<S: Storage<Soft, SocketAddrV6>>() {
    let mut network = Network::<S>::new(5, 3, Config { max_resumable: 2, ..Config::default() });
    for n in 0..2 {
        network.connect(n);
        posts(&mut network, n, b"first");
    }
    // The first is used last: the second gives way to the third.
    assert_eq!(comes_back(&mut network, 0, b"again"), 1);
    network.connect(2);
    posts(&mut network, 2, b"first");
    assert_eq!(comes_back(&mut network, 0, b"once more"), 2);
    assert_eq!(comes_back(&mut network, 1, b"anew"), 2);
}

#[test]
fn of_sessions_kept_the_one_used_longest_ago_makes_room() {
    makes_room::<Small>();
    #[cfg(feature = "alloc")]
    makes_room::<OnHeap<1152>>();
}

#[test]
fn a_server_that_is_to_keep_nothing_gives_its_sessions_no_names() {
    let config = Config { max_resumable: 0, resumable_for: Duration::from_millis(1), ..Config::default() };
    let mut network = Network::<Small>::new(6, 1, config);
    network.connect(0);
    posts(&mut network, 0, b"first");
    assert!(network.devices[0].resumption.is_none());
}

#[test]
fn who_names_a_session_without_its_secret_neither_gets_it_nor_makes_it_forgotten() {
    let mut network = Network::<Small>::new(7, 1, Config::default());
    network.connect(0);
    posts(&mut network, 0, b"first");
    // An eavesdropper begins with the hello of a resumption, returns the cookie and cannot go on.
    network.reconnect(0);
    network.run(70);
    network.devices[0].session = None;
    // Until the server has sent its flight as often as it may.
    network.run(700_000);
    assert_eq!(network.events.last(), Some(&SessionEvent::Failed(b"device 0".to_vec(), Failure::TimedOut)));
    assert_eq!(comes_back(&mut network, 0, b"the device"), 1);
}

#[test]
fn who_names_a_session_without_its_secret_does_not_keep_its_place() {
    let config = Config { max_resumable: 2, ..Config::default() };
    let mut network = Network::<InPlace<8, 2, 64>>::new(9, 3, config);
    for n in 0..2 {
        network.connect(n);
        posts(&mut network, n, b"first");
    }
    // An eavesdropper names the session of the first, which was used longest ago, and cannot go on.
    network.reconnect(0);
    network.run(70);
    network.devices[0].session = None;
    network.run(2_000);
    network.connect(2);
    posts(&mut network, 2, b"first");
    assert_eq!(comes_back(&mut network, 1, b"the second"), 1);
    assert_eq!(comes_back(&mut network, 0, b"the first made room"), 1);
}

const LONG_TAGS: Suites = Suites::new(&[Suite::PskAes128Ccm]);

/// What device `n` can make of the id of the session of device `of`: it names that session, of `TLS_PSK_WITH_AES_128_CCM`.
fn overhears(network: &mut Network<Small>, n: usize, of: usize) {
    let id = network.devices[of].resumption.as_ref().unwrap().session_id().to_vec();
    let bytes = [&[0xc0, 0xa4][..], &[9; 48], &id].concat();
    network.devices[n].resumption = SessionState::from_bytes(&bytes);
    network.dtls.suites = LONG_TAGS;
    network.reconnect(n);
}

#[test]
fn another_device_s_fatal_alert_does_not_make_a_session_forgotten_that_it_has_named() {
    let mut network = Network::<Small>::new(10, 2, Config::default());
    network.keep();
    network.connect(0);
    posts(&mut network, 0, b"first");
    overhears(&mut network, 1, 0);
    network.run(2_000);
    assert_eq!(network.events.last(), Some(&SessionEvent::Connected(b"device 1".to_vec())));
    let (from, secret) = (network.devices[1].address, network.devices[1].secret.clone());
    let alert = fatal_alert(&network, &secret, CcmTag::Sixteen);
    network.send(Transport::Dtls, from, &alert);
    network.run(1_000);
    let failed = Failure::Alert(AlertDescription(80));
    assert_eq!(network.events.last(), Some(&SessionEvent::Failed(b"device 1".to_vec(), failed)));
    network.dtls.suites = Dtls::HOST.suites;
    assert_eq!(comes_back(&mut network, 0, b"still there"), 1);
    network.restart();
    assert_eq!(comes_back(&mut network, 0, b"and on the disk"), 2);
}

#[test]
fn a_handshake_that_only_named_a_session_fails_in_nobody_s_name() {
    let mut network = Network::<Small>::new(11, 2, Config::default());
    network.connect(0);
    posts(&mut network, 0, b"first");
    overhears(&mut network, 1, 0);
    network.run(79);
    network.devices[1].session = None;
    network.run(700_000);
    assert_eq!(network.events.last(), Some(&SessionEvent::Failed(Vec::new(), Failure::TimedOut)));
}

#[test]
fn a_look_up_that_fails_costs_no_session() {
    let mut network = Network::<Small>::new(12, 1, Config::default());
    network.keep();
    network.connect(0);
    posts(&mut network, 0, b"first");
    network.failing.insert(b"device 0".to_vec());
    network.reconnect(0);
    network.run(2_000);
    assert_eq!(network.devices[0].connected, 1);
    network.failing.clear();
    network.run(8_000);
    assert_eq!((network.devices[0].connected, network.count(Counter::DtlsResumptions)), (2, 1));
    posts(&mut network, 0, b"it goes on");
    // Nor is it forgotten for the next server.
    network.restart();
    assert_eq!(comes_back(&mut network, 0, b"with the next"), 2);
}

/// [RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)
#[test]
fn to_whom_gives_its_identity_a_look_up_that_fails_looks_like_an_unknown_identity() {
    let sent = |fails: bool| {
        let mut network = Network::<Small>::new(13, 1, Config::default());
        if fails {
            network.failing.insert(b"device 0".to_vec());
        } else {
            network.keys.insert(b"device 0".to_vec(), None);
        }
        network.connect(0);
        network.run(200_000);
        let ended =
            SessionEvent::Failed(b"device 0".to_vec(), Failure::Authentication(Refusal::UnknownIdentity));
        assert_eq!((network.events.last(), network.devices[0].connected), (Some(&ended), 0));
        network.sent
    };
    assert_eq!(sent(true), sent(false));
}

/// A fatal alert of the last device that said hello, sealed with the keys of its session.
fn fatal_alert(network: &Network<Small>, secret: &[u8], tag: CcmTag) -> Vec<u8> {
    // A hello's random value stands behind the headers of its record and message and the version.
    let random = |message: u8| {
        let hello = network.sent.iter().rfind(|sent| sent[0] == 22 && sent[13] == message).unwrap();
        &hello[27..59]
    };
    let mut keys = [0; 40];
    prf_sha256(&mut Soft, secret, "key expansion", [random(2), random(1)], &mut keys);
    let number = [0, 1, 0, 0, 0, 0, 1, 0];
    let nonce: Vec<u8> = [&keys[32..36], &number].concat();
    let associated = [&number[..], &[21, 0xfe, 0xfd, 0, 2]].concat();
    let mut alert = [2, 80];
    let mut tag = Tag::empty(tag);
    let key = Soft.aes_128(keys[..16].try_into().unwrap());
    let nonce = nonce[..].try_into().unwrap();
    Soft.ccm_seal(&key, CcmNonce::Twelve(nonce), &associated, &mut alert, &mut tag);
    let length = (number.len() + alert.len() + tag.bytes().len()) as u8;
    [&[21, 0xfe, 0xfd], &number[..], &[0, length], &number, &alert, tag.bytes()].concat()
}

/// [RFC 5246 section 7.2.2](https://www.rfc-editor.org/rfc/rfc5246#section-7.2.2)
#[test]
fn a_session_that_its_client_ends_by_a_fatal_alert_is_forgotten() {
    let mut network = Network::<Small>::new(8, 1, Config::default());
    network.keep();
    network.connect(0);
    posts(&mut network, 0, b"first");
    let (home, secret) = (network.devices[0].address, network.devices[0].secret.clone());
    let mut forged = fatal_alert(&network, &secret, CcmTag::Eight);
    *forged.last_mut().unwrap() ^= 1;
    network.send(Transport::Dtls, home, &forged);
    network.run(1_000);
    assert_eq!(comes_back(&mut network, 0, b"a forged one changes nothing"), 1);

    network.connect(0);
    posts(&mut network, 0, b"anew");
    let secret = network.devices[0].secret.clone();
    let alert = fatal_alert(&network, &secret, CcmTag::Eight);
    network.send(Transport::Dtls, home, &alert);
    network.run(1_000);
    let failed = Failure::Alert(AlertDescription(80));
    assert_eq!(network.events.last(), Some(&SessionEvent::Failed(b"device 0".to_vec(), failed)));
    // Nor does the next server know it.
    network.restart();
    assert_eq!(comes_back(&mut network, 0, b"a new session"), 1);
}
