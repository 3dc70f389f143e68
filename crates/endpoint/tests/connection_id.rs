//! Devices whose address changes while their session goes on.

mod network;

use network::{Network, Small, address, plain_request};
use sixlock_base::Counter;
use sixlock_coap::{Answer, RespondError, Token};
use sixlock_coap_msg::{Code, Type, empty};
use sixlock_crypto::Soft;
use sixlock_dtls::{ConnectionId, MAX_RECORD_OVERHEAD, RECORD_FRONT};
#[cfg(feature = "alloc")]
use sixlock_endpoint::OnHeap;
use sixlock_endpoint::{Config, PeerId, Storage, Transport};
use std::net::SocketAddrV6;

/// Devices that know of connection ids and want none on what they receive.
fn network<S: Storage<Soft, SocketAddrV6>>(seed: u32, devices: usize, config: Config) -> Network<S> {
    let mut network = Network::<S>::new(seed, devices, config);
    network.dtls.connection_id = Some(ConnectionId::EMPTY);
    for n in 0..devices {
        network.connect(n);
        posts(&mut network, n, b"first");
    }
    network
}

/// Device `n` posts, and gets its answer.
fn posts<S: Storage<Soft, SocketAddrV6>>(network: &mut Network<S>, n: usize, payload: &[u8]) {
    network.post(n, payload);
    network.run(2_000);
    assert_eq!(network.devices[n].responses.last(), Some(&(Code::CHANGED, payload.to_vec())));
    assert_eq!(network.done.last(), Some(&(Some(network.devices[n].identity.clone()), payload.to_vec())));
}

/// A record of device `n` with a request.
fn record<S: Storage<Soft, SocketAddrV6>>(network: &mut Network<S>, n: usize, id: u16) -> Vec<u8> {
    let message = plain_request(Type::Confirmable, id, b"held up");
    sealed(network, n, &message)
}

/// A record of device `n` with this message.
fn sealed<S: Storage<Soft, SocketAddrV6>>(network: &mut Network<S>, n: usize, message: &[u8]) -> Vec<u8> {
    let mut out = vec![0; message.len() + MAX_RECORD_OVERHEAD];
    out[RECORD_FRONT..RECORD_FRONT + message.len()].copy_from_slice(message);
    let (now, device) = (network.now, &mut network.devices[n]);
    let session = device.session.as_mut().unwrap();
    let len = session.seal(&mut device.rig.at(now), &mut out, message.len()).unwrap();
    out.truncate(len);
    out
}

fn moves<S: Storage<Soft, SocketAddrV6>>() {
    let mut network = network::<S>(1, 3, Config::default());
    for step in 0..5 {
        for n in 0..3 {
            network.devices[n].address = address(100 + 10 * step + n);
            posts(&mut network, n, &[step as u8]);
        }
    }
    assert_eq!(network.count(Counter::DtlsAddressChanges), 15);
    assert_eq!(network.count(Counter::DtlsHandshakes), 3);
    assert!(network.stray.is_empty());
}

#[test]
fn a_session_goes_on_when_its_clients_address_changes() {
    moves::<Small>();
    #[cfg(feature = "alloc")]
    moves::<OnHeap<1152>>();
}

#[test]
fn without_an_id_a_session_ends_where_its_address_does() {
    let mut network = network::<Small>(2, 1, Config { connection_ids: false, ..Config::default() });
    network.devices[0].address = address(100);
    network.post(0, b"lost");
    network.run(2_000);
    assert_eq!((network.devices[0].responses.len(), network.count(Counter::DtlsAddressChanges)), (1, 0));
    assert!(network.count(Counter::DtlsNoSession) > 0);
}

/// [RFC 9146 section 6](https://www.rfc-editor.org/rfc/rfc9146#section-6)
#[test]
fn only_an_authentic_record_that_is_the_newest_moves_a_session() {
    let mut network = network::<Small>(3, 1, Config::default());
    let (home, elsewhere) = (network.devices[0].address, address(100));
    let [held_up, delivered] = [1, 2].map(|id| record(&mut network, 0, id));
    network.send(Transport::Dtls, home, &delivered);
    network.run(1_000);
    // The same again, an altered one and one from before: all of them from another's address.
    network.send(Transport::Dtls, elsewhere, &delivered);
    let mut altered = record(&mut network, 0, 3);
    *altered.last_mut().unwrap() ^= 1;
    network.send(Transport::Dtls, elsewhere, &altered);
    let done = network.done.len();
    network.send(Transport::Dtls, elsewhere, &held_up);
    network.run(1_000);
    assert_eq!(network.done.len(), done + 1, "it is late, but a request");
    assert!(network.stray.is_empty(), "and its answer goes to the device");
    assert_eq!(network.count(Counter::DtlsAddressChanges), 0);
    posts(&mut network, 0, b"at home");
}

#[test]
fn two_sessions_at_one_address_both_go_on() {
    let mut network = network::<Small>(4, 2, Config::default());
    // The second is there now; whoever lives there is not disturbed, and the first can follow.
    network.devices[1].address = network.devices[0].address;
    let request = record(&mut network, 1, 9);
    network.send(Transport::Dtls, network.devices[0].address, &request);
    network.run(1_000);
    assert_eq!(network.done.last().unwrap().0, Some(b"device 1".to_vec()));
    assert!(network.events.len() == 2, "nobody was closed");
    posts(&mut network, 0, b"still here");
    network.devices[1].address = address(1);
    posts(&mut network, 1, b"home again");
    assert_eq!(network.count(Counter::DtlsHandshakes), 2);
}

