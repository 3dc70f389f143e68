//! The messages of DTLS 1.2 and what either side does with them; nothing else knows them.

mod client;
mod flight;
mod server;

pub use client::Client;

pub(crate) use flight::{Flight, Message};
pub use server::Server;

use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{AlertDescription, HandshakeType};

use crate::handshake::Facts;
use crate::schedule::{Side, master_secret, verify_data};
use crate::transcript::Transcript;
use crate::{Error, Failure, MAX_PSK, Profile};

/// Which side of a session: [`Client`] or [`Server`]. A device links the one it is.
pub trait Role: Steps {}

impl<P: Profile> Role for Client<P> {}
impl<P: Profile> Role for Server<P> {}

/// What a role does in a handshake. What it receives changes what it is.
pub trait Steps: Sized {
    /// The handshake is over, or has not begun.
    const OVER: Self;

    /// What it can do beyond what every session needs.
    type Profile: Profile;

    /// Which side the role is.
    const SIDE: Side;

    /// The epoch in which the role fails a handshake that awaits the peer's Finished.
    const HANDSHAKE_EPOCH: u16;

    /// The epoch in which the next message must come; none while none may come.
    fn expected_epoch(&self) -> Option<u16>;

    /// What the handshake waits for from outside.
    fn awaits(&self) -> Option<Wanted>;

    /// Takes the next message in order.
    fn receive<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Outcome;

    /// Takes a whole message again whose number was already used, when it is not the one
    /// that the current flight answers.
    fn receive_again<C: Crypto>(&mut self, x: &mut Exchange<'_, C>, message: &Incoming<'_>) -> Outcome;

    /// The current flight is about to be sent again because no answer came in time.
    fn retransmit<C: Crypto>(&mut self, x: &mut Exchange<'_, C>) -> Outcome;
}

/// What a handshake needs from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The key of the identity.
    Key,
    /// The session that the client's hello names.
    Session,
}

/// What a step works on.
pub struct Exchange<'a, C: Crypto> {
    pub(crate) crypto: &'a mut C,
    pub(crate) facts: &'a mut Facts,
    pub(crate) transcript: &'a mut Transcript<C>,
    /// No answer came in time, or one that does not decrypt: something taken may have been forged.
    pub(crate) doubtful: bool,
}

/// A received handshake message.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    pub(crate) kind: HandshakeType,
    pub(crate) message_seq: u16,
    pub(crate) body: &'a [u8],
}

/// What a step asks of the session.
pub enum Outcome {
    /// The message is not acceptable and changed nothing. Anyone may have sent it, so the
    /// reason is kept as a clue only.
    Refused(Option<Failure>),
    /// The message was taken; the next is awaited.
    Accepted,
    /// The message was taken and a flight answers it, whose first message has this number, as
    /// the peer's next has.
    Send(Flight, u16),
    /// The message was taken and the key is needed.
    NeedKey,
    /// The message was taken, and the keys of the records follow from the master secret of the
    /// session that is resumed.
    Resumed,
    /// The peer is authentic. The last flight follows, if it is ours.
    Complete(Option<Flight>),
    /// An authentic message is wrong.
    Fatal(AlertDescription),
    /// The handshake goes back: the message with this number is awaited again, and the
    /// message in hand, if it has that number, is taken now.
    Rewound(u16),
}

impl<C: Crypto> Exchange<'_, C> {
    /// Derives a new master secret, once the transcript reaches the ClientKeyExchange.
    fn derive(&mut self, psk: &[u8]) -> Result<(), Error> {
        if psk.len() > MAX_PSK {
            return Err(Error::KeyTooLong);
        }
        let Self { crypto, facts, transcript, .. } = self;
        let session_hash = facts.extended_master_secret.then(|| transcript.digest(crypto));
        let (client_random, server_random) = (&facts.client_random, &facts.server_random);
        facts.master_secret =
            master_secret(*crypto, psk, session_hash.as_ref(), client_random, server_random);
        Ok(())
    }

    /// What the Finished of `side` must contain at this point.
    fn verify_data(&mut self, side: Side) -> [u8; sixlock_dtls_msg::VERIFY_DATA] {
        let digest = self.transcript.digest(self.crypto);
        verify_data(self.crypto, &self.facts.master_secret, side, &digest)
    }

    fn add(&mut self, message: &Incoming<'_>) {
        self.transcript.add(self.crypto, message);
    }

    fn add_own<R: Steps>(&mut self, message: Message, message_seq: u16) {
        self.transcript.add_own::<R>(self.crypto, self.facts, message, message_seq);
    }
}
