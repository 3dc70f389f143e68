//! The messages of DTLS 1.2 and what either side does with them; nothing else knows them.

mod client;
pub(crate) mod flight;
mod server;

pub use client::Client;

pub(crate) use flight::{Flight, Message};
pub use server::Server;

use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE};
use sixlock_crypto::{Crypto, SHA_256_DIGEST};
use sixlock_dtls_msg::{
    AlertDescription, Certificate, EphemeralParameters, HandshakeHeader, HandshakeType, SignatureAlgorithm,
    Signed,
};
use sixlock_x509::signature_from_der;

use crate::handshake::HandshakeParameters;
use crate::public_key::{Fingerprint, KeyOperation};
use crate::round_trip::RoundTrips;
use crate::schedule::{Side, master_secret, verify_data, with_premaster};
use crate::ticket::LONGEST_MESSAGE;
use crate::transcript::Transcript;
use crate::{Answer, Error, Failure, FeatureSet, KeyParameters, MAX_PSK, OptionalPart, Profile};

/// Which side of a session: [`Client`] or [`Server`]. A device links the one it is.
pub trait Role: HandshakeRole {}

impl<P: Profile> Role for Client<P> {}
impl<P: Profile> Role for Server<P> {}

/// What the handshakes of a role have room for.
pub type FeaturesOf<R> = <<R as HandshakeRole>::Profile as Profile>::Features;

/// What a role does in a handshake. What it receives changes what it is.
pub trait HandshakeRole: Sized {
    /// The handshake is over, or has not begun.
    const OVER: Self;

    /// What it can do beyond what every session needs.
    type Profile: Profile;

    /// What it knows of the time that flights and their answers take.
    type RoundTrip: RoundTrips;

    /// Which side the role is.
    const SIDE: Side;

    /// The epoch in which the role fails a handshake that awaits the peer's Finished.
    const HANDSHAKE_EPOCH: u16;

    /// The epoch in which the next message must come; none while none may come.
    fn expected_epoch(&self, parameters: &HandshakeParameters<FeaturesOf<Self>>) -> Option<u16>;

    /// Whether the server's ticket is the next message.
    fn awaits_ticket(&self, parameters: &HandshakeParameters<FeaturesOf<Self>>) -> bool;

    /// What the handshake waits for from outside.
    fn awaits(&self) -> Option<Wanted>;

    /// Takes the next message in order.
    fn receive<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message: &Incoming<'_>,
    ) -> Outcome;

    /// Takes a whole message again whose number was already used, when it is not the one
    /// that the current flight answers.
    fn receive_again<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        message: &Incoming<'_>,
    ) -> Outcome;

    /// The current flight is about to be sent again because no answer came in time.
    fn retransmit<C: Crypto>(&mut self, x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>) -> Outcome;

    /// Goes on with what came of a task; `message_seq` is the number of the first message of the flight that follows.
    fn go_on<C: Crypto>(
        &mut self,
        x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>,
        answer: &Answer,
        message_seq: u16,
    ) -> Result<Outcome, Error>;

    /// Goes back to before the peer's flight, of which something was refused.
    fn go_back<C: Crypto>(&mut self, x: &mut HandshakeContext<'_, C, FeaturesOf<Self>>) -> Outcome;
}

/// What a handshake needs from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The key of the identity.
    Key,
    /// The session that the client's hello names.
    Session,
    /// This done.
    Task(KeyOperation),
    /// A ticket for the client.
    Ticket,
}

