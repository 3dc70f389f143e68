//! The protocol code of nodes and of the border router, as the simulator sizes it.

use sixlock_base::{Cx, Entropy, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_lockstep::DeviceEvent;
use sixlock_lowpan::{Datagram, Pool};
use sixlock_node::mac::Sleeper;
use sixlock_node::{Link, LinkLayer, Neighbour, Node, RadioMachine, Readings, Rules, Stack};

use crate::application::AnyApplication;
use crate::discovery::AnyDiscovery;
use crate::engine::Accelerated;
use crate::listening::StationListening;
use crate::mac::AnyMac;
use crate::memory::Memory;
use crate::protection::{Compression, Ipsec, Reassembly};
use crate::random::Stream;
use crate::routing::{NodeRouting, RootRouting};
use crate::sizes::{MTU, NEIGHBOURS, OBSERVERS, PROTECTED, READINGS};
use crate::table::{Buffer, Table};

/// IPsec of a node: with 64 hosts, and policies for RPL and neighbour discovery.
pub(crate) type NodeIpsec = Ipsec<67, 64>;
/// How a node compresses: it forwards for 512 nodes in both directions.
pub(crate) type NodeCompression = Compression<1024>;

/// Transmit frames of a MAC in time slots: those for several neighbours wait for their slots side by side.
const SLOTTED_FRAMES: usize = 8;

/// The link of a station with this many transmit frames.
pub(crate) struct SimulatedLink<const FRAMES: usize>;

impl<const FRAMES: usize> LinkLayer for SimulatedLink<FRAMES> {
    const SECURED: bool = true;
    const CSMA: bool = true;
    type Neighbours = Table<Neighbour, NEIGHBOURS>;
    type Queue = <Link<true, 1, FRAMES> as LinkLayer>::Queue;
    type Access = Rules;
    type Listening = StationListening;
    type Sleepers = Table<Sleeper, NEIGHBOURS>;
    type Mac<C: Crypto> = AnyMac<C, Self, SimulatedLink<SLOTTED_FRAMES>>;
}

/// A station's pool of `POOL` datagrams of at most `MTU` bytes.
pub(crate) struct SimulatedPool<const MTU: usize, const POOL: usize>;

impl<const MTU: usize, const POOL: usize> Pool for SimulatedPool<MTU, POOL> {
    type Buffer = Buffer<MTU>;
    type Datagrams = [Datagram<Buffer<MTU>>; POOL];
}

/// The layers of a node with this many transmit frames, and this many datagrams of so many bytes.
pub(crate) type NodeLayers<const FRAMES: usize, const MTU: usize, const POOL: usize> = Stack<
    SimulatedLink<FRAMES>,
    SimulatedPool<MTU, POOL>,
    NodeRouting,
    NodeIpsec,
    NodeCompression,
    Reassembly,
    AnyDiscovery,
>;
/// A node as the simulator sizes it.
pub(crate) type SimulatedNode =
    Node<Accelerated, AnyApplication, NodeLayers<2, MTU, 16>, Readings<READINGS, OBSERVERS>>;
/// IPsec of a border router: with as many nodes as there may be, two policies more for the packets of others, and those for RPL and neighbour
/// discovery.
pub(crate) type RouterIpsec = Ipsec<{ PROTECTED + 5 }, PROTECTED>;
/// The layers of a border router.
pub(crate) type GatewayLayers = Stack<
    SimulatedLink<4>,
    SimulatedPool<MTU, 32>,
    RootRouting,
    RouterIpsec,
    Compression<{ 2 * PROTECTED }>,
    Reassembly,
    AnyDiscovery,
>;
/// The MAC of a station with this many transmit frames.
pub(crate) type StationMac<const FRAMES: usize> =
    AnyMac<Accelerated, SimulatedLink<FRAMES>, SimulatedLink<SLOTTED_FRAMES>>;
/// The context that both are lent.
pub(crate) type Context<'a> = Cx<'a, Accelerated, Stream, Memory>;

/// Tells a machine what happens, unless it is a frame or at a serial port.
pub(crate) fn happens<M: RadioMachine, E: Entropy, N: Nv>(
    machine: &mut M,
    cx: &mut Cx<'_, M::Crypto, E, N>,
    at: Symbols,
    event: DeviceEvent,
) {
    match event {
        DeviceEvent::Start | DeviceEvent::Frame | DeviceEvent::Serial => {}
        DeviceEvent::Transmitted => machine.handle_transmitted(cx, at),
        DeviceEvent::CcaClear => machine.handle_cca(cx, at, true),
        DeviceEvent::CcaBusy => machine.handle_cca(cx, at, false),
        DeviceEvent::RadioTimer => machine.handle_radio_timeout(cx, at),
        DeviceEvent::Timer => machine.handle_timeout(cx, at),
    }
}
