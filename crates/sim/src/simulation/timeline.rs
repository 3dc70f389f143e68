//! The timeline of a simulation, if one is recorded.

use crate::changes::Changes;
use crate::energest::TickTimer;
use crate::energy::{Nanojoules, StateTimes};
use crate::meters::RadioState;
use crate::scenario::Scenario;
use crate::timeline::{
    self, Caption, Change, Component, EndOfNode, PICTURED, Picture, State, Timeline, TimelineStation,
};

use super::Simulation;

impl Simulation {
    /// Lets the meters of nodes on platforms count as Contiki's Energest does.
    pub(super) fn begin_energest(&mut self) {
        for id in self.deployment.ids() {
            if let Some(profile) = self.profile(id) {
                let timer = TickTimer(profile.energest);
                self.stations[id as usize].meters.count_by(timer);
                self.medium.radio_meter(id).count_by(timer);
            }
        }
    }

    /// Begins a timeline, if one is wanted.
    ///
    /// # Errors
    /// When there is no room in a picture for so many stations.
    pub(super) fn begin_timeline(&mut self) -> Result<(), String> {
        if !self.recorder.tells_timeline() && !self.recorder.draws_timeline() {
            return Ok(());
        }
        let count = self.stations.len();
        if self.recorder.draws_timeline() && count > PICTURED {
            return Err(format!(
                "a picture has room for {PICTURED} stations, and these are {count}: write the timeline as JSON lines instead, to a file \
                 whose name does not end in .svg"
            ));
        }
        let (numbers, scenario) = (self.deployment.layout.numbers(), &self.deployment.scenario);
        let station = |station: u32| {
            let is_router = numbers.is_router(station);
            let platform = scenario.platform_of(station).filter(|_| !is_router);
            let components = match (is_router, &platform) {
                (true, _) => Component::OF_ROUTERS,
                (false, Some(_)) => Component::OF_BOARDS,
                (false, None) => Component::OF_NATIVE_NODES,
            };
            TimelineStation { number: numbers.of(station), platform, components }
        };
        let stations: Vec<_> = (0..count as u32).map(station).collect();
        let picture = self.recorder.draws_timeline().then(|| Picture::new(&stations, scenario.duration));
        self.recorder.timeline(&timeline::begin(scenario, &stations));
        for (id, TimelineStation { components, .. }) in (0..).zip(&stations) {
            self.medium.radio_meter(id).changes.record(RadioState::default());
            for component in *components {
                if let Some(changes) = self.busy_changes(id, *component) {
                    changes.record(false);
                }
            }
        }
        self.timeline = Some(Box::new(Timeline::new(stations, picture)));
        Ok(())
    }

    /// The changes of a component that is busy or not.
    fn busy_changes(&mut self, id: u32, component: Component) -> Option<&mut Changes<bool>> {
        let meters = &mut self.stations[id as usize].meters;
        Some(match component {
            Component::Radio => return None,
            Component::Cpu => &mut meters.cpu.changes,
            Component::Engine => &mut meters.engine.changes,
            Component::Storage => &mut meters.storage.changes,
            Component::Handshake => {
                &mut self.nodes.get_mut((id as usize).checked_sub(1)?)?.handshakes.changes
            }
        })
    }

    /// Something happens: from time to time, changes go to the timeline.
    pub(super) fn keep_timeline(&mut self) {
        if self.timeline.as_mut().is_some_and(|timeline| timeline.is_due()) {
            self.tell_changes();
        }
    }

    /// Gives the timeline the changes before now.
    fn tell_changes(&mut self) {
        let Some(mut timeline) = self.timeline.take() else { return };
        let now = self.now;
        let mut changes = Vec::new();
        for (station, TimelineStation { components, .. }) in (0..).zip(&timeline.stations) {
            for &component in *components {
                let change = |time, state| Change { time, station, component, state };
                match self.busy_changes(station, component) {
                    Some(busy) => {
                        changes.extend(busy.take(now).map(|(time, is)| change(time, State::Busy(is))))
                    }
                    None => {
                        let radio = self.medium.radio_meter(station).changes.take(now);
                        changes.extend(radio.map(|(time, state)| change(time, State::Radio(state))));
                    }
                }
            }
        }
        changes.sort_by_key(|change| (change.time, change.station, change.component));
        let mut lines = String::new();
        for change in &changes {
            if self.recorder.tells_timeline() {
                timeline::change(change, timeline.stations[change.station as usize].number, &mut lines);
            }
            if let Some(picture) = &mut timeline.picture {
                picture.enter(change);
            }
        }
        self.recorder.timeline(&lines);
        self.timeline = Some(timeline);
    }

    /// Ends the timeline, if there is one.
    pub(super) fn end_timeline(&mut self) {
        self.tell_changes();
        let Some(mut timeline) = self.timeline.take() else { return };
        let ends: Vec<_> =
            (0..).zip(&timeline.stations).map(|(id, station)| self.end_of(id, station)).collect();
        self.recorder.timeline(&timeline::end(self.now, &ends));
        if let Some(picture) = &mut timeline.picture {
            let Scenario { name, security, seed, .. } = &self.deployment.scenario;
            let caption = Caption {
                title: format!("{name}, {security}, seed {seed}"),
                notes: ends.iter().map(note).collect(),
            };
            let drawn = picture.draw(self.now, &caption);
            self.recorder.picture(&drawn);
        }
    }

    fn end_of(&self, id: u32, station: &TimelineStation) -> EndOfNode {
        let times = self.state_times(id).unwrap_or_default();
        let profile = station.platform.as_ref().map(|platform| *platform.profile());
        let energy = profile
            .zip(self.handshake_times(id))
            .map(|(profile, handshakes)| [times, handshakes].map(|times| Nanojoules::of(&profile, &times)));
        EndOfNode { number: station.number, times, energy, energest: self.energest_ticks(id) }
    }
}

/// What stands behind a node's band: the energy if that is known, and how long the radio was on.
fn note(end: &EndOfNode) -> String {
    let StateTimes { tx, rx, listen, off, .. } = end.times;
    let on = (tx + rx + listen).as_secs();
    let share = format!("radio on {:.1} %", 100.0 * on / (on + off.as_secs()));
    match &end.energy {
        Some([all, _]) => format!("{:.1} mJ, {share}", all.millijoules().total()),
        None => share,
    }
}
