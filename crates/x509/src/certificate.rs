use sixlock_crypto::p256::{P_256_POINT, P_256_SIGNATURE, P256};
use sixlock_crypto::{Hashes, SHA_256_DIGEST};

use crate::der::{
    BIT_STRING, INTEGER, OCTET_STRING, Reader, SEQUENCE, context, context_constructed, positive,
};
use crate::name::{any_dns_name, common_name, first_name};
use crate::{Clock, Error, Purpose, Time, public_key, signature_from_der};

/// The algorithm ecdsa-with-SHA256, which has no parameters
/// ([RFC 5758 section 3.2](https://www.rfc-editor.org/rfc/rfc5758#section-3.2)).
pub(crate) const ECDSA_WITH_SHA_256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// The number that stands for version 3.
pub(crate) const VERSION_3: &[u8] = &[2];
/// The longest serial number, in bytes.
const MAX_SERIAL: usize = 20;

/// The most extensions of a certificate that is read: each is compared with all before it.
pub const MAX_EXTENSIONS: usize = 32;

/// What begins the object identifier of each extension of RFC 5280.
pub(crate) const EXTENSION: [u8; 2] = [0x55, 0x1d];
pub(crate) const KEY_USAGE: u8 = 15;
const SUBJECT_ALTERNATIVE_NAME: u8 = 17;
pub(crate) const BASIC_CONSTRAINTS: u8 = 19;
const NAME_CONSTRAINTS: u8 = 30;
pub(crate) const EXTENDED_KEY_USAGE: u8 = 37;

/// A certificate, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Certificate<'a> {
    to_be_signed: &'a [u8],
    signature: [u8; P_256_SIGNATURE],
    serial: &'a [u8],
    issuer: &'a [u8],
    subject: &'a [u8],
    common_name: Option<&'a [u8]>,
    not_before: Time,
    not_after: Time,
    public_key: &'a [u8; P_256_POINT],
    extensions: Extensions<'a>,
}

/// The extensions that are known.
#[derive(Clone, Copy, Debug, Default)]
struct Extensions<'a> {
    basic_constraints: Option<BasicConstraints>,
    key_usage: Option<KeyUsage>,
    extended_key_usage: Option<&'a [u8]>,
    subject_alternative_name: Option<&'a [u8]>,
}

/// Whether a certificate is an authority's
/// ([RFC 5280 section 4.2.1.9](https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.9)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicConstraints {
    /// It is an authority's.
    pub authority: bool,
    /// How many authorities may stand between it and the last certificate of a chain; none for any number.
    pub path_length: Option<u8>,
}

/// What a key may be used for ([RFC 5280 section 4.2.1.3](https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUsage(u8);

impl KeyUsage {
    /// Signatures in handshakes.
    pub const DIGITAL_SIGNATURE: Self = Self(0x80);
    /// Signatures of certificates.
    pub const CERTIFICATE_SIGNATURE: Self = Self(0x04);

    /// As bits of a bit string, the first the highest.
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `usage` is part of this.
    pub const fn includes(self, usage: Self) -> bool {
        self.0 & usage.0 == usage.0
    }
}

impl<'a> Certificate<'a> {
    /// Reads a certificate, all of `der`.
    pub fn parse(der: &'a [u8]) -> Result<Self, Error> {
        let mut outer = Reader::only(der, SEQUENCE)?;
        let to_be_signed = outer.whole(SEQUENCE)?;
        let algorithm = outer.expect(SEQUENCE)?;
        let signature = outer.expect(BIT_STRING)?;
        outer.end()?;

        let mut inner = Reader::only(to_be_signed, SEQUENCE)?;
        // Without a version it is 1: https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.1
        let version = inner.optional(context_constructed(0))?.ok_or(Error::Version)?;
        let mut version = Reader::new(version);
        if version.expect(INTEGER)? != VERSION_3 || !version.is_empty() {
            return Err(Error::Version);
        }
        let serial = serial_number(inner.expect(INTEGER)?)?;
        if inner.expect(SEQUENCE)? != algorithm || algorithm != ECDSA_WITH_SHA_256 {
            return Err(Error::Algorithm);
        }
        let [0, signature @ ..] = signature else { return Err(Error::Encoding) };
        let issuer = inner.whole(SEQUENCE)?;
        let mut validity = Reader::new(inner.expect(SEQUENCE)?);
        let (not_before, not_after) = (Time::read(&mut validity)?, Time::read(&mut validity)?);
        validity.end()?;
        let subject = inner.whole(SEQUENCE)?;
        let public_key = public_key(inner.whole(SEQUENCE)?)?;
        // Unique identifiers mean nothing here: https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.8
        inner.optional(context(1))?;
        inner.optional(context(2))?;
        let extensions = match inner.optional(context_constructed(3))? {
            Some(extensions) => Extensions::read(Reader::only(extensions, SEQUENCE)?)?,
            None => Extensions::default(),
        };
        inner.end()?;
        common_name(issuer)?;
        Ok(Self {
            to_be_signed,
            signature: signature_from_der(signature)?,
            serial,
            issuer,
            subject,
            common_name: common_name(subject)?,
            not_before,
            not_after,
            public_key,
            extensions,
        })
    }

