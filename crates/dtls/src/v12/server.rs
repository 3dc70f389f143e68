use core::marker::PhantomData;

use sixlock_base::{Entropy, Slot};
use sixlock_crypto::{Crypto, constant_time_eq, wipe};
use sixlock_dtls_msg::{
    ClientKeyExchange, EphemeralKeyExchange, EphemeralPskClient, Finished, HandshakeHeader, HandshakeType,
    Signed, Window,
};

use super::context::known_signature;
use super::message::Message;
use super::parameters::{HandshakeParameters, MAX_IDENTITY};
use super::public_keys::{KeyOperation, refusal};
use super::record::{PROTECTED, Protection};
use super::role::Role;
use super::session_state::{SESSION_ID, SessionId};
use super::version::Version12;
use super::{flights, schedule};
use crate::engine::flight::Flight;
use crate::engine::message::Incoming;
use crate::engine::record::PLAIN;
use crate::engine::role::{
    Completed, EpochsOf, HandshakeContext, HandshakeRole, Outcome, PassedOver, Side, Target,
};
use crate::{
    Answer, Completion, Error, FeatureSet, Full, KeptRefusal, OptionalPart, Profile, Refusal, Refusal12,
    SessionState, TicketOffer, Work,
};

/// Length of the random key that stands in for one that does not exist: that of the keys
/// that `sixlock keys psk` makes.
const RANDOM_KEY: usize = 32;

/// What it works on.
type Context<'a, C, P> = HandshakeContext<'a, C, Version12<<P as Profile>::Features>>;

/// What it asks of the session after a message.
type Asked = Outcome<Message>;

/// What it asks of the session after work.
type Done = Completed<Message>;

/// The side that answers.
pub struct Server<P = Full> {
    state: State,
    /// The number of the first message of the client's flight that is kept: its certificate, or its key exchange.
    exchange_seq: u16,
    profile: PhantomData<P>,
}

/// What is over is zero, as all that has not begun.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum State {
    /// The handshake is over.
    Over,
    /// The session that the client names is needed, if there is one.
    AwaitSession,
    /// Our choice is out; the client's certificate is to come.
    AwaitCertificate,
    /// Our choice is out; the client's identity or ephemeral key is to come.
    AwaitKeyExchange,
    /// The client must prove that it has its certificate's key.
    AwaitCertificateVerify,
    /// This is to be done.
    AwaitTask(KeyOperation),
    /// The client's identity is known, its key is needed.
    AwaitKey,
    /// The client must prove that it knows the key.
    AwaitFinished,
    /// The session is resumed, our proof is out; the client's is to come.
    AwaitResumed,
    /// The client has proved that it knows the key, and was promised a ticket.
    AwaitTicket,
}

const _: () = assert!(size_of::<Server<()>>() <= 64);

impl<P: Profile> Server<P> {
    /// Begins with the verified hello, which is part of the transcript.
    pub(crate) const fn start() -> Self {
        Self { state: State::AwaitSession, ..Self::OVER }
    }

    /// Answers the hello, by the session that it names or by a new one.
    fn answer_hello<C: Crypto, E: Entropy>(
        &mut self,
        x: &mut Context<'_, C, P>,
        entropy: &mut E,
        (state, id): (Option<&SessionState>, Option<&[u8; SESSION_ID]>),
        ticket: TicketOffer<'_>,
    ) -> Result<Done, Error> {
        let State::AwaitSession = self.state else { return Err(Error::NoWork) };
        match state.filter(|state| state.suite == x.state.parameters.suite) {
            Some(state) => Ok(self.resume_session(x, state, ticket)),
            None => Ok(self.begin_session(x, entropy, id, ticket)),
        }
    }

