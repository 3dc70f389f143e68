use sixlock_base::{Duration, Instant};

/// The first point of the schedule after `now`. A device that was held up does not catch up, and keeps to its schedule: points
/// that have passed are left out, one by one, as there need not be a division.
pub(crate) fn next_after(mut due: Instant, period: Duration, now: Instant) -> Instant {
    let period = Duration::from_millis(period.millis().max(1));
    while now.since(due) >= period {
        due = due + period;
    }
    due + period
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_held_up_goes_on_with_the_schedule() {
        let at = Instant::from_millis;
        let next = |now| next_after(at(u32::MAX - 9), Duration::from_millis(20), at(now));
        assert_eq!(next(u32::MAX - 9), at(10), "at once");
        assert_eq!(next(9), at(10));
        assert_eq!(next(10), at(30), "the one that is due now is taken");
        assert_eq!(next(75), at(90), "those before it are left out");
        assert_eq!(
            next_after(at(5), Duration::from_millis(0), at(7)),
            at(8),
            "as often as the clock can tell"
        );
    }
}
