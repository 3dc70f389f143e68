use core::cmp::Ordering;
use core::net::Ipv6Addr;

use sixlock_base::{
    Array, Counter, Cx, Duration, Entropy, Eui64, Instant, MESH_PREFIX, New, Nv, NvError, Slot, lollipop,
};
use sixlock_ipv6::Header;
use sixlock_ipv6::rpl::{
    Builder, ControlMessage, Dao, INFINITE_RANK, Kind, Message, ModeOfOperation, Options, PacketInformation,
    Transit,
};

use sixlock_ipv6::rpl::packet_information::{DOWN, FORWARDING_ERROR, RANK_ERROR};

use crate::advertising::Advertising;
use crate::dao::{DaoTimer, TimeoutAction};
use crate::dodag::{self, Dodag};
use crate::error::{DataError, Error};
use crate::event::{Event, Events};
use crate::neighbours::{Neighbour, Neighbours};
use crate::objective::ObjectiveFunction;
use crate::output;
use crate::packet::{self, Here};
use crate::sequence::Sequence;
use crate::solicitation::{self, Solicitation};
use crate::storing::Downward;
use crate::time;

/// What a [`Node`] is made of, and how large its tables are.
pub trait Profile {
    /// Room for neighbours that may be parents.
    type Neighbours: Array<Neighbour>;
    /// How a parent is chosen.
    type Objective: ObjectiveFunction;
    /// [`Advertiser`](crate::Advertiser) for a router, `()` for a leaf.
    type Advertising: Advertising;
    /// [`Storing`](crate::Storing) for a router that keeps routes in storing mode, else `()`.
    type Downward: Downward;
}

/// A node of a DODAG that is not its root: a router or a leaf.
///
/// It joins the first DODAG of its instance that it hears of and can be in, and leaves it for another only when it has lost it. A
/// neighbour is a parent only when a frame to it was acknowledged: the first is a DIS, which asks for a DIO. The parent set is the
/// preferred parent alone.
///
/// Who has no parent left says so by a DIO of infinite rank (poisoning), waits, and asks for others by a DIS; then it joins again at
/// whatever rank the DODAG's limit allows.
pub struct Node<P: Profile> {
    address: Eui64,
    instance: u8,
    dodag: Slot<Dodag>,
    neighbours: Neighbours<P::Neighbours>,
    /// The rank, while there is a parent; else 0.
    rank: u16,
    /// The rank when Trickle began anew last.
    told_rank: u16,
    /// The lowest rank in this version; 0 if there was none.
    lowest: u16,
    dtsn: u8,
    sequence: Sequence,
    path_sequence: u8,
    /// Whether anyone was told of this node by that sequence.
    is_path_told: bool,
    /// Whether the parent, or the root, is to be told of this node itself.
    is_unsaid: bool,
    advertising: P::Advertising,
    downward: P::Downward,
    dao: DaoTimer,
    solicitation: Solicitation,
    /// Until then a node that has lost its parents joins no other: those below it are to hear of it first.
    holds_until: Option<Instant>,
    /// When the last frame to the parent was acknowledged, or not.
    parent_used: Instant,
    events: Events,
}

/// How long a node without a parent waits before it joins again.
const HOLD: u32 = 4_000;

/// Within this time a node that has started asks for a DODAG: many start at once.
const FIRST_SOLICITATION: u32 = 5_000;

/// The same for one that has waited already.
const NEXT_SOLICITATION: u32 = 1_000;

/// After so long without a frame to the parent, it is probed.
const PARENT_SILENCE: u32 = 300_000;

/// How long after a lost frame the parent is probed, and again until it answers: what disturbs a link for a moment does not end it.
const PARENT_PROBE: u32 = 3_000;

/// Within this time a neighbour that was heard is probed, if it is to be.
const PROBE_SOON: u32 = 2_000;

/// How long a parent is avoided that has no room for routes, or does not acknowledge them.
const REST: u32 = 300_000;

/// What such a parent costs more than others.
const REST_COST: u16 = 1024;

