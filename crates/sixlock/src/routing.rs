//! How a node or border router that is a program finds its ways: they are listed, or it speaks RPL.

use std::error::Error;
use std::net::Ipv6Addr;

use sixlock_base::{Counter, Counters, Cx, Entropy, Eui64, Instant, LINK_LOCAL_PREFIX, MESH_PREFIX, New, Nv};
use sixlock_ipv6::rpl::{ALL_RPL_NODES, Builder, ControlMessage, Kind, Message, RplOption};
use sixlock_ipv6::{Header, icmpv6};
use sixlock_node::rpl::{RplNode, RplRoot};
use sixlock_node::{Route, Router as RoutesPackets, Routes, Routing};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{Advertiser, Member, Neighbour, Profile, Settings, SourceRoutes};

use crate::keys::MAX_NODES;
use crate::station::Context;

/// The RPL instance of networks.
const INSTANCE: u8 = 0;

/// A router of RPL, in a DODAG whose root alone knows the ways down.
pub(crate) enum Router {}

impl Profile for Router {
    /// All hear all on a channel made of UDP; when there are more, those that are worse parents are forgotten.
    type Neighbours = [Neighbour; 32];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = ();
    type External = ();
}

/// How a node finds its way to the border router.
pub(crate) trait NodeRouting: Routing {
    /// Whether it speaks RPL.
    const SPEAKS_RPL: bool;

    /// Begins at the node with this address.
    fn begin(&mut self, cx: &mut Context<'_>, address: Eui64) -> Result<(), Box<dyn Error>>;

    /// Looks whether the border router routes in the same way, as nobody answers.
    fn ask(&mut self, _: Instant) {}

    /// Why nobody may answer, and which option mends that, as far as this node can tell.
    fn trouble(&self, counters: &Counters) -> Option<String>;
}

/// The way of a node that does not speak RPL: whatever is for others goes to the border router. It can ask that one whether it does.
pub(crate) struct ToRouter {
    own: Eui64,
    /// It is to ask, since then.
    asks: Option<Instant>,
    has_heard_dio: bool,
}

impl New for ToRouter {
    const NEW: Self = Self { own: Eui64([0; 8]), asks: None, has_heard_dio: false };
}

impl RoutesPackets for ToRouter {
    const READS: bool = true;

    /// The uplink says where they go.
    fn next_hop(&self, _: Ipv6Addr) -> Option<Eui64> {
        None
    }

    fn takes(&self, destination: Ipv6Addr) -> bool {
        destination == ALL_RPL_NODES
    }

    fn handle<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        (source, destination): (Ipv6Addr, Ipv6Addr),
        message: &[u8],
    ) -> bool {
        let Ok(message) = ControlMessage::parse(source, destination, message) else { return false };
        let is_from_router = source == Eui64::of_node(0).with_prefix(LINK_LOCAL_PREFIX);
        self.has_heard_dio |= is_from_router && message.kind() == Kind::Dio;
        true
    }
}

impl Routing for ToRouter {
    const ROUTES: bool = true;
    const ENCAPSULATES: bool = false;

    fn has_output(&self) -> bool {
        self.asks.is_some()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.asks
    }

    /// A DIS, which a root that gets it answers by a DIO to its sender.
    fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        self.asks.take()?;
        let [source, destination] =
            [self.own, Eui64::of_node(0)].map(|station| station.with_prefix(LINK_LOCAL_PREFIX));
        let (header, body) = out.split_first_chunk_mut::<{ Header::LEN }>()?;
        let mut dis = Builder::new(body, &Message::Dis).ok()?;
        // Who does not speak RPL takes it for an ICMPv6 message that it does not know, as those have eight bytes at least.
        dis.option(&RplOption::Pad(2)).ok()?;
        let length = dis.finish(source, destination);
        icmpv6::emit_packet_header(header, length, self.hop_limit(), (source, destination))
    }
}

impl NodeRouting for ToRouter {
    const SPEAKS_RPL: bool = false;

    fn begin(&mut self, _: &mut Context<'_>, address: Eui64) -> Result<(), Box<dyn Error>> {
        self.own = address;
        Ok(())
    }

    fn ask(&mut self, now: Instant) {
        self.asks = Some(now);
    }

    fn trouble(&self, _: &Counters) -> Option<String> {
        self.has_heard_dio.then(|| {
            "the border router routes by RPL, and this node has a static route, so it knows no way back: start this node with --routing rpl, or \
             the border router with --routing static; a bridge at a serial line routes as its image does"
                .into()
        })
    }
}

impl NodeRouting for RplNode<Router> {
    const SPEAKS_RPL: bool = true;

    fn begin(&mut self, cx: &mut Context<'_>, address: Eui64) -> Result<(), Box<dyn Error>> {
        let started = self.0.start(cx, address, INSTANCE);
        Ok(started.map_err(|error| format!("RPL has no durable sequence number: {error:?}"))?)
    }

    fn trouble(&self, counters: &Counters) -> Option<String> {
        if self.0.parent().is_some() {
            return None;
        }
        let refused = counters.get(Counter::RplRefused);
        Some(format!(
            "no DIO of RPL has come that this node can use, and {refused} messages of RPL were refused: if the border router has static routes, as \
             the images bridge and bridge-llsec do, start this node with --routing static, or give the bridge the image bridge-rpl or \
             bridge-llsec-rpl. A root is to have instance {INSTANCE}, the objective function MRHOF and non-storing mode"
        ))
    }
}

/// Where packets of a border router go: its nodes are listed.
pub(crate) type Listed = Routes<[Route; MAX_NODES]>;

/// The same of the root of a DODAG, which knows the ways down.
pub(crate) type Root = RplRoot<SourceRoutes<[Member; MAX_NODES]>>;

/// How a border router finds the ways to nodes.
pub(crate) trait RouterRouting: Routing {
    /// Whether it speaks RPL.
    const SPEAKS_RPL: bool;

    /// Begins, in a network of these nodes.
    fn begin(&mut self, cx: &mut Context<'_>, nodes: impl Iterator<Item = u32>)
    -> Result<(), Box<dyn Error>>;
}

/// Each node is a neighbour.
impl RouterRouting for Listed {
    const SPEAKS_RPL: bool = false;

    fn begin(
        &mut self,
        _: &mut Context<'_>,
        mut nodes: impl Iterator<Item = u32>,
    ) -> Result<(), Box<dyn Error>> {
        nodes.try_for_each(|id| {
            let address = Eui64::of_node(id);
            let added = self.add(address, address);
            Ok(added.map_err(|_| format!("node {id}: a network has at most {MAX_NODES} nodes"))?)
        })
    }
}

/// Nodes tell of themselves.
impl RouterRouting for Root {
    const SPEAKS_RPL: bool = true;

    fn begin(&mut self, cx: &mut Context<'_>, _: impl Iterator<Item = u32>) -> Result<(), Box<dyn Error>> {
        let started = self.0.start(cx, Eui64::of_node(0), &Settings::usual::<Mrhof>(MESH_PREFIX));
        Ok(started.map_err(|error| format!("RPL has no durable version: {error:?}"))?)
    }
}
