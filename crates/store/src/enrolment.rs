//! What a credential is made of: what is wanted is checked, and what is not there is made.

use sixlock_endpoint::AuthenticationMethod;
use sixlock_ingest::is_hidden;
use sixlock_x509::{Certificate, Purpose};

use crate::error::Error;
use crate::public_keys::{CLOUD_NAME, OwnKeys, expires, fingerprint, pem};
use crate::secrets::{self, Secret};

/// The longest identity and the longest key that
/// [RFC 4279 section 5.3](https://www.rfc-editor.org/rfc/rfc4279#section-5.3) asks to support.
pub(crate) const LONGEST_IDENTITY: usize = 128;
const LONGEST_KEY: usize = 64;
/// The shortest key: 128 bits, if they are random.
const SHORTEST_KEY: usize = 16;
const PUBLIC_KEY_RULE: &str = "the key is not a public key or certificate of P-256, in PEM";
/// For how long a certificate is good that is made here, unless it is said: two years, in seconds.
const VALID_S: u32 = 2 * 365 * 24 * 3600;

/// An identity and what proves it, of the form that they need.
pub(crate) struct NewCredential {
    pub(crate) method: AuthenticationMethod,
    pub(crate) identity: String,
    /// As in [`Known`](super::Known).
    pub(crate) key: Secret,
    /// The certificate that was made for it.
    pub(crate) certificate: Option<Vec<u8>>,
    /// When its certificate ends, in milliseconds since 1970, if it was made here or given.
    pub(crate) certificate_expires: Option<i64>,
}

/// What a certificate says, besides whose it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificateTerms {
    /// For how many seconds it is good; without it, two years.
    pub valid_s: Option<u32>,
    /// Whether its device is a server, too, as one is that is polled. Who is none cannot pose as the cloud, not even to devices
    /// that do not check its name.
    pub server: bool,
}

impl CertificateTerms {
    fn purposes(self) -> &'static [Purpose] {
        if self.server { &[Purpose::Client, Purpose::Server] } else { &[Purpose::Client] }
    }
}

/// What a credential is to be made of.
pub(crate) struct Wanted<'a> {
    pub(crate) method: AuthenticationMethod,
    pub(crate) identity: Option<String>,
    /// The identity, if none is stated.
    pub(crate) name: &'a str,
    /// A pre-shared key; or a public key or certificate, in PEM.
    pub(crate) key: Option<Secret>,
    /// What a certificate is to say that is made.
    pub(crate) certificate: CertificateTerms,
}

impl NewCredential {
    /// Checks what is wanted, and makes what is not there: a pre-shared key, or the certificate of a public one.
    pub(crate) fn new(own: &OwnKeys, wanted: Wanted<'_>, now: i64) -> Result<Self, Error> {
        let method = wanted.method;
        let credential = match method {
            AuthenticationMethod::PreSharedKey => Self::pre_shared(wanted),
            AuthenticationMethod::RawPublicKey => Self::raw(wanted),
            AuthenticationMethod::Certificate => Self::certified(own, wanted, now),
        }?;
        let identity = &credential.identity;
        if !(1..=LONGEST_IDENTITY).contains(&identity.len()) || identity.chars().any(is_hidden) {
            return Err(Error::Invalid(
                "an identity has 1 to 128 bytes, and no characters that cannot be seen",
            ));
        }
        Ok(credential)
    }

    /// Whether the device can have no other identity with its key: that is its fingerprint, or stands in its certificate.
    pub(crate) fn is_named_by_key(&self) -> bool {
        match self.method {
            AuthenticationMethod::PreSharedKey => false,
            AuthenticationMethod::RawPublicKey => true,
            AuthenticationMethod::Certificate => self.certificate.is_none(),
        }
    }

