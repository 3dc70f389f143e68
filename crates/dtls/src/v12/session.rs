//! What sessions of DTLS 1.2 can do beyond those of every version.

#[cfg(test)]
mod tests;

use sixlock_base::{Cx, Entropy};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{
    AlertDescription, CipherSuite, ExtensionType, NewSessionTicket, RANDOM, SequenceNumber,
};

use super::client::Client;
use super::cookie::VerifiedClientHello;
use super::flights;
use super::message::Message;
use super::parameters::HandshakeParameters;
use super::role::{FeaturesOf, Role};
use super::server::Server;
use super::session_state::{MASTER_SECRET, SessionId};
use super::version::Version12;
use crate::engine::handshake::{self, HandshakeSlot};
use crate::engine::role::{Completed, HandshakeContext};
use crate::engine::round_trip::RoundTrips;
use crate::limit::Limits;
use crate::session::{Phase, Session};
use crate::{
    Config, ConnectionId, Credentials, Failure, FeatureSet, Features, Full, OptionalPart, Profile, Refusal,
    SessionState, Suite, TicketOffer,
};

/// A client's session, which can do what `P` says.
pub type ClientSession<C, H, P = Full> = Session<C, Client<P>, H>;
/// A server's session, which can do what `P` says.
pub type ServerSession<C, H, P = Full> = Session<C, Server<P>, H>;

/// Everything that only a handshake needs, with memory for `F`.
pub type Handshake<C, F = Features> = handshake::Handshake<C, Version12<F>>;

/// What opens a recorded session: an entry of a key log.
#[derive(Clone, Copy)]
pub struct KeyLogEntry<'a> {
    /// The random value that names the session.
    pub client_random: &'a [u8; RANDOM],
    /// Its master secret.
    pub master_secret: &'a [u8; MASTER_SECRET],
}

impl<C: Crypto, F: FeatureSet> Handshake<C, F> {
    /// A handshake that has not begun, with these for each that begins in it.
    pub fn with(credentials: &'static Credentials) -> Self {
        let mut handshake = Self::new();
        handshake.set_credentials(credentials);
        handshake
    }

    /// Has these credentials for each handshake that begins from now on.
    pub fn set_credentials(&mut self, credentials: &'static Credentials) {
        if let Some(keys) = self.state.parameters.keys.get_mut() {
            keys.credentials = Some(credentials);
        }
    }

    /// Asks in each handshake that begins from now on, as a client, for the server of this name, if it has memory for one
    /// ([`Features`]) and `host` is no address.
    pub fn set_server_name(&mut self, host: &str) {
        if let Some(name) = self.state.parameters.server_name.get_mut() {
            name.set(host);
        }
    }
}

impl<C: Crypto, R: Role> Session<C, R, Handshake<C, FeaturesOf<R>>> {
    /// Has these credentials for each handshake that begins from now on.
    pub fn set_credentials(&mut self, credentials: &'static Credentials) {
        self.handshake.set_credentials(credentials);
    }
}