    /// Begins a new session: by the answer to the hello, or by what must be done before.
    pub(crate) fn begin_session<C: Crypto, E: Entropy>(
        &mut self,
        x: &mut Context<'_, C, P>,
        entropy: &mut E,
        id: Option<&[u8; SESSION_ID]>,
        ticket: TicketOffer<'_>,
    ) -> Done {
        let suite = x.state.parameters.suite::<P>();
        // Only a session that is bound to its whole handshake may be resumed.
        let is_bound = x.state.parameters.extended_master_secret;
        let mut promises = false;
        if let Some(tickets) = x.state.parameters.tickets.get_mut() {
            promises = tickets.wanted && is_bound && ticket != TicketOffer::None;
            tickets.promises = promises;
        }
        x.state.parameters.session_id = if P::RESUMPTION && x.state.config.resumable && is_bound && !promises
        {
            id.map_or_else(|| SessionId::random(entropy), |id| SessionId::received(id))
        } else {
            SessionId::EMPTY
        };
        if let Some(keys) = x.state.parameters.keys.get_mut()
            && suite.has_ephemeral_keys()
        {
            keys.asked &= suite.has_public_keys();
            self.state = State::AwaitTask(KeyOperation::Generate);
            return Completed::NeedWork;
        }
        self.state = State::AwaitKeyExchange;
        Self::choose(x, &flights::SERVER_HELLO)
    }

    /// Answers the hello by this flight.
    fn choose<C: Crypto>(x: &mut Context<'_, C, P>, flight: &'static Flight<Message>) -> Done {
        let message_seq = x.state.outgoing.message_seq_of(flight);
        for (message, number) in flight.messages.iter().zip(0..) {
            x.add_own::<Self>(*message, message_seq.wrapping_add(number));
        }
        x.state.transcript.checkpoint();
        Completed::Send(flight, message_seq)
    }

    /// Answers the hello by the session that it names
    /// ([RFC 5246 section 7.3](https://www.rfc-editor.org/rfc/rfc5246#section-7.3)).
    fn resume_session<C: Crypto>(
        &mut self,
        x: &mut Context<'_, C, P>,
        state: &SessionState,
        ticket: TicketOffer<'_>,
    ) -> Done {
        // https://www.rfc-editor.org/rfc/rfc7627#section-5.3
        if !x.state.parameters.extended_master_secret {
            return Completed::Refused(Refusal12::ResumptionUnbound.into());
        }
        let (mut by_ticket, mut renews) = (false, false);
        if let Some(tickets) = x.state.parameters.tickets.get_mut() {
            if let TicketOffer::Renew { lifetime, ticket } = ticket
                && tickets.wanted
            {
                tickets.give(lifetime, ticket);
            }
            (by_ticket, renews) = (tickets.presented, tickets.made);
        }
        if !by_ticket {
            // By a ticket, it is the one that the client gave: https://www.rfc-editor.org/rfc/rfc5077#section-3.4
            x.state.parameters.session_id = state.id.clone();
        }
        x.state.parameters.master_secret = state.master_secret;
        x.state.parameters.resumed = true;
        let flight = if renews { &flights::SERVER_RESUMED_TICKET } else { &flights::SERVER_RESUMED };
        let message_seq = x.state.outgoing.message_seq_of(flight);
        x.add_own::<Self>(Message::ServerHello, message_seq);
        let mut finished_seq = message_seq.wrapping_add(1);
        if renews {
            x.add_own::<Self>(Message::NewSessionTicket, finished_seq);
            finished_seq = finished_seq.wrapping_add(1);
        }
        x.state.parameters.verify_data = x.verify_data(Side::Server);
        x.add_own::<Self>(Message::Finished, finished_seq);
        self.state = State::AwaitResumed;
        Completed::Send(flight, message_seq)
    }

