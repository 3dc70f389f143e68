use core::borrow::BorrowMut;

use sixlock_base::Slot;
use sixlock_crypto::{Crypto, wipe};
use sixlock_dtls_msg::{HandshakeType, NewSessionTicket, RANDOM, VERIFY_DATA};

use crate::ConnectionId;
use crate::limit::Limits;
use crate::reliability::{Outgoing, Reassembly};
use crate::session_state::{SessionId, SessionState};
use crate::transcript::Transcript;
use crate::{Config, Credentials, Failure, FeatureSet, Features, OptionalPart, Profile, Suite, Suites};

/// Length of the master secret, in bytes.
pub const MASTER_SECRET: usize = 48;
/// The longest identity, in bytes: what
/// [RFC 4279 section 5.3](https://www.rfc-editor.org/rfc/rfc4279#section-5.3) asks for.
pub const MAX_IDENTITY: usize = 128;
/// The longest pre-shared key, in bytes: what
/// [RFC 4279 section 5.3](https://www.rfc-editor.org/rfc/rfc4279#section-5.3) asks for.
pub const MAX_PSK: usize = 64;
/// The longest cookie, in bytes: any that a server may send.
pub const MAX_COOKIE: usize = 255;

/// Everything that only the handshake needs: a session lets go of it when its last flight is
/// known to have arrived.
pub struct Handshake<C: Crypto, K: FeatureSet = Features> {
    /// Whether a session uses it.
    is_in_use: bool,
    pub(crate) config: Config,
    pub(crate) parameters: HandshakeParameters<K>,
    pub(crate) transcript: Transcript<C>,
    pub(crate) reassembly: Reassembly,
    /// The peer's certificates.
    pub(crate) certificates: K::CertificateBuffer,
    pub(crate) outgoing: Outgoing,
    /// The number of the next message expected from the peer.
    pub(crate) next_receive: u16,
    /// Finished records so far that did not decrypt.
    pub(crate) bad_records: u8,
    /// How often the handshake went back to a mark.
    pub(crate) rewinds: u8,
    /// What unauthenticated messages say the trouble is: only told when the handshake times out.
    pub(crate) clue: Slot<Failure>,
}

impl<C: Crypto, K: FeatureSet> Handshake<C, K> {
    /// A handshake that has not begun: all zero bytes.
    pub const fn new() -> Self {
        Self {
            is_in_use: false,
            config: Config::NONE,
            parameters: HandshakeParameters::NONE,
            transcript: Transcript::EMPTY,
            reassembly: Reassembly::new(),
            certificates: K::CertificateBuffer::EMPTY,
            outgoing: Outgoing::NONE,
            next_receive: 0,
            bad_records: 0,
            rewinds: 0,
            clue: Slot::Empty,
        }
    }

    /// A handshake that has not begun, with these for each that begins in it.
    pub fn with(credentials: &'static Credentials) -> Self {
        let mut handshake = Self::new();
        handshake.set_credentials(credentials);
        handshake
    }

    /// Has these credentials for each handshake that begins from now on.
    pub fn set_credentials(&mut self, credentials: &'static Credentials) {
        if let Some(keys) = self.parameters.keys.get_mut() {
            keys.credentials = Some(credentials);
        }
    }

    /// Asks in each handshake that begins from now on, as a client, for the server of this name, if it has room for one
    /// ([`Features`]) and `host` is no address.
    pub fn set_server_name(&mut self, host: &str) {
        if let Some(name) = self.parameters.server_name.get_mut() {
            name.set(host);
        }
    }

    /// Goes back to where the message with this number is awaited.
    pub(crate) fn rewind(&mut self, message_seq: u16) {
        self.next_receive = message_seq;
        self.reassembly.clear();
        if let Some(certificates) = self.certificates.get_mut() {
            certificates.clear();
        }
        self.parameters.drop_ticket();
    }

    /// Whether something that was taken may have been forged: no answer came in time, or one
    /// that does not decrypt.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.bad_records > 0 || self.outgoing.is_repeated()
    }
}

