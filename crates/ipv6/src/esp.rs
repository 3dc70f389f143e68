//! The encapsulating security payload ([RFC 4303 section 2](https://www.rfc-editor.org/rfc/rfc4303#section-2)).

use crate::Error;

/// The fields before the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The security parameters index.
    pub spi: u32,
    /// The sequence number, or its low half if it is extended.
    pub sequence: u32,
}

impl Header {
    /// Length of the fields in bytes.
    pub const LEN: usize = 8;

    /// Splits `bytes` into the fields and what follows them.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (&[s0, s1, s2, s3, n0, n1, n2, n3], rest) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let spi = u32::from_be_bytes([s0, s1, s2, s3]);
        Ok((Self { spi, sequence: u32::from_be_bytes([n0, n1, n2, n3]) }, rest))
    }

    /// Writes the fields to the start of `out`.
    pub fn emit(self, out: &mut [u8]) -> Result<(), Error> {
        let out = out.first_chunk_mut::<{ Self::LEN }>().ok_or(Error::Truncated)?;
        if cfg!(target_pointer_width = "64") {
            // What is written as a whole can be read as a whole at once.
            *out = (u64::from(self.spi) << 32 | u64::from(self.sequence)).to_be_bytes();
            return Ok(());
        }
        out[..4].copy_from_slice(&self.spi.to_be_bytes());
        out[4..].copy_from_slice(&self.sequence.to_be_bytes());
        Ok(())
    }
}

/// The fields behind the payload, padding aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// What the payload is.
    pub next_header: u8,
}

impl Trailer {
    /// Length of the pad length and the next header field, in bytes.
    pub const LEN: usize = 2;

    /// Length of a trailer that fills a payload of `payload` bytes up to a multiple of `alignment`, a power of two of
    /// at least four and at most 128.
    pub const fn len_behind(payload: usize, alignment: usize) -> usize {
        Self::LEN + (payload + Self::LEN).wrapping_neg() % alignment
    }

    /// Writes the trailer to `out`, which it fills: the padding's bytes count up from one.
    pub fn emit(self, out: &mut [u8]) -> Result<(), Error> {
        let (padding, fields) = out.split_last_chunk_mut::<{ Self::LEN }>().ok_or(Error::Truncated)?;
        let length = u8::try_from(padding.len()).map_err(|_| Error::Length)?;
        for (byte, value) in padding.iter_mut().zip(1..) {
            *byte = value;
        }
        *fields = [length, self.next_header];
        Ok(())
    }

    /// Splits decrypted bytes into the payload, with padding for traffic flow confidentiality if it has such, and the
    /// trailer. Its padding must count up from one.
    pub fn parse(plain: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (rest, &[length, next_header]) = plain.split_last_chunk().ok_or(Error::Truncated)?;
        let payload = rest.len().checked_sub(length.into()).ok_or(Error::Length)?;
        let (payload, padding) = rest.split_at_checked(payload).ok_or(Error::Length)?;
        if padding.iter().zip(1..).any(|(&byte, value)| byte != value) {
            return Err(Error::Length);
        }
        Ok((Self { next_header }, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn the_padding_counts_up_and_is_checked() {
        let mut out = [0; 6];
        Trailer { next_header: 17 }.emit(&mut out).unwrap();
        assert_eq!(out, [1, 2, 3, 4, 4, 17]);
        assert_eq!(Trailer::parse(&out), Ok((Trailer { next_header: 17 }, &[][..])));
        for n in 0..4 {
            let mut wrong = out;
            wrong[n] ^= 0x10;
            assert_eq!(Trailer::parse(&wrong), Err(Error::Length));
        }
        out[4] = 5;
        assert_eq!(Trailer::parse(&out), Err(Error::Length));
        assert_eq!(Trailer { next_header: 0 }.emit(&mut [0]), Err(Error::Truncated));
        assert_eq!(Trailer { next_header: 0 }.emit(&mut [0; 300]), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn parse_returns_what_emit_wrote(
            spi: u32, sequence: u32, next_header: u8, payload in proptest::collection::vec(any::<u8>(), 0..64),
            shift in 2..8usize,
        ) {
            let header = Header { spi, sequence };
            let trailer = Trailer { next_header };
            let mut bytes: Vec<u8> = std::vec![0; Header::LEN];
            header.emit(&mut bytes).unwrap();
            bytes.extend(&payload);
            let length = Trailer::len_behind(payload.len(), 1 << shift);
            bytes.resize(bytes.len() + length, 0);
            trailer.emit(&mut bytes[Header::LEN + payload.len()..]).unwrap();
            let (parsed, rest) = Header::parse(&bytes).unwrap();
            prop_assert_eq!(parsed, header);
            prop_assert_eq!(rest.len() % (1 << shift), 0);
            prop_assert!(length < Trailer::LEN + (1 << shift), "no more than is needed");
            prop_assert_eq!(Trailer::parse(rest), Ok((trailer, &payload[..])));
        }

        #[test]
        fn any_bytes_parse_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Header::parse(&bytes);
            let _ = Trailer::parse(&bytes);
        }
    }
}
