//! RPL as what routes packets: [`RplNode`] and [`RplRoot`].

use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_base::{Cx, Entropy, Eui64, Instant, New, Nv};
use sixlock_ipv6::nd::RegisteredAddress;
use sixlock_ipv6::rpl::{
    ALL_RPL_NODES, ICMPV6_TYPE, ModeOfOperation, PacketInformation, packet_information, source_route,
};
use sixlock_ipv6::{Header, extension, next_header};
use sixlock_mac::Outcome;
use sixlock_net::{ForwardError, Router, SendError};
use sixlock_rpl::{Advertising, DataError, Error, ExternalTargets, Knowledge, MAX_HOPS, Node, Profile, Root};

use crate::routing::{FrameOutcome, Routing};

/// Routes packets of a router or a leaf.
pub struct RplNode<P: Profile>(pub Node<P>);

/// Routes packets of a border router that is the root.
pub struct RplRoot<K>(pub Root<K>);

/// The longest packet with a control message, in bytes.
const LONGEST_MESSAGE: usize = 200;

/// The most bytes that the root puts around a packet: a header, and a source route whose addresses differ in their last eight octets.
pub(crate) const LONGEST_ROUTE: usize = Header::LEN + 8 + 8 * MAX_HOPS;

/// Lets `handle` take in an ICMPv6 message, if it is one of RPL; whether it is.
fn take_in(message: &[u8], handle: impl FnOnce() -> Result<(), Error>) -> bool {
    let is_control = message.first() == Some(&ICMPV6_TYPE);
    if is_control {
        // What is refused was counted.
        let _ = handle();
    }
    is_control
}

fn to_forward_error(error: DataError) -> ForwardError {
    match error {
        DataError::Malformed | DataError::Instance | DataError::Rank | DataError::NoRoom => {
            ForwardError::Dropped
        }
        DataError::SourceRoute { pointer } => ForwardError::SourceRoute { pointer },
        DataError::NoRoute => ForwardError::NoRoute,
    }
}

fn to_send_error(error: DataError) -> SendError {
    match error {
        DataError::NoRoute => SendError::NoRoute,
        _ => SendError::NoRoom,
    }
}

/// Whether a router has sent the packet back, as it has no way for it
/// ([RFC 6550 section 11.2.2.3](https://www.rfc-editor.org/rfc/rfc6550#section-11.2.2.3)).
fn has_forwarding_error(packet: &[u8]) -> bool {
    let at = packet_information::find(packet).ok().flatten();
    let bytes = at.and_then(|at| packet.get(at..)?.first_chunk());
    bytes.is_some_and(|bytes| PacketInformation::from_bytes(*bytes).forwarding_error)
}

/// Where the packet that the root has put a header around stands in a packet for this host.
fn tunnelled(packet: &[u8]) -> Option<Range<usize>> {
    let upper = extension::process(packet).ok()?;
    (upper.protocol == next_header::IPV6).then_some(upper.at..packet.len())
}

impl<P: Profile> New for RplNode<P> {
    const NEW: Self = Self(Node::new());
}

impl<P: Profile> Router for RplNode<P> {
    const READS: bool = true;
    const TELLS_REGISTERED: bool = P::External::TELLS;

    fn take_registered<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        registered: impl Iterator<Item = RegisteredAddress>,
    ) {
        self.0.take_registered(cx, registered);
    }

    fn give_prefix<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, prefix: Option<[u8; 8]>) {
        self.0.give_prefix(cx, prefix);
    }

    fn told_prefix(&self) -> Option<[u8; 8]> {
        self.0.told_prefix()
    }

    fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        self.0.next_hop(destination)
    }

    fn takes(&self, destination: Ipv6Addr) -> bool {
        destination == ALL_RPL_NODES
    }

    /// A leaf follows no source route, and no packet of its own goes a way down, on which one could be sent back.
    fn leads_on(&self, packet: &[u8]) -> bool {
        P::Advertising::ADVERTISES && source_route::leads_on(packet)
    }

    fn room(&self) -> usize {
        Node::<P>::ROOM
    }

    fn comes_back(&self, packet: &[u8]) -> bool {
        P::Advertising::ADVERTISES && has_forwarding_error(packet)
    }

    fn handle<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        (source, destination): (Ipv6Addr, Ipv6Addr),
        message: &[u8],
    ) -> bool {
        take_in(message, || self.0.handle(cx, source, destination, message))
    }

    fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        packet: &mut [u8],
    ) -> Result<Option<Eui64>, ForwardError> {
        self.0.forward(cx, from, packet).map(Some).map_err(to_forward_error)
    }
}

