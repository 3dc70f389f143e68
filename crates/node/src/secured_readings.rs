//! The node's own CoAP server behind DTLS, beside what the node does: its latest reading, for those who prove themselves.

use heapless::Vec;
use sixlock_base::{Array, Cx, Duration, Entropy, Eui64, Instant, Packet};
use sixlock_coap::Responder;
use sixlock_crypto::Crypto;
use sixlock_crypto::p256::P256;
use sixlock_dtls::{Certificates, Refusal};
use sixlock_interface::Datagram;
use sixlock_senml::DeviceName;

use crate::actuators::{Actuators, LINKS};
use crate::channel::{AskedPreShared, Authenticator, KeyPair};
use crate::config::{Access, TooLong};
use crate::measurement::Measurement;
use crate::service::{KNOWN, Observed, answer, tell};
use crate::sessions::{Peer, Sessions};

/// Serves the latest reading of at most `READINGS` quantities, what can be set, and `/.well-known/core`, to at most `SESSIONS` clients at a time, handshakes
/// under way included; `P` says by what it and its clients know each other. Each observes the readings at most `OBSERVERS` times: what is
/// observed is told in its session, and no longer than that lasts.
pub(crate) struct SecuredReadings<
    C: Crypto,
    P: Authenticator<C>,
    const SESSIONS: usize,
    const READINGS: usize,
    const OBSERVERS: usize,
> {
    sessions: Sessions<C, P, SESSIONS, OBSERVERS>,
    responder: Responder,
    latest: Vec<Measurement, READINGS>,
}

impl<C: Crypto, P: Authenticator<C>, const SESSIONS: usize, const READINGS: usize, const OBSERVERS: usize>
    SecuredReadings<C, P, SESSIONS, READINGS, OBSERVERS>
{
    fn started(access: &P::Access<'_>) -> Result<Self, TooLong> {
        let mut sessions = Sessions::NEW;
        sessions.start(access)?;
        Ok(Self { sessions, responder: Responder::new(), latest: Vec::new() })
    }

    fn keep(&mut self, measurements: &[Measurement]) {
        self.latest = measurements.iter().copied().take(READINGS).collect();
        self.sessions.changed();
    }

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        (name, period): (&DeviceName, Duration),
        actuators: &mut Actuators,
        datagram: Datagram<'_>,
        packet: &mut Packet<B>,
    ) -> bool {
        let Self { sessions, responder, latest } = self;
        let (now, peer) = (cx.now, (datagram.source, datagram.source_port));
        let length =
            sessions.handle(cx, peer, datagram.payload, packet.tail_mut(), |cx, memory, request, room| {
                let observers = &mut memory.observers;
                if observers.handle((), request) {
                    return None;
                }
                responder.handle(cx, KNOWN, request, room, |request, response| {
                    if Actuators::are_asked(request) {
                        return actuators.answer(request, response, name);
                    }
                    answer::<OBSERVERS>(request, response, name, latest, LINKS, || {
                        Some(Observed { number: observers.request(now, (), request)?, period })
                    })
                })
            });
        length.is_some_and(|length| packet.push_back(length).is_ok())
    }

    fn poll_notification<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        (name, period): (&DeviceName, Duration),
        packet: &mut Packet<B>,
    ) -> Option<Peer> {
        let Self { sessions, responder, latest } = self;
        sessions.poll_notification(cx, responder, packet, |response, number| {
            tell::<OBSERVERS>(response, name, latest, || Some(Observed { number, period }))
        })
    }
}

/// Readings that are served by what the node proves itself with; not at all where it proves nothing.
pub(crate) enum AnySecuredReadings<
    C: Crypto + P256,
    const SESSIONS: usize,
    const READINGS: usize,
    const OBSERVERS: usize,
> {
    /// Not at all.
    None,
    /// By a pre-shared key.
    PreShared(SecuredReadings<C, AskedPreShared, SESSIONS, READINGS, OBSERVERS>),
    /// By public keys.
    PublicKeys(SecuredReadings<C, KeyPair<Certificates>, SESSIONS, READINGS, OBSERVERS>),
}

/// Calls the same method of either, if there is one.
macro_rules! either {
    ($readings:expr, $inner:ident => $call:expr, $none:expr) => {
        match $readings {
            AnySecuredReadings::None => $none,
            AnySecuredReadings::PreShared($inner) => $call,
            AnySecuredReadings::PublicKeys($inner) => $call,
        }
    };
}

impl<C: Crypto + P256, const SESSIONS: usize, const READINGS: usize, const OBSERVERS: usize>
    AnySecuredReadings<C, SESSIONS, READINGS, OBSERVERS>
{
    /// Those of a node that proves itself by `access`.
    pub(crate) fn started(access: &Access<'_>) -> Result<Self, TooLong> {
        Ok(match access {
            Access::Plain(_) => Self::None,
            Access::DtlsPsk(identity) => Self::PreShared(SecuredReadings::started(identity)?),
            Access::DtlsPublicKey(keys) => Self::PublicKeys(SecuredReadings::started(keys)?),
        })
    }

    /// Whether they are served.
    pub(crate) fn are_served(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Keeps as many of `measurements` as there is room for.
    pub(crate) fn keep(&mut self, measurements: &[Measurement]) {
        either!(self, readings => readings.keep(measurements), ());
    }

    /// Takes in a datagram; whether there is something behind what the packet holds then, which answers it. The readings are those of the
    /// device `name`, and one is made each `period`.
    pub(crate) fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        of: (Eui64, Duration),
        actuators: &mut Actuators,
        datagram: Datagram<'_>,
        packet: &mut Packet<B>,
    ) -> bool {
        let of = (&DeviceName::new(of.0), of.1);
        either!(self, readings => readings.handle(cx, of, actuators, datagram, packet), false)
    }

    /// Writes the next datagram of a handshake, or an alert, behind what the packet holds; returns whom it is for.
    pub(crate) fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<Peer> {
        either!(self, readings => readings.sessions.poll_transmit(cx, packet), None)
    }

    /// Writes what the next observer is told; as [`AnySecuredReadings::poll_transmit`].
    pub(crate) fn poll_notification<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        of: (Eui64, Duration),
        packet: &mut Packet<B>,
    ) -> Option<Peer> {
        let of = (&DeviceName::new(of.0), of.1);
        either!(self, readings => readings.poll_notification(cx, of, packet), None)
    }

    /// How many sessions hold what only handshakes need.
    pub(crate) fn handshakes(&self) -> usize {
        either!(self, readings => readings.sessions.handshakes(), 0)
    }

    /// Why DTLS has refused something.
    pub(crate) fn poll_refusal(&mut self) -> Option<Refusal> {
        either!(self, readings => readings.sessions.poll_refusal(), None)
    }

    /// When to call [`AnySecuredReadings::handle_timeout`].
    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        either!(self, readings => readings.sessions.poll_timeout(), None)
    }

    /// Does what is due.
    pub(crate) fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        either!(self, readings => readings.sessions.handle_timeout(cx), ());
    }
}
