mod receive;
mod server;
#[cfg(not(target_os = "none"))]
mod suspended;
mod task;
#[cfg(test)]
mod tests;
mod transmit;

#[cfg(not(target_os = "none"))]
pub use suspended::{SUSPENDED, Suspended};

use core::mem::take;

use sixlock_base::{Counter, Cx, Entropy, Instant, Slot};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{Alert, AlertDescription, HandshakeType, NewSessionTicket, SequenceNumber};

use crate::handshake::{Handshake, HandshakeParameters, HandshakeSlot, KeyLogEntry};
use crate::limit::{Limits, MAX_CONTENT};
use crate::profile::{Full, Profile};
use crate::public_key::Task;
use crate::record::{PLAIN, PROTECTED, Protection};
use crate::reliability::Due;
use crate::replay::ReplayWindow;
use crate::round_trip::RoundTrips;
use crate::schedule::{Side, keys};
use crate::session_state::SessionId;
use crate::v12::{Client, FeaturesOf, HandshakeContext, Message, Outcome, Role, Server, Wanted, flight};
use crate::{Config, ConnectionId, Credentials, FeatureSet, OptionalPart, RECORD_OVERHEAD, SessionState};

/// A client's session, which can do what `P` says.
pub type ClientSession<C, H, P = Full> = Session<C, Client<P>, H>;
/// A server's session, which can do what `P` says.
pub type ServerSession<C, H, P = Full> = Session<C, Server<P>, H>;

/// How often a handshake starts over from a mark because messages contradict each other.
const MAX_REWINDS: u8 = 4;
/// How much of the client's random value a session remembers to know its own hello by.
const RANDOM_PREFIX: usize = 8;

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The session is not connected, or no longer.
    NotConnected,
    /// The data is longer than a record or the buffer has no room for it.
    TooLong,
    /// The key is longer than [`MAX_PSK`](crate::MAX_PSK).
    KeyTooLong,
    /// The identity is longer than [`MAX_IDENTITY`](crate::MAX_IDENTITY).
    IdentityTooLong,
    /// The session did not ask for this.
    NoWork,
    /// Every sequence number was used: the session must be replaced.
    SequenceExhausted,
}

/// Why a session failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer did not answer.
    TimedOut,
    /// The handshake timed out after something that anyone may have sent refused it.
    Refused(AlertDescription),
    /// The handshake timed out after a hello that chose what was not offered.
    Negotiation,
    /// The peer could not prove that it knows the key.
    Authentication,
    /// The peer ended the session for a reason.
    Alert(AlertDescription),
}

/// What a session needs from outside before it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work<'a> {
    /// A key: at a server, that of the identity the client gave; at a client, whose identity
    /// is empty here, any identity it has a key for.
    Psk {
        /// The client's identity.
        identity: &'a [u8],
    },
    /// Something with P-256: [`Session::go_on`] takes what comes of it.
    Task(Task<'a>),
    /// At a server with [`Config::resumable`]: the [`SessionState`] of the session that a client
    /// wants to resume, if it is still kept.
    Session {
        /// The session's id; empty if its client wants a new one, or presents a ticket
        /// ([`Session::presented_ticket`]).
        id: &'a [u8],
    },
    /// At a server that has promised one ([`Session::promise_ticket`]): a ticket, for [`Session::give_ticket`].
    Ticket,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The session waits to be resumed with the result of this.
    Work(Work<'a>),
    /// Data can be sent and received.
    Connected,
    /// The session was closed by either side.
    Closed,
    /// The session or its handshake failed.
    Failed(Failure),
}

/// What a datagram held.
#[derive(Debug)]
pub struct Received<'d> {
    /// The application data of one record.
    pub data: Option<&'d mut [u8]>,
    /// Whether that record is newer than all before it: if it carries a connection id, the address that it came from is
    /// now the peer's ([RFC 9146 section 6](https://www.rfc-editor.org/rfc/rfc9146#section-6)).
    pub newest: bool,
    /// What was not looked at yet: hand it in again.
    pub rest: &'d mut [u8],
}

