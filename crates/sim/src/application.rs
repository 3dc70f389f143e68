//! What a simulated node does, as its scenario says: it posts readings, takes them in, or sends back what it gets.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Duration, Entropy, Eui64, Instant, Packet};
use sixlock_dtls::{Certificates, Refusal};
use sixlock_node::{
    Access, AnyChannel, Application, AskedSensor, Cloud, Commands, Datagram, DeviceName, EchoServer, Event,
    Identity, KeyLogEntry, KeyPair, KeyRing, Measurement, PreShared, Sensor, Server, TooLong, UnderWay,
};

use crate::arrivals::Arrivals;
use crate::engine::Accelerated;
use crate::sizes::{OBSERVERS, READINGS};
use crate::time::Span;

/// DTLS sessions of a node that others post to, handshakes under way included.
const SESSIONS: usize = 8;
/// The same of a node that posts its readings, with those who ask it for them.
const ASKED_SESSIONS: usize = 4;
/// The quantities in its readings: with what of it can be set.
const ASKED_READINGS: usize = READINGS + 2;

/// A node's part, and how it proves what it is.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// It posts its readings.
    Posts {
        /// How it proves whose they are.
        access: Access<'a>,
        /// How.
        style: Posting,
        /// When.
        times: SampleTimes,
    },
    /// It takes in those of others.
    Takes(Own<'a>),
    /// It sends back what it gets over DTLS.
    Echoes(Own<'a>),
}

/// How a node posts its readings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Posting {
    /// By confirmable messages.
    Confirmable,
    /// By messages that are not.
    Unconfirmed,
    /// By confirmable ones, and it tells the latest to those who ask by coaps.
    Asked,
}

/// When the readings of a node are due, of which the first is told apart.
#[derive(Clone, Copy)]
pub(crate) struct SampleTimes {
    /// The times between them.
    pub(crate) arrivals: Arrivals,
    /// The number of the next, from 1 on.
    pub(crate) next: u64,
    /// How long a DTLS session goes on at most.
    pub(crate) session: Option<Duration>,
    /// When the one that there is comes to its end.
    pub(crate) session_ends: Option<Instant>,
}

impl SampleTimes {
    /// One is taken that was `due` at a time: the next that is not due by `now`.
    fn after(&mut self, mut due: Instant, now: Instant) -> Instant {
        while now.has_reached(due) {
            due = due + millis(self.arrivals.gap(self.next));
            self.next += 1;
        }
        due
    }
}

/// Its whole milliseconds.
fn millis(span: Span) -> Duration {
    Duration::from_millis((span.micros() / 1000).max(1) as u32)
}

