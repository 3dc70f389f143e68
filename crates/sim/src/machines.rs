//! The protocol code of nodes and of the border router, as the simulator sizes it.

use sixlock_base::{Cx, Entropy, Nv, Symbols};
use sixlock_lockstep::DeviceEvent;
use sixlock_node::{Datagrams, Link, Node, RadioMachine, Readings, Stack};

use crate::application::AnyApplication;
use crate::engine::Accelerated;
use crate::memory::Memory;
use crate::protection::{Compression, Ipsec, Reassembly};
use crate::random::Stream;
use crate::routing::{NodeRouting, RootRouting};
use crate::sizes::{MTU, NODES, OBSERVERS, READINGS};

/// IPsec of a node: with 64 hosts, and a policy for RPL.
pub(crate) type NodeIpsec = Ipsec<65, 64>;
/// How a node compresses: it forwards for 512 nodes in both directions.
pub(crate) type NodeCompression = Compression<1024>;
/// The layers of a node with this many transmit frames, and this many datagrams of so many bytes. Its tables of nodes have room for
/// every node of a scenario.
pub(crate) type NodeLayers<const FRAMES: usize, const MTU: usize, const POOL: usize> = Stack<
    Link<true, NODES, FRAMES>,
    Datagrams<MTU, POOL>,
    NodeRouting,
    NodeIpsec,
    NodeCompression,
    Reassembly,
>;
/// A node as the simulator sizes it.
pub(crate) type SimulatedNode =
    Node<Accelerated, AnyApplication, NodeLayers<2, MTU, 16>, Readings<READINGS, OBSERVERS>>;
/// IPsec of the border router: with every node, two policies more for the packets of others, and one for RPL.
pub(crate) type RouterIpsec = Ipsec<{ NODES + 3 }, NODES>;
/// The layers of the border router.
pub(crate) type GatewayLayers = Stack<
    Link<true, NODES, 4>,
    Datagrams<MTU, 32>,
    RootRouting,
    RouterIpsec,
    Compression<{ 2 * NODES }>,
    Reassembly,
>;
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
