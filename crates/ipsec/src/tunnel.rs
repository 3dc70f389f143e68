//! The outer header of tunnel mode ([RFC 4301 section 5.1.2](https://www.rfc-editor.org/rfc/rfc4301#section-5.1.2)).

use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::{Header, next_header};

use crate::{InboundError, OutboundError, PacketBuffer};

/// The hop limit of packets made here; header compression elides this value.
const HOP_LIMIT: u8 = 64;

/// Puts an IPv6 header and then `n` bytes before the packet, and returns where these bytes begin. The traffic class is the packet's, congestion
/// notification included ([RFC 6040 section 4.1](https://www.rfc-editor.org/rfc/rfc6040#section-4.1)).
///
/// Hop-by-hop options are for the routers on the way, which see the outer header only. If this end of the tunnel has put them into the
/// packet, they move there.
pub(crate) fn encapsulate(
    buffer: &mut PacketBuffer<'_>,
    n: usize,
    local: &Ipv6Addr,
    remote: &Ipv6Addr,
) -> Result<Upper, OutboundError> {
    let (inner, payload) = Header::parse(buffer.packet()).map_err(|_| OutboundError::Malformed)?;
    let options = match *payload {
        [behind, length, ..] if inner.next_header == next_header::HOP_BY_HOP && inner.source == *local => {
            Some((behind, (usize::from(length) + 1) * 8))
        }
        _ => None,
    };
    buffer.insert(0, Header::LEN + n)?;
    let outer = Header {
        traffic_class: inner.traffic_class,
        flow_label: 0,
        payload_length: 0,
        next_header: if options.is_some() { next_header::HOP_BY_HOP } else { next_header::NONE },
        hop_limit: HOP_LIMIT,
        source: *local,
        destination: *remote,
    };
    let packet = buffer.packet_mut();
    outer.emit(packet).map_err(|_| OutboundError::NoRoom)?;
    let mut place = Upper { protocol: next_header::IPV6, at: Header::LEN, named_at: Header::NEXT_HEADER_AT };
    if let Some((behind, length)) = options {
        let (from, to) = (Header::LEN + n, Header::LEN + n + length);
        let both = packet.get_mut(from..to + Header::LEN).ok_or(OutboundError::HeaderChain)?;
        both.rotate_left(Header::LEN);
        packet.copy_within(from..to, Header::LEN);
        let payload_length =
            inner.payload_length.checked_sub(length as u16).ok_or(OutboundError::HeaderChain)?;
        let inner = Header { next_header: behind, payload_length, ..inner };
        inner.emit(packet.get_mut(to..).unwrap_or_default()).map_err(|_| OutboundError::Malformed)?;
        (place.at, place.named_at) = (Header::LEN + length, Header::LEN);
    }
    Ok(place)
}

/// Takes the packet at `payload` out of its tunnel, which must end at `local`, and moves it to where its outer header began. Returns its
/// length.
pub(crate) fn decapsulate(
    packet: &mut [u8],
    payload: Range<usize>,
    next_header: u8,
    local: &Ipv6Addr,
) -> Result<usize, InboundError> {
    let (outer, _) = Header::parse(packet).map_err(|_| InboundError::Malformed)?;
    if next_header != next_header::IPV6 {
        return Err(InboundError::NotTunnelled);
    }
    if outer.destination != *local {
        return Err(InboundError::TunnelEnd);
    }
    sixlock_ipv6::tunnel::decapsulate(packet, payload).map_err(|_| InboundError::InnerPacket)
}
