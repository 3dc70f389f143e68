//! What routers read in data packets, and put into and around them
//! ([RFC 6550 section 11.2](https://www.rfc-editor.org/rfc/rfc6550#section-11.2)).

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX};
use sixlock_ipv6::extension::Refusal;
use sixlock_ipv6::rpl::packet_information::{self, DOWN, FORWARDING_ERROR, HEADER, RANK_ERROR};
use sixlock_ipv6::rpl::{PacketInformation, source_route};
use sixlock_ipv6::{Header, next_header};

use crate::error::DataError;
use crate::output::HOP_LIMIT;
use crate::prefix::MeshPrefix;

/// Where a packet goes.
pub(crate) fn destination(packet: &[u8]) -> Option<Ipv6Addr> {
    Header::address_at(packet, Header::DESTINATION_AT).map(|destination| Ipv6Addr::from(*destination))
}

/// Whether a packet leaves no link, so that no router reads it.
pub(crate) fn stays_on_link(packet: &[u8]) -> bool {
    let destination = packet.get(Header::DESTINATION_AT..).unwrap_or_default();
    destination.first() == Some(&0xff) || destination.starts_with(&LINK_LOCAL_PREFIX)
}

/// Whether the address begins with the prefix of the mesh, or with that of links.
fn is_near(prefix: impl MeshPrefix, address: &[u8]) -> bool {
    prefix.get().is_some_and(|prefix| address.starts_with(prefix)) || address.starts_with(&LINK_LOCAL_PREFIX)
}

/// Whether the address is one of the node's, in the mesh or on the link.
#[inline(never)]
pub(crate) fn is_of(prefix: impl MeshPrefix, node: &Eui64, address: &[u8]) -> bool {
    is_near(prefix, address) && address.get(8..) == Some(&node.interface_id())
}

/// The node that a packet goes to, if it goes to one in the mesh or on the link.
pub(crate) fn node_at(prefix: impl MeshPrefix, packet: &[u8]) -> Option<Eui64> {
    let octets = Header::address_at(packet, Header::DESTINATION_AT)?;
    is_near(prefix, octets).then(|| Eui64::of_address(Ipv6Addr::from(*octets)))
}

/// Grows the packet that the first `len` bytes of `buffer` are by `room` bytes at `at`; what is new may be written.
fn grow(buffer: &mut [u8], len: usize, at: usize, room: usize) -> Option<&mut [u8]> {
    let payload_length = u16::try_from((len + room).checked_sub(Header::LEN)?).ok()?;
    let grown = buffer.get_mut(..len + room)?;
    grown.copy_within(at..len, at + room);
    let field = grown.get_mut(Header::PAYLOAD_LENGTH_AT..Header::NEXT_HEADER_AT)?;
    field.copy_from_slice(&payload_length.to_be_bytes());
    Some(grown)
}

/// Puts the option of the type `kind` into a packet of this host, into the hop-by-hop header that it has, or one of its own. Nothing of
/// the rest changes. The length then; `None` if there is no room. A packet that has the option stays as it is.
pub(crate) fn insert(
    buffer: &mut [u8],
    len: usize,
    kind: u8,
    information: PacketInformation,
) -> Option<usize> {
    const PAD_N: [u8; 2] = [1, 0];
    let packet = buffer.get(..len)?;
    if packet_information::find(packet).ok()?.is_some() {
        return Some(len);
    }
    let &next = packet.get(Header::NEXT_HEADER_AT)?;
    // In a header that is there, the option comes behind what the header begins with; and padding behind the option.
    let (at, next, units) = match (next, packet.get(Header::LEN..)) {
        (next_header::HOP_BY_HOP, Some(&[next, units, ..])) => (Header::LEN + 2, next, units.checked_add(1)?),
        _ => (Header::LEN, next, 0),
    };
    let grown = grow(buffer, len, at, HEADER)?;
    *grown.get_mut(Header::NEXT_HEADER_AT)? = next_header::HOP_BY_HOP;
    let (header, behind) = grown.get_mut(Header::LEN..)?.split_first_chunk_mut()?;
    *header = information.to_header(next, kind);
    header[1] = units;
    if at != Header::LEN {
        *behind.first_chunk_mut()? = PAD_N;
    }
    Some(len + HEADER)
}

/// Puts a header around a packet, from the router `source` to `destination`, and behind it `extension`, whose length is `room` and whose
/// next header is the kind that it is told. The length then; `None` if there is no room.
fn tunnel(
    buffer: &mut [u8],
    len: usize,
    (source, destination): (Ipv6Addr, Ipv6Addr),
    (kind, room): (u8, usize),
    extension: impl FnOnce(&mut [u8], u8) -> Option<()>,
) -> Option<usize> {
    let (inner, _) = Header::parse(buffer.get(..len)?).ok()?;
    let front = Header::LEN + room;
    let whole = buffer.get_mut(..len + front)?;
    whole.copy_within(..len, front);
    let outer = Header {
        flow_label: 0,
        payload_length: u16::try_from(len + room).ok()?,
        next_header: kind,
        hop_limit: HOP_LIMIT,
        source,
        destination,
        ..inner
    };
    outer.emit(whole).ok()?;
    extension(whole.get_mut(Header::LEN..front)?, next_header::IPV6)?;
    Some(whole.len())
}

