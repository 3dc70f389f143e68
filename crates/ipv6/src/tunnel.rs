//! The end of a tunnel: a packet that stands in another one.

use core::ops::Range;

use crate::{Error, Header};

/// The bits of the traffic class that notify of congestion, and that say so.
const CONGESTION: u8 = 3;

/// Takes the packet at `inner` in `packet` out of it: it begins where its outer header did. Its length.
///
/// What its outer header tells about congestion that it met, it tells from now on itself; an error if it cannot, and is to be dropped
/// ([RFC 6040 section 4.2](https://www.rfc-editor.org/rfc/rfc6040#section-4.2)).
pub fn decapsulate(packet: &mut [u8], inner: Range<usize>) -> Result<usize, Error> {
    let (outer, _) = Header::parse(packet)?;
    // Behind the inner packet there may be padding that hides how long it is.
    let (_, payload) = Header::parse(packet.get(inner.clone()).ok_or(Error::Truncated)?)?;
    let len = Header::LEN + payload.len();
    packet.copy_within(inner.start..inner.start + len, 0);
    if tell(outer.traffic_class, packet) { Ok(len) } else { Err(Error::Congestion) }
}

/// Tells the packet `inner` about congestion that its outer header, with this traffic class, met; false if it cannot be told.
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
