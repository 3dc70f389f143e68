use sixlock_crypto::{Crypto, constant_time_eq};
use sixlock_dtls_msg::{AlertDescription, ClientKeyExchange, Finished, HandshakeType};

use super::{Exchange, Flight, Incoming, Message, Outcome, Steps, Wanted};
use crate::record::{PLAIN, PROTECTED};
use crate::schedule::{Keys, Side};
use crate::{Error, MAX_IDENTITY};

/// The side that answers.
pub struct Server(State);

enum State {
    /// The handshake is over.
    Over,
    /// The session that the client names is needed, if there is one.
    AwaitSession,
    /// Our choice is out.
    AwaitKeyExchange,
    /// The client's identity is known, its key is needed.
    AwaitKey { exchange_seq: u16 },
    /// The client must prove that it knows the key.
    AwaitFinished { exchange_seq: u16 },
    /// The session is resumed, our proof is out; the client's is to come.
    AwaitResumed,
}

const _: () = assert!(size_of::<Server>() <= 64);

impl Server {
    /// Begins with the verified hello, which is part of the transcript.
    pub(crate) fn start() -> Self {
        Self(State::AwaitSession)
    }

    /// Answers the hello by a new session; the answer's first message has number `message_seq`.
    pub(crate) fn begin<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message_seq: u16) {
        x.add_own::<Server>(Message::ServerHello, message_seq);
        x.add_own::<Server>(Message::ServerHelloDone, message_seq.wrapping_add(1));
        x.transcript.mark();
        self.0 = State::AwaitKeyExchange;
    }

    /// Answers the hello by the session that it names
    /// ([RFC 5246 section 7.3](https://www.rfc-editor.org/rfc/rfc5246#section-7.3)).
    pub(crate) fn resume_session<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message_seq: u16) -> Keys<C> {
        x.add_own::<Server>(Message::ServerHello, message_seq);
        x.facts.verify_data = x.verify_data(Side::Server);
        x.add_own::<Server>(Message::Finished, message_seq.wrapping_add(1));
        self.0 = State::AwaitResumed;
        x.keys()
    }

    /// Goes on with the key.
    pub(crate) fn resume<C: Crypto>(
        &mut self,
        x: &mut Exchange<'_, C>,
        psk: &[u8],
    ) -> Result<Keys<C>, Error> {
        let State::AwaitKey { exchange_seq } = self.0 else { return Err(Error::NoWork) };
        let keys = x.derive(psk)?;
        self.0 = State::AwaitFinished { exchange_seq };
        Ok(keys)
    }
}

impl Steps for Server {
    const OVER: Self = Self(State::Over);
    const SIDE: Side = Side::Server;
    const HANDSHAKE_EPOCH: u16 = PLAIN;

    fn expected_epoch(&self) -> Option<u16> {
        match self.0 {
            State::AwaitKeyExchange => Some(PLAIN),
            State::AwaitFinished { .. } | State::AwaitResumed => Some(PROTECTED),
            State::AwaitSession | State::AwaitKey { .. } | State::Over => None,
        }
    }

    fn awaits(&self) -> Option<Wanted> {
        match self.0 {
            State::AwaitSession => Some(Wanted::Session),
            State::AwaitKey { .. } => Some(Wanted::Key),
            _ => None,
        }
    }

    fn receive<C: Crypto>(self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> (Self, Outcome) {
        let (state, outcome) = match (self.0, message.kind) {
            (State::AwaitKeyExchange, HandshakeType::CLIENT_KEY_EXCHANGE) => {
                match ClientKeyExchange::parse(message.body) {
                    Ok(exchange) if exchange.identity.len() <= MAX_IDENTITY => {
                        x.facts.name.set(exchange.identity);
                        x.add(message);
                        (State::AwaitKey { exchange_seq: message.message_seq }, Outcome::NeedKey)
                    }
                    _ => (State::AwaitKeyExchange, Outcome::Refused(None)),
                }
            }
            (state @ (State::AwaitFinished { .. } | State::AwaitResumed), HandshakeType::FINISHED) => {
                let expected = x.verify_data(Side::Client);
                let proved = Finished::parse(message.body)
                    .is_ok_and(|finished| constant_time_eq(finished.verify_data, &expected));
                let outcome = match state {
                    _ if !proved => Outcome::Fatal(AlertDescription::DECRYPT_ERROR),
                    State::AwaitResumed => Outcome::Complete(None),
                    _ => {
                        x.add(message);
                        x.facts.verify_data = x.verify_data(Side::Server);
                        Outcome::Complete(Some(Flight::Finished))
                    }
                };
                (State::Over, outcome)
            }
            (state, _) => (state, Outcome::Refused(None)),
        };
        (Self(state), outcome)
    }

    fn receive_again<C: Crypto>(self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> (Self, Outcome) {
        match self.0 {
            // Another identity than the one taken: one of them is forged. The client repeats
            // the true one until the handshake succeeds, so the later one is given its chance.
            State::AwaitFinished { exchange_seq }
                if x.doubtful
                    && (message.message_seq, message.kind)
                        == (exchange_seq, HandshakeType::CLIENT_KEY_EXCHANGE)
                    && ClientKeyExchange::parse(message.body)
                        .is_ok_and(|exchange| exchange.identity != x.facts.name.get()) =>
            {
                x.transcript.rewind();
                (Self(State::AwaitKeyExchange), Outcome::Rewound(exchange_seq))
            }
            state => (Self(state), Outcome::Refused(None)),
        }
    }

    fn retransmit<C: Crypto>(self, _: &mut Exchange<'_, C>) -> (Self, Outcome) {
        (self, Outcome::Accepted)
    }
}
