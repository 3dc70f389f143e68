//! The application: a reading every period, posted by CoAP, confirmable as a rule.

use core::marker::PhantomData;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Duration, Entropy, Eui64, Instant, Packet, Slot};
use sixlock_coap::{Client, RequestError};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, OptionNumber};
use sixlock_crypto::Crypto;
use sixlock_dtls::{KeyLogEntry, Refusal};
use sixlock_interface::Datagram;
use sixlock_senml::DeviceName;

use crate::actuators::Commands;
use crate::application::{Application, UnderWay};
use crate::channel::{Channel, ChannelEvent};
use crate::config::{Cloud, MAX_NAME, Resource, TooLong};
use crate::event::Event;
use crate::measurement::{Measurement, write_pack};
use crate::schedule::next_after;

/// The longest message to the cloud, in bytes.
const MAX_MESSAGE: usize = 384;

/// The UDP port that a sensor talks to the cloud from.
const CLIENT_PORT: u16 = 49_152;

/// How often a request is sent in one session without an answer before the cloud may count as
/// having forgotten the session. It does not say so: whoever says that it has may be anybody.
const SENDS_A_SESSION: u8 = 3;

/// The same where nothing is sent again: each of these is another request, and loses its answer on the way more often than a
/// request that is sent again and again.
const UNCONFIRMED_SENDS_A_SESSION: u8 = 8;

/// A sensor that sends its readings the way `W`, as confirmable messages or, once each, as non-confirmable ones. In the session that it begins for
/// that, `M` is asked.
pub struct Sensor<C, W, const CONFIRMABLE: bool = true, M = ()> {
    address: Ipv6Addr,
    port: u16,
    period: Duration,
    channel: W,
    client: Client<MAX_MESSAGE>,
    /// None before it was told where its readings go.
    next_sample: Option<Instant>,
    sends: u8,
    confirmed: Slot<bool>,
    commands: M,
    crypto: PhantomData<C>,
}

