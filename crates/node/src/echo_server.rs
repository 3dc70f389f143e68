//! The node's echo service behind DTLS.

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, Packet};
use sixlock_crypto::Crypto;
use sixlock_dtls::{KeyFeature, Refusal};
use sixlock_interface::Datagram;

use crate::application::{Application, UnderWay};
use crate::channel::Authenticator;
use crate::config::{Cloud, DTLS_ECHO_PORT, TooLong};
use crate::event::Event;
use crate::sessions::{Peer, Sessions};

/// Sends back what it gets, over DTLS, in at most `SESSIONS` sessions at a time, handshakes under way included; `P` says by
/// what it and its clients know each other. Of a datagram with several records the first is sent back.
pub struct EchoServer<C: Crypto, P: Authenticator<C>, const SESSIONS: usize> {
    sessions: Sessions<C, P, SESSIONS, 0>,
    is_started: bool,
}

impl<C: Crypto, P: Authenticator<C>, const SESSIONS: usize> Application<C> for EchoServer<C, P, SESSIONS> {
    type Access<'a> = P::Access<'a>;

    const NEW: Self = Self { sessions: Sessions::NEW, is_started: false };

    fn start(&mut self, _: Instant, cloud: &Cloud<P::Access<'_>>) -> Result<(), TooLong> {
        self.sessions.start(&cloud.access)?;
        self.is_started = true;
        Ok(())
    }

    fn is_secured(&self) -> bool {
        true
    }

    fn port(&self) -> u16 {
        DTLS_ECHO_PORT
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        // One hello to all nodes would call forth an answer of every one.
        datagram.destination_port == DTLS_ECHO_PORT && !datagram.destination.is_multicast() && self.is_started
    }

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        _: Eui64,
        datagram: Datagram<'_>,
        answer: &mut Packet<B>,
    ) -> bool {
        let peer = (datagram.source, datagram.source_port);
        let length =
            self.sessions.handle(cx, peer, datagram.payload, answer.tail_mut(), |_, _, message, room| {
                room.get_mut(..message.len())?.copy_from_slice(message);
                Some(message.len())
            });
        length.is_some_and(|length| answer.push_back(length).is_ok())
    }

    fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<Peer> {
        self.sessions.poll_transmit(cx, packet)
    }

    fn has_flights(&self) -> bool {
        P::Keys::SUITE.has_public_keys()
    }

    fn under_way(&self) -> UnderWay {
        UnderWay { requests: 0, handshakes: self.sessions.handshakes() }
    }

    fn poll_event(&mut self, _: Instant) -> Option<Event> {
        self.sessions.poll_connected().then_some(Event::Connected)
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        self.sessions.poll_refusal()
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.sessions.poll_timeout()
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.sessions.handle_timeout(cx);
    }
}
