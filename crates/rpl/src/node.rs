mod data;
mod downward;
mod external;
mod joining;
mod parent;
mod probing;

use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Entropy, Eui64, Instant, New, Nv, NvError, Slot};
use sixlock_ipv6::rpl::{ControlMessage, INFINITE_RANK, Kind, Message, ModeOfOperation};

use crate::advertising::{Advertising, summary};
use crate::dao::{DaoTimer, TimeoutAction};
use crate::dodag::Dodag;
use crate::error::Error;
use crate::event::{Event, Events};
use crate::external::ExternalTargets;
use crate::neighbours::{Neighbour, Neighbours};
use crate::objective::ObjectiveFunction;
use crate::output;
use crate::prefix::MeshPrefix;
use crate::sequence::Sequence;
use crate::solicitation::Solicitation;
use crate::storing::Downward;

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
    /// [`GivenPrefix`](crate::GivenPrefix) for a node that is told the prefix of its mesh, `()` for one that knows it.
    type Prefix: MeshPrefix + New;
    /// [`Externals`](crate::Externals) for a router at which hosts register that do not speak RPL, else `()`.
    type External: ExternalTargets;
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
    prefix: P::Prefix,
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
    external: P::External,
    solicitation: Solicitation,
    /// Until then a node that has lost its parents joins no other: those below it are to hear of it first.
    holds_until: Option<Instant>,
    /// When the last frame to the parent was acknowledged, or not.
    parent_used: Instant,
    events: Events,
}

/// Within this time a node that has started asks for a DODAG: many start at once.
const FIRST_SOLICITATION: u32 = 5_000;

/// The same for one that has waited already.
const NEXT_SOLICITATION: u32 = 1_000;

/// How many path sequences are made durable at a time, behind the first of a node that has started.
const SEQUENCES: u8 = 8;

