//! What a native machine is lent beside an emulated one.

use sixlock_base::{Counters, Cx, Entropy, Instant, Nv, NvError, NvSlot};
use sixlock_crypto::Soft;

/// The same noise in every run.
pub(crate) struct Noise(pub(crate) u8);

impl Entropy for Noise {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill_with(|| {
            self.0 = self.0.wrapping_mul(5).wrapping_add(1);
            self.0
        });
    }
}

struct Counting(u32);

impl Nv for Counting {
    fn reserve(&mut self, _: NvSlot, count: u32) -> Result<u32, NvError> {
        self.0 += count;
        Ok(self.0 - count)
    }
}

/// What it is lent.
pub(crate) struct Place {
    crypto: Soft,
    entropy: Noise,
    nv: Counting,
    counters: Counters,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { crypto: Soft, entropy: Noise(7), nv: Counting(0), counters: Counters::new() }
    }

    pub(crate) fn cx(&mut self, now: Instant) -> Cx<'_, Soft, Noise, impl Nv> {
        let Self { crypto, entropy, nv, counters } = self;
        Cx { now, crypto, entropy, nv, counters }
    }
}
