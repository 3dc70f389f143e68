use core::fmt;

use sixlock_base::{Counter, Cx, Duration, Entropy, Instant, Slot};
use sixlock_coap_msg::{BuildError, Builder, Code, HEADER, Message, OptionNumber, Type, empty, reset_for};

use crate::Transmission;
use crate::reliability::{MessageIds, Schedule};

/// Length of the tokens of a client, in bytes: as many as keep an attacker off the path from guessing one
/// ([RFC 7252 section 5.3.1](https://www.rfc-editor.org/rfc/rfc7252#section-5.3.1)).
pub const TOKEN: usize = 4;

/// When a client's requests are sent again.
const TRANSMISSION: Transmission = Transmission::DEFAULT;

/// How long a client waits for a response once its request was acknowledged, or sent if non-confirmable: MAX_TRANSMIT_WAIT
/// ([RFC 7252 section 4.8.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.8.2)).
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(93);

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// The request before it is still under way.
    Busy,
    /// It could not be built.
    Build(BuildError),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the request before it is still under way"),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for RequestError {}

/// How a request ended that got no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Nobody answered.
    TimedOut,
    /// The server rejected the message.
    Reset,
    /// The response had a critical option that is not known.
    Unacceptable,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the server did not answer",
            Self::Reset => "the server rejected the message",
            Self::Unacceptable => "the response has a critical option that is not known",
        })
    }
}

/// A client with one request under way at a time (NSTART = 1), held as a plaintext message of at most `N` bytes.
#[derive(Debug)]
pub struct Client<const N: usize> {
    ids: MessageIds,
    message: [u8; N],
    len: usize,
    id: u16,
    token: [u8; TOKEN],
    state: State,
    /// The id of the last separate response taken, to acknowledge it again.
    acknowledged: Option<u16>,
    /// An acknowledgement or reset to send.
    reply: Option<[u8; HEADER]>,
    event: Slot<Event>,
}

#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum State {
    Idle,
    /// To be sent for the first time.
    Unsent {
        confirmable: bool,
    },
    /// Sent and not acknowledged; `due` to be sent again.
    Unacknowledged {
        schedule: Schedule,
        due: bool,
    },
    /// Acknowledged, or not to be acknowledged: a response is awaited.
    Awaiting {
        deadline: Instant,
    },
}

