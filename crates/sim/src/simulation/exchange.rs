//! What is exchanged between the border router and the far end.

use crate::echo_host::Ended;
use crate::event_log::Logged;
use crate::events::{Owner, ScheduledEvent};
use crate::far_end::RemoteHost;
use crate::measured;
use crate::readings::Skip;

use super::reports::state_times;
use super::{NodeState, Simulation};

/// The largest UDP payload that the mesh carries.
const MAX_DATAGRAM: usize = 1232;

impl Simulation {
    /// Does what is due at the far end.
    pub(super) fn handle_far_end_timer(&mut self) {
        match &mut self.far {
            RemoteHost::Cloud(cloud) => cloud.handle_timer(self.now),
            RemoteHost::Echo(host) => {
                if let Some(clients) = host.clients() {
                    clients.handle_timer(self.now);
                }
            }
            RemoteHost::Outside => {}
        }
        self.settle_far_end();
    }

    /// Carries datagrams between border router and far end.
    pub(super) fn settle_far_end(&mut self) {
        match &self.far {
            RemoteHost::Cloud(_) => self.settle_cloud(),
            RemoteHost::Echo(_) => self.settle_echoes(),
            RemoteHost::Outside => {}
        }
        self.tell_far_drops();
    }

    /// Tells what the far end has refused and dropped since this was last called, where events are recorded.
    fn tell_far_drops(&mut self) {
        for (node, refusal) in self.far.take_refusals() {
            self.recorder.event(self.now, node, Logged::CloudRefused { reason: refusal.name() });
        }
        if !self.recorder.tells_events() {
            return;
        }
        let drops = self.far.drops();
        let before = core::mem::replace(&mut self.far_drops, drops);
        for cause in drops.since(before) {
            self.recorder.event(self.now, 0, Logged::CloudDrop { cause });
        }
    }

    fn settle_cloud(&mut self) {
        let now = self.now;
        while let Some(mut datagram) = self.next_upward() {
            let RemoteHost::Cloud(cloud) = &mut self.far else { return };
            let mut accepted = Vec::new();
            cloud.handle(now, &mut datagram, |node, payload| accepted.push((node, payload.to_vec())));
            let again = cloud.take_again();
            accepted.iter().for_each(|(node, payload)| self.accept(*node, payload));
            for node in again {
                match &mut self.trial {
                    Some(trial) => trial.invariants.hand_out_again(now, node),
                    None if self.attackers.is_empty() => {}
                    None => self.note_false(node),
                }
            }
        }
        let mut payload = [0; MAX_DATAGRAM];
        let mut routers = vec![0];
        while let RemoteHost::Cloud(cloud) = &mut self.far
            && let Some(((router, flow), len)) = cloud.poll_transmit(now, &mut payload)
        {
            self.send_downward(router, flow, &payload[..len]);
            if !routers.contains(&router) {
                routers.push(router);
            }
        }
        let RemoteHost::Cloud(cloud) = &mut self.far else { return };
        if let Some(time) = cloud.poll_timer(now) {
            self.events.push(time, Owner::Cloud, ScheduledEvent::Timer);
        }
        routers.into_iter().for_each(|router| self.settle(router));
    }

    /// The cloud has accepted a reading in a node's name.
    fn accept(&mut self, node: u32, payload: &[u8]) {
        let now = self.now;
        if !self.is_true(node, payload) {
            return;
        }
        let NodeState { readings, environment, .. } = &mut self.nodes[node as usize - 1];
        let first = match &mut self.trial {
            Some(trial) => trial.accept(now, node, payload).and_then(|number| readings.deliver(number)),
            None if self.deployment.scenario.traffic.confirmable => readings.accept(),
            None => readings.accept_made(|since| measured::is_of(environment.at(since), payload)),
        };
        if let Some(reading) = first {
            self.recorder.event(now, node, Logged::Accepted { reading });
        }
    }

