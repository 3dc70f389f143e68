//! What a handshake keeps of public keys, and what hellos say of them.

use sixlock_crypto::SHA_256_DIGEST;
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE};
use sixlock_dtls_msg::{
    AlertDescription, Certificate, CertificateType, ClientHello, Extension, ExtensionType, Extensions,
    NamedGroup, Numbers, SignatureAlgorithm, UNCOMPRESSED, bytes_from_extension,
};

use crate::{Credentials, OptionalPart, Refusal, Suite, Task};

/// The longest Certificate message, in bytes, that a session of a host takes: a few certificates of P-256.
pub const MAX_CERTIFICATES: usize = 1024;

/// What a handshake keeps of public keys.
pub struct KeyParameters {
    pub(crate) credentials: Option<&'static Credentials>,
    /// How our certificate and the peer's are written.
    pub(crate) own_type: CertificateType,
    pub(crate) peer_type: CertificateType,
    /// What of this a server's hello says, because its client's asked.
    says: Says,
    /// The client is asked for its certificate.
    pub(crate) asked: bool,
    /// The client has one that suits.
    pub(crate) suits: bool,
    /// Our ephemeral keys.
    pub(crate) secret: [u8; P_256_SECRET],
    pub(crate) point: [u8; P_256_POINT],
    /// The peer's ephemeral key.
    pub(crate) peer_point: [u8; P_256_POINT],
    /// The key of the peer's certificate.
    pub(crate) peer_key: [u8; P_256_POINT],
    /// What is to be signed, or was by the peer.
    pub(crate) digest: [u8; SHA_256_DIGEST],
    /// The hash of all messages up to the client's ephemeral key.
    pub(crate) session_hash: [u8; SHA_256_DIGEST],
    pub(crate) signature: [u8; P_256_SIGNATURE],
    pub(crate) peer_signature: [u8; P_256_SIGNATURE],
    /// What tells the server's Certificate and CertificateRequest from others, or its ServerKeyExchange without a certificate.
    pub(crate) fingerprints: [Fingerprint; 2],
    /// A message of the server's flight did not fit to what was taken of it: something of that may be forged.
    pub(crate) contradicted: bool,
    /// Why the peer's last flight was refused.
    pub(crate) refusal: Option<AlertDescription>,
}

/// The beginning of a digest.
pub(crate) type Fingerprint = [u8; FINGERPRINT];
const FINGERPRINT: usize = 8;

/// The extensions of a server's hello.
#[derive(Clone, Copy)]
struct Says {
    own_type: bool,
    peer_type: bool,
    formats: bool,
}

impl OptionalPart<Self> for KeyParameters {
    const EMPTY: Self = Self {
        credentials: None,
        own_type: CertificateType::X509,
        peer_type: CertificateType::X509,
        says: Says { own_type: false, peer_type: false, formats: false },
        asked: false,
        suits: false,
        secret: [0; P_256_SECRET],
        point: [0; P_256_POINT],
        peer_point: [0; P_256_POINT],
        peer_key: [0; P_256_POINT],
        digest: [0; SHA_256_DIGEST],
        session_hash: [0; SHA_256_DIGEST],
        signature: [0; P_256_SIGNATURE],
        peer_signature: [0; P_256_SIGNATURE],
        fingerprints: [[0; FINGERPRINT]; 2],
        contradicted: false,
        refusal: None,
    };

    fn get(&self) -> Option<&Self> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

/// A list of certificate types as the content of an extension: behind its length, in bytes.
struct Types {
    bytes: [u8; 3],
}

impl Types {
    fn new(types: impl Iterator<Item = CertificateType>) -> Self {
        let mut bytes = [0; 3];
        for kind in types {
            let count = usize::from(bytes[0]) + 1;
            if let Some(place) = bytes.get_mut(count) {
                *place = kind as u8;
                bytes[0] = count as u8;
            }
        }
        Self { bytes }
    }

    /// The extension's content; none if nothing has to be said, for certificates are X.509's.
    fn extension(&self) -> Option<&[u8]> {
        let (&count, types) = self.bytes.split_first()?;
        let types = types.get(..count.into())?;
        (!types.is_empty() && *types != [CertificateType::X509 as u8]).then(|| &self.bytes[..=count.into()])
    }
}

/// The first type in `list`, the content of the peer's extension, that is one of `types`; without the extension, X.509's if it is.
fn first_of(
    list: Option<&[u8]>,
    types: impl Iterator<Item = CertificateType> + Clone,
) -> Option<CertificateType> {
    let list = match list {
        Some(data) => bytes_from_extension(data).ok()?,
        None => &[CertificateType::X509 as u8],
    };
    list.iter().find_map(|&number| types.clone().find(|&kind| kind as u8 == number))
}

/// Whether a byte is among these few.
#[expect(
    clippy::manual_contains,
    reason = "the library's search is made for long lists, and takes 150 bytes of flash"
)]
pub(crate) fn is_among(byte: u8, bytes: &[u8]) -> bool {
    bytes.iter().any(|&other| other == byte)
}

