//! How control messages become packets.

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX};
use sixlock_ipv6::rpl::{ALL_RPL_NODES, Builder};
use sixlock_ipv6::{Error, Header};

use crate::prefix::MeshPrefix;

/// The hop limit of packets made here; one that header compression leaves out.
pub(crate) const HOP_LIMIT: u8 = 64;

/// The node whose address in the mesh of that prefix that is.
pub(crate) fn node_of(prefix: impl MeshPrefix, address: Ipv6Addr) -> Option<Eui64> {
    (address.octets()[..8] == prefix.get()?[..]).then(|| Eui64::of_address(address))
}

/// The neighbour whose address on the link that is.
pub(crate) fn neighbour_of(address: Ipv6Addr) -> Option<Eui64> {
    (address.octets()[..8] == LINK_LOCAL_PREFIX).then(|| Eui64::of_address(address))
}

/// Room for a packet, in whose header the addresses stand.
pub(crate) struct Addressed<'a> {
    header: &'a mut [u8; Header::LEN],
    body: &'a mut [u8],
}

/// Lets `write` write the addresses of a packet, from which it goes and to which, into its header. `None` if there is no room in `out`.
#[inline(always)]
fn addressed(out: &mut [u8], write: impl FnOnce(&mut [u8; 16], &mut [u8; 16])) -> Option<Addressed<'_>> {
    let (header, body) = out.split_first_chunk_mut::<{ Header::LEN }>()?;
    let [source, destination] = header.get_mut(Header::SOURCE_AT..)?.as_chunks_mut().0 else { return None };
    write(source, destination);
    Some(Addressed { header, body })
}

/// A packet on the link, from a node to a neighbour or to all that speak RPL. `None` if there is no room in `out`.
#[inline(never)]
pub(crate) fn on_link<'a>(
    out: &'a mut [u8],
    node: &Eui64,
    neighbour: Option<&Eui64>,
) -> Option<Addressed<'a>> {
    addressed(out, |source, to| {
        put_address(source, &LINK_LOCAL_PREFIX, node);
        match neighbour {
            Some(neighbour) => put_address(to, &LINK_LOCAL_PREFIX, neighbour),
            None => *to = ALL_RPL_NODES.octets(),
        }
    })
}

/// The same through the mesh, from a node to any destination.
pub(crate) fn in_mesh<'a>(
    out: &'a mut [u8],
    prefix: impl MeshPrefix,
    node: &Eui64,
    destination: &[u8; 16],
) -> Option<Addressed<'a>> {
    let prefix = prefix.get()?;
    addressed(out, |source, to| {
        put_address(source, prefix, node);
        *to = *destination;
    })
}

/// Writes the octets of the address that a node has with this prefix.
#[inline(never)]
pub(crate) fn put_address(out: &mut [u8; 16], prefix: &[u8; 8], node: &Eui64) {
    node.put_address(prefix, out);
}

/// Writes the packet with the control message that `message` writes; its length. `None` if there is no room.
pub(crate) fn write(
    packet: Option<Addressed<'_>>,
    message: impl FnOnce(&mut Builder<'_>) -> Result<(), Error>,
) -> Option<usize> {
    let Addressed { header, body } = packet?;
    let mut builder = Builder::empty(body);
    message(&mut builder).ok()?;
    builder.finish_packet(header, HOP_LIMIT)
}
