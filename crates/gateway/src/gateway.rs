use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, Instant, MESH_PREFIX, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_interface::{Config, FRONT, Interface, RadioCommand, SendError};

use crate::flows::{Flow, FlowId, Flows};

/// A datagram on its way out of the mesh, lent.
#[derive(Debug)]
pub struct Upstream<'a> {
    /// The flow it belongs to: answers are handed to [`Gateway::handle_upstream`] under this name.
    pub flow: FlowId,
    /// The flow's two ends.
    pub ends: Flow,
    /// What it carries.
    pub payload: &'a mut [u8],
}

/// Why a datagram from outside was not sent into the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The flow is gone.
    UnknownFlow,
    /// The datagram is longer than the mesh carries.
    TooLong,
    /// No route leads to the node.
    NoRoute,
    /// Every buffer is in use.
    Full,
}

/// A border router with an [`Interface`] into the mesh and at most `FLOWS` flows out of it.
pub struct Gateway<
    C: Crypto,
    const NEIGHBOURS: usize,
    const FRAMES: usize,
    const MTU: usize,
    const POOL: usize,
    const ROUTES: usize,
    const FLOWS: usize,
> {
    interface: Interface<C, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES>,
    flows: Flows<FLOWS>,
    downstream: Packet<MTU>,
}

impl<
    C: Crypto,
    const NEIGHBOURS: usize,
    const FRAMES: usize,
    const MTU: usize,
    const POOL: usize,
    const ROUTES: usize,
    const FLOWS: usize,
> Gateway<C, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES, FLOWS>
{
    /// A border router without routes or flows.
    pub fn new<E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, config: Config) -> Self {
        Self { interface: Interface::new(cx, config), flows: Flows::new(), downstream: Packet::new() }
    }

    /// The interface into the mesh: routes are added there.
    pub fn interface(&mut self) -> &mut Interface<C, NEIGHBOURS, FRAMES, MTU, POOL, ROUTES> {
        &mut self.interface
    }

    /// Takes in a received frame, whose last symbol came in at `at`, and gives the datagram for
    /// outside that it completes, if it does, to `upstream`.
    pub fn handle_frame<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
        upstream: impl FnOnce(Upstream<'_>),
    ) {
        let Some(delivered) = self.interface.handle_frame(cx, at, frame) else { return };
        let own = self.interface.net().mesh_address();
        let datagram = self.interface.datagram(&delivered);
        if datagram.destination == own || !is_mesh(datagram.source) {
            // The border router itself offers no service.
            return self.interface.port_unreachable(cx, at, delivered);
        }
        let ends = Flow {
            node: datagram.source,
            node_port: datagram.source_port,
            host: datagram.destination,
            host_port: datagram.destination_port,
        };
        let flow = self.flows.of(cx.now, ends, cx.counters);
        upstream(Upstream { flow, ends, payload: datagram.payload });
        self.interface.release(delivered);
    }

    /// Begins a flow from the host outside at `host` to a node's port.
    pub fn open<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        host: Ipv6Addr,
        node: Eui64,
        node_port: u16,
    ) -> FlowId {
        self.flows.open(cx.now, node.with_prefix(MESH_PREFIX), node_port, host, cx.counters)
    }

    /// Sends a datagram from outside to the node of its flow.
    pub fn handle_upstream<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        flow: FlowId,
        payload: &[u8],
    ) -> Result<(), Error> {
        let ends = self.flows.get(cx.now, flow).ok_or(Error::UnknownFlow)?;
        self.downstream.reset(FRONT);
        self.downstream.extend(payload).map_err(|_| Error::TooLong)?;
        self.interface
            .send_from(cx, at, &mut self.downstream, ends.host, ends.host_port, ends.node, ends.node_port)
            .map_err(|error| match error {
                SendError::NoRoute => Error::NoRoute,
                SendError::TooLong => Error::TooLong,
                SendError::NoRoom => Error::Full,
            })
    }

    /// Takes in the outcome of a CCA that ended at `at`.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        self.interface.handle_cca(cx, at, clear);
    }

    /// Takes in that the last symbol of [`Gateway::transmit_frame`] went out at `at`.
    pub fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.interface.handle_transmitted(cx, at);
    }

    /// What the radio is to do next, once.
    pub fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.interface.poll_radio()
    }

    /// The frame being sent, FCS included.
    pub fn transmit_frame(&self) -> &[u8] {
        self.interface.transmit_frame()
    }

    /// When to call [`Gateway::handle_radio_timeout`].
    pub fn poll_radio_timeout(&self) -> Option<Symbols> {
        self.interface.poll_radio_timeout()
    }

    /// Does what is due at the radio.
    pub fn handle_radio_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.interface.handle_radio_timeout(cx, at);
    }

    /// When to call [`Gateway::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.interface.poll_timeout()
    }

    /// Gives up what has waited too long.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.interface.handle_timeout(cx);
    }
}

fn is_mesh(address: Ipv6Addr) -> bool {
    address.octets()[..8] == MESH_PREFIX
}
