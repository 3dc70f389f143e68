//! How stations route: by the ways that the simulator has found, or by RPL.

use core::cell::Cell;
use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_base::{Cx, Entropy, Eui64, Instant, New, Nv, NvError};
use sixlock_ipv6::nd::RegisteredAddress;
use sixlock_ipv6::rpl::PrefixInformation;
use sixlock_node::rpl::{RplNode, RplRoot};
use sixlock_node::{ForwardError, FrameOutcome, Route, Router, Routes, Routing, SendError};
use sixlock_rpl::objective::{Mrhof, Of0};
use sixlock_rpl::{
    Advertiser, Advertising, Event, ExternalHost, Externals, GivenPrefix, Member, MeshPrefix, Neighbour,
    Profile, Settings, SourceRoutes, StartError, Storing, StoringRoot, ToldPrefix,
};

use crate::captured::Dropping;
use crate::discovery::{Addressing, DiscoveryKind};
use crate::network::MAX_NODES;
use crate::sizes::MEMBERS;
use crate::table::Table;

/// Room for neighbours that may be parents.
const NEIGHBOURS: usize = 32;

/// Room for hosts below a router that do not speak RPL.
const HOSTS: usize = 64;

/// The hop limit of the packets of stations, and where ways are longer: those that header compression leaves out.
pub(crate) const HOP_LIMIT: u8 = 64;
pub(crate) const LONG_HOP_LIMIT: u8 = 255;

/// Routes that a router stores.
type Stored = Table<sixlock_rpl::Route, MEMBERS>;

/// A router with this objective function, which can store the routes to all nodes.
pub(crate) struct Simulated<O>(core::marker::PhantomData<O>);

impl<O: sixlock_rpl::objective::ObjectiveFunction> Profile for Simulated<O> {
    type Neighbours = [Neighbour; NEIGHBOURS];
    type Objective = O;
    type Advertising = AnyAdvertising;
    type Downward = Storing<Stored>;
    type Prefix = AnyPrefix;
    type External = Externals<Table<ExternalHost, HOSTS>>;
}

/// How a node tells others of its DODAG: as a router does, or not at all, as a leaf.
pub(crate) struct AnyAdvertising(Option<Advertiser>);

impl New for AnyAdvertising {
    const NEW: Self = Self(Some(Advertiser::NEW));
}

impl Advertising for AnyAdvertising {
    const ADVERTISES: bool = true;

    fn advertiser(&self) -> Option<&Advertiser> {
        self.0.as_ref()
    }

    fn advertiser_mut(&mut self) -> Option<&mut Advertiser> {
        self.0.as_mut()
    }
}

/// The prefix that DIOs tell, where they do, or the one that the node is given.
#[derive(Clone, Copy)]
pub(crate) struct AnyPrefix {
    learnt: ToldPrefix,
    given: GivenPrefix,
}

impl New for AnyPrefix {
    const NEW: Self = Self { learnt: ToldPrefix::NEW, given: GivenPrefix::NEW };
}

impl MeshPrefix for AnyPrefix {
    const IS_TOLD: bool = true;

    fn get(&self) -> Option<&[u8; 8]> {
        self.learnt.get().or(self.given.get())
    }

    fn give(&mut self, prefix: Option<[u8; 8]>) -> bool {
        let before = self.get().copied();
        self.given.give(prefix);
        self.get() != before.as_ref()
    }

    fn learn(&mut self, now: Instant, prefixes: impl Iterator<Item = PrefixInformation> + Clone) -> bool {
        self.learnt.learn(now, prefixes)
    }

    fn information(&self) -> Option<PrefixInformation> {
        self.learnt.information()
    }

    fn ends(&self) -> Option<Instant> {
        self.learnt.ends()
    }
}

/// The RPL instance of the network.
const INSTANCE: u8 = 0;

/// Which way the network's packets go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoutingKind {
    /// By ways that are given or found before the start.
    #[default]
    Static,
    /// By RPL.
    Rpl {
        /// How parents are chosen.
        objective: Objective,
        /// Who keeps the ways downwards.
        mode: RplMode,
    },
}

/// How nodes choose their parents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// By the path's expected transmissions, with hysteresis (RFC 6719).
    #[default]
    Mrhof,
    /// By hops, weighted by the link (RFC 6552).
    Of0,
}

/// Who keeps the ways downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RplMode {
    /// The root alone, which writes source routes.
    #[default]
    NonStoring,
    /// Each router.
    Storing,
}

/// Hands a call on to what a station routes by.
macro_rules! routed {
    ($routing:expr, $by:ident => $call:expr) => {
        match $routing {
            By::Listed($by) => $call,
            By::First(first) => {
                let $by = &first.by;
                $call
            }
            By::Second(second) => {
                let $by = &second.by;
                $call
            }
        }
    };
}

/// The same for what may change it.
macro_rules! changed {
    ($routing:expr, $by:ident => $call:expr) => {
        match $routing {
            By::Listed($by) => $call,
            By::First(first) => {
                let $by = first.change();
                $call
            }
            By::Second(second) => {
                let $by = second.change();
                $call
            }
        }
    };
}

