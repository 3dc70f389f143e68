//! What was protected and what was opened, under which key and nonce: none of it twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A key, told by what it makes of nothing, or by the association that it is of; then the nonce or sequence number.
pub(crate) type Use = Vec<u8>;

/// What was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// A nonce was used for two messages.
    NonceRepeated,
    /// A message was opened a second time.
    ReplayOpened,
    /// A message was opened that nobody has protected.
    ForgeryOpened,
}

/// What all devices of a network have protected.
#[derive(Default)]
struct Protected {
    /// By key and nonce, what was protected.
    messages: BTreeMap<Use, u64>,
    misuses: Vec<(Misuse, Use)>,
}

/// Sees what one device protects and opens from its start on, and knows what all have protected.
#[derive(Clone, Default)]
pub(crate) struct Witness {
    network: Arc<Mutex<Protected>>,
    opened: BTreeSet<Use>,
}

/// What tells messages apart: FNV-1a.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter().copied().chain([0xff, 0x00]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

impl Witness {
    /// That of another device of the network, or of the same when it starts anew.
    pub(crate) fn of_device(&self) -> Self {
        Self { network: Arc::clone(&self.network), opened: BTreeSet::new() }
    }

    fn network(&self) -> MutexGuard<'_, Protected> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device protects a message.
    pub(crate) fn protects(&mut self, key_and_nonce: Use, message: u64) {
        let mut network = self.network();
        let before = network.messages.insert(key_and_nonce.clone(), message);
        if before.is_some_and(|before| before != message) {
            network.misuses.push((Misuse::NonceRepeated, key_and_nonce));
        }
    }

    /// The device has opened a message, and found it authentic.
    pub(crate) fn opens(&mut self, key_and_nonce: Use, message: u64) {
        let is_first = self.opened.insert(key_and_nonce.clone());
        let mut network = self.network();
        let misuse = match network.messages.get(&key_and_nonce) {
            _ if !is_first => Misuse::ReplayOpened,
            Some(protected) if *protected == message => return,
            _ => Misuse::ForgeryOpened,
        };
        network.misuses.push((misuse, key_and_nonce));
    }

    /// What was wrong since this was last called.
    pub(crate) fn take_misuses(&self) -> Vec<(Misuse, Use)> {
        core::mem::take(&mut self.network().misuses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_for_one_message_and_a_message_is_opened_once_by_each_device() {
        let mut sender = Witness::default();
        let mut receiver = sender.of_device();
        sender.protects(vec![1, 2], 7);
        sender.protects(vec![1, 2], 7);
        receiver.opens(vec![1, 2], 7);
        sender.of_device().opens(vec![1, 2], 7);
        assert_eq!(sender.take_misuses(), []);
        receiver.opens(vec![1, 2], 7);
        sender.protects(vec![1, 2], 8);
        receiver.of_device().opens(vec![1, 2], 9);
        receiver.opens(vec![1, 3], 7);
        let misuses: Vec<_> = sender.take_misuses().into_iter().map(|(misuse, _)| misuse).collect();
        use Misuse::{ForgeryOpened, NonceRepeated, ReplayOpened};
        assert_eq!(misuses, [ReplayOpened, NonceRepeated, ForgeryOpened, ForgeryOpened]);
        assert_eq!(receiver.take_misuses(), []);
    }
}
