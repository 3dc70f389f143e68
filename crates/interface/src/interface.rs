use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_base::{Cx, Entropy, Eui64, Instant, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ipv6::{Header, udp};
use sixlock_lowpan::{LinkAddresses, Lowpan, Received};
use sixlock_mac::{Config as MacConfig, Mac, RadioCommand};
use sixlock_net::{Net, NextHop, SendError, Uplink, Verdict};

use crate::Protection;

/// Length of the headers before a UDP payload, in bytes.
pub const HEADERS: usize = Header::LEN + udp::Header::LEN;

/// The largest frame payload of IEEE 802.15.4, in bytes.
const MAX_FRAME_PAYLOAD: usize = 127;

/// What an interface is told at its start.
#[derive(Clone)]
pub struct Config {
    /// The MAC, and the own address, of which the IPv6 addresses are made.
    pub mac: MacConfig,
    /// Where packets go that no listed route covers.
    pub uplink: Uplink,
}

/// What has come in for who drives the interface.
#[derive(Debug)]
pub enum Arrival {
    /// A datagram for this host.
    Datagram(Delivered),
    /// A packet for a host outside the mesh, at a border router.
    External(External),
}

/// A packet for a host outside the mesh that waits in its buffer, to be looked at with [`Interface::packet`] and ended
/// with [`Interface::release_packet`].
#[derive(Debug)]
#[must_use = "its buffer stays taken until it is released"]
pub struct External {
    buffer: Received,
    len: usize,
    /// Whether policy has let it in already.
    is_admitted: bool,
}

/// A UDP datagram that has come in and waits in its buffer, to be looked at with
/// [`Interface::datagram`] and ended with [`Interface::release`] or [`Interface::echo`].
#[derive(Debug)]
#[must_use = "its buffer stays taken until it is released"]
pub struct Delivered {
    buffer: Received,
    source: Ipv6Addr,
    source_port: u16,
    destination: Ipv6Addr,
    destination_port: u16,
    payload: Range<usize>,
}

/// A UDP datagram, lent.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// Who sent it.
    pub source: Ipv6Addr,
    /// The sender's port.
    pub source_port: u16,
    /// Whom it is for: this host, or several.
    pub destination: Ipv6Addr,
    /// The port it is for.
    pub destination_port: u16,
    /// What it carries.
    pub payload: &'a mut [u8],
}

/// A 6LoWPAN interface: `NEIGHBOURS` neighbours, `FRAMES` transmit frames, `POOL` datagrams
/// of `MTU` bytes, `ROUTES` routes. Unless it is `SECURED`, link security is not linked, and it may not be told to use it.
/// Unless it is `CSMA`, the same holds of CSMA-CA and acknowledgements. `P` does what else is done to its own packets: nothing, or IPsec.
pub struct Interface<
    C: Crypto,
    const SECURED: bool,
    const NEIGHBOURS: usize,
    const FRAMES: usize,
    const MTU: usize,
    const POOL: usize,
    const ROUTES: usize,
    P = (),
    const CSMA: bool = true,
> {
    mac: Mac<C, SECURED, NEIGHBOURS, FRAMES, CSMA>,
    lowpan: Lowpan<MTU, POOL>,
    net: Net<ROUTES>,
    protection: P,
}

impl<
    C: Crypto,
    const SECURED: bool,
    const NEIGHBOURS: usize,
    const FRAMES: usize,
    const MTU: usize,
    const POOL: usize,
    const ROUTES: usize,
    P: Protection<C>,
    const CSMA: bool,
