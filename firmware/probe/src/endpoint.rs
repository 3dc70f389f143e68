//! A CoAP server of a few peers, over DTLS and plain.

use core::net::{Ipv6Addr, SocketAddrV6};

use sixlock_base::{Cx, Duration, Entropy};
use sixlock_coap_msg::Code;
use sixlock_crypto::Crypto;
use sixlock_dtls::Answer;
use sixlock_endpoint::{
    AuthenticationMethod, Config, Event, InPlace, MAX_SESSION_RECORD, SessionUpdate, Transport,
};

use crate::io;
use crate::sizes::{EXCHANGES, MESSAGE, PEERS};

pub type Endpoint<C> = sixlock_endpoint::Endpoint<C, SocketAddrV6, InPlace<PEERS, PEERS, 64>, EXCHANGES>;

pub fn new<C: Crypto, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>) -> Endpoint<C> {
    let peers = PEERS as u32;
    let config = Config { max_sessions: peers, max_handshakes: peers, max_plain: peers, ..Config::default() };
    Endpoint::new(cx, config)
}

#[inline(never)]
pub fn probe<C: Crypto, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, endpoint: &mut Endpoint<C>) {
    let mut datagram = io::bytes::<MESSAGE>();
    match io::byte() {
        0 => {
            let transport = if io::byte() == 0 { Transport::Udp } else { Transport::Dtls };
            let from = SocketAddrV6::new(Ipv6Addr::from(io::bytes()), 5683, 0, 0);
            let received = endpoint.handle(cx, transport, from, &mut datagram);
            if let Some(request) = received.request {
                io::write(request.message.payload());
                let id = request.id;
                io::write(endpoint.identity(id).unwrap_or_default());
                let answered = endpoint.respond(cx, id, Code::CHANGED.into());
                io::write(&[answered.is_ok().into()]);
            }
        }
        1 => {
            let mut kept = io::bytes::<MAX_SESSION_RECORD>();
            endpoint.keep(&io::bytes());
            let left = Duration::from_secs(u32::from(io::byte()));
            io::write(&[
                endpoint.restore(cx, &kept, left).is_ok().into(),
                endpoint.forget(&io::bytes()).into(),
            ]);
            if let Some(SessionUpdate::Resumable { len, .. }) = endpoint.poll_session_update(cx, &mut kept) {
                io::write(kept.get(..len).unwrap_or_default());
            }
        }
        _ => endpoint.handle_timeout(cx),
    }
    match endpoint.poll_event() {
        Some(Event::Task { session, .. }) => {
            endpoint.identify(cx, session, (b"", AuthenticationMethod::RawPublicKey), b"");
            io::write(&[endpoint.complete(cx, session, &Answer::Verified).is_ok().into()]);
        }
        Some(Event::Work { session, identity, .. }) => {
            io::write(identity);
            let known = io::byte() != 0;
            let resumed = endpoint.provide_key(cx, session, known.then_some(&io::bytes::<16>()));
            io::write(&[resumed.is_ok().into()]);
        }
        Some(Event::Connected { session, .. }) if io::byte() == 0 => endpoint.close(cx, session),
        _ => {}
    }
    if let Some(transmit) = endpoint.poll_transmit(cx, &mut datagram) {
        io::write(datagram.get(..transmit.len).unwrap_or_default());
    }
    io::write(&[endpoint.poll_timeout().is_some().into()]);
}
