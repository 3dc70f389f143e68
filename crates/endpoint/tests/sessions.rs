//! Devices with DTLS sessions.

mod network;

use network::{Network, SessionEvent, Small, address, key};
use sixlock_base::{Counter, Duration};
use sixlock_coap_msg::Code;
use sixlock_crypto::Soft;
use sixlock_dtls::{Failure, Refusal};
#[cfg(feature = "alloc")]
use sixlock_endpoint::OnHeap;
use sixlock_endpoint::{Config, Storage, Transport};
use std::net::SocketAddrV6;

/// Every device's readings are done, each once, in the name of the device.
fn readings_arrive<S: Storage<Soft, SocketAddrV6>>(seed: u32, devices: usize, loss: u32, processing: u32) {
    let mut network = Network::<S>::new(seed, devices, Config::default());
    (network.loss, network.processing) = (loss, processing);
    (0..devices).for_each(|n| network.connect(n));
    for reading in 0..5 {
        for n in 0..devices {
            network.post(n, &[reading, n as u8]);
        }
        network.run(100_000);
        for (n, device) in network.devices.iter().enumerate() {
            assert_eq!((device.unanswered, device.coap.is_busy()), (0, false), "seed {seed} device {n}");
            assert_eq!(device.responses.last(), Some(&(Code::CHANGED, vec![reading, n as u8])));
            let whose = Some(device.identity.clone());
            let times =
                network.done.iter().filter(|done| **done == (whose.clone(), vec![reading, n as u8])).count();
            assert_eq!(times, 1, "seed {seed} device {n} reading {reading}");
        }
    }
    assert_eq!(network.events.len(), devices);
    assert_eq!(network.count(Counter::DtlsHandshakes), devices as u32);
    assert_eq!(network.late, 0);
}

#[test]
fn readings_of_many_devices_arrive_once_each() {
    readings_arrive::<Small>(1, 4, 0, 10);
    readings_arrive::<Small>(2, 4, 0, 1_500);
    #[cfg(feature = "alloc")]
    readings_arrive::<OnHeap<1152>>(3, 50, 0, 10);
}

#[test]
fn readings_arrive_over_a_network_that_loses_datagrams() {
    for seed in 1..20 {
        readings_arrive::<Small>(seed, 3, 100, if seed % 2 == 0 { 10 } else { 2_500 });
        #[cfg(feature = "alloc")]
        readings_arrive::<OnHeap<1152>>(seed, 5, 100, 10);
    }
}

#[test]
fn a_slow_look_up_holds_up_nobody_else() {
    let mut network = Network::<Small>::new(4, 3, Config::default());
    network.lookup.insert(b"device 1".to_vec(), 20_000);
    for n in 0..3 {
        network.connect(n);
        network.post(n, b"x");
    }
    network.run(2_000);
    let connected = network.devices.iter().map(|device| device.responses.len()).collect::<Vec<_>>();
    assert_eq!(connected, [1, 0, 1]);
    network.run(30_000);
    assert_eq!(network.devices[1].responses.len(), 1);
    assert_eq!(network.events.last(), Some(&SessionEvent::Connected(b"device 1".to_vec())));
}

#[test]
fn a_device_whose_session_the_server_has_forgotten_makes_another() {
    let mut network = Network::<Small>::new(5, 1, Config::default());
    network.connect(0);
    network.post(0, b"before");
    network.run(5_000);
    network.restart();
    network.post(0, b"lost");
    network.run(100_000);
    let device = &network.devices[0];
    assert_eq!((device.unanswered, device.connected), (1, 2));
    assert!(network.count(Counter::DtlsNoSession) >= 5);
    assert_eq!(network.refusals, [(address(0), Refusal::NoSession); 5]);
    network.post(0, b"after");
    network.run(1_000);
    assert_eq!(network.devices[0].responses.last().unwrap().1, b"after");
}

