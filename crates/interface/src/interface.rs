use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Entropy, Eui64, Instant, New, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ipv6::extension::Refusal;
use sixlock_ipv6::{Header, tunnel, udp};
use sixlock_lowpan::{LinkAddresses, Lowpan};
use sixlock_mac::{Config as MacConfig, Event, LinkLayer, MacLayer, RadioCommand};
use sixlock_net::{Discovery, Fragments, Net, NextHop, Router, SendError, Uplink, Verdict};

use crate::arrival::{Arrival, Datagram, Delivered, External};
use crate::buffer::{Buffer, WholeOf, bytes_of, is_fragment, send_or_fragment};
use crate::discovered::discovered;
use crate::layers::Layers;
use crate::leaving::{counter_of, next_hop_of, passes, prepare, surround};
use crate::routing::{FrameOutcome, Routing};
use crate::rpl::LONGEST_ROUTE;
use crate::security::NetworkSecurity;

/// Length of the headers before a UDP payload, in bytes.
pub const HEADERS: usize = Header::LEN + udp::Header::LEN;

/// Ports below this one are those of services, which send nothing that is to be echoed
/// ([RFC 6335 section 6](https://www.rfc-editor.org/rfc/rfc6335#section-6)).
const FIRST_CLIENT_PORT: u16 = 1024;

/// The largest frame payload of IEEE 802.15.4, in bytes.
const MAX_FRAME_PAYLOAD: usize = 127;

/// The longest packet with what goes around it, in bytes: a packet of the least MTU of IPv6, and a source route.
const SURROUNDED: usize = 1280 + LONGEST_ROUTE;

/// What an interface is told at its start.
#[derive(Clone)]
pub struct Config {
    /// The MAC, and the own address, of which the IPv6 addresses are made.
    pub mac: MacConfig,
    /// Where packets go that no listed route covers.
    pub uplink: Uplink,
}

/// What the pools of an interface hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupied {
    /// Transmit frames of the MAC that are in use.
    pub frames: usize,
    /// Packets of 6LoWPAN.
    pub packets: sixlock_lowpan::Occupied,
    /// IPv6 packets that are put together from fragments, or have been.
    pub whole: usize,
}

/// The MAC of the layers `L`.
pub type MacOf<C, L> = <<L as Layers<C>>::Link as LinkLayer>::Mac<C>;

/// A 6LoWPAN interface of the layers `L`.
pub struct Interface<C: Crypto, L: Layers<C>> {
    mac: MacOf<C, L>,
    lowpan: Lowpan<L::Pool>,
    net: Net<L::Routing, L::Discovery>,
    security: L::Security,
    compression: L::Compression,
    fragments: L::Reassembly,
}

impl<C: Crypto, L: Layers<C>> Interface<C, L> {
    /// An interface that has sent and heard nothing, of no device yet: [`Interface::start`] says of which. It is all
    /// zero bytes.
    pub const fn new() -> Self {
        Self {
            mac: MacOf::<C, L>::NEW,
            lowpan: Lowpan::new(),
            net: Net::new(),
            security: L::Security::NEW,
            compression: L::Compression::NEW,
            fragments: L::Reassembly::NEW,
        }
    }

