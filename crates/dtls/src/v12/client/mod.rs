pub(super) mod hello;

use core::marker::PhantomData;

use sixlock_base::{Entropy, Slot};
use sixlock_crypto::p256::{P_256_POINT, P_256_SIGNATURE};
use sixlock_crypto::{Crypto, constant_time_eq};
use sixlock_dtls_msg::{
    CertificateRequest, CertificateType, ECDSA_SIGN, EphemeralPskServer, Finished, HandshakeHeader,
    HandshakeType, HelloVerifyRequest, Names, NewSessionTicket, ServerHello, ServerKeyExchange,
    SignatureAlgorithm, SignedKeyExchange, Window,
};

use self::hello::{Hello, take_hello};
use super::context::known_signature;
use super::message::Message;
use super::parameters::{HandshakeParameters, MAX_IDENTITY, MAX_PSK};
use super::public_keys::{KeyOperation, KeyParameters, is_among, refusal};
use super::record::{PROTECTED, Protection};
use super::role::Role;
use super::version::Version12;
use super::{flights, schedule};
use crate::engine::message::Incoming;
use crate::engine::record::PLAIN;
use crate::engine::role::{
    Completed, EpochsOf, HandshakeContext, HandshakeRole, Outcome, PassedOver, Side, Target,
};
use crate::engine::transcript::Transcript;
use crate::{Answer, Completion, Error, FeatureSet, Full, OptionalPart, Profile, Refusal, Refusal12, Work};

/// How often a client takes up a cookie: servers change theirs, forgers send theirs.
const MAX_COOKIES: u8 = 4;

/// What it works on.
type Context<'a, C, P> = HandshakeContext<'a, C, Version12<<P as Profile>::Features>>;

/// What it asks of the session after a message.
type Asked = Outcome<Message>;

/// What it asks of the session after work.
type Done = Completed<Message>;

/// The side that begins.
pub struct Client<P = Full> {
    state: State,
    /// How many cookies were taken up.
    cookies: u8,
    /// The number of the server's hello.
    hello_seq: u16,
    profile: PhantomData<P>,
}

/// What is over is zero, as all that has not begun.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum State {
    /// The handshake is over.
    Over,
    /// The hello is out.
    AwaitServerHello,
    /// The server's choice is known; its certificate is to come.
    AwaitCertificate,
    /// Its ephemeral key is to come.
    AwaitKeyExchange,
    /// All that its flight must hold is known.
    AwaitServerHelloDone,
    /// The identity and key are needed.
    AwaitKey,
    /// This is to be done.
    AwaitTask(KeyOperation),
    /// Our proof is out.
    AwaitFinished,
    /// The server resumes the session and proves first that it knows it.
    AwaitResumed,
}

const _: () = assert!(size_of::<Client<()>>() <= 64);

impl<P: Profile> Client<P> {
    pub(crate) const fn start() -> Self {
        Self { state: State::AwaitServerHello, ..Self::OVER }
    }

    /// Goes on with an identity and its key.
    #[inline(always)]
    fn take_psk<C: Crypto>(
        &mut self,
        x: &mut Context<'_, C, P>,
        identity: &[u8],
        psk: &[u8],
    ) -> Result<Done, Error> {
        let State::AwaitKey = self.state else { return Err(Error::NoWork) };
        if identity.len() > MAX_IDENTITY {
            return Err(Error::IdentityTooLong);
        }
        if psk.len() > MAX_PSK {
            return Err(Error::KeyTooLong);
        }
        let message_seq = x.state.outgoing.message_seq_of(&flights::CLIENT_FINISHED);
        x.state.parameters.cookie_or_identity.set_identity(identity);
        x.add_own::<Self>(Message::ClientKeyExchange, message_seq);
        x.derive::<P>(psk)?;
        x.state.parameters.verify_data = x.verify_data(Side::Client);
        x.add_own::<Self>(Message::Finished, message_seq.wrapping_add(1));
        self.state = State::AwaitFinished;
        Ok(Completed::Send(&flights::CLIENT_FINISHED, message_seq))
    }

