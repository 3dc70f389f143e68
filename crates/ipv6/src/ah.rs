//! The authentication header ([RFC 4302 section 2](https://www.rfc-editor.org/rfc/rfc4302#section-2)).

use crate::Error;

/// The fields of an authentication header before its ICV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What follows the header.
    pub next_header: u8,
    /// The security parameters index.
    pub spi: u32,
    /// The sequence number, or its low half if it is extended.
    pub sequence: u32,
}

impl Header {
    /// Length of the fields in bytes.
    pub const LEN: usize = 12;

    /// Splits the header at the start of `bytes` into its fields and its ICV with the padding behind it.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let &[next_header, length, _, _, s0, s1, s2, s3, n0, n1, n2, n3] =
            bytes.first_chunk().ok_or(Error::Truncated)?;
        let length = (usize::from(length) + 2) * 4;
        if length < Self::LEN {
            return Err(Error::Length);
        }
        let icv = bytes.get(Self::LEN..length).ok_or(Error::Truncated)?;
        let spi = u32::from_be_bytes([s0, s1, s2, s3]);
        Ok((Self { next_header, spi, sequence: u32::from_be_bytes([n0, n1, n2, n3]) }, icv))
    }

    /// Writes the header to `out`, which it fills with an ICV of zeros: its length is a multiple of four.
    pub fn emit(self, out: &mut [u8]) -> Result<(), Error> {
        let units = match out.len() {
            length if length % 4 == 0 => u8::try_from(length / 4).map_err(|_| Error::Length)?,
            _ => return Err(Error::Length),
        };
        let (fields, icv) = out.split_first_chunk_mut::<{ Self::LEN }>().ok_or(Error::Truncated)?;
        let [s0, s1, s2, s3] = self.spi.to_be_bytes();
        let [n0, n1, n2, n3] = self.sequence.to_be_bytes();
        *fields = [self.next_header, units - 2, 0, 0, s0, s1, s2, s3, n0, n1, n2, n3];
        icv.fill(0);
        Ok(())
    }

    /// Length of a header with an ICV of `icv` bytes: over IPv6 a multiple of eight.
    pub const fn len_with(icv: usize) -> usize {
        (Self::LEN + icv).next_multiple_of(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_fills_multiples_of_eight_bytes() {
        assert_eq!((Header::len_with(12), Header::len_with(16)), (24, 32));
        let header = Header { next_header: 17, spi: 0x0102_0304, sequence: 0x0506_0708 };
        let mut out = [0xff; 24];
        header.emit(&mut out).unwrap();
        assert_eq!(out, [17, 4, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(header.emit(&mut [0; 8]), Err(Error::Truncated));
        assert_eq!(header.emit(&mut [0; 26]), Err(Error::Length));
        assert_eq!(header.emit(&mut [0; 1024]), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn parse_returns_what_emit_wrote(next_header: u8, spi: u32, sequence: u32, units in 3..64usize, behind in 0..9usize) {
            let header = Header { next_header, spi, sequence };
            let mut out = [7; 512];
            let length = units * 4;
            header.emit(&mut out[..length]).unwrap();
            let (parsed, icv) = Header::parse(&out[..length + behind]).unwrap();
            prop_assert_eq!((parsed, icv.len()), (header, length - Header::LEN));
            prop_assert_eq!(Header::parse(&out[..length - 1]), Err(Error::Truncated));
        }

        #[test]
        fn any_bytes_parse_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok((_, icv)) = Header::parse(&bytes) {
                prop_assert!(Header::LEN + icv.len() <= bytes.len());
            }
        }
    }
}