/// What a step works on.
pub struct HandshakeContext<'a, C: Crypto, K: FeatureSet> {
    pub(crate) crypto: &'a mut C,
    pub(crate) parameters: &'a mut HandshakeParameters<K>,
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
    Send(&'static Flight, u16),
    /// The message was taken and something is needed from outside.
    NeedWork,
    /// The keys of the records follow from the master secret, and the peer's proof is awaited.
    Keyed,
    /// The message was taken, and the keys of the records follow from the master secret of the
    /// session that is resumed.
    Resumed,
    /// The peer is authentic. The last flight follows, if it is ours.
    Complete(Option<&'static Flight>),
    /// An authentic message is wrong.
    Fatal(AlertDescription),
    /// The handshake goes back: the message with this number is awaited again, and the
    /// message in hand, if it has that number, is taken now.
    Rewound(u16),
}

/// Whether a message holds a certificate of the kind that was agreed on.
fn is_certificate(keys: &KeyParameters, message: &Incoming<'_>) -> bool {
    Certificate::parse(message.body, keys.peer_type).is_ok_and(|certificate| !certificate.is_empty())
}

/// A signature, if it is by the one algorithm that is known.
fn known_signature(signed: &Signed<'_>) -> Option<[u8; P_256_SIGNATURE]> {
    let known = signed.algorithm == SignatureAlgorithm::ECDSA_SHA_256;
    signature_from_der(signed.signature).ok().filter(|_| known)
}

impl<C: Crypto, K: FeatureSet> HandshakeContext<'_, C, K> {
    /// Derives a new master secret, once the transcript reaches the ClientKeyExchange.
    fn derive<P: Profile>(&mut self, psk: &[u8]) -> Result<(), Error> {
        if psk.len() > MAX_PSK {
            return Err(Error::KeyTooLong);
        }
        let Self { crypto, parameters, transcript, .. } = self;
        let session_hash = parameters.extended_master_secret.then(|| transcript.digest(crypto));
        let (client_random, server_random) = (&parameters.client_random, &parameters.server_random);
        let agreed = parameters.keys.get().is_some() && parameters.suite::<P>().has_ephemeral_keys();
        let shared = parameters.master_secret.first_chunk().filter(|_| agreed);
        parameters.master_secret = with_premaster(shared, psk, |premaster| {
            master_secret(*crypto, premaster, session_hash.as_ref(), client_random, server_random)
        });
        Ok(())
    }

    /// Keeps what both ephemeral keys share until the pre-shared key is there.
    fn keep_shared(&mut self, shared: &[u8; P_256_SECRET]) {
        self.parameters.master_secret[..P_256_SECRET].copy_from_slice(shared);
    }

    /// Derives it from what both ephemeral keys share.
    fn derive_shared(&mut self, shared: &[u8]) {
        let parameters = &mut *self.parameters;
        let session_hash = parameters
            .keys
            .get()
            .filter(|_| parameters.extended_master_secret)
            .map(|keys| &keys.session_hash);
        let (client_random, server_random) = (&parameters.client_random, &parameters.server_random);
        parameters.master_secret =
            master_secret(self.crypto, shared, session_hash, client_random, server_random);
    }

    /// Remembers a message of the server that comes once in its flight: its certificate, and its request for ours; or its
    /// key exchange, if there is no certificate.
    fn remember(&mut self, message: &Incoming<'_>) {
        let fingerprint = self.fingerprint(message);
        if let Some(keys) = self.parameters.keys.get_mut() {
            keys.fingerprints[usize::from(message.kind == HandshakeType::CERTIFICATE)] = fingerprint;
        }
    }

    /// Whether such a message is another than the one that was taken.
    fn contradicts(&mut self, message: &Incoming<'_>) -> bool {
        let fingerprint = self.fingerprint(message);
        let kind = usize::from(message.kind == HandshakeType::CERTIFICATE);
        self.parameters.keys.get().is_some_and(|keys| keys.fingerprints[kind] != fingerprint)
    }

    fn fingerprint(&mut self, message: &Incoming<'_>) -> Fingerprint {
        let mut hash = self.crypto.sha256();
        self.crypto.sha256_update(&mut hash, message.body);
        let mut fingerprint = Fingerprint::default();
        fingerprint.copy_from_slice(&self.crypto.sha256_finish(hash)[..size_of::<Fingerprint>()]);
        fingerprint
    }

    /// Keeps the hash of all messages up to the client's ephemeral key. A client signs it.
    fn keep_session_hash(&mut self) {
        let digest = self.transcript.digest(self.crypto);
        if let Some(keys) = self.parameters.keys.get_mut() {
            (keys.session_hash, keys.digest) = (digest, digest);
        }
    }

    /// What a server signs: both random values and its ephemeral key
    /// ([RFC 8422 section 5.4](https://www.rfc-editor.org/rfc/rfc8422#section-5.4)).
    #[inline(never)]
    fn signed_digest(&mut self, point: &[u8; P_256_POINT]) -> [u8; SHA_256_DIGEST] {
        let Self { crypto, parameters, .. } = self;
        let mut hash = crypto.sha256();
        crypto.sha256_update(&mut hash, &parameters.client_random);
        crypto.sha256_update(&mut hash, &parameters.server_random);
        crypto.sha256_update(&mut hash, &EphemeralParameters { point }.to_bytes());
        crypto.sha256_finish(hash)
    }

    /// What the Finished of `side` must contain at this point.
    #[inline(never)]
    fn verify_data(&mut self, side: Side) -> [u8; sixlock_dtls_msg::VERIFY_DATA] {
        let digest = self.transcript.digest(self.crypto);
        verify_data(self.crypto, &self.parameters.master_secret, side, &digest)
    }

    /// Adds the server's ticket, if it was taken, and tells what the transcript was before.
    fn add_ticket(&mut self) -> Option<Transcript<C>> {
        let Self { crypto, parameters, transcript, .. } = self;
        if parameters.tickets.get()?.has_passed_over() {
            return Some(transcript.at_checkpoint());
        }
        let room = parameters.new_ticket.get().filter(|room| room.is_kept())?;
        let message = room.message(HandshakeType::NEW_SESSION_TICKET, room.message_seq()?)?;
        let before = transcript.copy();
        transcript.add(crypto, &message);
        Some(before)
    }

    /// Adds what a fragment holds of the server's ticket, for which there is no room; false if something before it is missing.
    pub(crate) fn pass_over(&mut self, header: &HandshakeHeader, fragment: &[u8]) -> bool {
        let Self { crypto, parameters, transcript, .. } = self;
        let Some(tickets) = parameters.tickets.get_mut().filter(|_| header.length <= LONGEST_MESSAGE) else {
            return false;
        };
        let Some((fresh, begins)) = tickets.pass_over(header, fragment) else { return false };
        if begins {
            if tickets.marked {
                transcript.rewind()
            } else {
                transcript.checkpoint()
            }
            tickets.marked = true;
            let whole = HandshakeHeader { fragment_offset: 0, fragment_length: header.length, ..*header };
            transcript.hash(crypto, &whole.to_bytes());
        }
        transcript.hash(crypto, fresh);
        true
    }

    fn add(&mut self, message: &Incoming<'_>) {
        self.transcript.add(self.crypto, message);
    }

    fn add_own<R: HandshakeRole<Profile: Profile<Features = K>>>(
        &mut self,
        message: Message,
        message_seq: u16,
    ) {
        self.transcript.add_own::<R>(self.crypto, self.parameters, message, message_seq);
    }
}
