//! The protected epochs of a session.
//!
//! The epoch without protection is none of them: it has no keys and takes any record, and the number of its next record is part of
//! the handshake, with which it ends.

use sixlock_base::Slot;
use sixlock_dtls_msg::SequenceNumber;

use super::replay::ReplayWindow;

/// A protected epoch: its keys, the number of its next record, and which of the peer's records came.
pub struct Epoch<K> {
    /// Empty until the keys can be derived.
    pub(crate) codec: Slot<K>,
    /// The next record's number; none when they are used up.
    pub(crate) write_sequence: Option<SequenceNumber>,
    pub(crate) replay: ReplayWindow,
}

impl<K> Epoch<K> {
    /// One that has not begun: all zero bytes.
    pub(crate) const NONE: Self =
        Self { codec: Slot::Empty, write_sequence: None, replay: ReplayWindow::EMPTY };

    /// Begins it, without keys: those that were here are wiped.
    pub(crate) fn begin(&mut self) {
        self.unprotect();
        self.replay = ReplayWindow::EMPTY;
        self.write_sequence = Some(SequenceNumber::ZERO);
    }

    /// Wipes its keys. Its numbers go on, should there be other keys.
    pub(crate) fn unprotect(&mut self) {
        self.codec = Slot::Empty;
    }
}

/// The protected epochs of a session that are live at once, a slot for each: how many these are, and which epoch gives way to a
/// new one, the version says. Records of all others are refused.
pub trait Epochs<K> {
    /// Those of a session that has not begun: all zero bytes.
    const NONE: Self;

    /// Begins the epochs of a handshake, all without keys.
    fn begin(&mut self);

    /// Wipes the keys of all.
    fn unprotect(&mut self);

    /// The epoch with this number, if it is live.
    fn get(&self, number: u16) -> Option<&Epoch<K>>;

    /// The epoch with this number, if it is live.
    fn get_mut(&mut self, number: u16) -> Option<&mut Epoch<K>>;

    /// The epoch of data that is sent, and of what else is said to a peer that is connected.
    fn sending(&self) -> u16;

    /// Whether data may come in the live epoch with this number.
    fn carries_data(&self, number: u16) -> bool;
}