    /// Makes it a device's; to be called first, and once.
    ///
    /// # Panics
    ///
    /// When it is told to secure its frames and is not [`SECURED`](sixlock_mac::LinkLayer::SECURED): it does not send them in the clear instead. When
    /// it is told to contend for the channel and is not [`CSMA`](sixlock_mac::LinkLayer::CSMA).
    pub fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.mac.start(cx, &config.mac);
        self.lowpan.start(cx.entropy);
        self.net.start(config.mac.address, config.uplink);
    }

    /// Headroom that [`Interface::send`] needs before a UDP payload, in bytes.
    pub fn front(&self) -> usize {
        HEADERS + self.security.front()
    }

    /// The own link-layer address.
    pub fn address(&self) -> Eui64 {
        self.mac.address()
    }

    /// The IPv6 layer: addresses and routing.
    pub fn net(&mut self) -> &mut Net<L::Routing, L::Discovery> {
        &mut self.net
    }

    /// The MAC, to be told what belongs to it alone: how it gets at the channel, when it listens.
    pub fn mac(&mut self) -> &mut MacOf<C, L> {
        &mut self.mac
    }

    /// What protects packets of this host.
    pub fn security(&mut self) -> &mut L::Security {
        &mut self.security
    }

    /// How headers and payloads are compressed over links.
    pub fn compression(&mut self) -> &mut L::Compression {
        &mut self.compression
    }

    /// Where packets go.
    pub fn routing(&mut self) -> &mut L::Routing {
        self.net.router_mut()
    }

    /// The same, to be asked.
    pub fn router(&self) -> &L::Routing {
        self.net.router()
    }

    /// How it comes to its prefix, its router and its neighbours.
    pub fn discovery(&mut self) -> &mut L::Discovery {
        self.net.discovery_mut()
    }

    /// The same, to be asked.
    pub fn discovered(&self) -> &L::Discovery {
        self.net.discovery()
    }

    /// The neighbour that the last secured frame was accepted from, and that frame's counter: see [`MacLayer::latest_frame_counter`].
    pub fn latest_frame_counter(&self) -> Option<(Eui64, u32)> {
        self.mac.latest_frame_counter()
    }

    /// Has frames of a neighbour up to this counter refused; false if there is no room: see [`MacLayer::restore_frame_counter`].
    pub fn restore_frame_counter(&mut self, neighbour: Eui64, frame_counter: u32) -> bool {
        self.mac.restore_frame_counter(neighbour, frame_counter)
    }

    /// The frames that wait to be sent, or are being sent: their sequence numbers and lengths.
    pub fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_ {
        self.mac.waiting()
    }

    /// Whether a packet waits to be sent to a neighbour, such as one that has to ask for it.
    pub fn waits_for(&self, neighbour: Eui64) -> bool {
        self.lowpan.waits_for(neighbour)
    }

    /// What its pools hold.
    pub fn occupied(&self) -> Occupied {
        Occupied {
            frames: self.mac.occupied(),
            packets: self.lowpan.occupied(),
            whole: self.fragments.occupied(),
        }
    }

    /// Takes in a received frame, FCS included, whose last symbol came in at `at`. Returns the
    /// packet it completes, if that is a UDP datagram for this host or for a host outside the mesh;
    /// what is for others is forwarded.
    pub fn handle_frame<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
    ) -> Option<Arrival<WholeOf<C, L>>> {
        let arrival = self.receive(cx, at, frame);
        self.pump(cx, at);
        arrival
    }

    /// Takes in a packet from outside the mesh, at a border router: the first `len` bytes of `buffer`. What is for a
    /// node is forwarded. Returns the length of the answer for outside, if there is one, which stands in `buffer` then.
    pub fn handle_external<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        buffer: &mut [u8],
        len: usize,
    ) -> Option<usize> {
        let verdict = match self.net.handle_external(cx, buffer, len) {
            // A border router offers no service.
            Verdict::Udp(_) => self.net.port_unreachable(cx, buffer, len),
            verdict => verdict,
        };
        match verdict {
            Verdict::Forward { next_hop, len } => {
                let next_hop = NextHop::Neighbour(next_hop);
                match prepare(&self.net, &mut self.security, cx, buffer, len, next_hop)? {
                    (NextHop::Neighbour(next_hop), len) => {
                        let surrounded = surround(&self.net, buffer, len);
                        let len = surrounded.map_err(|error| cx.counters.count(counter_of(error))).ok()?;
                        let (link, packet) = (self.link_to(next_hop), buffer.get(..len).unwrap_or_default());
                        // A packet that finds no room is dropped, and lowpan has counted it.
                        let _ =
                            send_or_fragment::<_, _, _, L::Reassembly, _>(&mut self.lowpan, cx, link, packet);
                        self.pump(cx, at);
                        None
                    }
                    (NextHop::External, _) => None,
                }
            }
            Verdict::External { len } => {
                match prepare(&self.net, &mut self.security, cx, buffer, len, NextHop::External)? {
                    (NextHop::External, len) => Some(len),
                    (NextHop::Neighbour(_), _) => None,
                }
            }
            Verdict::Udp(_) | Verdict::Dropped => None,
        }
    }

    /// Whether policy lets a packet for a host outside leave as it is.
    pub fn admits<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, external: &External<WholeOf<C, L>>) -> bool {
        let (buffer, _) = bytes_of(&mut self.lowpan, &mut self.fragments, &external.buffer);
        let packet = buffer.get(..external.len).unwrap_or_default();
        external.is_admitted || passes(&self.net, &mut self.security, cx, packet)
    }

    /// Opens a packet for a host outside for which this one speaks, as if it were for this one. False if it is refused: then
    /// nothing is left of it but its buffer.
    pub fn open<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, external: &mut External<WholeOf<C, L>>) -> bool {
        if external.is_admitted {
            return true;
        }
        let (buffer, _) = bytes_of(&mut self.lowpan, &mut self.fragments, &external.buffer);
        let opened = self.security.inbound(cx, buffer, external.len);
        external.len = opened.unwrap_or(0);
        opened.is_ok()
    }

    /// A packet for a host outside the mesh.
    pub fn packet(&mut self, external: &External<WholeOf<C, L>>) -> &mut [u8] {
        let (buffer, _) = bytes_of(&mut self.lowpan, &mut self.fragments, &external.buffer);
        buffer.get_mut(..external.len).unwrap_or_default()
    }

    /// Ends a packet for a host outside the mesh.
    pub fn release_packet(&mut self, external: External<WholeOf<C, L>>) {
        self.release_buffer(external.buffer);
    }

    /// A datagram that has come in.
    pub fn datagram(&mut self, delivered: &Delivered<WholeOf<C, L>>) -> Datagram<'_> {
        let (buffer, _) = bytes_of(&mut self.lowpan, &mut self.fragments, &delivered.buffer);
        Datagram {
            source: delivered.source,
            source_port: delivered.source_port,
            destination: delivered.destination,
            destination_port: delivered.destination_port,
            payload: buffer.get_mut(delivered.payload.clone()).unwrap_or_default(),
        }
    }

    /// Ends a datagram that has come in.
    pub fn release(&mut self, delivered: Delivered<WholeOf<C, L>>) {
        self.release_buffer(delivered.buffer);
    }

    /// Sends a datagram back to where it came from, in its own buffer
    /// ([RFC 862](https://www.rfc-editor.org/rfc/rfc862)).
    ///
    /// What comes to a group, or from a port below 1024, is dropped and counted. A datagram that says to be from another echo
    /// service would go back and forth between the two for ever (CERT advisory CA-1996-01).
    pub fn echo<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        delivered: Delivered<WholeOf<C, L>>,
    ) {
        // One packet to a group would call forth an answer of every node.
        if delivered.destination.is_multicast() || delivered.source_port < FIRST_CLIENT_PORT {
            cx.counters.count(Counter::UdpNoPort);
            return self.release(delivered);
        }
        let Delivered { buffer, source, source_port, destination_port, payload, .. } = delivered;
        let (bytes, _) = bytes_of(&mut self.lowpan, &mut self.fragments, &buffer);
        let len = HEADERS + payload.len();
        bytes.copy_within(payload, HEADERS);
        let packet = bytes.get_mut(..len).unwrap_or_default();
        match self.net.udp_in_place(packet, destination_port, source, source_port) {
            Ok(next_hop) => self.answer(cx, buffer, next_hop, len),
            Err(_) => self.release_buffer(buffer),
        }
        self.pump(cx, at);
    }

    /// Answers a datagram whose port nobody listens at.
    pub fn port_unreachable<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        delivered: Delivered<WholeOf<C, L>>,
    ) {
        let (buffer, len) = bytes_of(&mut self.lowpan, &mut self.fragments, &delivered.buffer);
        match self.net.port_unreachable(cx, buffer, len) {
            Verdict::Forward { next_hop, len } => self.answer(cx, delivered.buffer, next_hop, len),
            _ => self.release_buffer(delivered.buffer),
        }
        self.pump(cx, at);
    }

    /// Sends the UDP payload in `packet`, which has at least [`Interface::front`] bytes of headroom.
    pub fn send<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<B>,
        source_port: u16,
        destination: Ipv6Addr,
        destination_port: u16,
    ) -> Result<(), SendError> {
        let next_hop = self.net.udp(packet, source_port, destination, destination_port);
        if next_hop == Err(SendError::NoRoute) {
            cx.counters.count(Counter::Ipv6NoRoute);
        }
        self.transmit(cx, at, packet, next_hop?)
    }

    /// Whether packets of this host that leave the link have a way, and an address that they may come from.
    pub fn has_way(&self) -> bool {
        self.net.router().has_way() && (!L::Discovery::DISCOVERS || self.net.mesh_address().is_some())
    }

    /// Whether there is room for a datagram to be sent.
    pub fn can_send(&self) -> bool {
        self.lowpan.can_send()
    }

    /// Sends the packet of this host that `packet` is, before which is room for what protects it.
    pub fn send_packet<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<B>,
    ) -> Result<(), SendError> {
        match next_hop_of(&self.net, packet.bytes()) {
            Some(NextHop::Neighbour(next_hop)) => self.transmit(cx, at, packet, next_hop),
            _ => Err(SendError::NoRoute),
        }
    }

    /// The same as [`Interface::send`] in the name of a host outside the mesh.
    #[expect(clippy::too_many_arguments, reason = "both ends of a datagram, its bytes and the time")]
    pub fn send_from<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<B>,
        source: Ipv6Addr,
        source_port: u16,
        destination: Ipv6Addr,
        destination_port: u16,
    ) -> Result<(), SendError> {
        let next_hop = self.net.udp_from(packet, source, source_port, destination, destination_port)?;
        self.transmit(cx, at, packet, next_hop)
    }

    /// Takes in whether the channel was clear, as an assessment that ended at `at` has found.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        self.mac.handle_cca(cx, at, clear);
        self.pump(cx, at);
    }

    /// Takes in that the last symbol of [`Interface::transmit_frame`] went out at `at`.
    pub fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.mac.handle_transmitted(cx, at);
        self.pump(cx, at);
    }

    /// What the radio is to do next, once, as soon as that is known.
    pub fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.mac.poll_radio()
    }

    /// The same when its time has come, as [`Interface::handle_radio_timeout`] was told.
    pub fn poll_radio_due(&mut self) -> Option<RadioCommand> {
        self.mac.poll_radio_due()
    }

    /// The channel that the radio is to be on: see [`MacLayer::channel`].
    pub fn channel(&self) -> Option<u8> {
        self.mac.channel()
    }

    /// The frame being sent, FCS included.
    pub fn transmit_frame(&self) -> &[u8] {
        self.mac.transmit_frame()
    }

    /// When to call [`Interface::handle_radio_timeout`].
    pub fn poll_radio_timeout(&self) -> Option<Symbols> {
        self.mac.poll_timeout()
    }

    /// Does what is due at the radio.
    pub fn handle_radio_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.mac.handle_timeout(cx, at);
        self.pump(cx, at);
    }

    /// When to call [`Interface::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let due = Instant::earliest(self.lowpan.poll_timeout(), self.fragments.poll_timeout());
        let due = Instant::earliest(due, self.net.router().poll_timeout());
        Instant::earliest(due, self.net.discovery().poll_timeout())
    }

    /// Gives up what has waited too long, and sends what has waited long enough.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.lowpan.handle_timeout(cx);
        self.give_up_fragments(cx);
        self.net.router_mut().handle_timeout(cx);
        self.net.discovery_mut().handle_timeout(cx);
        self.pump(cx, at);
    }

    #[inline(never)]
    fn receive<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
    ) -> Option<Arrival<WholeOf<C, L>>> {
        let frame = self.mac.handle_frame(cx, at, frame);
        if let Some(neighbour) = self.mac.take_data_request() {
            let is_told = self.tell_sleeping(cx.now, neighbour);
            if is_told || self.lowpan.waits_for(neighbour) {
                self.mac.answer_data_request(neighbour, at);
            }
        }
        let frame = frame?;
        let link = LinkAddresses { source: frame.source, destination: frame.destination };
        let received = if L::Discovery::DISCOVERS {
            let mut shared = discovered(&mut self.compression, self.net.discovery());
            self.lowpan.handle(cx, &mut shared, link, frame.payload)?
        } else {
            self.lowpan.handle(cx, &mut self.compression, link, frame.payload)?
        };
        let (buffer, is_admitted) = self.open_own(cx, Buffer::Pool(received))?;
        let (bytes, len) = bytes_of(&mut self.lowpan, &mut self.fragments, &buffer);
        match self.net.handle(cx, link.source, bytes, len) {
            Verdict::Udp(datagram) => Some(Arrival::Datagram(Delivered {
                buffer,
                source: datagram.source,
                source_port: datagram.source_port,
                destination: datagram.destination,
                destination_port: datagram.destination_port,
                payload: datagram.payload,
            })),
            Verdict::Forward { next_hop, len } => {
                let packet = bytes.get(..len).unwrap_or_default();
                if !is_admitted && !passes(&self.net, &mut self.security, cx, packet) {
                    self.release_buffer(buffer);
                    return None;
                }
                self.dispatch(cx, buffer, NextHop::Neighbour(next_hop), len)
            }
            Verdict::External { len } => match self.dispatch(cx, buffer, NextHop::External, len) {
                Some(Arrival::External(external)) => {
                    Some(Arrival::External(External { is_admitted, ..external }))
                }
                arrival => arrival,
            },
            Verdict::Dropped => {
                self.release_buffer(buffer);
                None
            }
        }
    }

    /// Opens a packet, if it is for this host, and puts it together if it comes in fragments; whether policy has let it in. None if
    /// it is refused, or more of it is to come. The one header that a router may have put around it comes off first, and is no
    /// protection: policy meets what was in it.
    fn open_own<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        mut buffer: Buffer<WholeOf<C, L>>,
    ) -> Option<(Buffer<WholeOf<C, L>>, bool)> {
        if !L::Security::PROTECTS && !L::Reassembly::ASSEMBLES && !L::Routing::ROUTES {
            return Some((buffer, false));
        }
        let (mut opened, mut decapsulated) = (false, false);
        loop {
            let (bytes, len) = bytes_of(&mut self.lowpan, &mut self.fragments, &buffer);
            let packet = bytes.get(..len).unwrap_or_default();
            if !self.net.ends(packet) {
                return Some((buffer, opened));
            }
            if L::Reassembly::ASSEMBLES && is_fragment(packet) {
                buffer = self.assemble(cx, buffer, opened)?;
                continue;
            }
            if let Buffer::Whole(whole) = &buffer {
                // What a tunnel has brought in fragments was opened as such.
                opened |= self.fragments.is_opened(whole);
            }
            if opened {
                return Some((buffer, opened));
            }
            let (bytes, len) = bytes_of(&mut self.lowpan, &mut self.fragments, &buffer);
            let packet = bytes.get(..len).unwrap_or_default();
            let inner = if decapsulated { None } else { self.net.router().encapsulated(packet) };
            let left = match inner {
                Some(inner) => {
                    decapsulated = true;
                    tunnel::decapsulate(bytes, inner).map_err(|_| cx.counters.count(Counter::Ipv6Malformed))
                }
                None if !L::Security::PROTECTS => return Some((buffer, opened)),
                None => {
                    opened = true;
                    self.security.inbound(cx, bytes, len).map_err(drop)
                }
            };
            let Ok(len) = left else {
                self.release_buffer(buffer);
                return None;
            };
            self.truncate(&buffer, len);
        }
    }

    /// Takes a fragment out of its buffer; the packet that it completes, if it does.
    fn assemble<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: Buffer<WholeOf<C, L>>,
        opened: bool,
    ) -> Option<Buffer<WholeOf<C, L>>> {
        let received = match buffer {
            Buffer::Pool(received) => received,
            Buffer::Whole(whole) => return self.fragments.handle_again(cx, whole, opened).map(Buffer::Whole),
        };
        let (bytes, len) = self.lowpan.buffer_mut(&received);
        match self.fragments.handle(cx, bytes.get(..len).unwrap_or_default(), opened) {
            Ok(whole) => {
                self.lowpan.release(received);
                whole.map(Buffer::Whole)
            }
            Err(refusal) => {
                let verdict = match refusal {
                    Refusal::Problem { problem, pointer } => {
                        self.net.parameter_problem(cx, bytes, len, problem, pointer)
                    }
                    Refusal::Silent => {
                        cx.counters.count(Counter::Ipv6Malformed);
                        Verdict::Dropped
                    }
                };
                match verdict {
                    Verdict::Forward { next_hop, len } => {
                        self.answer(cx, Buffer::Pool(received), next_hop, len);
                    }
                    _ => self.lowpan.release(received),
                }
                None
            }
        }
    }

    /// Gives up packets whose fragments did not come in time, and tells who sent them.
    fn give_up_fragments<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        while let Some(first) = self.fragments.handle_timeout(cx) {
            let (bytes, len) = self.fragments.buffer_mut(&first);
            match self.net.reassembly_time_exceeded(cx, bytes, len) {
                Verdict::Forward { next_hop, len } => self.answer(cx, Buffer::Whole(first), next_hop, len),
                _ => self.fragments.release(first),
            }
        }
    }

    fn truncate(&mut self, buffer: &Buffer<WholeOf<C, L>>, len: usize) {
        match buffer {
            Buffer::Pool(received) => self.lowpan.truncate(received, len),
            Buffer::Whole(whole) => self.fragments.truncate(whole, len),
        }
    }

    fn release_buffer(&mut self, buffer: Buffer<WholeOf<C, L>>) {
        match buffer {
            Buffer::Pool(received) => self.lowpan.release(received),
            Buffer::Whole(whole) => self.fragments.release(whole),
        }
    }

    /// Sends a packet that stands in its buffer, protected if it is this host's. What is for outside is returned.
    fn dispatch<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: Buffer<WholeOf<C, L>>,
        next_hop: NextHop,
        len: usize,
    ) -> Option<Arrival<WholeOf<C, L>>> {
        let Self { lowpan, net, security, fragments, .. } = self;
        let (bytes, _) = bytes_of(lowpan, fragments, &buffer);
        let Some((next_hop, len)) = prepare(net, security, cx, bytes, len, next_hop) else {
            self.release_buffer(buffer);
            return None;
        };
        let NextHop::Neighbour(next_hop) = next_hop else {
            return Some(Arrival::External(External { buffer, len, is_admitted: false }));
        };
        let link = self.link_to(next_hop);
        let (bytes, _) = bytes_of(&mut self.lowpan, &mut self.fragments, &buffer);
        let len = match surround(&self.net, bytes, len) {
            Ok(len) => len,
            Err(SendError::NoRoom) => {
                self.send_surrounded(cx, buffer, link, len);
                return None;
            }
            Err(error) => {
                cx.counters.count(counter_of(error));
                self.release_buffer(buffer);
                return None;
            }
        };
        // A packet that finds no room is dropped, and lowpan has counted it.
        match buffer {
            Buffer::Pool(received) => {
                let _ = self.lowpan.forward(cx, received, link, len);
            }
            Buffer::Whole(whole) => {
                let (bytes, _) = self.fragments.buffer_mut(&whole);
                let packet = bytes.get(..len).unwrap_or_default();
                let _ = send_or_fragment::<_, _, _, L::Reassembly, _>(&mut self.lowpan, cx, link, packet);
                self.fragments.release(whole);
            }
        }
        None
    }

    /// Sends a packet whose buffer has no room for what goes around it: in fragments of what it is then, where this host makes any
    /// ([RFC 2473 section 7.1](https://www.rfc-editor.org/rfc/rfc2473#section-7.1): it is not longer than the least MTU of IPv6, so nobody is
    /// told to send shorter ones). Else it is dropped and counted.
    #[inline(never)]
    fn send_surrounded<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: Buffer<WholeOf<C, L>>,
        link: LinkAddresses,
        len: usize,
    ) {
        if !L::Reassembly::ASSEMBLES {
            cx.counters.count(Counter::Ipv6TooBig);
            return self.release_buffer(buffer);
        }
        let mut longer = [0; SURROUNDED];
        let (bytes, _) = bytes_of(&mut self.lowpan, &mut self.fragments, &buffer);
        let packet = longer.get_mut(..len).zip(bytes.get(..len)).map(|(to, from)| to.copy_from_slice(from));
        self.release_buffer(buffer);
        let len = packet.and_then(|()| surround(&self.net, &mut longer, len).ok());
        match len.and_then(|len| longer.get(..len)) {
            Some(packet) => {
                // A packet that finds no room is dropped, and lowpan has counted it.
                let _ = send_or_fragment::<_, _, _, L::Reassembly, _>(&mut self.lowpan, cx, link, packet);
            }
            None => cx.counters.count(Counter::Ipv6TooBig),
        }
    }

    /// Sends a packet of this host that stands in its buffer to a node. What policy does not let out, and what finds no room, is counted
    /// there.
    fn answer<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: Buffer<WholeOf<C, L>>,
        next_hop: Eui64,
        len: usize,
    ) {
        if let Some(Arrival::External(external)) =
            self.dispatch(cx, buffer, NextHop::Neighbour(next_hop), len)
        {
            self.release_packet(external);
        }
    }

    fn transmit<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<B>,
        next_hop: Eui64,
    ) -> Result<(), SendError> {
        let sent = self.enqueue(cx, packet, next_hop);
        self.pump(cx, at);
        sent
    }

    /// Does to a packet of this host what routing and policy demand, and puts it into the pool.
    #[inline]
    fn enqueue<E: Entropy, N: Nv, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
        mut next_hop: Eui64,
    ) -> Result<(), SendError> {
        let is_routed = !self.net.is_registered(packet.bytes());
        if L::Routing::ROUTES && is_routed {
            let router = self.net.router();
            grow(packet, router.room(), |buffer, len| router.originate(buffer, len))?;
        }
        if L::Security::PROTECTS {
            self.security.outbound(cx, packet).map_err(|_| SendError::Refused)?;
            if L::Security::REROUTES {
                match next_hop_of(&self.net, packet.bytes()) {
                    Some(NextHop::Neighbour(neighbour)) => next_hop = neighbour,
                    _ => return Err(SendError::NoRoute),
                }
            }
        }
        if L::Routing::ENCAPSULATES && is_routed {
            let router = self.net.router();
            grow(packet, router.room(), |buffer, len| router.encapsulate(buffer, len))?;
        }
        let link = self.link_to(next_hop);
        let sent = send_or_fragment::<_, _, _, L::Reassembly, _>(&mut self.lowpan, cx, link, packet.bytes());
        sent.map_err(|_| SendError::NoRoom)
    }

    fn link_to(&self, next_hop: Eui64) -> LinkAddresses {
        LinkAddresses { source: self.mac.address(), destination: next_hop }
    }

    /// Hands up what became of a frame. 6LoWPAN has no use for it, and the MAC has counted the failures.
    fn learn<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, event: Event) {
        if L::Routing::ROUTES {
            let Event::Sent { destination, outcome, attempts, .. } = event;
            let outcome = FrameOutcome { neighbour: destination, outcome, attempts };
            self.net.router_mut().handle_outcome(cx, &outcome);
        }
    }

    /// Sends what the routing protocol has to send, if there is room.
    fn send_of_routing<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        while L::Routing::ROUTES
            && self.net.router().has_output()
            && let Some(lent) = self.lowpan.lend()
        {
            let (buffer, _) = self.lowpan.buffer_mut(&lent);
            let written = self.net.router_mut().poll_transmit(cx, buffer);
            let way = written.and_then(|len| Some((len, next_hop_of(&self.net, buffer.get(..len)?)?)));
            match way {
                Some((len, NextHop::Neighbour(next_hop))) => {
                    self.answer(cx, Buffer::Pool(lent), next_hop, len);
                }
                _ => self.lowpan.release(lent),
            }
            if written.is_none() {
                return;
            }
        }
    }

    /// Sends what neighbour discovery has to send, if there is room.
    fn send_of_discovery<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        while L::Discovery::DISCOVERS
            && self.net.discovery().has_output()
            && let Some(lent) = self.lowpan.lend()
        {
            let (buffer, _) = self.lowpan.buffer_mut(&lent);
            match self.net.poll_discovery(cx.now, buffer) {
                Some((len, next_hop)) => self.answer(cx, Buffer::Pool(lent), next_hop, len),
                None => self.lowpan.release(lent),
            }
        }
    }

    /// Has the routing protocol tell a neighbour, which sleeps and asks for what waits for it, what it tells others by packets to all; whether
    /// there is something to tell. One that has registered here to be reached does not speak that protocol.
    fn tell_sleeping(&mut self, now: Instant, neighbour: Eui64) -> bool {
        if let Some(news) = self.net.router().advertised()
            && self.mac.is_news(neighbour, news)
            && !self.net.discovery().registered(now).any(|host| Eui64::of_address(host.address) == neighbour)
            && self.net.router_mut().advertise_to(&neighbour)
        {
            self.mac.tell(neighbour, news);
            return true;
        }
        false
    }

    /// Moves fragments into free transmit frames.
    fn pump<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        while let Some(event) = self.mac.poll_event() {
            self.learn(cx, event);
        }
        self.net.tell_router(cx);
        if self.mac.follows() {
            let parent = self.net.router().preferred_parent().or_else(|| match self.net.uplink() {
                Uplink::NextHop(neighbour) => Some(neighbour),
                _ => self.net.discovery().default_router(),
            });
            self.mac.follow(at, parent, self.net.router().join_metric());
        }
        // Messages that are made before there is a network to send them in would be old by then.
        if self.mac.has_joined() {
            self.send_of_discovery(cx);
            self.send_of_routing(cx);
        }
        if self.mac.holds() {
            let mac = &self.mac;
            self.lowpan.limit_held(cx, |neighbour| mac.is_asleep(neighbour, at));
        }
        while self.mac.can_send() {
            let mac = &self.mac;
            let is_asleep = |neighbour| mac.is_asleep(neighbour, at);
            let mut payload = [0; MAX_FRAME_PAYLOAD];
            let capacity = self.mac.payload_capacity();
            let fragment = if L::Discovery::DISCOVERS {
                let mut shared = discovered(&mut self.compression, self.net.discovery());
                self.lowpan.poll_transmit(cx.now, &mut shared, is_asleep, capacity, &mut payload)
            } else {
                self.lowpan.poll_transmit(cx.now, &mut self.compression, is_asleep, capacity, &mut payload)
            };
            let Some(fragment) = fragment else {
                return;
            };
            let payload = payload.get(..fragment.len).unwrap_or_default();
            if self.mac.send(cx, at, fragment.destination, payload).is_err() {
                return;
            }
        }
    }
}

/// Lets `write` grow a packet into `room` bytes behind it, or as many as there are. On an error the packet has its length still.
fn grow<B: Array<u8>>(
    packet: &mut Packet<B>,
    room: usize,
    write: impl FnOnce(&mut [u8], usize) -> Result<usize, SendError>,
) -> Result<(), SendError> {
    let len = packet.len();
    packet.push_back(room.min(packet.tailroom())).map_err(|_| SendError::NoRoom)?;
    let grown = write(packet.bytes_mut(), len);
    packet.truncate(grown.unwrap_or(len));
    grown.map(drop)
}

impl<C: Crypto, L: Layers<C>> Default for Interface<C, L> {
    fn default() -> Self {
        Self::new()
    }
}