    /// Takes up a cookie and says hello again
    /// ([RFC 6347 section 4.2.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.1)).
    ///
    /// A second cookie may be forged, or the first may have been: it has its chance when the
    /// hello with the first stays without an answer.
    fn take_cookie<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        let Ok(request) = HelloVerifyRequest::parse(message.body) else {
            return Outcome::Refused(Refusal12::HelloVerifyRequest.into());
        };
        let is_wanted = self.cookies == 0
            || (x.state.is_doubtful()
                && self.cookies < MAX_COOKIES
                && request.cookie != x.state.parameters.cookie_or_identity.cookie());
        if !request.version.is_dtls() {
            return Outcome::Refused(Refusal12::HelloVerifyRequest.into());
        }
        if !is_wanted {
            return Outcome::Refused(Refusal12::Cookie.into());
        }
        x.state.parameters.cookie_or_identity.set_cookie(request.cookie);
        // Neither the first hello nor its answer are part of what is proved.
        x.state.transcript = Transcript::EMPTY;
        x.add_own::<Self>(Message::ClientHello, 1);
        x.state.transcript.checkpoint();
        self.state = State::AwaitServerHello;
        self.cookies += 1;
        Outcome::Send(&flights::CLIENT_HELLO, 1)
    }

    /// The state, for a table of them.
    #[cfg(test)]
    pub(crate) fn debug_state(&self) -> impl core::fmt::Debug + use<P> {
        self.state
    }

    /// Whether the server's hello is to come.
    pub(crate) const fn awaits_hello(&self) -> bool {
        matches!(self.state, State::AwaitServerHello)
    }

    /// Takes what only a server with a public key sends.
    #[inline(never)]
    fn receive_certified<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        match (self.state, message.kind) {
            (State::AwaitCertificate, HandshakeType::CERTIFICATE) => {
                if public_keys::<C, P>(x).is_none() {
                    return Outcome::Refused(Refusal::UnexpectedMessage);
                }
                if let Err(refusal) = x.take_certificates(message) {
                    return Outcome::Refused(refusal);
                }
                x.remember(message);
                self.state = State::AwaitKeyExchange;
                Outcome::Accepted
            }
            (State::AwaitKeyExchange, HandshakeType::SERVER_KEY_EXCHANGE) => {
                let Some((point, signature)) = ephemeral_key(message) else {
                    let is_signed = Refusal::ARE_TOLD_APART && SignedKeyExchange::parse(message.body).is_ok();
                    let refusal =
                        if is_signed { Refusal12::ServerSignature } else { Refusal12::ServerKeyExchange };
                    return Outcome::Refused(refusal.into());
                };
                let digest = x.signed_digest(point);
                let Some(keys) = x.state.parameters.keys.get_mut() else {
                    return Outcome::Refused(Refusal::UnexpectedMessage);
                };
                (keys.peer_point, keys.peer_signature, keys.digest) = (*point, signature, digest);
                x.add(message);
                self.state = State::AwaitServerHelloDone;
                Outcome::Accepted
            }
            (State::AwaitServerHelloDone, HandshakeType::CERTIFICATE_REQUEST) => {
                match (public_keys::<C, P>(x), CertificateRequest::parse(message.body)) {
                    (Some(keys), Ok(request)) if !keys.asked => {
                        keys.asked = true;
                        keys.suits = is_among(ECDSA_SIGN, request.key_types)
                            && request.algorithms.contains(SignatureAlgorithm::ECDSA_SHA_256.0)
                            && has_certificate::<P::Features>(keys, request.authorities);
                        x.remember(message);
                        x.add(message);
                        Outcome::Accepted
                    }
                    (_, Err(_)) => Outcome::Refused(Refusal::CertificateRequest),
                    _ => Outcome::Refused(Refusal::UnexpectedMessage),
                }
            }
            _ => Outcome::Refused(Refusal::UnexpectedMessage),
        }
    }

    /// Takes a message of the server's first flight, or of one before.
    fn receive_flight<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        match (self.state, message.kind) {
            (State::AwaitServerHello, HandshakeType::HELLO_VERIFY_REQUEST) => self.take_cookie(x, message),
            (State::AwaitServerHello, HandshakeType::SERVER_HELLO) => {
                let hello = match take_hello::<C, P>(x, message) {
                    Err(refusal) => return Outcome::Refused(refusal),
                    Ok(hello) => hello,
                };
                self.hello_seq = message.message_seq;
                if P::RESUMPTION
                    && let Hello::Resumed = hello
                {
                    self.state = State::AwaitResumed;
                    return Outcome::Resumed;
                }
                self.state = match (public_keys::<C, P>(x).is_some(), ephemeral_keys::<C, P>(x).is_some()) {
                    (true, _) => State::AwaitCertificate,
                    (false, true) => State::AwaitKeyExchange,
                    (false, false) => State::AwaitServerHelloDone,
                };
                Outcome::Accepted
            }
            // Without a profile that says otherwise, the hint means nothing:
            // https://www.rfc-editor.org/rfc/rfc4279#section-5.2
            (State::AwaitServerHelloDone, HandshakeType::SERVER_KEY_EXCHANGE)
                if ephemeral_keys::<C, P>(x).is_none() =>
            {
                if ServerKeyExchange::parse(message.body).is_err() {
                    return Outcome::Refused(Refusal12::ServerKeyExchange.into());
                }
                x.add(message);
                Outcome::Accepted
            }
            (State::AwaitKeyExchange, HandshakeType::SERVER_KEY_EXCHANGE)
                if public_keys::<C, P>(x).is_none() =>
            {
                match (EphemeralPskServer::parse(message.body), ephemeral_keys::<C, P>(x)) {
                    (Ok(exchange), Some(keys)) => {
                        keys.peer_point = *exchange.parameters.point;
                        x.remember(message);
                        x.add(message);
                        self.state = State::AwaitServerHelloDone;
                        Outcome::Accepted
                    }
                    _ => Outcome::Refused(Refusal12::ServerKeyExchange.into()),
                }
            }
            (State::AwaitServerHelloDone, HandshakeType::SERVER_HELLO_DONE) => {
                if !message.body.is_empty() {
                    return Outcome::Refused(Refusal12::ServerHelloDone.into());
                }
                x.add(message);
                self.state = match (public_keys::<C, P>(x).is_some(), ephemeral_keys::<C, P>(x).is_some()) {
                    (true, _) => State::AwaitTask(KeyOperation::Chain),
                    (false, true) => State::AwaitTask(KeyOperation::Generate),
                    (false, false) => State::AwaitKey,
                };
                Outcome::NeedWork
            }
            _ if x.state.parameters.keys.get().is_some() => self.receive_certified(x, message),
            _ => Outcome::Refused(Refusal::UnexpectedMessage),
        }
    }

    /// Takes the server's proof.
    fn receive_proof<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        if message.kind != HandshakeType::FINISHED {
            return Outcome::Refused(Refusal::UnexpectedMessage);
        }
        let before = if P::Features::TICKETS { x.add_ticket() } else { None };
        let expected = x.verify_data(Side::Server);
        let proved = Finished::parse(message.body)
            .is_ok_and(|finished| constant_time_eq(finished.verify_data, &expected));
        let resumed = P::RESUMPTION && matches!(self.state, State::AwaitResumed);
        if P::Features::TICKETS
            && !proved
            && let Some(before) = before
        {
            // Anyone may have sent the ticket: the server sends its own again.
            x.state.transcript = before;
            x.state.parameters.drop_ticket();
            return Outcome::Rewound(message.message_seq.wrapping_sub(1));
        }
        self.state = State::Over;
        if !proved {
            return Outcome::Unproved;
        }
        if !resumed {
            return Outcome::Complete(None);
        }
        x.add(message);
        x.state.parameters.verify_data = x.verify_data(Side::Client);
        Outcome::Complete(Some(&flights::FINISHED))
    }

    /// Whether the server's ticket is the next message.
    fn awaits_ticket(&self, parameters: &HandshakeParameters<P::Features>) -> bool {
        P::Features::TICKETS && self.awaits_proof() && parameters.awaits_ticket()
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
            return Ok(if is_own { Completed::Unproved } else { Completed::Rewound(self.rewind(x)) });
        }
        let message_seq = x.state.outgoing.message_seq_of(&flights::CLIENT_FINISHED);
        // With our certificate all numbers behind it are higher by one, and with our signature by another.
        let exchange_seq = message_seq.wrapping_add(keys.asked.into());
        let (flight, finished_seq) = match (keys.asked, keys.suits) {
            (false, _) => (&flights::CLIENT_FINISHED, exchange_seq.wrapping_add(1)),
            (true, false) => (&flights::CLIENT_UNCERTIFIED, exchange_seq.wrapping_add(1)),
            (true, true) => (&flights::CLIENT_CERTIFICATE, exchange_seq.wrapping_add(2)),
        };
        let next = match (operation, answer) {
            (KeyOperation::Chain, Answer::Peer(key)) => {
                keys.peer_key = *key;
                KeyOperation::Verify
            }
            (KeyOperation::Verify, Answer::Verified) => KeyOperation::Generate,
            (KeyOperation::Generate, Answer::KeyPair(secret, point)) => {
                (keys.secret, keys.point) = (**secret, *point);
                if !certified {
                    self.state = State::AwaitTask(KeyOperation::Agree);
                    return Ok(Completed::NeedWork);
                }
                let (asked, suits) = (keys.asked, keys.suits);
                if asked {
                    x.add_own::<Self>(Message::Certificate, message_seq);
                }
                x.add_own::<Self>(Message::ClientKeyExchange, exchange_seq);
                x.keep_session_hash();
                if asked && suits { KeyOperation::Sign } else { KeyOperation::Agree }
            }
            (KeyOperation::Sign, Answer::Signature(signature)) => {
                keys.signature = *signature;
                x.add_own::<Self>(Message::CertificateVerify, exchange_seq.wrapping_add(1));
                KeyOperation::Agree
            }
            (KeyOperation::Agree, Answer::Shared(shared)) if !certified => {
                x.keep_shared(shared);
                self.state = State::AwaitKey;
                return Ok(Completed::NeedWork);
            }
            (KeyOperation::Agree, Answer::Shared(shared)) => {
                x.derive_shared(&**shared);
                x.state.parameters.verify_data = x.verify_data(Side::Client);
                x.add_own::<Self>(Message::Finished, finished_seq);
                self.state = State::AwaitFinished;
                return Ok(Completed::Send(flight, message_seq));
            }
            _ => return Err(Error::NoWork),
        };
        self.state = State::AwaitTask(next);
        Ok(Completed::NeedWork)
    }

    /// Goes back to where the server's hello is awaited. The flight that answered the server's is not sent again: a server that took it
    /// would not repeat its own, and once that is here, there are no keys for our Finished.
    #[inline(never)]
    fn rewind<C: Crypto>(&mut self, x: &mut Context<'_, C, P>) -> u16 {
        if x.state.outgoing.is_answer_to(HandshakeType::SERVER_HELLO_DONE) {
            x.state.outgoing.withdraw();
        }
        if let Some(keys) = x.state.parameters.keys.get_mut() {
            (keys.asked, keys.contradicted) = (false, false);
        }
        x.state.transcript.rewind();
        self.state = State::AwaitServerHello;
        self.hello_seq
    }
}

