//! What timers are made of.

use sixlock_base::{Duration, Entropy, Instant};

/// The longest time that is waited: wrapping time tells before from after within twice as much.
const LONGEST: u32 = 1 << 30;

/// `seconds` in milliseconds, at most [`LONGEST`].
pub(crate) fn millis(seconds: u32) -> u32 {
    if seconds < LONGEST / 1000 { seconds * 1000 } else { LONGEST }
}

/// A point in the second half of the `millis` milliseconds after `now`, so that not all nodes speak at once.
#[inline(never)]
pub(crate) fn within<E: Entropy>(now: Instant, entropy: &mut E, millis: u32) -> Instant {
    let half = millis / 2;
    // The greatest power of two that is no more than half of it is drawn from by its bits alone.
    let mut mask = 0;
    while (mask << 1 | 1) < half {
        mask = mask << 1 | 1;
    }
    now + Duration::from_millis(millis - half + (entropy.next_u32() & mask))
}
