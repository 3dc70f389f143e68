//! What only a server's session does.

use sixlock_base::{Cx, Entropy};
use sixlock_crypto::{Crypto, wipe};
use sixlock_dtls_msg::{Alert, AlertDescription, CipherSuite, ExtensionType, HandshakeType};

use super::{Error, Failure, Session};
use crate::handshake::{Handshake, HandshakeSlot};
use crate::limit::Limits;
use crate::profile::Profile;
use crate::record::PLAIN;
use crate::session_state::{SESSION_ID, SessionId};
use crate::v12::{HandshakeContext, HandshakeRole, Outcome, Server, Wanted, flight};
use crate::{Config, ConnectionId, FeatureSet, OptionalPart, SessionState, VerifiedClientHello};

/// Length of the random key that stands in for one that does not exist: that of the keys
/// that `sixlock keys psk` makes.
const RANDOM_KEY: usize = 32;

impl<C: Crypto, P: Profile, H: HandshakeSlot<C, P::Features>> Session<C, Server<P>, H> {
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
    /// [`Session::resume_session`]. Without a [`Handshake`] it stays over.
    pub fn accept<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        verified: &VerifiedClientHello<'_>,
        config: &Config,
    ) {
        let VerifiedClientHello { hello, message, record_sequence } = verified;
        let Some(parts) = self.handshake.begin() else { return };
        parts.config = *config;
        let Handshake { parameters, transcript, outgoing, next_receive, .. } = parts;
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
        transcript.add(cx.crypto, message);
        // Our numbers go on where the answer without state left off: with those of the hello.
        let message_seq = message.message_seq;
        *next_receive = message_seq.wrapping_add(1);
        outgoing.record_sequence = Some(*record_sequence);
        outgoing.send(config, config.initial_timeout, &flight::EMPTY, message_seq);
        let asks = P::RESUMPTION && config.resumable;
        if asks {
            parameters.session_id = SessionId::received(hello.session_id);
            if let Some(tickets) = parameters.tickets.get_mut() {
                tickets.asked(hello.extensions);
            }
        }
        parameters.suites = config.suites;
        let ways = parameters.keys.get_mut().map(|keys| keys.choose(hello)).unwrap_or_default();
        let suite = parameters.first_suite::<P>(|suite| {
            hello.cipher_suites.contains(suite.number())
                && (ways.certified || !suite.has_public_keys())
                && (ways.agreed || !suite.has_ephemeral_keys())
        });
        parameters.suite = suite.unwrap_or(parameters.suite);
        self.begin(Server::start());
        self.own_id = own_id;
        match (suite, asks) {
            (None, _) => self.refuse(cx),
            (Some(_), true) => self.pending.work = true,
            (Some(_), false) => self.answer(cx, None, None),
        }
    }

    /// Goes on after [`Work::Session`](crate::Work::Session) with what is left of that session, or with nothing: then a
    /// new session begins, under this id or a random one. So it does if what is left has another suite than the hello allows:
    /// [`Session::is_resuming`] tells.
    pub fn resume_session<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        resumption: Option<&SessionState>,
        id: Option<&[u8; SESSION_ID]>,
    ) -> Result<(), Error> {
        if !self.awaits_session() {
            return Err(Error::NoWork);
        }
        self.pending.work = false;
        self.answer(cx, resumption, id);
        Ok(())
    }

    /// The ticket that the client presents, while the handshake waits for [`Session::resume_session`]: then with what it says
    /// was left of the session. None if there is none, or one that is longer than [`MAX_TICKET`](crate::MAX_TICKET).
    pub fn presented_ticket(&self) -> Option<&[u8]> {
        let tickets = self.handshake.get().filter(|_| self.awaits_session())?.parameters.tickets.get()?;
        Some(tickets.ticket()).filter(|ticket| tickets.presented && !ticket.is_empty())
    }

    /// Promises a new session's client a ticket, if it takes any: for [`Work::Ticket`](crate::Work::Ticket), once it has proved
    /// itself. The session then gets no id. To be called while the handshake waits for [`Session::resume_session`].
    pub fn promise_ticket(&mut self) {
        let awaits_session = self.awaits_session();
        if let Some(parts) = self.handshake.get_mut().filter(|_| awaits_session) {
            let extended = parts.parameters.extended_master_secret;
            if let Some(tickets) = parts.parameters.tickets.get_mut() {
                tickets.promises = tickets.wanted && extended;
            }
        }
    }

    /// Has a new ticket, for so many seconds, for the client whose session is to be resumed by [`Session::resume_session`]; to be
    /// called before, if the old one is not to be presented again.
    pub fn renew_ticket(&mut self, lifetime: u32, ticket: &[u8]) {
        let awaits_session = self.awaits_session();
        if let Some(parts) = self.handshake.get_mut().filter(|_| awaits_session)
            && let Some(tickets) = parts.parameters.tickets.get_mut().filter(|tickets| tickets.wanted)
        {
            tickets.give(lifetime, ticket);
        }
    }

    /// Goes on after [`Work::Ticket`](crate::Work::Ticket) with a ticket that can be presented for so many seconds: what
    /// [`Session::resumption`] says by now, sealed. It takes at most [`MAX_TICKET`](crate::MAX_TICKET) bytes; an empty one says
    /// that there is none.
    pub fn give_ticket<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        lifetime: u32,
        ticket: &[u8],
    ) -> Result<(), Error> {
        let is_due = P::Features::TICKETS && self.role.awaits() == Some(Wanted::Ticket);
        let Some(parts) = self.handshake.get_mut().filter(|_| is_due) else { return Err(Error::NoWork) };
        let Handshake { parameters, transcript, outgoing, next_receive, .. } = parts;
        if let Some(tickets) = parameters.tickets.get_mut() {
            tickets.give(lifetime, ticket);
        }
        let message_seq = outgoing.message_seq_answering(HandshakeType::FINISHED);
        let answered = next_receive.wrapping_sub(1);
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: false };
        let outcome = self.role.give_ticket(&mut exchange, message_seq);
        self.pending.work = false;
        self.apply(cx, outcome, answered);
        Ok(())
    }

    /// Whether the handshake goes on from an earlier session, of which the client has still to prove that it is its own. False as
    /// long as it waits for [`Session::resume_session`], and when that began a new session.
    pub fn is_resuming(&self) -> bool {
        P::RESUMPTION && self.handshake.get().is_some_and(|handshake| handshake.parameters.resumed)
    }

    /// Whether the handshake waits for [`Session::resume_session`].
    pub fn awaits_session(&self) -> bool {
        self.role.awaits() == Some(Wanted::Session)
    }

    /// Answers the hello.
    fn answer<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        resumption: Option<&SessionState>,
        id: Option<&[u8; SESSION_ID]>,
    ) {
        let Some(handshake) = self.handshake.get_mut() else { return };
        let Handshake { parameters, transcript, outgoing, config, .. } = handshake;
        let message_seq = outgoing.message_seq_answering(HandshakeType::CLIENT_HELLO);
        let Some(resumption) =
            resumption.filter(|session| P::RESUMPTION && session.suite == parameters.suite)
        else {
            // Only a session that is bound to its whole handshake may be resumed.
            let promises = parameters.tickets.get().is_some_and(|tickets| tickets.promises);
            parameters.session_id =
                if P::RESUMPTION && config.resumable && parameters.extended_master_secret && !promises {
                    id.map_or_else(|| SessionId::random(cx.entropy), |id| SessionId::received(id))
                } else {
                    SessionId::EMPTY
                };
            let mut exchange =
                HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: false };
            match self.role.begin(&mut exchange, message_seq) {
                Outcome::Send(flight, message_seq) => {
                    outgoing.send(config, config.initial_timeout, flight, message_seq)
                }
                _ => self.pending.work = true,
            }
            return;
        };
        // https://www.rfc-editor.org/rfc/rfc7627#section-5.3
        if !parameters.extended_master_secret {
            self.refuse(cx);
            return;
        }
        let mut flight = &flight::SERVER_RESUMED;
        let mut by_ticket = false;
        if let Some(tickets) = parameters.tickets.get_mut() {
            tickets.promises = tickets.made;
            by_ticket = tickets.presented;
            if tickets.made {
                flight = &flight::SERVER_RESUMED_TICKET;
            }
        }
        if !by_ticket {
            // By a ticket, it is the one that the client gave: https://www.rfc-editor.org/rfc/rfc5077#section-3.4
            parameters.session_id = resumption.id.clone();
        }
        parameters.master_secret = resumption.master_secret;
        parameters.resumed = true;
        outgoing.send(config, config.initial_timeout, flight, message_seq);
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: false };
        self.role.resume_session(&mut exchange, message_seq);
        self.protect(cx.crypto);
    }

    /// Ends a handshake that cannot go on as the client offers.
    fn refuse<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.alert = Some((Alert::fatal(AlertDescription::HANDSHAKE_FAILURE), PLAIN));
        self.fail(cx, Failure::Negotiation);
    }

    /// Goes on after [`Work::Psk`] with the identity's key, or with none if there is no such
    /// identity: the session then goes on with a random key, so that an unknown identity and
    /// a wrong key look alike ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)).
    pub fn resume<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        psk: Option<&[u8]>,
    ) -> Result<(), Error> {
        let Self { role, handshake, .. } = self;
        let Some(parts) = handshake.get_mut() else { return Err(Error::NoWork) };
        let Handshake { parameters, transcript, .. } = parts;
        // Drawn in either case: the answer takes the same time.
        let mut random = [0; RANDOM_KEY];
        cx.entropy.fill(&mut random);
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: false };
        let resumed = role.resume(&mut exchange, psk.unwrap_or(&random));
        wipe(&mut random);
        resumed?;
        self.pending.work = false;
        self.await_proof(cx);
        Ok(())
    }

    /// Whether `verified` is the hello that began this session, perhaps repeated by the
    /// network: it belongs to [`Session::handle`]. Any other comes from a client that has
    /// forgotten this session ([RFC 6347 section 4.2.8](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.8)).
    pub fn began_with(&self, verified: &VerifiedClientHello<'_>) -> bool {
        verified.hello.random.starts_with(&self.random_prefix)
    }

    /// How much of the client's part of the handshake was taken: 8 for each message, and one for each full eighth that is there of
    /// the message that is awaited. Nothing counts that was taken before, is not awaited or does not authenticate. It goes back if
    /// the handshake does. Zero without a handshake.
    pub fn progress(&self) -> u8 {
        let Some(parts) = self.handshake.get() else { return 0 };
        let Handshake { reassembly, certificates, next_receive, .. } = parts;
        let certificate = certificates.get().and_then(|room| room.eighths(*next_receive));
        let eighths = certificate.or_else(|| reassembly.eighths(*next_receive)).unwrap_or(0);
        u8::try_from(*next_receive)
            .map_or(u8::MAX, |messages| messages.saturating_mul(8).saturating_add(eighths))
    }

    /// Whether the handshake goes on only when something is done here: a key looked up, a session or a task.
    pub fn awaits_work(&self) -> bool {
        self.role.awaits().is_some()
    }
}