    /// Its number among those of its issuer, big-endian: at most 20 bytes, a zero among them before a first bit that is set.
    pub fn serial(&self) -> &'a [u8] {
        self.serial
    }

    /// Who signed it, a Name in DER.
    pub fn issuer(&self) -> &'a [u8] {
        self.issuer
    }

    /// Whose it is, a Name in DER.
    pub fn subject(&self) -> &'a [u8] {
        self.subject
    }

    /// The subject's common name, in which a device has its EUI-64
    /// ([RFC 7925 section 4.4.2](https://www.rfc-editor.org/rfc/rfc7925#section-4.4.2)).
    pub fn common_name(&self) -> Option<&'a [u8]> {
        self.common_name
    }

    /// From when to when it is valid, both included.
    pub fn validity(&self) -> (Time, Time) {
        (self.not_before, self.not_after)
    }

    /// The key that it binds to its names, a point that may lie beside the curve.
    pub fn public_key(&self) -> &'a [u8; P_256_POINT] {
        self.public_key
    }

    /// Whether it is an authority's.
    pub fn basic_constraints(&self) -> Option<BasicConstraints> {
        self.extensions.basic_constraints
    }

    /// What its key may be used for; none for anything.
    pub fn key_usage(&self) -> Option<KeyUsage> {
        self.extensions.key_usage
    }

    /// Whether it bears this name: as one for DNS, or, if it has no other names, as its common name. A wildcard is the name of
    /// nobody.
    pub fn is_named(&self, name: &[u8]) -> bool {
        match self.extensions.subject_alternative_name {
            Some(names) => {
                any_dns_name(names, |found| found.eq_ignore_ascii_case(name)).is_ok_and(|found| found)
            }
            None => self.common_name.is_some_and(|found| found.eq_ignore_ascii_case(name)),
        }
    }

    /// The one name by which its holder is known: the first of its other names that is a URI, as a device's `urn:dev:` is, or
    /// one for DNS, or without these its common name.
    pub fn identity(&self) -> Option<&'a [u8]> {
        let named = self.extensions.subject_alternative_name.and_then(|names| first_name(names).ok()?);
        named.or(self.common_name)
    }

    /// Whether it is valid by this clock.
    pub fn is_valid(&self, clock: Clock) -> Result<(), Error> {
        let (Clock::At(earliest) | Clock::Since(earliest)) = clock;
        if self.not_after < earliest || self.not_after < self.not_before {
            return Err(Error::Expired);
        }
        match clock {
            Clock::At(now) if now < self.not_before => Err(Error::NotYetValid),
            _ => Ok(()),
        }
    }

    /// Whether its holder may prove by it to be a client or a server.
    pub fn is_for(&self, purpose: Purpose) -> Result<(), Error> {
        // https://www.rfc-editor.org/rfc/rfc7925#section-4.4.3
        if self.key_usage().is_some_and(|usage| !usage.includes(KeyUsage::DIGITAL_SIGNATURE)) {
            return Err(Error::KeyUsage);
        }
        self.allows(purpose)
    }

    /// Whether it is good for this purpose, if it says for which: also a certificate below that of an authority is good for
    /// nothing that the authority's own is not
    /// ([RFC 5280 section 4.2.1.12](https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.12)).
    pub fn allows(&self, purpose: Purpose) -> Result<(), Error> {
        let Some(purposes) = self.extensions.extended_key_usage else { return Ok(()) };
        let mut purposes = Reader::only(purposes, SEQUENCE)?;
        let mut found = false;
        while !purposes.is_empty() {
            found |= purpose.is(purposes.object_identifier()?);
        }
        if found { Ok(()) } else { Err(Error::Purpose) }
    }

    /// Whether its holder may sign a certificate below which there are `below` more authorities, those not counted that
    /// issued their own ([RFC 5280 section 6.1.4](https://www.rfc-editor.org/rfc/rfc5280#section-6.1.4)).
    pub fn may_sign_certificates(&self, below: u8) -> Result<(), Error> {
        let constraints = self.basic_constraints().filter(|constraints| constraints.authority);
        let constraints = constraints.ok_or(Error::NotAuthority)?;
        if self.key_usage().is_some_and(|usage| !usage.includes(KeyUsage::CERTIFICATE_SIGNATURE)) {
            return Err(Error::KeyUsage);
        }
        if constraints.path_length.is_some_and(|most| below > most) {
            return Err(Error::PathLength);
        }
        Ok(())
    }

    /// Whether `issuer` signed it.
    pub fn is_signed_by<C: Hashes + P256>(
        &self,
        crypto: &mut C,
        issuer: &Certificate<'_>,
    ) -> Result<(), Error> {
        self.claim(crypto, issuer).verify(crypto)
    }

    /// What it says, if it is to be signed by `issuer`.
    pub(crate) fn claim<'i, C: Hashes>(&self, crypto: &mut C, issuer: &Certificate<'i>) -> Claim<'i> {
        let mut hash = crypto.sha256();
        crypto.sha256_update(&mut hash, self.to_be_signed);
        let digest = crypto.sha256_finish(hash);
        Claim { key: issuer.public_key, digest, signature: self.signature }
    }
}

