use core::array;

use sixlock_base::{Counter, Cx, Duration, Entropy, Instant, Slot};
use sixlock_coap_msg::{Code, HEADER, Message, OptionNumber, Type, empty, reset_for};

use crate::client::RESPONSE_TIMEOUT;
use crate::ended::{Ended, Outcome};
use crate::entry::{Entry, Kind, State};
use crate::outgoing::OutgoingRequest;
use crate::reachability::Moved;
use crate::reliability::{MessageIds, Schedule};
use crate::respond_error::RespondError;
use crate::token::Token;
use crate::{Answer, ByteStore, Transmission};

/// How a server behaves; one for all its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// When its separate responses are sent again.
    pub transmission: Transmission,
    /// How long a response may take to travel with the acknowledgement of its request; then the request is
    /// acknowledged alone. Less than a client's ACK_TIMEOUT, so that no client has to ask again.
    pub processing: Duration,
    /// How long a request is remembered: EXCHANGE_LIFETIME.
    pub exchange_lifetime: Duration,
    /// The critical options that the application knows; a request with another one is refused.
    pub critical_options: &'static [OptionNumber],
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            transmission: Transmission::default(),
            processing: Duration::from_secs(1),
            exchange_lifetime: Duration::from_secs(247),
            critical_options: &[
                OptionNumber::URI_HOST,
                OptionNumber::URI_PORT,
                OptionNumber::URI_PATH,
                OptionNumber::URI_QUERY,
                OptionNumber::ACCEPT,
            ],
        }
    }
}

/// A request under way with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId {
    slot: u8,
    /// Tells this request from others that have stood in the slot.
    serial: u16,
}

/// A request to be answered by [`Exchanges::respond`], now or later.
#[derive(Clone, Copy, Debug)]
pub struct Request<'d> {
    /// What to answer to.
    pub id: ExchangeId,
    /// The request itself.
    pub message: Message<'d>,
}

/// The requests of one peer: the last `RING` of them are remembered, with their responses, so that one received
/// again is not done again but answered from memory
/// ([RFC 7252 section 4.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.2)).
///
/// A new request takes the place of the oldest that is answered, even within its lifetime: a peer that keeps to
/// NSTART = 1 repeats none but its last. When all of them wait for their responses, new ones are dropped and counted,
/// for the peer to send again. `RING` is at most 255.
#[derive(Debug)]
pub struct Exchanges<S, const RING: usize> {
    entries: [Entry<S>; RING],
    /// Where the search for a place begins: behind the youngest entry.
    next: u8,
    serial: u16,
    ids: MessageIds,
    /// A reset to send.
    reply: Option<[u8; HEADER]>,
    ended: Slot<Ended>,
    /// That the peer has moved, until it shows that it receives where it is now.
    moved: Option<Moved>,
}

impl<S: ByteStore, const RING: usize> Exchanges<S, RING> {
    const FITS: () = assert!(0 < RING && RING <= u8::MAX as usize);

    /// No requests yet.
    pub fn new() -> Self {
        let () = Self::FITS;
        Self {
            entries: array::from_fn(|_| Entry::free()),
            next: 0,
            serial: 0,
            ids: MessageIds::new(),
            reply: None,
            ended: Slot::Empty,
            moved: None,
        }
    }