    /// Answers the client's proof by the ticket that there is now
    /// ([RFC 5077 section 3.3](https://www.rfc-editor.org/rfc/rfc5077#section-3.3)).
    fn give_ticket<C: Crypto>(
        &mut self,
        x: &mut Context<'_, C, P>,
        lifetime: u32,
        ticket: &[u8],
    ) -> Result<Done, Error> {
        let (State::AwaitTicket, Some(tickets)) = (self.state, x.state.parameters.tickets.get_mut()) else {
            return Err(Error::NoWork);
        };
        tickets.give(lifetime, ticket);
        let message_seq = x.state.outgoing.message_seq_of(&flights::SERVER_TICKET);
        x.add_own::<Self>(Message::NewSessionTicket, message_seq);
        x.state.parameters.verify_data = x.verify_data(Side::Server);
        self.state = State::Over;
        Ok(Completed::Complete(&flights::SERVER_TICKET))
    }

    /// Takes what a client sends to a server with a public key.
    fn receive_certified<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        match (self.state, message.kind) {
            (State::AwaitCertificate, HandshakeType::CERTIFICATE) => {
                if let Err(refusal) = x.take_certificates(message) {
                    return Outcome::Refused(refusal);
                }
                (self.state, self.exchange_seq) = (State::AwaitKeyExchange, message.message_seq);
                Outcome::Accepted
            }
            (State::AwaitKeyExchange, HandshakeType::CLIENT_KEY_EXCHANGE) => self.take_key(x, message),
            (State::AwaitCertificateVerify, HandshakeType::CERTIFICATE_VERIFY) => {
                let (Some(signature), Some(keys)) = (
                    Signed::parse(message.body).ok().and_then(|signed| known_signature(&signed)),
                    x.state.parameters.keys.get_mut(),
                ) else {
                    return Outcome::Refused(Refusal::CertificateVerify);
                };
                keys.peer_signature = signature;
                x.add(message);
                self.state = State::AwaitTask(KeyOperation::Chain);
                Outcome::NeedWork
            }
            _ => Outcome::Refused(Refusal::UnexpectedMessage),
        }
    }

    /// Takes the client's ephemeral key.
    fn take_key<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        let (Ok(exchange), Some(keys)) =
            (EphemeralKeyExchange::parse(message.body), x.state.parameters.keys.get_mut())
        else {
            return Outcome::Refused(Refusal12::ClientKeyExchange.into());
        };
        keys.peer_point = *exchange.point;
        let asked = keys.asked;
        x.add(message);
        x.keep_session_hash();
        if asked {
            self.state = State::AwaitCertificateVerify;
            return Outcome::Accepted;
        }
        (self.state, self.exchange_seq) = (State::AwaitTask(KeyOperation::Agree), message.message_seq);
        Outcome::NeedWork
    }

    /// Whether the client's key exchange is another than the one that was taken.
    fn contradicts(parameters: &HandshakeParameters<P::Features>, message: &Incoming<'_>) -> bool {
        match parameters.keys.get() {
            // With a certificate, what was taken is signed.
            Some(keys) if parameters.suite::<P>().has_public_keys() => {
                !keys.asked
                    && EphemeralKeyExchange::parse(message.body)
                        .is_ok_and(|exchange| *exchange.point != keys.peer_point)
            }
            Some(keys) if parameters.suite::<P>().has_ephemeral_keys() => {
                EphemeralPskClient::parse(message.body).is_ok_and(|exchange| {
                    (exchange.identity, exchange.point)
                        != (parameters.cookie_or_identity.identity(), &keys.peer_point)
                })
            }
            _ => ClientKeyExchange::parse(message.body)
                .is_ok_and(|exchange| exchange.identity != parameters.cookie_or_identity.identity()),
        }
    }

    /// Goes on with the identity's key, or a random one if there is none.
    fn take_psk<C: Crypto, E: Entropy>(
        &mut self,
        x: &mut Context<'_, C, P>,
        entropy: &mut E,
        psk: Option<&[u8]>,
    ) -> Result<Done, Error> {
        let State::AwaitKey = self.state else { return Err(Error::NoWork) };
        // Drawn in either case: the answer takes the same time.
        let mut random = [0; RANDOM_KEY];
        entropy.fill(&mut random);
        let derived = x.derive::<P>(psk.unwrap_or(&random));
        wipe(&mut random);
        derived?;
        // The same time, too, whichever it is.
        x.state.doubt = KeptRefusal::NONE;
        if psk.is_none() {
            x.state.doubt.replace((), Refusal::UnknownIdentity);
        }
        self.state = State::AwaitFinished;
        Ok(Completed::Accepted)
    }

    /// The state, for a table of them.
    #[cfg(test)]
    pub(crate) fn debug_state(&self) -> impl core::fmt::Debug + use<P> {
        self.state
    }

    /// Whether the session that the client's hello names is needed, or none.
    pub(crate) const fn awaits_session(&self) -> bool {
        matches!(self.state, State::AwaitSession)
    }

    fn receive_message<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        match (self.state, message.kind) {
            (State::AwaitCertificate | State::AwaitKeyExchange | State::AwaitCertificateVerify, _)
                if x.state.parameters.keys.get().is_some()
                    && x.state.parameters.suite::<P>().has_public_keys() =>
            {
                self.receive_certified(x, message)
            }
            (State::AwaitKeyExchange, HandshakeType::CLIENT_KEY_EXCHANGE) => {
                let agrees = x.state.parameters.suite::<P>().has_ephemeral_keys();
                let (identity, next) = match x.state.parameters.keys.get_mut() {
                    Some(keys) if agrees => {
                        let Ok(exchange) = EphemeralPskClient::parse(message.body) else {
                            return Outcome::Refused(Refusal12::ClientKeyExchange.into());
                        };
                        keys.peer_point = *exchange.point;
                        (exchange.identity, State::AwaitTask(KeyOperation::Agree))
                    }
                    _ => match ClientKeyExchange::parse(message.body) {
                        Ok(exchange) => (exchange.identity, State::AwaitKey),
                        Err(_) => return Outcome::Refused(Refusal12::ClientKeyExchange.into()),
                    },
                };
                if identity.len() > MAX_IDENTITY {
                    return Outcome::Refused(Refusal::IdentityLength);
                }
                x.state.parameters.cookie_or_identity.set_identity(identity);
                x.add(message);
                (self.state, self.exchange_seq) = (next, message.message_seq);
                Outcome::NeedWork
            }
            (State::AwaitFinished | State::AwaitResumed, HandshakeType::FINISHED) => {
                let expected = x.verify_data(Side::Client);
                let proved = Finished::parse(message.body)
                    .is_ok_and(|finished| constant_time_eq(finished.verify_data, &expected));
                let resumed = P::RESUMPTION && matches!(self.state, State::AwaitResumed);
                self.state = State::Over;
                if !proved {
                    return Outcome::Unproved;
                }
                if resumed {
                    return Outcome::Complete(None);
                }
                x.add(message);
                if x.state.parameters.tickets.get().is_some_and(|tickets| tickets.promises) {
                    self.state = State::AwaitTicket;
                    return Outcome::NeedWork;
                }
                x.state.parameters.verify_data = x.verify_data(Side::Server);
                Outcome::Complete(Some(&flights::FINISHED))
            }
            _ => Outcome::Refused(Refusal::UnexpectedMessage),
        }
    }

    /// Goes on with what came of an operation with P-256.
    #[inline(never)]
    fn take_answer<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, answer: &Answer) -> Result<Done, Error> {
        let certified = x.state.parameters.suite::<P>().has_public_keys();
        let (State::AwaitTask(operation), Some(keys)) = (self.state, x.state.parameters.keys.get_mut())
        else {
            return Err(Error::NoWork);
        };
        if let Answer::Refused(description) = answer {
            keys.refusal = Some(*description);
            x.state.doubt.replace((), refusal(operation, *description));
            // What we cannot do ourselves is not mended by another flight.
            let is_own = matches!(operation, KeyOperation::Generate | KeyOperation::Sign);
            return Ok(if is_own { Completed::Unproved } else { Completed::Rewound(self.go_back(x)) });
        }
        let next = match (operation, answer) {
            (KeyOperation::Generate, Answer::KeyPair(secret, point)) => {
                (keys.secret, keys.point) = (**secret, *point);
                if !certified {
                    self.state = State::AwaitKeyExchange;
                    return Ok(Self::choose(x, &flights::SERVER_EPHEMERAL));
                }
                let digest = x.signed_digest(point);
                if let Some(keys) = x.state.parameters.keys.get_mut() {
                    keys.digest = digest;
                }
                KeyOperation::Sign
            }
            (KeyOperation::Sign, Answer::Signature(signature)) => {
                keys.signature = *signature;
                let (state, flight) = if keys.asked {
                    (State::AwaitCertificate, &flights::SERVER_REQUEST)
                } else {
                    (State::AwaitKeyExchange, &flights::SERVER_CERTIFICATE)
                };
                self.state = state;
                return Ok(Self::choose(x, flight));
            }
            (KeyOperation::Chain, Answer::Peer(key)) => {
                keys.peer_key = *key;
                KeyOperation::Verify
            }
            (KeyOperation::Verify, Answer::Verified) => KeyOperation::Agree,
            (KeyOperation::Agree, Answer::Shared(shared)) if !certified => {
                x.keep_shared(shared);
                self.state = State::AwaitKey;
                return Ok(Completed::NeedWork);
            }
            (KeyOperation::Agree, Answer::Shared(shared)) => {
                x.derive_shared(&**shared);
                self.state = State::AwaitFinished;
                return Ok(Completed::Accepted);
            }
            _ => return Err(Error::NoWork),
        };
        self.state = State::AwaitTask(next);
        Ok(Completed::NeedWork)
    }

    /// Goes back to before the client's flight, of which something was refused.
    fn go_back<C: Crypto>(&mut self, x: &mut Context<'_, C, P>) -> u16 {
        x.state.transcript.rewind();
        self.state = match x.state.parameters.keys.get() {
            Some(keys) if keys.asked => State::AwaitCertificate,
            _ => State::AwaitKeyExchange,
        };
        self.exchange_seq
    }
}