/// [RFC 6347 section 4.2.8](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.8)
#[test]
fn a_new_session_replaces_the_old_one_only_once_it_is_connected() {
    let mut network = Network::<Small>::new(6, 1, Config::default());
    network.connect(0);
    network.run(1_000);
    // Someone at the same address who does not know the key.
    let old = network.devices[0].session.take();
    network.devices[0].key = b"wrong".to_vec();
    network.connect(0);
    network.run(200_000);
    assert!(!network.devices[0].session.as_ref().unwrap().is_connected());
    network.devices[0].session = old;
    network.post(0, b"still here");
    network.run(1_000);
    assert_eq!(network.devices[0].responses.last().unwrap().1, b"still here");

    // While the key is looked up, the old session goes on; then it is replaced.
    network.devices[0].key = key(0);
    network.lookup.insert(b"device 0".to_vec(), 10_000);
    let old = network.devices[0].session.take();
    network.connect(0);
    network.run(1_000);
    let new = core::mem::replace(&mut network.devices[0].session, old);
    network.post(0, b"and still");
    network.run(1_000);
    assert_eq!(network.devices[0].responses.last().unwrap().1, b"and still");
    let old = core::mem::replace(&mut network.devices[0].session, new);
    network.run(30_000);
    assert_eq!(network.devices[0].connected, 2);
    network.post(0, b"anew");
    network.run(1_000);
    assert_eq!(network.devices[0].responses.last().unwrap().1, b"anew");
    network.devices[0].session = old;
    network.post(0, b"replaced");
    network.run(1_000);
    assert_eq!(network.devices[0].responses.last().unwrap().1, b"anew");
    let connected = SessionEvent::Connected(b"device 0".to_vec());
    let failed = SessionEvent::Failed(b"device 0".to_vec(), Failure::Authentication(Refusal::WrongKey));
    let closed = SessionEvent::Closed(b"device 0".to_vec());
    assert_eq!(network.events, [connected.clone(), failed, closed, connected]);
}

#[test]
fn a_wrong_key_and_an_unknown_identity_are_refused_alike() {
    let mut network = Network::<Small>::new(7, 3, Config::default());
    network.devices[1].key = key(0);
    network.devices[2].identity = b"nobody".to_vec();
    for n in 0..3 {
        network.connect(n);
        network.post(n, b"x");
    }
    network.run(300_000);
    let refused =
        |identity: &[u8], refusal| SessionEvent::Failed(identity.to_vec(), Failure::Authentication(refusal));
    assert_eq!(network.events[0], SessionEvent::Connected(b"device 0".to_vec()));
    assert!(network.events[1..].contains(&refused(b"device 1", Refusal::WrongKey)));
    assert!(network.events[1..].contains(&refused(b"nobody", Refusal::UnknownIdentity)));
    assert_eq!(network.done.len(), 1);
    for n in 1..3 {
        assert!(network.devices[n].responses.is_empty());
        assert!(!network.devices[n].failures.is_empty());
    }
    assert_eq!(network.devices[1].failures, network.devices[2].failures);
}

#[test]
fn a_client_that_begins_anew_takes_the_place_of_its_handshake() {
    let mut network = Network::<Small>::new(9, 1, Config::default());
    network.lookup.insert(b"device 0".to_vec(), 10_000);
    network.connect(0);
    network.run(1_000);
    network.reconnect(0);
    network.run(30_000);
    assert_eq!(network.refusals[0], (address(0), Refusal::Superseded));
    // The client sends its flight again while its key is looked up.
    assert!(network.refusals[1..].iter().all(|told| *told == (address(0), Refusal::Repeated)));
    assert_eq!(network.devices[0].connected, 1);
}

/// Neither a small nor a large storage takes more sessions than it should.
fn full_table<S: Storage<Soft, SocketAddrV6>>() {
    let config = Config { max_sessions: 2, ..Config::default() };
    let mut network = Network::<S>::new(8, 3, config);
    for n in 0..2 {
        network.connect(n);
        network.run(1_000);
    }
    network.connect(2);
    network.run(20_000);
    assert_eq!(network.devices[2].connected, 0);
    let refused = network.count(Counter::DtlsSessionsFull) as usize;
    assert!(refused > 0);
    assert_eq!(network.refusals, vec![(address(2), Refusal::SessionsFull); refused]);
    assert_eq!(network.count(Counter::DtlsSessionsEvicted), 0);

    // The first session is in use, the second is not: that one has to go, and is told so.
    network.post(0, b"x");
    network.run(45_000);
    network.connect(2);
    network.run(1_000);
    assert_eq!((network.devices[2].connected, network.count(Counter::DtlsSessionsEvicted)), (1, 1));
    assert_eq!((network.devices[0].closed, network.devices[1].closed), (0, 1));
    assert!(network.events.contains(&SessionEvent::Closed(b"device 1".to_vec())));
    network.post(0, b"y");
    network.run(1_000);
    assert_eq!(network.devices[0].responses.len(), 2);
}

#[test]
fn a_full_table_gives_the_longest_unused_place_away_once_it_is_unused_for_long() {
    full_table::<Small>();
    #[cfg(feature = "alloc")]
    full_table::<OnHeap<1152>>();
}

