//! What is written into the flash of a device that proves by a public key who it is, beside its own data.

use crate::DeviceError;
use crate::fields::{Reader, Writer};

/// The length of a private key of P-256, in bytes.
const SECRET: usize = 32;
/// The length of a public key of P-256, in bytes: 4, x and y.
const POINT: usize = 65;
/// The longest certificate, in bytes.
const CERTIFICATE: usize = 512;
/// The longest name, in bytes.
const NAME: usize = 64;

/// The length of [`RawKeys`] in bytes.
pub const RAW_KEYS: usize = 4 + SECRET + 2 * POINT;
/// The length of [`CertifiedKeys`] in bytes.
pub const CERTIFIED_KEYS: usize = 4 + SECRET + 5 + 2 * CERTIFICATE + NAME;

/// What each begins with. The last byte is the layout's version.
const RAW: [u8; 4] = *b"6rk\x01";
const CERTIFIED: [u8; 4] = *b"6ck\x01";

/// A device's key pair, and the raw public key of its cloud.
///
/// Images with raw public keys have a place of their own for it, so that others pay nothing; as those with certificates do for
/// [`CertifiedKeys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawKeys<'a> {
    /// The private key.
    pub secret: &'a [u8; SECRET],
    /// Its public one, and the cloud's.
    pub points: &'a [[u8; POINT]; 2],
}

impl<'a> RawKeys<'a> {
    /// Reads the data; none if nothing was written there.
    pub fn parse(bytes: &'a [u8; RAW_KEYS]) -> Option<Self> {
        let rest = bytes.strip_prefix(&RAW)?;
        let (secret, points) = rest.split_first_chunk()?;
        Some(Self { secret, points: points.as_chunks().0.try_into().ok()? })
    }

    /// Writes the data.
    pub fn emit(&self) -> [u8; RAW_KEYS] {
        let mut bytes = [0; RAW_KEYS];
        let mut fields = Writer(&mut bytes);
        fields.put(&RAW);
        fields.put(self.secret);
        fields.put(self.points.as_flattened());
        bytes
    }
}

/// A device's private key, its certificate, and what it knows its cloud by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertifiedKeys<'a> {
    /// The private key.
    pub secret: &'a [u8; SECRET],
    /// The certificate of its public one, in DER; at most 512 bytes.
    pub certificate: &'a [u8],
    /// The certificate of the authority that signs the cloud's, in DER; at most 512 bytes.
    pub authority: &'a [u8],
    /// The name in the cloud's certificate, at most 64 bytes.
    pub cloud: &'a [u8],
}

impl<'a> CertifiedKeys<'a> {
    /// Reads the data; none if nothing was written there.
    pub fn parse(bytes: &'a [u8; CERTIFIED_KEYS]) -> Option<Self> {
        let rest = bytes.strip_prefix(&CERTIFIED)?;
        let (secret, rest) = rest.split_first_chunk()?;
        let mut fields = Reader(rest);
        let [certificate, authority] = [(); 2].map(|()| usize::from(u16::from_le_bytes(fields.array())));
        let cloud = usize::from(fields.u8());
        Some(Self {
            secret,
            certificate: fields.bytes(CERTIFICATE).get(..certificate)?,
            authority: fields.bytes(CERTIFICATE).get(..authority)?,
            cloud: fields.bytes(NAME).get(..cloud)?,
        })
    }

    /// Writes the data.
    pub fn emit(&self) -> Result<[u8; CERTIFIED_KEYS], DeviceError> {
        let places = [(self.certificate, CERTIFICATE), (self.authority, CERTIFICATE), (self.cloud, NAME)];
        if places.iter().any(|(field, room)| field.len() > *room) {
            return Err(DeviceError::TooLong);
        }
        let mut bytes = [0; CERTIFIED_KEYS];
        let mut fields = Writer(&mut bytes);
        fields.put(&CERTIFIED);
        fields.put(self.secret);
        for certificate in [self.certificate, self.authority] {
            fields.put(&(certificate.len() as u16).to_le_bytes());
        }
        fields.put(&[self.cloud.len() as u8]);
        for (field, room) in places {
            fields.put(field);
            fields.skip(room - field.len());
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    #[test]
    fn blank_data_is_none() {
        for blank in [0, 0xff] {
            assert_eq!(RawKeys::parse(&[blank; RAW_KEYS]), None);
            assert_eq!(CertifiedKeys::parse(&[blank; CERTIFIED_KEYS]), None);
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let keys = CertifiedKeys {
            secret: &[1; SECRET],
            certificate: &[2; CERTIFICATE],
            authority: &[3; CERTIFICATE],
            cloud: &[4; NAME],
        };
        let longest = keys.emit().unwrap();
        assert_eq!(longest[CERTIFIED_KEYS - NAME..], [4; NAME], "nothing is cut off and nothing is left");
        let too_long = [0; CERTIFICATE + 1];
        for keys in [
            CertifiedKeys { certificate: &too_long, ..keys },
            CertifiedKeys { authority: &too_long, ..keys },
            CertifiedKeys { cloud: &too_long[..=NAME], ..keys },
        ] {
            assert_eq!(keys.emit(), Err(DeviceError::TooLong));
        }
        // The high bytes of both lengths, and the name's.
        for place in [37, 39, 40] {
            let mut bad = longest;
            bad[place] = 65;
            assert_eq!(CertifiedKeys::parse(&bad), None, "at {place}");
        }
    }

    proptest! {
        #[test]
        fn what_was_emitted_is_parsed_again(
            secret: [u8; SECRET], numbers: [u8; 2],
            certificate in prop::collection::vec(any::<u8>(), 0..=CERTIFICATE),
            authority in prop::collection::vec(any::<u8>(), 0..=CERTIFICATE),
            cloud in prop::collection::vec(any::<u8>(), 0..=NAME),
        ) {
            let points = numbers.map(|number| [number; POINT]);
            let raw = RawKeys { secret: &secret, points: &points };
            let emitted = raw.emit();
            prop_assert_eq!(RawKeys::parse(&emitted), Some(raw));
            let keys = CertifiedKeys { secret: &secret, certificate: &certificate, authority: &authority, cloud: &cloud };
            let emitted = keys.emit().unwrap();
            prop_assert_eq!(CertifiedKeys::parse(&emitted), Some(keys));
        }
    }
}
