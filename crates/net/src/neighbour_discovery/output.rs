//! How messages become packets.

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX};
use sixlock_ipv6::nd::{Builder, LinkLayerAddress, Message};
use sixlock_ipv6::{Error, Header, icmpv6};

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

pub(super) fn is_link_local(address: Ipv6Addr) -> bool {
    address.octets()[..8] == LINK_LOCAL_PREFIX
}

pub(super) fn link_layer_address(node: Eui64) -> LinkLayerAddress {
    LinkLayerAddress::Extended(node.0)
}

/// Writes a packet with a message to `out`; its length. `None` if there is no room.
pub(super) fn write(
    out: &mut [u8],
    (source, destination): (Ipv6Addr, Ipv6Addr),
    hop_limit: u8,
    message: &Message,
    options: impl FnOnce(&mut Builder<'_>) -> Result<(), Error>,
) -> Option<usize> {
    let (front, body) = out.split_at_mut_checked(Header::LEN)?;
    let mut builder = Builder::new(body, message).ok()?;
    options(&mut builder).ok()?;
    let length = builder.finish(source, destination);
    icmpv6::emit_packet_header(front, length, hop_limit, (source, destination))
}
