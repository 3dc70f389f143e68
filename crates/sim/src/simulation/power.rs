//! How stations lose their power and have it again: what is not durable is forgotten.

use crate::event_log::Logged;
use crate::events::{Owner, ScheduledEvent};
use crate::far_end::RemoteHost;
use crate::power::Power;
use crate::readings::Skip;
use crate::scenario::TrafficKind;
use crate::time::Time;

use super::Simulation;
use super::start::open_flows;

impl Simulation {
    /// Whether a station has no power. Attackers never fail.
    pub(super) fn is_off(&self, id: u32) -> bool {
        self.power.get(id as usize).is_some_and(|power| power.is_off)
    }

    /// A station has no power from now on, until it `returns`: what it was about to do, it does not.
    pub(super) fn switch_off(&mut self, id: u32, returns: Option<Time>) {
        let power = &mut self.power[id as usize];
        let was_off = core::mem::replace(&mut power.is_off, true);
        power.returns = returns;
        if let Some(time) = returns {
            self.events.push(time, Owner::Schedule, ScheduledEvent::PowerReturns(id));
        }
        if was_off {
            return;
        }
        self.medium.assess(id, false, self.now);
        self.medium.listen(id, false, self.now);
        self.recorder.event(self.now, id, Logged::Off {});
        self.lose(id);
        let Some(node) = self.nodes.get_mut((id as usize).wrapping_sub(1)) else { return };
        node.is_connected = false;
        let is_under_way = node.handshakes.is_under_way();
        self.fail(id);
        if self.deployment.scenario.traffic.kind == TrafficKind::Report {
            while let Some(reading) = self.nodes[id as usize - 1].readings.oldest() {
                self.skip(id, reading, Skip::Off);
            }
        }
        if is_under_way {
            self.end_handshake(id, false);
        }
    }

    /// The power of a station returns, unless it went off again meanwhile.
    pub(super) fn power_returns(&mut self, id: u32) {
        if self.power[id as usize].returns == Some(self.now) {
            self.switch_on(id);
        }
    }

    /// A station that was off starts anew, with nothing but what is durable.
    pub(super) fn switch_on(&mut self, id: u32) {
        let now = self.now;
        let Power { boots, .. } = self.power[id as usize];
        let power = Power { is_off: false, returns: None, boots: boots + 1 };
        self.power[id as usize] = power;
        let node = self.nodes.get((id as usize).wrapping_sub(1));
        let first = node.and_then(|node| node.readings.next_due());
        let number = node.map_or(1, |node| node.readings.next_number());
        // It was made so before.
        let Ok(mut station) = self.deployment.station_again(id, now, power.boots, first, number) else {
            return;
        };
        let before = &mut self.stations[id as usize];
        station.nv = core::mem::take(&mut before.nv);
        station.meters = core::mem::take(&mut before.meters);
        for (counter, count) in before.counters.iter() {
            station.counters.add(counter, count);
        }
        *before = station;
        self.begin_slots(id);
        self.forest.attach(id, None);
        self.medium.listen(id, true, now);
        self.recorder.event(now, id, Logged::On {});
        self.try_again(id);
        self.start_routing(id);
        self.capture(id);
        if id == 0 && matches!(self.far, RemoteHost::Echo(_)) {
            open_flows(&self.deployment, &mut self.stations[0], now);
        }
        self.settle(id);
    }
}
