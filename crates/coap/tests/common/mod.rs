//! A place for machines to run in: virtual time, entropy from a seed, counters.

use sixlock_base::{Counter, Counters, Cx, Duration, Entropy, Instant};

/// A small generator (xorshift); tests need variety and repeatability of it, nothing else.
pub(crate) struct Seeded(pub(crate) u32);

impl Entropy for Seeded {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            *byte = (self.0 >> 8) as u8;
        }
    }
}

pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) entropy: Seeded,
    pub(crate) counters: Counters,
    nothing: ((), ()),
}

impl World {
    pub(crate) fn new(seed: u32) -> Self {
        // Close to the wrap of time, which must not matter.
        let now = Instant::from_millis(u32::MAX - 3_000);
        Self { now, entropy: Seeded(seed | 1), counters: Counters::new(), nothing: ((), ()) }
    }

    pub(crate) fn cx(&mut self) -> Cx<'_, (), Seeded, ()> {
        let (crypto, nv) = (&mut self.nothing.0, &mut self.nothing.1);
        Cx { now: self.now, crypto, entropy: &mut self.entropy, nv, counters: &mut self.counters }
    }

    pub(crate) fn pass(&mut self, millis: u32) {
        self.now = self.now + Duration::from_millis(millis);
    }

    pub(crate) fn count(&self, counter: Counter) -> u32 {
        self.counters.get(counter)
    }
}