impl<C: Crypto, R: Role, H: HandshakeSlot<C, R::Version>> Session<C, R, H> {
    /// What opens a record of this session, from [`Event::Connected`](crate::Event::Connected) on until the handshake
    /// is dropped, which happens in the next call of another method at the earliest.
    pub fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        if self.phase != Phase::Connected {
            return None;
        }
        let parameters = &self.handshake.get()?.state.parameters;
        Some(KeyLogEntry {
            client_random: &parameters.client_random,
            master_secret: &parameters.master_secret,
        })
    }

    /// Whether the session goes on from an earlier one, as long as [`Session::key_log`] says something.
    pub fn is_resumed(&self) -> bool {
        let handshake = self.handshake.get().filter(|_| self.phase == Phase::Connected);
        R::RESUMPTION && handshake.is_some_and(|handshake| handshake.state.parameters.resumed)
    }

    /// What to keep of this session to resume it, as long as [`Session::key_log`] says something, and at a server for
    /// [`Work::Ticket`](crate::Work::Ticket); none if the server gave it neither an id nor a ticket, or it does not use the extended master secret. If
    /// the session was resumed by a ticket, what was kept then stays as it is, unless there is a new one.
    pub fn session_state(&self) -> Option<SessionState> {
        let makes_ticket = FeaturesOf::<R>::TICKETS && self.role.is_proved();
        if self.phase != Phase::Connected && !makes_ticket {
            return None;
        }
        let parameters = &self.handshake.get().filter(|_| R::RESUMPTION)?.state.parameters;
        let by_ticket = makes_ticket || self.new_ticket().is_some();
        let resumed_by_ticket =
            parameters.resumed && parameters.tickets.get().is_some_and(|tickets| tickets.presented);
        // The ticket takes the place of any id: https://www.rfc-editor.org/rfc/rfc5077#section-3.4
        let session_id =
            if by_ticket || resumed_by_ticket { &SessionId::EMPTY } else { &parameters.session_id };
        let resumable = parameters.extended_master_secret && (by_ticket || !session_id.get().is_empty());
        let HandshakeParameters { master_secret, suite, .. } = parameters;
        resumable.then(|| SessionState {
            id: session_id.clone(),
            master_secret: *master_secret,
            suite: *suite,
        })
    }

    /// At a client that is connected, the ticket that its server has just given it, to be kept with
    /// [`Session::session_state`], and for how long; as long as [`Session::key_log`] says something.
    pub fn new_ticket(&self) -> Option<NewSessionTicket<'_>> {
        let parameters = &self.handshake.get().filter(|_| self.phase == Phase::Connected)?.state.parameters;
        parameters
            .taken_ticket()
            .filter(|message| parameters.extended_master_secret && !message.ticket.is_empty())
    }
}

impl<C: Crypto, P: Profile, H: HandshakeSlot<C, Version12<P::Features>>> Session<C, Client<P>, H> {
    /// A client's session whose handshake begins, as by [`Session::connect`].
    pub fn client<E: Entropy, N>(
        cx: &mut Cx<'_, C, E, N>,
        config: Config,
        resumption: Option<&SessionState>,
        handshake: H,
    ) -> Self {
        let mut session = Self::new(handshake);
        session.connect(cx, &config, resumption);
        session
    }