impl<P: Profile> Role for Server<P> {
    type Profile = P;
    type Features = P::Features;
}

impl<P: Profile> HandshakeRole for Server<P> {
    const OVER: Self = Self { state: State::Over, exchange_seq: 0, profile: PhantomData };
    const SIDE: Side = Side::Server;
    const ALERT_EPOCH: u16 = PLAIN;
    const CONNECTION_IDS: bool = P::CONNECTION_IDS;
    const RECORD_LIMITS: bool = P::RECORD_LIMITS;
    const RESUMPTION: bool = P::RESUMPTION;
    const WORK_REWINDS: bool = P::Features::PUBLIC_KEYS;
    const WORK_COMPLETES: bool = P::Features::TICKETS;
    const PROOF_REWINDS: bool = false;

    type Version = Version12<P::Features>;
    type Codec<C: Crypto> = Protection<C, P>;
    type RoundTrip = ();

    fn expected_epoch(&self, _: &HandshakeParameters<P::Features>) -> Option<u16> {
        match self.state {
            State::AwaitCertificate | State::AwaitKeyExchange | State::AwaitCertificateVerify => Some(PLAIN),
            State::AwaitFinished | State::AwaitResumed => Some(PROTECTED),
            State::AwaitSession
            | State::AwaitKey
            | State::AwaitTask(_)
            | State::AwaitTicket
            | State::Over => None,
        }
    }

