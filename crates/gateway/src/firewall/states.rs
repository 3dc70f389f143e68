//! The flows that a firewall has let through.

use sixlock_base::{Instant, Slot};
use sixlock_interface::ipsec::Flow as Ends;

use super::decision::Decision;
use crate::flows::IDLE;

#[derive(Clone, Copy)]
struct State {
    ends: Ends,
    used: Instant,
    /// What has let its first packet through.
    by: Decision,
}

/// At most `N` of them.
pub(super) struct States<const N: usize> {
    states: [Slot<State>; N],
    evicted: u32,
}

impl<const N: usize> States<N> {
    pub(super) const NEW: Self = Self { states: [Slot::Empty; N], evicted: 0 };

    /// How many that were not idle have given way.
    pub(super) fn evicted(&self) -> u32 {
        self.evicted
    }

    /// What has let the flow between these ends through, if it is not idle; it is used now.
    pub(super) fn find(&mut self, now: Instant, ends: &Ends) -> Option<Decision> {
        let mut found = None;
        for place in &mut self.states {
            match place {
                // It is looked at with each packet, so that none is found after the clock has wrapped.
                Slot::Full(state) if is_idle(state, now) => *place = Slot::Empty,
                Slot::Full(state) if state.ends == *ends => {
                    state.used = now;
                    found = Some(state.by);
                }
                _ => {}
            }
        }
        found
    }

    /// Adds a flow that is not there.
    pub(super) fn insert(&mut self, now: Instant, ends: Ends, by: Decision) {
        let idle = |place: &Slot<State>| place.get().map(|state| now.since(state.used).millis());
        let free = self.states.iter().position(|place| place.get().is_none_or(|state| is_idle(state, now)));
        let Some(place) = free.or_else(|| (0..N).max_by_key(|&place| idle(&self.states[place]))) else {
            return;
        };
        if free.is_none() {
            self.evicted = self.evicted.wrapping_add(1);
        }
        self.states[place] = Slot::Full(State { ends, used: now, by });
    }
}

fn is_idle(state: &State, now: Instant) -> bool {
    now.since(state.used).millis() >= IDLE.millis()
}
