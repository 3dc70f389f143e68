use sixlock_base::Entropy;
use sixlock_crypto::Hashes;
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P256};
use sixlock_dtls_msg::{AlertDescription, Certificate};
use sixlock_x509::{Error, Trust, public_key, verified_key};
use zeroize::Zeroizing;

use super::{Answer, Task};

/// Whom a side trusts.
#[derive(Clone, Copy, Debug)]
pub struct Trusted<'a> {
    /// The raw public keys that are known.
    pub raw_public_keys: &'a [[u8; P_256_POINT]],
    /// What certificates are judged by; none if none is taken.
    pub certificates: Option<Trust<'a>>,
}

/// Does a task at once, as a device does that has nothing else to do; `secret` is the private key of our certificate.
#[inline(never)]
pub fn perform<C: Hashes + P256>(
    crypto: &mut C,
    entropy: &mut impl Entropy,
    secret: &[u8; P_256_SECRET],
    trusted: &Trusted<'_>,
    task: Task<'_>,
) -> Answer {
    match task {
        Task::Generate => generate(crypto, entropy),
        Task::Sign { digest } => crypto
            .p256_sign(secret, digest)
            .map_or(Answer::Refused(AlertDescription::INTERNAL_ERROR), Answer::Signature),
        Task::Chain { certificate } => match judge(crypto, trusted, certificate) {
            Ok(key) => Answer::Peer(*key),
            Err(error) => Answer::Refused(certificate_alert(error)),
        },
        Task::Verify { key, digest, signature } => match crypto.p256_verify(key, digest, signature) {
            Ok(()) => Answer::Verified,
            Err(_) => Answer::Refused(AlertDescription::DECRYPT_ERROR),
        },
        Task::Agree { secret, point } => crypto
            .p256_agree(secret, point)
            .map_or(Answer::Refused(AlertDescription::ILLEGAL_PARAMETER), Answer::Shared),
    }
}

#[inline(never)]
fn generate<C: P256>(crypto: &mut C, entropy: &mut impl Entropy) -> Answer {
    loop {
        let mut secret = Zeroizing::new([0; P_256_SECRET]);
        entropy.fill(&mut *secret);
        if let Some(point) = crypto.p256_public_key(&secret) {
            return Answer::KeyPair(secret, point);
        }
    }
}

#[inline(never)]
fn judge<'c, C: Hashes + P256>(
    crypto: &mut C,
    trusted: &Trusted<'_>,
    certificate: Certificate<'c>,
) -> Result<&'c [u8; P_256_POINT], Error> {
    match (certificate, &trusted.certificates) {
        (Certificate::RawPublicKey(info), _) => {
            let point = public_key(info)?;
            let known = trusted.raw_public_keys.contains(point);
            if known { Ok(point) } else { Err(Error::UnknownAuthority) }
        }
        (Certificate::X509(chain), Some(trust)) => verified_key(crypto, trust, chain.iter()),
        (Certificate::X509(_), None) => Err(Error::UnknownAuthority),
    }
}

/// What a peer is told about its certificate or raw public key that is not accepted ([RFC 5246 section 7.2.2](https://www.rfc-editor.org/rfc/rfc5246#section-7.2.2)).
pub fn certificate_alert(error: Error) -> AlertDescription {
    match error {
        Error::Expired | Error::NotYetValid => AlertDescription::CERTIFICATE_EXPIRED,
        Error::UnknownAuthority => AlertDescription::UNKNOWN_CA,
        Error::Version | Error::Algorithm | Error::Key | Error::CriticalExtension => {
            AlertDescription::UNSUPPORTED_CERTIFICATE
        }
        Error::Encoding | Error::RepeatedExtension | Error::Signature => AlertDescription::BAD_CERTIFICATE,
        Error::KeyUsage | Error::Purpose | Error::Name | Error::NotAuthority | Error::PathLength => {
            AlertDescription::CERTIFICATE_UNKNOWN
        }
    }
}
