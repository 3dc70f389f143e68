//! What happens at nodes, and what is counted and recorded of it.

use sixlock_base::{Counter, Eui64};
use sixlock_lockstep::Flags;
use sixlock_node::{Event, Measurement};

use crate::board::TaskEvents;
use crate::energy::StateTimes;
use crate::event_log::Logged;
use crate::events::{Owner, ScheduledEvent};
use crate::far_end::RemoteHost;
use crate::readings::{Confirmed, Skip};
use crate::station::Station;
use crate::time::Time;

use super::{NodeState, Simulation};

impl Simulation {
    /// A reading of node `id` is due, whether the node begins it or not.
    pub(super) fn reading_is_due(&mut self, id: u32) {
        let station = &self.stations[id as usize];
        let task = station.at_work_since();
        let cause = if task.is_some() { Skip::ProcessorBusy } else { Skip::NotBegun };
        while let Some(reading) = self.node(id).readings.missed(task) {
            self.skip(id, reading, cause);
        }
        let readings = &mut self.node(id).readings;
        let reading = readings.is_due();
        if let Some(next) = readings.next_due() {
            self.events.push(next, Owner::Schedule, ScheduledEvent::Reading(id));
        }
        self.traffic_begins(id);
        self.recorder.event(self.now, id, Logged::Due { reading });
        if self.is_off(id) {
            self.skip(id, reading, Skip::Off);
        }
    }

    /// Node `id` does not begin a reading that was due.
    pub(super) fn skip(&mut self, id: u32, reading: u64, cause: Skip) {
        self.node(id).readings.skip(reading, cause);
        if let Some(trial) = &mut self.trial {
            trial.invariants.skip(id, reading, cause);
        }
        self.recorder.event(self.now, id, Logged::Skipped { reading, cause: cause.name() });
    }

    fn node(&mut self, id: u32) -> &mut NodeState {
        &mut self.nodes[id as usize - 1]
    }

    pub(super) fn handle_event(&mut self, id: u32, event: Event) {
        match event {
            Event::Sample => self.sample(id),
            Event::ReadingConfirmed => self.confirm(id),
            Event::ReadingFailed => self.fail(id),
            Event::Connected => {
                if let Some(keys) = self.stations[id as usize].key_log() {
                    self.recorder.key(keys.client_random, keys.master_secret);
                }
                self.open_session(id);
            }
            Event::Disconnected => self.close_session(id),
            Event::ReadingReceived(author) => self.deliver(author),
        }
    }

    /// A node whose CPU takes no time takes its reading.
    fn sample(&mut self, id: u32) {
        let now = self.now;
        let Some([temperature, humidity, light]) = self.measure(id) else { return };
        let measurements = Measurement::of_sensors(temperature, humidity, light);
        let station = &mut self.stations[id as usize];
        let sent = |station: &Station| station.counters.get(Counter::ReadingsSent);
        let before = sent(station);
        station.report(now, &measurements);
        let is_sent = sent(station) != before;
        self.take_reading(id, now, is_sent);
    }

    /// What the sensors of node `id` measure for its reading; in a trial, that says which reading it is, and there is none that
    /// is not due.
    fn measure(&mut self, id: u32) -> Option<[i32; 3]> {
        let now = self.now;
        let node = &mut self.nodes[id as usize - 1];
        match &mut self.trial {
            Some(trial) if node.readings.is_scheduled() => {
                node.readings.latest(now).map(|number| trial.invariants.make(id, number))
            }
            _ => {
                let reading = node.environment.at(now);
                Some([reading.temperature, reading.humidity, reading.light])
            }
        }
    }

    /// Node `id` has taken the reading that was due at `since`, when the task that makes it began, and sent it or not. A server
    /// keeps its own, and none is due.
    fn take_reading(&mut self, id: u32, since: Time, is_sent: bool) {
        let node = self.node(id);
        let waits = node.is_client && (!node.is_connected || node.handshakes.is_under_way());
        let Some(reading) = node.readings.latest(since) else { return };
        while let Some(passed) = self.node(id).readings.passed(since) {
            self.skip(id, passed, Skip::ProcessorBusy);
        }
        if !is_sent {
            return self.skip(id, reading, if waits { Skip::NoSession } else { Skip::UnderWay });
        }
        let given_up = self.node(id).readings.send(since, reading, waits);
        if let Some(reading) = given_up {
            self.recorder.event(self.now, id, Logged::Failed { reading });
        }
        let took_us = self.now.since(since).micros();
        self.recorder.event(self.now, id, Logged::Sent { reading, took_us });
    }

