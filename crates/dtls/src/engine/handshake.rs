use core::borrow::BorrowMut;

use sixlock_crypto::Crypto;

use super::reassembly::Reassembly;
use super::role::{HandshakeState, Parameters, Version};

/// Everything that only the handshake needs: a session lets go of it when its last flight is
/// known to have arrived.
pub struct Handshake<C: Crypto, V: Version> {
    /// Whether a session uses it.
    is_in_use: bool,
    pub(crate) state: HandshakeState<C, V>,
    pub(crate) reassembly: Reassembly,
}

impl<C: Crypto, V: Version> Handshake<C, V> {
    /// A handshake that has not begun: all zero bytes.
    pub const fn new() -> Self {
        Self { is_in_use: false, state: HandshakeState::NONE, reassembly: Reassembly::new() }
    }

    /// Goes back to where the message with this number is awaited.
    pub(crate) fn rewind(&mut self, message_seq: u16) {
        self.state.next_receive = message_seq;
        self.reassembly.clear();
        self.state.parameters.clear_buffers();
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
        self.state.reset();
        self.reassembly.clear();
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
