use core::marker::PhantomData;

use sixlock_crypto::{Crypto, constant_time_eq};
use sixlock_dtls_msg::{
    AlertDescription, ExtensionType, Finished, HandshakeType, HelloVerifyRequest, NULL_COMPRESSION,
    ServerHello, ServerKeyExchange, Version,
};

use super::{Exchange, Flight, Incoming, Message, Outcome, Steps, Wanted};
use crate::profile::suite;
use crate::record::{PLAIN, PROTECTED};
use crate::resumption::SessionId;
use crate::schedule::Side;
use crate::transcript::Transcript;
use crate::{ConnectionId, Error, Failure, Full, MAX_IDENTITY, MAX_PSK, Profile};

/// How often a client takes up a cookie: servers change theirs, forgers send theirs.
const MAX_COOKIES: u8 = 4;

/// The side that begins.
pub struct Client<P = Full> {
    state: State,
    /// How many cookies were taken up.
    cookies: u8,
    /// The number of the server's hello.
    hello_seq: u16,
    profile: PhantomData<P>,
}

#[derive(Clone, Copy)]
enum State {
    /// The handshake is over.
    Over,
    /// The hello is out.
    AwaitServerHello,
    /// The server's choice is known.
    AwaitServerHelloDone,
    /// The identity and key are needed.
    AwaitKey,
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

    /// Goes on with an identity and its key; `message_seq` is the number of the first message
    /// of the flight that follows.
    pub(crate) fn resume<C: Crypto>(
        &mut self,
        x: &mut Exchange<'_, C>,
        identity: &[u8],
        psk: &[u8],
        message_seq: u16,
    ) -> Result<(), Error> {
        let State::AwaitKey = self.state else { return Err(Error::NoWork) };
        if identity.len() > MAX_IDENTITY {
            return Err(Error::IdentityTooLong);
        }
        if psk.len() > MAX_PSK {
            return Err(Error::KeyTooLong);
        }
        x.facts.name.set(identity);
        x.add_own::<Self>(Message::ClientKeyExchange, message_seq);
        x.derive(psk)?;
        x.facts.verify_data = x.verify_data(Side::Client);
        x.add_own::<Self>(Message::Finished, message_seq.wrapping_add(1));
        self.state = State::AwaitFinished;
        Ok(())
    }

    /// Takes up a cookie and says hello again
    /// ([RFC 6347 section 4.2.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.1)).
    ///
    /// A second cookie may be forged, or the first may have been: it has its chance when the
    /// hello with the first stays without an answer.
    fn take_cookie<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Outcome {
        let Ok(request) = HelloVerifyRequest::parse(message.body) else { return Outcome::Refused(None) };
        let is_wanted = self.cookies == 0
            || (x.doubtful && self.cookies < MAX_COOKIES && request.cookie != x.facts.name.get());
        if !request.version.is_dtls() || !is_wanted {
            return Outcome::Refused(None);
        }
        x.facts.name.set(request.cookie);
        // Neither the first hello nor its answer are part of what is proved.
        *x.transcript = Transcript::EMPTY;
        x.add_own::<Self>(Message::ClientHello, 1);
        x.transcript.mark();
        self.state = State::AwaitServerHello;
        self.cookies += 1;
        Outcome::Send(Flight::ClientHello, 1)
    }

    /// Goes back to where the server's hello is awaited.
    fn rewind<C: Crypto>(&mut self, x: &mut Exchange<'_, C>) -> Outcome {
        x.transcript.rewind();
        self.state = State::AwaitServerHello;
        Outcome::Rewound(self.hello_seq)
    }
}

impl<P: Profile> Steps for Client<P> {
    type Profile = P;
    const OVER: Self = Self { state: State::Over, cookies: 0, hello_seq: 0, profile: PhantomData };
    const SIDE: Side = Side::Client;
    const HANDSHAKE_EPOCH: u16 = PROTECTED;

    fn expected_epoch(&self) -> Option<u16> {
        match self.state {
            State::AwaitServerHello | State::AwaitServerHelloDone => Some(PLAIN),
            State::AwaitFinished | State::AwaitResumed => Some(PROTECTED),
            State::AwaitKey | State::Over => None,
        }
    }

    fn awaits(&self) -> Option<Wanted> {
        matches!(self.state, State::AwaitKey).then_some(Wanted::Key)
    }

    fn receive<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Outcome {
        match (self.state, message.kind) {
            (State::AwaitServerHello, HandshakeType::HELLO_VERIFY_REQUEST) => self.take_cookie(x, message),
            (State::AwaitServerHello, HandshakeType::SERVER_HELLO) => {
                let hello = match take_hello::<C, P>(x, message) {
                    Err(clue) => return Outcome::Refused(clue),
                    Ok(hello) => hello,
                };
                self.hello_seq = message.message_seq;
                if P::RESUMPTION
                    && let Hello::Resumed = hello
                {
                    self.state = State::AwaitResumed;
                    return Outcome::Resumed;
                }
                self.state = State::AwaitServerHelloDone;
                Outcome::Accepted
            }
            // Without a profile that says otherwise, the hint means nothing:
            // https://www.rfc-editor.org/rfc/rfc4279#section-5.2
            (State::AwaitServerHelloDone, HandshakeType::SERVER_KEY_EXCHANGE)
                if ServerKeyExchange::parse(message.body).is_ok() =>
            {
                x.add(message);
                Outcome::Accepted
            }
            (State::AwaitServerHelloDone, HandshakeType::SERVER_HELLO_DONE) if message.body.is_empty() => {
                x.add(message);
                self.state = State::AwaitKey;
                Outcome::NeedKey
            }
            (State::AwaitFinished | State::AwaitResumed, HandshakeType::FINISHED) => {
                let expected = x.verify_data(Side::Server);
                let proved = Finished::parse(message.body)
                    .is_ok_and(|finished| constant_time_eq(finished.verify_data, &expected));
                let resumed = P::RESUMPTION && matches!(self.state, State::AwaitResumed);
                self.state = State::Over;
                if !proved {
                    return Outcome::Fatal(AlertDescription::DECRYPT_ERROR);
                }
                if !resumed {
                    return Outcome::Complete(None);
                }
                x.add(message);
                x.facts.verify_data = x.verify_data(Side::Client);
                Outcome::Complete(Some(Flight::Finished))
            }
            _ => Outcome::Refused(None),
        }
    }

