//! Storage of a device whose power may fail at each write, in the middle of it, too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_base::{Entropy, Nv, NvError, NvSlot};
use sixlock_nv::{COUNTERS, DurableCounters, Memory};

use crate::random::{Probability, Stream};

/// What outlasts the power.
struct Cells {
    bytes: [u8; COUNTERS],
    fails: Probability,
    stream: Stream,
    has_failed: bool,
}

/// A device's storage, and its power.
#[derive(Clone)]
pub(crate) struct Storage(Arc<Mutex<Cells>>);

impl Storage {
    /// Empty storage at each write to which the power `fails` so likely.
    pub(crate) fn new(fails: Probability, stream: Stream) -> Self {
        let cells = Cells { bytes: [0xff; COUNTERS], fails, stream, has_failed: false };
        Self(Arc::new(Mutex::new(cells)))
    }

    fn cells(&self) -> MutexGuard<'_, Cells> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the power has failed since [`Storage::restore`] was last called.
    pub(crate) fn has_failed(&self) -> bool {
        self.cells().has_failed
    }

    /// The power is there again.
    pub(crate) fn restore(&self) {
        self.cells().has_failed = false;
    }

    /// The power fails no more from now on.
    pub(crate) fn steady(&self) {
        self.cells().fails = Probability::NEVER;
    }
}

impl Memory for Storage {
    fn read<const N: usize>(&mut self, address: u16) -> [u8; N] {
        let cells = self.cells();
        cells
            .bytes
            .get(usize::from(address)..)
            .and_then(|bytes| bytes.first_chunk())
            .copied()
            .unwrap_or([0; N])
    }

    fn write<const N: usize>(&mut self, address: u16, bytes: &[u8; N]) {
        let mut cells = self.cells();
        let Cells { bytes: all, fails, stream, has_failed } = &mut *cells;
        let Some(place) = all.get_mut(usize::from(address)..).and_then(|place| place.get_mut(..N)) else {
            return;
        };
        if *has_failed {
            return;
        }
        if !fails.happens(stream) {
            return place.copy_from_slice(bytes);
        }
        *has_failed = true;
        // Before the write, after it, or anywhere in it.
        let how = stream.below(3);
        for (old, new) in place.iter_mut().zip(bytes) {
            match (how, stream.below(3)) {
                (0, _) | (2, 0) => {}
                (1, _) | (2, 1) => *old = *new,
                _ => *old = stream.next_u32() as u8,
            }
        }
    }
}

impl Nv for Storage {
    /// What the power fails for is not handed out: the device is off by then.
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        let reserved = DurableCounters(self.clone()).reserve(slot, count);
        if self.has_failed() { Err(NvError::Storage) } else { reserved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn no_counter_is_handed_out_twice_however_often_the_power_fails() {
        let stream = Stream::new(1, 1, Purpose::Power);
        let mut storage = Storage::new(Probability::new(0.5).unwrap(), stream);
        let (mut next, mut failures) = (0, 0);
        for _ in 0..1000 {
            match storage.reserve(NvSlot::IpsecSequence, 3) {
                Ok(first) => {
                    assert!(first >= next);
                    next = first + 3;
                }
                Err(_) => {
                    assert!(storage.has_failed());
                    assert!(storage.reserve(NvSlot::IpsecSequence, 3).is_err(), "it is off");
                    storage.restore();
                    failures += 1;
                }
            }
        }
        assert!((400..600).contains(&failures), "{failures} of 1000");
        storage.steady();
        assert!((0..100).all(|_| storage.reserve(NvSlot::LinkFrameCounter, 3).is_ok()));
    }
}
