//! The stateless answer to a client's first hello.

use sixlock_base::{Counter, Cx, Entropy};
use sixlock_crypto::{Crypto, constant_time_eq, wipe};
use sixlock_dtls_msg::{
    Alert, AlertDescription, ClientHello, ContentType, ExtensionType, HANDSHAKE_HEADER, HandshakeHeader,
    HandshakeType, HelloVerifyRequest, NULL_COMPRESSION, RECORD_HEADER, RecordHeader, SequenceNumber,
    Version, Window,
};

use crate::engine::message::Incoming;
use crate::engine::record::{PLAIN, emit_plain};
use crate::limit::Limits;
use crate::{Refusal, Refusal12, Suites};

/// Length of a cookie, in bytes.
pub const COOKIE: usize = 16;

const SECRET: usize = 32;

/// Length of the body of a HelloVerifyRequest: version, cookie length and cookie.
const VERIFY_REQUEST: usize = 3 + COOKIE;

/// The secrets that cookies are made with: the current one, and the one before so that no
/// client is turned away by a rotation.
pub struct CookieSecrets {
    current: [u8; SECRET],
    previous: [u8; SECRET],
}

impl CookieSecrets {
    /// Fresh secrets.
    pub fn new(entropy: &mut impl Entropy) -> Self {
        let mut secrets = Self { current: [0; SECRET], previous: [0; SECRET] };
        entropy.fill(&mut secrets.current);
        entropy.fill(&mut secrets.previous);
        secrets
    }

    /// Replaces the older secret: cookies live for one to two rotations.
    pub fn rotate(&mut self, entropy: &mut impl Entropy) {
        self.previous = self.current;
        entropy.fill(&mut self.current);
    }
}

impl Drop for CookieSecrets {
    fn drop(&mut self) {
        wipe(&mut self.current);
        wipe(&mut self.previous);
    }
}

/// A hello whose sender has shown that it receives what is sent to its address.
pub struct VerifiedClientHello<'d> {
    pub(crate) hello: ClientHello<'d>,
    pub(crate) message: Incoming<'d>,
    pub(crate) record_sequence: SequenceNumber,
}

/// What to do about a datagram that belongs to no session.
pub enum Listen<'d> {
    /// The first so many bytes of the output go back to the sender; nothing is kept.
    Reply(usize),
    /// The same, and the hello is refused.
    Refuse(usize, Refusal),
    /// A session may be made.
    Accept(VerifiedClientHello<'d>),
    /// Nothing: it is no hello that can be answered, and was counted.
    Drop(Refusal),
}

/// Whether a datagram begins with a ClientHello outside any protection: the beginning of a
/// session, even if its sender has one already.
pub fn is_client_hello(datagram: &[u8]) -> bool {
    RecordHeader::parse(datagram)
        .is_ok_and(|header| header.content_type == ContentType::Handshake && header.epoch == PLAIN)
        && datagram.get(RECORD_HEADER) == Some(&HandshakeType::CLIENT_HELLO.0)
}

/// Answers a datagram that belongs to no session, from `peer`, whose address in any form
/// that is its own. Nothing is kept and the answer is shorter than the hello
/// ([RFC 6347 section 4.2.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.1)).
///
/// The hello must come in one piece: a fragment cannot be answered without keeping it.
pub fn listen<'d, C: Crypto, E, N>(
    cx: &mut Cx<'_, C, E, N>,
    secrets: &CookieSecrets,
    peer: &[u8],
    datagram: &'d [u8],
    out: &mut [u8],
) -> Listen<'d> {
    let (record_sequence, message, hello) = match read(datagram) {
        Ok(read) => read,
        Err(refusal) => {
            cx.counters.count(Counter::DtlsMalformed);
            return Listen::Drop(refusal);
        }
    };
    let current = cookie(cx.crypto, &secrets.current, peer, &hello);
    // What a flood of first hellos takes is this one: they show nothing that could be an earlier one.
    let verified = hello.cookie.len() == COOKIE
        && (constant_time_eq(hello.cookie, &current)
            || constant_time_eq(hello.cookie, &cookie(cx.crypto, &secrets.previous, peer, &hello)));
    let (reply, refused) = if !verified {
        let mut content = [0; HANDSHAKE_HEADER + VERIFY_REQUEST];
        let (header, body) = content.split_at_mut(HANDSHAKE_HEADER);
        let kind = HandshakeType::HELLO_VERIFY_REQUEST;
        header.copy_from_slice(&HandshakeHeader::whole(kind, 0, VERIFY_REQUEST as u16).to_bytes());
        HelloVerifyRequest { version: Version::DTLS_1_0, cookie: &current }.emit(&mut Window::new(0, body));
        let reply = emit_plain(Version::DTLS_1_0, ContentType::Handshake, record_sequence, &content, out);
        (reply, None)
    } else if let Some((description, refusal)) = refusal(&hello) {
        cx.counters.count(Counter::DtlsHandshakesFailed);
        let alert = Alert::fatal(description).to_bytes();
        let reply = emit_plain(Version::DTLS_1_2, ContentType::Alert, record_sequence, &alert, out);
        (reply, Some(refusal))
    } else {
        return Listen::Accept(VerifiedClientHello { hello, message, record_sequence });
    };
    match (reply, refused) {
        (Some(length), None) => {
            cx.counters.count(Counter::DtlsCookiesSent);
            Listen::Reply(length)
        }
        (Some(length), Some(refusal)) => Listen::Refuse(length, refusal),
        (None, _) => {
            cx.counters.count(Counter::DtlsSessionsFull);
            Listen::Drop(Refusal::AnswerLength)
        }
    }
}

