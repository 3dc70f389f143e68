//! A simulation on trial: how it is disturbed, how its stations start anew, and how what must hold is looked after.

use sixlock_base::Counter;
use sixlock_gateway::FlowId;
use sixlock_node::RadioMachine;

use crate::events::{Owner, ScheduledEvent};
use crate::far_end::RemoteHost;
use crate::options::Options;
use crate::outbound::Outbound;
use crate::recorder::Sinks;
use crate::router_processor::Entering;
use crate::scenario::{Scenario, TrafficKind};
use crate::station::{Machine, Station};
use crate::statistics::NodeReport;
use crate::time::{Span, Time};
use crate::trial::{Action, Breach, Guarantees, Invariant, Plan, Trial, Witness};

use super::{Arriving, Simulation};

/// Events that are never due at once.
const AT_ONCE: u32 = 10_000;

impl Simulation {
    /// A simulation of `scenario` at its beginning, which goes through what `plan` says.
    ///
    /// # Errors
    /// Says why its nodes cannot stand so.
    pub(crate) fn on_trial(scenario: &Scenario, sinks: Sinks, plan: Plan) -> Result<Self, String> {
        let mut simulation = Self::build(scenario, Options { sinks, ..Options::default() }, plan.clocks)?;
        let link = scenario.security.link.zip(simulation.deployment.link_key().copied());
        let stations = simulation.stations.len() as u32;
        let guarantees = Guarantees::of(&plan, scenario);
        let trial = Trial::new(scenario.seed, plan, guarantees, link, stations);
        let witness = &trial.invariants.witness;
        for (station, storage) in simulation.stations.iter_mut().zip(&trial.storages) {
            if trial.plan.power_fails.happens_ever() {
                station.nv.outlasting = Some(Box::new(storage.clone()));
            }
            show(station, witness);
        }
        match &mut simulation.far {
            RemoteHost::Cloud(cloud) => cloud.show(witness.of_device()),
            RemoteHost::Echo(host) => host.show(witness.of_device()),
            RemoteHost::Outside => {}
        }
        for node in &mut simulation.nodes {
            node.readings.end(trial.plan.stop);
        }
        simulation.trial = Some(Box::new(trial));
        simulation.wake_for_trial();
        simulation.begin();
        Ok(simulation)
    }

    /// Runs to `end`, or until time does not go on.
    pub(crate) fn run_trial(&mut self, end: Time) {
        let mut at_once = 0;
        while let Some((time, owner, happening)) = self.events.pop_until(end) {
            at_once = if time > self.now { 0 } else { at_once + 1 };
            self.now = time;
            if let (AT_ONCE, Some(trial)) = (at_once, &mut self.trial) {
                let detail = format!("{at_once} events are due at once, the last is {happening:?}");
                return trial.invariants.breach(time, None, Invariant::TimeGoesOn, detail);
            }
            self.happen(owner, happening, end);
            self.keep_timeline();
        }
        self.now = self.now.max(end);
        self.end_timeline();
    }

    /// What does not hold, when the trial is over.
    pub(crate) fn breaches(&mut self) -> Vec<Breach> {
        let report = self.report();
        let Some(mut trial) = self.trial.take() else { return Vec::new() };
        let now = self.now;
        for node in &report.nodes {
            let NodeReport { id, due, delivered, failed, skipped, pending, .. } = *node;
            if due != delivered + failed + skipped + pending {
                let detail = format!(
                    "{due} were due, {delivered} delivered, {failed} failed, {skipped} skipped, {pending} are pending"
                );
                trial.invariants.breach(now, Some(id), Invariant::Accounted, detail);
            }
        }
        for (station, detail) in self.does_not_recover(&trial) {
            trial.invariants.breach(now, station, Invariant::Recovers, detail);
        }
        for station in &mut self.stations {
            let id = station.id;
            trial.invariants.well_formed(now, Some(id), &station.counters);
            trial.invariants.sent_often(now, id, &station.counters);
            for (pool, count) in station.occupied() {
                trial.invariants.empty_at_end(now, Some(id), pool, count);
            }
        }
        let sent_again =
            self.stations.iter().map(|station| station.counters.get(Counter::CoapRetransmissions)).sum();
        if let Some(counters) = self.far.counters() {
            trial.invariants.well_formed(now, None, counters);
            trial.invariants.come_again(now, counters.get(Counter::CoapDuplicates), sent_again);
        }
        for (pool, count) in self.far.occupied() {
            trial.invariants.empty_at_end(now, None, pool, count);
        }
        trial.invariants.breaches().to_vec()
    }

