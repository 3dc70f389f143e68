use crate::Error;
use crate::cursor::{Reader, Writer};

/// Longest datagram a fragment header can describe, in bytes.
pub const MAX_DATAGRAM: usize = 0x7ff;

const FIRST: u8 = 0b11000;
const SUBSEQUENT: u8 = 0b11100;

/// A fragment header ([RFC 4944 section 5.3](https://www.rfc-editor.org/rfc/rfc4944#section-5.3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentHeader {
    /// Length of the whole IPv6 packet, before compression.
    pub datagram_size: u16,
    /// What tells this datagram from others of the same sender.
    pub tag: u16,
    /// Where in the uncompressed packet this fragment begins, in bytes; always a multiple of 8. At 0, the
    /// fragment begins with a dispatch byte.
    pub offset: u16,
}

impl FragmentHeader {
    /// Length of the first fragment's header, in bytes.
    pub const FIRST_LEN: usize = 4;
    /// Length of every other fragment's header, in bytes.
    pub const SUBSEQUENT_LEN: usize = 5;

    /// Splits `payload` into its fragment header and the rest; without a fragment header it is all rest.
    pub fn parse(payload: &[u8]) -> Result<(Option<Self>, &[u8]), Error> {
        let kind = payload.first().ok_or(Error::Truncated)? >> 3;
        if kind != FIRST && kind != SUBSEQUENT {
            return Ok((None, payload));
        }
        let mut reader = Reader::new(payload);
        let datagram_size = u16::from_be_bytes(reader.array()) & MAX_DATAGRAM as u16;
        let tag = u16::from_be_bytes(reader.array());
        let offset = if kind == FIRST { 0 } else { u16::from(reader.byte()) * 8 };
        let rest = payload.get(reader.consumed()?..).ok_or(Error::Truncated)?;
        if kind == SUBSEQUENT && offset == 0 || offset >= datagram_size {
            return Err(Error::Length);
        }
        Ok((Some(Self { datagram_size, tag, offset }), rest))
    }

    /// Writes the header to the start of `out` and returns its length.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        if usize::from(self.datagram_size) > MAX_DATAGRAM || !self.offset.is_multiple_of(8) {
            return Err(Error::Length);
        }
        let kind = if self.offset == 0 { FIRST } else { SUBSEQUENT };
        let mut out = Writer::new(out);
        out.put(&(u16::from(kind) << 11 | self.datagram_size).to_be_bytes());
        out.put(&self.tag.to_be_bytes());
        if self.offset != 0 {
            out.put(&[(self.offset / 8) as u8]);
        }
        out.written()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_those_of_the_rfc() {
        let first = FragmentHeader { datagram_size: 0x512, tag: 0xabcd, offset: 0 };
        let later = FragmentHeader { offset: 96, ..first };
        let mut out = [0; 6];
        assert_eq!(first.emit(&mut out), Ok(4));
        assert_eq!(out[..4], [0xc5, 0x12, 0xab, 0xcd]);
        assert_eq!(FragmentHeader::parse(&out[..5]), Ok((Some(first), &[0][..])));
        assert_eq!(later.emit(&mut out), Ok(5));
        assert_eq!(out[..5], [0xe5, 0x12, 0xab, 0xcd, 12]);
        assert_eq!(FragmentHeader::parse(&out[..5]), Ok((Some(later), &[][..])));
        assert_eq!(FragmentHeader::parse(&out[..4]), Err(Error::Truncated));
        assert_eq!(FragmentHeader::parse(&[0x7e, 1]), Ok((None, &[0x7e, 1][..])));
    }

    #[test]
    fn an_offset_outside_the_datagram_is_refused() {
        assert_eq!(FragmentHeader::parse(&[0xe0, 0x10, 0, 0, 2]), Err(Error::Length));
        assert_eq!(FragmentHeader::parse(&[0xe0, 0x10, 0, 0, 0]), Err(Error::Length));
        assert_eq!(FragmentHeader::parse(&[0xc0, 0x00, 0, 0]), Err(Error::Length));
        assert!(FragmentHeader::parse(&[0xe0, 0x10, 0, 0, 1]).is_ok());
    }

    proptest! {
        #[test]
        fn what_parses_is_written_back_as_it_was(payload in proptest::collection::vec(any::<u8>(), 0..8)) {
            if let Ok((Some(header), rest)) = FragmentHeader::parse(&payload) {
                let mut out = [0; 5];
                let length = header.emit(&mut out).unwrap();
                prop_assert_eq!(&payload[..length], &out[..length]);
                prop_assert_eq!(&payload[length..], rest);
            }
        }
    }
}