/// That the holder of a key signed what has this digest.
pub(crate) struct Claim<'k> {
    key: &'k [u8; P_256_POINT],
    digest: [u8; SHA_256_DIGEST],
    signature: [u8; P_256_SIGNATURE],
}

impl Claim<'_> {
    /// Whether it is true.
    pub(crate) fn verify<C: P256>(&self, crypto: &mut C) -> Result<(), Error> {
        crypto.p256_verify(self.key, &self.digest, &self.signature).map_err(|_| Error::Signature)
    }
}

impl<'a> Extensions<'a> {
    fn read(list: Reader<'a>) -> Result<Self, Error> {
        let (mut known, mut rest, mut count) = (Self::default(), list, 0);
        while !rest.is_empty() {
            let (kind, mut extension) = next_extension(&mut rest)?;
            is_first(kind, list, count)?;
            let critical = extension.boolean_or_false()?;
            let value = extension.expect(OCTET_STRING)?;
            extension.end()?;
            let number = kind.strip_prefix(&EXTENSION).and_then(|rest| <[u8; 1]>::try_from(rest).ok());
            match number {
                Some([KEY_USAGE]) => known.key_usage = Some(key_usage(value)?),
                Some([BASIC_CONSTRAINTS]) => known.basic_constraints = Some(basic_constraints(value)?),
                Some([SUBJECT_ALTERNATIVE_NAME]) => {
                    any_dns_name(value, |_| false)?;
                    known.subject_alternative_name = Some(value);
                }
                Some([EXTENDED_KEY_USAGE]) => known.extended_key_usage = Some(value),
                // It must be critical, and whoever made it otherwise meant what it says:
                // https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.10
                Some([NAME_CONSTRAINTS]) => return Err(Error::CriticalExtension),
                _ if critical => return Err(Error::CriticalExtension),
                _ => {}
            }
            count += 1;
        }
        Ok(known)
    }
}

/// The kind of the next extension of a list, and the rest of that extension.
fn next_extension<'a>(list: &mut Reader<'a>) -> Result<(&'a [u8], Reader<'a>), Error> {
    let mut extension = Reader::new(list.expect(SEQUENCE)?);
    Ok((extension.object_identifier()?, extension))
}

/// Whether the first `count` extensions of a list are of other kinds, known ones or not, and there may be one more
/// ([RFC 5280 section 4.2](https://www.rfc-editor.org/rfc/rfc5280#section-4.2)).
fn is_first(kind: &[u8], mut list: Reader<'_>, count: usize) -> Result<(), Error> {
    if count >= MAX_EXTENSIONS {
        return Err(Error::Encoding);
    }
    for _ in 0..count {
        if next_extension(&mut list)?.0 == kind {
            return Err(Error::RepeatedExtension);
        }
    }
    Ok(())
}

/// A serial number, if it is one: above zero, of the fewest bytes, and not of more than 20
/// ([RFC 5280 section 4.1.2.2](https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.2)).
fn serial_number(content: &[u8]) -> Result<&[u8], Error> {
    positive(content)?;
    if content.len() > MAX_SERIAL { Err(Error::Encoding) } else { Ok(content) }
}

fn key_usage(value: &[u8]) -> Result<KeyUsage, Error> {
    let mut reader = Reader::new(value);
    let bits = reader.expect(BIT_STRING)?;
    reader.end()?;
    match bits {
        // There is a use, and no bit behind the last one. The ninth use is not one that is asked for.
        // https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.3
        [unused, first, rest @ ..] if rest.len() < 2 => {
            let last = rest.first().unwrap_or(first);
            let is_der = *last != 0 && last.trailing_zeros() == u32::from(*unused);
            if is_der { Ok(KeyUsage(*first)) } else { Err(Error::Encoding) }
        }
        _ => Err(Error::Encoding),
    }
}

fn basic_constraints(value: &[u8]) -> Result<BasicConstraints, Error> {
    let mut reader = Reader::only(value, SEQUENCE)?;
    let authority = reader.boolean_or_false()?;
    let path_length = match reader.optional(INTEGER)? {
        None => None,
        // Who is no authority has no path below it.
        Some(_) if !authority => return Err(Error::Encoding),
        Some([0]) => Some(0),
        Some(number) => match positive(number)? {
            &[number] => Some(number),
            // More than any chain has.
            _ => Some(u8::MAX),
        },
    };
    reader.end()?;
    Ok(BasicConstraints { authority, path_length })
}
