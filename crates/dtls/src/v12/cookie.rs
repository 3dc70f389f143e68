//! The stateless answer to a client's first hello.

use sixlock_base::{Counter, Cx, Entropy};
use sixlock_crypto::{Crypto, constant_time_eq, wipe};
use sixlock_dtls_msg::{
    Alert, AlertDescription, ClientHello, ContentType, ExtensionType, HANDSHAKE_HEADER, HandshakeHeader,
    HandshakeType, HelloVerifyRequest, NULL_COMPRESSION, RECORD_HEADER, RecordHeader, SequenceNumber,
    Version, Window,
};

use crate::Suites;
use crate::engine::message::Incoming;
use crate::engine::record::{PLAIN, emit_plain};
use crate::limit::Limits;

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
    /// A session may be made.
    Accept(VerifiedClientHello<'d>),
    /// Nothing: it is no acceptable hello, and was counted.
    Drop,
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
    let Some((record_sequence, message, hello)) = read(datagram) else {
        cx.counters.count(Counter::DtlsMalformed);
        return Listen::Drop;
    };
    if !hello.version.is_dtls() {
        cx.counters.count(Counter::DtlsMalformed);
        return Listen::Drop;
    }
    let current = cookie(cx.crypto, &secrets.current, peer, &hello);
    // What a flood of first hellos takes is this one: they show nothing that could be an earlier one.
    let verified = hello.cookie.len() == COOKIE
        && (constant_time_eq(hello.cookie, &current)
            || constant_time_eq(hello.cookie, &cookie(cx.crypto, &secrets.previous, peer, &hello)));
    let reply = if !verified {
        let mut content = [0; HANDSHAKE_HEADER + VERIFY_REQUEST];
        let (header, body) = content.split_at_mut(HANDSHAKE_HEADER);
        let kind = HandshakeType::HELLO_VERIFY_REQUEST;
        header.copy_from_slice(&HandshakeHeader::whole(kind, 0, VERIFY_REQUEST as u16).to_bytes());
        HelloVerifyRequest { version: Version::DTLS_1_0, cookie: &current }.emit(&mut Window::new(0, body));
        cx.counters.count(Counter::DtlsCookiesSent);
        emit_plain(Version::DTLS_1_0, ContentType::Handshake, record_sequence, &content, out)
    } else if let Some(description) = refusal(&hello) {
        cx.counters.count(Counter::DtlsHandshakesFailed);
        let alert = Alert::fatal(description).to_bytes();
        emit_plain(Version::DTLS_1_2, ContentType::Alert, record_sequence, &alert, out)
    } else {
        return Listen::Accept(VerifiedClientHello { hello, message, record_sequence });
    };
    reply.map_or(Listen::Drop, Listen::Reply)
}

/// The ClientHello at the front of a datagram.
fn read(datagram: &[u8]) -> Option<(SequenceNumber, Incoming<'_>, ClientHello<'_>)> {
    if !is_client_hello(datagram) {
        return None;
    }
    let record = RecordHeader::parse(datagram).ok().filter(|record| record.version.is_dtls())?;
    let content = datagram.get(RECORD_HEADER..)?.get(..record.length.into())?;
    let (header, body, _) = HandshakeHeader::parse(content).ok()?;
    if !header.is_whole() {
        return None;
    }
    let message = Incoming { kind: header.kind, message_seq: header.message_seq, body };
    Some((record.sequence_number, message, ClientHello::parse(body).ok()?))
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

/// Why a hello cannot lead to a session, if so.
fn refusal(hello: &ClientHello<'_>) -> Option<AlertDescription> {
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
    if !hello.version.is_at_least_1_2() {
        Some(AlertDescription::PROTOCOL_VERSION)
    } else if full || twice || Limits::server(None, hello.extensions).is_err() {
        Some(AlertDescription::ILLEGAL_PARAMETER)
    } else if renegotiates
        || !Suites::ALL.are_offered(hello.cipher_suites)
        || !hello.compression_methods.contains(&NULL_COMPRESSION)
    {
        Some(AlertDescription::HANDSHAKE_FAILURE)
    } else {
        None
    }
}
