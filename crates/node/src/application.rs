use core::convert::Infallible;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Duration, Entropy, Eui64, Instant, Packet};
use sixlock_crypto::Crypto;
use sixlock_dtls::{KeyLogEntry, Refusal};
use sixlock_interface::Datagram;
use sixlock_senml::DeviceName;

use crate::config::{Cloud, TooLong};
use crate::event::Event;
use crate::measurement::Measurement;

/// What an application has under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// Requests of CoAP that wait for their response.
    pub requests: usize,
    /// DTLS sessions that hold what only handshakes need.
    pub handshakes: usize,
}

/// What a node does beside forwarding and answering. Of a node that only does these, it is `()`.
pub trait Application<C: Crypto>: Sized {
    /// How the node proves to the cloud whose readings they are.
    type Access<'a>;

    /// One that was not told its part yet. It is all zero bytes.
    const NEW: Self;

    /// Takes in where readings go, and when; to be called first, and once. Those of a server stay at the node.
    fn start(&mut self, now: Instant, cloud: &Cloud<Self::Access<'_>>) -> Result<(), TooLong>;

    /// Whether it speaks DTLS, since its start: then the node serves nothing in the clear.
    fn is_secured(&self) -> bool {
        false
    }

    /// How often it makes a reading.
    fn period(&self) -> Duration {
        Duration::from_millis(0)
    }

    /// Begins to post a reading.
    fn report<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>, _: &DeviceName, _: &[Measurement]) {}

    /// The UDP port that its datagrams go out from; of one with several, that of the datagram which was written last.
    fn port(&self) -> u16 {
        0
    }

    /// Whether a datagram is for [`Application::handle`].
    fn takes(&self, _: &Datagram<'_>) -> bool {
        false
    }

    /// Takes in a datagram that came to the node with this address. Whether there is something behind what the packet
    /// holds then, which answers it.
    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: Eui64,
        _: Datagram<'_>,
        _: &mut Packet<B>,
    ) -> bool {
        false
    }

    /// Writes the next datagram behind what the packet holds; returns whom it is for, if there was one.
    fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        None
    }

    /// Writes what the next one is told who observes readings of the node with this address; as [`Application::poll_transmit`].
    fn poll_notification<E: Entropy, N, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: Eui64,
        _: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        None
    }

    /// Whether it may have several datagrams to send at a time, of which none is to be lost for want of room.
    fn has_flights(&self) -> bool {
        false
    }

    /// What it has under way.
    fn under_way(&self) -> UnderWay {
        UnderWay::default()
    }

    /// What has happened.
    fn poll_event(&mut self, _: Instant) -> Option<Event> {
        None
    }

    /// What opens the session's records, for a key log.
    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        None
    }

    /// Why DTLS has refused something: the first since this was asked last. Small processors keep no reasons.
    fn poll_refusal(&mut self) -> Option<Refusal> {
        None
    }

    /// When to call [`Application::handle_timeout`].
    fn poll_timeout(&mut self) -> Option<Instant> {
        None
    }

    /// Does what is due.
    fn handle_timeout<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}
}

impl<C: Crypto> Application<C> for () {
    type Access<'a> = Infallible;

    const NEW: Self = ();

    fn start(&mut self, _: Instant, cloud: &Cloud<Infallible>) -> Result<(), TooLong> {
        match cloud.access {}
    }
}
