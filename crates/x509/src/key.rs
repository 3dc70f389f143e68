use sixlock_crypto::p256::P_256_POINT;

use crate::Error;

/// What stands before the point in a key of P-256: the algorithm, the curve, and the beginning of a bit string
/// ([RFC 5480 section 2](https://www.rfc-editor.org/rfc/rfc5480#section-2)).
const FRONT: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The form of a point that is not compressed.
const UNCOMPRESSED: u8 = 4;

/// Length of a public key of P-256 as a SubjectPublicKeyInfo, in bytes.
pub const PUBLIC_KEY_INFO: usize = FRONT.len() + P_256_POINT;

/// The point in a SubjectPublicKeyInfo, which is a raw public key
/// ([RFC 7250 section 3](https://www.rfc-editor.org/rfc/rfc7250#section-3)). It may lie beside the curve.
pub fn public_key(info: &[u8]) -> Result<&[u8; P_256_POINT], Error> {
    let point = info.strip_prefix(&FRONT).ok_or(Error::Key)?;
    point.try_into().ok().filter(|point: &&[u8; P_256_POINT]| point[0] == UNCOMPRESSED).ok_or(Error::Key)
}

/// The opposite of [`public_key`].
pub fn public_key_info(point: &[u8; P_256_POINT]) -> [u8; PUBLIC_KEY_INFO] {
    let mut info = [0; PUBLIC_KEY_INFO];
    let (front, back) = info.split_at_mut(FRONT.len());
    front.copy_from_slice(&FRONT);
    back.copy_from_slice(point);
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written_and_nothing_else_is_one() {
        let mut point = [7; P_256_POINT];
        point[0] = UNCOMPRESSED;
        let info = public_key_info(&point);
        assert_eq!(public_key(&info), Ok(&point));
        assert_eq!(public_key(&info[..PUBLIC_KEY_INFO - 1]), Err(Error::Key));
        for at in 0..=FRONT.len() {
            let mut other = info;
            other[at] ^= 1;
            assert_eq!(public_key(&other), Err(Error::Key), "byte {at}");
        }
    }
}
