//! Why something is refused.

#[cfg(target_pointer_width = "64")]
use sixlock_base::Slot;
use sixlock_base::{Counter, Cx};
use sixlock_dtls_msg::Error;

use crate::Refusal12;
use crate::reasons::reasons;

reasons! {
    /// Why a datagram, a record or a message is dropped, a handshake refused or a session ended. It is for the log here: what
    /// the peer is told says less. A flight that comes again is told, too, though nothing is wrong with it: [`Refusal::Repeated`].
    Refusal {
        DtlsMalformed:
            /// The record's header does not parse.
            RecordHeader = "record-header",
            /// The record's version is none of DTLS.
            RecordVersion = "record-version",
            /// The record is longer than what is left of its datagram.
            RecordLength = "record-length",
            /// The record carries another connection id than the session's.
            ConnectionId = "connection-id",
            /// The header of a handshake message does not parse, or its fragment is longer than what is left of the record.
            HandshakeHeader = "handshake-header",
            /// The fragment reaches beyond its message's length.
            FragmentLength = "fragment-length",
            /// The handshake message is of a type that may not come now.
            UnexpectedMessage = "unexpected-message",
            /// A peer that is connected asks for another handshake in the session.
            Renegotiation = "renegotiation",
            /// The alert does not parse.
            Alert = "alert",
            /// What belongs to no session is no ClientHello.
            NoClientHello = "no-client-hello",
            /// The first ClientHello came in fragments: it cannot be answered without keeping it.
            ClientHelloFragmented = "client-hello-fragmented",
            /// The ClientHello does not parse.
            ClientHello = "client-hello",
            /// The version in the ClientHello is none of DTLS.
            ClientHelloVersion = "client-hello-version",
            /// The ServerHello does not parse.
            ServerHello = "server-hello",
            /// The server chose another version than DTLS 1.2.
            ServerVersion = "server-version",
            /// The server chose a compression.
            ServerCompression = "server-compression",
            /// The server chose a cipher suite that was not offered.
            ServerCipherSuite = "server-cipher-suite",
            /// An extension of the ServerHello comes twice.
            ServerExtensionRepeated = "server-extension-repeated",
            /// The ServerHello has an extension that was not offered.
            ServerExtension = "server-extension",
            /// The content of an extension of the ServerHello is not what it must be.
            ServerExtensionContent = "server-extension-content",
            /// The server answers another record_size_limit or max_fragment_length than it may.
            ServerRecordLimit = "server-record-limit",
            /// The server resumes the session with another cipher suite than it was made with.
            ResumedCipherSuite = "resumed-cipher-suite",
            /// The server chose a type of certificates that was not offered.
            CertificateType = "certificate-type",
            /// The Certificate does not parse, or is not of the type that was agreed on.
            Certificate = "certificate",
            /// The peer shows no certificate, though it must.
            NoCertificate = "no-certificate",
            /// The CertificateRequest does not parse.
            CertificateRequest = "certificate-request",
            /// The identity is longer than `MAX_IDENTITY`.
            IdentityLength = "identity-length",
            /// The CertificateVerify does not parse, or its signature is by an algorithm that was not offered.
            CertificateVerify = "certificate-verify";
        DtlsBadRecord:
            /// The record does not decrypt: its key is another, or it was changed on its way.
            BadRecord = "bad-record",
            /// The record's epoch is not known.
            Epoch = "epoch",
            /// The record is not protected, though the handshake is over.
            Unprotected = "unprotected",
            /// The alert is not protected: anyone may have sent it.
            UnprotectedAlert = "unprotected-alert",
            /// The record is not protected, and neither of a handshake nor an alert.
            UnprotectedContent = "unprotected-content",
            /// The record carries no connection id, though the session has one; or it carries one, and the session has none.
            ConnectionIdUse = "connection-id-use",
            /// The record is protected, and its keys are not there yet.
            NoKeys = "no-keys",
            /// The record's content is longer than what was agreed on.
            RecordLimit = "record-limit",
            /// The record is authentic, and its content is of a type that may not come now.
            ContentType = "content-type",
            /// The handshake message is in a record of another epoch than the one in which it must come.
            MessageEpoch = "message-epoch";
        DtlsReplayed:
            /// The record is replayed, or older than the window.
            Replayed = "replayed";
        DtlsReassemblyFull:
            /// There is room for one message that is put together: the fragment finds none, or takes that of another.
            Reassembly = "reassembly",
            /// The message comes in fragments, and is longer than there is room for.
            MessageLength = "message-length",
            /// The record comes before its keys, and is longer than there is room for until they are there.
            EarlyRecord = "early-record";
        DtlsDuplicates:
            /// The handshake message, or the record before its keys, has the place of one that was taken: the peer sends its flight again.
            Repeated = "repeated";
        DtlsNoSession:
            /// There is no session for it.
            NoSession = "no-session";
        DtlsSessionsFull:
            /// There is no room for another session.
            SessionsFull = "sessions-full",
            /// There is no room for the answer.
            AnswerLength = "answer-length";
        DtlsHandshakesFailed:
            /// The client does not know DTLS 1.2.
            ProtocolVersion = "protocol-version",
            /// No cipher suite is common to both sides.
            NoCommonCipherSuite = "no-common-cipher-suite",
            /// The groups or the forms of points that the client knows are none for the cipher suites that are common.
            NoCommonGroup = "no-common-group",
            /// The types of certificates or the signature algorithms that the client knows are none for the cipher suites that are common.
            NoCommonCertificate = "no-common-certificate",
            /// The client does not know the null compression.
            Compression = "compression",
            /// An extension of the ClientHello comes twice.
            ExtensionRepeated = "extension-repeated",
            /// The client asks for another record_size_limit or max_fragment_length than it may.
            ClientRecordLimit = "client-record-limit",
            /// The client has begun another handshake.
            Superseded = "superseded",
            /// The identity is not known, or its key could not be looked up.
            UnknownIdentity = "unknown-identity",
            /// The peer's proof does not decrypt: it has another key.
            WrongKey = "wrong-key",
            /// The peer's Finished does not verify.
            Finished = "finished",
            /// The peer's certificate has expired, or is not valid yet.
            CertificateExpired = "certificate-expired",
            /// The peer's certificate is of no authority that is trusted, or its raw public key is not known.
            UnknownAuthority = "unknown-authority",
            /// The peer's certificate is of a kind that is not known here.
            CertificateUnsupported = "certificate-unsupported",
            /// The peer's certificate does not parse, or the signature of its issuer is wrong.
            CertificateInvalid = "certificate-invalid",
            /// The peer's certificate is not for this use or this name, or one of its issuers may not issue it.
            CertificateUse = "certificate-use",
            /// The peer's signature does not verify.
            Signature = "signature",
            /// The peer's ephemeral key is no point on the curve.
            Point = "point",
            /// The private key here cannot make a key pair or a signature.
            OwnKey = "own-key";
    }
    /// One that only DTLS 1.2 has.
    Version12(Refusal12),
}