/// Puts a header with the option around a packet.
pub(crate) fn tunnel_with_option(
    buffer: &mut [u8],
    len: usize,
    addresses: (Ipv6Addr, Ipv6Addr),
    kind: u8,
    information: PacketInformation,
) -> Option<usize> {
    tunnel(buffer, len, addresses, (next_header::HOP_BY_HOP, HEADER), |place, next| {
        place.copy_from_slice(&information.to_header(next, kind));
        Some(())
    })
}

/// Puts a header with nothing else around a packet.
pub(crate) fn tunnel_alone(buffer: &mut [u8], len: usize, addresses: (Ipv6Addr, Ipv6Addr)) -> Option<usize> {
    tunnel(buffer, len, addresses, (next_header::IPV6, 0), |_, _| Some(()))
}

/// Puts a header with a source route around a packet, from `source` over `first` and then `hops`.
pub(crate) fn tunnel_with_route(
    buffer: &mut [u8],
    len: usize,
    (source, first): (Ipv6Addr, Ipv6Addr),
    hops: impl Iterator<Item = Ipv6Addr> + Clone,
    most_left_out: u8,
) -> Option<usize> {
    let room = source_route::length(first, hops.clone(), most_left_out)?;
    tunnel(buffer, len, (source, first), (next_header::ROUTING, room), |place, next| {
        source_route::emit(place, next, first, hops, most_left_out).ok().map(drop)
    })
}

/// Whether a source route may go into a packet: it is one of `source`, which inserts the route, and nothing in it is protected or comes
/// before a route.
pub(crate) fn may_take_route(packet: &[u8], source: Ipv6Addr) -> bool {
    let is_own = Header::address_at(packet, Header::SOURCE_AT) == Some(&source.octets());
    let next = packet.get(Header::NEXT_HEADER_AT);
    is_own && matches!(next, Some(&(next_header::UDP | next_header::ICMPV6)))
}

/// Puts a source route into a packet, over `first` and then `hops`, the last of which is where it goes.
pub(crate) fn insert_route(
    buffer: &mut [u8],
    len: usize,
    first: Ipv6Addr,
    hops: impl Iterator<Item = Ipv6Addr> + Clone,
    most_left_out: u8,
) -> Option<usize> {
    let room = source_route::length(first, hops.clone(), most_left_out)?;
    let &next = buffer.get(Header::NEXT_HEADER_AT)?;
    let grown = grow(buffer, len, Header::LEN, room)?;
    let place = grown.get_mut(Header::LEN..Header::LEN + room)?;
    source_route::emit(place, next, first, hops, most_left_out).ok()?;
    *grown.get_mut(Header::NEXT_HEADER_AT)? = next_header::ROUTING;
    *grown.get_mut(Header::DESTINATION_AT..)?.first_chunk_mut()? = first.octets();
    Some(grown.len())
}

/// What a router knows of itself when a packet comes.
#[derive(Clone, Copy)]
pub(crate) struct Here {
    pub(crate) instance: u8,
    /// Its rank, and the integer part of ranks by the DODAG's configuration.
    pub(crate) rank: u16,
    pub(crate) min_hop_rank_increase: u16,
}

/// Where the option of a packet stands, and its flags.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    at: usize,
    pub(crate) flags: u8,
}

impl Found {
    /// Writes the flags into the packet, and that it comes from a router of that rank.
    pub(crate) fn write(&self, packet: &mut [u8], rank: u16) {
        if let Some([flags, _, high, low]) = packet.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut) {
            *flags = self.flags;
            [*high, *low] = rank.to_be_bytes();
        }
    }
}

/// Reads the option of a packet, and notes if the packet goes in the wrong direction: the first time that is tolerated, the second
/// time the packet is dropped ([RFC 6550 section 11.2.2.2](https://www.rfc-editor.org/rfc/rfc6550#section-11.2.2.2)).
pub(crate) fn check(packet: &[u8], here: Here) -> Result<Option<Found>, DataError> {
    let Some(at) = packet_information::find(packet).map_err(|_| DataError::Malformed)? else {
        return Ok(None);
    };
    let bytes = packet.get(at..).and_then(<[u8]>::first_chunk).ok_or(DataError::Malformed)?;
    let &[flags, instance, high, low] = bytes;
    let mut flags = flags & (DOWN | RANK_ERROR | FORWARDING_ERROR);
    if instance != here.instance {
        return Err(DataError::Instance);
    }
    let integer = |rank| crate::rank::dag_rank(rank, here.min_hop_rank_increase);
    let (sender, own) = (integer(u16::from_be_bytes([high, low])), integer(here.rank));
    let is_wrong = if flags & DOWN != 0 { sender >= own } else { sender <= own };
    // One that was sent back comes from below on its way down.
    if is_wrong && flags & FORWARDING_ERROR == 0 {
        if flags & RANK_ERROR != 0 {
            return Err(DataError::Rank);
        }
        flags |= RANK_ERROR;
    }
    Ok(Some(Found { at, flags }))
}

/// Follows the source route of a packet for the node `own`; whether it has one that goes on.
pub(crate) fn follow(packet: &mut [u8], prefix: impl MeshPrefix, own: &Eui64) -> Result<bool, DataError> {
    let followed = source_route::advance(packet, |address| is_of(prefix, own, &address.octets()));
    followed.map_err(|refusal| match refusal {
        Refusal::Silent => DataError::Malformed,
        Refusal::Problem { pointer, .. } => DataError::SourceRoute { pointer },
    })
}