/// A session with one peer, of role `R`, whose handshake is in an `H`.
pub struct Session<C: Crypto, R: Role, H> {
    role: R,
    handshake: H,
    phase: Phase,
    protection: Slot<Protection<C, R::Profile>>,
    replay: ReplayWindow,
    /// What stands in the peer's protected records.
    own_id: ConnectionId,
    /// The longest content that may be sent, and the longest that may come.
    send_limit: u16,
    receive_limit: u16,
    /// The next record's number in the protected epoch; none when they are used up.
    write_sequence: Option<SequenceNumber>,
    /// An alert to be sent, and in which epoch.
    alert: Option<(Alert, u16)>,
    pending: Pending,
    random_prefix: [u8; RANDOM_PREFIX],
    round_trip: R::RoundTrip,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Over,
    Handshake,
    Connected,
}

/// Events not yet polled, in the order they are told.
struct Pending {
    work: bool,
    connected: bool,
    end: Slot<End>,
}

enum End {
    Closed,
    Failed(Failure),
}

impl<C: Crypto, R: Role, H> Session<C, R, H> {
    /// A session that has not begun, and so is over. It is all zero bytes if `handshake` is.
    pub const fn new(handshake: H) -> Self {
        Self {
            role: R::OVER,
            handshake,
            phase: Phase::Over,
            protection: Slot::Empty,
            replay: ReplayWindow::EMPTY,
            own_id: ConnectionId::EMPTY,
            send_limit: 0,
            receive_limit: 0,
            write_sequence: None,
            alert: None,
            pending: Pending { work: false, connected: false, end: Slot::Empty },
            random_prefix: [0; RANDOM_PREFIX],
            round_trip: R::RoundTrip::UNKNOWN,
        }
    }
}

impl<C: Crypto, R: Role> Session<C, R, Handshake<C, FeaturesOf<R>>> {
    /// Has these credentials for each handshake that begins from now on.
    pub fn set_credentials(&mut self, credentials: &'static Credentials) {
        self.handshake.set_credentials(credentials);
    }
}

impl<C: Crypto, P: Profile, H: HandshakeSlot<C, P::Features>> Session<C, Client<P>, H> {
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
        parts.config = *config;
        parts.parameters.limits = Limits::client(config.record_limit.filter(|_| P::RECORD_LIMITS));
        parts.parameters.suites = config.suites;
        if P::RESUMPTION {
            let offered = resumption.filter(|session| {
                parts.parameters.first_suite::<P>(|suite| suite == session.suite).is_some()
            });
            parts.parameters.offered = offered.cloned().into();
        }
        if let Some(tickets) = parts.parameters.tickets.get_mut() {
            let offered = parts.parameters.offered.take();
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
            parts.parameters.offered = offered.into();
        }
        if P::CONNECTION_IDS {
            parts.parameters.own_id = config.connection_id;
        }
        cx.entropy.fill(&mut parts.parameters.client_random);
        parts.transcript.add_own::<Client<P>>(cx.crypto, &parts.parameters, Message::ClientHello, 0);
        parts.transcript.checkpoint();
        parts.outgoing.record_sequence = Some(SequenceNumber::ZERO);
        parts.outgoing.send(config, self.round_trip.first_wait(config), &flight::CLIENT_HELLO, 0);
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

    /// Goes on after [`Work::Psk`] with an identity and its key.
    #[inline(never)]
    pub fn resume<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        identity: &[u8],
        psk: &[u8],
    ) -> Result<(), Error> {
        let Self { role, handshake, .. } = self;
        let Some(parts) = handshake.get_mut() else { return Err(Error::NoWork) };
        let Handshake { parameters, transcript, outgoing, config, .. } = parts;
        let message_seq = outgoing.message_seq_answering(HandshakeType::SERVER_HELLO_DONE);
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: false };
        role.resume(&mut exchange, identity, psk, message_seq)?;
        outgoing.send(config, self.round_trip.first_wait(config), &flight::CLIENT_FINISHED, message_seq);
        self.pending.work = false;
        self.protect(cx.crypto);
        Ok(())
    }
}

