//! What happens at nodes, and what is counted and recorded of it.

use sixlock_base::{Counter, Eui64};
use sixlock_lockstep::Flags;
use sixlock_node::{Event, Measurement};

use crate::board::News;
use crate::station::Station;

use super::Simulation;
use super::far_end::Far;

impl Simulation {
    pub(super) fn handle_event(&mut self, id: u32, event: Event) {
        let now = self.now;
        let node = &mut self.nodes[id as usize - 1];
        match event {
            Event::Sample => {
                let reading = node.environment.at(now);
                let measurements =
                    Measurement::of_sensors(reading.temperature, reading.humidity, reading.light);
                let station = &mut self.stations[id as usize];
                let counts = |station: &Station| {
                    [Counter::ReadingsSent, Counter::ReadingsSkipped]
                        .map(|counter| station.counters.get(counter))
                };
                let [sent, skipped] = counts(station);
                station.report(now, &measurements);
                match counts(station) {
                    [now_sent, _] if now_sent != sent => {
                        node.tally.sent(now);
                        self.recorder.event(now, id, "sent", Some(("reading", node.tally.sent)));
                    }
                    [_, now_skipped] if now_skipped != skipped => {
                        self.recorder.event(now, id, "skipped", None);
                    }
                    // A server keeps its reading.
                    _ => {}
                }
            }
            Event::ReadingConfirmed => self.confirm(id),
            Event::ReadingFailed => self.recorder.event(now, id, "failed", None),
            Event::Connected => {
                if let Some(keys) = self.stations[id as usize].key_log() {
                    self.recorder.key(keys.client_random, keys.master_secret);
                }
                self.recorder.event(now, id, "connected", None);
            }
            Event::Disconnected => self.recorder.event(now, id, "disconnected", None),
            Event::ReadingReceived(author) => self.deliver(author),
        }
    }

    /// The far end has accepted a reading of the node with this address.
    fn deliver(&mut self, author: Eui64) {
        let Some(id) = author.node_id() else { return };
        let node = id.checked_sub(1).and_then(|index| self.nodes.get_mut(index as usize));
        if node.is_some_and(|node| node.tally.delivered()) {
            self.recorder.event(self.now, id, "accepted", None);
        }
    }

    /// The far end has confirmed node `id`'s reading.
    fn confirm(&mut self, id: u32) {
        let tally = &mut self.nodes[id as usize - 1].tally;
        let round_trip = tally.confirmed(self.now);
        if !matches!(self.far, Far::Outside) {
            tally.round_trips.extend(round_trip);
        }
        let after = round_trip.map(|span| ("after_us", span.micros()));
        self.recorder.event(self.now, id, "confirmed", after);
    }

    /// What has happened at node `id`, which is a board, in a task that has ended.
    pub(super) fn handle_news(&mut self, id: u32, news: News) {
        let now = self.now;
        let News { since, flags, keys, author } = news;
        if flags.contains(Flags::READING_RECEIVED) {
            self.deliver(author);
        }
        if flags.contains(Flags::READING_CONFIRMED) {
            self.confirm(id);
        }
        for (flag, name) in [
            (Flags::READING_FAILED, "failed"),
            (Flags::SESSION_LOST, "disconnected"),
            (Flags::SESSION_OPENED, "connected"),
        ] {
            if flags.contains(flag) {
                self.recorder.event(now, id, name, None);
            }
        }
        if let Some(keys) = keys {
            self.recorder.key(&keys.client_random, &keys.master_secret);
        }
        if flags.contains(Flags::READING_SENT) {
            let tally = &mut self.nodes[id as usize - 1].tally;
            tally.sent(since);
            self.recorder.event(now, id, "sent", Some(("reading", tally.sent)));
        }
    }
}
