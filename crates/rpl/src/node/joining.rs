//! What a node learns of its DODAG, and of those in it, from its neighbours.

use core::cmp::Ordering;
use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, Eui64, New, Nv, Slot, lollipop};
use sixlock_ipv6::rpl::{ControlMessage, INFINITE_RANK, ModeOfOperation, Options, RplOption};

use super::{Node, Profile};
use crate::advertising::Advertising;
use crate::dodag::{self, Dodag};
use crate::error::Error;
use crate::objective::ObjectiveFunction;
use crate::prefix::MeshPrefix;
use crate::solicitation;
use crate::storing::Downward;
use crate::time;

/// Within this time a neighbour that was heard is probed, if it is to be.
const PROBE_SOON: u32 = 2_000;

impl<P: Profile> Node<P> {
    /// Whether it can be in a DODAG whose routers store routes, so that it tells its parent of itself: who keeps none can be no router there.
    pub(super) const TELLS_PARENT: bool = P::Downward::STORES || !P::Advertising::ADVERTISES;

    pub(super) fn handle_dis<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Option<&Eui64>,
        destination: Ipv6Addr,
        options: Options<'_>,
    ) -> Result<(), Error> {
        if destination.is_multicast()
            && let Some(parent) = from.and_then(|from| self.neighbours.get_mut(from))
            && parent.is_parent
        {
            // Only who has no parent asks all: this node's parent has none any more.
            parent.rank = INFINITE_RANK;
            self.reconsider(cx);
        }
        let Some(dodag) = self.dodag.get().filter(|_| self.rank != 0 && self.may_advertise()) else {
            return Err(Error::NotJoined);
        };
        let advertiser = self.advertising.advertiser_mut().ok_or(Error::Mode)?;
        solicitation::handle(cx, advertiser, dodag, (from, destination), options)
    }

    pub(super) fn handle_dio<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Option<&Eui64>,
        dio: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let from = from.ok_or(Error::Address)?;
        if dio.instance() != self.instance {
            return Err(Error::Instance);
        }
        self.check_mode(dio.standing().mode())?;
        if has_unknown_constraint(dio.options()) {
            return Err(Error::Constraint);
        }
        self.learn_dodag(from, dio)?;
        let Some(dodag) = self.dodag.get() else {
            self.solicitation.ask(from);
            return Ok(());
        };
        // What is no rank of a router is none.
        let dag_rank = dodag.dag_rank(dio.rank());
        if dag_rank == 0 {
            return Err(Error::Rank);
        }
        let is_behind = lollipop::compare(dio.version(), dodag.version) == Some(Ordering::Less);
        if is_behind {
            // Who has not heard of this version is told soon.
            if let Some(advertiser) = self.advertising.advertiser_mut()
                && self.rank != 0
            {
                advertiser.provoke(cx.now, cx.entropy);
            }
            return Err(Error::Stale);
        }
        let is_lower = dag_rank < dodag.dag_rank(self.rank());
        let before = (self.neighbours.parent_place(), self.rank, dodag.version);
        let asks_for_dao = self.learn_neighbour(cx, from, dio)?;
        self.reconsider(cx);
        if P::Prefix::IS_TOLD && self.neighbours.is_parent(from) {
            let prefixes = dio.options().iter().filter_map(|option| match option {
                RplOption::PrefixInformation(information) => Some(information),
                _ => None,
            });
            if self.prefix.learn(cx.now, prefixes) {
                self.tell(cx, false);
            }
        }
        if asks_for_dao && self.neighbours.is_parent(from) {
            self.tell_again(cx);
        }
        if let Some(advertiser) = self.advertising.advertiser_mut() {
            let version = self.dodag.get().map_or(before.2, |dodag| dodag.version);
            // It is consistent (RFC 6550 section 8.3).
            if before == (self.neighbours.parent_place(), self.rank, version)
                && is_lower
                && dio.version() == version
            {
                advertiser.trickle.hear();
            }
        }
        Ok(())
    }

    /// Whether this node can be in a DODAG of that mode: who keeps no routes cannot be a router where they are stored.
    fn check_mode(&self, mode: ModeOfOperation) -> Result<(), Error> {
        let can = match mode {
            ModeOfOperation::NO_DOWNWARD | ModeOfOperation::NON_STORING => true,
            ModeOfOperation::STORING => Self::TELLS_PARENT,
            _ => false,
        };
        if can { Ok(()) } else { Err(Error::Mode) }
    }

    /// Takes in what a DIO says of the DODAG, if it is heard of for the first time, lost, or told by the parent.
    fn learn_dodag(&mut self, from: &Eui64, dio: &ControlMessage<'_>) -> Result<(), Error> {
        let configuration = dio.options().configuration();
        if let Some(configuration) = configuration {
            dodag::check(configuration, P::Objective::CODE_POINT)?;
        }
        let leads = dio.rank() != INFINITE_RANK;
        let is_known =
            self.dodag.get().map(|dodag| dodag.is_named(dio) && dodag.mode() == dio.standing().mode());
        if is_known == Some(false) && (self.rank != 0 || !leads || configuration.is_none()) {
            return Err(Error::Dodag);
        }
        let Some(configuration) = configuration else { return Ok(()) };
        let is_from_parent = self.neighbours.is_parent(from);
        let is_new = is_known != Some(true);
        let is_taken = if is_new { leads } else { is_from_parent };
        if !is_taken {
            return Ok(());
        }
        if is_new {
            self.neighbours.clear();
            self.dodag = Slot::Full(Dodag { version: dio.version(), ..Dodag::NEW });
            self.lowest = 0;
        }
        if let Some(dodag) = self.dodag.get_mut() {
            dodag.learn(dio, configuration);
        }
        Ok(())
    }

    /// Takes in what a DIO says of its sender; whether it is the parent, and asks for DAOs.
    fn learn_neighbour<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: &Eui64,
        dio: &ControlMessage<'_>,
    ) -> Result<bool, Error> {
        let is_new = self.neighbours.place(from).is_none();
        let neighbour = match is_new {
            false => self.neighbours.get_mut(from),
            // Who is no way to the root is no news unless it was one.
            true if dio.rank() == INFINITE_RANK => return Ok(false),
            true => self.neighbours.insert(from, dio.rank()),
        };
        let Some(neighbour) = neighbour else {
            cx.counters.count(Counter::RplNeighboursFull);
            return Err(Error::Full);
        };
        let asks = neighbour.is_parent && neighbour.dtsn != dio.dtsn();
        if !neighbour.is_parent && neighbour.probe_at.is_none_or(|at| cx.now.has_reached(at)) {
            neighbour.probe_at = Some(time::within(cx.now, cx.entropy, PROBE_SOON));
        }
        (neighbour.rank, neighbour.version, neighbour.dtsn) = (dio.rank(), dio.version(), dio.dtsn());
        Ok(asks)
    }
}

/// Whether a DIO has a constraint that must be kept: none is known here
/// ([RFC 6551 section 2.1](https://www.rfc-editor.org/rfc/rfc6551#section-2.1)).
fn has_unknown_constraint(options: Options<'_>) -> bool {
    for metrics in options.metrics() {
        for object in metrics.iter() {
            if object.is_constraint && !object.is_optional {
                return true;
            }
        }
    }
    false
}
