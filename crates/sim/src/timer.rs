//! Timers of machines that say anew each time when they are to be woken.

use crate::time::Time;

/// A timer whose events in the queue are never taken out: an event counts only when it is the one
/// scheduled last, and one that comes too early sets the timer anew.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timer {
    wanted: Option<Time>,
    scheduled: Option<Time>,
}

impl Timer {
    /// Sets the timer; returns when to schedule an event for it, if none is early enough.
    pub(crate) fn set(&mut self, wanted: Option<Time>) -> Option<Time> {
        self.wanted = wanted;
        let wanted = wanted?;
        if self.scheduled.is_some_and(|scheduled| scheduled <= wanted) {
            return None;
        }
        self.scheduled = Some(wanted);
        Some(wanted)
    }

    /// Sets the timer to what it was last set to, unless that has passed: an event that came too early may have been
    /// its only one. Returns when to schedule an event for it, as [`Timer::set`] does.
    pub(crate) fn set_again(&mut self, now: Time) -> Option<Time> {
        match self.wanted {
            Some(wanted) if wanted > now => self.set(Some(wanted)),
            _ => None,
        }
    }

    /// An event of this timer comes: whether the timer's time has come.
    pub(crate) fn fires(&mut self, now: Time) -> bool {
        if self.scheduled != Some(now) {
            return false;
        }
        self.scheduled = None;
        self.wanted.is_some_and(|wanted| wanted <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn a_timer_fires_once_at_the_time_it_was_last_set_to() {
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let mut timer = Timer::default();
        assert_eq!(timer.set(Some(at(50))), Some(at(50)));
        assert_eq!(timer.set(Some(at(20))), Some(at(20)), "earlier: a new event");
        assert_eq!(timer.set(Some(at(70))), None, "later: the event at 20 will see to it");
        assert!(!timer.fires(at(20)));
        assert_eq!(timer.set_again(at(20)), Some(at(70)), "it came too early");
        assert_eq!(timer.set_again(at(20)), None, "once");
        assert_eq!(timer.set_again(at(70)), None, "no event for what is over");
        assert!(!timer.fires(at(50)), "an event left over");
        assert!(timer.fires(at(70)));
        assert_eq!(timer.set(None), None);
        assert!(!timer.fires(at(70)));
    }
}