impl<C: Crypto, K: FeatureSet> Default for Handshake<C, K> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a session has its [`Handshake`]: a `Handshake` is part of the session, which a device can have in
/// a static; an `Option` of a reference to one or of a box is let go of when it is needed no longer.
pub trait HandshakeSlot<C: Crypto, K: FeatureSet = Features> {
    /// Begins anew, if there is a handshake.
    fn begin(&mut self) -> Option<&mut Handshake<C, K>>;

    /// The handshake, while it is needed.
    fn get(&self) -> Option<&Handshake<C, K>>;

    /// The handshake, while it is needed.
    fn get_mut(&mut self) -> Option<&mut Handshake<C, K>>;

    /// Wipes it and lets go of it.
    fn free(&mut self);
}

impl<C: Crypto, K: FeatureSet> HandshakeSlot<C, K> for Handshake<C, K> {
    fn begin(&mut self) -> Option<&mut Self> {
        self.free();
        self.is_in_use = true;
        Some(self)
    }

    fn get(&self) -> Option<&Self> {
        self.is_in_use.then_some(self)
    }

    fn get_mut(&mut self) -> Option<&mut Self> {
        self.is_in_use.then_some(self)
    }

    /// It keeps its credentials. What is there is overwritten part by part: a whole one made beside it would take as much of
    /// the stack.
    #[inline(never)]
    fn free(&mut self) {
        let Self {
            is_in_use,
            config,
            parameters,
            transcript,
            reassembly,
            certificates,
            outgoing,
            next_receive,
            bad_records,
            rewinds,
            clue,
        } = self;
        *is_in_use = false;
        *config = Config::NONE;
        parameters.clear();
        *transcript = Transcript::EMPTY;
        reassembly.clear();
        if let Some(certificates) = certificates.get_mut() {
            certificates.clear();
        }
        *outgoing = Outgoing::NONE;
        (*next_receive, *bad_records, *rewinds) = (0, 0, 0);
        *clue = Slot::Empty;
    }
}

impl<C: Crypto, K: FeatureSet, H: BorrowMut<Handshake<C, K>>> HandshakeSlot<C, K> for Option<H> {
    fn begin(&mut self) -> Option<&mut Handshake<C, K>> {
        self.as_mut()?.borrow_mut().begin()
    }

    fn get(&self) -> Option<&Handshake<C, K>> {
        self.as_ref().map(H::borrow)
    }

    fn get_mut(&mut self) -> Option<&mut Handshake<C, K>> {
        self.as_mut().map(H::borrow_mut)
    }

    fn free(&mut self) {
        if let Some(mut handshake) = self.take() {
            handshake.borrow_mut().free();
        }
    }
}

/// What the messages of a handshake are made of: each is emitted anew from here.
pub struct HandshakeParameters<K: FeatureSet> {
    pub(crate) client_random: [u8; RANDOM],
    pub(crate) server_random: [u8; RANDOM],
    /// Before it is derived from a pre-shared key, it begins with what the ephemeral keys share, if there are any.
    pub(crate) master_secret: [u8; MASTER_SECRET],
    /// The content of our own Finished.
    pub(crate) verify_data: [u8; VERIFY_DATA],
    pub(crate) cookie_or_identity: CookieOrIdentity,
    /// The suites that are known here, the most wanted first.
    pub(crate) suites: Suites,
    /// The one that the server has chosen.
    pub(crate) suite: Suite,
    /// The earlier session that a client offers to resume.
    pub(crate) offered: Slot<SessionState>,
    /// The session's id; until a server has answered the hello, the one that its client gives.
    pub(crate) session_id: SessionId,
    /// An earlier session is resumed: the master secret is its own.
    pub(crate) resumed: bool,
    /// The connection id that we give: a client's always, a server's if the client knows of them.
    pub(crate) own_id: Option<ConnectionId>,
    /// The connection id that the peer gives.
    pub(crate) peer_id: Option<ConnectionId>,
    /// How long records may be.
    pub(crate) limits: Limits,
    /// Both sides bind the master secret to the whole handshake.
    pub(crate) extended_master_secret: bool,
    /// The client knows secure renegotiation, so the server says that it does, too.
    pub(crate) secure_renegotiation: bool,
    /// What there is of public keys.
    pub(crate) keys: K::KeyParameters,
    /// What there is of session tickets.
    pub(crate) tickets: K::TicketParameters,
    /// The server's ticket, at its client.
    pub(crate) new_ticket: K::TicketBuffer,
    /// What the client calls its server.
    pub(crate) server_name: K::ServerName,
}

