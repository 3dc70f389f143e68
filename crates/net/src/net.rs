use core::fmt;
use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_base::{Array, Counter, Cx, Entropy, Eui64, Instant, LINK_LOCAL_PREFIX, Nv, Packet};
use sixlock_ipv6::extension::{self, Refusal, Upper};
use sixlock_ipv6::icmpv6::{Exceeded, Message, Problem, Unreachable};
use sixlock_ipv6::{Header, nd, next_header, udp};

use crate::discovery::Discovery;
use crate::limit::Limit;
use crate::neighbour_discovery::Transmit;
use crate::router::{ForwardError, Router};
use crate::routes::{NextHop, Uplink};

/// The link-layer address of all neighbours at once.
pub const BROADCAST: Eui64 = Eui64([0xff; 8]);

/// The longest packet that goes into the mesh, and the longest ICMPv6 error: the least MTU of IPv6.
const MTU: usize = 1280;

/// The IPv6 layer of a node that knows by `R` where packets go, and comes by `D` to its prefix, its router and its neighbours.
pub struct Net<R, D = ()> {
    address: Eui64,
    uplink: Uplink,
    router: R,
    discovery: D,
    errors: Limit,
}

/// What is to be done with a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It carries a UDP datagram for this node.
    Udp(Datagram),
    /// The first `len` bytes of the buffer are to be sent to the neighbour `next_hop`: the packet itself, or
    /// an answer that took its place.
    Forward {
        /// The neighbour.
        next_hop: Eui64,
        /// The packet's length.
        len: usize,
    },
    /// The same, out of the mesh.
    External {
        /// The packet's length.
        len: usize,
    },
    /// Nothing is left to do; if something was wrong, it was counted.
    Dropped,
}

/// A UDP datagram for this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Who sent it.
    pub source: Ipv6Addr,
    /// The sender's port.
    pub source_port: u16,
    /// The address of this node that it was sent to.
    pub destination: Ipv6Addr,
    /// The port that it was sent to.
    pub destination_port: u16,
    /// Where in the buffer its payload stands.
    pub payload: Range<usize>,
}

/// Where a packet comes from.
#[derive(Clone, Copy)]
enum Side {
    /// Over a link of the mesh.
    Mesh {
        /// The neighbour at its other end.
        from: Eui64,
    },
    /// From outside, through this border router.
    Outside,
}

/// Why a datagram cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// No route leads to the destination.
    NoRoute,
    /// The packet has no room for the headers.
    NoRoom,
    /// The packet would be longer than the mesh carries.
    TooLong,
    /// Policy demands that it is not sent, or protected in a way that it cannot be.
    Refused,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRoute => "no route leads to the destination",
            Self::NoRoom => "the packet has no room for the headers",
            Self::TooLong => "the packet would be longer than the mesh carries",
            Self::Refused => {
                "policy demands that the packet is not sent, or protected in a way that it cannot be"
            }
        })
    }
}

impl core::error::Error for SendError {}

