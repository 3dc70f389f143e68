//! The fragment header ([RFC 8200 section 4.5](https://www.rfc-editor.org/rfc/rfc8200#section-4.5)).

use crate::Error;

/// A fragment header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The protocol of what was taken apart.
    pub next_header: u8,
    /// Where in it this fragment begins, in bytes; always a multiple of 8.
    pub offset: u16,
    /// Whether more comes behind.
    pub more: bool,
    /// What fragments of one packet have in common.
    pub identification: u32,
}

impl Header {
    /// Its length in bytes.
    pub const LEN: usize = 8;

    /// Parses the header at the start of `bytes`; returns it and what is behind.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (&[next_header, _, high, low, i0, i1, i2, i3], rest) =
            bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let header = Self {
            next_header,
            offset: u16::from_be_bytes([high, low & 0xf8]),
            more: low & 1 == 1,
            identification: u32::from_be_bytes([i0, i1, i2, i3]),
        };
        Ok((header, rest))
    }

    /// Writes the header to the start of `bytes`; the last three bits of the offset are not carried.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let [high, low] = self.offset.to_be_bytes();
        let [i0, i1, i2, i3] = self.identification.to_be_bytes();
        *bytes.first_chunk_mut().ok_or(Error::Truncated)? =
            [self.next_header, 0, high, low & 0xf8 | u8::from(self.more), i0, i1, i2, i3];
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_fields_stand_where_the_rfc_has_them() {
        let header = Header { next_header: 17, offset: 1232, more: true, identification: 0x0102_0304 };
        let mut bytes = [0xff; 9];
        header.emit(&mut bytes).unwrap();
        assert_eq!(bytes, [17, 0, 0x04, 0xd1, 1, 2, 3, 4, 0xff]);
        // Reserved bits are ignored.
        bytes[1] = 0xff;
        bytes[3] |= 6;
        assert_eq!(Header::parse(&bytes), Ok((header, &[0xff][..])));
        assert_eq!(Header::parse(&bytes[..7]), Err(Error::Truncated));
        assert_eq!(header.emit(&mut bytes[..7]), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            next_header: u8, units in 0u16..0x2000, more: bool, identification: u32,
        ) {
            let header = Header { next_header, offset: units * 8, more, identification };
            let mut bytes = [0; Header::LEN];
            header.emit(&mut bytes).unwrap();
            prop_assert_eq!(Header::parse(&bytes), Ok((header, &[][..])));
        }
    }
}
