//! The messages of a handshake with public keys: ephemeral keys of P-256
//! ([RFC 8422](https://www.rfc-editor.org/rfc/rfc8422)), signed by keys that certificates bind or that stand alone
//! ([RFC 7250](https://www.rfc-editor.org/rfc/rfc7250)).

use crate::{Error, Window, reader::Reader};

/// Length of a point of P-256, in bytes: 4, x and y.
pub const POINT: usize = 65;

/// A group by its number ([RFC 8422 section 5.1.1](https://www.rfc-editor.org/rfc/rfc8422#section-5.1.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedGroup(pub u16);

impl NamedGroup {
    /// P-256.
    pub const SECP_256_R1: Self = Self(23);
}

/// The kind of an ephemeral key's curve: it has a name.
const NAMED_CURVE: u8 = 3;

/// A signature's algorithm, by the numbers of its hash and of its own
/// ([RFC 5246 section 7.4.1.4.1](https://www.rfc-editor.org/rfc/rfc5246#section-7.4.1.4.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureAlgorithm(pub u16);

impl SignatureAlgorithm {
    /// ECDSA with SHA-256.
    pub const ECDSA_SHA_256: Self = Self(0x0403);
}

/// The form of points that are not compressed
/// ([RFC 8422 section 5.1.2](https://www.rfc-editor.org/rfc/rfc8422#section-5.1.2)).
pub const UNCOMPRESSED: u8 = 0;

/// The type of certificates whose key signs with ECDSA
/// ([RFC 8422 section 5.5](https://www.rfc-editor.org/rfc/rfc8422#section-5.5)).
pub const ECDSA_SIGN: u8 = 64;

/// How a certificate is written ([RFC 7250 section 3](https://www.rfc-editor.org/rfc/rfc7250#section-3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CertificateType {
    /// A chain of X.509 certificates, the sender's first.
    X509 = 0,
    /// A public key, as a SubjectPublicKeyInfo.
    RawPublicKey = 2,
}

/// A list of numbers of 16 bits, as it stands in an extension or message without its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers<'a>(pub &'a [u8]);

impl<'a> Numbers<'a> {
    /// The list that is the whole content of an extension, behind its length.
    pub fn from_extension(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(data);
        let numbers = Self::read(&mut reader)?;
        reader.end()?;
        Ok(numbers)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let bytes = reader.vector16()?;
        if bytes.is_empty() || !bytes.len().is_multiple_of(2) { Err(Error::Length) } else { Ok(Self(bytes)) }
    }

    /// Whether `number` is in the list.
    pub fn contains(self, number: u16) -> bool {
        self.0.as_chunks().0.iter().any(|&pair| u16::from_be_bytes(pair) == number)
    }
}

/// The list of bytes that is the whole content of an extension, behind its length.
pub fn bytes_from_extension(data: &[u8]) -> Result<&[u8], Error> {
    let mut reader = Reader::new(data);
    let bytes = reader.vector8()?;
    reader.end()?;
    Ok(bytes)
}

/// A Certificate message: what proves whose key its sender has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate<'a> {
    /// A chain of certificates; without any, its sender has none that suits.
    X509(Chain<'a>),
    /// A public key as a SubjectPublicKeyInfo; if it has no bytes, its sender has none that suits.
    RawPublicKey(&'a [u8]),
}

/// Certificates as they stand in a message, each complete behind its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain<'a>(&'a [u8]);

impl<'a> Chain<'a> {
    /// Each certificate.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        let mut reader = Reader::new(self.0);
        core::iter::from_fn(move || reader.vector24().ok())
    }
}

impl<'a> Certificate<'a> {
    /// Reads the body of a message of this type.
    pub fn parse(body: &'a [u8], kind: CertificateType) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let content = reader.vector24()?;
        reader.end()?;
        if kind == CertificateType::RawPublicKey {
            return Ok(Self::RawPublicKey(content));
        }
        let mut reader = Reader::new(content);
        while !reader.is_empty() {
            if reader.vector24()?.is_empty() {
                return Err(Error::Length);
            }
        }
        Ok(Self::X509(Chain(content)))
    }

