use core::fmt;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Entropy, Eui64, Instant, New, Nv, NvError, Slot, lollipop};
use sixlock_ipv6::rpl::{
    Configuration, ControlMessage, Dao, EncodedConfiguration, Kind, Message, ModeOfOperation, Options,
    PacketInformation, Standing, Status,
};

use sixlock_ipv6::rpl::packet_information::{DOWN, FORWARDING_ERROR, RANK_ERROR};
use sixlock_ipv6::rpl::source_route::MOST_LEFT_OUT;

use crate::advertising::{Advertiser, summary};
use crate::dodag::{self, Dodag};
use crate::error::{DataError, Error};
use crate::event::{Event, Events};
use crate::graph::{Graph, MAX_HOPS, Member};
use crate::objective::ObjectiveFunction;
use crate::output;
use crate::packet::{self, Here};
use crate::prefix::ToldPrefix;
use crate::sequence::Sequence;
use crate::solicitation;
use crate::storing::{Ack, Acks, for_each_target};

/// How a root knows the ways to the nodes of its DODAG: as a [`SourceRoutes`] in non-storing mode, or as a [`StoringRoot`](crate::StoringRoot).
pub trait Knowledge: New {
    /// The mode of operation of its DODAG.
    const MODE: ModeOfOperation;

    /// How many nodes it knows the way to.
    fn count(&self) -> usize;

    /// The neighbour that a packet to `node` goes to, if the way is known.
    fn next_hop(&self, root: Eui64, node: Eui64) -> Option<Eui64>;

    /// Takes a DAO that has come to the root. Returns whether a way changed, or an error if the DAO is malformed or names more than there is
    /// space for.
    #[doc(hidden)]
    fn handle(&mut self, context: DaoContext<'_>, dao: &Dao, options: Options<'_>) -> Result<bool, Error>;

    /// Takes whether `neighbour` acknowledged a frame of the root. Returns whether a way changed.
    #[doc(hidden)]
    fn handle_outcome(&mut self, neighbour: Eui64, is_acknowledged: bool) -> bool;

    /// Forgets the way to `node` over `by`, which has sent a packet back. Returns whether a way changed.
    #[doc(hidden)]
    fn forget(&mut self, node: Eui64, by: Eui64) -> bool;

    /// Returns when to call [`Knowledge::handle_timeout`]; `None` if nothing is due.
    #[doc(hidden)]
    fn poll_timeout(&self) -> Option<Instant>;

    /// Removes the ways whose lifetime has ended. Returns whether there were any.
    #[doc(hidden)]
    fn handle_timeout(&mut self, now: Instant) -> bool;

    /// Whether there is something for [`Knowledge::poll_transmit`].
    #[doc(hidden)]
    fn has_output(&self) -> bool;

    /// Writes the next message of the root to `out`. Returns its length, or `None` if there is nothing to send.
    #[doc(hidden)]
    fn poll_transmit(&mut self, root: Own, instance: u8, out: &mut [u8]) -> Option<usize>;

    /// Whether the option of a packet that goes down to `node` is read on its way.
    #[doc(hidden)]
    fn reads_option_down(&self, node: Eui64) -> bool;

    /// Puts a source route or the option of RPL into the packet or around it, so that it reaches `node`. Returns its length then, or an error
    /// if no way is known or the buffer is too small.
    #[doc(hidden)]
    fn send_down(
        &self,
        root: Own,
        node: Eui64,
        packet: Down<'_>,
        information: (u8, PacketInformation),
    ) -> Result<usize, DataError>;
}

/// What the root's addresses are made of.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Own {
    pub(crate) address: Eui64,
    pub(crate) prefix: [u8; 8],
    pub(crate) most_left_out: u8,
}

impl Own {
    /// The address of a node in its mesh.
    pub(crate) fn global(&self, node: Eui64) -> Ipv6Addr {
        node.with_prefix(self.prefix)
    }
}