/// What a node that is a server has of its own.
#[derive(Clone, Copy)]
pub(crate) enum Own<'a> {
    /// A key that its clients have, too.
    PreShared(Identity<'a>),
    /// A private one.
    PublicKey(&'static KeyRing),
}

/// One of them. Those of which a network has few are boxed: a node has room for the largest of the others.
pub(crate) enum AnyApplication {
    Sensor(Sensor<Accelerated, AnyChannel<Accelerated>>, Option<SampleTimes>),
    UnconfirmedSensor(Sensor<Accelerated, AnyChannel<Accelerated>, false>, Option<SampleTimes>),
    Asked(Box<AskedSensor<Accelerated, ASKED_SESSIONS, ASKED_READINGS, OBSERVERS>>, Option<SampleTimes>),
    Server(Box<Server<Accelerated, PreShared, SESSIONS, READINGS, OBSERVERS>>),
    CertifiedServer(Box<Server<Accelerated, KeyPair<Certificates>, SESSIONS, READINGS, OBSERVERS>>),
    Echoes(Box<EchoServer<Accelerated, PreShared, SESSIONS>>),
    CertifiedEchoes(Box<EchoServer<Accelerated, KeyPair<Certificates>, SESSIONS>>),
}

/// Calls the same method of each.
macro_rules! each {
    ($application:expr, $inner:ident => $call:expr) => {
        match $application {
            AnyApplication::Sensor($inner, _) => $call,
            AnyApplication::UnconfirmedSensor($inner, _) => $call,
            AnyApplication::Asked($inner, _) => $call,
            AnyApplication::Server($inner) => $call,
            AnyApplication::CertifiedServer($inner) => $call,
            AnyApplication::Echoes($inner) => $call,
            AnyApplication::CertifiedEchoes($inner) => $call,
        }
    };
}

impl Application<Accelerated> for AnyApplication {
    type Access<'a> = Part<'a>;

    const NEW: Self = Self::Sensor(Sensor::NEW, None);

    fn start(&mut self, now: Instant, cloud: &Cloud<Part<'_>>) -> Result<(), TooLong> {
        *self = match cloud.access {
            Part::Posts { access, style: Posting::Confirmable, times } => {
                Self::Sensor(started(now, cloud, access)?, Some(times))
            }
            Part::Posts { access, style: Posting::Unconfirmed, times } => {
                Self::UnconfirmedSensor(started(now, cloud, access)?, Some(times))
            }
            Part::Posts { access, style: Posting::Asked, times } => {
                Self::Asked(Box::new(started(now, cloud, access)?), Some(times))
            }
            Part::Takes(Own::PreShared(access)) => Self::Server(Box::new(started(now, cloud, access)?)),
            Part::Takes(Own::PublicKey(access)) => {
                Self::CertifiedServer(Box::new(started(now, cloud, access)?))
            }
            Part::Echoes(Own::PreShared(access)) => Self::Echoes(Box::new(started(now, cloud, access)?)),
            Part::Echoes(Own::PublicKey(access)) => {
                Self::CertifiedEchoes(Box::new(started(now, cloud, access)?))
            }
        };
        Ok(())
    }

    fn is_secured(&self) -> bool {
        each!(self, application => application.is_secured())
    }

    fn period(&self) -> Duration {
        each!(self, application => application.period())
    }

    fn report<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        name: &DeviceName,
        measurements: &[Measurement],
    ) {
        match self {
            Self::Sensor(sensor, Some(times)) => renew_if_old(sensor, times, cx),
            Self::UnconfirmedSensor(sensor, Some(times)) => renew_if_old(sensor, times, cx),
            Self::Asked(asked, Some(times)) => renew_if_old(asked.sensor(), times, cx),
            _ => {}
        }
        each!(self, application => application.report(cx, name, measurements));
    }

    fn port(&self) -> u16 {
        each!(self, application => application.port())
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        each!(self, application => application.takes(datagram))
    }

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        address: Eui64,
        datagram: Datagram<'_>,
        answer: &mut Packet<B>,
    ) -> bool {
        each!(self, application => application.handle(cx, address, datagram, answer))
    }

    fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        each!(self, application => application.poll_transmit(cx, packet))
    }

    fn poll_notification<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        address: Eui64,
        packet: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        each!(self, application => application.poll_notification(cx, address, packet))
    }

    fn has_flights(&self) -> bool {
        each!(self, application => application.has_flights())
    }

    fn under_way(&self) -> UnderWay {
        each!(self, application => application.under_way())
    }

    fn poll_event(&mut self, now: Instant) -> Option<Event> {
        match self {
            Self::Sensor(sensor, times) => poll_sensor(sensor, times.as_mut(), now),
            Self::UnconfirmedSensor(sensor, times) => poll_sensor(sensor, times.as_mut(), now),
            Self::Asked(asked, times) => poll_sensor(asked.sensor(), times.as_mut(), now),
            Self::Server(server) => server.poll_event(now),
            Self::CertifiedServer(server) => server.poll_event(now),
            Self::Echoes(server) => server.poll_event(now),
            Self::CertifiedEchoes(server) => server.poll_event(now),
        }
    }

    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        each!(self, application => application.key_log())
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        each!(self, application => application.poll_refusal())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        each!(self, application => application.poll_timeout())
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, Accelerated, E, N>) {
        each!(self, application => application.handle_timeout(cx));
    }
}

/// What has happened at a sensor whose readings are due at its times.
fn poll_sensor<const CONFIRMABLE: bool, M: Commands>(
    sensor: &mut Sensor<Accelerated, AnyChannel<Accelerated>, CONFIRMABLE, M>,
    times: Option<&mut SampleTimes>,
    now: Instant,
) -> Option<Event> {
    let due = sensor.next_sample();
    let event = sensor.poll_event(now);
    match (event, due, times) {
        (Some(Event::Sample), Some(due), Some(times)) => sensor.sample_at(times.after(due, now)),
        (Some(Event::Connected), _, Some(times)) => {
            times.session_ends = times.session.map(|session| now + session);
        }
        _ => {}
    }
    event
}

/// Gives a session up that has gone on for as long as it may.
fn renew_if_old<E: Entropy, N, const CONFIRMABLE: bool, M: Commands>(
    sensor: &mut Sensor<Accelerated, AnyChannel<Accelerated>, CONFIRMABLE, M>,
    times: &mut SampleTimes,
    cx: &mut Cx<'_, Accelerated, E, N>,
) {
    if times.session_ends.take_if(|end| cx.now.has_reached(*end)).is_some() {
        sensor.renew(cx);
    }
}

/// An application with its part.
fn started<'a, A: Application<Accelerated>>(
    now: Instant,
    cloud: &Cloud<Part<'_>>,
    access: A::Access<'a>,
) -> Result<A, TooLong> {
    let Cloud { address, port, period, first, .. } = *cloud;
    let mut application = A::NEW;
    application.start(now, &Cloud { address, port, access, period, first })?;
    Ok(application)
}
