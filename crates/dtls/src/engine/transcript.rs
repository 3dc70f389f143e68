use sixlock_crypto::{Crypto, SHA_256_DIGEST};

/// The hash of the handshake messages so far.
pub(crate) struct Transcript<C: Crypto> {
    /// None before the first message.
    hash: Option<C::Sha256>,
    checkpoint: Option<C::Sha256>,
}

impl<C: Crypto> Transcript<C> {
    /// The hash of no messages.
    pub(crate) const EMPTY: Self = Self { hash: None, checkpoint: None };

    /// Adds bytes of a message.
    pub(crate) fn hash(&mut self, crypto: &mut C, bytes: &[u8]) {
        let hash = self.hash.get_or_insert_with(|| crypto.sha256());
        crypto.sha256_update(hash, bytes);
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
