//! How much is simulated.

use std::time::{Duration, Instant};

use crate::choice::Modes;

/// How much is simulated.
#[derive(Clone, Debug)]
pub struct Limits {
    /// After how long no other run begins.
    pub time: Duration,
    /// The first seed.
    pub first_seed: u64,
    /// Seeds that an option has before it can fall.
    pub least_seeds: u32,
    /// Readings of each node, over these seeds.
    pub readings: u32,
    /// Seeds that an option has which does not fall.
    pub most_seeds: u32,
    /// Which security modes are tried.
    pub modes: Modes,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(600),
            first_seed: 1,
            least_seeds: 5,
            readings: 200,
            most_seeds: 10,
            modes: Modes::Usual,
        }
    }
}

/// When no other run begins any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    begun: Instant,
    time: Duration,
}

impl Deadline {
    /// So long after now.
    pub(crate) fn after(time: Duration) -> Self {
        Self { begun: Instant::now(), time }
    }

    /// Whether that is over.
    pub(crate) fn is_over(self) -> bool {
        self.begun.elapsed() >= self.time
    }
}