impl<P: Profile> Role for Client<P> {
    type Profile = P;
    type Features = P::Features;
}

impl<P: Profile> HandshakeRole for Client<P> {
    const OVER: Self = Self { state: State::Over, cookies: 0, hello_seq: 0, profile: PhantomData };
    const SIDE: Side = Side::Client;
    const ALERT_EPOCH: u16 = PROTECTED;
    const CONNECTION_IDS: bool = P::CONNECTION_IDS;
    const RECORD_LIMITS: bool = P::RECORD_LIMITS;
    const RESUMPTION: bool = P::RESUMPTION;
    const WORK_REWINDS: bool = P::Features::PUBLIC_KEYS;
    const WORK_COMPLETES: bool = false;
    /// A ticket may be forged.
    const PROOF_REWINDS: bool = P::Features::TICKETS;

    type Version = Version12<P::Features>;
    type Codec<C: Crypto> = Protection<C, P>;
    type RoundTrip = P::RoundTrip;

    fn expected_epoch(&self, parameters: &HandshakeParameters<P::Features>) -> Option<u16> {
        // It is the last that is not protected.
        if self.awaits_ticket(parameters) {
            return Some(PLAIN);
        }
        match self.state {
            State::AwaitServerHello
            | State::AwaitCertificate
            | State::AwaitKeyExchange
            | State::AwaitServerHelloDone => Some(PLAIN),
            State::AwaitFinished | State::AwaitResumed => Some(PROTECTED),
            State::AwaitKey | State::AwaitTask(_) | State::Over => None,
        }
    }