    /// What is told of it, once: the identity, and the pre-shared key or a certificate that was made.
    pub(crate) fn disclose(self) -> (String, Option<Secret>, Option<Vec<u8>>) {
        let Self { method, identity, key, certificate, .. } = self;
        (identity, (method == AuthenticationMethod::PreSharedKey).then_some(key), certificate)
    }

    fn pre_shared(Wanted { method, identity, name, key, .. }: Wanted<'_>) -> Result<Self, Error> {
        let key = match key {
            Some(key) => key,
            None => Secret::new(secrets::printable_key()?.into_bytes()),
        };
        if !(SHORTEST_KEY..=LONGEST_KEY).contains(&key.bytes().len()) {
            return Err(Error::Invalid("a pre-shared key has 16 to 64 bytes"));
        }
        let identity = identity.unwrap_or_else(|| name.to_owned());
        Ok(Self { method, identity, key, certificate: None, certificate_expires: None })
    }

    fn raw(Wanted { method, identity, key, .. }: Wanted<'_>) -> Result<Self, Error> {
        let read = key.map(|key| read(&key).public_key.ok_or(Error::Invalid(PUBLIC_KEY_RULE))).transpose()?;
        let identity = match (identity.map(|identity| identity.to_ascii_lowercase()), read) {
            (Some(identity), None)
                if identity.len() == 64 && identity.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
            {
                identity
            }
            (None, Some(point)) => fingerprint(&point),
            (Some(identity), Some(point)) if identity == fingerprint(&point) => identity,
            _ => {
                return Err(Error::Invalid(
                    "with dtls-rpk the key is the public key, which sixlock keys makes, and the identity, if stated, SHA-256 of it in hexadecimal \
                     digits",
                ));
            }
        };
        let key = Secret::new(Vec::new());
        Ok(Self { method, identity, key, certificate: None, certificate_expires: None })
    }

    fn certified(
        own: &OwnKeys,
        Wanted { method, identity, name, key, certificate: terms }: Wanted<'_>,
        now: i64,
    ) -> Result<Self, Error> {
        let contents = key.as_ref().map(read).unwrap_or_default();
        let (identity, key, certificate) = match (contents.certificates.first(), contents.public_key) {
            (Some(der), _) => {
                let parsed = Certificate::parse(der).map_err(|_| Error::Invalid(PUBLIC_KEY_RULE))?;
                let named = parsed.identity().and_then(|name| str::from_utf8(name).ok());
                let named = named.filter(|named| identity.as_ref().is_none_or(|identity| identity == named));
                let named = named.ok_or(Error::Invalid("the identity is the name in the certificate"))?;
                (named.to_owned(), parsed.public_key().to_vec(), None)
            }
            (None, Some(point)) => {
                let identity = identity.unwrap_or_else(|| name.to_owned());
                let until = now / 1000 + i64::from(terms.valid_s.unwrap_or(VALID_S));
                let certificate = own.issue(&identity, &point, until, terms.purposes())?;
                (identity, point.to_vec(), Some(certificate))
            }
            (None, None) if key.is_none() => {
                let identity = identity.ok_or(Error::Invalid(
                    "with dtls-x509 the key is the public key to be certified, which sixlock keys makes, or the device's certificate; \
                     without it, the identity is the name in certificates of another authority",
                ))?;
                (identity, Vec::new(), None)
            }
            (None, None) => return Err(Error::Invalid(PUBLIC_KEY_RULE)),
        };
        if identity.eq_ignore_ascii_case(CLOUD_NAME) {
            return Err(Error::Invalid("this is the name of the cloud; choose another"));
        }
        let shown = certificate.as_ref().or(contents.certificates.first());
        let certificate_expires = shown.and_then(|certificate| expires(certificate));
        Ok(Self { method, identity, key: Secret::new(key), certificate, certificate_expires })
    }
}

/// Reads keys and certificates.
fn read(text: &Secret) -> pem::Contents {
    str::from_utf8(text.bytes()).map(pem::read).unwrap_or_default()
}
