//! A sensor that is also asked: by those who prove to know it, over DTLS.

use core::net::Ipv6Addr;

use heapless::Vec;
use sixlock_base::{Array, Cx, Duration, Entropy, Eui64, Instant, Packet};
use sixlock_crypto::Crypto;
use sixlock_crypto::p256::P256;
use sixlock_dtls::{KeyLogEntry, Refusal};
use sixlock_interface::Datagram;
use sixlock_senml::DeviceName;

use crate::actuators::{Actuators, Commands};
use crate::application::{Application, UnderWay};
use crate::channel::AnyChannel;
use crate::config::{Access, COAPS_PORT, Cloud, TooLong};
use crate::event::Event;
use crate::measurement::Measurement;
use crate::secured_readings::AnySecuredReadings;
use crate::sensor::Sensor;

/// A sensor that also tells its latest reading, of at most `READINGS` quantities, to who asks by coaps at [`COAPS_PORT`], in at most
/// `SESSIONS` sessions at a time, in each of which it is observed at most `OBSERVERS` times. A lamp and a valve of its own are set
/// there, or by the cloud in the session in which it posts its readings, which tell from then on what they are set to.
///
/// Its clients prove themselves by what it proves itself with to the cloud: they have its pre-shared key, or are whom it trusts by public
/// keys. Of a sensor that proves nothing, nobody may ask. A client that finds no place gets one as
/// [`Server`](crate::Server) says.
pub struct AskedSensor<C: Crypto + P256, const SESSIONS: usize, const READINGS: usize, const OBSERVERS: usize>
{
    sensor: Sensor<C, AnyChannel<C>, true, Actuators>,
    readings: AnySecuredReadings<C, SESSIONS, READINGS, OBSERVERS>,
    /// Where the datagram goes out from that was written last.
    port: u16,
}

impl<C: Crypto + P256, const SESSIONS: usize, const READINGS: usize, const OBSERVERS: usize>
    AskedSensor<C, SESSIONS, READINGS, OBSERVERS>
{
    /// What posts the readings.
    pub fn sensor(&mut self) -> &mut Sensor<C, AnyChannel<C>, true, impl Commands> {
        &mut self.sensor
    }

    /// The name and value of what was set last of the device, told once.
    pub fn poll_set(&mut self) -> Option<(&'static str, i32)> {
        self.sensor.commands().poll_set()
    }

    /// Notes that what is written for this peer, if there is one, goes out from `port`.
    fn sent_from<P>(&mut self, port: u16, peer: Option<P>) -> Option<P> {
        if peer.is_some() {
            self.port = port;
        }
        peer
    }
}

impl<C: Crypto + P256, const SESSIONS: usize, const READINGS: usize, const OBSERVERS: usize> Application<C>
    for AskedSensor<C, SESSIONS, READINGS, OBSERVERS>
{
    type Access<'a> = Access<'a>;

    const NEW: Self = Self { sensor: Sensor::NEW, readings: AnySecuredReadings::None, port: 0 };

    fn start(&mut self, now: Instant, cloud: &Cloud<Access<'_>>) -> Result<(), TooLong> {
        self.sensor.start(now, cloud)?;
        self.readings = AnySecuredReadings::started(&cloud.access)?;
        Ok(())
    }

    fn is_secured(&self) -> bool {
        self.sensor.is_secured()
    }

    fn period(&self) -> Duration {
        self.sensor.period()
    }

    fn report<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        name: &DeviceName,
        measurements: &[Measurement],
    ) {
        let set = self.sensor.commands().measurements();
        let all: Vec<_, READINGS> = measurements.iter().copied().chain(set).take(READINGS).collect();
        self.sensor.report(cx, name, &all);
        self.readings.keep(&all);
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        // One hello to all nodes would call forth an answer of every one.
        let asks = datagram.destination_port == COAPS_PORT && !datagram.destination.is_multicast();
        asks && self.readings.are_served() || self.sensor.takes(datagram)
    }

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        datagram: Datagram<'_>,
        answer: &mut Packet<B>,
    ) -> bool {
        if datagram.destination_port != COAPS_PORT {
            return self.sensor.handle(cx, address, datagram, answer);
        }
        self.port = COAPS_PORT;
        let of = (address, self.sensor.period());
        self.readings.handle(cx, of, self.sensor.commands(), datagram, answer)
    }

    fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        let (posted, port) = (self.sensor.poll_transmit(cx, packet), self.sensor.port());
        if let Some(peer) = self.sent_from(port, posted) {
            return Some(peer);
        }
        let served = self.readings.poll_transmit(cx, packet);
        self.sent_from(COAPS_PORT, served)
    }

    fn poll_notification<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        packet: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        let notified = self.readings.poll_notification(cx, (address, self.sensor.period()), packet);
        self.sent_from(COAPS_PORT, notified)
    }

    fn has_flights(&self) -> bool {
        // Of several observers, each is told when there is room for it.
        self.sensor.has_flights() || self.readings.are_served()
    }

    fn under_way(&self) -> UnderWay {
        let UnderWay { requests, handshakes } = self.sensor.under_way();
        UnderWay { requests, handshakes: handshakes + self.readings.handshakes() }
    }

    fn poll_event(&mut self, now: Instant) -> Option<Event> {
        self.sensor.poll_event(now)
    }

    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        self.sensor.key_log()
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        self.sensor.poll_refusal().or_else(|| self.readings.poll_refusal())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        Instant::earliest(self.sensor.poll_timeout(), self.readings.poll_timeout())
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.sensor.handle_timeout(cx);
        self.readings.handle_timeout(cx);
    }
}