    /// Begins anew with a handshake as a client, and offers to resume an earlier session if it is given what
    /// is left of one. The server may begin a new session all the same. Without a [`Handshake`] it stays over.
    pub fn connect<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        resumption: Option<&SessionState>,
    ) {
        self.say_hello(cx, config, resumption, None);
    }

    /// As [`Session::connect`], and asks for a ticket ([`Session::new_ticket`]). With the `ticket` that was given with the earlier
    /// session it is by this that its resumption is offered; it is empty without one. A profile that has no tickets offers none.
    ///
    /// A ticket that is longer than [`MAX_TICKET`](crate::MAX_TICKET) is not presented.
    pub fn connect_by_ticket<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        resumption: Option<&SessionState>,
        ticket: &[u8],
    ) {
        self.say_hello(cx, config, resumption, Some(ticket));
    }

    /// Begins a handshake.
    #[inline]
    fn say_hello<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        resumption: Option<&SessionState>,
        ticket: Option<&[u8]>,
    ) {
        let Some(parts) = self.handshake.begin() else { return };
        parts.state.config = *config;
        parts.state.parameters.limits = Limits::client(config.record_limit.filter(|_| P::RECORD_LIMITS));
        parts.state.parameters.suites = config.suites;
        if P::RESUMPTION {
            let offered = resumption.filter(|session| {
                parts.state.parameters.first_suite::<P>(|suite| suite == session.suite).is_some()
            });
            parts.state.parameters.offered = offered.cloned().into();
        }
        if let Some(tickets) = parts.state.parameters.tickets.get_mut() {
            let offered = parts.state.parameters.offered.take();
            // Without a session to resume, a ticket is of no use.
            let presented = ticket.filter(|_| offered.is_some()).unwrap_or_default();
            let fits = ticket.is_some() && tickets.present(presented);
            let offered = match presented {
                [] => offered.filter(|session| !session.session_id().is_empty()),
                // By an id of its own it sees whether the ticket is taken: https://www.rfc-editor.org/rfc/rfc5077#section-3.4
                _ => offered.filter(|_| fits).map(|session| {
                    let id = SessionId::random(cx.entropy);
                    SessionState { id, ..session.clone() }
                }),
            };
            parts.state.parameters.offered = offered.into();
        }
        if P::CONNECTION_IDS {
            parts.state.parameters.own_id = config.connection_id;
        }
        cx.entropy.fill(&mut parts.state.parameters.client_random);
        let mut x = HandshakeContext { crypto: cx.crypto, state: &mut parts.state };
        x.add_own::<Client<P>>(Message::ClientHello, 0);
        x.state.transcript.checkpoint();
        parts.state.outgoing.record_sequence = Some(SequenceNumber::ZERO);
        parts.state.outgoing.send(config, self.round_trip.first_wait(config), &flights::CLIENT_HELLO, 0);
        self.begin(Client::start());
    }

    /// Whether the server's hello is still to come, by which it begins a session or resumes one.
    pub fn awaits_hello(&self) -> bool {
        self.role.awaits_hello()
    }

    /// How long flights and their answers took, in this handshake and those before: for the next session with the same peer
    /// ([`Session::set_round_trip`]). It is known to `P` or `()`.
    pub fn round_trip(&self) -> P::RoundTrip {
        self.round_trip
    }

    /// Begins each handshake from now on with what is known of the peer.
    pub fn set_round_trip(&mut self, round_trip: P::RoundTrip) {
        self.round_trip = round_trip;
    }
}

impl<C: Crypto, P: Profile, H: HandshakeSlot<C, Version12<P::Features>>> Session<C, Server<P>, H> {
    /// A server's session whose handshake begins, as by [`Session::accept`].
    pub fn server<E: Entropy, N>(
        cx: &mut Cx<'_, C, E, N>,
        verified: &VerifiedClientHello<'_>,
        config: Config,
        handshake: H,
    ) -> Self {
        let mut session = Self::new(handshake);
        session.accept(cx, verified, &config);
        session
    }