impl<K: FeatureSet> HandshakeParameters<K> {
    const NONE: Self = Self {
        client_random: [0; RANDOM],
        server_random: [0; RANDOM],
        master_secret: [0; MASTER_SECRET],
        verify_data: [0; VERIFY_DATA],
        cookie_or_identity: CookieOrIdentity::NONE,
        suites: Suites::NONE,
        suite: Suite::PskAes128Ccm8,
        offered: Slot::Empty,
        session_id: SessionId::EMPTY,
        resumed: false,
        own_id: None,
        peer_id: None,
        limits: Limits::UNKNOWN,
        extended_master_secret: false,
        secure_renegotiation: false,
        keys: K::KeyParameters::EMPTY,
        tickets: K::TicketParameters::EMPTY,
        new_ticket: K::TicketBuffer::EMPTY,
        server_name: K::ServerName::EMPTY,
    };

    /// Makes all of it what it was at first, but for the credentials and the server's name.
    fn clear(&mut self) {
        self.wipe();
        let Self {
            client_random,
            server_random,
            master_secret: _,
            verify_data,
            cookie_or_identity,
            suites,
            suite,
            offered,
            session_id,
            resumed,
            own_id,
            peer_id,
            limits,
            extended_master_secret,
            secure_renegotiation,
            keys,
            tickets,
            new_ticket: _,
            server_name: _,
        } = self;
        (*client_random, *server_random) = ([0; RANDOM], [0; RANDOM]);
        *verify_data = [0; VERIFY_DATA];
        *cookie_or_identity = CookieOrIdentity::NONE;
        (*suites, *suite) = (Suites::NONE, Suite::PskAes128Ccm8);
        *offered = Slot::Empty;
        *session_id = SessionId::EMPTY;
        *resumed = false;
        (*own_id, *peer_id) = (None, None);
        *limits = Limits::UNKNOWN;
        (*extended_master_secret, *secure_renegotiation) = (false, false);
        if let Some(keys) = keys.get_mut() {
            keys.clear();
        }
        if let Some(tickets) = tickets.get_mut() {
            tickets.clear();
        }
        self.drop_ticket();
    }

    /// Forgets what there is of the server's ticket.
    pub(crate) fn drop_ticket(&mut self) {
        if let Some(room) = self.new_ticket.get_mut() {
            room.clear();
        }
        if let Some(tickets) = self.tickets.get_mut() {
            tickets.pass_over_again();
        }
    }

    /// Whether the server's ticket, which it has promised, is still to come.
    pub(crate) fn awaits_ticket(&self) -> bool {
        match (self.tickets.get(), self.new_ticket.get()) {
            (Some(tickets), Some(room)) => tickets.promised && !tickets.has_passed_over() && !room.is_kept(),
            _ => false,
        }
    }

    /// Whether it is there, with this number, and not taken.
    pub(crate) fn has_ticket(&self, message_seq: u16) -> bool {
        let kind = HandshakeType::NEW_SESSION_TICKET;
        self.awaits_ticket()
            && self.new_ticket.get().is_some_and(|room| room.message(kind, message_seq).is_some())
    }

    /// The server's ticket, if it was taken.
    pub(crate) fn taken_ticket(&self) -> Option<NewSessionTicket<'_>> {
        let room = self.new_ticket.get().filter(|room| room.is_kept())?;
        NewSessionTicket::parse(room.body()).ok()
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

impl<K: FeatureSet> Drop for HandshakeParameters<K> {
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

/// What opens a recorded session: an entry of a key log.
#[derive(Clone, Copy)]
pub struct KeyLogEntry<'a> {
    /// The random value that names the session.
    pub client_random: &'a [u8; RANDOM],
    /// Its master secret.
    pub master_secret: &'a [u8; MASTER_SECRET],
}