impl<R: Router, D: Discovery> Net<R, D> {
    /// A node without address or routes. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            uplink: Uplink::None,
            router: R::NEW,
            discovery: D::NEW,
            errors: Limit::new(),
        }
    }

    /// Gives it the addresses made of `address`, and its uplink; to be called first.
    pub fn start(&mut self, address: Eui64, uplink: Uplink) {
        (self.address, self.uplink) = (address, uplink);
    }

    /// The address in the mesh, if there is one that may be used.
    pub fn mesh_address(&self) -> Option<Ipv6Addr> {
        self.discovery.usable_prefix().map(|prefix| self.address.with_prefix(prefix))
    }

    /// The prefix of the mesh, if it is known.
    pub fn mesh_prefix(&self) -> Option<[u8; 8]> {
        self.discovery.prefix()
    }

    /// The address on the link.
    pub fn link_local_address(&self) -> Ipv6Addr {
        self.address.with_prefix(LINK_LOCAL_PREFIX)
    }

    /// Where packets go that no route covers.
    pub const fn uplink(&self) -> Uplink {
        self.uplink
    }

    /// Where packets go.
    pub fn router(&self) -> &R {
        &self.router
    }

    /// The same, to be changed.
    pub fn router_mut(&mut self) -> &mut R {
        &mut self.router
    }

    /// How it comes to its prefix, its router and its neighbours.
    pub fn discovery(&self) -> &D {
        &self.discovery
    }

    /// The same, to be changed.
    pub fn discovery_mut(&mut self) -> &mut D {
        &mut self.discovery
    }

    /// Whether a packet to `destination` is for this node, and maybe for others too.
    pub fn takes(&self, destination: Ipv6Addr) -> bool {
        self.is_own(destination)
            || destination == nd::ALL_NODES
            || destination == nd::ALL_ROUTERS
            // All addresses of a node end alike, and so have one group.
            || D::DISCOVERS && destination == nd::solicited_node(self.link_local_address())
            || self.router.takes(destination)
    }

    /// Whether `packet` is for this node and ends here, and maybe is for others too.
    pub fn ends(&self, packet: &[u8]) -> bool {
        Header::parse(packet).is_ok_and(|(header, _)| self.takes(header.destination))
            && !self.router.leads_on(packet)
    }

    /// The next hop of a packet to `destination`, which is not this node.
    pub fn next_hop(&self, destination: Ipv6Addr) -> Option<NextHop> {
        if destination.is_multicast() {
            return Some(NextHop::Neighbour(BROADCAST));
        }
        if self.is_own(destination) {
            return None;
        }
        if is_link_local(destination) {
            return Some(NextHop::Neighbour(Eui64::of_address(destination)));
        }
        if let Some(neighbour) = self.discovery.neighbour(destination) {
            return Some(NextHop::Neighbour(neighbour));
        }
        match (self.router.next_hop(destination), self.uplink) {
            (Some(next_hop), _) | (None, Uplink::NextHop(next_hop)) => Some(NextHop::Neighbour(next_hop)),
            (None, Uplink::External) if !self.discovery.is_inside(destination) => Some(NextHop::External),
            _ => self.discovery.default_router().map(NextHop::Neighbour),
        }
    }

    /// Puts IPv6 and UDP headers before the payload in `packet` and returns the neighbour it goes to. On an
    /// error the packet is the payload still.
    pub fn udp<B: Array<u8>>(
        &self,
        packet: &mut Packet<B>,
        source_port: u16,
        destination: Ipv6Addr,
        destination_port: u16,
    ) -> Result<Eui64, SendError> {
        self.udp_from(packet, self.source_for(destination), source_port, destination, destination_port)
    }

    /// The same as [`Net::udp`] in the name of another: a border router that speaks for hosts outside.
    pub fn udp_from<B: Array<u8>>(
        &self,
        packet: &mut Packet<B>,
        source: Ipv6Addr,
        source_port: u16,
        destination: Ipv6Addr,
        destination_port: u16,
    ) -> Result<Eui64, SendError> {
        const FRONT: usize = Header::LEN + udp::Header::LEN;
        packet.push_front(FRONT).map_err(|_| SendError::NoRoom)?;
        let ports = udp::Header { source_port, destination_port };
        let next_hop = match packet.len() {
            ..=MTU => self.emit_udp(packet.bytes_mut(), source, destination, ports),
            _ => Err(SendError::TooLong),
        };
        if next_hop.is_err() {
            packet.trim_front(FRONT).map_err(|_| SendError::NoRoom)?;
        }
        next_hop
    }

    /// The same as [`Net::udp`] for a payload that stands behind 48 bytes of room for the headers in `packet`.
    pub fn udp_in_place(
        &self,
        packet: &mut [u8],
        source_port: u16,
        destination: Ipv6Addr,
        destination_port: u16,
    ) -> Result<Eui64, SendError> {
        let ports = udp::Header { source_port, destination_port };
        self.emit_udp(packet, self.source_for(destination), destination, ports)
    }

    fn emit_udp(
        &self,
        packet: &mut [u8],
        source: Ipv6Addr,
        destination: Ipv6Addr,
        ports: udp::Header,
    ) -> Result<Eui64, SendError> {
        let Some(NextHop::Neighbour(next_hop)) = self.next_hop(destination) else {
            return Err(SendError::NoRoute);
        };
        let leaves_link = !is_link_local(destination) && !destination.is_multicast();
        if D::DISCOVERS && is_link_local(source) && leaves_link {
            // None of its addresses may be used there yet.
            return Err(SendError::NoRoute);
        }
        let emitted = udp::emit_packet(packet, (source, destination), ports, self.router.hop_limit());
        emitted.map(|()| next_hop).map_err(|_| SendError::NoRoom)
    }

    /// Processes a packet that has come in over a link of the mesh, from the neighbour `from`: the first `len` bytes of `buffer`. An
    /// answer may grow into the room behind.
    pub fn handle<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        buffer: &mut [u8],
        len: usize,
    ) -> Verdict {
        self.process(cx, buffer, len, Side::Mesh { from })
    }

    /// Processes a packet that has come to a border router from outside the mesh, in the same way.
    pub fn handle_external<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Verdict {
        self.process(cx, buffer, len, Side::Outside)
    }

    #[inline(never)]
    fn process<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
        side: Side,
    ) -> Verdict {
        let parsed = buffer.get(..len).and_then(|packet| Header::parse(packet).ok());
        let Some((header, payload)) = parsed else {
            return dropped(cx, Counter::Ipv6Malformed);
        };
        let len = Header::LEN + payload.len();
        let destination = header.destination;
        // What this node has sent to itself never was on its way.
        let comes_back = R::READS
            && matches!(side, Side::Mesh { .. })
            && !self.takes(destination)
            && buffer.get(..len).is_some_and(|packet| self.router.comes_back(packet));
        let is_from_outside = matches!(self.uplink, Uplink::External)
            && !self.discovery.is_inside(header.source)
            && !is_link_local(header.source);
        if let (true, true, Side::Mesh { from }, Some(packet)) =
            (comes_back, is_from_outside, side, buffer.get_mut(..len))
        {
            // The router learns of it. It goes no further: nobody in the mesh sends with an address of elsewhere.
            let _ = self.router.forward(cx, from, packet);
            return dropped(cx, Counter::Ipv6NoRoute);
        }
        let comes_back = comes_back && self.is_own(header.source);
        if let (true, Side::Mesh { from }) = (D::DISCOVERS, side)
            && self.takes(destination)
            && let Some(message) = buffer.get(..len).and_then(discovery_message)
        {
            self.discovery.handle(cx, from, &header, message);
            return Verdict::Dropped;
        }
        if !comes_back && !self.admits(side, &header) {
            return dropped(cx, Counter::Ipv6BadAddress);
        }
        let leads_on = R::READS && buffer.get(..len).is_some_and(|packet| self.router.leads_on(packet));
        if self.takes(destination) && !leads_on {
            self.handle_own(cx, &header, buffer, len)
        } else {
            self.forward(cx, &header, buffer, len, side)
        }
    }

    /// Whether a packet with the addresses of this header may come from there.
    fn admits(&self, side: Side, Header { source, destination, .. }: &Header) -> bool {
        // None of these may come in over a link (RFC 4291 section 2).
        if source.is_multicast()
            || *source == Ipv6Addr::LOCALHOST
            || self.is_own(*source)
            || *destination == Ipv6Addr::LOCALHOST
            || *destination == Ipv6Addr::UNSPECIFIED
        {
            return false;
        }
        let inside = self.discovery.is_inside(*source) || is_link_local(*source);
        match (side, self.uplink) {
            // Where the mesh ends, nobody in it speaks with an address of elsewhere, and nobody elsewhere with one of it.
            (Side::Mesh { .. }, Uplink::External) => inside,
            (Side::Mesh { .. }, _) => true,
            (Side::Outside, _) => {
                !inside && *source != Ipv6Addr::UNSPECIFIED && self.discovery.is_inside(*destination)
            }
        }
    }

    /// Answers the packet of a [`Verdict::Udp`], still as it came, whose port nobody listens at.
    pub fn port_unreachable<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Verdict {
        cx.counters.count(Counter::UdpNoPort);
        self.answer(cx, buffer, len, Message::DestinationUnreachable(Unreachable::Port))
    }

    /// Answers a packet for this node, still as it came, in whose extension headers is a problem.
    #[inline]
    pub fn parameter_problem<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
        problem: Problem,
        pointer: u16,
    ) -> Verdict {
        cx.counters.count(Counter::Ipv6Unsupported);
        self.answer(cx, buffer, len, Message::ParameterProblem { problem, pointer: pointer.into() })
    }

    /// Answers the first fragment of a packet for this node, still as it came, of which others did not come in time
    /// ([RFC 8200 section 4.5](https://www.rfc-editor.org/rfc/rfc8200#section-4.5)).
    #[inline]
    pub fn reassembly_time_exceeded<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
    ) -> Verdict {
        self.answer(cx, buffer, len, Message::TimeExceeded(Exceeded::Reassembly))
    }

    /// A packet for this node.
    fn handle_own<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        header: &Header,
        buffer: &mut [u8],
        len: usize,
    ) -> Verdict {
        let packet = &buffer[..len];
        let Upper { protocol, at, named_at } = match extension::process(packet) {
            Ok(upper) => upper,
            Err(Refusal::Silent) => return dropped(cx, Counter::Ipv6Malformed),
            Err(Refusal::Problem { problem, pointer }) => {
                return self.parameter_problem(cx, buffer, len, problem, pointer);
            }
        };
        let (source, destination) = (header.source, header.destination);
        let Some(upper) = packet.get(at..) else { return dropped(cx, Counter::Ipv6Malformed) };
        match protocol {
            next_header::UDP => match udp::Header::parse(source, destination, upper) {
                Ok(_) if source == Ipv6Addr::UNSPECIFIED => dropped(cx, Counter::Ipv6BadAddress),
                Ok((ports, payload)) => Verdict::Udp(Datagram {
                    source,
                    source_port: ports.source_port,
                    destination,
                    destination_port: ports.destination_port,
                    payload: at + udp::Header::LEN..at + udp::Header::LEN + payload.len(),
                }),
                Err(_) => dropped(cx, Counter::UdpMalformed),
            },
            next_header::ICMPV6 if R::READS && self.router.handle(cx, (source, destination), upper) => {
                Verdict::Dropped
            }
            next_header::ICMPV6 => match Message::parse(source, destination, upper) {
                Ok((Message::EchoRequest(echo), _)) => {
                    buffer.copy_within(at..len, Header::LEN);
                    let len = Header::LEN + len - at;
                    self.icmpv6(header, buffer, len, Message::EchoReply(echo))
                }
                // Nothing here asks, and errors come back to nobody who could mend them.
                Ok(_) => Verdict::Dropped,
                Err(_) => dropped(cx, Counter::Ipv6Malformed),
            },
            next_header::NONE => Verdict::Dropped,
            _ => {
                cx.counters.count(Counter::Ipv6Unsupported);
                let problem = Problem::NextHeader;
                self.answer(cx, buffer, len, Message::ParameterProblem { problem, pointer: named_at as u32 })
            }
        }
    }

    /// A packet for another.
    fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        header: &Header,
        buffer: &mut [u8],
        len: usize,
        side: Side,
    ) -> Verdict {
        let Header { source, destination, .. } = header;
        if destination.is_multicast() || is_link_local(*destination) || *source == Ipv6Addr::UNSPECIFIED {
            return dropped(cx, Counter::Ipv6BadAddress);
        }
        let (reason, answer) = if is_link_local(*source) {
            (Counter::Ipv6BadAddress, Message::DestinationUnreachable(Unreachable::BeyondScope))
        } else if header.hop_limit <= 1 {
            (Counter::Ipv6HopLimit, Message::TimeExceeded(Exceeded::HopLimit))
        } else {
            let next_hop = match (side, buffer.get_mut(..len)) {
                (Side::Mesh { from }, Some(packet))
                    if R::READS && self.discovery.neighbour(*destination).is_none() =>
                {
                    self.router.forward(cx, from, packet)
                }
                _ => Ok(None),
            };
            let next_hop = match next_hop {
                Ok(Some(next_hop)) => Ok(NextHop::Neighbour(next_hop)),
                Ok(None) => self.next_hop(*destination).ok_or(ForwardError::NoRoute),
                Err(error) => Err(error),
            };
            match next_hop {
                Err(ForwardError::Dropped) => return Verdict::Dropped,
                Err(ForwardError::NoRoute) => {
                    (Counter::Ipv6NoRoute, Message::DestinationUnreachable(Unreachable::NoRoute))
                }
                Err(ForwardError::SourceRoute { pointer }) => {
                    return self.parameter_problem(cx, buffer, len, Problem::Field, pointer);
                }
                Ok(NextHop::Neighbour(_)) if len > MTU => {
                    (Counter::Ipv6TooBig, Message::PacketTooBig { mtu: MTU as u32 })
                }
                Ok(next_hop) => {
                    buffer[Header::HOP_LIMIT_AT] = header.hop_limit - 1;
                    cx.counters.count(Counter::Ipv6Forwarded);
                    return to(next_hop, len);
                }
            }
        };
        cx.counters.count(reason);
        self.answer(cx, buffer, len, answer)
    }

    /// Turns the packet into the ICMPv6 error `message` about it, if there may be one
    /// ([RFC 4443 section 2.4](https://www.rfc-editor.org/rfc/rfc4443#section-2.4)).
    fn answer<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        len: usize,
        message: Message,
    ) -> Verdict {
        const FRONT: usize = Header::LEN + Message::LEN;
        let Some(packet) = buffer.get(..len) else { return Verdict::Dropped };
        let Ok((header, _)) = Header::parse(packet) else { return Verdict::Dropped };
        // An unknown option may ask for an answer to a multicast packet too.
        let about_option = matches!(message, Message::ParameterProblem { problem: Problem::Option, .. });
        let about_error = extension::carries_error(packet).unwrap_or(false);
        let room = match self.router.room() {
            0 => 0,
            _ if self.next_hop(header.source) == Some(NextHop::External) => 0,
            room => room,
        };
        let longest = MTU.min(buffer.len()).saturating_sub(room);
        let total = (FRONT + len).min(longest);
        if header.source == Ipv6Addr::UNSPECIFIED
            || header.source.is_multicast()
            || header.destination.is_multicast() && !about_option
            || about_error
            || total < FRONT
            || !self.errors.take(cx.now)
        {
            return Verdict::Dropped;
        }
        buffer.copy_within(..total - FRONT, FRONT);
        self.icmpv6(&header, buffer, total, message)
    }

    /// Writes the headers of `message` to the sender of `received`, whose body stands in place in the first `len`
    /// bytes of `buffer`.
    fn icmpv6(&self, received: &Header, buffer: &mut [u8], len: usize, message: Message) -> Verdict {
        let destination = received.source;
        let source = if self.is_own(received.destination) {
            received.destination
        } else {
            self.source_for(destination)
        };
        let header = Header {
            traffic_class: 0,
            flow_label: 0,
            payload_length: len.saturating_sub(Header::LEN) as u16,
            next_header: next_header::ICMPV6,
            hop_limit: self.router.hop_limit(),
            source,
            destination,
        };
        let written = buffer
            .get_mut(..len)
            .and_then(|packet| packet.split_at_mut_checked(Header::LEN))
            .and_then(|(front, body)| {
                header.emit(front).and_then(|()| message.emit(source, destination, body)).ok()
            });
        match (written, self.next_hop(destination)) {
            (Some(()), Some(next_hop)) if destination != Ipv6Addr::UNSPECIFIED => to(next_hop, len),
            _ => Verdict::Dropped,
        }
    }

    /// The source address of packets to `destination`: one of the same scope.
    fn source_for(&self, destination: Ipv6Addr) -> Ipv6Addr {
        match destination.octets() {
            octets if octets[..8] == LINK_LOCAL_PREFIX => self.link_local_address(),
            [0xff, scope, ..] if scope & 0x0f <= 2 => self.link_local_address(),
            _ => match self.mesh_address() {
                Some(address) => address,
                None => self.link_local_address(),
            },
        }
    }

    /// Whether `packet` goes to a neighbour that has registered its address here.
    pub fn is_registered(&self, packet: &[u8]) -> bool {
        D::DISCOVERS
            && Header::address_at(packet, Header::DESTINATION_AT)
                .is_some_and(|&destination| self.discovery.neighbour(destination.into()).is_some())
    }

    /// Whether `address` is this node's alone.
    // It is asked at many places.
    #[inline(never)]
    pub fn is_own(&self, address: Ipv6Addr) -> bool {
        (self.discovery.is_inside(address) || is_link_local(address))
            && Eui64::of_address(address) == self.address
    }

    /// Tells the router which prefix was discovered, or takes the one that it was told; and tells it who has registered here.
    pub fn tell_router<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if D::ASKS_ROUTER {
            self.discovery.take_prefix(self.router.told_prefix());
        }
        if D::DISCOVERS {
            self.router.give_prefix(cx, self.discovery.usable_prefix());
        }
        if R::TELLS_REGISTERED && self.discovery.poll_registered() {
            self.router.take_registered(cx, self.discovery.registered(cx.now));
        }
    }

    /// Writes the next packet of neighbour discovery to `out`, and says where it goes. One that goes nowhere is lost.
    pub fn poll_discovery(&mut self, now: Instant, out: &mut [u8]) -> Option<(usize, Eui64)> {
        let Transmit { len, neighbour } = self.discovery.poll_transmit(now, out)?;
        let destination = || Header::parse(out.get(..len)?).ok().map(|(header, _)| header.destination);
        let next_hop = neighbour.map(NextHop::Neighbour).or_else(|| self.next_hop(destination()?));
        match next_hop {
            Some(NextHop::Neighbour(next_hop)) => Some((len, next_hop)),
            _ => None,
        }
    }
}

impl<R: Router, D: Discovery> Default for Net<R, D> {
    fn default() -> Self {
        Self::new()
    }
}

fn is_link_local(address: Ipv6Addr) -> bool {
    address.octets()[..8] == LINK_LOCAL_PREFIX
}

/// The message of neighbour discovery that `packet` carries, if it does.
fn discovery_message(packet: &[u8]) -> Option<&[u8]> {
    let upper = extension::process(packet).ok().filter(|upper| upper.protocol == next_header::ICMPV6)?;
    let message = packet.get(upper.at..)?;
    message.first().is_some_and(|&kind| nd::is_type(kind)).then_some(message)
}

fn to(next_hop: NextHop, len: usize) -> Verdict {
    match next_hop {
        NextHop::Neighbour(next_hop) => Verdict::Forward { next_hop, len },
        NextHop::External => Verdict::External { len },
    }
}

fn dropped<C, E, N>(cx: &mut Cx<'_, C, E, N>, reason: Counter) -> Verdict {
    cx.counters.count(reason);
    Verdict::Dropped
}
