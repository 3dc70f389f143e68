//! How control messages become packets.

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX, MESH_PREFIX};
use sixlock_ipv6::rpl::{ALL_RPL_NODES, Builder, Message};
use sixlock_ipv6::{Error, Header, icmpv6};

/// The hop limit of packets made here; one that header compression leaves out.
pub(crate) const HOP_LIMIT: u8 = 64;

pub(crate) fn link_local(node: Eui64) -> Ipv6Addr {
    node.with_prefix(LINK_LOCAL_PREFIX)
}

/// The address of a node in the mesh.
pub(crate) fn global(node: Eui64) -> Ipv6Addr {
    node.with_prefix(MESH_PREFIX)
}

/// The node whose address in the mesh that is.
pub(crate) fn node_of(address: Ipv6Addr) -> Option<Eui64> {
    (address.octets()[..8] == MESH_PREFIX).then(|| Eui64::of_address(address))
}

/// The neighbour whose address on the link that is.
pub(crate) fn neighbour_of(address: Ipv6Addr) -> Option<Eui64> {
    (address.octets()[..8] == LINK_LOCAL_PREFIX).then(|| Eui64::of_address(address))
}

/// The addresses of a packet on the link, from a node to a neighbour or to all that speak RPL.
#[inline(never)]
pub(crate) fn on_link(node: Eui64, neighbour: Option<Eui64>) -> (Ipv6Addr, Ipv6Addr) {
    (link_local(node), neighbour.map_or(ALL_RPL_NODES, link_local))
}

/// Writes a packet with a control message to `out`; its length. `None` if there is no room.
// Of those that a device writes, each knows its kind.
#[inline(always)]
pub(crate) fn write(
    out: &mut [u8],
    addresses: &(Ipv6Addr, Ipv6Addr),
    message: &Message,
    options: impl FnOnce(&mut Builder<'_>) -> Result<(), Error>,
) -> Option<usize> {
    let (front, body) = out.split_at_mut_checked(Header::LEN)?;
    let mut builder = Builder::new(body, message).ok()?;
    options(&mut builder).ok()?;
    finish(front, builder, addresses)
}

#[inline(never)]
fn finish(
    front: &mut [u8],
    builder: Builder<'_>,
    &(source, destination): &(Ipv6Addr, Ipv6Addr),
) -> Option<usize> {
    let length = builder.finish(source, destination);
    icmpv6::emit_packet_header(front, length, HOP_LIMIT, (source, destination))
}
