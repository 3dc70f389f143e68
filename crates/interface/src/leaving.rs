//! Where packets go, and what policy says about them.

use sixlock_base::{Cx, Entropy, Nv};
use sixlock_ipv6::Header;
use sixlock_net::{Net, NextHop, rpl};

use crate::Protection;

/// Where the packet goes.
pub(crate) fn next_hop_of<const ROUTES: usize>(net: &Net<ROUTES>, packet: &[u8]) -> Option<NextHop> {
    Header::parse(packet).ok().and_then(|(header, _)| net.next_hop(header.destination))
}

/// Whether a packet on its way through this host may pass as it is: policy is asked where this host protects for others. Its own
/// answers meet policy when they are sent.
pub(crate) fn passes<C, E, N, P: Protection<C>, const ROUTES: usize>(
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
pub(crate) fn protect<C, E: Entropy, N: Nv, P: Protection<C>, const ROUTES: usize>(
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
    let is_own = net.is_own(header.source);
    let meets_policy = match protection.is_for_others() {
        true => next_hop != NextHop::External,
        false => is_own,
    };
    if !meets_policy {
        return Some((next_hop, len));
    }
    let is_marked = is_own && protection.is_in_rpl() && next_hop != NextHop::External;
    let len = if is_marked { rpl::mark(buffer, len)? } else { len };
    let len = protection.outbound_in(cx, buffer, len).ok()?;
    let next_hop = if P::REROUTES { next_hop_of(net, buffer.get(..len)?)? } else { next_hop };
    Some((next_hop, len))
}