impl<C: Crypto, R: Role, H: HandshakeSlot<C, FeaturesOf<R>>> Session<C, R, H> {
    /// Begins the session's own part of a handshake that has begun.
    fn begin(&mut self, role: R) {
        self.role = role;
        self.phase = Phase::Handshake;
        self.unprotect();
        self.replay = ReplayWindow::EMPTY;
        self.own_id = ConnectionId::EMPTY;
        (self.send_limit, self.receive_limit) = (MAX_CONTENT, MAX_CONTENT);
        self.write_sequence = Some(SequenceNumber::ZERO);
        self.alert = None;
        self.pending = Pending { work: false, connected: false, end: Slot::Empty };
        if let Some(handshake) = self.handshake.get() {
            self.random_prefix.copy_from_slice(&handshake.parameters.client_random[..RANDOM_PREFIX]);
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event<'_>> {
        if take(&mut self.pending.work)
            && let Some(handshake) = self.handshake.get()
        {
            let parameters = &handshake.parameters;
            if let Some(task) = self.task() {
                return Some(Event::Work(Work::Task(task)));
            }
            return Some(Event::Work(match (self.role.awaits(), R::SIDE) {
                (Some(Wanted::Session), _) if R::Profile::RESUMPTION => {
                    // Who presents a ticket names none: https://www.rfc-editor.org/rfc/rfc5077#section-3.4
                    let by_ticket = parameters.tickets.get().is_some_and(|tickets| tickets.presented);
                    Work::Session { id: if by_ticket { &[] } else { parameters.session_id.get() } }
                }
                (Some(Wanted::Ticket), _) if FeaturesOf::<R>::TICKETS => Work::Ticket,
                (_, Side::Server) => Work::Psk { identity: parameters.cookie_or_identity.identity() },
                (_, Side::Client) => Work::Psk { identity: &[] },
            }));
        }
        if take(&mut self.pending.connected) {
            return Some(Event::Connected);
        }
        self.pending.end.take().map(|end| match end {
            End::Closed => Event::Closed,
            End::Failed(failure) => Event::Failed(failure),
        })
    }

    /// Whether data can be sent and received.
    pub fn is_connected(&self) -> bool {
        self.phase == Phase::Connected
    }

    /// Whether there is neither a connection nor a handshake: it has not begun, or it has ended.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether the session is over and has nothing more to send: it may be dropped.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over && self.alert.is_none()
    }