> Interface<C, SECURED, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES, P, CSMA>
{
    /// An interface that has sent and heard nothing, of no device yet: [`Interface::start`] says of which. It is all
    /// zero bytes.
    pub const fn new() -> Self {
        Self { mac: Mac::new(), lowpan: Lowpan::new(), net: Net::new(), protection: P::NEW }
    }

    /// Makes it a device's; to be called first, and once.
    ///
    /// # Panics
    ///
    /// When it is told to secure its frames and is not [`SECURED`](Interface): it does not send them in the clear instead. When
    /// it is told to contend for the channel and is not [`CSMA`](Interface).
    pub fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.mac.start(&config.mac, cx.crypto);
        self.lowpan.start(cx.entropy);
        self.net.start(config.mac.address, config.uplink);
    }

    /// Headroom that [`Interface::send`] needs before a UDP payload, in bytes.
    pub fn front(&self) -> usize {
        HEADERS + self.protection.front()
    }

    /// The own link-layer address.
    pub fn address(&self) -> Eui64 {
        self.mac.address()
    }

    /// The IPv6 layer: addresses and routes.
    pub fn net(&mut self) -> &mut Net<ROUTES> {
        &mut self.net
    }

    /// What is done to packets of this host.
    pub fn protection(&mut self) -> &mut P {
        &mut self.protection
    }

    /// The frames that wait to be sent, or are being sent: their sequence numbers and lengths.
    pub fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_ {
        self.mac.waiting()
    }

    /// Takes in a received frame, FCS included, whose last symbol came in at `at`. Returns the
    /// packet it completes, if that is a UDP datagram for this host or for a host outside the mesh;
    /// what is for others is forwarded.
    pub fn handle_frame<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
    ) -> Option<Arrival> {
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
                match protect(&self.net, &mut self.protection, cx, buffer, len, next_hop)? {
                    (NextHop::Neighbour(next_hop), len) => {
                        let packet = buffer.get(..len).unwrap_or_default();
                        // A packet that finds no room is dropped, and lowpan has counted it.
                        let _ = self.lowpan.send(cx, self.link_to(next_hop), packet);
                        self.pump(cx, at);
                        None
                    }
                    (NextHop::External, _) => None,
                }
            }
            Verdict::External { len } => {
                match protect(&self.net, &mut self.protection, cx, buffer, len, NextHop::External)? {
                    (NextHop::External, len) => Some(len),
                    (NextHop::Neighbour(_), _) => None,
                }
            }
            Verdict::Udp(_) | Verdict::Dropped => None,
        }
    }

    /// Whether policy lets a packet for a host outside leave as it is.
    pub fn admits<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, external: &External) -> bool {
        let (buffer, _) = self.lowpan.buffer_mut(&external.buffer);
        let packet = buffer.get(..external.len).unwrap_or_default();
        external.is_admitted || passes(&self.net, &self.protection, cx, packet)
    }

    /// Opens a packet for a host outside for which this one speaks, as if it were for this one. False if it is refused: then
    /// nothing is left of it but its buffer.
    pub fn open<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, external: &mut External) -> bool {
        if external.is_admitted {
            return true;
        }
        let (buffer, _) = self.lowpan.buffer_mut(&external.buffer);
        let opened = self.protection.inbound(cx, buffer, external.len);
        external.len = opened.unwrap_or(0);
        opened.is_ok()
    }

    /// A packet for a host outside the mesh.
    pub fn packet(&mut self, external: &External) -> &mut [u8] {
        let (buffer, _) = self.lowpan.buffer_mut(&external.buffer);
        buffer.get_mut(..external.len).unwrap_or_default()
    }

    /// Ends a packet for a host outside the mesh.
    pub fn release_packet(&mut self, external: External) {
        self.lowpan.release(external.buffer);
    }

    /// A datagram that has come in.
    pub fn datagram(&mut self, delivered: &Delivered) -> Datagram<'_> {
        let (buffer, _) = self.lowpan.buffer_mut(&delivered.buffer);
        Datagram {
            source: delivered.source,
            source_port: delivered.source_port,
            destination: delivered.destination,
            destination_port: delivered.destination_port,
            payload: buffer.get_mut(delivered.payload.clone()).unwrap_or_default(),
        }
    }

    /// Ends a datagram that has come in.
    pub fn release(&mut self, delivered: Delivered) {
        self.lowpan.release(delivered.buffer);
    }

    /// Sends a datagram back to where it came from, in its own buffer
    /// ([RFC 862](https://www.rfc-editor.org/rfc/rfc862)).
    pub fn echo<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, delivered: Delivered) {
        if delivered.destination.is_multicast() {
            // One packet would call forth an answer of every node.
            return self.release(delivered);
        }
        let Delivered { buffer, source, source_port, destination_port, payload, .. } = delivered;
        let (bytes, _) = self.lowpan.buffer_mut(&buffer);
        let len = HEADERS + payload.len();
        bytes.copy_within(payload, HEADERS);
        let packet = bytes.get_mut(..len).unwrap_or_default();
        match self.net.udp_in_place(packet, destination_port, source, source_port) {
            Ok(next_hop) => self.answer(cx, buffer, next_hop, len),
            Err(_) => self.lowpan.release(buffer),
        }
        self.pump(cx, at);
    }

    /// Answers a datagram whose port nobody listens at.
    pub fn port_unreachable<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        delivered: Delivered,
    ) {
        let (buffer, len) = self.lowpan.buffer_mut(&delivered.buffer);
        match self.net.port_unreachable(cx, buffer, len) {
            Verdict::Forward { next_hop, len } => self.answer(cx, delivered.buffer, next_hop, len),
            _ => self.lowpan.release(delivered.buffer),
        }
        self.pump(cx, at);
    }

    /// Sends the UDP payload in `packet`, which has at least [`Interface::front`] bytes of headroom.
    pub fn send<E: Entropy, N: Nv, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<M>,
        source_port: u16,
        destination: Ipv6Addr,
        destination_port: u16,
    ) -> Result<(), SendError> {
        let next_hop = self.net.udp(packet, source_port, destination, destination_port)?;
        self.transmit(cx, at, packet, next_hop)
    }

    /// Sends the packet of this host that `packet` is, before which is room for what protects it.
    pub fn send_packet<E: Entropy, N: Nv, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<M>,
    ) -> Result<(), SendError> {
        match next_hop_of(&self.net, packet.bytes()) {
            Some(NextHop::Neighbour(next_hop)) => self.transmit(cx, at, packet, next_hop),
            _ => Err(SendError::NoRoute),
        }
    }

    /// The same as [`Interface::send`] in the name of a host outside the mesh.
    #[expect(clippy::too_many_arguments, reason = "both ends of a datagram, its bytes and the time")]
    pub fn send_from<E: Entropy, N: Nv, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<M>,
        source: Ipv6Addr,
        source_port: u16,
        destination: Ipv6Addr,
        destination_port: u16,
    ) -> Result<(), SendError> {
        let next_hop = self.net.udp_from(packet, source, source_port, destination, destination_port)?;
        self.transmit(cx, at, packet, next_hop)
    }

    /// Takes in the outcome of a CCA that ended at `at`.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        self.mac.handle_cca(cx, at, clear);
        self.pump(cx, at);
    }

    /// Takes in that the last symbol of [`Interface::transmit_frame`] went out at `at`.
    pub fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.mac.handle_transmitted(cx, at);
        self.pump(cx, at);
    }

    /// What the radio is to do next, once.
    pub fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.mac.poll_radio()
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
        self.lowpan.poll_timeout()
    }

    /// Gives up what has waited too long.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.lowpan.handle_timeout(cx);
    }

    #[inline(never)]
    fn receive<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
    ) -> Option<Arrival> {
        let frame = self.mac.handle_frame(cx, at, frame)?;
        let link = LinkAddresses { source: frame.source, destination: frame.destination };
        let received = self.lowpan.handle(cx, self.protection.context(), link, frame.payload)?;
        let mut is_admitted = false;
        if P::PROTECTS {
            match self.open_own(cx, &received) {
                Some(is_own) => is_admitted = is_own,
                None => {
                    self.lowpan.release(received);
                    return None;
                }
            }
        }
        let (buffer, len) = self.lowpan.buffer_mut(&received);
        match self.net.handle(cx, buffer, len) {
            Verdict::Udp(datagram) => Some(Arrival::Datagram(Delivered {
                buffer: received,
                source: datagram.source,
                source_port: datagram.source_port,
                destination: datagram.destination,
                destination_port: datagram.destination_port,
                payload: datagram.payload,
            })),
            Verdict::Forward { next_hop, len } => {
                let packet = buffer.get(..len).unwrap_or_default();
                if !is_admitted && !passes(&self.net, &self.protection, cx, packet) {
                    self.lowpan.release(received);
                    return None;
                }
                self.dispatch(cx, received, NextHop::Neighbour(next_hop), len)
            }
            Verdict::External { len } => match self.dispatch(cx, received, NextHop::External, len) {
                Some(Arrival::External(external)) => {
                    Some(Arrival::External(External { is_admitted, ..external }))
                }
                arrival => arrival,
            },
            Verdict::Dropped => {
                self.lowpan.release(received);
                None
            }
        }
    }

    /// Opens a packet, if it is for this host; whether it is. None if it is refused.
    fn open_own<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, received: &Received) -> Option<bool> {
        let (buffer, len) = self.lowpan.buffer_mut(received);
        let own = match Header::parse(buffer.get(..len).unwrap_or_default()) {
            Ok((header, _)) => self.net.takes(header.destination),
            Err(_) => false,
        };
        if own {
            let len = self.protection.inbound(cx, buffer, len).ok()?;
            self.lowpan.truncate(received, len);
        }
        Some(own)
    }

    /// Sends a packet that stands in its buffer, protected if it is this host's. What is for outside is returned.
    fn dispatch<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        received: Received,
        next_hop: NextHop,
        len: usize,
    ) -> Option<Arrival> {
        let Self { lowpan, net, protection, .. } = self;
        let (buffer, _) = lowpan.buffer_mut(&received);
        match protect(net, protection, cx, buffer, len, next_hop) {
            Some((NextHop::External, len)) => {
                Some(Arrival::External(External { buffer: received, len, is_admitted: false }))
            }
            Some((NextHop::Neighbour(next_hop), len)) => {
                let link = self.link_to(next_hop);
                // A packet that finds no room is dropped, and lowpan has counted it.
                let _ = self.lowpan.forward(cx, received, link, len);
                None
            }
            None => {
                lowpan.release(received);
                None
            }
        }
    }

    /// Sends an answer that stands in its buffer to a node.
    fn answer<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        received: Received,
        next_hop: Eui64,
        len: usize,
    ) {
        if let Some(Arrival::External(external)) =
            self.dispatch(cx, received, NextHop::Neighbour(next_hop), len)
        {
            self.release_packet(external);
        }
    }

    fn transmit<E: Entropy, N: Nv, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        packet: &mut Packet<M>,
        mut next_hop: Eui64,
    ) -> Result<(), SendError> {
        if P::PROTECTS {
            self.protection.outbound(cx, packet).map_err(|_| SendError::Refused)?;
            match next_hop_of(&self.net, packet.bytes()) {
                Some(NextHop::Neighbour(neighbour)) => next_hop = neighbour,
                _ => return Err(SendError::NoRoute),
            }
        }
        let sent = self.lowpan.send(cx, self.link_to(next_hop), packet.bytes());
        self.pump(cx, at);
        sent.map_err(|_| SendError::NoRoom)
    }

    fn link_to(&self, next_hop: Eui64) -> LinkAddresses {
        LinkAddresses { source: self.mac.address(), destination: next_hop }
    }

    /// Moves fragments into free transmit frames.
    fn pump<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        // Outcomes end here: 6LoWPAN has no use for them, and the MAC has counted the failures.
        while self.mac.poll_event().is_some() {}
        while self.mac.can_send() {
            let mut payload = [0; MAX_FRAME_PAYLOAD];
            let (context, capacity) = (self.protection.context(), self.mac.payload_capacity());
            let Some(fragment) = self.lowpan.poll_transmit(context, capacity, &mut payload) else { return };
            let payload = payload.get(..fragment.len).unwrap_or_default();
            if self.mac.send(cx, at, fragment.destination, payload).is_err() {
                return;
            }
        }
    }
}

