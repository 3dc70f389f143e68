//! How messages become packets.

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX};
use sixlock_ipv6::nd::Builder;
use sixlock_ipv6::{Error, Header};

/// The hop limit of messages that routers send on ([RFC 6775 section 9](https://www.rfc-editor.org/rfc/rfc6775#section-9)).
pub(super) const MULTIHOP_HOP_LIMIT: u8 = 64;

/// A packet that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Its length.
    pub len: usize,
    /// The neighbour that it goes to, or all of them; `None` if it goes where routes lead.
    pub neighbour: Option<Eui64>,
}

pub(super) fn link_local(node: Eui64) -> Ipv6Addr {
    node.with_prefix(LINK_LOCAL_PREFIX)
}

pub(super) fn is_link_local(address: &Ipv6Addr) -> bool {
    address.octets()[..8] == LINK_LOCAL_PREFIX
}

/// Writes a packet with the message that `message` writes to `out`, from the address that a node has with a prefix; its length. `None`
/// if there is no room.
pub(super) fn write(
    out: &mut [u8],
    (prefix, node): (&[u8; 8], &Eui64),
    destination: &Ipv6Addr,
    hop_limit: u8,
    message: impl FnOnce(&mut Builder<'_>) -> Result<(), Error>,
) -> Option<usize> {
    let (front, body) = out.split_at_mut_checked(Header::LEN)?;
    let mut builder = Builder::empty(body);
    message(&mut builder).ok()?;
    finish(front, builder, hop_limit, (prefix, node), destination)
}

#[inline(never)]
fn finish(
    front: &mut [u8],
    builder: Builder<'_>,
    hop_limit: u8,
    (prefix, node): (&[u8; 8], &Eui64),
    destination: &Ipv6Addr,
) -> Option<usize> {
    let header = front.first_chunk_mut::<{ Header::LEN }>()?;
    let [source, to] = header.get_mut(Header::SOURCE_AT..)?.as_chunks_mut().0 else { return None };
    node.put_address(prefix, source);
    *to = destination.octets();
    builder.finish_packet(header, hop_limit)
}
