//! The header of UDP compressed by itself ([RFC 6282 section 4.3](https://www.rfc-editor.org/rfc/rfc6282#section-4.3)), for
//! protocols that carry it.

use crate::Error;
use crate::cursor::{Reader, Writer};
use crate::nhc::{self, UDP, UDP_CHECKSUM_ELIDED, UDP_LEN, UDP_MASK};

/// The most bytes that a compressed header has.
pub const MAX: usize = 7;

/// Compresses a header, whose length field the receiver computes; with `elide_checksum` the checksum too. Returns the length
/// of what it has become.
pub fn compress(header: &[u8; UDP_LEN], elide_checksum: bool, out: &mut [u8; MAX]) -> usize {
    let mut writer = Writer::new(out);
    nhc::emit_udp(UDP, header, &mut writer);
    let length = writer.at();
    if !elide_checksum {
        return length;
    }
    out[0] |= UDP_CHECKSUM_ELIDED;
    // It stands at the end.
    length - 2
}

/// A header that was restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The header; its length is zero, and its checksum if it was elided.
    pub header: [u8; UDP_LEN],
    /// Whether the checksum was elided.
    pub checksum_elided: bool,
    /// How many bytes the compressed header had.
    pub consumed: usize,
}

/// Restores the header that `bytes` begin with.
pub fn decompress(bytes: &[u8]) -> Result<Restored, Error> {
    let mut reader = Reader::new(bytes);
    let nhc = reader.byte();
    reader.consumed()?;
    if nhc & UDP_MASK != UDP {
        return Err(Error::UnknownNextHeader);
    }
    let nhc::Udp { header, checksum_elided } = nhc::parse_udp(nhc, &mut reader);
    Ok(Restored { header, checksum_elided, consumed: reader.consumed()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_becomes_what_rfc_6282_has() {
        for (header, elided, expected) in [
            (
                [0x16, 0x33, 0x16, 0x33, 0, 20, 0xab, 0xcd],
                false,
                &[0xf0, 0x16, 0x33, 0x16, 0x33, 0xab, 0xcd][..],
            ),
            ([0x16, 0x33, 0x16, 0x33, 0, 20, 0xab, 0xcd], true, &[0xf4, 0x16, 0x33, 0x16, 0x33]),
            ([0x16, 0x33, 0xf0, 0x01, 0, 20, 0xab, 0xcd], true, &[0xf5, 0x16, 0x33, 0x01]),
            ([0xf0, 0xb1, 0xf0, 0xb2, 0, 20, 0xab, 0xcd], true, &[0xf7, 0x12]),
        ] {
            let mut out = [0; MAX];
            let length = compress(&header, elided, &mut out);
            assert_eq!(&out[..length], expected);
        }
        assert_eq!(decompress(&[]), Err(Error::Truncated));
        assert_eq!(decompress(&[0xf7]), Err(Error::Truncated));
        assert_eq!(decompress(&[0xe0, 0, 0, 0, 0, 0, 0]), Err(Error::UnknownNextHeader));
    }

    proptest! {
        #[test]
        fn a_header_survives(mut header: [u8; UDP_LEN], short: bool, elided: bool) {
            if short {
                (header[0], header[2]) = (0xf0, 0xf0);
            }
            let mut out = [0; MAX];
            let length = compress(&header, elided, &mut out);
            let restored = decompress(&out[..length]).unwrap();
            prop_assert_eq!((restored.consumed, restored.checksum_elided), (length, elided));
            prop_assert_eq!(&restored.header[..4], &header[..4]);
            let rest = if elided { [0; 4] } else { [0, 0, header[6], header[7]] };
            prop_assert_eq!(&restored.header[4..], &rest);
        }
    }
}
