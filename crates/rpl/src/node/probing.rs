//! How a node finds out which neighbours hear it.

use sixlock_base::{Cx, Duration, Entropy, Eui64, Instant, Nv};
use sixlock_ipv6::rpl::INFINITE_RANK;

use super::parent::is_newer;
use super::{Node, Profile};
use crate::event::Event;
use crate::objective::ObjectiveFunction;
use crate::storing::Downward;

/// After so long without a frame to the parent, it is probed.
const PARENT_SILENCE: u32 = 300_000;

/// How long after a lost frame the parent is probed, and again until it answers: what disturbs a link for a moment does not end it.
const PARENT_PROBE: u32 = 3_000;

impl<P: Profile> Node<P> {
    /// Takes in what became of a frame to a neighbour: whether it was acknowledged, and at how many attempts. One that was never sent
    /// tells nothing.
    #[inline(never)]
    pub fn handle_outcome<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        neighbour: Eui64,
        is_acknowledged: bool,
        attempts: u8,
    ) {
        if attempts == 0 {
            return;
        }
        if let Some(storing) = self.downward.storing_mut()
            && storing.routes.record(neighbour, is_acknowledged)
        {
            self.events.push(Event::RoutesChanged);
            self.dao.change(cx.now, cx.entropy);
            // Those behind that neighbour believe that they are known, and may be reachable still.
            self.raise_dtsn(cx);
        }
        let Some(neighbour) = self.neighbours.get_mut(&neighbour) else { return };
        neighbour.record(is_acknowledged, attempts);
        if neighbour.is_parent {
            self.parent_used = cx.now;
            if is_acknowledged {
                neighbour.probe_at = None;
            } else if neighbour.probe_at.is_none() {
                // It may be gone, or only disturbed for a moment.
                neighbour.probe_at = Some(cx.now + Duration::from_millis(PARENT_PROBE));
            }
        }
        self.reconsider(cx);
    }

    /// The neighbour that is probed next, and when: the parent if nothing was sent to it for long; and whoever would be a better
    /// parent if its link were perfect, but was not tried or is not heard.
    #[inline(never)]
    pub(super) fn next_probe(&self) -> Option<(usize, Instant)> {
        let dodag = self.dodag.get()?;
        let parent_cost = self.neighbours.parent().map_or(INFINITE_RANK, |parent| self.cost(dodag, parent));
        let mut next: Option<(usize, Instant)> = None;
        for (place, neighbour) in self.neighbours.places() {
            let at = if neighbour.is_parent {
                let silent = self.parent_used + Duration::from_millis(PARENT_SILENCE);
                neighbour.probe_at.unwrap_or(silent)
            } else {
                let Some(at) = neighbour.probe_at else { continue };
                let at_best = self.cost_over(dodag, neighbour, crate::ETX);
                let is_promising = at_best != INFINITE_RANK
                    && self.cost(dodag, neighbour) == INFINITE_RANK
                    && (parent_cost == INFINITE_RANK
                        || is_newer(neighbour.version, dodag.version)
                        || P::Objective::is_better(at_best, parent_cost, dodag.increase()));
                if !is_promising {
                    continue;
                }
                at
            };
            // Of those whose time is the same, the parent comes first.
            if next.is_none_or(|(_, other)| !at.has_reached(other) || neighbour.is_parent && at == other) {
                next = Some((place, at));
            }
        }
        next
    }

    /// Asks the neighbour that is to be probed for a DIO, if it is time to.
    pub(super) fn probe(&mut self, now: Instant) {
        if self.solicitation.is_asking() {
            return;
        }
        if let Some((place, at)) = self.next_probe()
            && now.has_reached(at)
            && let Some(neighbour) = self.neighbours.at_mut(place)
        {
            if neighbour.is_parent {
                neighbour.probe_at = Some(now + Duration::from_millis(PARENT_PROBE));
            } else {
                neighbour.probed(now);
            }
            self.solicitation.ask(&neighbour.address);
        }
    }
}
