//! Moments by chance, which a seed repeats.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A small generator (SplitMix64): a seed gives the same numbers again.
pub struct Random(u64);

impl Random {
    /// Begins with the seed in the environment's `SIXLOCK_SEED`, or with another each time; prints which.
    ///
    /// # Panics
    /// When that is no number.
    pub fn seeded() -> Self {
        let seed = variable("SIXLOCK_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
        println!("SIXLOCK_SEED={seed}");
        Self(seed)
    }

    /// Begins with `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// The number in the environment's variable `name`, if it is set.
///
/// # Panics
/// When it is no number.
pub fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}
