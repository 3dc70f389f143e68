//! Keys and certificates of P-256 as OpenSSL and others have them in files.

use pem::{EncodeConfig, LineEnding, Pem};
use sixlock_x509::public_key_info;
use zeroize::Zeroizing;

use super::key_pair::KeyPair;

const PRIVATE_KEY: &str = "PRIVATE KEY";
const PUBLIC_KEY: &str = "PUBLIC KEY";
const CERTIFICATE: &str = "CERTIFICATE";

/// What stands before the private key ([RFC 5958](https://www.rfc-editor.org/rfc/rfc5958#section-2) about
/// [RFC 5915](https://www.rfc-editor.org/rfc/rfc5915#section-3)), and between it and the public one.
const FRONT: [u8; 36] = [
    0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
    0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30, 0x6b, 0x02, 0x01, 0x01,
    0x04, 0x20,
];
const MIDDLE: [u8; 5] = [0xa1, 0x44, 0x03, 0x42, 0x00];

fn write(label: &str, der: &[u8]) -> String {
    pem::encode_config(&Pem::new(label, der), EncodeConfig::new().set_line_ending(LineEnding::LF))
}

/// A private key and its public one.
pub fn private_key(pair: &KeyPair) -> Zeroizing<String> {
    let der = Zeroizing::new([&FRONT[..], &*pair.secret, &MIDDLE, &pair.point].concat());
    Zeroizing::new(write(PRIVATE_KEY, &der))
}

/// A public key.
pub fn public_key(point: &[u8; 65]) -> String {
    write(PUBLIC_KEY, &public_key_info(point))
}

/// A certificate.
pub fn certificate(der: &[u8]) -> String {
    write(CERTIFICATE, der)
}

/// What a file holds.
#[derive(Default)]
pub struct Contents {
    /// The first private key of P-256, with its public one, written as [`private_key`] does.
    pub private_key: Option<Zeroizing<[u8; 32]>>,
    /// The first public key of P-256.
    pub public_key: Option<[u8; 65]>,
    /// All certificates, in DER.
    pub certificates: Vec<Vec<u8>>,
}

/// Reads what of this is in `text`; what else is there does not matter.
pub fn read(text: &str) -> Contents {
    let mut contents = Contents::default();
    for part in pem::parse_many(text).unwrap_or_default() {
        let der = Zeroizing::new(part.contents().to_vec());
        match part.tag() {
            PRIVATE_KEY => {
                let secret = der.strip_prefix(&FRONT).and_then(|rest| rest.first_chunk::<32>());
                contents.private_key = contents.private_key.or(secret.map(|secret| Zeroizing::new(*secret)));
            }
            CERTIFICATE => contents.certificates.push(der.to_vec()),
            PUBLIC_KEY => {
                contents.public_key = contents.public_key.or(sixlock_x509::public_key(&der).ok().copied());
            }
            _ => {}
        }
    }
    contents
}