    /// Which stations do not recover, and how; none is named where it is the network that does not.
    ///
    /// Nobody repeats an echo, and two that meet on their way may both be lost. So at least one to each node is to arrive, and half of
    /// all. A report is sent again, and collides again, now and then, with that of a node that repeats it after the same time. Then the
    /// next is due before it has arrived, and is not begun: once to each node.
    fn does_not_recover(&self, trial: &Trial) -> Vec<(Option<u32>, String)> {
        let is_echo = matches!(self.deployment.scenario.traffic.kind, TrafficKind::Echo { .. });
        let (mut found, mut all, mut lost) = (Vec::new(), 0, 0);
        for (node, id) in self.nodes.iter().zip(1..) {
            let readings = &node.readings;
            let expected = |&(_, due): &(u64, Time)| trial.invariants.is_expected(&trial.plan, due);
            let due: Vec<u64> =
                readings.all_due().into_iter().filter(expected).map(|(number, _)| number).collect();
            let is_delivered = |number: &u64| trial.invariants.is_delivered(id, *number);
            let has_made_way = |number: &u64| trial.invariants.has_made_way(id, *number);
            let missing: Vec<u64> = due.iter().copied().filter(|number| !is_delivered(number)).collect();
            let is_missed = match is_echo {
                true => missing.len() == due.len() && !due.is_empty(),
                false => !matches!(missing[..], [] | [_]) || missing.iter().any(|n| !has_made_way(n)),
            };
            if is_missed {
                found.push((Some(id), format!("{missing:?} of {due:?} never arrived")));
            }
            (all, lost) = (all + due.len(), lost + missing.len());
        }
        if is_echo && 2 * lost > all {
            found.push((None, format!("{lost} of {all} echoes never arrived")));
        }
        found
    }

    /// Looks after a station to which something has happened; whether its power has failed.
    pub(super) fn look(&mut self, id: u32) -> bool {
        let is_off = self.is_off(id);
        let Some(trial) = &mut self.trial else { return is_off };
        trial.invariants.look(self.now, id);
        if !is_off && trial.storages[id as usize].has_failed() {
            self.fail_power(id);
        }
        self.is_off(id)
    }

    /// A frame that the medium lets a station receive.
    pub(super) fn arrive(&mut self, receiver: u32, frame: &mut [u8]) {
        if self.is_overheard(receiver, frame) {
            return;
        }
        let Some(trial) = &mut self.trial else { return self.receive(receiver, Arriving::Frame(frame)) };
        if let Some(attacker) = &mut trial.attacker {
            attacker.hear(receiver, frame);
        }
        for (after, mut copy) in trial.frames(self.now, frame) {
            match after {
                Span::ZERO => self.receive_on(receiver, &mut copy),
                after => self.plan(self.now + after, Action::Frame(receiver, copy)),
            }
        }
    }

    /// A station receives a frame, unless it is off.
    fn receive_on(&mut self, receiver: u32, frame: &mut [u8]) {
        if !self.is_off(receiver) {
            self.receive(receiver, Arriving::Frame(frame));
        }
    }

    /// The next datagram that reaches the far end.
    pub(super) fn next_upward(&mut self) -> Option<Outbound> {
        let Some(trial) = &mut self.trial else { return self.outbound.pop_front() };
        if let Some(arrived) = trial.arrived.pop_front() {
            return Some(arrived);
        }
        while let Some(datagram) = self.outbound.pop_front() {
            if let Some(attacker) = &mut trial.attacker {
                attacker.see_upward(&datagram);
            }
            for (after, payload) in trial.datagrams(self.now, &datagram.payload) {
                let copy = Outbound { payload, ..datagram.clone() };
                match after {
                    Span::ZERO => trial.arrived.push_back(copy),
                    after => trial.plan(self.now + after, Action::Upward(copy)),
                }
            }
        }
        let arrived = trial.arrived.pop_front();
        self.wake_for_trial();
        arrived
    }