impl<P: Profile> Node<P> {
    /// A node without an address. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            prefix: P::Prefix::NEW,
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
            external: P::External::NEW,
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
        // One alone: who reboots again and again before anybody hears of it is not to leave out more than can be compared.
        self.path_sequence = self.sequence.raise(cx.nv, 1)?;
        // It only has to differ from what it was before a reboot, and nearly always does.
        self.dtsn = self.path_sequence;
        self.solicitation.start(cx.now, cx.entropy, FIRST_SOLICITATION);
        Ok(())
    }

    /// Takes in the prefix of the mesh, or that the node has none any more. One that has another then tells the way to itself.
    pub fn give_prefix<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, prefix: Option<[u8; 8]>) {
        let might_advertise = self.may_advertise();
        if self.prefix.give(prefix) && self.rank != 0 {
            self.tell(cx, false);
        }
        // Those around it have waited for what it has held back.
        if !might_advertise
            && self.may_advertise()
            && let Some(advertiser) = self.advertising.advertiser_mut()
        {
            advertiser.trickle.reset(cx.now, cx.entropy);
        }
    }

    /// Whether it may be a parent: without the prefix of the mesh, a router has no address in it, and need not have the contexts by which
    /// its neighbours compress. One that has had it and has lost it forwards for those that it has below it, and looks for no others. Who
    /// has no parent says so in any case.
    fn may_advertise(&self) -> bool {
        self.rank == 0 || self.prefix.get().is_some()
    }

    /// The prefix of the mesh, if DIOs tell it, and have.
    pub fn told_prefix(&self) -> Option<[u8; 8]> {
        let [prefix @ .., _, _, _, _, _, _, _, _] = self.prefix.information()?.address.octets();
        Some(prefix)
    }

    /// The preferred parent.
    pub fn parent(&self) -> Option<Eui64> {
        self.neighbours.parent().map(|parent| parent.address)
    }

    /// Whether there is a parent.
    fn is_joined(&self) -> bool {
        self.rank != 0
    }

    /// How it tells others of its DODAG, to be changed before it starts, where that is not a constant.
    pub fn advertising(&mut self) -> &mut P::Advertising {
        &mut self.advertising
    }

    /// The rank; [`INFINITE_RANK`] without a parent.
    pub fn rank(&self) -> u16 {
        if self.is_joined() { self.rank } else { INFINITE_RANK }
    }

    /// The rank in hops' least increases, as RFC 6550 compares them: DAGRank(rank). `None` without a parent.
    pub fn dag_rank(&self) -> Option<u16> {
        let increase = self.dodag.get()?.increase();
        self.is_joined().then(|| crate::rank::dag_rank(self.rank, increase))
    }

    /// A number that changes when this router has something to say by DIOs: to neighbours that sleep, and so hear none to all. `None` of a leaf,
    /// and before there is a DODAG.
    pub fn advertised(&self) -> Option<u32> {
        let dodag = self.dodag.get()?;
        self.advertising.advertiser()?;
        let rank = if self.is_joined() { dodag.dag_rank(self.told_rank) } else { INFINITE_RANK };
        Some(summary(dodag.version, self.dtsn, rank))
    }

    /// Sends a DIO to a neighbour alone, as to one that asks for it by a DIS; false if several ask already.
    pub fn advertise_to(&mut self, neighbour: &Eui64) -> bool {
        self.advertising.advertiser_mut().is_some_and(|advertiser| advertiser.tell(neighbour))
    }

    /// The version of the DODAG, if there is one.
    pub fn version(&self) -> Option<u8> {
        self.dodag.get().map(|dodag| dodag.version)
    }

    /// How many routes downwards there are.
    pub fn route_count(&self) -> usize {
        self.downward.storing().map_or(0, |storing| storing.routes.count())
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
        let from = from.as_ref();
        let taken = match message.kind() {
            Kind::Dis => self.handle_dis(cx, from, destination, message.options()),
            Kind::Dio => self.handle_dio(cx, from, &message),
            Kind::Dao => self.handle_dao(cx, from, &message),
            Kind::DaoAck => self.handle_dao_ack(cx, (source, from), &message),
            Kind::Dco => self.handle_dco(from, &message),
            // None is asked for.
            Kind::DcoAck => Err(Error::Stale),
        };
        taken.inspect_err(|_| cx.counters.count(Counter::RplRefused))
    }

    fn mode(&self) -> ModeOfOperation {
        self.dodag.get().map_or(ModeOfOperation::NO_DOWNWARD, Dodag::mode)
    }

    /// When to call [`Node::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut due = self.holds_until;
        for neighbour in self.neighbours.iter() {
            Instant::bring_forward(&mut due, neighbour.rests_until);
        }
        if let Some(storing) = self.downward.storing() {
            Instant::bring_forward(&mut due, storing.routes.poll_timeout());
        }
        if let Some(advertiser) = self.advertising.advertiser() {
            Instant::bring_forward(&mut due, advertiser.trickle.poll_timeout());
        }
        if !self.solicitation.is_asking() {
            Instant::bring_forward(&mut due, self.next_probe().map(|(_, at)| at));
        }
        if P::Prefix::IS_TOLD {
            Instant::bring_forward(&mut due, self.prefix.ends());
        }
        if let Some(externals) = self.external.externals() {
            Instant::bring_forward(&mut due, externals.dao.poll_timeout());
        }
        Instant::bring_forward(&mut due, self.dao.poll_timeout());
        Instant::bring_forward(&mut due, self.solicitation.poll_timeout());
        due
    }

    /// Does what is due.
    pub fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if Instant::take_due(&mut self.holds_until, cx.now) {
            // Poisoned first, it asks now (mistake 15 of others).
            self.solicitation.start(cx.now, cx.entropy, NEXT_SOLICITATION);
            self.reconsider(cx);
        }
        if P::Prefix::IS_TOLD && self.prefix.ends().is_some_and(|ends| cx.now.has_reached(ends)) {
            self.prefix = P::Prefix::NEW;
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
        if let Some(externals) = self.external.externals_mut() {
            externals.handle_timeout(cx.now);
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

    /// Whether there is something for [`Node::poll_transmit`].
    pub fn has_output(&self) -> bool {
        self.advertising.advertiser().is_some_and(|advertiser| advertiser.has_output())
            && self.may_advertise()
            || self.downward.storing().is_some_and(|storing| storing.has_output() || storing.routes.asks())
            || self.solicitation.has_output()
            || self.dao.is_due
            || self.external.externals().is_some_and(|externals| externals.dao.is_due)
    }

    /// Writes the next packet of this node to `out`; its length. A packet of 200 bytes is the longest.
    #[inline(never)]
    pub fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        let rank = self.rank();
        if self.may_advertise()
            && let Some(dodag) = self.dodag.get()
            && let Some(advertiser) = self.advertising.advertiser_mut()
            && let Some(neighbour) = advertiser.poll()
        {
            return dodag.write_dio(self.prefix, out, (&self.address, neighbour.as_ref()), rank, self.dtsn);
        }
        if let Some(storing) = self.downward.storing_mut() {
            if let Some((dodag, neighbour)) = self.dodag.get().zip(storing.routes.asked()) {
                return dodag.write_dio(self.prefix, out, (&self.address, Some(&neighbour)), rank, self.dtsn);
            }
            if storing.has_output() {
                return storing.poll_transmit(self.prefix, self.address, self.instance, out);
            }
        }
        if let Some(neighbour) = self.solicitation.poll() {
            return output::write(output::on_link(out, &self.address, neighbour.as_ref()), |builder| {
                builder.begin(&Message::Dis)
            });
        }
        if self.dao.is_due {
            return self.write_dao(cx, out);
        }
        if P::External::TELLS { self.write_external_dao(cx, out) } else { None }
    }
}

impl<P: Profile> Default for Node<P> {
    fn default() -> Self {
        Self::new()
    }
}
