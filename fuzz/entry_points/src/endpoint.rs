//! A CoAP server of many peers, over both of its transports.

use std::net::{Ipv6Addr, SocketAddrV6};

use sixlock_base::Duration;
use sixlock_coap_msg::{Code, Message};
use sixlock_crypto::Soft;
use sixlock_dtls::{ClientSession, Config as DtlsConfig, Handshake, RECORD_FRONT, RECORD_OVERHEAD};
use sixlock_endpoint::{Config, Endpoint, Event, InPlace, Transport};
use sixlock_testing::Rig;

use crate::dtls::{IDENTITY, KEY, MAX_DATAGRAM, drain_client};
use crate::split;

type Server = Endpoint<Soft, SocketAddrV6, InPlace<2, 2, 64>, 2>;

fn server(rig: &mut Rig) -> Server {
    let config = Config {
        max_sessions: 2,
        max_handshakes: 2,
        max_plain: 2,
        idle: Duration::from_secs(1),
        ..Config::default()
    };
    Endpoint::new(&mut rig.cx(), config)
}

fn peer(choice: u8) -> SocketAddrV6 {
    SocketAddrV6::new(Ipv6Addr::LOCALHOST, u16::from(choice), 0, 0)
}

/// Datagrams: the first byte of each says from which of four peers and over which transport, the
/// second how much time passes before.
pub(crate) fn datagrams(input: &[u8]) -> usize {
    let mut rig = Rig::seeded(9);
    let mut server = server(&mut rig);
    let mut taken = 0;
    for datagram in split(input) {
        let [choice, pause, datagram @ ..] = datagram else { continue };
        rig.pass(u32::from(*pause) * 100);
        server.handle_timeout(&mut rig.cx());
        let transport = if choice & 4 == 0 { Transport::Dtls } else { Transport::Udp };
        taken += take(&mut server, &mut rig, transport, peer(choice & 3), &mut datagram.to_vec());
        drain(&mut server, &mut rig);
    }
    taken
}

/// Hands a datagram in, answers the requests in it and counts them.
fn take(
    server: &mut Server,
    rig: &mut Rig,
    transport: Transport,
    from: SocketAddrV6,
    datagram: &mut [u8],
) -> usize {
    let mut taken = 0;
    let mut rest = datagram;
    while !rest.is_empty() {
        let received = server.handle(&mut rig.cx(), transport, from, rest);
        rest = received.rest;
        let Some(request) = received.request else { continue };
        assert_eq!(request.from, from);
        let id = request.id;
        taken += 1;
        match transport {
            Transport::Dtls => {
                assert_eq!(server.identity(id), Some(IDENTITY), "only who knows the key is heard")
            }
            Transport::Udp => assert_eq!(server.identity(id), None),
        }
        server.respond(&mut rig.cx(), id, Code::CHANGED.into()).expect("the request waits");
    }
    taken
}

/// Polls until there is nothing to say, and returns the datagrams.
fn drain(server: &mut Server, rig: &mut Rig) -> Vec<Vec<u8>> {
    while let Some(event) = server.poll_event() {
        if let Event::Work { session, identity, .. } = event {
            let known = identity == IDENTITY;
            server.provide_key(&mut rig.cx(), session, known.then_some(KEY)).expect("the session asked");
        }
    }
    let mut sent = Vec::new();
    let mut out = [0; MAX_DATAGRAM];
    while let Some(transmit) = server.poll_transmit(&mut rig.cx(), &mut out) {
        let datagram = &out[..transmit.len];
        if transmit.transport == Transport::Udp {
            Message::parse(datagram).expect("what is sent is a message");
        }
        sent.push(datagram.to_vec());
    }
    sent
}

/// What a client sends that makes its handshake and then `request`.
pub(crate) fn conversation(request: &[u8]) -> Vec<Vec<u8>> {
    let (mut rig, mut here) = (Rig::seeded(9), Rig::seeded(12));
    let mut server = server(&mut rig);
    let handshake = Some(Box::new(Handshake::new()));
    let mut client = ClientSession::client(&mut here.cx(), DtlsConfig::HOST, None, handshake);
    let mut sent = Vec::new();
    loop {
        let datagrams = drain_client(&mut client, &mut here);
        if datagrams.is_empty() {
            break;
        }
        for mut datagram in datagrams {
            sent.push(datagram.clone());
            take(&mut server, &mut rig, Transport::Dtls, peer(0), &mut datagram);
            for mut answer in drain(&mut server, &mut rig) {
                client.handle_all(&mut here.cx(), &mut answer, |_| ());
            }
        }
    }
    let mut buffer = vec![0; request.len() + RECORD_OVERHEAD];
    buffer[RECORD_FRONT..][..request.len()].copy_from_slice(request);
    let length = client.seal(&mut here.cx(), &mut buffer, request.len()).expect("the client is connected");
    buffer.truncate(length);
    sent.push(buffer);
    sent
}