    /// Whether its sender has none that suits.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::X509(Chain(content)) | Self::RawPublicKey(content) => content.is_empty(),
        }
    }

    /// Emits the body of a message with these certificates, each of at most 65,535 bytes.
    pub fn emit_chain(certificates: &[&[u8]], window: &mut Window<'_>) {
        let length = certificates.iter().map(|certificate| 3 + certificate.len() as u32).sum();
        window.put_u24(length);
        for certificate in certificates {
            window.put_vector24(certificate);
        }
    }

    /// Emits the body of a message with a public key, or with none.
    pub fn emit_raw(public_key_info: &[u8], window: &mut Window<'_>) {
        window.put_vector24(public_key_info);
    }
}

/// A signature behind its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// The algorithm.
    pub algorithm: SignatureAlgorithm,
    /// The signature in DER.
    pub signature: &'a [u8],
}

impl<'a> Signed<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self, Error> {
        let signed = Self { algorithm: SignatureAlgorithm(reader.u16()?), signature: reader.vector16()? };
        reader.end()?;
        Ok(signed)
    }

    /// Reads the body of a CertificateVerify, which is this.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        Self::read(Reader::new(body))
    }

    /// Emits it.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put(&self.algorithm.0.to_be_bytes());
        window.put_vector16(self.signature);
    }
}

/// The parameters of a server's ephemeral key, which its signature covers
/// ([RFC 8422 section 5.4](https://www.rfc-editor.org/rfc/rfc8422#section-5.4)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EphemeralParameters<'a> {
    /// The key, a point of P-256, or beside it.
    pub point: &'a [u8; POINT],
}

impl<'a> EphemeralParameters<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        if reader.u8()? != NAMED_CURVE || reader.u16()? != NamedGroup::SECP_256_R1.0 {
            return Err(Error::UnknownType);
        }
        Ok(Self { point: read_point(reader)? })
    }

    /// Their bytes.
    pub fn to_bytes(self) -> [u8; 4 + POINT] {
        let mut bytes = [0; 4 + POINT];
        bytes[0] = NAMED_CURVE;
        bytes[1..3].copy_from_slice(&NamedGroup::SECP_256_R1.0.to_be_bytes());
        bytes[3] = POINT as u8;
        bytes[4..].copy_from_slice(self.point);
        bytes
    }
}

/// A point behind its length.
pub(crate) fn read_point<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8; POINT], Error> {
    reader.vector8()?.try_into().map_err(|_| Error::Length)
}

/// A ServerKeyExchange with an ephemeral key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedKeyExchange<'a> {
    /// The key.
    pub parameters: EphemeralParameters<'a>,
    /// The signature of both random values and the key.
    pub signed: Signed<'a>,
}

impl<'a> SignedKeyExchange<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        Ok(Self { parameters: EphemeralParameters::read(&mut reader)?, signed: Signed::read(reader)? })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put(&self.parameters.to_bytes());
        self.signed.emit(window);
    }
}

/// A ClientKeyExchange with an ephemeral key
/// ([RFC 8422 section 5.7](https://www.rfc-editor.org/rfc/rfc8422#section-5.7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EphemeralKeyExchange<'a> {
    /// The key, a point of P-256, or beside it.
    pub point: &'a [u8; POINT],
}

impl<'a> EphemeralKeyExchange<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let point = read_point(&mut reader)?;
        reader.end()?;
        Ok(Self { point })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put_vector8(self.point);
    }
}

/// A CertificateRequest ([RFC 5246 section 7.4.4](https://www.rfc-editor.org/rfc/rfc5246#section-7.4.4)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateRequest<'a> {
    /// The types of keys that are taken.
    pub key_types: &'a [u8],
    /// The algorithms that are taken.
    pub algorithms: Numbers<'a>,
    /// The names of the authorities that are trusted; none for any.
    pub authorities: Names<'a>,
}

/// Names of authorities as they stand in a message, each in DER and complete behind its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a>(&'a [u8]);

