use sixlock_base::Slot;
use sixlock_crypto::wipe;
use sixlock_dtls_msg::{
    AlertDescription, HandshakeHeader, HandshakeType, NewSessionTicket, RANDOM, VERIFY_DATA,
};

use super::public_keys::KeyOperation;
use super::session_state::{MASTER_SECRET, SessionId, SessionState};
use crate::engine::record::PLAIN;
use crate::engine::role::{Parameters, Target};
use crate::limit::Limits;
use crate::{ConnectionId, FeatureSet, OptionalPart, Profile, Suite, Suites, Task};

/// The longest identity, in bytes: what
/// [RFC 4279 section 5.3](https://www.rfc-editor.org/rfc/rfc4279#section-5.3) asks for.
pub const MAX_IDENTITY: usize = 128;
/// The longest pre-shared key, in bytes: what
/// [RFC 4279 section 5.3](https://www.rfc-editor.org/rfc/rfc4279#section-5.3) asks for.
pub const MAX_PSK: usize = 64;
/// The longest cookie, in bytes: any that a server may send.
pub const MAX_COOKIE: usize = 255;

/// Declares the parameters, each with its value before a handshake begins.
macro_rules! handshake_parameters {
    (
        reset { $($(#[$doc:meta])* $reset:ident: $type:ty = $none:expr;)* }
        kept { $($(#[$kept_doc:meta])* $kept:ident: $part:ty;)* }
    ) => {
        /// What the messages of a handshake are made of: each is emitted anew from here.
        pub struct HandshakeParameters<F: FeatureSet> {
            $($(#[$doc])* pub(crate) $reset: $type,)*
            /// Before it is derived from a pre-shared key, it begins with what the ephemeral keys share, if there are any.
            pub(crate) master_secret: [u8; MASTER_SECRET],
            $($(#[$kept_doc])* pub(crate) $kept: $part,)*
        }

        impl<F: FeatureSet> HandshakeParameters<F> {
            const NONE: Self = Self {
                $($reset: $none,)*
                master_secret: [0; MASTER_SECRET],
                $($kept: OptionalPart::EMPTY,)*
            };

            /// Makes those the same as in a handshake that has not begun.
            fn reset_fields(&mut self) {
                $(self.$reset = $none;)*
            }
        }
    };
}

handshake_parameters! {
    reset {
        client_random: [u8; RANDOM] = [0; RANDOM];
        server_random: [u8; RANDOM] = [0; RANDOM];
        /// The content of our own Finished.
        verify_data: [u8; VERIFY_DATA] = [0; VERIFY_DATA];
        cookie_or_identity: CookieOrIdentity = CookieOrIdentity::NONE;
        /// The suites that are known here, the most wanted first.
        suites: Suites = Suites::NONE;
        /// The one that the server has chosen.
        suite: Suite = Suite::PskAes128Ccm8;
        /// The earlier session that a client offers to resume.
        offered: Slot<SessionState> = Slot::Empty;
        /// The session's id; until a server has answered the hello, the one that its client gives.
        session_id: SessionId = SessionId::EMPTY;
        /// An earlier session is resumed: the master secret is its own.
        resumed: bool = false;
        /// The connection id that we give: a client's always, a server's if the client knows of them.
        own_id: Option<ConnectionId> = None;
        /// The connection id that the peer gives.
        peer_id: Option<ConnectionId> = None;
        /// How long records may be.
        limits: Limits = Limits::UNKNOWN;
        /// Both sides bind the master secret to the whole handshake.
        extended_master_secret: bool = false;
        /// The client knows secure renegotiation, so the server says that it does, too.
        secure_renegotiation: bool = false;
    }
    kept {
        /// What there is of public keys.
        keys: F::KeyParameters;
        /// The peer's certificates.
        certificates: F::CertificateBuffer;
        /// What there is of session tickets.
        tickets: F::TicketParameters;
        /// The server's ticket, at its client.
        new_ticket: F::TicketBuffer;
        /// What the client calls its server.
        server_name: F::ServerName;
    }
}

impl<F: FeatureSet> Parameters for HandshakeParameters<F> {
    const NONE: Self = Self::NONE;

    /// It keeps the credentials and the server's name.
    fn reset(&mut self) {
        self.wipe();
        self.reset_fields();
        if let Some(keys) = self.keys.get_mut() {
            keys.clear();
        }
        if let Some(tickets) = self.tickets.get_mut() {
            tickets.clear();
        }
        self.clear_buffers();
    }

    fn clear_buffers(&mut self) {
        if let Some(certificates) = self.certificates.get_mut() {
            certificates.clear();
        }
        self.drop_ticket();
    }

    fn eighths(&self, message_seq: u16) -> Option<u8> {
        self.certificates.get().and_then(|buffer| buffer.eighths(message_seq))
    }

    fn client_random(&self) -> &[u8; RANDOM] {
        &self.client_random
    }

    fn own_id(&self) -> ConnectionId {
        self.connection_ids().map_or(ConnectionId::EMPTY, |(own, _)| own)
    }

    fn limits(&self) -> (u16, u16) {
        (self.limits.send, self.limits.receive)
    }

    fn alert(&self, epoch: u16) -> (AlertDescription, u16) {
        let refusal = self.keys.get().and_then(|keys| keys.refusal);
        refusal.map_or((AlertDescription::DECRYPT_ERROR, epoch), |description| (description, PLAIN))
    }

    fn is_resumed(&self) -> bool {
        self.resumed
    }
}

impl<F: FeatureSet> HandshakeParameters<F> {
    /// Forgets what there is of the server's ticket.
    pub(crate) fn drop_ticket(&mut self) {
        if let Some(buffer) = self.new_ticket.get_mut() {
            buffer.clear();
        }
        if let Some(tickets) = self.tickets.get_mut() {
            tickets.pass_over_again();
        }
    }

    /// Whether the server's ticket, which it has promised, is still to come.
    pub(crate) fn awaits_ticket(&self) -> bool {
        match (self.tickets.get(), self.new_ticket.get()) {
            (Some(tickets), Some(buffer)) => {
                tickets.promised && !tickets.has_passed_over() && !buffer.is_kept()
            }
            _ => false,
        }
    }

    /// Whether it is there, with this number, and not taken.
    pub(crate) fn has_ticket(&self, message_seq: u16) -> bool {
        let kind = HandshakeType::NEW_SESSION_TICKET;
        self.awaits_ticket()
            && self.new_ticket.get().is_some_and(|buffer| buffer.message(kind, message_seq).is_some())
    }

    /// Whether the peer's certificates are there, with this number, and not taken.
    pub(crate) fn has_certificates(&self, message_seq: u16) -> bool {
        let kind = HandshakeType::CERTIFICATE;
        self.certificates.get().is_some_and(|buffer| buffer.message(kind, message_seq).is_some())
    }

    /// Our connection id and the peer's, if both give one.
    pub(crate) fn connection_ids(&self) -> Option<(ConnectionId, ConnectionId)> {
        self.own_id.zip(self.peer_id)
    }

    /// Where a fragment goes whose epoch is the one awaited.
    pub(crate) fn certificate_target(&mut self, header: &HandshakeHeader) -> Target<'_> {
        match self.certificates.get_mut() {
            Some(buffer) if header.kind == HandshakeType::CERTIFICATE => Target::Buffer(buffer),
            _ => Target::Short,
        }
    }

    /// A message of this type was refused: one in a buffer is forgotten.
    pub(crate) fn forget_certificates(&mut self, kind: HandshakeType) {
        if let Some(buffer) = self.certificates.get_mut().filter(|_| kind == HandshakeType::CERTIFICATE) {
            buffer.clear();
        }
    }

    /// What is to be done with P-256.
    pub(crate) fn task(&self, operation: KeyOperation) -> Option<Task<'_>> {
        let (keys, certificates) = (self.keys.get()?, self.certificates.get()?);
        keys.task(operation, certificates.body())
    }

    /// The server's ticket, if it was taken.
    pub(crate) fn taken_ticket(&self) -> Option<NewSessionTicket<'_>> {
        let buffer = self.new_ticket.get().filter(|buffer| buffer.is_kept())?;
        NewSessionTicket::parse(buffer.body()).ok()
    }

    /// Wipes what is secret.
    fn wipe(&mut self) {
        wipe(&mut self.master_secret);
        if let Some(keys) = self.keys.get_mut() {
            wipe(&mut keys.secret);
        }
    }

    /// The suites of the configuration that can be used, the most wanted first: those for which there is what they need.
    pub(crate) fn usable(&self) -> impl Iterator<Item = Suite> {
        let keys = self.keys.get();
        let has_credentials = keys.is_some_and(|keys| keys.credentials.is_some());
        self.suites.iter().filter(move |suite| {
            (has_credentials || !suite.has_public_keys()) && (keys.is_some() || !suite.has_ephemeral_keys())
        })
    }

    /// The suite that was chosen.
    pub(crate) fn suite<P: Profile>(&self) -> Suite {
        P::SUITE.unwrap_or(self.suite)
    }

    /// The first suite that is wanted: the profile's only one, or one of those that can be used.
    pub(crate) fn first_suite<P: Profile>(&self, is_wanted: impl Fn(Suite) -> bool) -> Option<Suite> {
        match P::SUITE {
            Some(suite) => Some(suite).filter(|&suite| is_wanted(suite)),
            None => self.usable().find(|&suite| is_wanted(suite)),
        }
    }
}

impl<F: FeatureSet> Drop for HandshakeParameters<F> {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// At a client, the server's cookie, and its own identity from the ClientKeyExchange on: no ClientHello, which shows the cookie,
/// is sent after that, unless another cookie takes the place. At a server, the client's identity. They share their memory.
pub(crate) struct CookieOrIdentity {
    length: u8,
    bytes: [u8; MAX_COOKIE],
}

impl CookieOrIdentity {
    /// Neither.
    pub(crate) const NONE: Self = Self { length: 0, bytes: [0; MAX_COOKIE] };

    /// Keeps a cookie of at most [`MAX_COOKIE`] bytes.
    pub(crate) fn set_cookie(&mut self, cookie: &[u8]) {
        self.set(cookie);
    }

    /// Keeps an identity of at most [`MAX_IDENTITY`] bytes.
    pub(crate) fn set_identity(&mut self, identity: &[u8]) {
        self.set(identity);
    }

    fn set(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(MAX_COOKIE);
        self.length = length as u8;
        self.bytes[..length].copy_from_slice(&bytes[..length]);
    }

    /// The cookie that was kept last, unless an identity was kept after it.
    pub(crate) fn cookie(&self) -> &[u8] {
        &self.bytes[..self.length.into()]
    }

    /// The identity, if one was kept after any cookie.
    pub(crate) fn identity(&self) -> &[u8] {
        self.cookie()
    }
}
