//! How a node chooses its parent, and leaves the DODAG when there is none.

use core::cmp::Ordering;

use sixlock_base::{Counter, Cx, Entropy, Nv, lollipop};
use sixlock_ipv6::rpl::INFINITE_RANK;

use super::{Node, Profile};
use crate::advertising::Advertising;
use crate::dodag::Dodag;
use crate::event::Event;
use crate::external::ExternalTargets;
use crate::neighbours::Neighbour;
use crate::objective::ObjectiveFunction;
use crate::storing::Downward;
use crate::time;

/// How long a node without a parent waits before it joins again.
const HOLD: u32 = 4_000;

/// How long a parent is avoided that has no room for routes, or does not acknowledge them.
const REST: u32 = 300_000;

/// How many hops such a parent costs more than others.
const REST_HOPS: u16 = 8;

impl<P: Profile> Node<P> {
    /// The cost of the path through a neighbour over a link of that ETX, and the rank of who goes by it.
    #[inline(never)]
    fn path_over(dodag: &Dodag, neighbour: &Neighbour, etx: u16) -> (u16, u16) {
        let increase = dodag.increase();
        let cost = P::Objective::path_cost(neighbour.rank, etx, increase);
        (cost, P::Objective::rank(neighbour.rank, cost, increase))
    }

    /// The cost of the path through a neighbour over a link of that ETX: [`INFINITE_RANK`] if it may not be the parent.
    #[inline(never)]
    pub(super) fn cost_over(&self, dodag: &Dodag, neighbour: &Neighbour, etx: u16) -> u16 {
        let (cost, rank) = Self::path_over(dodag, neighbour, etx);
        if neighbour.rank == INFINITE_RANK || rank == INFINITE_RANK {
            return INFINITE_RANK;
        }
        match lollipop::compare(neighbour.version, dodag.version) {
            // In a new version, ranks are new.
            Some(Ordering::Greater) => return cost,
            Some(Ordering::Equal) => {}
            _ => return INFINITE_RANK,
        }
        // Who is as far from the root may be below this node, unless it was told that this one is no way (RFC 6550 section 8.2.2.4).
        if !neighbour.is_parent
            && self.rank != 0
            && dodag.dag_rank(neighbour.rank) >= dodag.dag_rank(self.rank)
        {
            return INFINITE_RANK;
        }
        let limit = dodag.configuration().max_rank_increase();
        let is_too_far = limit != 0 && self.lowest != 0 && rank > self.lowest.saturating_add(limit);
        if is_too_far { INFINITE_RANK } else { cost }
    }

    /// The same over its link as it is, and with what makes others be preferred.
    #[inline(never)]
    pub(super) fn cost(&self, dodag: &Dodag, neighbour: &Neighbour) -> u16 {
        let Some(etx) = neighbour.link.etx() else { return INFINITE_RANK };
        let cost = self.cost_over(dodag, neighbour, etx);
        match neighbour.rests_until {
            Some(_) if cost != INFINITE_RANK => {
                let more = dodag.increase().saturating_mul(REST_HOPS);
                cost.saturating_add(more).min(INFINITE_RANK - 1)
            }
            _ => cost,
        }
    }

