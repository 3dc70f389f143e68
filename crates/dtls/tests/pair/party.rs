//! Public keys, raw and in certificates, and who trusts whom.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PublicKeyData as _, date_time_ymd,
};
use sixlock_crypto::Soft;
use sixlock_crypto::p256::P256 as _;
use sixlock_dtls::{Answer, CertificateType, Certified, Credentials, Task, Trusted, perform};
use sixlock_testing::Rig;
use sixlock_x509::{Certificate, Clock, Purpose, Time, Trust};

use super::{Ends, Side};

/// Both with all there is, public keys included.
pub(crate) type Public = Ends<Certified, Certified>;

/// One side's keys, and whom it trusts. What lives as long as the program is leaked.
#[derive(Clone)]
pub(crate) struct Party {
    pub(crate) credentials: &'static Credentials,
    pub(crate) secret: [u8; 32],
    pub(crate) trusted_keys: Vec<[u8; 65]>,
    pub(crate) authorities: Vec<&'static [u8]>,
    pub(crate) clock: Clock,
    pub(crate) name: Option<&'static [u8]>,
}

impl Party {
    /// Does what a session asks for.
    pub(crate) fn answer(&self, side: Side, rig: &mut Rig, task: Task<'_>) -> Answer {
        let purpose = if side == Side::Client { Purpose::Server } else { Purpose::Client };
        let trust = Trust { authorities: &self.authorities, clock: self.clock, purpose, name: self.name };
        let trusted = Trusted { raw_public_keys: &self.trusted_keys, certificates: Some(trust) };
        perform(&mut Soft, &mut rig.entropy, &self.secret, &trusted, task)
    }

    /// The same with other credentials.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Credentials)) -> Self {
        let mut credentials = *self.credentials;
        change(&mut credentials);
        self.credentials = Box::leak(Box::new(credentials));
        self
    }
}

/// What a side without keys of its own does: its ephemeral ones.
pub(crate) fn ephemeral(rig: &mut Rig, task: Task<'_>) -> Answer {
    let trusted = Trusted { raw_public_keys: &[], certificates: None };
    perform(&mut Soft, &mut rig.entropy, &[0; 32], &trusted, task)
}

/// A day in 2025.
pub(crate) fn day(number: u32) -> Time {
    Time::new(20_089 + number, 0)
}

/// A client and a server that know each other's raw public keys.
pub(crate) fn raw() -> [Party; 2] {
    let secrets = [[1; 32], [2; 32]];
    let points = secrets.map(|secret| Soft.p256_public_key(&secret).unwrap());
    [0, 1].map(|own| Party {
        credentials: Box::leak(Box::new(Credentials {
            raw_public_key: Some(points[own]),
            certificates: &[],
            accepts: &[CertificateType::RawPublicKey],
            mutual: true,
            authorities: &[],
        })),
        secret: secrets[own],
        trusted_keys: vec![points[1 - own]],
        authorities: Vec::new(),
        clock: Clock::At(day(100)),
        name: None,
    })
}

/// A client and a server whose certificates the same authority has signed.
pub(crate) fn certified() -> [Party; 2] {
    certified_by("authority")
}

/// The same, of an authority of this name.
pub(crate) fn certified_by(authority: &str) -> [Party; 2] {
    let params = |name: &str| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        (params.not_before, params.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(2025, 12, 31));
        params
    };
    let key = KeyPair::generate().unwrap();
    let mut root = params(authority);
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    root.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority: &'static [u8] = root.self_signed(&key).unwrap().der().to_vec().leak();
    let authority_name = Certificate::parse(authority).unwrap().subject();
    let issuer = Issuer::new(root, key);
    ["02-12-74-00-00-00-00-01", "cloud.example"].map(|name| {
        let key = KeyPair::generate().unwrap();
        let mut own = params(name);
        own.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let own: &'static [u8] = own.signed_by(&key, &issuer).unwrap().der().to_vec().leak();
        Party {
            credentials: Box::leak(Box::new(Credentials {
                raw_public_key: None,
                certificates: vec![own].leak(),
                accepts: &[CertificateType::X509],
                mutual: true,
                authorities: vec![authority_name].leak(),
            })),
            secret: secret(&key),
            trusted_keys: Vec::new(),
            authorities: vec![authority],
            clock: Clock::At(day(100)),
            name: None,
        }
    })
}

/// The private key in a PKCS #8 structure: an octet string of 32 bytes, behind the only integer 1 in an inner sequence.
fn secret(key: &KeyPair) -> [u8; 32] {
    let der = key.serialize_der();
    let front = [2, 1, 1, 4, 32];
    let at = der.windows(front.len()).position(|window| window == front).unwrap() + front.len();
    let secret = der[at..at + 32].try_into().unwrap();
    assert_eq!(Soft.p256_public_key(&secret).unwrap()[..], *key.der_bytes());
    secret
}