/// Whether the one known form of points is in a list of them, the content of an extension.
fn is_format_known(data: &[u8]) -> bool {
    bytes_from_extension(data).is_ok_and(|formats| is_among(UNCOMPRESSED, formats))
}

/// Which suites a client's hello leaves.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ways {
    /// Those with ephemeral keys.
    pub(crate) agreed: bool,
    /// Of those the ones with certificates.
    pub(crate) certified: bool,
}

impl KeyParameters {
    /// Makes all of it what it was at first, but for the credentials.
    pub(crate) fn clear(&mut self) {
        let credentials = self.credentials;
        *self = Self::EMPTY;
        self.credentials = credentials;
    }

    /// What a client's hello says of public keys ([RFC 8422 section 5.1](https://www.rfc-editor.org/rfc/rfc8422#section-5.1),
    /// [RFC 7250 section 4.1](https://www.rfc-editor.org/rfc/rfc7250#section-4.1)).
    ///
    /// It says nothing of certificates if no suite with them is `certified`, and nothing of ephemeral keys if none is `agreed`.
    pub(crate) fn ask(&self, certified: bool, agreed: bool, mut emit: impl FnMut(ExtensionType, &[u8])) {
        let credentials = self.credentials.filter(|_| certified);
        if credentials.is_some() {
            let [high, low] = SignatureAlgorithm::ECDSA_SHA_256.0.to_be_bytes();
            emit(ExtensionType::SIGNATURE_ALGORITHMS, &[0, 2, high, low]);
        }
        if agreed {
            let [high, low] = NamedGroup::SECP_256_R1.0.to_be_bytes();
            emit(ExtensionType::SUPPORTED_GROUPS, &[0, 2, high, low]);
            emit(ExtensionType::EC_POINT_FORMATS, &[1, UNCOMPRESSED]);
        }
        let Some(credentials) = credentials else { return };
        let (shows, accepts) =
            (Types::new(credentials.shows()), Types::new(credentials.accepts.iter().copied()));
        if let Some(types) = shows.extension() {
            emit(ExtensionType::CLIENT_CERTIFICATE_TYPE, types);
        }
        if let Some(types) = accepts.extension() {
            emit(ExtensionType::SERVER_CERTIFICATE_TYPE, types);
        }
    }

    /// What a server's hello says of them; of certificates only if it is to show one.
    pub(crate) fn answer(&self, certified: bool, mut emit: impl FnMut(ExtensionType, &[u8])) {
        if self.says.formats {
            emit(ExtensionType::EC_POINT_FORMATS, &[1, UNCOMPRESSED]);
        }
        if !certified {
            return;
        }
        if self.says.peer_type {
            emit(ExtensionType::CLIENT_CERTIFICATE_TYPE, &[self.peer_type as u8]);
        }
        if self.says.own_type {
            emit(ExtensionType::SERVER_CERTIFICATE_TYPE, &[self.own_type as u8]);
        }
    }

    /// Chooses how a server's certificate and its client's are written, and tells which ways the client's hello leaves.
    pub(crate) fn choose(&mut self, hello: &ClientHello<'_>) -> Ways {
        let find = |kind| hello.extensions.find(kind);
        let knows = |kind, number| {
            find(kind).map(|data| Numbers::from_extension(data).is_ok_and(|list| list.contains(number)))
        };
        let formats = find(ExtensionType::EC_POINT_FORMATS);
        let own = find(ExtensionType::SERVER_CERTIFICATE_TYPE);
        let peer = find(ExtensionType::CLIENT_CERTIFICATE_TYPE);
        // Without this a client may do anything with any group: https://www.rfc-editor.org/rfc/rfc8422#section-4
        let group = knows(ExtensionType::SUPPORTED_GROUPS, NamedGroup::SECP_256_R1.0).unwrap_or(true);
        // Without this it takes SHA-1 only: https://www.rfc-editor.org/rfc/rfc5246#section-7.4.1.4.1
        let algorithm = knows(ExtensionType::SIGNATURE_ALGORITHMS, SignatureAlgorithm::ECDSA_SHA_256.0);
        let format = formats.is_none_or(is_format_known);
        let agreed = group && format;
        self.says = Says { own_type: own.is_some(), peer_type: false, formats: formats.is_some() };
        let Some(credentials) = self.credentials else { return Ways { agreed, certified: false } };
        let peer_type = first_of(peer, credentials.accepts.iter().copied());
        // Who takes both kinds is shown the kind that they show.
        let same = credentials.shows().filter(|&kind| Some(kind) == peer_type && credentials.mutual);
        let own_type = first_of(own, same).or_else(|| first_of(own, credentials.shows()));
        let peer_type = peer_type.or((!credentials.mutual).then_some(CertificateType::X509));
        let (Some(own_type), Some(peer_type)) = (own_type, peer_type) else {
            return Ways { agreed, certified: false };
        };
        (self.own_type, self.peer_type, self.asked) = (own_type, peer_type, credentials.mutual);
        self.says.peer_type = peer.is_some() && credentials.mutual;
        Ways { agreed, certified: agreed && algorithm == Some(true) }
    }

