//! What both roles do with the keys and the transcript.

use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE};
use sixlock_crypto::{Crypto, SHA_256_DIGEST};
use sixlock_dtls_msg::{
    Certificate, EphemeralParameters, HandshakeHeader, HandshakeType, SignatureAlgorithm, Signed,
    VERIFY_DATA, Window,
};
use sixlock_x509::signature_from_der;

use super::message::Message;
use super::parameters::{HandshakeParameters, MAX_PSK};
use super::public_keys::Fingerprint;
use super::schedule::{master_secret, verify_data, with_premaster};
use super::tickets::LONGEST_MESSAGE;
use super::version::Version12;
use crate::engine::message::{Incoming, OutgoingMessage};
use crate::engine::message_buffer::MessageBuffer;
use crate::engine::role::{HandshakeContext, HandshakeRole, HandshakeState, PassedOver, Side};
use crate::engine::transcript::Transcript;
use crate::{Error, FeatureSet, OptionalPart, Profile, Refusal};

/// Bytes of a message of ours that are emitted and hashed at a time.
const PIECE: usize = 64;

/// A signature, if it is by the one algorithm that is known.
pub(crate) fn known_signature(signed: &Signed<'_>) -> Option<[u8; P_256_SIGNATURE]> {
    let known = signed.algorithm == SignatureAlgorithm::ECDSA_SHA_256;
    signature_from_der(signed.signature).ok().filter(|_| known)
}