    fn awaits_proof(&self) -> bool {
        matches!(self.state, State::AwaitFinished | State::AwaitResumed)
    }

    fn is_proved(&self) -> bool {
        false
    }

    fn work<'p>(&self, parameters: &'p HandshakeParameters<P::Features>) -> Option<Work<'p>> {
        match self.state {
            State::AwaitKey if P::PRE_SHARED_KEYS => Some(Work::Psk { identity: &[] }),
            State::AwaitTask(operation) => parameters.task(operation).map(Work::Task),
            _ => None,
        }
    }

    /// A server proves itself only when it has the client's proof.
    fn holds_early_records(&self) -> bool {
        false
    }

    fn target<'p>(
        &self,
        parameters: &'p mut HandshakeParameters<P::Features>,
        epoch: u16,
        header: &HandshakeHeader,
        ahead: u16,
    ) -> Target<'p> {
        if self.awaits_ticket(parameters) {
            match (epoch, header.kind) {
                (PLAIN, HandshakeType::NEW_SESSION_TICKET) if ahead == 0 => {
                    let buffer = parameters.new_ticket.get_mut().filter(|buffer| buffer.fits(header));
                    return buffer.map_or(Target::PassOver, Target::Buffer);
                }
                // What comes behind it may come before it.
                (PROTECTED, _) if ahead > 0 => return Target::Short,
                _ => {}
            }
        }
        if self.expected_epoch(parameters) != Some(epoch) {
            return Target::Nowhere;
        }
        parameters.certificate_target(header)
    }

    fn pass_over<C: Crypto>(
        &mut self,
        x: &mut Context<'_, C, P>,
        header: &HandshakeHeader,
        fragment: &[u8],
    ) -> PassedOver {
        x.pass_over(header, fragment)
    }

    fn buffered(
        &self,
        parameters: &HandshakeParameters<P::Features>,
        message_seq: u16,
    ) -> Option<HandshakeType> {
        if P::Features::TICKETS && self.awaits_proof() && parameters.has_ticket(message_seq) {
            return Some(HandshakeType::NEW_SESSION_TICKET);
        }
        parameters.has_certificates(message_seq).then_some(HandshakeType::CERTIFICATE)
    }

    fn receive<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        let outcome = if self.awaits_ticket(&x.state.parameters) {
            take_ticket(x, message)
        } else if self.awaits_proof() {
            self.receive_proof(x, message)
        } else {
            self.receive_flight(x, message)
        };
        if let Outcome::Refused(_) = outcome {
            x.state.parameters.forget_certificates(message.kind);
            if let Some(keys) = x.state.parameters.keys.get_mut() {
                keys.contradicted = true;
            }
        }
        outcome
    }

    fn receive_again<C: Crypto>(&mut self, x: &mut Context<'_, C, P>, message: &Incoming<'_>) -> Asked {
        if P::Features::TICKETS && x.state.parameters.tickets.get().is_some_and(|tickets| tickets.marked) {
            // What it would go back to is marked no longer.
            return Outcome::Refused(Refusal::UnexpectedMessage);
        }
        match (self.state, message.kind) {
            // A server that changed its secret, or the true cookie after a forged one.
            (State::AwaitServerHello, HandshakeType::HELLO_VERIFY_REQUEST) => self.take_cookie(x, message),
            // The true cookie after the forged hello of a server that wants none.
            (
                State::AwaitCertificate
                | State::AwaitKeyExchange
                | State::AwaitServerHelloDone
                | State::AwaitFinished
                | State::AwaitResumed,
                HandshakeType::HELLO_VERIFY_REQUEST,
            ) if x.state.is_doubtful() && self.cookies == 0 => self.take_cookie(x, message),
            // Another hello than the one taken, or another key behind it: one of them is forged. The server repeats the
            // true one until the handshake succeeds, so the later one is given its chance.
            (State::AwaitFinished | State::AwaitResumed, HandshakeType::SERVER_HELLO)
                if x.state.is_doubtful()
                    && message.message_seq == self.hello_seq
                    && ServerHello::parse(message.body).is_ok_and(|hello| {
                        *hello.random != x.state.parameters.server_random || is_key_doubtful::<C, P>(x)
                    }) =>
            {
                Outcome::Rewound(self.rewind(x))
            }
            // The end of its flight is there, and we have taken something else for it.
            (
                State::AwaitCertificate | State::AwaitKeyExchange | State::AwaitServerHelloDone,
                HandshakeType::SERVER_HELLO_DONE,
            ) if public_keys::<C, P>(x).is_some() => Outcome::Rewound(self.rewind(x)),
            (_, HandshakeType::SERVER_KEY_EXCHANGE)
                if public_keys::<C, P>(x).is_none() && ephemeral_keys::<C, P>(x).is_some() =>
            {
                let contradicts = x.contradicts(message);
                if let Some(keys) = ephemeral_keys::<C, P>(x) {
                    keys.contradicted |= contradicts;
                }
                Outcome::Refused(Refusal::UnexpectedMessage)
            }
            // No signature covers these.
            (State::AwaitFinished, HandshakeType::CERTIFICATE | HandshakeType::CERTIFICATE_REQUEST)
                if x.state.is_doubtful() && x.contradicts(message) =>
            {
                Outcome::Rewound(self.rewind(x))
            }
            _ => Outcome::Refused(Refusal::UnexpectedMessage),
        }
    }

    fn retransmit<C: Crypto>(&mut self, x: &mut Context<'_, C, P>) -> Asked {
        match self.state {
            // The server sends its whole flight again, so whatever was forged in it goes away.
            // What there is of a longer one stays, unless it does not fit together.
            State::AwaitCertificate | State::AwaitKeyExchange | State::AwaitServerHelloDone => {
                match public_keys::<C, P>(x) {
                    Some(keys) if !keys.contradicted => Outcome::Accepted,
                    _ => Outcome::Rewound(self.rewind(x)),
                }
            }
            _ => Outcome::Accepted,
        }
    }

    #[inline(always)]
    fn complete<C: Crypto, E: Entropy>(
        &mut self,
        x: &mut Context<'_, C, P>,
        _: &mut E,
        completion: Completion<'_>,
    ) -> Result<Done, Error> {
        match completion {
            Completion::Psk { identity, key } if P::PRE_SHARED_KEYS => self.take_psk(x, identity, key),
            Completion::Task(answer) if P::Features::PUBLIC_KEYS => self.take_answer(x, answer),
            _ => Err(Error::NoWork),
        }
    }

    fn emit(message: Message, parameters: &HandshakeParameters<P::Features>, window: &mut Window<'_>) {
        message.emit_as_client::<P>(parameters, window);
    }

    fn protect<C: Crypto>(
        crypto: &mut C,
        parameters: &HandshakeParameters<P::Features>,
        epochs: &mut EpochsOf<C, Self>,
    ) {
        epochs.0.codec = Slot::Full(schedule::protect(crypto, Side::Client, parameters));
    }
}