/// How a DAO has come to the root.
#[doc(hidden)]
pub struct DaoContext<'a> {
    pub(crate) now: Instant,
    pub(crate) root: Own,
    pub(crate) source: Ipv6Addr,
    pub(crate) dodag: &'a Dodag,
}

/// A packet on its way down: the first `len` bytes of `buffer`, of this host or of another.
#[doc(hidden)]
pub struct Down<'a> {
    pub(crate) buffer: &'a mut [u8],
    pub(crate) len: usize,
    pub(crate) is_own: bool,
}

/// The graph of the DODAG, of which a root in non-storing mode makes source routes.
pub struct SourceRoutes<A> {
    graph: Graph<A>,
    acks: Acks,
}

impl<A: Array<Member>> New for SourceRoutes<A> {
    const NEW: Self = Self { graph: Graph::new(), acks: Acks::NEW };
}

impl<A: Array<Member>> Knowledge for SourceRoutes<A> {
    const MODE: ModeOfOperation = ModeOfOperation::NON_STORING;

    fn count(&self) -> usize {
        self.graph.count()
    }

    fn next_hop(&self, root: Eui64, node: Eui64) -> Option<Eui64> {
        self.graph.path(root, node)?.first()
    }

    fn handle(&mut self, context: DaoContext<'_>, dao: &Dao, options: Options<'_>) -> Result<bool, Error> {
        handle_from_afar(&mut self.graph, &mut self.acks, context, dao, options, |_| true)
    }

    fn handle_outcome(&mut self, _: Eui64, _: bool) -> bool {
        false
    }

    fn forget(&mut self, node: Eui64, _: Eui64) -> bool {
        self.graph.remove(node)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.graph.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) -> bool {
        self.graph.expire(now)
    }

    fn has_output(&self) -> bool {
        !self.acks.is_empty()
    }

    fn poll_transmit(&mut self, root: Own, instance: u8, out: &mut [u8]) -> Option<usize> {
        self.acks.pop()?.write_afar(root.prefix, &root.address, instance, out)
    }

    fn reads_option_down(&self, _: Eui64) -> bool {
        false
    }

    /// Around each packet, so that nothing in it changes, goes one with the source route, if there is more than one hop
    /// ([RFC 9008 section 8.1](https://www.rfc-editor.org/rfc/rfc9008#section-8.1)). The route to a host that does not speak RPL ends at its
    /// router, which takes that header off. A packet of this host has the route in itself, unless IPsec has protected it.
    fn send_down(
        &self,
        root: Own,
        node: Eui64,
        packet: Down<'_>,
        _: (u8, PacketInformation),
    ) -> Result<usize, DataError> {
        let path = self.graph.path(root.address, node).ok_or(DataError::NoRoute)?;
        let first = root.global(path.first().ok_or(DataError::NoRoute)?);
        let hops = path.rest().map(|node| root.global(node));
        let addresses = (root.global(root.address), first);
        let len = match (hops.clone().next(), path.is_external) {
            (None, false) => Some(packet.len),
            (None, true) => packet::tunnel_alone(packet.buffer, packet.len, addresses),
            (Some(_), false) if packet::may_take_route(packet.buffer, addresses.0) => {
                packet::insert_route(packet.buffer, packet.len, first, hops, root.most_left_out)
            }
            (Some(_), _) => {
                packet::tunnel_with_route(packet.buffer, packet.len, addresses, hops, root.most_left_out)
            }
        };
        len.ok_or(DataError::NoRoom)
    }
}

