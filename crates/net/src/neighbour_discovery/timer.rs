use sixlock_base::{Duration, Entropy, Instant};

/// A point `millis` milliseconds after `now` and up to 2^`spread` more, so that not all nodes speak at once.
pub(super) fn after<E: Entropy>(now: Instant, entropy: &mut E, millis: u32, spread: u8) -> Instant {
    now + Duration::from_millis(millis + (entropy.next_u32() & ((1 << spread) - 1)))
}

/// Whether `due` is now or past; if so, it is taken away.
pub(super) fn take_due(due: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = due.is_some_and(|due| now.has_reached(due));
    if is_due {
        *due = None;
    }
    is_due
}
