use core::marker::PhantomData;

use sixlock_crypto::{Crypto, constant_time_eq};
use sixlock_dtls_msg::{
    AlertDescription, ClientKeyExchange, EphemeralKeyExchange, EphemeralPskClient, Finished, HandshakeType,
    Signed,
};

use super::{
    FeaturesOf, Flight, HandshakeContext, HandshakeRole, Incoming, Message, Outcome, Wanted, flight,
    is_certificate, known_signature,
};
use crate::handshake::HandshakeParameters;
use crate::public_key::KeyOperation;
use crate::record::{PLAIN, PROTECTED};
use crate::schedule::Side;
use crate::{Answer, Error, Failure, FeatureSet, Full, MAX_IDENTITY, OptionalPart, Profile};

/// The side that answers.
pub struct Server<P = Full> {
    state: State,
    /// The number of the first message of the client's flight that is kept: its certificate, or its key exchange.
    exchange_seq: u16,
    profile: PhantomData<P>,
}

/// What is over is zero, as all that has not begun.
#[derive(Clone, Copy)]
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

    /// Begins a new session: by the answer to the hello, whose first message has number `message_seq`, or by what must be done
    /// before.
    pub(crate) fn begin<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message_seq: u16,
    ) -> Outcome {
        let suite = x.parameters.suite::<P>();
        if let Some(keys) = x.parameters.keys.get_mut()
            && suite.has_ephemeral_keys()
        {
            keys.asked &= suite.has_public_keys();
            self.state = State::AwaitTask(KeyOperation::Generate);
            return Outcome::NeedWork;
        }
        self.state = State::AwaitKeyExchange;
        Self::choose(x, &flight::SERVER_HELLO, message_seq)
    }

    /// Answers the hello by this flight.
    fn choose<C: Crypto>(
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        flight: &'static Flight,
        message_seq: u16,
    ) -> Outcome {
        for (message, number) in flight.messages.iter().zip(0..) {
            x.add_own::<Self>(*message, message_seq.wrapping_add(number));
        }
        x.transcript.checkpoint();
        Outcome::Send(flight, message_seq)
    }

    /// Answers the hello by the session that it names
    /// ([RFC 5246 section 7.3](https://www.rfc-editor.org/rfc/rfc5246#section-7.3)).
    pub(crate) fn resume_session<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message_seq: u16,
    ) {
        x.add_own::<Self>(Message::ServerHello, message_seq);
        let mut finished_seq = message_seq.wrapping_add(1);
        if x.parameters.tickets.get().is_some_and(|tickets| tickets.promises) {
            x.add_own::<Self>(Message::NewSessionTicket, finished_seq);
            finished_seq = finished_seq.wrapping_add(1);
        }
        x.parameters.verify_data = x.verify_data(Side::Server);
        x.add_own::<Self>(Message::Finished, finished_seq);
        self.state = State::AwaitResumed;
    }

    /// Answers the client's proof by the ticket that there is now
    /// ([RFC 5077 section 3.3](https://www.rfc-editor.org/rfc/rfc5077#section-3.3)).
    pub(crate) fn give_ticket<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message_seq: u16,
    ) -> Outcome {
        x.add_own::<Self>(Message::NewSessionTicket, message_seq);
        x.parameters.verify_data = x.verify_data(Side::Server);
        self.state = State::Over;
        Outcome::Complete(Some(&flight::SERVER_TICKET))
    }

    /// Takes what a client sends to a server with a public key.
    fn receive_certified<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message: &Incoming<'_>,
    ) -> Outcome {
        match (self.state, message.kind) {
            (State::AwaitCertificate, HandshakeType::CERTIFICATE) => match x.parameters.keys.get() {
                Some(keys) if is_certificate(keys, message) => {
                    x.add(message);
                    (self.state, self.exchange_seq) = (State::AwaitKeyExchange, message.message_seq);
                    Outcome::Accepted
                }
                Some(_) => Outcome::Refused(Some(Failure::Refused(AlertDescription::BAD_CERTIFICATE))),
                None => Outcome::Refused(None),
            },
            (State::AwaitKeyExchange, HandshakeType::CLIENT_KEY_EXCHANGE) => self.take_key(x, message),
            (State::AwaitCertificateVerify, HandshakeType::CERTIFICATE_VERIFY) => {
                let (Some(signature), Some(keys)) = (
                    Signed::parse(message.body).ok().and_then(|signed| known_signature(&signed)),
                    x.parameters.keys.get_mut(),
                ) else {
                    return Outcome::Refused(None);
                };
                keys.peer_signature = signature;
                x.add(message);
                self.state = State::AwaitTask(KeyOperation::Chain);
                Outcome::NeedWork
            }
            _ => Outcome::Refused(None),
        }
    }

    /// Takes the client's ephemeral key.
    fn take_key<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message: &Incoming<'_>,
    ) -> Outcome {
        let (Ok(exchange), Some(keys)) =
            (EphemeralKeyExchange::parse(message.body), x.parameters.keys.get_mut())
        else {
            return Outcome::Refused(None);
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
    fn contradicts(parameters: &HandshakeParameters<FeaturesOf<Self>>, message: &Incoming<'_>) -> bool {
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

    /// Goes on with the key.
    pub(crate) fn resume<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        psk: &[u8],
    ) -> Result<(), Error> {
        let State::AwaitKey = self.state else { return Err(Error::NoWork) };
        x.derive::<P>(psk)?;
        self.state = State::AwaitFinished;
        Ok(())
    }
}

impl<P: Profile> HandshakeRole for Server<P> {
    type Profile = P;
    const OVER: Self = Self { state: State::Over, exchange_seq: 0, profile: PhantomData };
    type RoundTrip = ();

    const SIDE: Side = Side::Server;
    const HANDSHAKE_EPOCH: u16 = PLAIN;

    fn expected_epoch(&self, _: &HandshakeParameters<FeaturesOf<Self>>) -> Option<u16> {
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

    fn awaits_ticket(&self, _: &HandshakeParameters<FeaturesOf<Self>>) -> bool {
        false
    }

    fn awaits(&self) -> Option<Wanted> {
        match self.state {
            State::AwaitSession => Some(Wanted::Session),
            State::AwaitKey => Some(Wanted::Key),
            State::AwaitTask(step) => Some(Wanted::Task(step)),
            State::AwaitTicket if P::Features::TICKETS => Some(Wanted::Ticket),
            _ => None,
        }
    }

    fn receive<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message: &Incoming<'_>,
    ) -> Outcome {
        match (self.state, message.kind) {
            (State::AwaitCertificate | State::AwaitKeyExchange | State::AwaitCertificateVerify, _)
                if x.parameters.keys.get().is_some() && x.parameters.suite::<P>().has_public_keys() =>
            {
                self.receive_certified(x, message)
            }
            (State::AwaitKeyExchange, HandshakeType::CLIENT_KEY_EXCHANGE) => {
                let agrees = x.parameters.suite::<P>().has_ephemeral_keys();
                let (identity, next) = match x.parameters.keys.get_mut() {
                    Some(keys) if agrees => {
                        let Ok(exchange) = EphemeralPskClient::parse(message.body) else {
                            return Outcome::Refused(None);
                        };
                        keys.peer_point = *exchange.point;
                        (exchange.identity, State::AwaitTask(KeyOperation::Agree))
                    }
                    _ => match ClientKeyExchange::parse(message.body) {
                        Ok(exchange) => (exchange.identity, State::AwaitKey),
                        Err(_) => return Outcome::Refused(None),
                    },
                };
                if identity.len() > MAX_IDENTITY {
                    return Outcome::Refused(None);
                }
                x.parameters.cookie_or_identity.set_identity(identity);
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
                    return Outcome::Fatal(AlertDescription::DECRYPT_ERROR);
                }
                if resumed {
                    return Outcome::Complete(None);
                }
                x.add(message);
                if x.parameters.tickets.get().is_some_and(|tickets| tickets.promises) {
                    self.state = State::AwaitTicket;
                    return Outcome::NeedWork;
                }
                x.parameters.verify_data = x.verify_data(Side::Server);
                Outcome::Complete(Some(&flight::FINISHED))
            }
            _ => Outcome::Refused(None),
        }
    }

    fn receive_again<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message: &Incoming<'_>,
    ) -> Outcome {
        match self.state {
            // Another identity than the one taken: one of them is forged. The client repeats
            // the true one until the handshake succeeds, so the later one is given its chance.
            State::AwaitFinished
                if x.doubtful
                    && (message.message_seq, message.kind)
                        == (self.exchange_seq, HandshakeType::CLIENT_KEY_EXCHANGE)
                    && Self::contradicts(x.parameters, message) =>
            {
                x.transcript.rewind();
                self.state = State::AwaitKeyExchange;
                Outcome::Rewound(self.exchange_seq)
            }
            _ => Outcome::Refused(None),
        }
    }

    fn go_on<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        answer: &Answer,
        message_seq: u16,
    ) -> Result<Outcome, Error> {
        let certified = x.parameters.suite::<P>().has_public_keys();
        let (State::AwaitTask(step), Some(keys)) = (self.state, x.parameters.keys.get_mut()) else {
            return Err(Error::NoWork);
        };
        let next = match (step, answer) {
            (KeyOperation::Generate, Answer::KeyPair(secret, point)) => {
                (keys.secret, keys.point) = (**secret, *point);
                if !certified {
                    self.state = State::AwaitKeyExchange;
                    return Ok(Self::choose(x, &flight::SERVER_EPHEMERAL, message_seq));
                }
                let digest = x.signed_digest(point);
                if let Some(keys) = x.parameters.keys.get_mut() {
                    keys.digest = digest;
                }
                KeyOperation::Sign
            }
            (KeyOperation::Sign, Answer::Signature(signature)) => {
                keys.signature = *signature;
                let (state, flight) = if keys.asked {
                    (State::AwaitCertificate, &flight::SERVER_REQUEST)
                } else {
                    (State::AwaitKeyExchange, &flight::SERVER_CERTIFICATE)
                };
                self.state = state;
                return Ok(Self::choose(x, flight, message_seq));
            }
            (KeyOperation::Chain, Answer::Peer(key)) => {
                keys.peer_key = *key;
                KeyOperation::Verify
            }
            (KeyOperation::Verify, Answer::Verified) => KeyOperation::Agree,
            (KeyOperation::Agree, Answer::Shared(shared)) if !certified => {
                x.keep_shared(shared);
                self.state = State::AwaitKey;
                return Ok(Outcome::NeedWork);
            }
            (KeyOperation::Agree, Answer::Shared(shared)) => {
                x.derive_shared(&**shared);
                self.state = State::AwaitFinished;
                return Ok(Outcome::Keyed);
            }
            _ => return Err(Error::NoWork),
        };
        self.state = State::AwaitTask(next);
        Ok(Outcome::NeedWork)
    }

    fn go_back<C: Crypto>(&mut self, x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>) -> Outcome {
        x.transcript.rewind();
        self.state = match x.parameters.keys.get() {
            Some(keys) if keys.asked => State::AwaitCertificate,
            _ => State::AwaitKeyExchange,
        };
        Outcome::Rewound(self.exchange_seq)
    }

    fn retransmit<C: Crypto>(&mut self, _: &mut HandshakeContext<'_, C, FeaturesOf<Self>>) -> Outcome {
        Outcome::Accepted
    }
}
