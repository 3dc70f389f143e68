use super::record::PROTECTED;
use crate::engine::epochs::{Epoch, Epochs};

/// The one protected epoch of DTLS 1.2.
pub struct ProtectedEpoch<K>(pub(crate) Epoch<K>);

impl<K> Epochs<K> for ProtectedEpoch<K> {
    const NONE: Self = Self(Epoch::NONE);

    fn begin(&mut self) {
        self.0.begin();
    }

    fn unprotect(&mut self) {
        self.0.unprotect();
    }

    fn get(&self, number: u16) -> Option<&Epoch<K>> {
        (number == PROTECTED).then_some(&self.0)
    }

    fn get_mut(&mut self, number: u16) -> Option<&mut Epoch<K>> {
        (number == PROTECTED).then_some(&mut self.0)
    }

    fn sending(&self) -> u16 {
        PROTECTED
    }

    fn carries_data(&self, _: u16) -> bool {
        true
    }
}