    fn awaits_proof(&self) -> bool {
        matches!(self.state, State::AwaitFinished | State::AwaitResumed)
    }

    fn is_proved(&self) -> bool {
        P::Features::TICKETS && matches!(self.state, State::AwaitTicket)
    }

    fn work<'p>(&self, parameters: &'p HandshakeParameters<P::Features>) -> Option<Work<'p>> {
        match self.state {
            State::AwaitSession if P::RESUMPTION => {
                // Who presents a ticket names none: https://www.rfc-editor.org/rfc/rfc5077#section-3.4
                let by_ticket = parameters.tickets.get().is_some_and(|tickets| tickets.presented);
                Some(Work::Session { id: if by_ticket { &[] } else { parameters.session_id.get() } })
            }
            State::AwaitKey if P::PRE_SHARED_KEYS => {
                Some(Work::Psk { identity: parameters.cookie_or_identity.identity() })
            }
            State::AwaitTask(operation) => parameters.task(operation).map(Work::Task),
            State::AwaitTicket if P::Features::TICKETS => Some(Work::Ticket),
            _ => None,
        }
    }

    /// The client's proof, which comes along with what its keys are made of.
    fn holds_early_records(&self) -> bool {
        matches!(self.state, State::AwaitKey | State::AwaitTask(_) | State::AwaitTicket)
    }

    fn target<'p>(
        &self,
        parameters: &'p mut HandshakeParameters<P::Features>,
        epoch: u16,
        header: &HandshakeHeader,
        _: u16,
    ) -> Target<'p> {
        if self.expected_epoch(parameters) != Some(epoch) {
            return Target::Nowhere;
        }
        parameters.certificate_target(header)
    }

    fn pass_over<C: Crypto>(
        &mut self,
        _: &mut Context<'_, C, P>,
        _: &HandshakeHeader,
        _: &[u8],
    ) -> PassedOver {
        PassedOver::Refused
    }

    fn buffered(
        &self,
        parameters: &HandshakeParameters<P::Features>,
        message_seq: u16,
    ) -> Option<HandshakeType> {
        parameters.has_certificates(message_seq).then_some(HandshakeType::CERTIFICATE)
    }

    fn receive<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        let outcome = self.receive_message(x, message);
        if let Outcome::Refused(_) = outcome {
            x.state.parameters.forget_certificates(message.kind);
        }
        outcome
    }

    fn receive_again<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        match self.state {
            // Another identity than the one taken: one of them is forged. The client repeats
            // the true one until the handshake succeeds, so the later one is given its chance.
            State::AwaitFinished
                if x.state.is_doubtful()
                    && (message.message_seq, message.kind)
                        == (self.exchange_seq, HandshakeType::CLIENT_KEY_EXCHANGE)
                    && Self::contradicts(&x.state.parameters, message) =>
            {
                x.state.transcript.rewind();
                self.state = State::AwaitKeyExchange;
                Outcome::Rewound(self.exchange_seq)
            }
            _ => Outcome::Refused(Refusal::UnexpectedMessage),
        }
    }

    fn retransmit<C: Crypto>(&mut self, _: &mut Context<'_, C, P>) -> Asked {
        Outcome::Accepted
    }

    fn complete<C: Crypto, E: Entropy>(
        &mut self,
        x: &mut Context<'_, C, P>,
        entropy: &mut E,
        completion: Completion<'_>,
    ) -> Result<Done, Error> {
        let psk = match completion {
            Completion::Psk { key, .. } if P::PRE_SHARED_KEYS => Some(key),
            Completion::NoPsk if P::PRE_SHARED_KEYS => None,
            Completion::Task(answer) if P::Features::PUBLIC_KEYS => return self.take_answer(x, answer),
            Completion::Session { state, id, ticket } if P::RESUMPTION => {
                return self.answer_hello(x, entropy, (state, id), ticket);
            }
            Completion::Ticket { lifetime, ticket } if P::Features::TICKETS => {
                return self.give_ticket(x, lifetime, ticket);
            }
            _ => return Err(Error::NoWork),
        };
        self.take_psk(x, entropy, psk)
    }

    fn emit(message: Message, parameters: &HandshakeParameters<P::Features>, window: &mut Window<'_>) {
        message.emit_as_server::<P>(parameters, window);
    }

    fn protect<C: Crypto>(
        crypto: &mut C,
        parameters: &HandshakeParameters<P::Features>,
        epochs: &mut EpochsOf<C, Self>,
    ) {
        epochs.0.codec = Slot::Full(schedule::protect(crypto, Side::Server, parameters));
    }
}
