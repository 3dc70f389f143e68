use sixlock_base::{Duration, Entropy, Instant};

/// A point `millis` milliseconds after `now` and up to 2^`spread` more, so that not all nodes speak at once.
#[inline(never)]
pub(super) fn after<E: Entropy>(now: Instant, entropy: &mut E, millis: u32, spread: u8) -> Instant {
    now + Duration::from_millis(millis + (entropy.next_u32() & ((1 << spread) - 1)))
}
