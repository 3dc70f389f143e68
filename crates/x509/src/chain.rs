use sixlock_crypto::Hashes;
use sixlock_crypto::p256::{P_256_POINT, P256};

use crate::certificate::Claim;
use crate::{Certificate, Clock, Error, Purpose};

/// The most certificates that a peer may send: its own and three of authorities between it and one that is trusted. No more
/// signatures than these are verified, those included that turn out to be another's of the same name.
pub const MAX_CHAIN: u8 = 4;

/// Whom to trust, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Trust<'a> {
    /// The certificates of the authorities that are trusted, in DER.
    pub authorities: &'a [&'a [u8]],
    /// The time.
    pub clock: Clock,
    /// As what the peer shows its certificate.
    pub purpose: Purpose,
    /// The name that the peer's certificate must bear; none for any.
    pub name: Option<&'a [u8]>,
}

/// Verifies a chain: the peer's certificate, then each the one of who signed the one before, up to an authority that is
/// trusted, which may be left out ([RFC 5246 section 7.4.2](https://www.rfc-editor.org/rfc/rfc5246#section-7.4.2)). Returns the
/// peer's certificate.
pub fn verify<'c, C: Hashes + P256>(
    crypto: &mut C,
    trust: &Trust<'_>,
    chain: impl IntoIterator<Item = &'c [u8]>,
) -> Result<Certificate<'c>, Error> {
    let mut peer = None;
    verified_key(
        crypto,
        trust,
        chain.into_iter().inspect(|&certificate| _ = peer.get_or_insert(certificate)),
    )?;
    Certificate::parse(peer.unwrap_or_default())
}

/// The same for who needs nothing of the peer's certificate but its key.
///
/// A certificate is read anew for each question about it: while P-256 is done, the stack holds none.
pub fn verified_key<'c, C: Hashes + P256>(
    crypto: &mut C,
    trust: &Trust<'_>,
    chain: impl IntoIterator<Item = &'c [u8]>,
) -> Result<&'c [u8; P_256_POINT], Error> {
    let mut chain = chain.into_iter();
    let mut last = chain.next().ok_or(Error::UnknownAuthority)?;
    let key = shown_key(trust, last)?;
    let (mut below, mut left) = (0, MAX_CHAIN);
    loop {
        let trusted = signed_by_trusted(crypto, trust, last, below, &mut left);
        // Who is trusted may bear the same name with another key, as an authority does that has signed its own new one.
        let (Err(_), Some(next)) = (trusted, chain.next()) else { return trusted.map(|()| key) };
        is_signed(crypto, trust, last, next, below, &mut left)?;
        // An authority that goes on with a new key is not one more.
        below += u8::from(!is_issuer(next, next));
        last = next;
    }
}

/// The key in the peer's own certificate, if that is valid, for its purpose, and bears the name.
#[inline(never)]
fn shown_key<'c>(trust: &Trust<'_>, certificate: &'c [u8]) -> Result<&'c [u8; P_256_POINT], Error> {
    let peer = Certificate::parse(certificate)?;
    peer.is_for(trust.purpose)?;
    if trust.name.is_some_and(|name| !peer.is_named(name)) {
        return Err(Error::Name);
    }
    peer.is_valid(trust.clock)?;
    Ok(peer.public_key())
}

/// Whether an authority that is trusted signed `certificate`, below which there are `below` authorities. Several may bear its
/// issuer's name, when one is about to replace another.
fn signed_by_trusted<C: Hashes + P256>(
    crypto: &mut C,
    trust: &Trust<'_>,
    certificate: &[u8],
    below: u8,
    left: &mut u8,
) -> Result<(), Error> {
    let mut outcome = Err(Error::UnknownAuthority);
    for authority in trust.authorities.iter().filter(|authority| is_issuer(authority, certificate)) {
        outcome = is_signed(crypto, trust, certificate, authority, below, left);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Whether the certificate `authority` can be read, and bears the name of who issued the other.
#[inline(never)]
fn is_issuer(authority: &[u8], certificate: &[u8]) -> bool {
    let subject = Certificate::parse(authority).map(|authority| authority.subject());
    Certificate::parse(certificate).is_ok_and(|certificate| Ok(certificate.issuer()) == subject)
}

/// Whether `issuer` is valid, may sign certificates for the purpose, and signed this one, below which there are `below` authorities;
/// with `left` signatures left to be verified.
#[inline(never)]
fn is_signed<C: Hashes + P256>(
    crypto: &mut C,
    trust: &Trust<'_>,
    certificate: &[u8],
    issuer: &[u8],
    below: u8,
    left: &mut u8,
) -> Result<(), Error> {
    match &claim(crypto, trust, certificate, issuer, below) {
        Ok(claim) => {
            *left = left.checked_sub(1).ok_or(Error::PathLength)?;
            claim.verify(crypto)
        }
        Err(error) => Err(*error),
    }
}

/// What is to be shown of a certificate, all else being right.
#[inline(never)]
fn claim<'i, C: Hashes>(
    crypto: &mut C,
    trust: &Trust<'_>,
    certificate: &[u8],
    issuer: &'i [u8],
    below: u8,
) -> Result<Claim<'i>, Error> {
    let (certificate, issuer) = (Certificate::parse(certificate)?, Certificate::parse(issuer)?);
    if issuer.subject() != certificate.issuer() {
        return Err(Error::UnknownAuthority);
    }
    issuer.may_sign_certificates(below)?;
    issuer.allows(trust.purpose)?;
    issuer.is_valid(trust.clock)?;
    Ok(certificate.claim(crypto, &issuer))
}