/// What a station routes by: ways that are listed, or one of two kinds of RPL.
enum By<A, B> {
    Listed(Routes<Table<Route, { MAX_NODES as usize }>>),
    First(Box<Remembering<A>>),
    Second(Box<Remembering<B>>),
}

/// A routing protocol of which it is remembered when it has something to do: each station is asked after each event, and most events
/// have nothing to do with routing.
struct Remembering<R> {
    by: R,
    timeout: Cell<Option<Option<Instant>>>,
    has_output: Cell<Option<bool>>,
}

impl<R> Remembering<R> {
    fn new(by: R) -> Self {
        Self { by, timeout: Cell::new(None), has_output: Cell::new(None) }
    }

    /// The protocol, which may change.
    fn change(&mut self) -> &mut R {
        self.timeout.take();
        self.has_output.take();
        &mut self.by
    }
}

/// What `ask` says, unless it is remembered.
fn remember<T: Copy>(remembered: &Cell<Option<T>>, ask: impl FnOnce() -> T) -> T {
    let says = remembered.get().unwrap_or_else(ask);
    remembered.set(Some(says));
    says
}

/// How a station routes.
pub(crate) struct AnyRouting<A, B> {
    by: By<A, B>,
    /// The prefix of the mesh that it was given.
    prefix: Option<[u8; 8]>,
    /// The hop limit of the packets that it makes.
    pub(crate) hop_limit: u8,
    /// Whether it is a leaf, which tells nobody of its DODAG; to be set before it starts.
    pub(crate) is_leaf: bool,
    /// What it does not send on, if it is captured.
    pub(crate) drops: Option<Box<Dropping>>,
}

/// How a node routes: as its objective function is [`Mrhof`] or [`Of0`].
pub(crate) type NodeRouting = AnyRouting<RplNode<Simulated<Mrhof>>, RplNode<Simulated<Of0>>>;

/// How the border router does: as it is the root of a DODAG in non-storing or in storing mode.
pub(crate) type RootRouting = AnyRouting<
    RplRoot<SourceRoutes<Table<Member, MEMBERS>>>,
    RplRoot<StoringRoot<Stored, Table<Member, MEMBERS>>>,
>;

impl NodeRouting {
    /// Lets the node at `address` take part in RPL, if the network routes so; by listed ways it routes without that.
    pub(crate) fn start<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        kind: RoutingKind,
    ) -> Result<(), NvError> {
        let RoutingKind::Rpl { objective, .. } = kind else { return Ok(()) };
        self.prefix = None;
        self.by = match objective {
            Objective::Mrhof => By::First(Box::new(Remembering::new(RplNode::NEW))),
            Objective::Of0 => By::Second(Box::new(Remembering::new(RplNode::NEW))),
        };
        let advertiser = (!self.is_leaf).then_some(Advertiser::NEW);
        match &mut self.by {
            By::Listed(_) => Ok(()),
            By::First(mrhof) => {
                mrhof.change().0.advertising().0 = advertiser;
                mrhof.change().0.start(cx, address, INSTANCE)
            }
            By::Second(of0) => {
                of0.change().0.advertising().0 = advertiser;
                of0.change().0.start(cx, address, INSTANCE)
            }
        }
    }

    /// The parent, if it routes by RPL and has one.
    pub(crate) fn parent(&self) -> Option<Eui64> {
        match &self.by {
            By::Listed(_) => None,
            By::First(mrhof) => mrhof.by.0.parent(),
            By::Second(of0) => of0.by.0.parent(),
        }
    }

    /// The rank in the DODAG, if it routes by RPL and has a parent.
    pub(crate) fn rank(&self) -> Option<u16> {
        self.parent()?;
        match &self.by {
            By::Listed(_) => None,
            By::First(mrhof) => Some(mrhof.by.0.rank()),
            By::Second(of0) => Some(of0.by.0.rank()),
        }
    }

    /// What has happened in RPL, once.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        match &mut self.by {
            By::Listed(_) => None,
            By::First(mrhof) => mrhof.by.0.poll_event(),
            By::Second(of0) => of0.by.0.poll_event(),
        }
    }
}

impl RootRouting {
    /// What has happened in RPL, once.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        match &mut self.by {
            By::Listed(_) => None,
            By::First(non_storing) => non_storing.by.0.poll_event(),
            By::Second(storing) => storing.by.0.poll_event(),
        }
    }

    /// Lets the border router at `address` make a DODAG, if the network routes so.
    pub(crate) fn start<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        kind: RoutingKind,
        addressing: Addressing,
    ) -> Result<(), StartError> {
        let prefix = addressing.prefix;
        let RoutingKind::Rpl { objective, mode } = kind else { return Ok(()) };
        self.by = match mode {
            RplMode::NonStoring => By::First(Box::new(Remembering::new(RplRoot::NEW))),
            RplMode::Storing => By::Second(Box::new(Remembering::new(RplRoot::NEW))),
        };
        let settings = match objective {
            Objective::Mrhof => Settings::usual::<Mrhof>(prefix),
            Objective::Of0 => Settings::usual::<Of0>(prefix),
        };
        let settings = Settings {
            tells_prefix: addressing.discovery == DiscoveryKind::Rpl,
            most_left_out: addressing.common_octets,
            ..settings
        };
        match &mut self.by {
            By::Listed(_) => Ok(()),
            By::First(non_storing) => non_storing.change().0.start(cx, address, &settings),
            By::Second(storing) => storing.change().0.start(cx, address, &settings),
        }
    }
}