impl<const N: usize> Client<N> {
    /// A client without a request. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            ids: MessageIds::new(),
            message: [0; N],
            len: 0,
            id: 0,
            token: [0; TOKEN],
            state: State::Idle,
            acknowledged: None,
            reply: None,
            event: Slot::Empty,
        }
    }

    /// Whether a request is under way.
    pub const fn is_busy(&self) -> bool {
        !matches!(self.state, State::Idle)
    }

    /// Begins a request of the method `code`; `build` adds its options and payload and tells its length.
    pub fn request<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        confirmable: bool,
        code: Code,
        build: impl FnOnce(Builder<'_>) -> Result<usize, BuildError>,
    ) -> Result<(), RequestError> {
        self.begin(cx, None, confirmable, code, build)
    }

    /// Begins a request with the token of an observation, which it begins again
    /// ([RFC 7641 section 3.3.1](https://www.rfc-editor.org/rfc/rfc7641#section-3.3.1)); otherwise as [`Client::request`].
    pub fn request_again<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        token: [u8; TOKEN],
        code: Code,
        build: impl FnOnce(Builder<'_>) -> Result<usize, BuildError>,
    ) -> Result<(), RequestError> {
        self.begin(cx, Some(token), true, code, build)
    }

    /// The token of the request that was begun last.
    pub const fn token(&self) -> [u8; TOKEN] {
        self.token
    }

    /// Begins a request with this token, or without one with a new one.
    #[inline(always)]
    fn begin<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        token: Option<[u8; TOKEN]>,
        confirmable: bool,
        code: Code,
        build: impl FnOnce(Builder<'_>) -> Result<usize, BuildError>,
    ) -> Result<(), RequestError> {
        if self.is_busy() {
            return Err(RequestError::Busy);
        }
        match token {
            Some(token) => self.token = token,
            None => cx.entropy.fill(&mut self.token),
        }
        self.id = self.ids.next(cx);
        let kind = if confirmable { Type::Confirmable } else { Type::NonConfirmable };
        let built = Builder::new(&mut self.message, kind, code, self.id, &self.token).and_then(build);
        self.len = built.map_err(RequestError::Build)?;
        self.state = State::Unsent { confirmable };
        Ok(())
    }

    /// Gives the request up.
    pub fn cancel(&mut self) {
        self.state = State::Idle;
    }

    /// Sends the request under way anew, as another message with the same token. A new security association asks
    /// for this: a message is not retransmitted from one into the next
    /// ([RFC 7252 section 9.1.1](https://www.rfc-editor.org/rfc/rfc7252#section-9.1.1)).
    pub fn restart<C, E: Entropy, V>(&mut self, cx: &mut Cx<'_, C, E, V>) {
        (self.acknowledged, self.reply) = (None, None);
        if let (true, Ok(message)) =
            (self.is_busy(), Message::parse(self.message.get(..self.len).unwrap_or(&[])))
        {
            let confirmable = message.message_type() == Type::Confirmable;
            self.id = self.ids.next(cx);
            if let Some(id) = self.message.get_mut(2..HEADER) {
                id.copy_from_slice(&self.id.to_be_bytes());
            }
            self.state = State::Unsent { confirmable };
        }
    }

    /// Takes a datagram of the server, and lends the response to the request under way if this is it.
    ///
    /// A device that serves as well gives messages with a method code to its [`Exchanges`](crate::Exchanges);
    /// here they are rejected.
    pub fn handle<'d, C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        datagram: &'d [u8],
    ) -> Option<Message<'d>> {
        self.handle_knowing(cx, &[], datagram)
    }

    /// Does what [`Client::handle`] does, for who knows the critical options `known` of responses.
    pub fn handle_knowing<'d, C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        known: &[OptionNumber],
        datagram: &'d [u8],
    ) -> Option<Message<'d>> {
        let Ok(message) = Message::parse(datagram) else {
            cx.counters.count(Counter::CoapMalformed);
            self.reply = reset_for(datagram).or(self.reply);
            return None;
        };
        let ours = self.was_sent() && message.id() == self.id;
        let answers = self.was_sent() && message.code().is_response() && message.token() == self.token;
        match message.message_type() {
            Type::Acknowledgement if ours && answers => self.finish(message, known),
            Type::Acknowledgement if ours && message.code() == Code::EMPTY => {
                if let State::Unacknowledged { .. } = self.state {
                    self.state = State::Awaiting { deadline: cx.now + RESPONSE_TIMEOUT };
                }
                None
            }
            Type::Reset if ours => {
                self.end(Event::Reset);
                None
            }
            Type::NonConfirmable if answers => self.finish(message, known),
            Type::Confirmable if answers => {
                let response = self.finish(message, known);
                self.acknowledged = response.map(|response| response.id());
                let kind = if response.is_some() { Type::Acknowledgement } else { Type::Reset };
                self.reply = Some(empty(kind, message.id()));
                response
            }
            Type::Confirmable if message.code().is_response() && self.acknowledged == Some(message.id()) => {
                cx.counters.count(Counter::CoapDuplicates);
                self.reply = Some(empty(Type::Acknowledgement, message.id()));
                None
            }
            // Pings, requests, and responses to nothing that was asked.
            Type::Confirmable => {
                self.reply = reset_for(datagram);
                None
            }
            _ => None,
        }
    }

    /// Fills `out`, of at least `N` bytes, with the next datagram to send, and tells its length.
    pub fn poll_transmit<C, E: Entropy, V>(
        &mut self,
        cx: &mut Cx<'_, C, E, V>,
        out: &mut [u8],
    ) -> Option<usize> {
        if let Some(reply) = self.reply.take() {
            out.get_mut(..HEADER)?.copy_from_slice(&reply);
            return Some(HEADER);
        }
        let next = match self.state {
            State::Unsent { confirmable: true } => {
                State::Unacknowledged { schedule: Schedule::start(cx, &TRANSMISSION), due: false }
            }
            State::Unsent { confirmable: false } => State::Awaiting { deadline: cx.now + RESPONSE_TIMEOUT },
            State::Unacknowledged { schedule, due: true } => {
                cx.counters.count(Counter::CoapRetransmissions);
                State::Unacknowledged { schedule, due: false }
            }
            _ => return None,
        };
        out.get_mut(..self.len)?.copy_from_slice(self.message.get(..self.len)?);
        self.state = next;
        Some(self.len)
    }

    /// How a request ended that got no response.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.event.take()
    }

    /// When [`Client::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Unacknowledged { schedule, .. } => Some(schedule.deadline),
            State::Awaiting { deadline } => Some(deadline),
            State::Idle | State::Unsent { .. } => None,
        }
    }

    /// Does what is due by now.
    pub fn handle_timeout<C, E: Entropy, V>(&mut self, cx: &mut Cx<'_, C, E, V>) {
        if !self.poll_timeout().is_some_and(|deadline| cx.now.has_reached(deadline)) {
            return;
        }
        if let State::Unacknowledged { schedule, due } = &mut self.state
            && schedule.advance(cx.now)
        {
            *due = true;
            return;
        }
        cx.counters.count(Counter::CoapTimeouts);
        self.end(Event::TimedOut);
    }

    const fn was_sent(&self) -> bool {
        matches!(self.state, State::Unacknowledged { .. } | State::Awaiting { .. })
    }

    /// Ends the request with its response, unless an option forbids using that.
    fn finish<'d>(&mut self, response: Message<'d>, known: &[OptionNumber]) -> Option<Message<'d>> {
        if response.unacceptable_option(known).is_some() {
            self.end(Event::Unacceptable);
            return None;
        }
        self.state = State::Idle;
        Some(response)
    }

    fn end(&mut self, event: Event) {
        self.state = State::Idle;
        self.event = Slot::Full(event);
    }
}

impl<const N: usize> Default for Client<N> {
    fn default() -> Self {
        Self::new()
    }
}