    /// Begins anew with a handshake as a server, for a client that showed its cookie to
    /// [`listen`](crate::listen). With [`Config::resumable`] the handshake waits for
    /// [`Completion::Session`]. Without a [`Handshake`] it stays over.
    pub fn accept<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        verified: &VerifiedClientHello<'_>,
        config: &Config,
    ) {
        let VerifiedClientHello { hello, message, record_sequence } = verified;
        let Some(parts) = self.handshake.begin() else { return };
        parts.state.config = *config;
        let parameters = &mut parts.state.parameters;
        parameters.client_random = *hello.random;
        cx.entropy.fill(&mut parameters.server_random);
        parameters.extended_master_secret =
            hello.extensions.find(ExtensionType::EXTENDED_MASTER_SECRET).is_some();
        // https://www.rfc-editor.org/rfc/rfc5746#section-3.6
        parameters.secure_renegotiation =
            hello.cipher_suites.contains(CipherSuite::EMPTY_RENEGOTIATION_INFO_SCSV)
                || hello.extensions.find(ExtensionType::RENEGOTIATION_INFO).is_some();
        // Both give an id or neither does: https://www.rfc-editor.org/rfc/rfc9146#section-3
        if P::CONNECTION_IDS {
            let offered = hello.extensions.find(ExtensionType::CONNECTION_ID);
            parameters.peer_id = offered.and_then(ConnectionId::from_extension);
            parameters.own_id = config.connection_id.filter(|_| parameters.peer_id.is_some());
        }
        parameters.limits = Limits::NONE;
        // What it may not say was refused with the cookie already.
        if P::RECORD_LIMITS
            && let Ok(limits) = Limits::server(config.record_limit, hello.extensions)
        {
            parameters.limits = limits;
        }
        let own_id = parameters.own_id.unwrap_or(ConnectionId::EMPTY);
        let asks = P::RESUMPTION && config.resumable;
        if asks {
            parameters.session_id = SessionId::received(hello.session_id);
            if let Some(tickets) = parameters.tickets.get_mut() {
                tickets.asked(hello.extensions);
            }
        }
        parameters.suites = config.suites;
        let ways = parameters.keys.get_mut().map(|keys| keys.choose(hello)).unwrap_or_default();
        let is_offered = |suite: Suite| hello.cipher_suites.contains(suite.number());
        let suite = parameters.first_suite::<P>(|suite| {
            is_offered(suite)
                && (ways.certified || !suite.has_public_keys())
                && (ways.agreed || !suite.has_ephemeral_keys())
        });
        parameters.suite = suite.unwrap_or(parameters.suite);
        let refusal = match suite {
            None if Refusal::ARE_TOLD_APART && parameters.first_suite::<P>(is_offered).is_some() => {
                if ways.agreed { Refusal::NoCommonCertificate } else { Refusal::NoCommonGroup }
            }
            _ => Refusal::NoCommonCipherSuite,
        };
        // Our numbers go on where the answer without state left off: with those of the hello.
        let message_seq = message.message_seq;
        let next_receive = message_seq.wrapping_add(1);
        parts.state.next_receive = next_receive;
        parts.state.outgoing.record_sequence = Some(*record_sequence);
        parts.state.outgoing.send(config, config.initial_timeout, &flights::EMPTY, message_seq);
        let mut x = HandshakeContext { crypto: cx.crypto, state: &mut parts.state };
        x.add(message);
        let mut role = Server::start();
        let outcome = match suite {
            Some(_) if !asks => role.begin_session(&mut x, cx.entropy, None, TicketOffer::None),
            _ => Completed::NeedWork,
        };
        if let Completed::Send(flight, message_seq) = outcome {
            parts.state.outgoing.send(config, config.initial_timeout, flight, message_seq);
        }
        self.begin(role);
        self.own_id = own_id;
        self.pending.work = matches!(outcome, Completed::NeedWork);
        if suite.is_none() {
            let failure = Failure::Negotiation(refusal);
            self.refuse(cx, AlertDescription::HANDSHAKE_FAILURE, failure);
        }
    }

    /// The ticket that the client presents, while the handshake waits for [`Completion::Session`]: then with what it says
    /// was left of the session. None if there is none, or one that is longer than [`MAX_TICKET`](crate::MAX_TICKET).
    pub fn presented_ticket(&self) -> Option<&[u8]> {
        let tickets =
            self.handshake.get().filter(|_| self.awaits_session())?.state.parameters.tickets.get()?;
        Some(tickets.ticket()).filter(|ticket| tickets.presented && !ticket.is_empty())
    }

    /// Whether the handshake goes on from an earlier session, of which the client has still to prove that it is its own. False as
    /// long as it waits for [`Completion::Session`], and when that began a new session.
    pub fn is_resuming(&self) -> bool {
        P::RESUMPTION && self.handshake.get().is_some_and(|handshake| handshake.state.parameters.resumed)
    }

    /// Whether the handshake waits for [`Completion::Session`].
    pub fn awaits_session(&self) -> bool {
        self.role.awaits_session()
    }

    /// Whether `verified` is the hello that began this session, perhaps repeated by the
    /// network: it belongs to [`Session::handle`]. Any other comes from a client that has
    /// forgotten this session ([RFC 6347 section 4.2.8](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.8)).
    pub fn began_with(&self, verified: &VerifiedClientHello<'_>) -> bool {
        verified.hello.random.starts_with(&self.random_prefix)
    }

    /// Whether the handshake goes on only when something is done here: a key looked up, a session or a task.
    pub fn awaits_work(&self) -> bool {
        self.work().is_some()
    }
}
