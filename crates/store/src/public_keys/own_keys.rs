//! The cloud's own keys, and what its authority signs.

use std::io;
use std::path::Path;

use sixlock_crypto::Soft;
use sixlock_dtls::{CertificateType, Credentials};
use sixlock_x509::{Certificate, Purpose, Template};
use zeroize::Zeroizing;

use super::key_pair::{KeyPair, fingerprint};
use super::pem;
use super::time::{DAY, FOR_EVER, time};
use crate::clock::now_ms;
use crate::error::Error;
use crate::files::{create_private, read_private};
use crate::secrets::{hex, random};

/// The name in the cloud's certificate. No device's has it.
pub const CLOUD_NAME: &str = "sixlock-cloud";

/// The files of the authority and of the cloud in the data folder: each holds a private key and its certificate.
pub(crate) const FILES: [&str; 2] = ["authority.pem", "cloud.pem"];

/// The fingerprints of the keys in [`FILES`], in this order; `None` where none is known.
pub(crate) type Fingerprints = [Option<String>; FILES.len()];

/// The longest name in a certificate that is made here, in bytes
/// ([RFC 5280 appendix A.1](https://www.rfc-editor.org/rfc/rfc5280#appendix-A.1)).
const LONGEST_NAME: usize = 64;
/// Room for a certificate that is made here.
const LONGEST_CERTIFICATE: usize = 512;

/// A key pair and its certificate.
struct Certified {
    pair: KeyPair,
    certificate: Vec<u8>,
}

/// The authority's keys and the cloud's.
pub struct OwnKeys {
    authority: Certified,
    cloud: Certified,
}

impl OwnKeys {
    /// Those in the folder `directory`, which have these fingerprints. What is missing is made, unless a fingerprint or what was
    /// made later tells that it was there.
    pub(crate) fn open(directory: &Path, known: &Fingerprints) -> Result<Self, Error> {
        let [authority_file, cloud_file] = FILES.map(|file| directory.join(file));
        let [known_authority, known_cloud] = known.each_ref().map(Option::as_deref);
        let authority = open(&authority_file, known_authority, || {
            if cloud_file.exists() {
                return Err(Error::OwnKeyMissing(authority_file.clone()));
            }
            let (pair, name) = (KeyPair::random()?, format!("sixlock-{}", hex(&random::<4>()?)));
            let certificate = sign(&pair, &name, (&name, &pair.point), FOR_EVER, Signed::Authority)?;
            Ok(Certified { pair, certificate })
        })?;
        let cloud = open(&cloud_file, known_cloud, || {
            let pair = KeyPair::random()?;
            let certificate =
                sign(&authority.pair, authority.name()?, (CLOUD_NAME, &pair.point), FOR_EVER, CLOUD)?;
            Ok(Certified { pair, certificate })
        })?;
        Ok(Self { authority, cloud })
    }

    /// A certificate for the device of this name and public key, good from the beginning of this day until `until`, in
    /// seconds after 1970; to be shown as these.
    pub fn issue(
        &self,
        name: &str,
        point: &[u8; 65],
        until: i64,
        purposes: &[Purpose],
    ) -> Result<Vec<u8>, Error> {
        if name.len() > LONGEST_NAME {
            return Err(Error::Invalid("a name in a certificate has at most 64 bytes"));
        }
        sign(&self.authority.pair, self.authority.name()?, (name, point), until, Signed::Holder(purposes))
    }

    /// The certificate of the authority, in DER.
    pub fn authority(&self) -> &[u8] {
        &self.authority.certificate
    }

    /// The cloud's certificate, in DER.
    pub fn certificate(&self) -> &[u8] {
        &self.cloud.certificate
    }

    /// The cloud's public key: a point, uncompressed.
    pub fn public_key(&self) -> &[u8; 65] {
        &self.cloud.pair.point
    }

    /// The public keys in [`FILES`], in this order.
    pub(super) fn points(&self) -> [&[u8; 65]; FILES.len()] {
        [&self.authority, &self.cloud].map(|certified| &certified.pair.point)
    }

    /// The cloud's private key.
    pub fn secret(&self) -> &[u8; 32] {
        &self.cloud.pair.secret
    }

