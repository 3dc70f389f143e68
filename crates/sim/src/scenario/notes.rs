//! What to know of a scenario before it is simulated, though it can be.

use std::collections::BTreeMap;

use sixlock_rpl::MAX_HOPS;

use crate::routing::{RoutingKind, RplMode};
use crate::topology::{Layout, Topology};

use super::{Scenario, TrafficKind};

/// Nodes at one border router from which on a network with DTLS may melt down.
const CROWD: u32 = 250;

impl Scenario {
    /// What its author may not expect of it, a sentence each: what will not work as the network is, and what mends it.
    pub fn notes(&self) -> Vec<String> {
        let Ok(layout) = self.layout() else { return Vec::new() };
        [self.note_long_ways(&layout), self.note_crowd(&layout), self.note_late_events()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// How to have shorter ways, or fewer nodes at each border router, where that can be.
    fn more_routers(&self, all: &Layout) -> String {
        match self.topology {
            Topology::Random { .. } => format!(", or [topology] routers to more than {}", all.routers),
            _ => String::new(),
        }
    }

    fn note_long_ways(&self, layout: &Layout) -> Option<String> {
        if !matches!(self.routing, RoutingKind::Rpl { mode: RplMode::NonStoring, .. }) {
            return None;
        }
        let is_far = |hops: &&u32| **hops as usize > MAX_HOPS;
        let far = layout.hops.iter().filter(is_far).count();
        let deepest = layout.hops.iter().max().filter(|_| far > 0)?;
        Some(format!(
            "nodes more than {MAX_HOPS} hops away: {far}, the deepest {deepest}; source routes are not so long, so nothing comes down to them, not even \
             acknowledgements: set [routing] mode to \"storing\"{}",
            self.more_routers(layout)
        ))
    }

    fn note_crowd(&self, layout: &Layout) -> Option<String> {
        if self.security.transport.is_none() || self.traffic.kind != TrafficKind::Report {
            return None;
        }
        let mut crowds: BTreeMap<Option<u32>, u32> = BTreeMap::new();
        for node in 1..=layout.nodes() {
            let top = layout.way(node).last().and_then(|top| layout.parents.get(top as usize).copied());
            *crowds.entry(top).or_default() += 1;
        }
        let most = crowds.into_values().max().filter(|&most| most > CROWD)?;
        Some(format!(
            "{most} nodes post over one border router by DTLS: near it so many collide that handshakes and readings get lost, which makes more of \
             both (docs/limits.md); set [traffic] period to longer{}",
            self.more_routers(layout)
        ))
    }

    fn note_late_events(&self) -> Option<String> {
        let late = self.events.iter().filter(|event| event.at > self.duration).count();
        (late > 0).then(|| format!("events after the end, which is at {}s: {late}", self.duration.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::ScenarioBuilder;
    use crate::time::Span;

    fn notes(text: &str) -> Vec<String> {
        ScenarioBuilder::parse("f", text).unwrap().build().unwrap_or_else(|error| panic!("{error}")).notes()
    }

    #[test]
    fn ways_that_are_longer_than_source_routes_are_noted_where_there_are_any() {
        let chain = |nodes: u32, routing: &str| {
            notes(&format!("security = \"none\"\n[topology]\nnodes = {nodes}\n[routing]\n{routing}"))
        };
        assert!(chain(40, "kind = \"static\"").is_empty());
        assert!(chain(40, "kind = \"rpl\"\nmode = \"storing\"").is_empty());
        assert!(chain(32, "kind = \"rpl\"").is_empty());
        let [note] = &chain(40, "kind = \"rpl\"")[..] else { panic!("one is due") };
        assert!(note.starts_with("nodes more than 32 hops away: 8, the deepest 40; "), "{note}");
        assert!(note.ends_with("set [routing] mode to \"storing\""), "{note}");
    }

    #[test]
    fn a_crowd_with_dtls_at_one_border_router_is_noted() {
        let field = |security: &str, routers: u32| {
            notes(&format!(
                "security = \"{security}\"\n[routing]\nkind = \"rpl\"\n[topology]\nkind = \"random\"\nnodes = 300\nrouters = {routers}\n\
                width = \"400m\"\nheight = \"400m\"\n"
            ))
        };
        assert!(field("llsec", 1).is_empty());
        assert!(field("llsec+dtls-psk", 4).is_empty());
        let [note] = &field("llsec+dtls-psk", 1)[..] else { panic!("one is due") };
        assert!(note.starts_with("300 nodes post over one border router by DTLS: "), "{note}");
        assert!(
            note.ends_with("set [traffic] period to longer, or [topology] routers to more than 1"),
            "{note}"
        );
    }

    #[test]
    fn events_that_are_cut_off_are_noted() {
        let text = "[[event]]\nat = \"300s\"\nnode = 1\nkind = \"die\"";
        assert!(notes(text).is_empty());
        let cut = ScenarioBuilder::parse("f", text).unwrap().duration(Span::from_secs(10)).build().unwrap();
        assert_eq!(cut.notes(), ["events after the end, which is at 10s: 1"]);
    }
}