/// Takes in a DAO that no router on its way has read. It speaks for its sender, if that is told with its parent, and for hosts that do not
/// speak RPL, if they are marked so and told with their router, the sender
/// ([RFC 9010 section 9.2.3](https://www.rfc-editor.org/rfc/rfc9010#section-9.2.3)). Whom `may_be` excludes may be no target.
pub(crate) fn handle_from_afar<A: Array<Member>>(
    graph: &mut Graph<A>,
    acks: &mut Acks,
    context: DaoContext<'_>,
    dao: &Dao,
    options: Options<'_>,
    may_be: impl Fn(Eui64) -> bool,
) -> Result<bool, Error> {
    let DaoContext { now, root, source, dodag } = context;
    let sender = output::node_of(root.prefix, source)
        .filter(|sender| *sender != root.address)
        .ok_or(Error::Address)?;
    let (mut changed, mut error) = (false, None);
    for_each_target(root.prefix, options, |target, transit| {
        let parent = transit.parent.and_then(|parent| output::node_of(root.prefix, parent));
        let is_for_sender = (target == sender) != transit.external
            && (parent == Some(sender)) == transit.external
            && target != root.address;
        let taken = match parent {
            _ if !is_for_sender || !may_be(target) => Err(Error::Target),
            _ if transit.path_lifetime == 0 => {
                changed |= graph.withdraw(target, sender, transit.path_sequence);
                Ok(())
            }
            Some(parent) => {
                let lifetime = dodag.lifetime(transit.path_lifetime);
                let updated = graph.update(now, (target, parent), transit, lifetime);
                changed |= updated.is_ok();
                updated
            }
            None => Err(Error::Target),
        };
        error = error.or(taken.err());
    })?;
    if dao.wants_ack {
        let status = match error {
            None | Some(Error::Stale) => Status::ACCEPTED,
            Some(_) => Status::REJECTED,
        };
        acks.push(Ack { to: sender, sequence: dao.sequence, status, is_of_cleanup: false });
    }
    error.map_or(Ok(changed), Err)
}

/// What a root makes of its DODAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The prefix of the mesh.
    pub prefix: [u8; 8],
    /// The RPL instance.
    pub instance: u8,
    /// How much this root is preferred to others, 0 to 7.
    pub preference: u8,
    /// Whether the DODAG leads to where the application wants to go.
    pub grounded: bool,
    /// What all nodes agree on.
    pub configuration: Configuration,
    /// Whether its DIOs tell the prefix.
    pub tells_prefix: bool,
    /// The most leading octets that an address in a source route leaves out, if all of the route have them in common
    /// ([RFC 6554 section 3](https://www.rfc-editor.org/rfc/rfc6554#section-3): `CmprI`).
    pub most_left_out: u8,
}

impl Settings {
    /// The usual ones for a mesh of this prefix and the objective function `O`: Trickle from 4 s to 17 min, a redundancy of 10,
    /// lifetimes of half an hour, ranks that may rise by [`MAX_HOPS`] hops, and 0x23 as the type of the option in data packets. Its DIOs do
    /// not tell the prefix, and source routes are as short as they can be.
    ///
    /// A node that loses a short way must be able to go by any other, however long, or it stays away until there is a new version.
    pub const fn usual<O: ObjectiveFunction>(prefix: [u8; 8]) -> Self {
        let configuration = Configuration {
            flags: Configuration::SKIPPABLE_OPTION,
            authenticated: false,
            path_control_size: 0,
            interval_doublings: 8,
            interval_minimum: 12,
            redundancy: 10,
            max_rank_increase: O::MIN_HOP_RANK_INCREASE * MAX_HOPS as u16,
            min_hop_rank_increase: O::MIN_HOP_RANK_INCREASE,
            objective: O::CODE_POINT,
            default_lifetime: 30,
            lifetime_unit: 60,
        };
        Self {
            prefix,
            instance: 0,
            preference: 0,
            grounded: true,
            configuration,
            tells_prefix: false,
            most_left_out: MOST_LEFT_OUT,
        }
    }
}

/// Why a root cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// No node could keep the configuration.
    Configuration,
    /// No durable version is left, or their storage failed.
    Version(NvError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration => f.write_str("no node could keep the configuration"),
            Self::Version(error) => write!(f, "there is no number for a new version of the DODAG: {error}"),
        }
    }
}

