//! Compressed next headers ([RFC 6282 section 4](https://www.rfc-editor.org/rfc/rfc6282#section-4)).

use crate::cursor::{Reader, Writer};

/// The first bits of a compressed extension header's NHC byte: 1110, EID, NH.
pub(crate) const EXTENSION: u8 = 0b1110_0000;
pub(crate) const EXTENSION_MASK: u8 = 0b1111_0000;
/// NH: the next header is compressed, too.
pub(crate) const NEXT_HEADER_COMPRESSED: u8 = 1;
/// The extension header id of AH and ESP, one of the two reserved ones.
pub(crate) const EID_IPSEC: u8 = 5;
/// The extension header id of an IPv6 header.
pub(crate) const EID_IPV6: u8 = 7;

/// The first bits of a compressed UDP header's NHC byte: 11110, C, P.
pub(crate) const UDP: u8 = 0b1111_0000;
pub(crate) const UDP_MASK: u8 = 0b1111_1000;
pub(crate) const UDP_CHECKSUM_ELIDED: u8 = 1 << 2;

/// The same where the payload is compressed, too: by Lithe, and by GHC.
pub(crate) const UDP_LITHE: u8 = 0b1101_1000;
pub(crate) const UDP_GHC: u8 = 0b1101_0000;
/// The byte before a message of ICMPv6 that is compressed by GHC.
pub(crate) const ICMPV6_GHC: u8 = 0b1101_1111;
/// The first bits before an extension header that is compressed by GHC: 10110, EID, NH.
pub(crate) const EXTENSION_GHC: u8 = 0b1011_0000;
pub(crate) const EXTENSION_GHC_MASK: u8 = 0b1111_1000;

/// Whether the byte announces a payload that is compressed by Lithe. What would elide the checksum and most of both ports is
/// RFC 7400's.
pub(crate) fn is_udp_lithe(nhc: u8) -> bool {
    nhc & UDP_MASK == UDP_LITHE && nhc != ICMPV6_GHC
}

/// Whether the byte announces something that is compressed by GHC.
pub(crate) fn is_ghc(nhc: u8) -> bool {
    nhc == ICMPV6_GHC || nhc & UDP_MASK == UDP_GHC || nhc & EXTENSION_GHC_MASK == EXTENSION_GHC
}

/// Length of a UDP header in bytes.
pub(crate) const UDP_LEN: usize = 8;
/// Where its length stands.
pub(crate) const UDP_LENGTH_AT: usize = 4;

/// Next header numbers.
pub(crate) mod protocol {
    pub(crate) const HOP_BY_HOP: u8 = 0;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const IPV6: u8 = 41;
    pub(crate) const ROUTING: u8 = 43;
    pub(crate) const FRAGMENT: u8 = 44;
    pub(crate) const ESP: u8 = 50;
    pub(crate) const AH: u8 = 51;
    pub(crate) const ICMPV6: u8 = 58;
    pub(crate) const DESTINATION: u8 = 60;
    pub(crate) const MOBILITY: u8 = 135;
}

/// Extension headers by their id.
const EXTENSIONS: [u8; 5] =
    [protocol::HOP_BY_HOP, protocol::ROUTING, protocol::FRAGMENT, protocol::DESTINATION, protocol::MOBILITY];

/// The id of the extension header `protocol`.
pub(crate) fn extension_id(protocol: u8) -> Option<u8> {
    EXTENSIONS.iter().position(|&known| known == protocol).map(|id| id as u8)
}

/// The extension header with `id`.
pub(crate) fn extension_protocol(id: u8) -> Option<u8> {
    EXTENSIONS.get(usize::from(id)).copied()
}

/// Compresses a UDP header, whose length the receiver computes
/// ([RFC 6282 section 4.3](https://www.rfc-editor.org/rfc/rfc6282#section-4.3)). The checksum is always carried. The first bits of
/// the byte are those of `udp`.
pub(crate) fn emit_udp(udp: u8, header: &[u8; UDP_LEN], out: &mut Writer<'_>) {
    let &[s0, s1, d0, d1, _, _, checksum @ ..] = header;
    match (s0, d0) {
        (0xf0, 0xf0) if s1 & 0xf0 == 0xb0 && d1 & 0xf0 == 0xb0 => out.put(&[udp | 3, s1 << 4 | d1 & 0x0f]),
        (0xf0, _) => out.put(&[udp | 2, s1, d0, d1]),
        (_, 0xf0) => out.put(&[udp | 1, s0, s1, d1]),
        _ => out.put(&[udp, s0, s1, d0, d1]),
    }
    out.put(&checksum);
}

/// A decompressed UDP header; its length, and its checksum if it was elided, are still zero.
pub(crate) struct Udp {
    pub(crate) header: [u8; UDP_LEN],
    pub(crate) checksum_elided: bool,
}

/// Decompresses the UDP header after its NHC byte.
pub(crate) fn parse_udp(nhc: u8, reader: &mut Reader<'_>) -> Udp {
    let [s0, s1, d0, d1] = match nhc & 3 {
        0 => reader.array(),
        1 => {
            let [s0, s1, d1] = reader.array();
            [s0, s1, 0xf0, d1]
        }
        2 => {
            let [s1, d0, d1] = reader.array();
            [0xf0, s1, d0, d1]
        }
        _ => {
            let ports = reader.byte();
            [0xf0, 0xb0 | ports >> 4, 0xf0, 0xb0 | ports & 0x0f]
        }
    };
    let checksum_elided = nhc & UDP_CHECKSUM_ELIDED != 0;
    let [c0, c1] = if checksum_elided { [0; 2] } else { reader.array() };
    Udp { header: [s0, s1, d0, d1, 0, 0, c0, c1], checksum_elided }
}

/// Length of the padding option at the end of `options` that a receiver restores by itself: one of at
/// most 7 bytes, of zeros.
pub(crate) fn trailing_padding(options: &[u8]) -> usize {
    let mut rest = options;
    while let [kind, behind @ ..] = rest {
        let length = match (kind, behind) {
            (0, _) => 1,
            (_, [length, ..]) => 2 + usize::from(*length),
            (_, []) => return 0,
        };
        if rest.len() == length {
            let zeros = rest.iter().skip(2).all(|&byte| byte == 0);
            return if *kind <= 1 && length <= 7 && zeros { length } else { 0 };
        }
        let Some(next) = rest.get(length..) else { return 0 };
        rest = next;
    }
    0
}

/// The padding option of `n` bytes, at most 7.
pub(crate) fn padding(n: usize) -> &'static [u8] {
    match n {
        1 => &[0],
        2 => &[1, 0],
        3 => &[1, 1, 0],
        4 => &[1, 2, 0, 0],
        5 => &[1, 3, 0, 0, 0],
        6 => &[1, 4, 0, 0, 0, 0],
        7 => &[1, 5, 0, 0, 0, 0, 0],
        _ => &[],
    }
}