/// How many path sequences are made durable at a time.
const SEQUENCES: u8 = 8;

/// The most routes that are told in one DAO: so it fits into a few frames.
const TARGETS: usize = 4;

impl<P: Profile> Node<P> {
    /// A node without an address. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            instance: 0,
            dodag: Slot::Empty,
            neighbours: Neighbours::new(),
            rank: 0,
            told_rank: 0,
            lowest: 0,
            dtsn: 0,
            sequence: Sequence::NEW,
            path_sequence: 0,
            is_path_told: false,
            is_unsaid: false,
            advertising: P::Advertising::NEW,
            downward: P::Downward::NEW,
            dao: DaoTimer::NEW,
            solicitation: Solicitation::NEW,
            holds_until: None,
            parent_used: Instant::from_millis(0),
            events: Events::NEW,
        }
    }

    /// Gives it its address and the RPL instance that it takes part in, and begins to look for a DODAG; to be called first. An error if
    /// no durable sequence number is left, or their storage failed.
    pub fn start<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        instance: u8,
    ) -> Result<(), NvError> {
        (self.address, self.instance) = (address, instance);
        self.path_sequence = self.sequence.raise(cx.nv, SEQUENCES)?;
        // It only has to differ from what it was before a reboot, and nearly always does.
        self.dtsn = self.path_sequence;
        self.solicitation.start(cx.now, cx.entropy, FIRST_SOLICITATION);
        Ok(())
    }

    /// The preferred parent.
    pub fn parent(&self) -> Option<Eui64> {
        self.neighbours.parent().map(|parent| parent.address)
    }

    /// Whether there is a parent.
    fn is_joined(&self) -> bool {
        self.rank != 0
    }

    /// The rank; [`INFINITE_RANK`] without a parent.
    pub fn rank(&self) -> u16 {
        if self.is_joined() { self.rank } else { INFINITE_RANK }
    }

    /// The version of the DODAG, if there is one.
    pub fn version(&self) -> Option<u8> {
        self.dodag.get().map(|dodag| dodag.version)
    }

    /// How many routes downwards there are.
    pub fn route_count(&self) -> usize {
        self.downward.storing().map_or(0, |storing| storing.routes.count())
    }

    /// The neighbour to which a packet to `destination`, which is not this node, goes: downwards if there is a route, else to the
    /// parent. A leaf has the same, for packets of its own.
    pub fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        if let Some(neighbour) = output::neighbour_of(destination) {
            return Some(neighbour);
        }
        self.route_down(destination).or_else(|| self.parent())
    }

    fn route_down(&self, destination: Ipv6Addr) -> Option<Eui64> {
        let storing = self.downward.storing()?;
        let node = output::node_of(destination).filter(|node| !self.neighbours.is_parent(node))?;
        storing.routes.next_hop(node)
    }

    /// What has happened, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Takes in the ICMPv6 message `message` with a control message of RPL, from `source` to `destination`, an address of this node or
    /// of all that speak RPL.
    #[inline(never)]
    pub fn handle<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: &[u8],
    ) -> Result<(), Error> {
        let Ok(message) = ControlMessage::parse(source, destination, message) else {
            cx.counters.count(Counter::RplMalformed);
            return Err(Error::Malformed);
        };
        let from = output::neighbour_of(source);
        let taken = match message.kind() {
            Kind::Dis => self.handle_dis(cx, from, destination, message.options()),
            Kind::Dio => self.handle_dio(cx, from, &message),
            Kind::Dao => self.handle_dao(cx, from, &message),
            Kind::DaoAck => self.handle_dao_ack(cx, source, &message),
            Kind::Dco => self.handle_dco(from, &message),
            // None is asked for.
            Kind::DcoAck => Err(Error::Stale),
        };
        taken.inspect_err(|_| cx.counters.count(Counter::RplRefused))
    }

    fn handle_dis<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Option<Eui64>,
        destination: Ipv6Addr,
        options: Options<'_>,
    ) -> Result<(), Error> {
        if destination.is_multicast()
            && let Some(parent) = from.and_then(|from| self.neighbours.get_mut(&from))
            && parent.is_parent
        {
            // Only who has no parent asks all: this node's parent has none any more.
            parent.rank = INFINITE_RANK;
            self.reconsider(cx);
        }
        let Some(dodag) = self.dodag.get().filter(|_| self.rank != 0) else {
            return Err(Error::NotJoined);
        };
        let advertiser = self.advertising.advertiser_mut().ok_or(Error::Mode)?;
        solicitation::handle(cx, advertiser, dodag, (from, destination), options)
    }

    fn handle_dio<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Option<Eui64>,
        dio: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let from = &from.ok_or(Error::Address)?;
        if dio.instance() != self.instance {
            return Err(Error::Instance);
        }
        self.check_mode(dio.standing().mode())?;
        if has_unknown_constraint(dio.options()) {
            return Err(Error::Constraint);
        }
        self.learn_dodag(from, dio)?;
        let Some(dodag) = self.dodag.get() else {
            self.solicitation.ask(*from);
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

    /// Whether it can be in a DODAG whose routers store routes, so that it tells its parent of itself: who keeps none can be no router there.
    const TELLS_PARENT: bool = P::Downward::STORES || !P::Advertising::ADVERTISES;

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
        match self.dodag.get_mut().filter(|_| is_known == Some(true)) {
            Some(dodag) if is_from_parent => dodag.learn(dio, configuration),
            None if leads => {
                self.neighbours.clear();
                let mut dodag = Dodag { version: dio.version(), ..Dodag::NEW };
                dodag.learn(dio, configuration);
                self.dodag = Slot::Full(dodag);
                self.lowest = 0;
            }
            _ => {}
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

    /// The cost of the path through a neighbour over a link of that ETX, and the rank of who goes by it.
    #[inline(never)]
    fn path_over(dodag: &Dodag, neighbour: &Neighbour, etx: u16) -> (u16, u16) {
        let increase = dodag.increase();
        let cost = P::Objective::path_cost(neighbour.rank, etx, increase);
        (cost, P::Objective::rank(neighbour.rank, cost, increase))
    }

    /// The cost of the path through a neighbour over a link of that ETX: [`INFINITE_RANK`] if it may not be the parent.
    #[inline(never)]
    fn cost_over(&self, dodag: &Dodag, neighbour: &Neighbour, etx: u16) -> u16 {
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
    fn cost(&self, dodag: &Dodag, neighbour: &Neighbour) -> u16 {
        let Some(etx) = neighbour.link.etx() else { return INFINITE_RANK };
        let cost = self.cost_over(dodag, neighbour, etx);
        match neighbour.rests_until {
            Some(_) if cost != INFINITE_RANK => cost.saturating_add(REST_COST).min(INFINITE_RANK - 1),
            _ => cost,
        }
    }

    /// Chooses the parent by what is known now, and tells what has changed.
    #[inline(never)]
    fn reconsider<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
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
        self.holds_until = Some(time::within(cx.now, cx.entropy, HOLD));
        if let Some(advertiser) = self.advertising.advertiser_mut() {
            // Once now, and once more by Trickle (RFC 6550 section 8.2.2.5).
            advertiser.announce();
            advertiser.trickle.reset(cx.now, cx.entropy);
        }
    }

    /// Draws a new path sequence; if there is none left, the last one stays. One that nobody was told of is new still: a network that
    /// repairs itself is not to use more of them than can be compared with those that are left of its old ways.
    fn raise_path_sequence<N: Nv>(&mut self, nv: &mut N) {
        if self.is_path_told
            && let Ok(sequence) = self.sequence.raise(nv, SEQUENCES)
        {
            (self.path_sequence, self.is_path_told) = (sequence, false);
        }
    }

    fn mode(&self) -> ModeOfOperation {
        self.dodag.get().map_or(ModeOfOperation::NO_DOWNWARD, Dodag::mode)
    }

    /// Tells a new parent of this node and those below it. Where routes are stored, these are asked to tell anew: those who know older
    /// ways to them take the new one for newer then, and one whose route was taken away meanwhile does not know it. Where not, only the
    /// root asks ([RFC 6550 section 9.6](https://www.rfc-editor.org/rfc/rfc6550#section-9.6)).
    fn tell_new_parent<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.tell(cx, P::Downward::STORES && self.mode() == ModeOfOperation::STORING);
    }

    /// The parent asks for DAOs: those below are asked, too.
    fn tell_again<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.tell(cx, true);
    }

    /// Tells the parent, or the root, of this node and those below it, who are asked to tell anew if `asks` says so.
    #[inline(never)]
    fn tell<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, asks: bool) {
        if self.mode() == ModeOfOperation::NO_DOWNWARD {
            return;
        }
        self.raise_path_sequence(cx.nv);
        self.is_unsaid = true;
        if let Some(storing) = self.downward.storing_mut() {
            storing.routes.unsay();
        }
        if asks {
            self.raise_dtsn(cx);
        }
        self.dao.begin(cx.now, cx.entropy);
    }

    fn raise_dtsn<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if let Some(advertiser) = self.advertising.advertiser_mut() {
            self.dtsn = lollipop::next(self.dtsn);
            advertiser.trickle.reset(cx.now, cx.entropy);
            if let Some(storing) = self.downward.storing_mut() {
                // Those below are told alone, too: one that does not hear of it stays unreachable by the new way.
                storing.routes.ask();
            }
        }
    }

    fn handle_dao<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Option<Eui64>,
        message: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let storing = self.downward.storing_mut().ok_or(Error::Mode)?;
        let from = from.ok_or(Error::Address)?;
        let Some(dodag) = self.dodag.get().filter(|_| self.rank != 0) else {
            return Err(Error::NotJoined);
        };
        dodag.check_names(message)?;
        if dodag.mode() != ModeOfOperation::STORING {
            return Err(Error::Mode);
        }
        if let Some(parent) = self.neighbours.get_mut(&from)
            && parent.is_parent
        {
            // The parent takes this node for its own parent (RFC 6550 section 9.2.1).
            parent.rank = INFINITE_RANK;
            self.reconsider(cx);
            return Err(Error::Loop);
        }
        let Message::Dao(dao) = message.message() else { return Err(Error::Malformed) };
        let changed = storing.handle_dao(cx.now, (self.address, from), &dao, message.options(), dodag);
        if changed == Err(Error::Full) {
            cx.counters.count(Counter::RplRoutesFull);
        }
        if changed? {
            self.events.push(Event::RoutesChanged);
            self.dao.change(cx.now, cx.entropy);
        }
        Ok(())
    }

    fn handle_dao_ack<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        source: Ipv6Addr,
        ack: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let Some(dodag) = self.dodag.get() else { return Err(Error::NotJoined) };
        dodag.check_names(ack)?;
        let is_from_who_was_told = match dodag.mode() {
            ModeOfOperation::STORING if Self::TELLS_PARENT => {
                output::neighbour_of(source).is_some_and(|from| self.neighbours.is_parent(&from))
            }
            _ => source.octets() == dodag.id && self.rank != 0,
        };
        if !is_from_who_was_told {
            return Err(Error::Address);
        }
        if !self.dao.awaits(ack.acknowledged()) {
            return Err(Error::Stale);
        }
        if ack.status().is_rejection() {
            self.dao.pause(cx.now);
            self.avoid_parent(cx);
            return Ok(());
        }
        self.dao.acknowledged();
        if core::mem::take(&mut self.is_unsaid)
            && let Some(lifetime) = dodag.lifetime(dodag.configuration().default_lifetime())
        {
            // Half of it, and a part of that, in case acknowledgements are lost.
            self.dao.refresh(cx.now, cx.entropy, lifetime / 2);
        }
        if let Some(storing) = self.downward.storing_mut() {
            storing.routes.acknowledged();
            if storing.routes.are_unknown() {
                self.dao.change(cx.now, cx.entropy);
            }
        }
        Ok(())
    }

    /// Prefers others to the parent for a while.
    #[inline(never)]
    fn avoid_parent<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if let Some(parent) = self.neighbours.parent_mut() {
            parent.rest(cx.now, REST);
        }
        self.reconsider(cx);
    }

    fn handle_dco(&mut self, from: Option<Eui64>, message: &ControlMessage<'_>) -> Result<(), Error> {
        let rank = self.rank();
        let storing = self.downward.storing_mut().ok_or(Error::Mode)?;
        let from = from.ok_or(Error::Address)?;
        let Some(dodag) = self.dodag.get() else { return Err(Error::NotJoined) };
        dodag.check_names(message)?;
        // Who is above this node may clean up; who is below says so by a DAO.
        if self.neighbours.get(&from).is_none_or(|neighbour| neighbour.rank >= rank) {
            return Err(Error::Address);
        }
        let Message::Dco(dco) = message.message() else { return Err(Error::Malformed) };
        if storing.handle_dco(from, &dco, message.options())? {
            self.events.push(Event::RoutesChanged);
        }
        Ok(())
    }

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
    fn next_probe(&self) -> Option<(usize, Instant)> {
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

    /// When to call [`Node::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let storing = self.downward.storing().and_then(|storing| storing.routes.poll_timeout());
        let trickle = self.advertising.advertiser().and_then(|advertiser| advertiser.trickle.poll_timeout());
        let probe = self.next_probe().filter(|_| !self.solicitation.is_asking()).map(|(_, at)| at);
        let rests = self.neighbours.iter().map(|neighbour| neighbour.rests_until);
        let due = rests.fold(self.holds_until, Instant::earliest);
        let more = [storing, trickle, probe, self.dao.poll_timeout(), self.solicitation.poll_timeout()];
        more.into_iter().fold(due, Instant::earliest)
    }

    /// Does what is due.
    pub fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if Instant::take_due(&mut self.holds_until, cx.now) {
            // Poisoned first, it asks now (mistake 15 of others).
            self.solicitation.start(cx.now, cx.entropy, NEXT_SOLICITATION);
            self.reconsider(cx);
        }
        let mut rested = false;
        for neighbour in self.neighbours.iter_mut() {
            rested |= Instant::take_due(&mut neighbour.rests_until, cx.now);
        }
        if rested {
            self.reconsider(cx);
        }
        let is_joined = self.rank != 0;
        if let Some(advertiser) = self.advertising.advertiser_mut()
            && advertiser.handle_timeout(cx.now, cx.entropy)
            && !is_joined
        {
            // Its infinite rank was told twice.
            advertiser.trickle.stop();
        }
        if let Some(storing) = self.downward.storing_mut()
            && storing.routes.expire(cx.now)
        {
            self.events.push(Event::RoutesChanged);
            self.dao.change(cx.now, cx.entropy);
        }
        match self.dao.handle_timeout(cx.now) {
            TimeoutAction::Nothing | TimeoutAction::Send => {}
            TimeoutAction::Refresh => {
                self.raise_path_sequence(cx.nv);
                self.is_unsaid = true;
            }
            TimeoutAction::GaveUp => self.avoid_parent(cx),
        }
        if self.solicitation.handle_timeout(cx.now, cx.entropy) && self.rank == 0 {
            // What it knows of the DODAG, its limit of ranks among it, leads nowhere: it begins as if rebooted.
            self.dodag = Slot::Empty;
            self.lowest = 0;
            self.neighbours.clear();
        }
        self.probe(cx.now);
    }

    /// Asks the neighbour that is to be probed for a DIO, if it is time to.
    fn probe(&mut self, now: Instant) {
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
            self.solicitation.ask(neighbour.address);
        }
    }

    /// Whether there is something for [`Node::poll_transmit`].
    pub fn has_output(&self) -> bool {
        self.advertising.advertiser().is_some_and(|advertiser| advertiser.has_output())
            || self.downward.storing().is_some_and(|storing| storing.has_output() || storing.routes.asks())
            || self.solicitation.has_output()
            || self.dao.is_due
    }

    /// Writes the next packet of this node to `out`; its length. A packet of 200 bytes is the longest.
    #[inline(never)]
    pub fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        let (address, rank, dtsn) = (self.address, self.rank(), self.dtsn);
        if let Some(dodag) = self.dodag.get()
            && let Some(advertiser) = self.advertising.advertiser_mut()
            && let Some(neighbour) = advertiser.poll()
        {
            return dodag.write_dio(out, (&address, neighbour.as_ref()), rank, dtsn);
        }
        if let Some(storing) = self.downward.storing_mut() {
            if let Some((dodag, neighbour)) = self.dodag.get().zip(storing.routes.asked()) {
                return dodag.write_dio(out, (&address, Some(&neighbour)), rank, dtsn);
            }
            if storing.has_output() {
                return storing.poll_transmit(address, self.instance, out);
            }
        }
        if let Some(neighbour) = self.solicitation.poll() {
            return output::write(output::on_link(out, &address, neighbour.as_ref()), |body| {
                Builder::new(body, &Message::Dis)
            });
        }
        if self.dao.is_due { self.write_dao(cx, out) } else { None }
    }

    /// Writes the DAO that is due
    /// ([RFC 6550 section 9.4](https://www.rfc-editor.org/rfc/rfc6550#section-9.4)): to the parent, or to the root where only it
    /// stores.
    fn write_dao<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, out: &mut [u8]) -> Option<usize> {
        let (Some(dodag), Some(parent)) = (self.dodag.get(), self.neighbours.parent()) else {
            self.dao.stop();
            return None;
        };
        let parent = &parent.address;
        let is_stored = Self::TELLS_PARENT && dodag.mode() == ModeOfOperation::STORING;
        if let Some(storing) = self.downward.storing_mut()
            && is_stored
            && !self.dao.is_repeated()
        {
            storing.routes.choose(TARGETS);
        }
        let sequence = self.dao.next_sequence();
        self.dao.sent(cx.now, cx.entropy);
        let dao = Dao { instance: dodag.instance, wants_ack: true, sequence, dodag: None };
        let transit = Transit {
            external: false,
            invalidate: is_stored,
            path_control: 0x80,
            path_sequence: self.path_sequence,
            path_lifetime: dodag.configuration().default_lifetime(),
            parent: None,
        };
        let mut told = 0;
        let routes = self.downward.storing().filter(|_| is_stored).map(|storing| &storing.routes);
        let is_unsaid = self.is_unsaid;
        let packet = match is_stored {
            true => output::on_link(out, &self.address, Some(parent)),
            false => output::in_mesh(out, &self.address, &dodag.id),
        };
        let length = output::write(packet, |body| {
            let mut builder = Builder::new(body, &Message::Dao(dao))?;
            let mut octets = [0; 16];
            if is_unsaid {
                output::put_address(&mut octets, 0, &MESH_PREFIX, &self.address);
                builder.host(&octets)?;
                output::put_address(&mut octets, 0, &MESH_PREFIX, parent);
                builder.transit(&transit, Some(&octets).filter(|_| !is_stored))?;
            }
            for route in routes.into_iter().flat_map(|routes| routes.chosen()) {
                output::put_address(&mut octets, 0, &MESH_PREFIX, &route.target);
                builder.host(&octets)?;
                let (path_sequence, path_lifetime) = (route.sequence, route.lifetime);
                builder.transit(&Transit { path_sequence, path_lifetime, ..transit }, None)?;
                told += 1;
            }
            Ok(builder)
        });
        self.is_path_told |= is_unsaid;
        if !is_unsaid && told == 0 {
            // What it told of has changed meanwhile.
            self.dao.acknowledged();
            if routes.is_some_and(|routes| routes.are_unknown()) {
                self.dao.change(cx.now, cx.entropy);
            }
            return None;
        }
        length
    }

    /// Bytes that [`Node::originate`] adds to a packet at most.
    pub const ROOM: usize = packet::TUNNEL;

    /// Puts into a packet of this node, the first `len` bytes of `buffer`, the option that routers read. Its length then; `None` if there
    /// is no room or no way. What stays on the link has no option.
    pub fn originate(&self, buffer: &mut [u8], len: usize) -> Option<usize> {
        let packet = buffer.get(..len)?;
        if packet::stays_on_link(packet) {
            return Some(len);
        }
        let destination = packet::destination(packet)?;
        let dodag = self.dodag.get().filter(|_| self.rank != 0)?;
        let information = PacketInformation {
            is_down: self.route_down(destination).is_some(),
            rank_error: false,
            forwarding_error: false,
            instance: dodag.instance,
            sender_rank: self.rank(),
        };
        packet::insert(buffer, len, dodag.option_kind(), information)
    }

    /// Does to a packet that is not for this node, or whose source route goes on behind it, what a router does; the neighbour to send it
    /// to. It has come from the neighbour `from`. The hop limit is the caller's. A packet of one with which its sender had no way may
    /// go back to it, to be told so ([RFC 6550 section 11.2.2.3](https://www.rfc-editor.org/rfc/rfc6550#section-11.2.2.3)).
    pub fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        packet: &mut [u8],
    ) -> Result<Eui64, DataError> {
        let destination = packet::destination(packet).ok_or(DataError::Malformed)?;
        let Some(dodag) = self.dodag.get().filter(|_| P::Advertising::ADVERTISES) else {
            return Err(DataError::NoRoute);
        };
        let here =
            Here { instance: dodag.instance, rank: self.rank(), min_hop_rank_increase: dodag.increase() };
        let found = packet::check(packet, here).inspect_err(|error| {
            if *error == DataError::Rank {
                cx.counters.count(Counter::RplRankErrors);
                if let Some(advertiser) = self.advertising.advertiser_mut() {
                    advertiser.provoke(cx.now, cx.entropy);
                }
            }
        })?;
        let octets = packet.get(Header::DESTINATION_AT..Header::LEN).unwrap_or_default();
        if packet::is_of(&self.address, octets) {
            let leads_on = packet::follow(packet, &self.address)?;
            return packet::node_at(packet).filter(|_| leads_on).ok_or(DataError::NoRoute);
        }
        let Some(mut found) = found else {
            let next_hop = self.next_hop(destination).filter(|next_hop| *next_hop != from);
            return next_hop.ok_or(DataError::NoRoute);
        };
        if found.flags & (RANK_ERROR | DOWN) == RANK_ERROR
            && let Some(advertiser) = self.advertising.advertiser_mut()
        {
            // Who takes this node for nearer to the root than it is, has not heard its rank.
            advertiser.answer(from);
        }
        let was_sent_back = found.flags & FORWARDING_ERROR != 0;
        if was_sent_back {
            // Whom it was sent to has no route.
            self.forget_route(cx, destination, from);
        }
        let down = self.route_down(destination).filter(|next_hop| *next_hop != from);
        let next_hop = if let Some(down) = down {
            found.flags = found.flags & RANK_ERROR | DOWN;
            down
        } else {
            let parent = self.parent();
            match parent {
                // It has come down, and there is no way further: back to where it has come from.
                Some(parent) if was_sent_back => parent,
                _ if found.flags & DOWN != 0 => {
                    found.flags |= FORWARDING_ERROR;
                    from
                }
                Some(parent) if parent != from => parent,
                _ => return Err(DataError::NoRoute),
            }
        };
        found.write(packet, here.rank);
        Ok(next_hop)
    }

    /// A packet to `destination` was sent back by `from`: the route is wrong, if it went there.
    fn forget_route<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        destination: Ipv6Addr,
        from: Eui64,
    ) {
        if let Some(storing) = self.downward.storing_mut()
            && let Some(target) = output::node_of(destination)
            && storing.routes.withdraw_one(target, from)
        {
            self.events.push(Event::RoutesChanged);
            self.dao.change(cx.now, cx.entropy);
        }
    }
}

impl<P: Profile> Default for Node<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether version `a` is newer than version `b`.
fn is_newer(a: u8, b: u8) -> bool {
    lollipop::compare(a, b) == Some(Ordering::Greater)
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