    /// Takes note of what a server's hello says of certificates; false if it may not say it.
    pub(crate) fn answered(&mut self, extensions: Extensions<'_>) -> bool {
        let Some(credentials) = self.credentials else { return false };
        let chosen = |kind| match extensions.find(kind) {
            None => Some(CertificateType::X509 as u8),
            Some(&[number]) => Some(number),
            Some(_) => None,
        };
        let own = chosen(ExtensionType::CLIENT_CERTIFICATE_TYPE);
        let peer = chosen(ExtensionType::SERVER_CERTIFICATE_TYPE);
        let peer = credentials.accepts.iter().copied().find(|&kind| Some(kind as u8) == peer);
        let own = match extensions.find(ExtensionType::CLIENT_CERTIFICATE_TYPE) {
            // It asks for none, or for one that we may not have: then we show none.
            None => Some(CertificateType::X509),
            Some(_) => credentials.shows().find(|&kind| Some(kind as u8) == own),
        };
        let (Some(own), Some(peer)) = (own, peer) else { return false };
        (self.own_type, self.peer_type) = (own, peer);
        true
    }

    /// Whether a server that chose this suite may say this in its hello.
    pub(crate) fn answers(suite: Suite, extension: Extension<'_>) -> bool {
        match extension.kind {
            ExtensionType::EC_POINT_FORMATS => suite.has_ephemeral_keys() && is_format_known(extension.data),
            ExtensionType::CLIENT_CERTIFICATE_TYPE | ExtensionType::SERVER_CERTIFICATE_TYPE => {
                suite.has_public_keys()
            }
            _ => false,
        }
    }

    /// The names of the authorities that a server trusts, if it takes certificates of X.509.
    pub(crate) fn authorities(&self) -> impl Iterator<Item = &'static [u8]> + Clone + use<> {
        let credentials = self.credentials.filter(|_| self.peer_type == CertificateType::X509);
        credentials.map_or(&[][..], |credentials| credentials.authorities).iter().copied()
    }
}

impl KeyParameters {
    /// What is to be done; `certificates` is the peer's Certificate message.
    pub(crate) fn task<'p>(&'p self, operation: KeyOperation, certificates: &'p [u8]) -> Option<Task<'p>> {
        Some(match operation {
            KeyOperation::Generate => Task::Generate,
            KeyOperation::Sign => Task::Sign { digest: &self.digest },
            KeyOperation::Chain => {
                Task::Chain { certificate: Certificate::parse(certificates, self.peer_type).ok()? }
            }
            KeyOperation::Verify => {
                Task::Verify { key: &self.peer_key, digest: &self.digest, signature: &self.peer_signature }
            }
            KeyOperation::Agree => Task::Agree { secret: &self.secret, point: &self.peer_point },
        })
    }
}

/// Which operation with P-256 a role waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyOperation {
    Generate,
    Sign,
    Chain,
    Verify,
    Agree,
}

/// Why an operation ended with this alert.
pub(crate) const fn refusal(operation: KeyOperation, alert: AlertDescription) -> Refusal {
    match (operation, alert) {
        (KeyOperation::Generate | KeyOperation::Sign, _) => Refusal::OwnKey,
        (KeyOperation::Verify, _) => Refusal::Signature,
        (KeyOperation::Agree, _) => Refusal::Point,
        (KeyOperation::Chain, AlertDescription::CERTIFICATE_EXPIRED) => Refusal::CertificateExpired,
        (KeyOperation::Chain, AlertDescription::UNKNOWN_CA) => Refusal::UnknownAuthority,
        (KeyOperation::Chain, AlertDescription::UNSUPPORTED_CERTIFICATE) => Refusal::CertificateUnsupported,
        (KeyOperation::Chain, AlertDescription::BAD_CERTIFICATE) => Refusal::CertificateInvalid,
        (KeyOperation::Chain, _) => Refusal::CertificateUse,
    }
}
