use sixlock_crypto::{Crypto, constant_time_eq};
use sixlock_dtls_msg::{
    AlertDescription, ExtensionType, Finished, HandshakeType, HelloVerifyRequest, NULL_COMPRESSION,
    ServerHello, ServerKeyExchange, Version,
};

use super::{Exchange, Flight, Incoming, Message, Outcome, Steps, Wanted};
use crate::record::{PLAIN, PROTECTED};
use crate::resumption::SessionId;
use crate::schedule::{Keys, Side};
use crate::transcript::Transcript;
use crate::{ConnectionId, Error, Failure, MAX_IDENTITY, MAX_PSK};

/// How often a client takes up a cookie: servers change theirs, forgers send theirs.
const MAX_COOKIES: u8 = 4;

/// The side that begins.
pub struct Client(State);

enum State {
    /// The handshake is over.
    Over,
    /// The hello is out.
    AwaitServerHello { cookies: u8 },
    /// The server's choice is known.
    AwaitServerHelloDone { hello_seq: u16, cookies: u8 },
    /// The identity and key are needed.
    AwaitKey { hello_seq: u16, cookies: u8 },
    /// Our proof is out.
    AwaitFinished { hello_seq: u16, cookies: u8 },
    /// The server resumes the session and proves first that it knows it.
    AwaitResumed { hello_seq: u16, cookies: u8 },
}

const _: () = assert!(size_of::<Client>() <= 64);

impl Client {
    pub(crate) fn start() -> Self {
        Self(State::AwaitServerHello { cookies: 0 })
    }

    /// Goes on with an identity and its key; `message_seq` is the number of the first message
    /// of the flight that follows.
    pub(crate) fn resume<C: Crypto>(
        &mut self,
        x: &mut Exchange<'_, C>,
        identity: &[u8],
        psk: &[u8],
        message_seq: u16,
    ) -> Result<Keys<C>, Error> {
        let State::AwaitKey { hello_seq, cookies } = self.0 else { return Err(Error::NoWork) };
        if identity.len() > MAX_IDENTITY {
            return Err(Error::IdentityTooLong);
        }
        if psk.len() > MAX_PSK {
            return Err(Error::KeyTooLong);
        }
        x.facts.name.set(identity);
        x.add_own::<Client>(Message::ClientKeyExchange, message_seq);
        let keys = x.derive(psk)?;
        x.facts.verify_data = x.verify_data(Side::Client);
        x.add_own::<Client>(Message::Finished, message_seq.wrapping_add(1));
        self.0 = State::AwaitFinished { hello_seq, cookies };
        Ok(keys)
    }
}

impl Steps for Client {
    const OVER: Self = Self(State::Over);
    const SIDE: Side = Side::Client;
    const HANDSHAKE_EPOCH: u16 = PROTECTED;

    fn expected_epoch(&self) -> Option<u16> {
        match self.0 {
            State::AwaitServerHello { .. } | State::AwaitServerHelloDone { .. } => Some(PLAIN),
            State::AwaitFinished { .. } | State::AwaitResumed { .. } => Some(PROTECTED),
            State::AwaitKey { .. } | State::Over => None,
        }
    }

    fn awaits(&self) -> Option<Wanted> {
        matches!(self.0, State::AwaitKey { .. }).then_some(Wanted::Key)
    }

