//! What machines are lent: the same in every run.

use sixlock_base::{Counters, Cx, Duration, Entropy, Instant, Nv, NvError, NvSlot};
use sixlock_crypto::Soft;

/// A machine's surroundings.
pub(crate) struct Place {
    pub(crate) now: Instant,
    crypto: Soft,
    noise: Noise,
    nv: Counting,
    pub(crate) counters: Counters,
}

/// Numbers from a xorshift generator.
pub(crate) struct Noise(u32);

/// Counter ranges, one behind the other.
pub(crate) struct Counting(u32);

impl Place {
    /// A place where everything follows from `seed`.
    pub(crate) fn new(seed: u32) -> Self {
        Self {
            now: Instant::from_millis(0),
            crypto: Soft,
            noise: Noise(seed.wrapping_mul(0x9e37_79b9) | 1),
            nv: Counting(0),
            counters: Counters::new(),
        }
    }

    pub(crate) fn cx(&mut self) -> Cx<'_, Soft, Noise, Counting> {
        let Self { now, crypto, noise, nv, counters } = self;
        Cx { now: *now, crypto, entropy: noise, nv, counters }
    }

    /// Lets `millis` milliseconds pass.
    pub(crate) fn pass(&mut self, millis: u32) {
        self.now = self.now + Duration::from_millis(millis);
    }
}

impl Entropy for Noise {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill_with(|| {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            (self.0 >> 11) as u8
        });
    }
}

impl Nv for Counting {
    fn reserve(&mut self, _: NvSlot, count: u32) -> Result<u32, NvError> {
        let first = self.0;
        self.0 = first.checked_add(count).ok_or(NvError::Exhausted)?;
        Ok(first)
    }
}