    fn receive_again<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Outcome {
        match (self.state, message.kind) {
            // A server that changed its secret, or the true cookie after a forged one.
            (State::AwaitServerHello, HandshakeType::HELLO_VERIFY_REQUEST) => self.take_cookie(x, message),
            // The true cookie after the forged hello of a server that wants none.
            (
                State::AwaitServerHelloDone | State::AwaitFinished | State::AwaitResumed,
                HandshakeType::HELLO_VERIFY_REQUEST,
            ) if x.doubtful && self.cookies == 0 => self.take_cookie(x, message),
            // Another hello than the one taken: one of them is forged. The server repeats the
            // true one until the handshake succeeds, so the later one is given its chance.
            (State::AwaitFinished | State::AwaitResumed, HandshakeType::SERVER_HELLO)
                if x.doubtful
                    && message.message_seq == self.hello_seq
                    && ServerHello::parse(message.body)
                        .is_ok_and(|hello| *hello.random != x.facts.server_random) =>
            {
                self.rewind(x)
            }
            _ => Outcome::Refused(None),
        }
    }

    fn retransmit<C: Crypto>(&mut self, x: &mut Exchange<'_, C>) -> Outcome {
        match self.state {
            // The server sends its whole flight again, so whatever was forged in it goes away.
            State::AwaitServerHelloDone => self.rewind(x),
            _ => Outcome::Accepted,
        }
    }
}

/// What a server does.
enum Hello {
    /// It begins a new session.
    New,
    /// It resumes the one that was offered.
    Resumed,
}

/// Takes the server's choice if it is one of what was offered.
fn take_hello<C: Crypto, P: Profile>(
    x: &mut Exchange<'_, C>,
    message: &Incoming<'_>,
) -> Result<Hello, Option<Failure>> {
    let hello = ServerHello::parse(message.body).map_err(|_| None)?;
    let offered = hello.version == Version::DTLS_1_2 && hello.compression_method == NULL_COMPRESSION;
    let suite = suite::<P>(&x.facts.suites, hello.cipher_suite).ok_or(Some(Failure::Negotiation))?;
    // Only what was offered may be taken up, and nothing is renegotiated:
    // https://www.rfc-editor.org/rfc/rfc5746#section-3.4
    let extensions = hello.extensions.iter().all(|extension| {
        hello.extensions.comes_once_at_most(extension.kind)
            && match extension.kind {
                ExtensionType::EXTENDED_MASTER_SECRET => extension.data.is_empty(),
                ExtensionType::RENEGOTIATION_INFO => extension.data == [0],
                ExtensionType::RECORD_SIZE_LIMIT | ExtensionType::MAX_FRAGMENT_LENGTH => P::RECORD_LIMITS,
                // https://www.rfc-editor.org/rfc/rfc9146#section-3
                ExtensionType::CONNECTION_ID if P::CONNECTION_IDS => {
                    x.facts.own_id.is_some() && ConnectionId::from_extension(extension.data).is_some()
                }
                _ => false,
            }
    });
    let extended = hello.extensions.find(ExtensionType::EXTENDED_MASTER_SECRET).is_some();
    // The session's name back means that it is resumed: https://www.rfc-editor.org/rfc/rfc5246#section-7.3
    let resumed =
        x.facts.offered.get().filter(|session| P::RESUMPTION && session.session_id() == hello.session_id);
    // A session is resumed with its suite and, as it was bound to its whole handshake, in one that says so, too:
    // https://www.rfc-editor.org/rfc/rfc7627#section-5.3
    let contradicts = resumed.is_some_and(|session| session.suite != suite || !extended);
    if !offered || !extensions || contradicts {
        return Err(Some(Failure::Negotiation));
    }
    let master_secret = resumed.map(|session| session.master_secret);
    if P::RECORD_LIMITS {
        x.facts.limits.answered(hello.extensions).map_err(|_| Some(Failure::Negotiation))?;
    }
    let next = match master_secret {
        Some(master_secret) => {
            x.facts.master_secret = master_secret;
            Hello::Resumed
        }
        None => Hello::New,
    };
    if P::RESUMPTION {
        x.facts.resumed = matches!(next, Hello::Resumed);
        x.facts.session_id = SessionId::received(hello.session_id);
    }
    if P::CONNECTION_IDS {
        let given = hello.extensions.find(ExtensionType::CONNECTION_ID);
        x.facts.peer_id = given.and_then(ConnectionId::from_extension);
    }
    x.facts.suite = suite;
    x.facts.server_random = *hello.random;
    x.facts.extended_master_secret = extended;
    x.add(message);
    Ok(next)
}