/// A refusal that is kept until it is told, and what is told with it. Small processors keep none, as nobody is there who would be told.
#[derive(Debug)]
pub struct KeptRefusal<T = ()> {
    #[cfg(target_pointer_width = "64")]
    refusal: Slot<(T, Refusal)>,
    #[cfg(not(target_pointer_width = "64"))]
    nothing: core::marker::PhantomData<T>,
}

#[cfg_attr(not(target_pointer_width = "64"), allow(unused_variables, reason = "nothing is kept"))]
impl<T> KeptRefusal<T> {
    /// There was none. It is all zero bytes.
    pub const NONE: Self = Self {
        #[cfg(target_pointer_width = "64")]
        refusal: Slot::Empty,
        #[cfg(not(target_pointer_width = "64"))]
        nothing: core::marker::PhantomData,
    };

    /// Keeps it, unless one is kept already.
    #[inline(always)]
    pub fn note(&mut self, with: T, refusal: Refusal) {
        #[cfg(target_pointer_width = "64")]
        if !self.refusal.is_full() {
            self.refusal = Slot::Full((with, refusal));
        }
    }

    /// Keeps it in place of another.
    #[inline(always)]
    pub(crate) fn replace(&mut self, with: T, refusal: Refusal) {
        #[cfg(target_pointer_width = "64")]
        {
            self.refusal = Slot::Full((with, refusal));
        }
    }

    /// Tells it, and keeps none.
    #[inline(always)]
    pub fn take(&mut self) -> Option<(T, Refusal)> {
        #[cfg(target_pointer_width = "64")]
        return self.refusal.take();
        #[cfg(not(target_pointer_width = "64"))]
        None
    }
}

impl KeptRefusal {
    /// What is kept.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<Refusal> {
        #[cfg(target_pointer_width = "64")]
        return self.refusal.get().map(|(_, refusal)| *refusal);
        #[cfg(not(target_pointer_width = "64"))]
        None
    }

    /// Keeps it, unless one is kept already, and counts it.
    #[inline(always)]
    pub(crate) fn count<C, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, counter: Counter, refusal: Refusal) {
        #[cfg(target_pointer_width = "64")]
        debug_assert_eq!(refusal.counter(), counter, "{refusal:?}");
        cx.counters.count(counter);
        self.note((), refusal);
    }
}

impl Refusal {
    /// Whether reasons are told apart here.
    pub(crate) const ARE_TOLD_APART: bool = cfg!(target_pointer_width = "64");

    /// Why the header of a handshake message is not one.
    pub const fn of_handshake_header(error: Error) -> Self {
        match error {
            Error::Length => Self::FragmentLength,
            _ => Self::HandshakeHeader,
        }
    }
}
