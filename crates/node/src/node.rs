use sixlock_base::{Cx, Entropy, Instant, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_interface::{Arrival, Delivered, FRONT, Interface, RadioCommand};

use crate::channel::Channel;
use crate::config::{COAP_PORT, Config, ECHO_PORT};
use crate::sensor::{Event, Measurement, Sensor};
use crate::service::Service;

/// The UDP port that a node talks to the cloud from.
const CLIENT_PORT: u16 = 49_152;

/// A node with room for `NEIGHBOURS` neighbours, `FRAMES` transmit frames, `POOL` datagrams of
/// `MTU` bytes and `ROUTES` routes. Of its latest reading, `READINGS` quantities are kept for who
/// asks by CoAP.
///
/// What is linked is chosen here: `W` is the way to the cloud, and where there is none
/// ([`Infallible`](core::convert::Infallible)), nothing that makes readings is there; only if `SECURED` is link security
/// there, and if `READINGS` is not 0 the CoAP server.
pub struct Node<
    C: Crypto,
    W,
    const SECURED: bool,
    const NEIGHBOURS: usize,
    const FRAMES: usize,
    const MTU: usize,
    const POOL: usize,
    const ROUTES: usize,
    const READINGS: usize,
> {
    interface: Interface<C, SECURED, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES>,
    sensor: Option<Sensor<C, W>>,
    service: Option<Service<READINGS>>,
    transmit: Packet<MTU>,
}

impl<
    C: Crypto,
    W: Channel<C>,
    const SECURED: bool,
    const NEIGHBOURS: usize,
    const FRAMES: usize,
    const MTU: usize,
    const POOL: usize,
    const ROUTES: usize,
    const READINGS: usize,
> Node<C, W, SECURED, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES, READINGS>
{
    /// A node that has just started.
    pub fn new<E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, config: Config<W::Access>) -> Self {
        let Config { interface, cloud, serves } = config;
        let address = interface.address;
        Self {
            interface: Interface::new(cx, interface),
            sensor: cloud.map(|cloud| Sensor::new(cx.now, address, cloud)),
            service: (READINGS > 0 && serves).then(|| Service::new(address)),
            transmit: Packet::new(),
        }
    }

    /// The interface: routes are added there.
    pub fn interface(&mut self) -> &mut Interface<C, SECURED, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES> {
        &mut self.interface
    }

    /// Takes in a received frame, FCS included, whose last symbol came in at `at`.
    pub fn handle_frame<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
    ) {
        match self.interface.handle_frame(cx, at, frame) {
            Some(Arrival::Datagram(delivered)) => {
                self.deliver(cx, at, delivered);
                self.flush(cx, at);
            }
            // A node is no border router.
            Some(Arrival::External(external)) => self.interface.release_packet(external),
            None => {}
        }
    }

    /// Posts a reading, in answer to [`Event::Sample`].
    pub fn report<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        measurements: &[Measurement],
    ) {
        if let Some(sensor) = &mut self.sensor {
            sensor.report(cx, measurements);
        }
        if READINGS > 0
            && let Some(service) = &mut self.service
        {
            service.keep(measurements);
        }
        self.flush(cx, at);
    }

    /// What has happened; to be polled after every call.
    pub fn poll_event(&mut self, now: Instant) -> Option<Event> {
        self.sensor.as_mut()?.poll_event(now)
    }

    /// Takes in the outcome of a CCA that ended at `at`.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        self.interface.handle_cca(cx, at, clear);
    }

    /// Takes in that the last symbol of [`Node::transmit_frame`] went out at `at`.
    pub fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.interface.handle_transmitted(cx, at);
    }

    /// What the radio is to do next, once.
    pub fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.interface.poll_radio()
    }

    /// The frame being sent, FCS included.
    pub fn transmit_frame(&self) -> &[u8] {
        self.interface.transmit_frame()
    }

    /// When to call [`Node::handle_radio_timeout`].
    pub fn poll_radio_timeout(&self) -> Option<Symbols> {
        self.interface.poll_radio_timeout()
    }

    /// Does what is due at the radio.
    pub fn handle_radio_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.interface.handle_radio_timeout(cx, at);
    }

    /// When to call [`Node::handle_timeout`].
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        let sensor = self.sensor.as_mut().and_then(Sensor::poll_timeout);
        Instant::earliest(self.interface.poll_timeout(), sensor)
    }

    /// Does what is due.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.interface.handle_timeout(cx);
        if let Some(sensor) = &mut self.sensor {
            sensor.handle_timeout(cx);
        }
        self.flush(cx, at);
    }

    /// Gives a datagram to whom it is for.
    #[inline(never)]
    fn deliver<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, delivered: Delivered) {
        let datagram = self.interface.datagram(&delivered);
        match (datagram.destination_port, &mut self.sensor) {
            (ECHO_PORT, _) => self.interface.echo(cx, at, delivered),
            (CLIENT_PORT, Some(sensor)) if sensor.is_cloud(datagram.source, datagram.source_port) => {
                sensor.handle(cx, datagram.payload);
                self.interface.release(delivered);
            }
            (COAP_PORT, _) if READINGS > 0 && self.service.is_some() => self.serve(cx, at, delivered),
            _ => self.interface.port_unreachable(cx, at, delivered),
        }
    }

    /// Answers a request.
    fn serve<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, delivered: Delivered) {
        let Self { interface, service: Some(service), transmit, .. } = self else { return };
        let datagram = interface.datagram(&delivered);
        let (peer, port) = (datagram.source, datagram.source_port);
        // One packet to all nodes would call forth an answer of every one.
        let length = match datagram.destination.is_multicast() {
            true => None,
            false => {
                transmit.reset(FRONT);
                service.handle(cx, datagram.payload, transmit.tail_mut())
            }
        };
        interface.release(delivered);
        if length.is_some_and(|length| transmit.push_back(length).is_ok()) {
            // What finds no room is lost, like on the way; lowpan counts it and the client asks again.
            let _ = interface.send(cx, at, transmit, COAP_PORT, peer, port);
        }
    }

    /// Sends what the application has to send.
    fn flush<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let Some(sensor) = &mut self.sensor else { return };
        loop {
            self.transmit.reset(FRONT);
            if !sensor.poll_transmit(cx, &mut self.transmit) {
                return;
            }
            let (address, port) = sensor.cloud();
            // What finds no room is lost, like on the way; lowpan counts it and the exchange sends it again.
            let _ = self.interface.send(cx, at, &mut self.transmit, CLIENT_PORT, address, port);
        }
    }
}
