//! The application: a reading every period, posted by confirmable CoAP.

use core::marker::PhantomData;
use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Duration, Entropy, Eui64, Instant, Packet};
use sixlock_coap::{Client, RequestError};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, OptionNumber};
use sixlock_crypto::Crypto;
use sixlock_senml::json::PackWriter;
use sixlock_senml::{Decimal, DeviceName, Reading};

use crate::channel::{Channel, ChannelEvent, SessionKeys};
use crate::config::{Cloud, MAX_NAME, Resource};

/// The longest message to the cloud, in bytes.
const MAX_MESSAGE: usize = 384;

/// How often a request is sent in one session without an answer before the cloud counts as
/// having forgotten the session.
const SENDS_A_SESSION: u8 = 3;

/// One measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The quantity, for example `temperature`.
    pub name: &'static str,
    /// Its unit as SenML spells it, for example `Cel`.
    pub unit: &'static str,
    /// Its value.
    pub value: Decimal,
}

impl Measurement {
    /// What a thermometer, a hygrometer and a light sensor measure: tenths of a degree Celsius, tenths of a per cent of
    /// relative humidity, lux.
    pub fn of_sensors(temperature: i32, humidity: i32, light: i32) -> [Self; 3] {
        [
            Self { name: "temperature", unit: "Cel", value: Decimal::new(temperature, -1) },
            Self { name: "humidity", unit: "%RH", value: Decimal::new(humidity, -1) },
            Self { name: "light", unit: "lx", value: Decimal::new(light, 0) },
        ]
    }
}

/// Something that happened at a node.
pub enum Event {
    /// A reading is due: take one and hand it to [`Node::report`](crate::Node::report).
    Sample,
    /// The cloud has confirmed a reading.
    ReadingConfirmed,
    /// A reading was given up, or the cloud refused it.
    ReadingFailed,
    /// A DTLS session is there, with these keys for a key log.
    Connected(SessionKeys),
    /// The DTLS session was lost, or its handshake failed.
    Disconnected,
}

pub(crate) struct Sensor<C, W> {
    address: Ipv6Addr,
    port: u16,
    period: Duration,
    channel: W,
    client: Client<MAX_MESSAGE>,
    name: DeviceName,
    next_sample: Instant,
    sends: u8,
    confirmed: Option<bool>,
    crypto: PhantomData<C>,
}

impl<C: Crypto, W: Channel<C>> Sensor<C, W> {
    pub(crate) fn new(now: Instant, name: Eui64, cloud: Cloud<W::Access>) -> Self {
        let Cloud { address, port, access, period, first, coap, dtls } = cloud;
        Self {
            address,
            port,
            period,
            channel: W::new(access, dtls),
            client: Client::new(coap),
            name: DeviceName::new(name),
            next_sample: now + first,
            sends: 0,
            confirmed: None,
            crypto: PhantomData,
        }
    }

    pub(crate) fn is_cloud(&self, address: Ipv6Addr, port: u16) -> bool {
        (address, port) == self.cloud()
    }

    pub(crate) fn cloud(&self) -> (Ipv6Addr, u16) {
        (self.address, self.port)
    }