#[test]
fn a_handshake_begun_anew_takes_the_place_of_the_one_before() {
    let mut network = Network::<Small>::new(14, 1, Config { max_sessions: 1, ..Config::default() });
    network.lookup.insert(b"device 0".to_vec(), 5_000);
    for _ in 0..3 {
        network.connect(0);
        network.run(1_000);
    }
    network.run(10_000);
    let closed = SessionEvent::Closed(b"device 0".to_vec());
    assert_eq!(network.events, [closed.clone(), closed, SessionEvent::Connected(b"device 0".to_vec())]);
    assert_eq!((network.devices[0].connected, network.count(Counter::DtlsSessionsFull)), (1, 0));
}

#[test]
fn handshakes_under_way_are_limited() {
    let config = Config { max_handshakes: 2, ..Config::default() };
    let mut network = Network::<Small>::new(9, 3, config);
    for n in 0..3 {
        network.lookup.insert(format!("device {n}").into_bytes(), 5_000);
        network.connect(n);
    }
    network.run(4_000);
    assert!(network.count(Counter::DtlsSessionsFull) > 0);
    network.run(60_000);
    assert!(
        network.devices.iter().all(|device| device.connected == 1),
        "there is room when the others are through"
    );
}

#[test]
fn nothing_is_remembered_of_those_who_do_not_return_the_cookie() {
    let mut network = Network::<Small>::new(10, 1, Config::default());
    network.connect(0);
    let mut out = [0; 1500];
    let (now, device) = (network.now, &mut network.devices[0]);
    let session = device.session.as_mut().unwrap();
    let len = session.poll_transmit(&mut device.rig.at(now), &mut out).unwrap();
    network.devices[0].session = None;
    for n in 100..1_100 {
        network.send(Transport::Dtls, address(n), &out[..len]);
    }
    network.run(1_000);
    assert_eq!((network.count(Counter::DtlsCookiesSent), network.stray.len()), (1_000, 1_000));
    assert!(
        network.stray.iter().all(|(_, reply)| reply.len() < len),
        "no answer is longer than what was sent"
    );
    assert_eq!((network.server.poll_timeout(), network.count(Counter::DtlsSessionsFull)), (None, 0));
    // A cookie is good for the address it was sent to only.
    assert!(network.stray.windows(2).all(|pair| pair[0].1 != pair[1].1));
}

#[test]
fn cookies_stay_good_across_a_rotation() {
    let config = Config { cookie_rotation: Duration::from_millis(0), ..Config::default() };
    let mut network = Network::<Small>::new(11, 1, config);
    network.connect(0);
    network.run(1_000);
    assert_eq!(network.devices[0].connected, 1);
}

#[test]
fn a_late_answer_finds_no_request() {
    let mut network = Network::<Small>::new(12, 1, Config::default());
    network.connect(0);
    network.run(1_000);
    network.processing = 10_000;
    network.post(0, b"slow");
    network.run(1_000);
    // The device begins anew, and what it asks is not answered with what the old session was.
    network.devices[0].coap.cancel();
    network.connect(0);
    network.post(0, b"new");
    network.run(20_000);
    assert_eq!((network.done.len(), network.late), (2, 1));
    assert_eq!(network.devices[0].responses, [(Code::CHANGED, b"new".to_vec())]);
}

#[test]
fn either_side_may_close_a_session() {
    let mut network = Network::<Small>::new(13, 2, Config { key_log: true, ..Config::default() });
    for n in 0..2 {
        network.connect(n);
        network.run(1_000);
    }
    assert_eq!(network.key_log[0], (b"device 0".to_vec(), network.devices[0].secret.clone()));
    assert_eq!(network.key_log[1], (b"device 1".to_vec(), network.devices[1].secret.clone()));
    network.devices[0].session.as_mut().unwrap().close();
    network.run(1_000);
    assert_eq!(network.events.last(), Some(&SessionEvent::Closed(b"device 0".to_vec())));

    network.post(1, b"x");
    network.processing = 500;
    network.run(100);
    let now = network.now;
    let session = network.working_on().session().unwrap();
    network.server.close(&mut network.rig.at(now), session);
    network.run(1_000);
    assert_eq!(network.events.last(), Some(&SessionEvent::Closed(b"device 1".to_vec())));
    assert_eq!((network.devices[1].closed, network.late), (1, 1));
}

#[test]
fn an_answer_longer_than_a_client_takes_is_an_error() {
    let mut network = Network::<Small>::new(15, 1, Config::default());
    network.dtls.record_limit = Some(64);
    network.connect(0);
    for (length, code) in [(48, Code::CHANGED), (49, Code::INTERNAL_SERVER_ERROR)] {
        // The application answers with what it was sent.
        network.post(0, &vec![7; length]);
        network.run(2_000);
        assert_eq!(network.devices[0].responses.last().map(|response| response.0), Some(code));
    }
}
