//! Attackers in a simulation: what they send and hear, what captured nodes drop, and what came of it.

use sixlock_node::RadioMachine;

use crate::attack::{Attacker, Attackers};
use crate::captured::Dropping;
use crate::event_log::Logged;
use crate::events::{Owner, ScheduledEvent};
use crate::measured;
use crate::medium::Medium;
use crate::network::CHANNELS;
use crate::scenario::{Attack, AttackKind, AttackedFrom, Listen};
use crate::station::Machine;
use crate::statistics::{AttackReport, TravelReport};
use crate::time::Time;

use super::deployment::Deployment;
use super::{Air, Simulation};

/// The medium with the stations of a network and, behind them, the antennas of its attackers.
pub(super) fn medium(deployment: &Deployment, attackers: &Attackers) -> Medium {
    let (scenario, layout) = (&deployment.scenario, &deployment.layout);
    let positions = deployment.positions(attackers);
    let mut medium = Medium::new(scenario.seed, &positions, &layout.deaf, &scenario.radio);
    if let Listen::Tsch { .. } = scenario.listen {
        medium.hop(CHANNELS);
    }
    for ((_, range), id) in attackers.places().zip(layout.len() as u32..) {
        if let Some(range) = range {
            medium.reach(id, range, &positions, &layout.deaf);
        }
    }
    medium
}

impl Simulation {
    /// Schedules what attackers do first, and when captured nodes begin to drop and cease to.
    pub(super) fn schedule_attacks(&mut self) {
        for (number, attack) in (0..).zip(self.deployment.scenario.attacks.clone()) {
            for time in [Some(attack.start), attack.end].into_iter().flatten() {
                self.events.push(Time::ZERO + time, Owner::Schedule, ScheduledEvent::AttackTurns(number));
            }
        }
        self.wake_attackers();
    }

    fn wake_attackers(&mut self) {
        for (time, index) in self.attackers.poll_timers() {
            self.events.push(time, Owner::Schedule, ScheduledEvent::Attack(index));
        }
    }

    /// Something is due at an attacker.
    pub(super) fn attack_is_due(&mut self, index: u32) {
        for antenna in self.attackers.handle_timer(index, self.now, &self.medium) {
            self.begin_transmission(antenna);
        }
        self.wake_attackers();
    }

    /// The attack of this number begins or ends.
    pub(super) fn attack_turns(&mut self, number: u32) {
        let Attack { kind, end, by, .. } = self.deployment.scenario.attacks[number as usize];
        let ends = end.is_some_and(|end| Time::ZERO + end <= self.now);
        let Some((_, id)) = self.attackers.iter().nth(number as usize) else { return };
        let what = if ends { Logged::AttackEnds {} } else { Logged::Attack { kind: kind.name() } };
        self.recorder.event(self.now, id, what);
        if let AttackedFrom::Node(node) = by {
            self.capture(node);
        }
    }

    /// Lets a captured node drop what its attacker wants it to now.
    pub(super) fn capture(&mut self, id: u32) {
        let seed = self.deployment.scenario.seed;
        let active = self.attackers.iter().filter(|(attacker, _)| attacker.is_at_it(self.now));
        let of_node = active.filter(|(attacker, _)| attacker.attack.by == AttackedFrom::Node(id));
        let dropping = of_node.filter_map(|(attacker, by)| match attacker.attack.kind {
            AttackKind::BlackHole => Some(Dropping::all(seed, id, by)),
            AttackKind::SelectiveForwarding { share } => Some(Dropping::some(seed, id, by, share)),
            _ => None,
        });
        let drops = dropping.last().map(Box::new);
        if let Machine::Node(node) = &mut self.stations[id as usize].machine {
            node.interface().routing().drops = drops;
        }
    }

    /// Notes what a station has dropped for who has captured it, since this was last called.
    pub(super) fn note_dropped(&mut self, id: u32) {
        if self.attackers.is_empty() {
            return;
        }
        if let Machine::Node(node) = &mut self.stations[id as usize].machine
            && let Some(drops) = &mut node.interface().routing().drops
        {
            let (attacker, dropped) = drops.take_dropped();
            self.attackers.note_dropped(attacker, dropped);
        }
    }

    /// A station receives the frame of `source`: if it is for a sink-hole, which this is, a reading in it goes no further.
    pub(super) fn swallow(&mut self, source: u32, receiver: u32) {
        let carries = self.air[source as usize].carries.filter(|(to, _)| *to == receiver);
        if let Some((_, author)) = carries
            && let Some(node) = self.nodes.get((author as usize).wrapping_sub(1))
            && let Some(reading) = node.readings.latest_number()
        {
            self.attackers.swallow(receiver, self.now, author, reading);
        }
    }

    /// An antenna hears a frame; whether the receiver is one.
    pub(super) fn is_overheard(&mut self, receiver: u32, frame: &[u8]) -> bool {
        let is_antenna = self.attackers.on_air(receiver).is_some();
        if is_antenna {
            self.attackers.hear(receiver, self.now, frame);
            self.wake_attackers();
        }
        is_antenna
    }

    /// Whether a reading that the far end has accepted is what the node measured last; it is noted if not. Where nobody attacks, it is.
    pub(super) fn is_true(&mut self, id: u32, payload: &[u8]) -> bool {
        if self.attackers.is_empty() {
            return true;
        }
        let node = &mut self.nodes[id as usize - 1];
        let is_of = |time| measured::is_of(node.environment.at(time), payload);
        let is_true = match self.deployment.scenario.traffic.confirmable {
            true => node.readings.latest_begun().is_some_and(is_of),
            false => node.readings.all_begun().any(is_of),
        };
        if !is_true {
            self.note_false(id);
        }
        is_true
    }

    /// The far end has accepted a reading in a node's name that it did not send, or had sent before.
    pub(super) fn note_false(&mut self, id: u32) {
        self.nodes[id as usize - 1].false_readings += 1;
        self.recorder.event(self.now, id, Logged::False {});
    }

    /// What was seen of the attackers.
    pub(super) fn attack_reports(&self) -> Vec<AttackReport> {
        let report = |(attacker, id): (&Attacker, u32)| {
            let antennas = (id..).take(attacker.antennas());
            let sum = |field: fn(&Air) -> u32| antennas.clone().map(|id| field(&self.air[id as usize])).sum();
            let travels = self.trail.travels(id);
            let packets = travels.packets + attacker.guessed();
            let has_packets = attacker.has_packets() && packets > 0;
            AttackReport {
                id,
                kind: attacker.attack.kind.name(),
                frames: sum(|air| air.frames),
                bytes: sum(|air| air.bytes),
                travels: has_packets.then(|| TravelReport {
                    packets,
                    mean_hops: f64::from(travels.hops) / f64::from(packets),
                    most_hops: travels.most,
                }),
                dropped: attacker.dropped(),
                swallowed: attacker.swallowed(),
            }
        };
        self.attackers.iter().map(report).collect()
    }
}