/// The ClientHello at the front of a datagram.
fn read(datagram: &[u8]) -> Result<(SequenceNumber, Incoming<'_>, ClientHello<'_>), Refusal> {
    if !is_client_hello(datagram) {
        return Err(Refusal::NoClientHello);
    }
    let record = RecordHeader::parse(datagram).map_err(|_| Refusal::RecordHeader)?;
    if !record.version.is_dtls() {
        return Err(Refusal::RecordVersion);
    }
    let behind = datagram.get(RECORD_HEADER..).unwrap_or_default();
    let content = behind.get(..record.length.into()).ok_or(Refusal::RecordLength)?;
    let (header, body, _) = HandshakeHeader::parse(content).map_err(Refusal::of_handshake_header)?;
    if !header.is_whole() {
        return Err(Refusal::ClientHelloFragmented);
    }
    let message = Incoming { kind: header.kind, message_seq: header.message_seq, body };
    let hello = ClientHello::parse(body).map_err(|_| Refusal::ClientHello)?;
    if !hello.version.is_dtls() {
        return Err(Refusal::ClientHelloVersion);
    }
    Ok((record.sequence_number, message, hello))
}

/// The cookie binds the sender's address and what it must not change in its second hello.
fn cookie<C: Crypto>(crypto: &mut C, secret: &[u8], peer: &[u8], hello: &ClientHello<'_>) -> [u8; COOKIE] {
    // With a ticket it names no session, and Mbed TLS (2.28) makes another for its second hello.
    let by_ticket =
        hello.extensions.find(ExtensionType::SESSION_TICKET).is_some_and(|ticket| !ticket.is_empty());
    let session_id = if by_ticket { &[] } else { hello.session_id };
    let lengths =
        [peer.len(), session_id.len(), hello.cipher_suites.0.len(), hello.compression_methods.len()];
    let mut prefix = [0; 10];
    for (field, length) in prefix.chunks_exact_mut(2).zip(lengths) {
        field.copy_from_slice(&(length as u16).to_be_bytes());
    }
    prefix[8..].copy_from_slice(&hello.version.0.to_be_bytes());
    let parts: [&[u8]; 6] =
        [&prefix, peer, hello.random, session_id, hello.cipher_suites.0, hello.compression_methods];
    let key = crypto.hmac_key(secret);
    let digest = crypto.hmac_sha256(&key, &parts);
    let mut cookie = [0; COOKIE];
    cookie.copy_from_slice(&digest[..COOKIE]);
    cookie
}

/// Why a hello that shows its cookie leads to no session, if so, and what its client is told.
fn refusal(hello: &ClientHello<'_>) -> Option<(AlertDescription, Refusal)> {
    // A first handshake renegotiates nothing: https://www.rfc-editor.org/rfc/rfc5746#section-3.6
    let renegotiates = hello
        .extensions
        .find(ExtensionType::RENEGOTIATION_INFO)
        .is_some_and(|information| information != [0]);
    let once = [
        ExtensionType::EXTENDED_MASTER_SECRET,
        ExtensionType::CONNECTION_ID,
        ExtensionType::RECORD_SIZE_LIMIT,
        ExtensionType::MAX_FRAGMENT_LENGTH,
        ExtensionType::RENEGOTIATION_INFO,
        ExtensionType::SUPPORTED_GROUPS,
        ExtensionType::EC_POINT_FORMATS,
        ExtensionType::SIGNATURE_ALGORITHMS,
        ExtensionType::CLIENT_CERTIFICATE_TYPE,
        ExtensionType::SERVER_CERTIFICATE_TYPE,
    ];
    let twice = !once.iter().all(|&kind| hello.extensions.comes_once_at_most(kind));
    // https://www.rfc-editor.org/rfc/rfc7627#section-5.1
    let full =
        hello.extensions.find(ExtensionType::EXTENDED_MASTER_SECRET).is_some_and(|data| !data.is_empty());
    let (description, refusal) = if !hello.version.is_at_least_1_2() {
        (AlertDescription::PROTOCOL_VERSION, Refusal::ProtocolVersion)
    } else if full {
        (AlertDescription::ILLEGAL_PARAMETER, Refusal12::ExtendedMasterSecret.into())
    } else if twice {
        (AlertDescription::ILLEGAL_PARAMETER, Refusal::ExtensionRepeated)
    } else if Limits::server(None, hello.extensions).is_err() {
        (AlertDescription::ILLEGAL_PARAMETER, Refusal::ClientRecordLimit)
    } else if renegotiates {
        (AlertDescription::HANDSHAKE_FAILURE, Refusal12::RenegotiationInfo.into())
    } else if !Suites::ALL.are_offered(hello.cipher_suites) {
        (AlertDescription::HANDSHAKE_FAILURE, Refusal::NoCommonCipherSuite)
    } else if !hello.compression_methods.contains(&NULL_COMPRESSION) {
        (AlertDescription::HANDSHAKE_FAILURE, Refusal::Compression)
    } else {
        return None;
    };
    Some((description, refusal))
}

impl Refusal {
    /// Why a ClientHello leads to no session with any server of ours, if so.
    pub fn of_client_hello(hello: &ClientHello<'_>) -> Option<Self> {
        if hello.version.is_dtls() {
            refusal(hello).map(|(_, refusal)| refusal)
        } else {
            Some(Self::ClientHelloVersion)
        }
    }
}