    fn settle_echoes(&mut self) {
        let now = self.now;
        while let Some(mut datagram) = self.next_upward() {
            let RemoteHost::Echo(host) = &mut self.far else { return };
            let Some(node) = host.node(datagram.flow) else { continue };
            let readings = &mut self.nodes[node as usize - 1].readings;
            host.handle(now, node, &mut datagram.payload, |echo| {
                let reading = echo.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
                if let Some(round_trip) = readings.back(now, reading) {
                    if let Some(trial) = &mut self.trial {
                        trial.invariants.deliver(node, reading);
                    }
                    readings.round_trips.push(round_trip);
                    self.echoes.back(node, reading, round_trip);
                    let after_us = round_trip.micros();
                    self.recorder.event(now, node, Logged::Echoed { reading, after_us });
                } else if let Some(trial) = &mut self.trial {
                    trial.invariants.come_back_again(now, node, reading);
                }
            });
        }
        let RemoteHost::Echo(host) = &mut self.far else { return };
        let Some(clients) = host.clients() else { return };
        let mut ends = Vec::new();
        while let Some((node, ended)) = clients.poll_ended(now) {
            if let (Ended::Connected, Some(keys)) = (&ended, clients.key_log(node)) {
                self.recorder.key(keys.client_random, keys.master_secret);
            }
            ends.push((node, ended));
        }
        let mut payload = [0; MAX_DATAGRAM];
        while let RemoteHost::Echo(host) = &mut self.far
            && let Some((flow, len)) = host.poll_transmit(now, &mut payload)
        {
            self.send_downward(0, flow, &payload[..len]);
        }
        let RemoteHost::Echo(host) = &mut self.far else { return };
        if let Some(time) = host.clients().and_then(|clients| clients.poll_timer(now)) {
            self.events.push(time, Owner::Cloud, ScheduledEvent::Timer);
        }
        self.settle(0);
        for (node, ended) in ends {
            match ended {
                Ended::Connected => {
                    self.end_handshake(node, true);
                    self.send_echo(node);
                }
                Ended::Failed => self.end_handshake(node, false),
            }
        }
    }

    /// An echo to a node is due. If it is to go over DTLS, it goes as soon as there is a session; those that are due
    /// meanwhile are skipped.
    pub(super) fn echo_is_due(&mut self, node: u32) {
        let now = self.now;
        let readings = &mut self.nodes[node as usize - 1].readings;
        let reading = readings.is_due();
        let waits = readings.waiting() > 1;
        if let Some(next) = readings.next_due() {
            self.events.push(next, Owner::Cloud, ScheduledEvent::Echo(node));
        }
        self.traffic_begins(node);
        self.recorder.event(now, node, Logged::Due { reading });
        if waits {
            self.skip(node, reading, Skip::NoSession);
        }
        let RemoteHost::Echo(host) = &mut self.far else { return };
        match host.clients() {
            Some(clients) if !clients.is_connected(node) => {
                if clients.connect(now, node) {
                    self.begin_handshake(node);
                }
                self.settle_far_end();
            }
            _ => self.send_echo(node),
        }
    }

    /// Sends a node the echo that is due.
    fn send_echo(&mut self, node: u32) {
        let now = self.now;
        let readings = &mut self.nodes[node as usize - 1].readings;
        let Some(reading) = readings.oldest() else { return };
        if let Some(reading) = readings.send(now, reading, false) {
            self.recorder.event(now, node, Logged::Failed { reading });
        }
        self.recorder.event(now, node, Logged::Echo { reading });
        let times = |id| state_times(&self.stations, &self.medium, id, now);
        self.echoes.sent(now, reading, self.deployment.layout.way(node), times);
        let RemoteHost::Echo(host) = &mut self.far else { return };
        let mut echo = vec![0; host.payload()];
        let number = reading.to_be_bytes();
        echo[..number.len()].copy_from_slice(&number);
        if let Some(datagram) = host.datagram(now, node, echo) {
            let flow = host.flow(node);
            self.send_downward(0, flow, &datagram);
            self.settle(0);
        }
    }
}
