//! The changes of a component's state, until a timeline takes them.

use std::collections::VecDeque;

use crate::time::Time;

/// Changes of state, in the order of their times; nothing where no timeline is recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes<S>(Option<Box<Recorded<S>>>);

#[derive(Clone, Debug)]
struct Recorded<S> {
    /// The state before the first of them.
    before: Option<S>,
    changes: VecDeque<(Time, S)>,
}

impl<S: Copy + PartialEq> Changes<S> {
    /// Records changes from now on, when the simulation begins in `state`.
    pub(crate) fn record(&mut self, state: S) {
        let changes = VecDeque::from([(Time::ZERO, state)]);
        self.0 = Some(Box::new(Recorded { before: None, changes }));
    }

    /// The component is in `state` from `time` on, which is not before the last change. What lasts no time is no state.
    pub(crate) fn enter(&mut self, time: Time, state: S) {
        let Some(recorded) = &mut self.0 else { return };
        if recorded.changes.back().is_some_and(|(last, _)| *last == time) {
            recorded.changes.pop_back();
        }
        let before = recorded.changes.back().map(|(_, state)| *state).or(recorded.before);
        if before != Some(state) {
            recorded.changes.push_back((time, state));
        }
    }

    /// The changes before `now`, once; nothing may be entered at such a time any more.
    pub(crate) fn take(&mut self, now: Time) -> impl Iterator<Item = (Time, S)> {
        core::iter::from_fn(move || {
            let recorded = self.0.as_mut()?;
            let change = recorded.changes.pop_front_if(|(time, _)| *time < now)?;
            recorded.before = Some(change.1);
            Some(change)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn what_lasts_no_time_and_what_changes_nothing_is_not_recorded() {
        let mut changes = Changes::default();
        changes.enter(at(0), 'x');
        assert_eq!(changes.take(at(9)).count(), 0, "no timeline is recorded");
        changes.record('a');
        for (time, state) in [(0, 'b'), (5, 'c'), (5, 'b'), (6, 'c'), (6, 'd'), (8, 'd'), (9, 'e')] {
            changes.enter(at(time), state);
        }
        assert_eq!(changes.take(at(9)).collect::<Vec<_>>(), [(at(0), 'b'), (at(6), 'd')]);
        // What is not taken yet may still turn out to last no time.
        changes.enter(at(9), 'd');
        changes.enter(at(10), 'e');
        assert_eq!(changes.take(at(20)).collect::<Vec<_>>(), [(at(10), 'e')]);
    }
}