    /// What handshakes show, to clients who are certified by the cloud's authority or these. It stays for as long as the
    /// program runs.
    pub fn credentials(&self, authorities: &[Vec<u8>]) -> &'static Credentials {
        let all = std::iter::once(self.authority()).chain(authorities.iter().map(Vec::as_slice));
        let names =
            all.filter_map(|der| Certificate::parse(der).ok()).map(|authority| leak(authority.subject()));
        Box::leak(Box::new(Credentials {
            raw_public_key: Some(*self.public_key()),
            certificates: vec![leak(self.certificate())].leak(),
            accepts: &[CertificateType::RawPublicKey, CertificateType::X509],
            mutual: true,
            authorities: names.collect::<Vec<_>>().leak(),
        }))
    }

    /// What handshakes show to a server that has such a certificate: one of the same kind. It stays for as long as the program
    /// runs.
    pub fn credentials_of(&self, kind: CertificateType) -> &'static Credentials {
        let (raw_public_key, certificates, accepts): (_, &'static [&'static [u8]], &'static [_]) = match kind
        {
            CertificateType::RawPublicKey => {
                (Some(*self.public_key()), &[], &[CertificateType::RawPublicKey])
            }
            CertificateType::X509 => (None, vec![leak(self.certificate())].leak(), &[CertificateType::X509]),
        };
        let shown = Credentials { raw_public_key, certificates, accepts, mutual: true, authorities: &[] };
        Box::leak(Box::new(shown))
    }
}

fn leak(bytes: &[u8]) -> &'static [u8] {
    bytes.to_vec().leak()
}

impl Certified {
    fn name(&self) -> Result<&str, Error> {
        let parsed = Certificate::parse(&self.certificate).ok();
        let name = parsed.and_then(|certificate| certificate.common_name());
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        name.ok_or(Error::Invalid("the authority's certificate has no name"))
    }
}

/// Checks that the files in the folder `directory` hold the keys of these fingerprints. One that none is known of may be missing.
pub(crate) fn check(directory: &Path, known: &Fingerprints) -> Result<(), Error> {
    FILES
        .iter()
        .zip(known)
        .try_for_each(|(file, known)| read(&directory.join(file), known.as_deref()).map(drop))
}

/// What is in the file at `path`; what `make` makes, if it is not there and no fingerprint is known.
fn open(
    path: &Path,
    known: Option<&str>,
    make: impl FnOnce() -> Result<Certified, Error>,
) -> Result<Certified, Error> {
    if let Some(present) = read(path, known)? {
        return Ok(present);
    }
    let made = make()?;
    let mut text = pem::private_key(&made.pair);
    text.push_str(&pem::certificate(&made.certificate));
    create_private(path, text.trim_end()).map_err(|error| Error::file(path, error))?;
    Ok(made)
}

/// What is in the file at `path`, with the key of this fingerprint; `None` if it is not there and no fingerprint is known.
fn read(path: &Path, known: Option<&str>) -> Result<Option<Certified>, Error> {
    let text = match read_private(path) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if known.is_some() { Err(Error::OwnKeyMissing(path.to_owned())) } else { Ok(None) };
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(Error::OwnKey(path.to_owned()));
        }
        Err(error) => return Err(Error::file(path, error)),
    };
    let pem::Contents { private_key, certificates, .. } = pem::read(&text);
    let pair = private_key.and_then(KeyPair::of);
    let certificate = certificates.into_iter().next().zip(pair).filter(|(certificate, pair)| {
        Certificate::parse(certificate).is_ok_and(|parsed| *parsed.public_key() == pair.point)
    });
    let (certificate, pair) = certificate.ok_or_else(|| Error::OwnKey(path.to_owned()))?;
    if known.is_some_and(|known| known != fingerprint(&pair.point)) {
        return Err(Error::WrongOwnKey(path.to_owned()));
    }
    Ok(Some(Certified { pair, certificate }))
}

/// Who is given a certificate.
enum Signed<'a> {
    /// An authority.
    Authority,
    /// Who shows it as these.
    Holder(&'a [Purpose]),
}

/// The cloud is a server of its devices, and a client of those that it polls.
const CLOUD: Signed<'_> = Signed::Holder(&[Purpose::Client, Purpose::Server]);

/// Signs a certificate for the subject of this name and public key.
fn sign(
    issuer: &KeyPair,
    issuer_name: &str,
    (subject, public_key): (&str, &[u8; 65]),
    until: i64,
    who: Signed<'_>,
) -> Result<Vec<u8>, Error> {
    let mut serial = random::<8>()?;
    // It is to be positive, and without zeros before it.
    serial[0] = serial[0] & 0x3f | 0x40;
    let now = now_ms() / 1000;
    let template = Template {
        serial: &serial,
        issuer: issuer_name,
        subject,
        validity: (time(now - now % DAY), time(until)),
        public_key,
        authority: matches!(who, Signed::Authority),
        purposes: match who {
            Signed::Authority => &[],
            Signed::Holder(purposes) => purposes,
        },
    };
    let mut room = [0; LONGEST_CERTIFICATE];
    let certificate = template.issue(&mut Soft, &issuer.secret, &mut room);
    certificate.map(<[u8]>::to_vec).ok_or(Error::Invalid("the certificate cannot be made of this"))
}