    /// Sends a datagram of the far end to the border router. What that cannot send on is lost, as on any link.
    pub(super) fn send_downward(&mut self, router: u32, flow: FlowId, payload: &[u8]) {
        let Some(trial) = &mut self.trial else { return self.carry_downward(router, flow, payload) };
        if let Some(attacker) = &mut trial.attacker {
            attacker.see_downward(router, flow, payload);
        }
        for (after, copy) in trial.datagrams(self.now, payload) {
            match after {
                Span::ZERO => self.carry_downward(router, flow, &copy),
                after => self.plan(self.now + after, Action::Downward(router, flow, copy)),
            }
        }
    }

    fn carry_downward(&mut self, router: u32, flow: FlowId, payload: &[u8]) {
        let _ = self.enter(router, Entering::Datagram(flow, payload.to_vec()));
    }

    fn plan(&mut self, time: Time, action: Action) {
        if let Some(trial) = &mut self.trial {
            trial.plan(time, action);
        }
        self.wake_for_trial();
    }

    /// Schedules what is due next in the trial.
    fn wake_for_trial(&mut self) {
        let Some(trial) = &mut self.trial else { return };
        if let Some(time) = trial.poll_timer() {
            self.events.push(time, Owner::Schedule, ScheduledEvent::Trial);
        }
    }

    /// Something is due in the trial.
    pub(super) fn trial_is_due(&mut self) {
        let now = self.now;
        if !self.trial.as_mut().is_some_and(|trial| trial.fires(now)) {
            return;
        }
        while let Some(action) = self.trial.as_mut().and_then(|trial| trial.poll(now)) {
            self.act(action);
        }
        self.wake_for_trial();
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Frame(receiver, mut frame) => self.receive_on(receiver, &mut frame),
            Action::Upward(datagram) => {
                if let Some(trial) = &mut self.trial {
                    trial.arrived.push_back(datagram);
                }
                self.settle_far_end();
            }
            Action::Downward(router, flow, payload) => {
                self.carry_downward(router, flow, &payload);
                self.settle(router);
            }
            Action::Attack => self.attack(),
            Action::PowerFails(id) => {
                if !self.is_off(id) {
                    self.fail_power(id);
                }
            }
            Action::FarEndRestarts => self.restart_far_end(),
            Action::Quiet => {
                self.medium.lose_nothing();
                if let Some(trial) = &mut self.trial {
                    trial.storages.iter().for_each(|storage| storage.steady());
                }
            }
        }
    }

    fn attack(&mut self) {
        let now = self.now;
        let Some(trial) = &mut self.trial else { return };
        trial.plan_attack(now);
        let actions = trial.attacker.as_mut().map(|attacker| attacker.act()).unwrap_or_default();
        for action in actions {
            self.act(action);
        }
    }

    /// The power of a station fails for a while.
    fn fail_power(&mut self, id: u32) {
        let Some(trial) = &mut self.trial else { return };
        // Devices count whole milliseconds.
        let back = Time::ZERO + Span::from_millis(self.now.micros() / 1000) + trial.outage();
        self.switch_off(id, Some(back));
    }

    /// A station that starts anew is on trial as it was before.
    pub(super) fn try_again(&mut self, id: u32) {
        if let Some(trial) = &self.trial {
            trial.storages[id as usize].restore();
            show(&mut self.stations[id as usize], &trial.invariants.witness);
        }
    }

    /// The far end starts anew, with nothing but what is durable.
    fn restart_far_end(&mut self) {
        match &mut self.far {
            RemoteHost::Cloud(cloud) => cloud.restart(self.now),
            RemoteHost::Echo(host) => {
                host.restart();
                for id in self.deployment.ids() {
                    if self.nodes[id as usize - 1].handshakes.is_under_way() {
                        self.end_handshake(id, false);
                    }
                }
            }
            RemoteHost::Outside => {}
        }
        self.settle_far_end();
    }
}

/// Lets a witness see what a station protects and opens.
fn show(station: &mut Station, witness: &Witness) {
    station.crypto.show(witness.of_device());
    match &mut station.machine {
        Machine::Node(node) => node.interface().security().witness = Some(witness.of_device()),
        Machine::Gateway(gateway) => gateway.security().witness = Some(witness.of_device()),
        Machine::Board(_) => {}
    }
}
