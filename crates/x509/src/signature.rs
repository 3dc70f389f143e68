use sixlock_crypto::p256::P_256_SIGNATURE;

use crate::Error;
use crate::der::{INTEGER, Reader, SEQUENCE, positive};

/// Half a signature.
const NUMBER: usize = P_256_SIGNATURE / 2;

/// The longest signature in DER, in bytes: two numbers of 33 bytes.
pub const MAX_DER_SIGNATURE: usize = 2 + 2 * (2 + 1 + NUMBER);

/// The signature in an ECDSA-Sig-Value ([RFC 3279 section 2.2.3](https://www.rfc-editor.org/rfc/rfc3279#section-2.2.3)):
/// r, then s.
pub fn signature_from_der(der: &[u8]) -> Result<[u8; P_256_SIGNATURE], Error> {
    let mut numbers = Reader::only(der, SEQUENCE)?;
    let mut signature = [0; P_256_SIGNATURE];
    for half in signature.as_chunks_mut::<NUMBER>().0 {
        let number = positive(numbers.expect(INTEGER)?)?;
        let zeros = NUMBER.checked_sub(number.len()).ok_or(Error::Encoding)?;
        half[zeros..].copy_from_slice(number);
    }
    numbers.end()?;
    Ok(signature)
}

/// A signature in DER.
#[derive(Clone, Copy, Debug)]
pub struct DerSignature {
    bytes: [u8; MAX_DER_SIGNATURE],
    length: u8,
}

impl DerSignature {
    /// That of r and s.
    pub fn new(signature: &[u8; P_256_SIGNATURE]) -> Self {
        let mut der = Self { bytes: [0; MAX_DER_SIGNATURE], length: 0 };
        der.put(&[SEQUENCE, 0]);
        for half in signature.as_chunks::<NUMBER>().0 {
            let zeros = half.iter().take(NUMBER - 1).take_while(|&&byte| byte == 0).count();
            let number = &half[zeros..];
            let sign = &[0][..usize::from(number[0] >> 7)];
            der.put(&[INTEGER, (sign.len() + number.len()) as u8]);
            der.put(sign);
            der.put(number);
        }
        der.bytes[1] = der.length - 2;
        der
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length.into()]
    }

    fn put(&mut self, bytes: &[u8]) {
        let at = usize::from(self.length);
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let mut signature = [0; P_256_SIGNATURE];
        (signature[31], signature[63]) = (0x80, 1);
        assert_eq!(DerSignature::new(&signature).bytes(), [0x30, 7, 2, 2, 0, 0x80, 2, 1, 1]);
        assert_eq!(DerSignature::new(&[0xff; P_256_SIGNATURE]).bytes().len(), MAX_DER_SIGNATURE);
        for refused in [
            &[0x30, 7, 2, 2, 0, 0x7f, 2, 1, 1][..],
            &[0x30, 6, 2, 1, 0x80, 2, 1, 1],
            &[0x30, 6, 2, 1, 0, 2, 1, 1],
            &[0x30, 6, 2, 1, 1, 2, 1, 1, 0],
            &[0x30, 3, 2, 1, 1],
            &[],
        ] {
            assert_eq!(signature_from_der(refused), Err(Error::Encoding), "{refused:?}");
        }
    }

    proptest! {
        #[test]
        fn a_signature_is_read_as_it_was_written(halves: [[u8; 32]; 2], zeros in 0usize..32) {
            let mut halves = halves;
            halves[1][..zeros].fill(0);
            halves.iter_mut().for_each(|half| half[31] |= 1);
            let signature: [u8; 64] = halves.concat().try_into().unwrap();
            let der = DerSignature::new(&signature);
            prop_assert_eq!(signature_from_der(der.bytes()), Ok(signature));
        }

        #[test]
        fn any_bytes_are_a_signature_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..80), fits: bool) {
            if fits && bytes.len() > 6 {
                let (all, first) = (bytes.len() as u8 - 2, (bytes.len() as u8 - 6) / 2);
                (bytes[0], bytes[1], bytes[2], bytes[3]) = (0x30, all, 2, first);
            }
            if let Ok(signature) = signature_from_der(&bytes) {
                let der = DerSignature::new(&signature);
                prop_assert_eq!(der.bytes(), &bytes[..]);
            }
        }
    }
}
