use sixlock_base::{Cx, Duration, Entropy, Instant, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_dtls::{KeyLogEntry, Refusal};
use sixlock_interface::{
    Arrival, Delivered, Discovery, Interface, Layers, NetworkSecurity, Pool, RadioMachine, Routing, WholeOf,
};
use sixlock_senml::DeviceName;

use crate::application::{Application, UnderWay};
use crate::config::{COAP_PORT, Config, ECHO_PORT, StartError};
use crate::event::Event;
use crate::measurement::Measurement;
use crate::service::Service;

/// How long an application waits for its first way out of the link: MAX_TRANSMIT_WAIT of
/// [RFC 7252, section 4.8.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.8.2), after which a message that is sent would be given
/// up, too.
const FIRST_WAY_TIMEOUT: Duration = Duration::from_secs(93);

/// A node of the layers `L`, with the application `A`, such as a [`Sensor`](crate::Sensor), and the service `S`: whether and how it
/// tells its latest reading to those who ask by CoAP.
pub struct Node<C: Crypto, A, L: Layers<C>, S = ()> {
    interface: Interface<C, L>,
    application: A,
    service: S,
    serves: bool,
    echoes: bool,
    /// Until when the application waits for its first way out of the link; `None` once it has had one or has waited enough.
    waits_until: Option<Instant>,
    transmit: Packet<<L::Pool as Pool>::Buffer>,
}

impl<C: Crypto, A: Application<C>, L: Layers<C>, S: Service> Node<C, A, L, S> {
    /// A node of no device yet: [`Node::start`] says of which. It is all zero bytes, so that a static of it takes no
    /// flash, and it is never moved.
    pub const fn new() -> Self {
        Self {
            interface: Interface::new(),
            application: A::NEW,
            service: S::NEW,
            serves: false,
            echoes: false,
            waits_until: None,
            transmit: Packet::new(),
        }
    }

    /// Whether it has no way out of the link when it starts.
    const LOOKS_FOR_WAY: bool = L::Routing::ROUTES || L::Discovery::DISCOVERS;

    /// Makes it a device's; to be called first, and once. One that does not start is not to be used.
    ///
    /// # Panics
    ///
    /// When it is told to secure its frames and its link layer cannot: it does not send them in the clear instead. When it is told
    /// to contend for the channel and its link layer cannot.
    pub fn start<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config<A::Access<'_>>,
    ) -> Result<(), StartError> {
        self.interface.start(cx, &config.interface);
        if let Some(cloud) = &config.cloud {
            self.application.start(cx.now, cloud)?;
        }
        if self.application.is_secured() && (config.echoes || config.serves && !L::Security::PROTECTS) {
            return Err(StartError::InTheClear);
        }
        if Self::LOOKS_FOR_WAY {
            self.waits_until = Some(cx.now + FIRST_WAY_TIMEOUT);
        }
        self.serves = S::SERVES && config.serves;
        self.echoes = config.echoes;
        Ok(())
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
            None => self.go_on(cx, at),
        }
    }

    /// Posts a reading, in answer to [`Event::Sample`].
    pub fn report<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        measurements: &[Measurement],
    ) {
        self.application.report(cx, &DeviceName::new(self.interface.address()), measurements);
        if S::SERVES {
            self.service.keep(measurements);
        }
        self.flush(cx, at);
    }

    /// Where its packets go.
    pub fn routing(&self) -> &L::Routing {
        self.interface.router()
    }

    /// How it comes to its prefix, its router and its neighbours.
    pub fn discovery(&self) -> &L::Discovery {
        self.interface.discovered()
    }

    /// The application, to be told and asked what belongs to it alone.
    pub fn application(&mut self) -> &mut A {
        &mut self.application
    }

    /// What the application has under way.
    pub fn under_way(&self) -> UnderWay {
        self.application.under_way()
    }

    /// What has happened; to be polled after every call.
    pub fn poll_event(&mut self, now: Instant) -> Option<Event> {
        self.application.poll_event(now)
    }

    /// What opens the records of the session that was told of with [`Event::Connected`], for a key log; to be asked for
    /// before the next call.
    pub fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        self.application.key_log()
    }

    /// Why DTLS has refused something: the first since this was asked last. Small processors keep no reasons.
    pub fn poll_refusal(&mut self) -> Option<Refusal> {
        self.application.poll_refusal()
    }

    /// Gives a datagram to whom it is for.
    #[inline(never)]
    fn deliver<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        delivered: Delivered<WholeOf<C, L>>,
    ) {
        let datagram = self.interface.datagram(&delivered);
        match datagram.destination_port {
            ECHO_PORT if self.echoes && !self.application.is_secured() => {
                self.interface.echo(cx, at, delivered);
            }
            COAP_PORT if S::SERVES && self.serves => self.serve(cx, at, delivered),
            _ if self.application.takes(&datagram) => self.hand_over(cx, at, delivered),
            _ => self.interface.port_unreachable(cx, at, delivered),
        }
    }

    /// Gives the application a datagram, and sends its answer if it has one.
    fn hand_over<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        delivered: Delivered<WholeOf<C, L>>,
    ) {
        let Self { interface, application, transmit, .. } = self;
        let address = interface.address();
        transmit.reset(interface.front());
        let datagram = interface.datagram(&delivered);
        let (peer, port) = (datagram.source, datagram.source_port);
        let answers = application.handle(cx, address, datagram, transmit);
        interface.release(delivered);
        if answers {
            // What finds no room is lost, like on the way; lowpan counts it and the peer asks again.
            let _ = interface.send(cx, at, transmit, application.port(), peer, port);
        }
    }

    /// Answers a request.
    fn serve<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        delivered: Delivered<WholeOf<C, L>>,
    ) {
        let Self { interface, application, service, transmit, .. } = self;
        let (name, period) = (DeviceName::new(interface.address()), application.period());
        transmit.reset(interface.front());
        let datagram = interface.datagram(&delivered);
        let (peer, port) = (datagram.source, datagram.source_port);
        // One packet to all nodes would call forth an answer of every one.
        let length = match datagram.destination.is_multicast() {
            true => None,
            false => service.handle(cx, (&name, period), (peer, port), datagram.payload, transmit.tail_mut()),
        };
        interface.release(delivered);
        if length.is_some_and(|length| transmit.push_back(length).is_ok()) {
            // What finds no room is lost, like on the way; lowpan counts it and the client asks again.
            let _ = interface.send(cx, at, transmit, COAP_PORT, peer, port);
        }
    }

    /// Sends what the application and the node's own server have to send.
    fn flush<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.flush_application(cx, at);
        if S::IS_OBSERVED {
            self.notify(cx, at);
        }
    }

    /// Tells observers what they are to be told.
    fn notify<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let Self { interface, application, service, transmit, .. } = self;
        let (name, period) = (DeviceName::new(interface.address()), application.period());
        loop {
            transmit.reset(interface.front());
            let Some(((address, port), length)) =
                service.poll_transmit(cx, &name, period, transmit.tail_mut())
            else {
                return;
            };
            if transmit.push_back(length).is_ok() {
                // What finds no room is lost, like on the way; a later one tells more.
                let _ = interface.send(cx, at, transmit, COAP_PORT, address, port);
            }
        }
    }

    /// Whether the application waits for its first way: a message that goes nowhere would only lengthen the pauses before it is sent
    /// again. Later it does not wait, since a message that was sent once is given up after its last pause, however often it was sent.
    /// No timer ends the wait: those of routing and of neighbour discovery let the node look again soon enough.
    fn waits_for_way(&mut self, now: Instant) -> bool {
        if !Instant::take_due(&mut self.waits_until, now) && self.interface.has_way() {
            self.waits_until = None;
        }
        self.waits_until.is_some()
    }

    /// Sends what the application has to send; of a flight as much as there is room for, or its end would be lost each time.
    fn flush_application<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if Self::LOOKS_FOR_WAY && self.waits_for_way(cx.now) {
            return;
        }
        loop {
            if self.application.has_flights() && !self.interface.can_send() {
                return;
            }
            self.transmit.reset(self.interface.front());
            let Self { interface, application, transmit, .. } = self;
            let next = application
                .poll_transmit(cx, transmit)
                .or_else(|| application.poll_notification(cx, interface.address(), transmit));
            let Some((address, port)) = next else { return };
            // What finds no room is lost, like on the way; lowpan counts it and the exchange sends it again.
            let from = self.application.port();
            let _ = self.interface.send(cx, at, &mut self.transmit, from, address, port);
        }
    }
}

impl<C: Crypto, A: Application<C>, L: Layers<C>, S: Service> RadioMachine for Node<C, A, L, S> {
    type Crypto = C;
    type Layers = L;

    fn interface(&mut self) -> &mut Interface<C, L> {
        &mut self.interface
    }

    /// Sends more of a flight, if there is room for it now, and what has waited for a way.
    fn go_on<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.application.has_flights() || Self::LOOKS_FOR_WAY && self.waits_until.is_some() {
            self.flush(cx, at);
        }
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        let due = Instant::earliest(self.interface.poll_timeout(), self.application.poll_timeout());
        if S::IS_OBSERVED { Instant::earliest(due, self.service.poll_timeout()) } else { due }
    }

    fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.interface.handle_timeout(cx, at);
        self.application.handle_timeout(cx);
        if S::IS_OBSERVED {
            self.service.handle_timeout(cx);
        }
        self.flush(cx, at);
    }
}

impl<C: Crypto, A: Application<C>, L: Layers<C>, S: Service> Default for Node<C, A, L, S> {
    fn default() -> Self {
        Self::new()
    }
}
