//! What machines are lent.

use sixlock_base::{Counter, Counters, Cx, Duration, Instant};
use sixlock_crypto::Soft;

use crate::{Random, Ranges};

/// What a machine is lent in a test: the time, which stands still until the test moves it, the crypto provider `C`, the entropy
/// `E`, counter ranges and counters.
#[derive(Clone, Debug)]
pub struct Rig<C = Soft, E = Random> {
    /// The time.
    pub now: Instant,
    /// The crypto provider.
    pub crypto: C,
    /// The source of random bytes.
    pub entropy: E,
    /// The counter ranges: to reboot a machine, the test makes it anew and keeps its rig.
    pub nv: Ranges,
    /// The event counters.
    pub counters: Counters,
}

impl Rig {
    /// A rig at time 0 whose entropy follows from `seed`.
    pub fn seeded(seed: u32) -> Self {
        Self::new(Soft, Random::new(seed))
    }

    /// The same, for machines that draw no nonce: no range can be reserved.
    pub fn without_ranges(seed: u32) -> Self {
        Self { nv: Ranges::failed(), ..Self::seeded(seed) }
    }

    /// A seeded rig, three seconds before the time wraps, which must not matter.
    pub fn near_wrap(seed: u32) -> Self {
        Self { now: Instant::from_millis(u32::MAX - 3_000), ..Self::seeded(seed) }
    }
}

impl<C, E> Rig<C, E> {
    /// A rig at time 0.
    pub fn new(crypto: C, entropy: E) -> Self {
        Self {
            now: Instant::from_millis(0),
            crypto,
            entropy,
            nv: Ranges::default(),
            counters: Counters::new(),
        }
    }

    /// Lends all of it.
    pub fn cx(&mut self) -> Cx<'_, C, E, Ranges> {
        let Self { now, crypto, entropy, nv, counters } = self;
        Cx { now: *now, crypto, entropy, nv, counters }
    }

    /// Sets the time to `now` and lends all of it.
    pub fn at(&mut self, now: Instant) -> Cx<'_, C, E, Ranges> {
        self.now = now;
        self.cx()
    }

    /// Lets `millis` milliseconds pass.
    pub fn pass(&mut self, millis: u32) {
        self.now = self.now + Duration::from_millis(millis);
    }

    /// What `counter` stands at.
    pub fn count(&self, counter: Counter) -> u32 {
        self.counters.get(counter)
    }
}
