use core::marker::PhantomData;

use sixlock_crypto::{Crypto, constant_time_eq};
use sixlock_dtls_msg::{AlertDescription, ClientKeyExchange, Finished, HandshakeType};

use super::{Exchange, Flight, Incoming, Message, Outcome, Steps, Wanted};
use crate::record::{PLAIN, PROTECTED};
use crate::schedule::Side;
use crate::{Error, Full, MAX_IDENTITY, Profile};

/// The side that answers.
pub struct Server<P = Full> {
    state: State,
    /// The number of the client's key exchange.
    exchange_seq: u16,
    profile: PhantomData<P>,
}

#[derive(Clone, Copy)]
enum State {
    /// The handshake is over.
    Over,
    /// The session that the client names is needed, if there is one.
    AwaitSession,
    /// Our choice is out.
    AwaitKeyExchange,
    /// The client's identity is known, its key is needed.
    AwaitKey,
    /// The client must prove that it knows the key.
    AwaitFinished,
    /// The session is resumed, our proof is out; the client's is to come.
    AwaitResumed,
}

const _: () = assert!(size_of::<Server<()>>() <= 64);

impl<P: Profile> Server<P> {
    /// Begins with the verified hello, which is part of the transcript.
    pub(crate) const fn start() -> Self {
        Self { state: State::AwaitSession, ..Self::OVER }
    }

    /// Answers the hello by a new session; the answer's first message has number `message_seq`.
    pub(crate) fn begin<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message_seq: u16) {
        x.add_own::<Self>(Message::ServerHello, message_seq);
        x.add_own::<Self>(Message::ServerHelloDone, message_seq.wrapping_add(1));
        x.transcript.mark();
        self.state = State::AwaitKeyExchange;
    }

    /// Answers the hello by the session that it names
    /// ([RFC 5246 section 7.3](https://www.rfc-editor.org/rfc/rfc5246#section-7.3)).
    pub(crate) fn resume_session<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message_seq: u16) {
        x.add_own::<Self>(Message::ServerHello, message_seq);
        x.facts.verify_data = x.verify_data(Side::Server);
        x.add_own::<Self>(Message::Finished, message_seq.wrapping_add(1));
        self.state = State::AwaitResumed;
    }

    /// Goes on with the key.
    pub(crate) fn resume<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, psk: &[u8]) -> Result<(), Error> {
        let State::AwaitKey = self.state else { return Err(Error::NoWork) };
        x.derive(psk)?;
        self.state = State::AwaitFinished;
        Ok(())
    }
}

impl<P: Profile> Steps for Server<P> {
    type Profile = P;
    const OVER: Self = Self { state: State::Over, exchange_seq: 0, profile: PhantomData };
    const SIDE: Side = Side::Server;
    const HANDSHAKE_EPOCH: u16 = PLAIN;

    fn expected_epoch(&self) -> Option<u16> {
        match self.state {
            State::AwaitKeyExchange => Some(PLAIN),
            State::AwaitFinished | State::AwaitResumed => Some(PROTECTED),
            State::AwaitSession | State::AwaitKey | State::Over => None,
        }
    }

    fn awaits(&self) -> Option<Wanted> {
        match self.state {
            State::AwaitSession => Some(Wanted::Session),
            State::AwaitKey => Some(Wanted::Key),
            _ => None,
        }
    }

    fn receive<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Outcome {
        match (self.state, message.kind) {
            (State::AwaitKeyExchange, HandshakeType::CLIENT_KEY_EXCHANGE) => {
                match ClientKeyExchange::parse(message.body) {
                    Ok(exchange) if exchange.identity.len() <= MAX_IDENTITY => {
                        x.facts.name.set(exchange.identity);
                        x.add(message);
                        self.state = State::AwaitKey;
                        self.exchange_seq = message.message_seq;
                        Outcome::NeedKey
                    }
                    _ => Outcome::Refused(None),
                }
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
                x.facts.verify_data = x.verify_data(Side::Server);
                Outcome::Complete(Some(Flight::Finished))
            }
            _ => Outcome::Refused(None),
        }
    }

    fn receive_again<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Outcome {
        match self.state {
            // Another identity than the one taken: one of them is forged. The client repeats
            // the true one until the handshake succeeds, so the later one is given its chance.
            State::AwaitFinished
                if x.doubtful
                    && (message.message_seq, message.kind)
                        == (self.exchange_seq, HandshakeType::CLIENT_KEY_EXCHANGE)
                    && ClientKeyExchange::parse(message.body)
                        .is_ok_and(|exchange| exchange.identity != x.facts.name.get()) =>
            {
                x.transcript.rewind();
                self.state = State::AwaitKeyExchange;
                Outcome::Rewound(self.exchange_seq)
            }
            _ => Outcome::Refused(None),
        }
    }

    fn retransmit<C: Crypto>(&mut self, _: &mut Exchange<'_, C>) -> Outcome {
        Outcome::Accepted
    }
}
