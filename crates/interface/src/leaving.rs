//! Where packets go, and what policy says about them.

use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, Nv};
use sixlock_ipv6::Header;
use sixlock_net::{Discovery, Net, NextHop, Router, SendError};

use crate::routing::Routing;
use crate::security::NetworkSecurity;

/// Where the packet goes.
pub(crate) fn next_hop_of<R: Router, D: Discovery>(net: &Net<R, D>, packet: &[u8]) -> Option<NextHop> {
    let destination = Header::address_at(packet, Header::DESTINATION_AT)?;
    net.next_hop(Ipv6Addr::from(*destination))
}

/// Whether a packet on its way through this host may pass as it is: policy is asked where this host protects for others. Its own
/// answers meet policy when they are sent.
pub(crate) fn passes<C, E, N, S: NetworkSecurity<C>, R: Router, D: Discovery>(
    net: &Net<R, D>,
    security: &mut S,
    cx: &mut Cx<'_, C, E, N>,
    packet: &[u8],
) -> bool {
    !security.is_for_others()
        || Header::parse(packet).is_ok_and(|(header, _)| net.is_own(header.source))
        || security.admits(cx, packet)
}

/// Makes the packet that the first `len` bytes of `buffer` are ready to leave for `next_hop`: what routers read goes into it, if it is
/// this host's and goes into the mesh; and it is protected, if policy demands it, and it is this host's, or goes into the mesh and this host
/// protects for others. Returns where it goes then, and its length; what finds no room in the buffer is counted.
pub(crate) fn prepare<C, E: Entropy, N: Nv, S: NetworkSecurity<C>, R: Routing, D: Discovery>(
    net: &Net<R, D>,
    security: &mut S,
    cx: &mut Cx<'_, C, E, N>,
    buffer: &mut [u8],
    len: usize,
    next_hop: NextHop,
) -> Option<(NextHop, usize)> {
    if !S::PROTECTS && !R::ROUTES {
        return Some((next_hop, len));
    }
    let source = Ipv6Addr::from(*Header::address_at(buffer, Header::SOURCE_AT)?);
    let (is_own, is_inside) = (net.is_own(source), next_hop != NextHop::External);
    let is_routed = is_own && is_inside && !net.is_registered(buffer);
    let len = match is_routed {
        true => {
            net.router().originate(buffer, len).map_err(|error| cx.counters.count(counter_of(error))).ok()?
        }
        false => len,
    };
    let meets_policy = if security.is_for_others() { is_inside } else { is_own };
    if !S::PROTECTS || !meets_policy {
        return Some((next_hop, len));
    }
    let len = security.outbound_in(cx, buffer, len).ok()?;
    let next_hop = if S::REROUTES { next_hop_of(net, buffer.get(..len)?)? } else { next_hop };
    Some((next_hop, len))
}

/// What counts a packet that cannot be made ready to leave.
pub(crate) fn counter_of(error: SendError) -> Counter {
    match error {
        SendError::NoRoute => Counter::Ipv6NoRoute,
        _ => Counter::Ipv6TooBig,
    }
}

/// Puts around a packet that is ready to leave for a neighbour what it needs on its way. Returns its length then.
pub(crate) fn surround<R: Routing, D: Discovery>(
    net: &Net<R, D>,
    buffer: &mut [u8],
    len: usize,
) -> Result<usize, SendError> {
    // No router but this one is on the way to a neighbour that is registered here.
    match R::ROUTES && !net.is_registered(buffer) {
        true => net.router().encapsulate(buffer, len),
        false => Ok(len),
    }
}
