//! A trial of a network: it is disturbed and attacked, its power fails, and what must hold all the same is checked.

mod action;
mod attacker;
mod invariants;
mod plan;
mod power;
mod witness;

use std::collections::{BTreeMap, VecDeque};

use sixlock_base::LinkSuite;

use crate::outbound::Outbound;
use crate::random::{Purpose, Stream};
use crate::time::{Span, Time};
use crate::timer::Timer;

pub(crate) use action::Action;
pub(crate) use attacker::Attacker;
pub use invariants::{Breach, Invariant};
pub(crate) use invariants::{Guarantees, Invariants};
pub(crate) use plan::{Attack, Disturbance, Plan, Reach};
pub(crate) use power::Storage;
pub(crate) use witness::{Use, Witness, fingerprint};

/// A trial under way.
pub(crate) struct Trial {
    pub(crate) plan: Plan,
    pub(crate) attacker: Option<Attacker>,
    pub(crate) invariants: Invariants,
    /// By station.
    pub(crate) storages: Vec<Storage>,
    /// Datagrams that have arrived at the far end, which has not yet taken them.
    pub(crate) arrived: VecDeque<Outbound>,
    stream: Stream,
    due: BTreeMap<(Time, u64), Action>,
    planned: u64,
    timer: Timer,
}

impl Trial {
    /// A trial of a network of so many stations, the border router included.
    pub(crate) fn new(
        seed: u64,
        plan: Plan,
        guarantees: Guarantees,
        link: Option<(LinkSuite, [u8; 16])>,
        stations: u32,
    ) -> Self {
        let stream = |station, purpose| Stream::new(seed, station, purpose);
        let attacker =
            plan.attack.map(|attack| Attacker::new(attack.reach, stream(0, Purpose::Attack), link, stations));
        let storage = |id| Storage::new(plan.power_fails, stream(id, Purpose::Power));
        let mut trial = Self {
            attacker,
            invariants: Invariants::new(seed, guarantees),
            storages: (0..stations).map(storage).collect(),
            arrived: VecDeque::new(),
            stream: stream(0, Purpose::Disturbance),
            due: BTreeMap::new(),
            planned: 0,
            timer: Timer::default(),
            plan,
        };
        trial.plan(trial.plan.quiet, Action::Quiet);
        for (time, id) in trial.plan.power_cuts.clone() {
            trial.plan(time, Action::PowerFails(id));
        }
        for time in trial.plan.restarts.clone() {
            trial.plan(time, Action::FarEndRestarts);
        }
        if trial.attacker.is_some() {
            trial.plan_attack(Time::ZERO);
        }
        trial
    }

    /// The far end has accepted a reading in a node's name; its number, if it is one of the node's.
    pub(crate) fn accept(&mut self, now: Time, node: u32, payload: &[u8]) -> Option<u64> {
        self.invariants.accept(now, node, payload)
    }

    /// Has something done at a time.
    pub(crate) fn plan(&mut self, time: Time, action: Action) {
        self.due.insert((time, self.planned), action);
        self.planned += 1;
    }

    /// When something is due, if that is to be scheduled yet.
    pub(crate) fn poll_timer(&mut self) -> Option<Time> {
        self.timer.set(self.due.keys().next().map(|(time, _)| *time))
    }

    /// Whether something is due, if what was scheduled comes now.
    pub(crate) fn fires(&mut self, now: Time) -> bool {
        self.timer.fires(now)
    }

    /// What is due by now.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Action> {
        let entry = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    /// Has the attacker do something, until all is quiet.
    pub(crate) fn plan_attack(&mut self, now: Time) {
        let Some(attack) = self.plan.attack else { return };
        let next = now + self.span(attack.pause);
        if next < self.plan.quiet {
            self.plan(next, Action::Attack);
        }
    }

    fn span(&mut self, most: Span) -> Span {
        Span::from_micros(1 + self.stream.below(most.micros()))
    }

    /// How long a device is off: whole milliseconds, longer than a frame takes.
    pub(crate) fn outage(&mut self) -> Span {
        Span::from_millis(10 + self.stream.below(3000))
    }

    /// What becomes of something that arrives: when each copy does, and whether it is changed.
    fn copies(&mut self, now: Time, disturbance: Disturbance) -> Vec<(Span, bool)> {
        if now >= self.plan.quiet {
            return vec![(Span::ZERO, false)];
        }
        let Disturbance { lose, duplicate, delay, damage } = disturbance;
        let mut copies = Vec::new();
        if !lose.happens(&mut self.stream) {
            copies.push(delay.happens(&mut self.stream));
        }
        if duplicate.happens(&mut self.stream) {
            copies.push(self.stream.below(2) == 0);
        }
        let late = |trial: &mut Self, is_late| {
            let most = [Span::from_millis(2), Span::from_millis(50), Span::from_secs(3)];
            let most = most[trial.stream.below(3) as usize];
            let after = if is_late { trial.span(most) } else { Span::ZERO };
            (after, damage.happens(&mut trial.stream))
        };
        copies.into_iter().map(|is_late| late(self, is_late)).collect()
    }

    /// Changes up to three bits, which every frame check sequence tells.
    fn damage(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.stream.below(3) {
            let at = self.stream.below(bytes.len().max(1) as u64) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << self.stream.below(8);
            }
        }
    }

    /// The copies of a frame that arrive at a station, and when.
    pub(crate) fn frames(&mut self, now: Time, frame: &[u8]) -> Vec<(Span, Vec<u8>)> {
        let copies = self.copies(now, self.plan.frames);
        let copy = |(after, is_damaged)| {
            let mut copy = frame.to_vec();
            if is_damaged {
                self.damage(&mut copy);
            }
            (after, copy)
        };
        copies.into_iter().map(copy).collect()
    }

    /// The copies of a datagram's payload that arrive at its end, and when.
    pub(crate) fn datagrams(&mut self, now: Time, payload: &[u8]) -> Vec<(Span, Vec<u8>)> {
        let copies = self.copies(now, self.plan.datagrams);
        let copy = |(after, is_damaged)| {
            let mut copy = payload.to_vec();
            if is_damaged {
                self.damage(&mut copy);
            }
            (after, copy)
        };
        copies.into_iter().map(copy).collect()
    }
}