    /// What opens a record of this session, from [`Event::Connected`] on until the handshake
    /// is dropped, which happens in the next call of another method at the earliest.
    pub fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        if self.phase != Phase::Connected {
            return None;
        }
        let parameters = &self.handshake.get()?.parameters;
        Some(KeyLogEntry {
            client_random: &parameters.client_random,
            master_secret: &parameters.master_secret,
        })
    }

    /// Whether the session goes on from an earlier one, as long as [`Session::key_log`] says something.
    pub fn is_resumed(&self) -> bool {
        let handshake = self.handshake.get().filter(|_| self.phase == Phase::Connected);
        R::Profile::RESUMPTION && handshake.is_some_and(|handshake| handshake.parameters.resumed)
    }

    /// What to keep of this session to resume it, as long as [`Session::key_log`] says something, and at a server for
    /// [`Work::Ticket`]; none if the server gave it neither an id nor a ticket, or it does not use the extended master secret. If
    /// the session was resumed by a ticket, what was kept then stays as it is, unless there is a new one.
    pub fn resumption(&self) -> Option<SessionState> {
        let makes_ticket = FeaturesOf::<R>::TICKETS && self.role.awaits() == Some(Wanted::Ticket);
        if self.phase != Phase::Connected && !makes_ticket {
            return None;
        }
        let parameters = &self.handshake.get().filter(|_| R::Profile::RESUMPTION)?.parameters;
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
    /// [`Session::resumption`], and for how long; as long as [`Session::key_log`] says something.
    pub fn new_ticket(&self) -> Option<NewSessionTicket<'_>> {
        let parameters = &self.handshake.get().filter(|_| self.phase == Phase::Connected)?.parameters;
        parameters
            .taken_ticket()
            .filter(|message| parameters.extended_master_secret && !message.ticket.is_empty())
    }

    /// Protects the records from now on by the keys that follow from the master secret.
    fn protect(&mut self, crypto: &mut C) {
        let Some(Handshake { parameters, .. }) = self.handshake.get() else { return };
        let mut peer_id = ConnectionId::EMPTY;
        if R::Profile::CONNECTION_IDS {
            self.own_id = ConnectionId::EMPTY;
            if let HandshakeParameters { own_id: Some(own), peer_id: Some(peer), .. } = parameters {
                (self.own_id, peer_id) = (*own, *peer);
            }
        }
        if R::Profile::RECORD_LIMITS {
            (self.send_limit, self.receive_limit) = (parameters.limits.send, parameters.limits.receive);
        }
        let keys = keys(
            crypto,
            R::SIDE,
            &parameters.master_secret,
            &parameters.client_random,
            &parameters.server_random,
        );
        self.protection = Slot::Full(Protection::new(keys, parameters.suite, peer_id));
    }

    /// Wipes the keys.
    #[inline(never)]
    fn unprotect(&mut self) {
        self.protection = Slot::Empty;
    }

    /// What stands in the peer's protected records.
    fn own_id(&self) -> &[u8] {
        if R::Profile::CONNECTION_IDS { self.own_id.bytes() } else { &[] }
    }

    /// The longest content that may be sent, and the longest that may come.
    fn limits(&self) -> (u16, u16) {
        if R::Profile::RECORD_LIMITS {
            (self.send_limit, self.receive_limit)
        } else {
            (MAX_CONTENT, MAX_CONTENT)
        }
    }

    /// The most data that [`Session::seal`] takes: what the peer asked for, or 16,384 bytes.
    pub fn max_data(&self) -> usize {
        self.limits().0.into()
    }

    /// What [`Session::seal`] adds to the data, in bytes.
    pub fn overhead(&self) -> usize {
        self.protection.get().map_or(RECORD_OVERHEAD, Protection::overhead)
    }

    /// Closes the session and says so to the peer.
    pub fn close(&mut self) {
        if self.phase == Phase::Connected {
            self.alert = Some((Alert::CLOSE_NOTIFY, PROTECTED));
        }
        if self.phase != Phase::Over {
            self.end(End::Closed);
        }
    }

    /// When to call [`Session::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.handshake.get()?.outgoing.deadline()
    }

    /// Does what is due now.
    pub fn handle_timeout<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Some(parts) = self.handshake.get_mut() else { return };
        if !parts.outgoing.deadline().is_some_and(|deadline| cx.now.has_reached(deadline)) {
            return;
        }
        if self.phase != Phase::Handshake {
            self.handshake.free();
            return;
        }
        match parts.outgoing.expire(&parts.config) {
            Due::GiveUp => self.give_up(cx),
            Due::Again => {
                cx.counters.count(Counter::DtlsRetransmissions);
                let Handshake { parameters, transcript, .. } = parts;
                let mut exchange =
                    HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful: true };
                let outcome = self.role.retransmit(&mut exchange);
                if let Outcome::Rewound(message_seq) = outcome {
                    parts.rewind(message_seq);
                }
            }
        }
    }

    /// Ends a handshake under way as when its time is up: the failure is what there is a clue of.
    pub fn give_up<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Some(parts) = self.handshake.get_mut().filter(|_| self.phase == Phase::Handshake) else { return };
        if parts.bad_records > 0 {
            return self.fail_authentication(cx);
        }
        let failure = *parts.clue.get().unwrap_or(&Failure::TimedOut);
        self.fail(cx, failure);
    }

    /// Ends the handshake because the peer does not know the key
    /// ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)), or proves none.
    fn fail_authentication<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let refusal = self.handshake.get().and_then(|parts| parts.parameters.keys.get()?.refusal);
        let (description, epoch) = match refusal {
            Some(description) => (description, PLAIN),
            None => (AlertDescription::DECRYPT_ERROR, R::HANDSHAKE_EPOCH),
        };
        self.alert = Some((Alert::fatal(description), epoch));
        self.fail(cx, Failure::Authentication);
    }

    fn fail<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, failure: Failure) {
        if self.phase == Phase::Handshake {
            cx.counters.count(Counter::DtlsHandshakesFailed);
        }
        self.end(End::Failed(failure));
    }

    fn end(&mut self, end: End) {
        self.phase = Phase::Over;
        self.role = R::OVER;
        self.pending.work = false;
        self.pending.end = Slot::Full(end);
        if let Some(handshake) = self.handshake.get_mut() {
            handshake.outgoing.stop();
        }
        self.release();
    }

    /// Drops what a session that is over needs no longer.
    fn release(&mut self) {
        match self.alert {
            None => {
                self.handshake.free();
                self.unprotect();
            }
            Some((_, PLAIN)) => {}
            Some(_) => self.handshake.free(),
        }
    }
}
