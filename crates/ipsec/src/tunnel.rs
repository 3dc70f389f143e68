//! The outer header of tunnel mode ([RFC 4301 section 5.1.2](https://www.rfc-editor.org/rfc/rfc4301#section-5.1.2)).

use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::{Header, next_header};

use crate::{InboundError, OutboundError, Room};

/// The hop limit of packets made here; one that header compression leaves out.
const HOP_LIMIT: u8 = 64;

/// Where AH and ESP stand behind the outer header, and what is in them.
pub(crate) const PLACE: Upper =
    Upper { protocol: next_header::IPV6, at: Header::LEN, named_at: Header::NEXT_HEADER_AT };

/// The bits of the traffic class that notify of congestion, and that say so.
const CONGESTION: u8 = 3;

/// Puts an IPv6 header and `n` bytes behind it before the packet. The traffic class is the packet's, congestion
/// notification included ([RFC 6040 section 4.1](https://www.rfc-editor.org/rfc/rfc6040#section-4.1)).
pub(crate) fn encapsulate(
    room: &mut Room<'_>,
    n: usize,
    local: &Ipv6Addr,
    remote: &Ipv6Addr,
) -> Result<(), OutboundError> {
    let (inner, _) = Header::parse(room.packet()).map_err(|_| OutboundError::Malformed)?;
    room.open(0, Header::LEN + n)?;
    let outer = Header {
        traffic_class: inner.traffic_class,
        flow_label: 0,
        payload_length: 0,
        next_header: next_header::NONE,
        hop_limit: HOP_LIMIT,
        source: *local,
        destination: *remote,
    };
    outer.emit(room.packet_mut()).map_err(|_| OutboundError::NoRoom)
}

/// Takes the packet at `payload` out of its tunnel, which must end at `local`: it begins where its outer header did. Its
/// length.
pub(crate) fn decapsulate(
    packet: &mut [u8],
    payload: Range<usize>,
    next_header: u8,
    local: &Ipv6Addr,
) -> Result<usize, InboundError> {
    let (outer, _) = Header::parse(packet).map_err(|_| InboundError::Malformed)?;
    if next_header != next_header::IPV6 || outer.destination != *local {
        return Err(InboundError::PolicyViolated);
    }
    let len = payload.len();
    packet.copy_within(payload, 0);
    let inner = packet.get_mut(..len).ok_or(InboundError::Malformed)?;
    // Behind the inner packet there may be padding that hides how long it is.
    let len = Header::LEN + Header::parse(inner).map_err(|_| InboundError::Malformed)?.1.len();
    if tell(outer.traffic_class, inner) { Ok(len) } else { Err(InboundError::Malformed) }
}

/// Tells the packet `inner` about congestion that its outer header, with this traffic class, met; false if it cannot
/// be told and is to be dropped ([RFC 6040 section 4.2](https://www.rfc-editor.org/rfc/rfc6040#section-4.2)).
fn tell(outer: u8, inner: &mut [u8]) -> bool {
    const NOT_CAPABLE: u8 = 0;
    const CAPABLE_1: u8 = 1;
    const CAPABLE_0: u8 = 2;
    const EXPERIENCED: u8 = 3;
    let Some(field) = inner.get_mut(1) else { return false };
    // The traffic class's last two bits.
    let notification = match (*field >> 4 & CONGESTION, outer & CONGESTION) {
        (NOT_CAPABLE, EXPERIENCED) => return false,
        (CAPABLE_0 | CAPABLE_1, EXPERIENCED) => EXPERIENCED,
        (CAPABLE_0, CAPABLE_1) => CAPABLE_1,
        (same, _) => same,
    };
    *field = *field & !(CONGESTION << 4) | notification << 4;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn congestion_is_told_as_rfc_6040_has_it() {
        // Rows by the inner notification (none, ECT(0), ECT(1), CE), columns by the outer one, as in figure 4.
        let figure = [
            (0b00, [Some(0b00), Some(0b00), Some(0b00), None]),
            (0b10, [Some(0b10), Some(0b10), Some(0b01), Some(0b11)]),
            (0b01, [Some(0b01), Some(0b01), Some(0b01), Some(0b11)]),
            (0b11, [Some(0b11), Some(0b11), Some(0b11), Some(0b11)]),
        ];
        for (inner, row) in figure {
            for (outer, expected) in [0b00, 0b10, 0b01, 0b11].into_iter().zip(row) {
                let mut packet = [0x6a, 0x8f | inner << 4];
                let told = tell(0x28 | outer, &mut packet);
                assert_eq!(told.then_some(packet[1] >> 4 & 3), expected, "{inner:02b} in {outer:02b}");
                assert_eq!((packet[0], packet[1] & 0xcf), (0x6a, 0x8f), "the rest stays");
            }
        }
    }
}
