//! Who has a way to a border router and back, where RPL finds the ways.

use crate::event_log::Logged;
use crate::station::Station;

use super::Simulation;

impl Simulation {
    /// Notes who has a way now that a station has other routes, or none: it, or one that routes over it.
    pub(super) fn note_ways(&mut self, station: u32) {
        self.look_for_lost(station);
        self.look_for_joined(station);
    }

    /// Notes whose way leads to no border router any more, if `station` has lost its parent: it, and those that route over it.
    fn look_for_lost(&mut self, station: u32) {
        let is_router = |id| self.deployment.layout.numbers().is_router(id);
        let lost = self.forest.root(station).filter(|&root| !is_router(root));
        // Whose parents an emulated node is among, is not known.
        if lost.and_then(|root| self.stations.get(root as usize)).is_some_and(Station::tells_routing) {
            self.lose(station);
        }
    }

    /// `station`, and those that route over it, have no way from now on.
    pub(super) fn lose(&mut self, station: u32) {
        if self.forest.root(station).is_none() {
            // Nodes are each other's parents, until one of them leaves.
            return;
        }
        for id in self.forest.below(station) {
            let node = self.nodes.get((id as usize).wrapping_sub(1));
            if node.is_some_and(|node| node.joined.is_some()) {
                self.joining.insert(id);
            }
        }
    }

    fn look_for_joined(&mut self, station: u32) {
        if self.joining.is_empty() {
            return;
        }
        // Whose parents an emulated node is among, is not known.
        let changed = match self.deployment.scenario.emulated.is_empty() {
            true if self.forest.root(station).is_none() => return,
            true => self.forest.below(station),
            false => self.deployment.ids().collect(),
        };
        for id in changed {
            if self.joining.contains(&id) && self.has_joined(id) {
                self.joining.remove(&id);
                let now = self.state_times(id).map(|times| (self.now, times));
                let joined = &mut self.nodes[id as usize - 1].joined;
                let logged = if joined.is_none() { Logged::Joined {} } else { Logged::Rejoined {} };
                *joined = joined.take().or(now);
                self.recorder.event(self.now, id, logged);
            }
        }
    }

    /// Whether packets can go from node `id` to a border router and back, as far as routes say.
    fn has_joined(&mut self, id: u32) -> bool {
        let Some(root) = self.forest.root(id) else { return false };
        if self.stations[id as usize].lacks_address() {
            return false;
        }
        if self.forest.way(id).any(|station| self.is_off(station)) {
            return false;
        }
        let (numbers, address) = (self.deployment.layout.numbers(), self.deployment.mesh_address(id));
        // A router that has rebooted has forgotten the hosts below it, and the border router has not.
        if self.stations[id as usize].is_host()
            && let Some(router) =
                self.stations[id as usize].parent().and_then(|router| numbers.station(router))
            && !self.stations[router as usize].knows_host(address)
        {
            return false;
        }
        // The way may end at an attacker, who is no station.
        let Some(at_root) = self.stations.get_mut(root as usize) else { return false };
        if numbers.is_router(root) {
            return at_root.routes_to(address);
        }
        // Its firmware does not tell: a root knows a way over it only if it has a parent.
        !at_root.tells_routing()
            && numbers
                .routers()
                .any(|router| !self.is_off(router) && self.stations[router as usize].routes_to(address))
    }
}