    /// Takes a datagram of the peer, and lends the request in it if it is a new one that can be answered.
    pub fn handle<'d, C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        config: &ServerConfig,
        datagram: &'d [u8],
    ) -> Option<Request<'d>> {
        let Ok(message) = Message::parse(datagram) else {
            cx.counters.count(Counter::CoapMalformed);
            self.reply = reset_for(datagram).or(self.reply);
            return None;
        };
        match message.message_type() {
            Type::Confirmable | Type::NonConfirmable if message.code().is_request() => {
                self.handle_request(cx, config, message)
            }
            Type::Confirmable | Type::NonConfirmable if message.code().is_response() => {
                self.handle_response(&message, datagram);
                None
            }
            // Pings.
            Type::Confirmable => {
                self.reply = reset_for(datagram);
                None
            }
            Type::Acknowledgement if message.code().is_response() => {
                self.is_reached_by(message.id());
                let mut entries = self.entries.iter_mut();
                let entry = entries.find(|entry| {
                    entry.response_id() == Some(message.id()) && entry.is_asked(message.token())
                })?;
                self.ended = entry.answered(&message).into();
                None
            }
            Type::Acknowledgement | Type::Reset if message.code() == Code::EMPTY => {
                self.is_reached_by(message.id());
                let rejected = message.message_type() == Type::Reset;
                let entry = self.entries.iter_mut().find(|entry| {
                    entry.response_id() == Some(message.id())
                        || rejected && entry.is_unconfirmed_notification(message.id())
                })?;
                if entry.kind == Kind::Outgoing && !rejected {
                    entry.state = State::Awaiting { deadline: cx.now + RESPONSE_TIMEOUT };
                    return None;
                }
                let outcome = if rejected { Outcome::Rejected } else { Outcome::Acknowledged };
                if let Some(ended) = entry.end(outcome) {
                    self.ended = Slot::Full(ended);
                }
                None
            }
            _ => None,
        }
    }

    /// Notes that the peer has answered the message with this id.
    fn is_reached_by(&mut self, id: u16) {
        if self.moved.as_ref().is_some_and(|moved| moved.is_shown_by(id, self.ids.last())) {
            self.moved = None;
        }
    }

    /// Takes a response that comes in a message of its own
    /// ([RFC 7252 section 5.2.2](https://www.rfc-editor.org/rfc/rfc7252#section-5.2.2)): acknowledged, if the server has asked for it,
    /// and else rejected.
    fn handle_response(&mut self, response: &Message<'_>, datagram: &[u8]) {
        let confirmable = response.message_type() == Type::Confirmable;
        let entry = self.entries.iter_mut().find(|entry| entry.is_asked(response.token()));
        if confirmable {
            self.reply = match entry {
                Some(_) => Some(empty(Type::Acknowledgement, response.id())),
                None => reset_for(datagram),
            };
        }
        if let Some(entry) = entry.filter(|entry| entry.is_open()) {
            self.ended = entry.answered(response).into();
        }
    }

    fn handle_request<'d, C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        config: &ServerConfig,
        message: Message<'d>,
    ) -> Option<Request<'d>> {
        // The token is compared as well, so that a message id that comes round again is not taken for a repetition.
        let same = |entry: &&mut Entry<S>| {
            !matches!(entry.state, State::Free)
                && entry.kind == Kind::Incoming
                && entry.message_id == message.id()
                && entry.token == Token::of(&message)
                && !cx.now.has_reached(entry.expires)
        };
        if let Some(entry) = self.entries.iter_mut().find(same) {
            cx.counters.count(Counter::CoapDuplicates);
            entry.repeat();
            return None;
        }
        let confirmable = message.message_type() == Type::Confirmable;
        let refusal = refusal(&message, config.critical_options);
        if refusal.is_some() && !confirmable {
            // RFC 7252 section 5.4.1: rejected, which for a non-confirmable message is to ignore it.
            cx.counters.count(Counter::CoapMalformed);
            return None;
        }
        let Some(slot) = self.place(cx.now) else {
            cx.counters.count(Counter::CoapExchangesFull);
            return None;
        };
        self.serial = self.serial.wrapping_add(1);
        let entry = self.entries.get_mut(usize::from(slot))?;
        entry.serial = self.serial;
        entry.state = State::Processing { acknowledge: confirmable.then(|| cx.now + config.processing) };
        entry.message_id = message.id();
        (entry.token, entry.kind) = (Token::of(&message), Kind::Incoming);
        entry.confirmable = confirmable;
        entry.expires = cx.now + config.exchange_lifetime;
        let id = ExchangeId { slot, serial: self.serial };
        if let Some(code) = refusal {
            // A store too small for a bare code answers nothing at all.
            let _ = self.respond(cx, id, code.into());
            return None;
        }
        Some(Request { id, message })
    }

    /// A place for a new request: the first that may be had, from the oldest on.
    fn place(&mut self, now: Instant) -> Option<u8> {
        let (start, slots) = (self.next, RING as u8);
        let slot = (start..slots).chain(0..start).find(|&slot| {
            self.entries.get(usize::from(slot)).is_some_and(|entry| entry.is_replaceable(now))
        })?;
        self.next = if slot + 1 == slots { 0 } else { slot + 1 };
        Some(slot)
    }

    /// Answers a request: in its acknowledgement if that is still to be sent, else in a message of its own.
    pub fn respond<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        id: ExchangeId,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let entry = self
            .entries
            .get_mut(usize::from(id.slot))
            .filter(|entry| entry.serial == id.serial && entry.is_waiting())
            .ok_or(RespondError::NotWaiting)?;
        let acknowledged = matches!(entry.state, State::Acknowledged { .. });
        let (kind, message_id) = match (entry.confirmable, acknowledged) {
            (true, false) => (Type::Acknowledgement, entry.message_id),
            (true, true) => (Type::Confirmable, self.ids.next(cx)),
            (false, _) => (Type::NonConfirmable, self.ids.next(cx)),
        };
        entry.write(kind, message_id, answer)?;
        entry.state =
            if acknowledged { State::Queued { id: message_id } } else { State::Answered { due: true } };
        Ok(())
    }

    /// Tells a peer that observes by `token` what it observes now
    /// ([RFC 7641 section 4.2](https://www.rfc-editor.org/rfc/rfc7641#section-4.2)).
    pub fn notify<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        config: &ServerConfig,
        token: Token,
        confirmable: bool,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let (entry, id) = self.begin(cx, config, Kind::Notification, token)?;
        let kind = if confirmable { Type::Confirmable } else { Type::NonConfirmable };
        entry.write(kind, id, answer)?;
        entry.state = if confirmable { State::Queued { id } } else { State::Answered { due: true } };
        Ok(())
    }

    /// Asks the peer for something, by a confirmable message with this token: another one than those of its requests under way to this peer.
    /// What comes of it, [`Exchanges::poll_ended`] tells.
    pub fn request<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        config: &ServerConfig,
        token: Token,
        request: OutgoingRequest<'_>,
    ) -> Result<(), RespondError> {
        let (entry, id) = self.begin(cx, config, Kind::Outgoing, token)?;
        entry.write_request(id, request)?;
        entry.state = State::Queued { id };
        Ok(())
    }

    /// A place, still free, and a message id for what is sent unasked.
    fn begin<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        config: &ServerConfig,
        kind: Kind,
        token: Token,
    ) -> Result<(&mut Entry<S>, u16), RespondError> {
        let slot = self.place(cx.now).ok_or(RespondError::Full)?;
        let id = self.ids.next(cx);
        self.serial = self.serial.wrapping_add(1);
        let entry = self.entries.get_mut(usize::from(slot)).ok_or(RespondError::Full)?;
        entry.state = State::Free;
        (entry.serial, entry.message_id) = (self.serial, id);
        (entry.token, entry.kind, entry.confirmable) = (token, kind, false);
        entry.expires = cx.now + config.exchange_lifetime;
        Ok((entry, id))
    }

    /// The peer is heard from another address than before, to which all goes from now on. Until [`Exchanges::is_reached`],
    /// whoever sends gives [`Exchanges::poll_transmit`] as much room as may be sent there. A message that would not leave `reserve`
    /// bytes of it (255 at most) waits, and a ping asks for an answer
    /// ([RFC 7252 section 4.3](https://www.rfc-editor.org/rfc/rfc7252#section-4.3)). If none comes, what waits is given up.
    pub fn moved<C, E: Entropy, V>(&mut self, cx: &mut Cx<'_, C, E, V>, reserve: usize) {
        self.moved = Some(Moved::now(cx, &mut self.ids, reserve));
    }

    /// Whether the peer has answered something that was sent since it moved, or has not moved.
    pub const fn is_reached(&self) -> bool {
        self.moved.is_none()
    }

    /// Whether something waits for a peer that has moved to show that it receives where it is now.
    pub fn is_held_back(&self) -> bool {
        self.moved.as_ref().is_some_and(Moved::is_pinged)
    }

    /// A message sent unasked that has come to its end. It is forgotten when another does.
    pub fn poll_ended(&mut self) -> Option<Ended> {
        self.ended.take()
    }

    /// Whether there is something for [`Exchanges::poll_ended`] to tell.
    pub const fn has_ended(&self) -> bool {
        self.ended.is_full()
    }

    /// Fills `out` with the next datagram to send, and tells its length. What `out` has no room for is not sent, unless it may wait
    /// ([`Exchanges::moved`]).
    pub fn poll_transmit<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        config: &ServerConfig,
        out: &mut [u8],
    ) -> Option<usize> {
        let holds_back =
            |length| self.moved.as_ref().is_some_and(|moved| moved.holds_back(length, out.len()));
        let mut waits = self.reply.is_some() && holds_back(HEADER);
        if !waits && let Some(reply) = self.reply.take() {
            out.get_mut(..HEADER)?.copy_from_slice(&reply);
            return Some(HEADER);
        }
        // NSTART = 1: one separate response at a time.
        let unacknowledged = self.entries.iter().any(|entry| entry.response_id().is_some());
        for entry in &mut self.entries {
            let acknowledgement = empty(Type::Acknowledgement, entry.message_id);
            let (bytes, next): (&[u8], _) = match entry.state {
                State::Acknowledged { due: true } => (&acknowledgement, State::Acknowledged { due: false }),
                State::Finished { due: true } => (&acknowledgement, State::Finished { due: false }),
                State::Answered { due: true } => (entry.response.bytes(), State::Answered { due: false }),
                State::Queued { id } if !unacknowledged => {
                    let schedule = Schedule::start(cx, &config.transmission);
                    (entry.response.bytes(), State::Unacknowledged { id, schedule, due: false })
                }
                State::Unacknowledged { id, schedule, due: true } => {
                    (entry.response.bytes(), State::Unacknowledged { id, schedule, due: false })
                }
                _ => continue,
            };
            if holds_back(bytes.len()) {
                waits = true;
                continue;
            }
            if let State::Unacknowledged { .. } = entry.state {
                cx.counters.count(Counter::CoapRetransmissions);
            }
            entry.state = next;
            out.get_mut(..bytes.len())?.copy_from_slice(bytes);
            return Some(bytes.len());
        }
        if waits { self.ping(cx, config, out) } else { None }
    }

    /// Asks a peer that has moved for an answer, if it is time for that.
    fn ping<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        config: &ServerConfig,
        out: &mut [u8],
    ) -> Option<usize> {
        let room = out.first_chunk_mut::<HEADER>();
        let id = self.moved.as_mut()?.ping(cx, &config.transmission, room.is_some())?;
        *room? = empty(Type::Confirmable, id);
        Some(HEADER)
    }

    /// Gives up what waits for a peer that has moved and does not answer. What answers a request that comes again is sent then.
    fn give_up(&mut self) {
        for entry in &mut self.entries {
            match entry.state {
                State::Answered { due: true } => entry.state = State::Answered { due: false },
                State::Queued { .. } if entry.kind == Kind::Incoming => entry.finish(),
                // One end is told at a time: another ping goes before the next.
                State::Queued { .. } if !self.ended.is_full() => {
                    self.ended = entry.end(Outcome::TimedOut).into();
                }
                _ => {}
            }
        }
    }

    /// When [`Exchanges::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let ping = self.moved.as_ref().and_then(Moved::deadline);
        self.entries.iter().fold(ping, |earliest, entry| Instant::earliest(earliest, entry.deadline()))
    }

    /// Does what is due by now.
    pub fn handle_timeout<C, E: Entropy, V>(&mut self, cx: &mut Cx<'_, C, E, V>) {
        if self.moved.as_mut().is_some_and(|moved| moved.handle_timeout(cx.now)) {
            cx.counters.count(Counter::CoapTimeouts);
            self.give_up();
        }
        for entry in &mut self.entries {
            if !entry.deadline().is_some_and(|deadline| cx.now.has_reached(deadline)) {
                continue;
            }
            if entry.kind != Kind::Incoming && self.ended.is_full() {
                // One end is told at a time: this one comes when that was taken.
                continue;
            }
            match &mut entry.state {
                State::Processing { .. } => {
                    entry.state = State::Acknowledged { due: true };
                    continue;
                }
                State::Unacknowledged { schedule, due, .. } => *due = schedule.advance(cx.now),
                _ => {}
            }
            if !matches!(entry.state, State::Unacknowledged { due: true, .. }) {
                cx.counters.count(Counter::CoapTimeouts);
                if let Some(ended) = entry.end(Outcome::TimedOut) {
                    self.ended = Slot::Full(ended);
                }
            }
        }
    }

    /// Whether no request waits for its response and no response for its acknowledgement.
    pub fn is_idle(&self) -> bool {
        self.entries.iter().all(|entry| {
            matches!(
                entry.state,
                State::Free | State::Finished { due: false } | State::Answered { due: false }
            )
        })
    }
}

impl<S: ByteStore, const RING: usize> Default for Exchanges<S, RING> {
    fn default() -> Self {
        Self::new()
    }
}

/// The code a request is refused with for its options alone.
pub(crate) fn refusal(message: &Message<'_>, critical_options: &[OptionNumber]) -> Option<Code> {
    let option = message.unacceptable_option(critical_options)?;
    let proxy = [OptionNumber::PROXY_URI, OptionNumber::PROXY_SCHEME];
    // RFC 7252 section 5.7.2: a server that is no proxy says so.
    Some(if proxy.contains(&option) { Code::PROXYING_NOT_SUPPORTED } else { Code::BAD_OPTION })
}
