use sixlock_base::{Array, Eui64, New, Symbols};

use crate::contikimac::Times;

/// When a neighbour wakes up.
#[derive(Clone, Copy)]
pub struct Phase {
    neighbour: Eui64,
    /// When the copy began that it acknowledged last.
    acknowledged: Symbols,
    /// Since when none is acknowledged, if there were any.
    missed: Symbols,
    misses: u8,
}

impl New for Phase {
    const NEW: Self =
        Self { neighbour: Eui64([0; 8]), acknowledged: Symbols::new(0), missed: Symbols::new(0), misses: 0 };
}

/// When neighbours wake up: the last sent to first. When it is full, a new one takes the place of the last.
pub(crate) struct Phases<A> {
    entries: A,
    len: u8,
}

impl<A: Array<Phase>> Phases<A> {
    pub(crate) const fn new() -> Self {
        const { assert!(A::LEN <= u8::MAX as usize, "there are 255 phases at most") };
        Self { entries: A::NEW, len: 0 }
    }

    fn position(&self, neighbour: Eui64) -> Option<usize> {
        let known = self.entries.as_ref().get(..self.len.into())?;
        known.iter().position(|phase| phase.neighbour == neighbour)
    }

    /// How long from `at` to the next time when copies for `neighbour` should begin to be prepared, a guard before it wakes up.
    pub(crate) fn wait(&self, neighbour: Eui64, at: Symbols, times: &Times) -> Option<u32> {
        let phase = self.entries.as_ref().get(self.position(neighbour)?)?;
        let passed = at.after(times.guard).count().wrapping_sub(phase.acknowledged.count());
        // Half of what the clock counts: more is no difference.
        let into = passed.checked_rem(times.cycle).filter(|_| passed < 1 << 31)?;
        Some(if into == 0 { 0 } else { times.cycle - into })
    }

    /// `neighbour` has acknowledged the copy that began at `began`.
    pub(crate) fn acknowledged(&mut self, neighbour: Eui64, began: Symbols) {
        let place = match self.position(neighbour) {
            Some(place) => place,
            None => {
                self.len = self.len.saturating_add(1).min(A::LEN as u8);
                self.entries.make_room(self.len.into());
                usize::from(self.len).saturating_sub(1)
            }
        };
        let entries = self.entries.as_mut();
        if place < entries.len() {
            entries.copy_within(..place, 1);
            entries[0] = Phase { neighbour, acknowledged: began, ..Phase::NEW };
        }
    }

    /// It has not, at `at`: forgotten after so many times, or so long.
    pub(crate) fn missed(&mut self, neighbour: Eui64, at: Symbols, times: &Times) {
        let Some(place) = self.position(neighbour) else { return };
        let entries = self.entries.as_mut();
        let phase = &mut entries[place];
        if phase.misses == 0 {
            phase.missed = at;
        }
        phase.misses = phase.misses.saturating_add(1);
        if phase.misses >= times.misses || at.count().wrapping_sub(phase.missed.count()) > times.forgotten {
            entries.copy_within(place + 1..self.len.into(), place);
            self.len -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times::CONTIKI_2_7;

    fn node(id: u32) -> Eui64 {
        Eui64::of_node(id)
    }

    #[test]
    fn copies_begin_a_guard_before_a_neighbour_wakes_up() {
        let mut phases = Phases::<[Phase; 2]>::new();
        let began = Symbols::new(u32::MAX - 2000);
        phases.acknowledged(node(1), began);
        for cycles in [1, 2, 100_000] {
            let wakes = began.after(cycles * TIMES.cycle);
            for (before, wait) in [(TIMES.guard, 0), (TIMES.guard + 7, 7), (TIMES.guard - 1, TIMES.cycle - 1)]
            {
                let at = Symbols::new(wakes.count().wrapping_sub(before));
                assert_eq!(phases.wait(node(1), at, &TIMES), Some(wait), "{cycles} {before}");
            }
        }
        assert_eq!(phases.wait(node(2), began, &TIMES), None);
        assert_eq!(phases.wait(node(1), began.after(1 << 31), &TIMES), None, "too long ago to tell");
    }

    #[test]
    fn a_phase_is_forgotten_after_16_misses_or_30_seconds_after_the_first() {
        let mut phases = Phases::<[Phase; 3]>::new();
        let at = Symbols::new(7);
        for id in 1..=3 {
            phases.acknowledged(node(id), at);
        }
        let known = |phases: &Phases<_>| [1, 2, 3].map(|id| phases.wait(node(id), at, &TIMES).is_some());
        for _ in 0..15 {
            phases.missed(node(2), at, &TIMES);
        }
        phases.missed(node(1), at, &TIMES);
        phases.missed(node(1), at.after(TIMES.forgotten), &TIMES);
        assert_eq!(known(&phases), [true; 3]);
        phases.missed(node(2), at, &TIMES);
        assert_eq!(known(&phases), [true, false, true]);
        phases.missed(node(1), at.after(TIMES.forgotten + 1), &TIMES);
        assert_eq!(known(&phases), [false, false, true]);
    }

    #[test]
    fn the_neighbour_not_sent_to_for_longest_is_forgotten_first() {
        let mut phases = Phases::<[Phase; 2]>::new();
        for id in [1, 2, 1, 3] {
            phases.acknowledged(node(id), Symbols::new(0));
        }
        let at = Symbols::new(0);
        assert_eq!([1, 2, 3].map(|id| phases.wait(node(id), at, &TIMES).is_some()), [true, false, true]);
        let mut none = Phases::<[Phase; 0]>::new();
        none.acknowledged(node(1), at);
        assert_eq!(none.wait(node(1), at, &TIMES), None);
    }
}
