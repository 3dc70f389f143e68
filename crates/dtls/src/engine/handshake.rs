use core::borrow::BorrowMut;

use sixlock_base::Slot;
use sixlock_crypto::Crypto;

use super::flight::Outgoing;
use super::reassembly::Reassembly;
use super::role::{HandshakeContext, Parameters, Version};
use super::transcript::Transcript;
use crate::{Config, Failure};

/// Everything that only the handshake needs: a session lets go of it when its last flight is
/// known to have arrived.
pub struct Handshake<C: Crypto, V: Version> {
    /// Whether a session uses it.
    is_in_use: bool,
    pub(crate) config: Config,
    pub(crate) parameters: V::Parameters,
    pub(crate) transcript: Transcript<C>,
    pub(crate) reassembly: Reassembly,
    pub(crate) outgoing: Outgoing<V::Message>,
    /// The number of the next message expected from the peer.
    pub(crate) next_receive: u16,
    /// Finished records so far that did not decrypt.
    pub(crate) bad_records: u8,
    /// How often the handshake went back to a checkpoint.
    pub(crate) rewinds: u8,
    /// What unauthenticated messages say the trouble is: only told when the handshake times out.
    pub(crate) clue: Slot<Failure>,
}

impl<C: Crypto, V: Version> Handshake<C, V> {
    /// A handshake that has not begun: all zero bytes.
    pub const fn new() -> Self {
        Self {
            is_in_use: false,
            config: Config::NONE,
            parameters: V::Parameters::NONE,
            transcript: Transcript::EMPTY,
            reassembly: Reassembly::new(),
            outgoing: Outgoing::NONE,
            next_receive: 0,
            bad_records: 0,
            rewinds: 0,
            clue: Slot::Empty,
        }
    }

    /// Lends what a role works on, and the messages that are put together for it.
    #[inline]
    pub(crate) fn lend<'a>(
        &'a mut self,
        crypto: &'a mut C,
    ) -> (HandshakeContext<'a, C, V>, &'a mut Reassembly) {
        let doubtful = self.is_doubtful();
        let Self { config, parameters, transcript, reassembly, outgoing, .. } = self;
        (HandshakeContext { crypto, config, parameters, transcript, outgoing, doubtful }, reassembly)
    }

    /// Goes back to where the message with this number is awaited.
    pub(crate) fn rewind(&mut self, message_seq: u16) {
        self.next_receive = message_seq;
        self.reassembly.clear();
        self.parameters.clear_buffers();
    }

    /// Whether something that was taken may have been forged: no answer came in time, or one
    /// that does not decrypt.
    fn is_doubtful(&self) -> bool {
        self.bad_records > 0 || self.outgoing.is_repeated()
    }
}

impl<C: Crypto, V: Version> Default for Handshake<C, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a session has its [`Handshake`]: a `Handshake` is part of the session, which a device can have in
/// a static; an `Option` of a reference to one or of a box is let go of when it is needed no longer.
pub trait HandshakeSlot<C: Crypto, V: Version> {
    /// Begins anew, if there is a handshake.
    fn begin(&mut self) -> Option<&mut Handshake<C, V>>;

    /// The handshake, while it is needed.
    fn get(&self) -> Option<&Handshake<C, V>>;

    /// The handshake, while it is needed.
    fn get_mut(&mut self) -> Option<&mut Handshake<C, V>>;

    /// Wipes it and lets go of it.
    fn free(&mut self);
}

impl<C: Crypto, V: Version> HandshakeSlot<C, V> for Handshake<C, V> {
    fn begin(&mut self) -> Option<&mut Self> {
        self.free();
        self.is_in_use = true;
        Some(self)
    }

    fn get(&self) -> Option<&Self> {
        self.is_in_use.then_some(self)
    }

    fn get_mut(&mut self) -> Option<&mut Self> {
        self.is_in_use.then_some(self)
    }

    /// What is there is overwritten part by part: a whole one made beside it would take as much of the stack.
    #[inline(never)]
    fn free(&mut self) {
        self.is_in_use = false;
        self.config = Config::NONE;
        self.parameters.reset();
        self.transcript = Transcript::EMPTY;
        self.reassembly.clear();
        self.outgoing = Outgoing::NONE;
        (self.next_receive, self.bad_records, self.rewinds) = (0, 0, 0);
        self.clue = Slot::Empty;
    }
}

impl<C: Crypto, V: Version, H: BorrowMut<Handshake<C, V>>> HandshakeSlot<C, V> for Option<H> {
    fn begin(&mut self) -> Option<&mut Handshake<C, V>> {
        self.as_mut()?.borrow_mut().begin()
    }

    fn get(&self) -> Option<&Handshake<C, V>> {
        self.as_ref().map(H::borrow)
    }

    fn get_mut(&mut self) -> Option<&mut Handshake<C, V>> {
        self.as_mut().map(H::borrow_mut)
    }

    fn free(&mut self) {
        if let Some(mut handshake) = self.take() {
            handshake.borrow_mut().free();
        }
    }
}