/// What there is of public keys, if the server has chosen them.
fn public_keys<'x, C: Crypto, P: Profile>(x: &'x mut Context<'_, C, P>) -> Option<&'x mut KeyParameters> {
    let chosen = x.state.parameters.suite::<P>().has_public_keys();
    x.state.parameters.keys.get_mut().filter(|_| chosen)
}

/// The same, if ephemeral keys are part of what it has chosen.
fn ephemeral_keys<'x, C: Crypto, P: Profile>(x: &'x mut Context<'_, C, P>) -> Option<&'x mut KeyParameters> {
    let chosen = x.state.parameters.suite::<P>().has_ephemeral_keys();
    x.state.parameters.keys.get_mut().filter(|_| chosen)
}

/// Whether the server's ephemeral key, which nobody signed, is one of several that came.
fn is_key_doubtful<C: Crypto, P: Profile>(x: &mut Context<'_, C, P>) -> bool {
    public_keys::<C, P>(x).is_none() && ephemeral_keys::<C, P>(x).is_some_and(|keys| keys.contradicted)
}

/// The ephemeral key in a server's message, and its signature.
fn ephemeral_key<'m>(message: &Incoming<'m>) -> Option<(&'m [u8; P_256_POINT], [u8; P_256_SIGNATURE])> {
    let exchange = SignedKeyExchange::parse(message.body).ok()?;
    Some((exchange.parameters.point, known_signature(&exchange.signed)?))
}