impl<C: Crypto, F: FeatureSet> HandshakeContext<'_, C, Version12<F>> {
    fn parts(&mut self) -> (&mut C, &mut HandshakeState<C, Version12<F>>) {
        (self.crypto, self.state)
    }

    /// Derives a new master secret, once the transcript reaches the ClientKeyExchange.
    pub(crate) fn derive<P: Profile>(&mut self, psk: &[u8]) -> Result<(), Error> {
        if psk.len() > MAX_PSK {
            return Err(Error::KeyTooLong);
        }
        let (crypto, HandshakeState { parameters, transcript, .. }) = self.parts();
        let session_hash = parameters.extended_master_secret.then(|| transcript.digest(crypto));
        let (client_random, server_random) = (&parameters.client_random, &parameters.server_random);
        let agreed = parameters.keys.get().is_some() && parameters.suite::<P>().has_ephemeral_keys();
        let shared = parameters.master_secret.first_chunk().filter(|_| agreed);
        parameters.master_secret = with_premaster(shared, psk, |premaster| {
            master_secret(crypto, premaster, session_hash.as_ref(), client_random, server_random)
        });
        Ok(())
    }

    /// Keeps what both ephemeral keys share until the pre-shared key is there.
    pub(crate) fn keep_shared(&mut self, shared: &[u8; P_256_SECRET]) {
        self.state.parameters.master_secret[..P_256_SECRET].copy_from_slice(shared);
    }

    /// Derives it from what both ephemeral keys share.
    pub(crate) fn derive_shared(&mut self, shared: &[u8]) {
        let parameters = &mut self.state.parameters;
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
    pub(crate) fn remember(&mut self, message: &Incoming<'_>) {
        let (crypto, HandshakeState { parameters, .. }) = self.parts();
        let HandshakeParameters { keys, certificates, .. } = parameters;
        let is_certificate = message.kind == HandshakeType::CERTIFICATE;
        let buffer = certificates.get().filter(|_| is_certificate);
        if let Some(keys) = keys.get_mut() {
            let body = buffer.map_or(message.body, MessageBuffer::body);
            keys.fingerprints[usize::from(is_certificate)] = fingerprint(crypto, body);
        }
    }

    /// Whether such a message is another than the one that was taken.
    pub(crate) fn contradicts(&mut self, message: &Incoming<'_>) -> bool {
        let fingerprint = fingerprint(self.crypto, message.body);
        let kind = usize::from(message.kind == HandshakeType::CERTIFICATE);
        self.state.parameters.keys.get().is_some_and(|keys| keys.fingerprints[kind] != fingerprint)
    }

    /// Keeps the hash of all messages up to the client's ephemeral key. A client signs it.
    pub(crate) fn keep_session_hash(&mut self) {
        let digest = self.state.transcript.digest(self.crypto);
        if let Some(keys) = self.state.parameters.keys.get_mut() {
            (keys.session_hash, keys.digest) = (digest, digest);
        }
    }

    /// What a server signs: both random values and its ephemeral key
    /// ([RFC 8422 section 5.4](https://www.rfc-editor.org/rfc/rfc8422#section-5.4)).
    #[inline(never)]
    pub(crate) fn signed_digest(&mut self, point: &[u8; P_256_POINT]) -> [u8; SHA_256_DIGEST] {
        let (crypto, HandshakeState { parameters, .. }) = self.parts();
        let mut hash = crypto.sha256();
        crypto.sha256_update(&mut hash, &parameters.client_random);
        crypto.sha256_update(&mut hash, &parameters.server_random);
        crypto.sha256_update(&mut hash, &EphemeralParameters { point }.to_bytes());
        crypto.sha256_finish(hash)
    }

    /// What the Finished of `side` must contain at this point.
    #[inline(never)]
    pub(crate) fn verify_data(&mut self, side: Side) -> [u8; VERIFY_DATA] {
        let digest = self.state.transcript.digest(self.crypto);
        verify_data(self.crypto, &self.state.parameters.master_secret, side, &digest)
    }

    /// Adds the server's ticket, if it was taken, and tells what the transcript was before.
    pub(crate) fn add_ticket(&mut self) -> Option<Transcript<C>> {
        let (crypto, HandshakeState { parameters, transcript, .. }) = self.parts();
        if parameters.tickets.get()?.has_passed_over() {
            return Some(transcript.at_checkpoint());
        }
        let room = parameters.new_ticket.get().filter(|room| room.is_kept())?;
        let message = room.message(HandshakeType::NEW_SESSION_TICKET, room.message_seq()?)?;
        let before = transcript.copy();
        add(transcript, crypto, &message);
        Some(before)
    }

    /// Adds what a fragment holds of the server's ticket, for which there is no room.
    pub(crate) fn pass_over(&mut self, header: &HandshakeHeader, fragment: &[u8]) -> PassedOver {
        let (crypto, HandshakeState { parameters, transcript, .. }) = self.parts();
        let Some(tickets) = parameters.tickets.get_mut().filter(|_| header.length <= LONGEST_MESSAGE) else {
            return PassedOver::Refused;
        };
        let Some((fresh, begins)) = tickets.pass_over(header, fragment) else { return PassedOver::Refused };
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
        if parameters.awaits_ticket() { PassedOver::Taken } else { PassedOver::Complete }
    }

    /// Adds a received message to the transcript, as if it had been sent in one piece
    /// ([RFC 6347 section 4.2.6](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.6)).
    pub(crate) fn add(&mut self, message: &Incoming<'_>) {
        add(&mut self.state.transcript, self.crypto, message);
    }

    /// Takes the peer's certificates, which are complete in their buffer: `message` is all but their body. Refuses them if they are
    /// not of the kind that was agreed on.
    pub(crate) fn take_certificates(&mut self, message: &Incoming<'_>) -> Result<(), Refusal> {
        let (crypto, HandshakeState { parameters, transcript, .. }) = self.parts();
        let HandshakeParameters { keys, certificates, .. } = parameters;
        let (Some(keys), Some(buffer)) = (keys.get(), certificates.get_mut()) else {
            return Err(Refusal::UnexpectedMessage);
        };
        let message = Incoming { body: buffer.body(), ..*message };
        let chain = Certificate::parse(message.body, keys.peer_type);
        if chain.is_ok_and(|chain| !chain.is_empty()) {
            add(transcript, crypto, &message);
            buffer.keep();
            return Ok(());
        }
        Err(if chain.is_ok() { Refusal::NoCertificate } else { Refusal::Certificate })
    }

    /// Adds a message of ours.
    pub(crate) fn add_own<R: HandshakeRole<Version = Version12<F>>>(
        &mut self,
        message: Message,
        message_seq: u16,
    ) {
        let (crypto, HandshakeState { parameters, transcript, .. }) = self.parts();
        let Some(kind) = message.kind() else { return };
        let length = R::length(message, parameters);
        transcript.hash(crypto, &HandshakeHeader::whole(kind, message_seq, length).to_bytes());
        let (mut piece, mut hashed) = ([0; PIECE], 0);
        while hashed < length {
            let mut window = Window::new(hashed, &mut piece);
            R::emit(message, parameters, &mut window);
            let filled = window.filled();
            transcript.hash(crypto, &piece[..filled]);
            hashed += filled as u16;
        }
    }
}

/// Adds a received message. No body is longer than the record it came in, or its buffer, whose length has 16 bits.
fn add<C: Crypto>(transcript: &mut Transcript<C>, crypto: &mut C, message: &Incoming<'_>) {
    let header = HandshakeHeader::whole(message.kind, message.message_seq, message.body.len() as u16);
    transcript.hash(crypto, &header.to_bytes());
    transcript.hash(crypto, message.body);
}

/// The beginning of a message's digest.
fn fingerprint<C: Crypto>(crypto: &mut C, body: &[u8]) -> Fingerprint {
    let mut hash = crypto.sha256();
    crypto.sha256_update(&mut hash, body);
    let mut fingerprint = Fingerprint::default();
    fingerprint.copy_from_slice(&crypto.sha256_finish(hash)[..size_of::<Fingerprint>()]);
    fingerprint
}