    /// Begins to post a reading. One that comes while the one before is under way is skipped.
    pub(crate) fn report<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, measurements: &[Measurement]) {
        let (resource, name) = (self.channel.resource(), &self.name);
        let begun =
            self.client.request(cx, true, Code::POST, |message| build(message, resource, name, measurements));
        cx.counters.count(match begun {
            Ok(()) => Counter::ReadingsSent,
            Err(RequestError::Busy | RequestError::Build(_)) => Counter::ReadingsSkipped,
        });
        self.sends = 0;
    }

    pub(crate) fn handle<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, datagram: &mut [u8]) {
        let Self { channel, client, confirmed, .. } = self;
        channel.handle(cx, datagram, |cx, message| {
            if let Some(response) = client.handle(cx, message) {
                let success = response.code().is_success();
                if success {
                    cx.counters.count(Counter::ReadingsConfirmed);
                }
                *confirmed = Some(success);
            }
        });
        self.follow_channel(cx);
    }

    /// In a new session the request under way is another message.
    fn follow_channel<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if self.channel.poll_renewed() {
            self.sends = 0;
            self.client.restart(cx);
        }
    }

    /// Writes the next datagram for the cloud behind what `packet` holds; whether there was one.
    pub(crate) fn poll_transmit<E: Entropy, N, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<M>,
    ) -> bool {
        if self.client.is_busy() {
            self.channel.open(cx);
        }
        let length = match self.channel.poll_transmit(cx, packet.tail_mut()) {
            Some(length) => Some(length),
            None if self.channel.is_open() => self.poll_message(cx, packet.tail_mut()),
            None => None,
        };
        length.is_some_and(|length| packet.push_back(length).is_ok())
    }

    fn poll_message<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, out: &mut [u8]) -> Option<usize> {
        let front = self.channel.front();
        let length = self.client.poll_transmit(cx, out.get_mut(front..)?)?;
        self.sends = self.sends.saturating_add(1);
        let room = out.get_mut(..self.channel.sealed_len(length))?;
        self.channel.seal(cx, room, length)
    }

    pub(crate) fn poll_event(&mut self, now: Instant) -> Option<Event> {
        if let Some(success) = self.confirmed.take() {
            return Some(if success { Event::ReadingConfirmed } else { Event::ReadingFailed });
        }
        if self.client.poll_event().is_some() {
            return Some(Event::ReadingFailed);
        }
        match self.channel.poll_event() {
            Some(ChannelEvent::Opened(keys)) => return Some(Event::Connected(keys)),
            Some(ChannelEvent::Lost) => return Some(Event::Disconnected),
            None => {}
        }
        if now.has_reached(self.next_sample) {
            self.next_sample = next_after(self.next_sample, self.period, now);
            return Some(Event::Sample);
        }
        None
    }

    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        let exchange = Instant::earliest(self.channel.poll_timeout(), self.client.poll_timeout());
        Instant::earliest(exchange, Some(self.next_sample))
    }

    pub(crate) fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.channel.handle_timeout(cx);
        self.follow_channel(cx);
        self.client.handle_timeout(cx);
        if self.sends >= SENDS_A_SESSION && self.client.is_busy() && self.channel.is_open() {
            self.sends = 0;
            self.channel.reopen(cx);
        }
    }
}

/// The first point of the schedule after `now`: a device that was held up does not catch up.
fn next_after(mut due: Instant, period: Duration, now: Instant) -> Instant {
    let period = Duration::from_millis(period.millis().max(1));
    if now.since(due) >= period {
        due = now;
    }
    due + period
}

/// The request that posts a reading
/// (`POST /resources/data`, SenML in JSON).
fn build(
    mut message: Builder<'_>,
    resource: Option<&Resource>,
    name: &DeviceName,
    measurements: &[Measurement],
) -> Result<usize, BuildError> {
    message.path(&["resources", "data"])?.content_format(ContentFormat::SENML_JSON)?;
    if let Some(Resource { id, key }) = resource {
        for (prefix, value) in [("id=", id), ("key=", key)] {
            let mut query = heapless::Vec::<u8, { 4 + MAX_NAME }>::new();
            let written =
                query.extend_from_slice(prefix.as_bytes()).and_then(|()| query.extend_from_slice(value));
            written.map_err(|_| BuildError::OptionLength)?;
            message.option(OptionNumber::URI_QUERY, &query)?;
        }
    }
    message.finish_written(|out| write_pack(out, name, measurements))
}

/// Writes a reading as SenML in JSON; returns its length, unless there is not enough room.
pub(crate) fn write_pack(out: &mut [u8], name: &DeviceName, measurements: &[Measurement]) -> Option<usize> {
    let mut pack = PackWriter::new(out, name.as_str());
    for measurement in measurements {
        pack.record(measurement.name, measurement.unit, Reading::Number(measurement.value)).ok()?;
    }
    pack.finish().ok()
}