/// Takes the server's ticket, which nothing protects: what comes after it shows whether it is the true one. One that came before
/// it was awaited is not in the room for it, and may be too long for that.
#[inline(never)]
fn take_ticket<C: Crypto, K: FeatureSet>(
    x: &mut HandshakeContext<'_, C, Version12<K>>,
    message: &Incoming<'_>,
) -> Asked {
    let Some(room) =
        x.state.parameters.new_ticket.get_mut().filter(|_| message.kind == HandshakeType::NEW_SESSION_TICKET)
    else {
        return Outcome::Refused(Refusal::UnexpectedMessage);
    };
    let is_there = room.message(message.kind, message.message_seq).is_some();
    let body = if is_there { room.body() } else { message.body };
    if NewSessionTicket::parse(body).is_err() {
        room.clear();
        return Outcome::Refused(Refusal12::NewSessionTicket.into());
    }
    let header = HandshakeHeader::whole(message.kind, message.message_seq, message.body.len() as u16);
    if !is_there && !room.fits(&header) {
        x.pass_over(&header, message.body);
        return Outcome::Accepted;
    }
    if !is_there {
        room.add(&header, message.body, true);
    }
    room.keep();
    // What there is of a longer one is forged.
    if let Some(tickets) = x.state.parameters.tickets.get_mut().filter(|tickets| tickets.marked) {
        tickets.pass_over_again();
        x.state.transcript.rewind();
    }
    Outcome::Accepted
}

/// Whether the client has a certificate for a server that names these authorities.
fn has_certificate<F: FeatureSet>(keys: &KeyParameters, authorities: Names<'_>) -> bool {
    keys.credentials.is_some_and(|credentials| match keys.own_type {
        CertificateType::RawPublicKey => credentials.raw_public_key.is_some(),
        CertificateType::X509 => {
            F::X_509 && !credentials.certificates.is_empty() && credentials.suits(authorities)
        }
    })
}
