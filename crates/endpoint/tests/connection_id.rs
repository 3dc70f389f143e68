//! Devices whose address changes while their session goes on.

mod network;

use network::{Network, Small, address, plain_request};
use sixlock_base::Counter;
use sixlock_coap_msg::{Code, Type};
use sixlock_crypto::Soft;
use sixlock_dtls::{ConnectionId, MAX_RECORD_OVERHEAD, RECORD_FRONT};
#[cfg(feature = "alloc")]
use sixlock_endpoint::OnHeap;
use sixlock_endpoint::{Config, Door, Storage};
use std::net::SocketAddrV6;

/// Devices that know of connection ids and want none on what they receive.
fn network<S: Storage<Soft, SocketAddrV6>>(seed: u64, devices: usize, config: Config) -> Network<S> {
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
    let mut out = vec![0; message.len() + MAX_RECORD_OVERHEAD];
    out[RECORD_FRONT..RECORD_FRONT + message.len()].copy_from_slice(&message);
    let (now, device) = (network.now, &mut network.devices[n]);
    let session = device.session.as_mut().unwrap();
    let len = session.seal(&mut device.place.cx(now), &mut out, message.len()).unwrap();
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
    network.send(Door::Secure, home, &delivered);
    network.run(1_000);
    // The same again, an altered one and one from before: all of them from another's address.
    network.send(Door::Secure, elsewhere, &delivered);
    let mut altered = record(&mut network, 0, 3);
    *altered.last_mut().unwrap() ^= 1;
    network.send(Door::Secure, elsewhere, &altered);
    let done = network.done.len();
    network.send(Door::Secure, elsewhere, &held_up);
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
    network.send(Door::Secure, network.devices[0].address, &request);
    network.run(1_000);
    assert_eq!(network.done.last().unwrap().0, Some(b"device 1".to_vec()));
    assert!(network.told.len() == 2, "nobody was closed");
    posts(&mut network, 0, b"still here");
    network.devices[1].address = address(1);
    posts(&mut network, 1, b"home again");
    assert_eq!(network.count(Counter::DtlsHandshakes), 2);
}