    /// The far end has accepted a reading of the node with this address.
    fn deliver(&mut self, author: Eui64) {
        let Some(id) = author.node_id() else { return };
        let node = id.checked_sub(1).and_then(|index| self.nodes.get_mut(index as usize));
        if let Some(reading) = node.and_then(|node| node.readings.accept()) {
            if let Some(trial) = &mut self.trial {
                trial.invariants.deliver(id, reading);
            }
            self.recorder.event(self.now, id, Logged::Accepted { reading });
        }
    }

    /// The far end has confirmed node `id`'s reading.
    fn confirm(&mut self, id: u32) {
        let now = self.now;
        let keeps = self.keeps_times();
        let readings = &mut self.node(id).readings;
        let Some(Confirmed { number: reading, after, is_news, has_waited }) = readings.confirm(now) else {
            return;
        };
        if keeps && !has_waited {
            readings.round_trips.push(after);
        }
        if let Some(trial) = &mut self.trial {
            trial.invariants.acknowledge(now, id, reading);
        }
        if is_news {
            self.recorder.event(now, id, Logged::Accepted { reading });
        }
        self.recorder.event(now, id, Logged::Confirmed { reading, after_us: after.micros() });
    }

    /// Node `id` gives its reading up.
    pub(super) fn fail(&mut self, id: u32) {
        if let Some(reading) = self.node(id).readings.fail() {
            self.recorder.event(self.now, id, Logged::Failed { reading });
        }
    }

    /// Whether times are kept one by one: a simulation whose far end is outside has no end.
    fn keeps_times(&self) -> bool {
        !matches!(self.far, RemoteHost::Outside)
    }

    /// What the meters of node `id` show.
    fn meters(&self, id: u32) -> StateTimes {
        self.state_times(id).unwrap_or_default()
    }

    /// A handshake of node `id` with the far end begins. A server is begun with, and its own meters say nothing of that.
    pub(super) fn begin_handshake(&mut self, id: u32) {
        let (now, meters) = (self.now, self.meters(id));
        let Some(node) = self.nodes.get_mut((id as usize).wrapping_sub(1)) else { return };
        node.readings.wait();
        if node.handshakes.begin(now, meters) {
            self.recorder.event(now, id, Logged::Handshake {});
        }
    }

    /// The handshake of node `id` with the far end ends with a session, or without.
    pub(super) fn end_handshake(&mut self, id: u32, has_session: bool) {
        let (now, meters, keeps) = (self.now, self.meters(id), self.keeps_times());
        let handshakes = &mut self.nodes[id as usize - 1].handshakes;
        if !handshakes.is_under_way() {
            // Its first message was never on the air, or not seen there.
            handshakes.begun += 1;
            self.recorder.event(now, id, Logged::Handshake {});
        }
        if !has_session {
            let took = handshakes.fail(now, meters).map(|took| took.micros());
            return self.recorder.event(now, id, Logged::HandshakeFailed { after_us: took });
        }
        let took = handshakes.connected(now, meters);
        if keeps {
            handshakes.times.extend(took);
        }
        let after_us = took.map(|took| took.micros());
        self.recorder.event(now, id, Logged::Connected { after_us });
    }

    /// There is a session at node `id`.
    fn open_session(&mut self, id: u32) {
        if !self.node(id).is_client {
            return self.recorder.event(self.now, id, Logged::Opened {});
        }
        self.node(id).is_connected = true;
        self.end_handshake(id, true);
    }

    /// Node `id` has lost its session, or its handshake failed.
    fn close_session(&mut self, id: u32) {
        let was_connected = core::mem::replace(&mut self.node(id).is_connected, false);
        match was_connected && !self.node(id).handshakes.is_under_way() {
            true => self.recorder.event(self.now, id, Logged::Disconnected {}),
            false => self.end_handshake(id, false),
        }
    }

    /// What has happened at node `id`, which is a board, in a task that has ended.
    pub(super) fn handle_news(&mut self, id: u32, news: TaskEvents) {
        let TaskEvents { since, flags, keys, author } = news;
        if flags.contains(Flags::READING_RECEIVED) {
            self.deliver(author);
        }
        if flags.contains(Flags::READING_CONFIRMED) {
            self.confirm(id);
        }
        if flags.contains(Flags::READING_FAILED) {
            self.fail(id);
        }
        if flags.contains(Flags::SESSION_LOST) {
            self.close_session(id);
        }
        if flags.contains(Flags::SESSION_OPENED) {
            self.open_session(id);
        }
        if let Some(keys) = keys {
            self.recorder.key(&keys.client_random, &keys.master_secret);
        }
        // A task takes the reading that is due, if there is one.
        self.take_reading(id, since, flags.contains(Flags::READING_SENT));
    }
}