impl core::error::Error for StartError {}

/// The root of a DODAG, which knows the ways down by `K`.
///
/// Each time it starts it begins a new version of its DODAG, whose number outlasts reboots: the nodes join anew, and tell it again
/// what it has forgotten.
pub struct Root<K> {
    own: Own,
    advertised: ToldPrefix,
    dodag: Slot<Dodag>,
    sequence: Sequence,
    dtsn: u8,
    advertiser: Advertiser,
    knowledge: K,
    events: Events,
}

impl<K: Knowledge> Root<K> {
    /// A root without an address. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            own: Own { address: Eui64([0; 8]), prefix: [0; 8], most_left_out: 0 },
            advertised: ToldPrefix::NEW,
            dodag: Slot::Empty,
            sequence: Sequence::NEW,
            dtsn: 0,
            advertiser: Advertiser::NEW,
            knowledge: K::NEW,
            events: Events::NEW,
        }
    }

    /// Gives it its address and begins a version of its DODAG; to be called first.
    pub fn start<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        settings: &Settings,
    ) -> Result<(), StartError> {
        let Settings { prefix, instance, preference, grounded, configuration, tells_prefix, most_left_out } =
            *settings;
        let encoded = configuration.to_bytes();
        dodag::check(EncodedConfiguration::new(&encoded), configuration.objective)
            .map_err(|_| StartError::Configuration)?;
        let version = self.sequence.raise(cx.nv, 1).map_err(StartError::Version)?;
        self.own = Own { address, prefix, most_left_out };
        self.advertised = if tells_prefix { ToldPrefix::forever(prefix) } else { ToldPrefix::NEW };
        // In a new version all nodes tell of themselves, whatever this number was before.
        self.dtsn = lollipop::FIRST;
        let (id, standing) =
            (self.own.global(address).octets(), Standing::new(grounded, K::MODE, preference));
        let dodag = Dodag { instance, version, id, standing, configuration: encoded };
        self.advertiser.trickle.start(cx.now, cx.entropy, dodag.intervals());
        self.dodag = Slot::Full(dodag);
        Ok(())
    }

    /// The DODAG's version, once it was started.
    pub fn version(&self) -> Option<u8> {
        self.dodag.get().map(|dodag| dodag.version)
    }

    /// The root's rank, once it was started.
    pub fn rank(&self) -> u16 {
        self.dodag.get().map_or(0, |dodag| dodag.increase())
    }

    /// A number that changes when the root has something to say by DIOs, once it was started: to neighbours that sleep, and so hear none to all.
    pub fn advertised(&self) -> Option<u32> {
        self.dodag.get().map(|dodag| summary(dodag.version, self.dtsn, 1))
    }

    /// Sends a DIO to a neighbour alone, as to one that asks for it by a DIS; false if several ask already.
    pub fn advertise_to(&mut self, neighbour: &Eui64) -> bool {
        self.advertiser.tell(neighbour)
    }

    /// How many nodes it knows the way to.
    pub fn node_count(&self) -> usize {
        self.knowledge.count()
    }

    /// Begins a new version of the DODAG: all nodes choose their parents anew, without a limit to their ranks
    /// ([RFC 6550 section 3.2.2](https://www.rfc-editor.org/rfc/rfc6550#section-3.2.2)). For operators: no packet causes it.
    pub fn global_repair<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) -> Result<(), NvError> {
        let Some(dodag) = self.dodag.get_mut() else { return Ok(()) };
        dodag.version = self.sequence.raise(cx.nv, 1)?;
        self.advertiser.trickle.reset(cx.now, cx.entropy);
        Ok(())
    }

    /// Asks all nodes for DAOs.
    pub fn refresh<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.dtsn = lollipop::next(self.dtsn);
        self.advertiser.trickle.reset(cx.now, cx.entropy);
    }

    /// What has happened, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// The neighbour that a packet to `destination`, an address on a link or of a node, goes to; `None` if the way is not known.
    pub fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        if let Some(neighbour) = output::neighbour_of(destination) {
            return Some(neighbour);
        }
        self.knowledge.next_hop(self.own.address, output::node_of(self.own.prefix, destination)?)
    }

    /// Takes in the ICMPv6 message `message` with a control message of RPL, from `source` to `destination`, an address of this node or
    /// of all that speak RPL.
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
        let taken = self.take(cx, (source, destination), &message);
        taken.inspect_err(|error| {
            cx.counters.count(if *error == Error::Full {
                Counter::RplRoutesFull
            } else {
                Counter::RplRefused
            });
        })
    }

    fn take<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        (source, destination): (Ipv6Addr, Ipv6Addr),
        message: &ControlMessage<'_>,
    ) -> Result<(), Error> {
        let Self { own, dodag, advertiser, knowledge, .. } = self;
        let dodag = dodag.get().ok_or(Error::NotJoined)?;
        let from = output::neighbour_of(source);
        match message.kind() {
            Kind::Dis => {
                solicitation::handle(cx, advertiser, dodag, (from.as_ref(), destination), message.options())
            }
            Kind::Dio => {
                from.ok_or(Error::Address)?;
                dodag.check_names(message)?;
                // Who is behind is told soon. Who claims to be ahead is not believed: only this node makes versions.
                if message.version() != dodag.version && !advertiser.provoke(cx.now, cx.entropy) {
                    return Err(Error::TooOften);
                }
                Ok(())
            }
            Kind::Dao => {
                dodag.check_names(message)?;
                let Message::Dao(dao) = message.message() else { return Err(Error::Malformed) };
                let context = DaoContext { now: cx.now, root: *own, source, dodag };
                if knowledge.handle(context, &dao, message.options())? {
                    self.events.push(Event::RoutesChanged);
                }
                Ok(())
            }
            // None of these is for a root: it asks for no acknowledgements, and nobody is above it.
            Kind::DaoAck | Kind::Dco | Kind::DcoAck => Err(Error::Mode),
        }
    }

    /// Takes in what became of a frame to a neighbour, of which there were so many attempts. If routes over the neighbour end by it, all
    /// nodes are asked for DAOs: those behind the neighbour believe that they are known, and may be reachable still.
    pub fn handle_outcome<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        neighbour: Eui64,
        is_acknowledged: bool,
        attempts: u8,
    ) {
        if attempts > 0 && self.knowledge.handle_outcome(neighbour, is_acknowledged) {
            self.events.push(Event::RoutesChanged);
            self.refresh(cx);
        }
    }

    /// When to call [`Root::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.advertiser.trickle.poll_timeout(), self.knowledge.poll_timeout())
    }

    /// Does what is due.
    pub fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.advertiser.handle_timeout(cx.now, cx.entropy);
        if self.knowledge.handle_timeout(cx.now) {
            self.events.push(Event::RoutesChanged);
        }
    }

    /// Whether there is something for [`Root::poll_transmit`].
    pub fn has_output(&self) -> bool {
        self.advertiser.has_output() || self.knowledge.has_output()
    }

    /// Writes the next packet of this node to `out`; its length. A packet of 200 bytes is the longest; what it is sent by,
    /// [`Root::originate`] adds.
    pub fn poll_transmit(&mut self, out: &mut [u8]) -> Option<usize> {
        let dodag = self.dodag.get()?;
        if let Some(neighbour) = self.advertiser.poll() {
            let rank = dodag.increase();
            return dodag.write_dio(
                self.advertised,
                out,
                (&self.own.address, neighbour.as_ref()),
                rank,
                self.dtsn,
            );
        }
        self.knowledge.poll_transmit(self.own, dodag.instance, out)
    }

    /// Puts into or around a packet of this node, the first `len` bytes of `buffer`, what routers read. Returns its length then. What
    /// leaves the mesh or stays on the link goes as it is.
    ///
    /// # Errors
    /// [`DataError::NoRoute`] if nothing is known of the destination, [`DataError::NoRoom`], or [`DataError::Malformed`].
    pub fn originate(&self, buffer: &mut [u8], len: usize) -> Result<usize, DataError> {
        self.send_down(buffer, len, true)
    }

    /// Puts around a packet of another, the first `len` bytes of `buffer`, what routers read. The same in the end.
    ///
    /// # Errors
    /// As of [`Root::originate`].
    pub fn encapsulate(&self, buffer: &mut [u8], len: usize) -> Result<usize, DataError> {
        self.send_down(buffer, len, false)
    }

    fn send_down(&self, buffer: &mut [u8], len: usize, is_own: bool) -> Result<usize, DataError> {
        let packet = buffer.get(..len).ok_or(DataError::Malformed)?;
        if packet::stays_on_link(packet) {
            return Ok(len);
        }
        let destination = packet::destination(packet).ok_or(DataError::Malformed)?;
        let Some(node) = output::node_of(self.own.prefix, destination) else { return Ok(len) };
        let dodag = self.dodag.get().ok_or(DataError::NoRoute)?;
        let information = PacketInformation {
            is_down: true,
            rank_error: false,
            forwarding_error: false,
            instance: dodag.instance,
            sender_rank: dodag.increase(),
        };
        let packet = Down { buffer, len, is_own };
        self.knowledge.send_down(self.own, node, packet, (dodag.option_kind(), information))
    }

    /// Reads the option of a packet that has come from the neighbour `from` and is for another. It may then leave the mesh as it is, or go
    /// to a node by [`Root::encapsulate`]; where routes are stored, the option it has is as good
    /// ([`Root::has_option_down`]). One that was sent back, for want of a route, takes the route with it, and nothing else
    /// ([RFC 6550 section 11.2.2.3](https://www.rfc-editor.org/rfc/rfc6550#section-11.2.2.3)).
    pub fn forward<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        packet: &mut [u8],
    ) -> Result<(), DataError> {
        let destination = packet::destination(packet).ok_or(DataError::Malformed)?;
        let dodag = self.dodag.get().ok_or(DataError::NoRoute)?;
        let (instance, rank) = (dodag.instance, dodag.increase());
        let here = Here { instance, rank, min_hop_rank_increase: rank };
        let found = packet::check(packet, here).inspect_err(|error| {
            if *error == DataError::Rank {
                cx.counters.count(Counter::RplRankErrors);
            }
        })?;
        let Some(mut found) = found else { return Ok(()) };
        let node = output::node_of(self.own.prefix, destination);
        if found.flags & FORWARDING_ERROR != 0
            && let Some(node) = node
            && self.knowledge.forget(node, from)
        {
            self.events.push(Event::RoutesChanged);
        }
        let is_down = node.is_some_and(|node| self.own.address != node);
        found.flags = found.flags & RANK_ERROR | if is_down { DOWN } else { 0 };
        found.write(packet, rank);
        Ok(())
    }

    /// Whether a packet that [`Root::forward`] has read needs no [`Root::encapsulate`]: where routes are stored, routers read the
    /// option that it has, as long as it goes to a node that speaks RPL.
    pub fn has_option_down(&self, packet: &[u8]) -> bool {
        let node = packet::destination(packet).and_then(|to| output::node_of(self.own.prefix, to));
        node.is_some_and(|node| self.knowledge.reads_option_down(node))
            && sixlock_ipv6::rpl::packet_information::find(packet).is_ok_and(|at| at.is_some())
    }
}

impl<K: Knowledge> Default for Root<K> {
    fn default() -> Self {
        Self::new()
    }
}