impl<
    C: Crypto,
    const SECURED: bool,
    const NEIGHBOURS: usize,
    const FRAMES: usize,
    const MTU: usize,
    const POOL: usize,
    const ROUTES: usize,
    P: Protection<C>,
    const CSMA: bool,
> Default for Interface<C, SECURED, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES, P, CSMA>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Where the packet goes.
fn next_hop_of<const ROUTES: usize>(net: &Net<ROUTES>, packet: &[u8]) -> Option<NextHop> {
    Header::parse(packet).ok().and_then(|(header, _)| net.next_hop(header.destination))
}

/// Whether a packet on its way through this host may pass as it is: policy is asked where this host protects for others. Its own
/// answers meet policy when they are sent.
fn passes<C, E, N, P: Protection<C>, const ROUTES: usize>(
    net: &Net<ROUTES>,
    protection: &P,
    cx: &mut Cx<'_, C, E, N>,
    packet: &[u8],
) -> bool {
    !protection.is_for_others()
        || Header::parse(packet).is_ok_and(|(header, _)| net.is_own(header.source))
        || protection.admits(cx, packet)
}

/// Protects the packet that the first `len` bytes of `buffer` are, if it is this host's, or goes into the mesh and this host
/// protects for others, and policy demands it. Returns where it goes then, and its length.
fn protect<C, E: Entropy, N: Nv, P: Protection<C>, const ROUTES: usize>(
    net: &Net<ROUTES>,
    protection: &mut P,
    cx: &mut Cx<'_, C, E, N>,
    buffer: &mut [u8],
    len: usize,
    next_hop: NextHop,
) -> Option<(NextHop, usize)> {
    if !P::PROTECTS {
        return Some((next_hop, len));
    }
    let (header, _) = Header::parse(buffer.get(..len)?).ok()?;
    let meets_policy = match protection.is_for_others() {
        true => next_hop != NextHop::External,
        false => net.is_own(header.source),
    };
    if !meets_policy {
        return Some((next_hop, len));
    }
    let len = protection.outbound_in(cx, buffer, len).ok()?;
    Some((next_hop_of(net, buffer.get(..len)?)?, len))
}