impl<C: Crypto, W: Channel<C>, const CONFIRMABLE: bool, M: Commands> Application<C>
    for Sensor<C, W, CONFIRMABLE, M>
{
    type Access<'a> = W::Access<'a>;

    const NEW: Self = Self {
        address: Ipv6Addr::UNSPECIFIED,
        port: 0,
        period: Duration::from_millis(0),
        channel: W::NEW,
        client: Client::new(),
        next_sample: None,
        sends: 0,
        confirmed: Slot::Empty,
        commands: M::NEW,
        crypto: PhantomData,
    };

    fn start(&mut self, now: Instant, cloud: &Cloud<W::Access<'_>>) -> Result<(), TooLong> {
        self.channel.start(&cloud.access)?;
        (self.address, self.port) = (cloud.address, cloud.port);
        self.period = cloud.period;
        self.next_sample = Some(now + cloud.first);
        Ok(())
    }

    fn is_secured(&self) -> bool {
        self.channel.is_secured()
    }

    fn port(&self) -> u16 {
        CLIENT_PORT
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        datagram.destination_port == CLIENT_PORT
            && self.next_sample.is_some()
            && (datagram.source, datagram.source_port) == (self.address, self.port)
    }

    fn period(&self) -> Duration {
        self.period
    }

    /// Begins to post a reading. One that comes while the one before is under way is skipped; where readings are not confirmable,
    /// the one before is waited for no more.
    fn report<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        name: &DeviceName,
        measurements: &[Measurement],
    ) {
        if !CONFIRMABLE {
            self.client.cancel();
        }
        let resource = self.channel.resource();
        let begun = self
            .client
            .request(cx, CONFIRMABLE, Code::POST, |message| build(message, resource, name, measurements));
        match begun {
            Ok(()) => {
                if CONFIRMABLE {
                    self.sends = 0;
                }
                cx.counters.count(Counter::ReadingsSent);
            }
            Err(RequestError::Busy | RequestError::Build(_)) => cx.counters.count(Counter::ReadingsSkipped),
        }
    }

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        datagram: Datagram<'_>,
        _: &mut Packet<B>,
    ) -> bool {
        let Self { channel, client, confirmed, sends, commands, .. } = self;
        let mut answered = None;
        channel.handle(cx, datagram.payload, |cx, message| {
            if commands.handle(cx, address, message) {
                return;
            }
            if let Some(response) = client.handle(cx, message) {
                answered = Some(*sends <= 1);
                if !CONFIRMABLE {
                    *sends = 0;
                }
                let success = response.code().is_success();
                if success {
                    cx.counters.count(Counter::ReadingsConfirmed);
                }
                *confirmed = Slot::Full(success);
            }
        });
        if let Some(at_once) = answered {
            channel.answered(at_once);
        }
        self.follow_channel(cx);
        false
    }

    fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        if self.client.is_busy() {
            self.channel.open(cx);
        }
        let length = match self.channel.poll_transmit(cx, packet.tail_mut()) {
            Some(length) => Some(length),
            None if self.channel.is_open() => self.poll_message(cx, packet.tail_mut()),
            None => None,
        };
        packet.push_back(length?).ok()?;
        Some((self.address, self.port))
    }

    fn has_flights(&self) -> bool {
        self.channel.has_flights()
    }

    fn under_way(&self) -> UnderWay {
        UnderWay {
            requests: usize::from(self.client.is_busy()),
            handshakes: usize::from(self.channel.has_handshake()),
        }
    }

    fn poll_event(&mut self, now: Instant) -> Option<Event> {
        if let Some(success) = self.confirmed.take() {
            return Some(if success { Event::ReadingConfirmed } else { Event::ReadingFailed });
        }
        if self.client.poll_event().is_some() {
            return Some(Event::ReadingFailed);
        }
        match self.channel.poll_event() {
            Some(ChannelEvent::Opened) => return Some(Event::Connected),
            Some(ChannelEvent::Lost) => return Some(Event::Disconnected),
            None => {}
        }
        let due = self.next_sample.filter(|&due| now.has_reached(due))?;
        self.next_sample = Some(next_after(due, self.period, now));
        Some(Event::Sample)
    }

    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        self.channel.key_log()
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        self.channel.poll_refusal()
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        let exchange = Instant::earliest(self.channel.poll_timeout(), self.client.poll_timeout());
        Instant::earliest(exchange, self.next_sample)
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.channel.handle_timeout(cx);
        self.follow_channel(cx);
        self.client.handle_timeout(cx);
        let most = if CONFIRMABLE { SENDS_A_SESSION } else { UNCONFIRMED_SENDS_A_SESSION };
        let is_silent = self.sends >= most && self.client.is_busy() && self.channel.is_open();
        if is_silent && self.channel.reopen(cx) {
            self.sends = 0;
        }
    }
}

impl<C: Crypto, W: Channel<C>, const CONFIRMABLE: bool, M: Commands> Sensor<C, W, CONFIRMABLE, M> {
    /// What is asked of the device in its session.
    pub(crate) const fn commands(&mut self) -> &mut M {
        &mut self.commands
    }

    /// When the next reading is due, once it was told where readings go.
    pub fn next_sample(&self) -> Option<Instant> {
        self.next_sample
    }

    /// Lets the next reading be due at `at`, whatever the period; the one after it comes a period later again.
    pub fn sample_at(&mut self, at: Instant) {
        self.next_sample = Some(at);
    }

    /// Gives its session up, if there is one, and begins another: who uses keys for a limited time calls this before a reading.
    pub fn renew<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if self.channel.is_open() {
            self.channel.renew(cx);
        }
    }

    /// In a new session the request under way is another message.
    fn follow_channel<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if self.channel.poll_renewed() {
            self.sends = 0;
            self.client.restart(cx);
        }
    }

    fn poll_message<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, out: &mut [u8]) -> Option<usize> {
        let front = self.channel.front();
        let length = match self.commands.poll_transmit(out.get_mut(front..)?) {
            Some(length) => length,
            None => {
                let length = self.client.poll_transmit(cx, out.get_mut(front..)?)?;
                self.sends = self.sends.saturating_add(1);
                length
            }
        };
        let room = out.get_mut(..self.channel.sealed_len(length))?;
        self.channel.seal(cx, room, length)
    }
}

/// The request that posts a reading
/// (`POST /resources/data`, SenML in JSON).
fn build(
    mut message: Builder<'_>,
    resource: Option<Resource<'_>>,
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