    /// Chooses the parent by what is known now, and tells what has changed.
    #[inline(never)]
    pub(super) fn reconsider<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Some(dodag) = self.dodag.get() else { return };
        // The parent, and the best neighbour in the newest version: the place, the version and the cost of each.
        let mut current: Option<(usize, u8, u16)> = None;
        let mut best: Option<(usize, u8, u16)> = None;
        for (place, neighbour) in self.neighbours.places() {
            let cost = self.cost(dodag, neighbour);
            if cost == INFINITE_RANK {
                continue;
            }
            let candidate = Some((place, neighbour.version, cost));
            if neighbour.is_parent {
                current = candidate;
            }
            let is_better = best.is_none_or(|(_, version, other_cost)| {
                match lollipop::compare(neighbour.version, version) {
                    Some(Ordering::Greater) => true,
                    Some(Ordering::Equal) => cost < other_cost,
                    _ => false,
                }
            });
            if is_better && self.holds_until.is_none() {
                best = candidate;
            }
        }
        if let (Some((_, current_version, current_cost)), Some((_, version, cost))) = (current, best)
            && !is_newer(version, current_version)
            && !P::Objective::is_better(cost, current_cost, dodag.increase())
        {
            best = current;
        }
        match best.or(current) {
            Some((chosen, ..)) => self.follow(cx, chosen),
            None if self.rank != 0 => self.detach(cx),
            None => {}
        }
    }

    /// Makes the neighbour at that place the parent, or goes on with it.
    fn follow<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, chosen: usize) {
        let Some(dodag) = self.dodag.get_mut() else { return };
        let Some(parent) = self.neighbours.at(chosen) else { return };
        let had_one = self.rank != 0;
        let etx = parent.link.etx().unwrap_or(INFINITE_RANK);
        (_, self.rank) = Self::path_over(dodag, parent, etx);
        let (is_new_parent, is_new_version) = (!parent.is_parent, dodag.version != parent.version);
        dodag.version = parent.version;
        if self.lowest == 0 || is_new_version || self.rank < self.lowest {
            self.lowest = self.rank;
        }
        let intervals = dodag.intervals();
        // One that has risen is a loop to those below until they hear of it; one that has sunk a little is no news.
        let has_risen = dodag.dag_rank(self.rank) > dodag.dag_rank(self.told_rank);
        let has_moved =
            has_risen || self.told_rank.saturating_sub(self.rank) >= dodag.increase().saturating_mul(2);
        if is_new_parent {
            self.events.push(if had_one { Event::ParentChanged } else { Event::Joined });
            cx.counters.count(Counter::RplParentChanges);
            self.parent_used = cx.now;
            self.solicitation.stop();
            // A route to or over the parent would be a loop.
            if let Some(storing) = self.downward.storing_mut()
                && storing.routes.withdraw_by(parent.address)
            {
                self.events.push(Event::RoutesChanged);
            }
            self.neighbours.make_parent(chosen);
        }
        let is_news = is_new_parent || is_new_version;
        if is_news {
            self.tell_new_parent(cx);
        }
        if let Some(advertiser) = self.advertising.advertiser_mut() {
            if !advertiser.trickle.is_running() {
                advertiser.trickle.start(cx.now, cx.entropy, intervals);
            } else if is_news || has_moved {
                advertiser.trickle.reset(cx.now, cx.entropy);
            }
        }
        if is_news || has_moved {
            self.told_rank = self.rank;
        }
    }

    /// Leaves the DODAG: tells those below first, and asks for others then.
    fn detach<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.rank = 0;
        if let Some(parent) = self.neighbours.parent_mut() {
            parent.is_parent = false;
        }
        self.events.push(Event::Left);
        self.dao.stop();
        if let Some(externals) = self.external.externals_mut() {
            externals.dao.stop();
        }
        self.holds_until = Some(time::within(cx.now, cx.entropy, HOLD));
        if let Some(advertiser) = self.advertising.advertiser_mut() {
            // Once now, and once more by Trickle (RFC 6550 section 8.2.2.5).
            advertiser.announce();
            advertiser.trickle.reset(cx.now, cx.entropy);
        }
    }

    /// Prefers others to the parent for a while.
    #[inline(never)]
    pub(super) fn avoid_parent<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if let Some(parent) = self.neighbours.parent_mut() {
            parent.rest(cx.now, REST);
        }
        self.reconsider(cx);
    }
}

/// Whether version `a` is newer than version `b`.
pub(super) fn is_newer(a: u8, b: u8) -> bool {
    lollipop::compare(a, b) == Some(Ordering::Greater)
}