impl<P: Profile> Routing for RplNode<P> {
    const ROUTES: bool = true;
    /// Around packets of this host only the root puts headers.
    const ENCAPSULATES: bool = false;

    fn has_way(&self) -> bool {
        self.0.parent().is_some()
    }

    fn preferred_parent(&self) -> Option<Eui64> {
        self.0.parent()
    }

    fn join_metric(&self) -> Option<u8> {
        self.0.dag_rank().map(|rank| rank.saturating_sub(1).min(u8::MAX.into()) as u8)
    }

    fn advertised(&self) -> Option<u32> {
        self.0.advertised()
    }

    fn advertise_to(&mut self, neighbour: &Eui64) -> bool {
        self.0.advertise_to(neighbour)
    }

    fn originate(&self, buffer: &mut [u8], len: usize) -> Result<usize, SendError> {
        self.0.originate(buffer, len).map_err(to_send_error)
    }

    fn encapsulate(&self, buffer: &mut [u8], len: usize) -> Result<usize, SendError> {
        self.0.encapsulate(buffer, len).map_err(to_send_error)
    }

    fn encapsulated(&self, packet: &[u8]) -> Option<Range<usize>> {
        tunnelled(packet)
    }

    fn handle_outcome<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, outcome: &FrameOutcome) {
        let is_acknowledged = outcome.outcome == Outcome::Delivered;
        self.0.handle_outcome(cx, outcome.neighbour, is_acknowledged, outcome.attempts);
    }

    fn has_output(&self) -> bool {
        self.0.has_output()
    }

    fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        self.0.poll_transmit(cx, out.get_mut(..LONGEST_MESSAGE)?)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.poll_timeout()
    }

    fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.0.handle_timeout(cx);
    }
}

impl<K: Knowledge> New for RplRoot<K> {
    const NEW: Self = Self(Root::new());
}

impl<K: Knowledge> Router for RplRoot<K> {
    const READS: bool = true;

    fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        self.0.next_hop(destination)
    }

    fn takes(&self, destination: Ipv6Addr) -> bool {
        destination == ALL_RPL_NODES
    }

    fn room(&self) -> usize {
        LONGEST_ROUTE
    }

    fn comes_back(&self, packet: &[u8]) -> bool {
        has_forwarding_error(packet)
    }

    fn handle<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        (source, destination): (Ipv6Addr, Ipv6Addr),
        message: &[u8],
    ) -> bool {
        take_in(message, || self.0.handle(cx, source, destination, message))
    }

    fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        packet: &mut [u8],
    ) -> Result<Option<Eui64>, ForwardError> {
        self.0.forward(cx, from, packet).map(|()| None).map_err(to_forward_error)
    }
}

impl<K: Knowledge> Routing for RplRoot<K> {
    const ROUTES: bool = true;

    fn advertised(&self) -> Option<u32> {
        self.0.advertised()
    }

    fn advertise_to(&mut self, neighbour: &Eui64) -> bool {
        self.0.advertise_to(neighbour)
    }

    /// A source route goes around what IPsec has protected, in [`Routing::encapsulate`].
    fn originate(&self, buffer: &mut [u8], len: usize) -> Result<usize, SendError> {
        if K::MODE != ModeOfOperation::STORING {
            return Ok(len);
        }
        self.0.originate(buffer, len).map_err(to_send_error)
    }

    fn encapsulate(&self, buffer: &mut [u8], len: usize) -> Result<usize, SendError> {
        if self.0.has_option_down(buffer.get(..len).ok_or(SendError::NoRoom)?) {
            return Ok(len);
        }
        self.0.encapsulate(buffer, len).map_err(to_send_error)
    }

    fn encapsulated(&self, packet: &[u8]) -> Option<Range<usize>> {
        tunnelled(packet)
    }

    fn handle_outcome<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, outcome: &FrameOutcome) {
        let is_acknowledged = outcome.outcome == Outcome::Delivered;
        self.0.handle_outcome(cx, outcome.neighbour, is_acknowledged, outcome.attempts);
    }

    fn has_output(&self) -> bool {
        self.0.has_output()
    }

    fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        self.0.poll_transmit(out.get_mut(..LONGEST_MESSAGE)?)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.poll_timeout()
    }

    fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.0.handle_timeout(cx);
    }
}