impl<A, B> AnyRouting<A, B> {
    /// Lists the ways to these nodes: each destination and next hop. Whether there was room.
    pub(crate) fn list(&mut self, mut ways: impl Iterator<Item = (Eui64, Eui64)>) -> bool {
        let By::Listed(routes) = &mut self.by else { return true };
        ways.all(|(destination, next_hop)| routes.add(destination, next_hop).is_ok())
    }
}

impl<A, B> New for AnyRouting<A, B> {
    const NEW: Self =
        Self { by: By::Listed(Routes::NEW), prefix: None, hop_limit: HOP_LIMIT, is_leaf: false, drops: None };
}

impl<A: Routing, B: Routing> Router for AnyRouting<A, B> {
    const READS: bool = true;
    const TELLS_REGISTERED: bool = true;

    fn take_registered<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        registered: impl Iterator<Item = RegisteredAddress>,
    ) {
        changed!(&mut self.by, by => by.take_registered(cx, registered));
    }

    fn give_prefix<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, prefix: Option<[u8; 8]>) {
        if self.prefix != prefix {
            self.prefix = prefix;
            changed!(&mut self.by, by => by.give_prefix(cx, prefix));
        }
    }

    fn told_prefix(&self) -> Option<[u8; 8]> {
        routed!(&self.by, by => by.told_prefix())
    }

    fn hop_limit(&self) -> u8 {
        self.hop_limit
    }

    fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        routed!(&self.by, by => by.next_hop(destination))
    }

    fn room(&self) -> usize {
        routed!(&self.by, by => by.room())
    }

    fn takes(&self, destination: Ipv6Addr) -> bool {
        routed!(&self.by, by => by.takes(destination))
    }

    fn leads_on(&self, packet: &[u8]) -> bool {
        routed!(&self.by, by => by.leads_on(packet))
    }

    fn comes_back(&self, packet: &[u8]) -> bool {
        routed!(&self.by, by => by.comes_back(packet))
    }

    fn handle<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        addresses: (Ipv6Addr, Ipv6Addr),
        message: &[u8],
    ) -> bool {
        changed!(&mut self.by, by => by.handle(cx, addresses, message))
    }

    fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        packet: &mut [u8],
    ) -> Result<Option<Eui64>, ForwardError> {
        if self.drops.as_mut().is_some_and(|drops| drops.drops(packet)) {
            return Err(ForwardError::Dropped);
        }
        changed!(&mut self.by, by => by.forward(cx, from, packet))
    }
}

impl<A: Routing, B: Routing> Routing for AnyRouting<A, B> {
    const ROUTES: bool = true;

    fn has_way(&self) -> bool {
        routed!(&self.by, by => by.has_way())
    }

    fn preferred_parent(&self) -> Option<Eui64> {
        routed!(&self.by, by => by.preferred_parent())
    }

    fn advertised(&self) -> Option<u32> {
        routed!(&self.by, by => by.advertised())
    }

    fn advertise_to(&mut self, neighbour: &Eui64) -> bool {
        changed!(&mut self.by, by => by.advertise_to(neighbour))
    }

    fn join_metric(&self) -> Option<u8> {
        routed!(&self.by, by => by.join_metric())
    }

    fn originate(&self, buffer: &mut [u8], len: usize) -> Result<usize, SendError> {
        routed!(&self.by, by => by.originate(buffer, len))
    }

    fn encapsulate(&self, buffer: &mut [u8], len: usize) -> Result<usize, SendError> {
        routed!(&self.by, by => by.encapsulate(buffer, len))
    }

    fn encapsulated(&self, packet: &[u8]) -> Option<Range<usize>> {
        routed!(&self.by, by => by.encapsulated(packet))
    }

    fn handle_outcome<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, outcome: &FrameOutcome) {
        changed!(&mut self.by, by => by.handle_outcome(cx, outcome));
    }

    fn has_output(&self) -> bool {
        match &self.by {
            By::Listed(routes) => routes.has_output(),
            By::First(first) => remember(&first.has_output, || first.by.has_output()),
            By::Second(second) => remember(&second.has_output, || second.by.has_output()),
        }
    }

    fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        changed!(&mut self.by, by => by.poll_transmit(cx, out))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match &self.by {
            By::Listed(routes) => routes.poll_timeout(),
            By::First(first) => remember(&first.timeout, || first.by.poll_timeout()),
            By::Second(second) => remember(&second.timeout, || second.by.poll_timeout()),
        }
    }

    fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        changed!(&mut self.by, by => by.handle_timeout(cx));
    }
}
