use sixlock_crypto::{Crypto, SHA_256_DIGEST};
use sixlock_dtls_msg::{HandshakeHeader, Window};

use crate::handshake::HandshakeParameters;
use crate::v12::{FeaturesOf, HandshakeRole, Incoming, Message};

/// Bytes of a message of ours that are emitted and hashed at a time.
const PIECE: usize = 64;

/// The hash of the handshake messages so far, each as if it had been sent in one piece
/// ([RFC 6347 section 4.2.6](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.6)).
pub(crate) struct Transcript<C: Crypto> {
    /// None before the first message.
    hash: Option<C::Sha256>,
    checkpoint: Option<C::Sha256>,
}

impl<C: Crypto> Transcript<C> {
    /// The hash of no messages.
    pub(crate) const EMPTY: Self = Self { hash: None, checkpoint: None };

    /// Adds a received message.
    pub(crate) fn add(&mut self, crypto: &mut C, message: &Incoming<'_>) {
        // No body is longer than the record it came in, whose length has 16 bits.
        let header = HandshakeHeader::whole(message.kind, message.message_seq, message.body.len() as u16);
        self.hash(crypto, &header.to_bytes());
        self.hash(crypto, message.body);
    }

    /// Adds bytes of a message.
    pub(crate) fn hash(&mut self, crypto: &mut C, bytes: &[u8]) {
        let hash = self.hash.get_or_insert_with(|| crypto.sha256());
        crypto.sha256_update(hash, bytes);
    }

    /// Adds a message of ours.
    pub(crate) fn add_own<R: HandshakeRole>(
        &mut self,
        crypto: &mut C,
        parameters: &HandshakeParameters<FeaturesOf<R>>,
        message: Message,
        message_seq: u16,
    ) {
        if let Some(kind) = message.kind() {
            let length = message.length::<R>(parameters);
            let header = HandshakeHeader::whole(kind, message_seq, length);
            self.hash(crypto, &header.to_bytes());
            let (mut piece, mut hashed) = ([0; PIECE], 0);
            while hashed < length {
                let mut window = Window::new(hashed, &mut piece);
                message.emit::<R>(parameters, &mut window);
                let filled = window.filled();
                self.hash(crypto, &piece[..filled]);
                hashed += filled as u16;
            }
        }
    }

    /// Keeps the point to which [`Transcript::rewind`] returns.
    pub(crate) fn checkpoint(&mut self) {
        self.checkpoint = self.hash.clone();
    }

    /// Forgets the messages since the checkpoint.
    pub(crate) fn rewind(&mut self) {
        self.hash = self.checkpoint.clone();
    }

    /// What it is now.
    pub(crate) fn copy(&self) -> Self {
        Self { hash: self.hash.clone(), checkpoint: self.checkpoint.clone() }
    }

    /// What it was at the checkpoint.
    pub(crate) fn at_checkpoint(&self) -> Self {
        Self { hash: self.checkpoint.clone(), checkpoint: self.checkpoint.clone() }
    }

    /// The hash so far.
    pub(crate) fn digest(&self, crypto: &mut C) -> [u8; SHA_256_DIGEST] {
        let hash = self.hash.clone().unwrap_or_else(|| crypto.sha256());
        crypto.sha256_finish(hash)
    }
}
