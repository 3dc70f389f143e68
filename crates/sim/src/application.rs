//! What a simulated node does, as its scenario says: it posts readings, takes them in, or sends back what it gets.

use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, Instant, Packet};
use sixlock_node::{
    Access, AnyChannel, Application, Cloud, Datagram, DeviceName, EchoServer, Event, Identity, KeyLogEntry,
    Measurement, Sensor, Server, TooLong,
};

use crate::engine::Accelerated;
use crate::station::READINGS;

/// DTLS sessions of a node that others post to, handshakes under way included.
const SESSIONS: usize = 8;

/// A node's part, and how it proves what it is.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// It posts its readings.
    Posts(Access<'a>),
    /// It takes in those of others.
    Takes(Identity<'a>),
    /// It sends back what it gets over DTLS.
    Echoes(Identity<'a>),
}

/// One of them.
#[expect(clippy::large_enum_variant, reason = "a node has one, and the whole node is boxed")]
pub(crate) enum AnyApplication {
    Sensor(Sensor<Accelerated, AnyChannel<Accelerated>>),
    Server(Server<Accelerated, SESSIONS, READINGS>),
    Echoes(EchoServer<Accelerated, SESSIONS>),
}

/// Calls the same method of each.
macro_rules! each {
    ($application:expr, $inner:ident => $call:expr) => {
        match $application {
            AnyApplication::Sensor($inner) => $call,
            AnyApplication::Server($inner) => $call,
            AnyApplication::Echoes($inner) => $call,
        }
    };
}

impl Application<Accelerated> for AnyApplication {
    type Access<'a> = Part<'a>;

    const NEW: Self = Self::Sensor(Sensor::NEW);

    fn start(&mut self, now: Instant, cloud: &Cloud<Part<'_>>) -> Result<(), TooLong> {
        let Cloud { address, port, access, period, first } = *cloud;
        match access {
            Part::Posts(access) => {
                let mut sensor = Sensor::NEW;
                sensor.start(now, &Cloud { address, port, access, period, first })?;
                *self = Self::Sensor(sensor);
            }
            Part::Takes(access) => {
                let mut server = Server::NEW;
                server.start(now, &Cloud { address, port, access, period, first })?;
                *self = Self::Server(server);
            }
            Part::Echoes(access) => {
                let mut echoes = EchoServer::NEW;
                echoes.start(now, &Cloud { address, port, access, period, first })?;
                *self = Self::Echoes(echoes);
            }
        }
        Ok(())
    }

    fn report<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        name: &DeviceName,
        measurements: &[Measurement],
    ) {
        each!(self, application => application.report(cx, name, measurements));
    }

    fn port(&self) -> u16 {
        each!(self, application => application.port())
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        each!(self, application => application.takes(datagram))
    }

    fn handle<E: Entropy, N, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        address: Eui64,
        datagram: Datagram<'_>,
        answer: &mut Packet<M>,
    ) -> bool {
        each!(self, application => application.handle(cx, address, datagram, answer))
    }

    fn poll_transmit<E: Entropy, N, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, Accelerated, E, N>,
        packet: &mut Packet<M>,
    ) -> Option<(Ipv6Addr, u16)> {
        each!(self, application => application.poll_transmit(cx, packet))
    }

    fn has_flights(&self) -> bool {
        each!(self, application => application.has_flights())
    }

    fn poll_event(&mut self, now: Instant) -> Option<Event> {
        each!(self, application => application.poll_event(now))
    }

    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        each!(self, application => application.key_log())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        each!(self, application => application.poll_timeout())
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, Accelerated, E, N>) {
        each!(self, application => application.handle_timeout(cx));
    }
}