/// The server tells a peer something; whether it takes it.
fn tells(network: &mut Network<Small>, peer: PeerId, confirmable: bool) -> Result<(), RespondError> {
    let answer = Answer { observe: Some(1), payload: &[7; 40], ..Code::CONTENT.into() };
    let cx = &mut network.rig.at(network.now);
    network.server.notify(cx, peer, Token::default(), confirmable, answer)
}

/// Device 0 and its session, which has connected at home.
fn device(seed: u32) -> (Network<Small>, PeerId) {
    let mut network = network::<Small>(seed, 1, Config::default());
    let home = network.devices[0].address;
    let record = record(&mut network, 0, 77);
    network.send(Transport::Dtls, home, &record);
    network.run(5);
    let peer = network.working_on().peer();
    network.run(1_000);
    (network, peer)
}

/// What came to an address that no device has, in bytes.
fn strayed(network: &Network<Small>, to: SocketAddrV6) -> usize {
    network.stray.iter().filter(|(address, _)| *address == to).map(|(_, datagram)| datagram.len()).sum()
}

/// [RFC 9146 section 6](https://www.rfc-editor.org/rfc/rfc9146#section-6)
#[test]
fn who_has_not_answered_at_a_new_address_is_sent_no_more_than_three_times_what_came_from_there() {
    for redirected in 1..4 {
        let (mut network, peer) = device(5);
        let victim = address(100);
        let mut came = 0;
        for id in 0..redirected {
            let record = record(&mut network, 0, id);
            came += record.len();
            network.send(Transport::Dtls, victim, &record);
            network.run(100);
        }
        assert_eq!(network.count(Counter::DtlsAddressChanges), 1);
        let told = (0..8).filter(|n| tells(&mut network, peer, n % 4 == 3).is_ok()).count();
        assert!(told > 0);
        // Until nothing is sent again any more.
        network.run(400_000);
        let sent = strayed(&network, victim);
        assert!(0 < sent && sent <= 3 * came, "{sent} bytes for {came}");
        assert!(network.count(Counter::DtlsHeldBack) > 0);
        // The device is where it always was.
        posts(&mut network, 0, b"at home");
    }
}

#[test]
fn no_record_that_is_let_come_from_elsewhere_shows_that_its_client_receives_there() {
    let (mut network, peer) = device(6);
    let victim = address(100);
    // All kinds of messages that a client may have sent, with ids of the whole range.
    let mut came = 0;
    for (id, kind) in (0..=60_000u16)
        .step_by(20_000)
        .flat_map(|id| [Type::Acknowledgement, Type::Reset, Type::Confirmable].map(|kind| (id, kind)))
    {
        let record = sealed(&mut network, 0, &empty(kind, id));
        came += record.len();
        network.send(Transport::Dtls, victim, &record);
        network.run(10);
    }
    for _ in 0..200 {
        let _ = tells(&mut network, peer, false);
        network.run(1_000);
    }
    let sent = strayed(&network, victim);
    assert!(0 < sent && sent <= 3 * came, "{sent} bytes for {came}");
}

#[test]
fn who_answers_at_a_new_address_is_told_everything_after_a_ping() {
    let (mut network, peer) = device(7);
    network.devices[0].address = address(100);
    posts(&mut network, 0, b"moved");
    assert_eq!(network.count(Counter::DtlsHeldBack), 0, "the answer is short");
    // More than may be sent there, and all of it at once.
    for _ in 0..3 {
        tells(&mut network, peer, false).unwrap();
    }
    let sent = network.sent.len();
    network.run(200);
    let lengths: Vec<_> = network.sent[sent..].iter().map(Vec::len).collect();
    let notification = lengths.iter().max().unwrap();
    assert_eq!(lengths.iter().filter(|length| *length == notification).count(), 3, "{lengths:?}");
    assert_eq!((lengths.len(), network.count(Counter::DtlsHeldBack)), (5, 1), "a ping, and its answer");
    for _ in 0..100 {
        tells(&mut network, peer, false).unwrap();
        network.run(10);
    }
    assert_eq!((network.sent.len() - sent, network.count(Counter::DtlsHeldBack)), (105, 1));
    assert!(network.stray.is_empty());
}

#[test]
fn a_device_that_moves_is_reached_over_a_network_that_loses_datagrams() {
    let mut reached = 0;
    for seed in 1..30 {
        let (mut network, peer) = device(seed);
        network.loss = 200;
        for step in 0..3 {
            network.devices[0].address = address(100 + step);
            for _ in 0..4 {
                network.post(0, b"moved");
                let _ = tells(&mut network, peer, step == 2);
                network.run(120_000);
            }
        }
        network.loss = 0;
        network.post(0, b"again");
        network.run(120_000);
        if network.devices[0].unanswered == 0 {
            assert_eq!(network.devices[0].responses.last(), Some(&(Code::CHANGED, b"again".to_vec())));
            for _ in 0..100 {
                tells(&mut network, peer, false).unwrap();
                network.run(100);
            }
            reached += 1;
        }
    }
    assert!(reached > 20, "{reached} devices got all their answers");
}

#[test]
fn what_is_short_goes_to_a_new_address_at_once() {
    let mut network = network::<Small>(8, 1, Config::default());
    for step in 0..20 {
        network.devices[0].address = address(100 + step);
        posts(&mut network, 0, &[step as u8]);
    }
    assert_eq!(network.count(Counter::DtlsHeldBack), 0);
}
