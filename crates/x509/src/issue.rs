//! The writing of certificates, as an authority does.

use sixlock_crypto::Hashes;
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P256};

use crate::certificate::{
    BASIC_CONSTRAINTS, ECDSA_WITH_SHA_256, EXTENDED_KEY_USAGE, EXTENSION, KEY_USAGE, VERSION_3,
};
use crate::der::{
    BIT_STRING, BOOLEAN, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET, Writer, context_constructed,
};
use crate::name::{COMMON_NAME, UTF8_STRING};
use crate::{DerSignature, KeyUsage, Purpose, Time, public_key_info};

/// What a certificate is to say.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// Its number among those of its issuer, big-endian: at most 20 bytes, of which the first is between 1 and 127.
    pub serial: &'a [u8],
    /// The common name of who signs it, at most 64 bytes.
    pub issuer: &'a str,
    /// The common name of whose it is, at most 64 bytes.
    pub subject: &'a str,
    /// From when to when it is valid, both included.
    pub validity: (Time, Time),
    /// Whose key it is.
    pub public_key: &'a [u8; P_256_POINT],
    /// Whether it is an authority's, which signs the certificates of others and nothing else. Who is none has a key for
    /// handshakes.
    pub authority: bool,
    /// As what its holder may show it; nothing is said of that if it is empty.
    pub purposes: &'a [Purpose],
}

impl Template<'_> {
    /// Signs the certificate with the private key of its issuer, and writes it to the end of `out`; none if there is no room,
    /// or the key is none.
    pub fn issue<'o, C: Hashes + P256>(
        &self,
        crypto: &mut C,
        secret: &[u8; P_256_SECRET],
        out: &'o mut [u8],
    ) -> Option<&'o [u8]> {
        let mut writer = Writer::new(out);
        self.write_to_be_signed(&mut writer);
        let mut hash = crypto.sha256();
        crypto.sha256_update(&mut hash, writer.written()?);
        let digest = crypto.sha256_finish(hash);
        let signature = DerSignature::new(&crypto.p256_sign(secret, &digest)?);
        let mut back = [0; 128];
        let mut behind = Writer::new(&mut back);
        behind.element(BIT_STRING, |bits| {
            bits.put(signature.bytes());
            bits.put(&[0]);
        });
        behind.element(SEQUENCE, |algorithm| algorithm.put(ECDSA_WITH_SHA_256));
        writer.append(behind.written()?);
        writer.wrap(SEQUENCE);
        writer.into_written()
    }

    fn write_to_be_signed(&self, writer: &mut Writer<'_>) {
        writer.element(SEQUENCE, |fields| {
            fields.element(context_constructed(3), |extensions| {
                extensions.element(SEQUENCE, |extensions| self.write_extensions(extensions));
            });
            fields.put(&public_key_info(self.public_key));
            write_name(fields, self.subject);
            fields.element(SEQUENCE, |validity| {
                self.validity.1.write(validity);
                self.validity.0.write(validity);
            });
            write_name(fields, self.issuer);
            fields.element(SEQUENCE, |algorithm| algorithm.put(ECDSA_WITH_SHA_256));
            fields.element(INTEGER, |serial| serial.put(self.serial));
            fields.element(context_constructed(0), |version| {
                version.element(INTEGER, |number| number.put(VERSION_3));
            });
        });
    }

    /// Those that [RFC 7925 section 4.4](https://www.rfc-editor.org/rfc/rfc7925#section-4.4) asks for.
    fn write_extensions(&self, extensions: &mut Writer<'_>) {
        let usage = match self.authority {
            true => KeyUsage::CERTIFICATE_SIGNATURE,
            false => KeyUsage::DIGITAL_SIGNATURE,
        };
        if !self.purposes.is_empty() {
            write(extensions, EXTENDED_KEY_USAGE, |extension| {
                extension.element(OCTET_STRING, |usages| {
                    usages.element(SEQUENCE, |usages| {
                        for purpose in self.purposes.iter().rev() {
                            usages.element(OBJECT_IDENTIFIER, |identifier| {
                                identifier.put(purpose.identifier())
                            });
                        }
                    });
                });
            });
        }
        write_critical(extensions, KEY_USAGE, |usages| {
            usages.element(BIT_STRING, |bits| {
                bits.put(&[usage.bits()]);
                bits.put(&[usage.bits().trailing_zeros() as u8]);
            });
        });
        write_critical(extensions, BASIC_CONSTRAINTS, |constraints| {
            constraints.element(SEQUENCE, |constraints| {
                if self.authority {
                    constraints.element(BOOLEAN, |authority| authority.put(&[0xff]));
                }
            });
        });
    }
}

/// An extension that is to be known.
fn write_critical(writer: &mut Writer<'_>, kind: u8, content: impl FnOnce(&mut Writer<'_>)) {
    write(writer, kind, |extension| {
        extension.element(OCTET_STRING, content);
        extension.element(BOOLEAN, |critical| critical.put(&[0xff]));
    });
}

/// An extension, without its kind.
fn write(writer: &mut Writer<'_>, kind: u8, content: impl FnOnce(&mut Writer<'_>)) {
    writer.element(SEQUENCE, |extension| {
        content(extension);
        extension.element(OBJECT_IDENTIFIER, |identifier| {
            identifier.put(&[kind]);
            identifier.put(&EXTENSION);
        });
    });
}

/// A name of one part.
fn write_name(writer: &mut Writer<'_>, name: &str) {
    writer.element(SEQUENCE, |parts| {
        parts.element(SET, |attributes| {
            attributes.element(SEQUENCE, |attribute| {
                attribute.element(UTF8_STRING, |text| text.put(name.as_bytes()));
                attribute.element(OBJECT_IDENTIFIER, |kind| kind.put(COMMON_NAME));
            });
        });
    });
}
