//! What happens to stations by the scenario: they reboot, move, die and join.

use crate::event_log::Logged;
use crate::events::{Owner, ScheduledEvent};
use crate::random::{Purpose, Stream};
use crate::scenario::{ScenarioEvent, ScenarioEventKind};
use crate::time::{Span, Time};

use super::Simulation;

/// How long a reboot takes.
const REBOOT: Span = Span::from_secs(1);

impl Simulation {
    /// Schedules what the scenario says. Who joins later is off until then.
    pub(super) fn schedule_scenario(&mut self) {
        for (number, event) in (0..).zip(self.deployment.scenario.events.clone()) {
            if event.kind == ScenarioEventKind::Join {
                self.switch_off(event.node, None);
            }
            self.events.push(Time::ZERO + event.at, Owner::Schedule, ScheduledEvent::Scenario(number));
        }
    }

    /// The event of this number in the scenario happens.
    pub(super) fn scenario_event(&mut self, number: u32) {
        let ScenarioEvent { node, kind, .. } = self.deployment.scenario.events[number as usize];
        match kind {
            ScenarioEventKind::Reboot => {
                // Devices count whole milliseconds.
                let back = Time::ZERO + Span::from_millis(self.now.micros() / 1000) + REBOOT;
                self.switch_off(node, Some(back));
            }
            ScenarioEventKind::Die => self.switch_off(node, None),
            ScenarioEventKind::Join => self.switch_on(node),
            ScenarioEventKind::Move { x, y } => {
                let scenario = &self.deployment.scenario;
                let mut stream = Stream::new(scenario.seed, node, Purpose::Move { event: number });
                let (links, layout) = (scenario.radio.links(), &mut self.deployment.layout);
                layout.move_to(node, (x, y), &links, (scenario.seed, &mut stream));
                let positions = self.deployment.positions(&self.attackers);
                self.medium.relocate(node, &positions, &self.deployment.layout.deaf, self.now);
                self.recorder.event(self.now, node, Logged::Moved { x, y });
            }
        }
    }
}