impl<'a> Names<'a> {
    /// Each name.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        let mut reader = Reader::new(self.0);
        core::iter::from_fn(move || reader.vector16().ok())
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> CertificateRequest<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let (key_types, algorithms) = (reader.vector8()?, Numbers::read(&mut reader)?);
        let authorities = reader.vector16()?;
        reader.end()?;
        let mut names = Reader::new(authorities);
        while !names.is_empty() {
            names.vector16()?;
        }
        Ok(Self { key_types, algorithms, authorities: Names(authorities) })
    }

    /// Emits the body of a message that asks for a key that signs with ECDSA and SHA-256, and names these authorities, if any.
    pub fn emit<'n>(authorities: impl Iterator<Item = &'n [u8]> + Clone, window: &mut Window<'_>) {
        window.put_vector8(&[ECDSA_SIGN]);
        window.put_vector16(&SignatureAlgorithm::ECDSA_SHA_256.0.to_be_bytes());
        let length: usize = authorities.clone().map(|name| 2 + name.len()).sum();
        window.put(&(length as u16).to_be_bytes());
        for name in authorities {
            window.put_vector16(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    fn emitted(emit: impl FnOnce(&mut Window<'_>)) -> Vec<u8> {
        let mut out = vec![0; 4096];
        let mut window = Window::new(0, &mut out);
        emit(&mut window);
        let filled = window.filled();
        out.truncate(filled);
        out
    }

    fn lists(most: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(any::<u8>(), 1..most), 0..4)
    }

    proptest! {
        #[test]
        fn certificates_are_read_as_they_were_emitted(certificates in lists(500)) {
            let list: Vec<&[u8]> = certificates.iter().map(|certificate| &certificate[..]).collect();
            let body = emitted(|window| Certificate::emit_chain(&list, window));
            let Ok(Certificate::X509(chain)) = Certificate::parse(&body, CertificateType::X509) else { panic!() };
            prop_assert_eq!(chain.iter().collect::<Vec<_>>(), list);
            for end in 0..body.len() {
                prop_assert!(Certificate::parse(&body[..end], CertificateType::X509).is_err());
            }
        }

        #[test]
        fn a_key_is_read_as_it_was_emitted(key in prop::collection::vec(any::<u8>(), 0..100)) {
            let body = emitted(|window| Certificate::emit_raw(&key, window));
            let parsed = Certificate::parse(&body, CertificateType::RawPublicKey);
            prop_assert_eq!(parsed, Ok(Certificate::RawPublicKey(&key)));
            prop_assert_eq!(parsed.unwrap().is_empty(), key.is_empty());
        }

        #[test]
        fn an_exchange_is_read_as_it_was_emitted(first: [u8; 32], second: [u8; 33], algorithm: u16, signature in prop::collection::vec(any::<u8>(), 0..80)) {
            let point: [u8; POINT] = [&first[..], &second].concat().try_into().unwrap();
            let exchange = SignedKeyExchange {
                parameters: EphemeralParameters { point: &point },
                signed: Signed { algorithm: SignatureAlgorithm(algorithm), signature: &signature },
            };
            let body = emitted(|window| exchange.emit(window));
            prop_assert_eq!(SignedKeyExchange::parse(&body), Ok(exchange));
            prop_assert_eq!(Signed::parse(&body[4 + POINT..]), Ok(exchange.signed));
            let answer = EphemeralKeyExchange { point: &point };
            let body = emitted(|window| answer.emit(window));
            prop_assert_eq!(EphemeralKeyExchange::parse(&body), Ok(answer));
        }

        #[test]
        fn a_request_is_read_as_it_was_emitted(names in lists(100)) {
            let body = emitted(|window| CertificateRequest::emit(names.iter().map(|name| &name[..]), window));
            let request = CertificateRequest::parse(&body).unwrap();
            prop_assert_eq!(request.key_types, [ECDSA_SIGN]);
            prop_assert!(request.algorithms.contains(SignatureAlgorithm::ECDSA_SHA_256.0));
            prop_assert_eq!(request.authorities.iter().collect::<Vec<_>>(), names.iter().map(|name| &name[..]).collect::<Vec<_>>());
            prop_assert_eq!(request.authorities.is_empty(), names.is_empty());
        }

        #[test]
        fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for kind in [CertificateType::X509, CertificateType::RawPublicKey] {
                let _ = Certificate::parse(&bytes, kind);
            }
            if let Ok(exchange) = SignedKeyExchange::parse(&bytes) {
                prop_assert_eq!(emitted(|window| exchange.emit(window)), bytes.clone());
            }
            let _ = CertificateRequest::parse(&bytes).map(|request| request.authorities.iter().count());
            let _ = (EphemeralKeyExchange::parse(&bytes), Signed::parse(&bytes), Numbers::from_extension(&bytes));
        }
    }

    #[test]
    fn other_curves_are_refused() {
        let mut body = [0; 4 + POINT + 4];
        body[..4 + POINT].copy_from_slice(&EphemeralParameters { point: &[4; POINT] }.to_bytes());
        assert!(SignedKeyExchange::parse(&body).is_ok());
        for at in 0..3 {
            let mut other = body;
            other[at] ^= 1;
            assert_eq!(SignedKeyExchange::parse(&other), Err(Error::UnknownType));
        }
    }
}