    fn receive<C: Crypto>(self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> (Self, Outcome) {
        let (state, outcome) = match (self.0, message.kind) {
            (state @ State::AwaitServerHello { cookies }, HandshakeType::HELLO_VERIFY_REQUEST) => {
                take_cookie(cookies, x, message).unwrap_or((state, Outcome::Refused(None)))
            }
            (State::AwaitServerHello { cookies }, HandshakeType::SERVER_HELLO) => {
                let hello_seq = message.message_seq;
                match take_hello(x, message) {
                    Ok(Hello::New) => (State::AwaitServerHelloDone { hello_seq, cookies }, Outcome::Accepted),
                    Ok(Hello::Resumed) => (State::AwaitResumed { hello_seq, cookies }, Outcome::Resumed),
                    Err(clue) => (State::AwaitServerHello { cookies }, Outcome::Refused(clue)),
                }
            }
            // Without a profile that says otherwise, the hint means nothing:
            // https://www.rfc-editor.org/rfc/rfc4279#section-5.2
            (state @ State::AwaitServerHelloDone { .. }, HandshakeType::SERVER_KEY_EXCHANGE)
                if ServerKeyExchange::parse(message.body).is_ok() =>
            {
                x.add(message);
                (state, Outcome::Accepted)
            }
            (State::AwaitServerHelloDone { hello_seq, cookies }, HandshakeType::SERVER_HELLO_DONE)
                if message.body.is_empty() =>
            {
                x.add(message);
                (State::AwaitKey { hello_seq, cookies }, Outcome::NeedKey)
            }
            (state @ (State::AwaitFinished { .. } | State::AwaitResumed { .. }), HandshakeType::FINISHED) => {
                let expected = x.verify_data(Side::Server);
                let proved = Finished::parse(message.body)
                    .is_ok_and(|finished| constant_time_eq(finished.verify_data, &expected));
                let outcome = match state {
                    _ if !proved => Outcome::Fatal(AlertDescription::DECRYPT_ERROR),
                    State::AwaitResumed { .. } => {
                        x.add(message);
                        x.facts.verify_data = x.verify_data(Side::Client);
                        Outcome::Complete(Some(Flight::Finished))
                    }
                    _ => Outcome::Complete(None),
                };
                (State::Over, outcome)
            }
            (state, _) => (state, Outcome::Refused(None)),
        };
        (Self(state), outcome)
    }

    fn receive_again<C: Crypto>(self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> (Self, Outcome) {
        let (state, outcome) = match (self.0, message.kind) {
            // A server that changed its secret, or the true cookie after a forged one.
            (state @ State::AwaitServerHello { cookies }, HandshakeType::HELLO_VERIFY_REQUEST) => {
                take_cookie(cookies, x, message).unwrap_or((state, Outcome::Refused(None)))
            }
            // The true cookie after the forged hello of a server that wants none.
            (
                state @ (State::AwaitServerHelloDone { cookies: 0, .. }
                | State::AwaitFinished { cookies: 0, .. }
                | State::AwaitResumed { cookies: 0, .. }),
                HandshakeType::HELLO_VERIFY_REQUEST,
            ) if x.doubtful => take_cookie(0, x, message).unwrap_or((state, Outcome::Refused(None))),
            // Another hello than the one taken: one of them is forged. The server repeats the
            // true one until the handshake succeeds, so the later one is given its chance.
            (
                State::AwaitFinished { hello_seq, cookies } | State::AwaitResumed { hello_seq, cookies },
                HandshakeType::SERVER_HELLO,
            ) if x.doubtful
                && message.message_seq == hello_seq
                && ServerHello::parse(message.body)
                    .is_ok_and(|hello| *hello.random != x.facts.server_random) =>
            {
                x.transcript.rewind();
                (State::AwaitServerHello { cookies }, Outcome::Rewound(hello_seq))
            }
            (state, _) => (state, Outcome::Refused(None)),
        };
        (Self(state), outcome)
    }

    fn retransmit<C: Crypto>(self, x: &mut Exchange<'_, C>) -> (Self, Outcome) {
        match self.0 {
            // The server sends its whole flight again, so whatever was forged in it goes away.
            State::AwaitServerHelloDone { hello_seq, cookies } => {
                x.transcript.rewind();
                (Self(State::AwaitServerHello { cookies }), Outcome::Rewound(hello_seq))
            }
            state => (Self(state), Outcome::Accepted),
        }
    }
}

/// Takes up a cookie and says hello again
/// ([RFC 6347 section 4.2.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.1)).
///
/// A second cookie may be forged, or the first may have been: it has its chance when the
/// hello with the first stays without an answer.
fn take_cookie<C: Crypto>(
    cookies: u8,
    x: &mut Exchange<'_, C>,
    message: &Incoming<'_>,
) -> Option<(State, Outcome)> {
    let request = HelloVerifyRequest::parse(message.body).ok()?;
    let wanted =
        cookies == 0 || (x.doubtful && cookies < MAX_COOKIES && request.cookie != x.facts.name.get());
    if !request.version.is_dtls() || !wanted {
        return None;
    }
    x.facts.name.set(request.cookie);
    // Neither the first hello nor its answer are part of what is proved.
    *x.transcript = Transcript::EMPTY;
    x.add_own::<Client>(Message::ClientHello, 1);
    x.transcript.mark();
    Some((State::AwaitServerHello { cookies: cookies + 1 }, Outcome::Send(Flight::ClientHello, 1)))
}

/// What a server does.
enum Hello {
    /// It begins a new session.
    New,
    /// It resumes the one that was offered.
    Resumed,
}

/// Takes the server's choice if it is one of what was offered.
fn take_hello<C: Crypto>(x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Result<Hello, Option<Failure>> {
    let hello = ServerHello::parse(message.body).map_err(|_| None)?;
    let offered = hello.version == Version::DTLS_1_2 && hello.compression_method == NULL_COMPRESSION;
    let suite = x.facts.suites.find(hello.cipher_suite).ok_or(Some(Failure::Negotiation))?;
    // Only what was offered may be taken up, and nothing is renegotiated:
    // https://www.rfc-editor.org/rfc/rfc5746#section-3.4
    let extensions = hello.extensions.iter().all(|extension| {
        hello.extensions.comes_once_at_most(extension.kind)
            && match extension.kind {
                ExtensionType::EXTENDED_MASTER_SECRET => extension.data.is_empty(),
                ExtensionType::RENEGOTIATION_INFO => extension.data == [0],
                ExtensionType::RECORD_SIZE_LIMIT | ExtensionType::MAX_FRAGMENT_LENGTH => true,
                // https://www.rfc-editor.org/rfc/rfc9146#section-3
                ExtensionType::CONNECTION_ID => {
                    x.facts.own_id.is_some() && ConnectionId::from_extension(extension.data).is_some()
                }
                _ => false,
            }
    });
    let extended = hello.extensions.find(ExtensionType::EXTENDED_MASTER_SECRET).is_some();
    // The session's name back means that it is resumed: https://www.rfc-editor.org/rfc/rfc5246#section-7.3
    let resumed = x.facts.offered.get().filter(|session| session.session_id() == hello.session_id);
    // A session is resumed with its suite and, as it was bound to its whole handshake, in one that says so, too:
    // https://www.rfc-editor.org/rfc/rfc7627#section-5.3
    let contradicts = resumed.is_some_and(|session| session.suite != suite || !extended);
    if !offered || !extensions || contradicts {
        return Err(Some(Failure::Negotiation));
    }
    let master_secret = resumed.map(|session| session.master_secret);
    x.facts.limits.answered(hello.extensions).map_err(|_| Some(Failure::Negotiation))?;
    let next = match master_secret {
        Some(master_secret) => {
            x.facts.master_secret = master_secret;
            Hello::Resumed
        }
        None => Hello::New,
    };
    x.facts.resumed = matches!(next, Hello::Resumed);
    x.facts.session_id = SessionId::received(hello.session_id);
    x.facts.peer_id =
        hello.extensions.find(ExtensionType::CONNECTION_ID).and_then(ConnectionId::from_extension);
    x.facts.suite = suite;
    x.facts.server_random = *hello.random;
    x.facts.extended_master_secret = extended;
    x.add(message);
    Ok(next)
}
