//! Where packets go, and what policy says about them.

use sixlock_base::{Array, Cx, Entropy, Nv};
use sixlock_ipv6::Header;
use sixlock_net::{Net, NextHop, Route};

use crate::routing::Routing;
use crate::security::NetworkSecurity;

/// Where the packet goes.
pub(crate) fn next_hop_of<R: Array<Route>>(net: &Net<R>, packet: &[u8]) -> Option<NextHop> {
    Header::parse(packet).ok().and_then(|(header, _)| net.next_hop(header.destination))
}

/// Whether a packet on its way through this host may pass as it is: policy is asked where this host protects for others. Its own
/// answers meet policy when they are sent.
pub(crate) fn passes<C, E, N, S: NetworkSecurity<C>, R: Array<Route>>(
    net: &Net<R>,
    security: &mut S,
    cx: &mut Cx<'_, C, E, N>,
    packet: &[u8],
) -> bool {
    !security.is_for_others()
        || Header::parse(packet).is_ok_and(|(header, _)| net.is_own(header.source))
        || security.admits(cx, packet)
}

/// Puts what routers read into the packet that the first `len` bytes of `buffer` are, if it is this host's and goes into the mesh,
/// and protects it, if policy demands it, and it is this host's, or goes into the mesh and this host protects for others. Returns
/// where it goes then, and its length.
pub(crate) fn protect<C, E: Entropy, N: Nv, S: NetworkSecurity<C>, W: Routing, R: Array<Route>>(
    (net, routing): (&Net<R>, &W),
    security: &mut S,
    cx: &mut Cx<'_, C, E, N>,
    buffer: &mut [u8],
    len: usize,
    next_hop: NextHop,
) -> Option<(NextHop, usize)> {
    if !S::PROTECTS && !W::ROUTES {
        return Some((next_hop, len));
    }
    let (header, _) = Header::parse(buffer.get(..len)?).ok()?;
    let (is_own, is_inside) = (net.is_own(header.source), next_hop != NextHop::External);
    let len = if is_own && is_inside { routing.originate(buffer, len)? } else { len };
    let meets_policy = if security.is_for_others() { is_inside } else { is_own };
    if !S::PROTECTS || !meets_policy {
        return Some((next_hop, len));
    }
    let len = security.outbound_in(cx, buffer, len).ok()?;
    let next_hop = if S::REROUTES { next_hop_of(net, buffer.get(..len)?)? } else { next_hop };
    Some((next_hop, len))
}
