use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_interface::{Arrival, Config, Interface, Layers, NetworkSecurity, Pool, RadioMachine, SendError};

use crate::firewall::Filter;
use crate::flows::{Flow, FlowId};
use crate::internet::Internet;
use crate::outside::{Datagram, Error, Exit, Outside, Upstream};

/// A border router with an [`Interface`] of the layers `L` into the mesh and at most `FLOWS` flows out of it. `I` protects packets
/// that leave the mesh whole, and `F` says what may pass.
pub struct Gateway<C: Crypto, L: Layers<C>, const FLOWS: usize, I = (), F = ()> {
    interface: Interface<C, L>,
    outside: Outside<FLOWS, I, F>,
    downstream: Packet<<L::Pool as Pool>::Buffer>,
}

impl<C: Crypto, L: Layers<C>, const FLOWS: usize, I: Internet<C>, F: Filter> Gateway<C, L, FLOWS, I, F> {
    /// A border router without routes or flows.
    pub fn new<E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, config: &Config, exit: Exit) -> Self {
        let mut interface = Interface::new();
        interface.start(cx, config);
        Self { interface, outside: Outside::new(I::NEW, exit), downstream: Packet::new() }
    }

    /// What is done to packets that leave the mesh whole, and that come whole.
    pub fn internet(&mut self) -> &mut I {
        &mut self.outside.internet
    }

    /// What says which packets pass.
    pub fn firewall(&mut self) -> &mut F {
        &mut self.outside.firewall
    }

    /// Takes in a received frame, whose last symbol came in at `at`, and gives what it completes for
    /// outside, if it does, to `upstream`.
    pub fn handle_frame<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
        upstream: impl FnOnce(Upstream<'_>),
    ) {
        match self.interface.handle_frame(cx, at, frame) {
            Some(Arrival::Datagram(delivered)) => {
                let datagram = self.interface.datagram(&delivered);
                let ends = Flow {
                    node: datagram.source,
                    node_port: datagram.source_port,
                    host: datagram.destination,
                    host_port: datagram.destination_port,
                };
                // The border router itself offers no service, but a flow may have been begun at its address.
                let Some(flow) = self.outside.find(cx, &ends) else {
                    return self.interface.port_unreachable(cx, at, delivered);
                };
                upstream(Upstream::Datagram(Datagram { flow, ends, payload: datagram.payload }));
                self.interface.release(delivered);
            }
            Some(Arrival::External(mut external)) => {
                let leaves_whole = self.outside.takes_whole(self.interface.packet(&external));
                let is_refused = L::Security::PROTECTS
                    && match leaves_whole {
                        true => !self.interface.admits(cx, &external),
                        false => !self.interface.open(cx, &mut external),
                    };
                if is_refused {
                    return self.interface.release_packet(external);
                }
                self.outside.leave(cx, self.interface.packet(&external), upstream);
                self.interface.release_packet(external);
            }
            None => {}
        }
    }

    /// Takes in a packet from outside: the first `len` bytes of `buffer`. What is for a node goes into the mesh. Returns
    /// the answer for outside, if there is one, made in `buffer`, of which it may take as much as the mesh's MTU.
    ///
    /// Packets are refused and counted when they are not for the mesh, say that they are from it, are from the
    /// host of the flows, or may not pass.
    pub fn handle_packet<'b, E: Entropy, N: Nv>(
        &'b mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        buffer: &'b mut [u8],
        len: usize,
    ) -> Option<&'b [u8]> {
        let mesh = self.interface.net().mesh_prefix();
        let len = self.outside.enter(cx, mesh, buffer, len)?;
        let len = self.interface.handle_external(cx, at, buffer, len)?;
        // It is this router's own answer to what was let in.
        self.outside.internet.outbound(cx, buffer.get(..len)?)
    }

    /// Begins a flow from the host outside at `host`, or from this router at its own address, to a node's port.
    pub fn open<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        host: Ipv6Addr,
        node: Ipv6Addr,
        node_port: u16,
    ) -> FlowId {
        self.outside.open(cx, host, node, node_port)
    }

    /// Sends a datagram from outside to the node of its flow.
    pub fn handle_upstream<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        flow: FlowId,
        payload: &[u8],
    ) -> Result<(), Error> {
        let ends = self.outside.ends(cx, flow)?;
        self.downstream.reset(self.interface.front());
        self.downstream.extend(payload).map_err(|_| Error::TooLong)?;
        self.interface
            .send_from(cx, at, &mut self.downstream, ends.host, ends.host_port, ends.node, ends.node_port)
            .map_err(|error| match error {
                SendError::NoRoute => Error::NoRoute,
                SendError::TooLong => Error::TooLong,
                SendError::NoRoom => Error::Full,
                SendError::Refused => Error::Refused,
            })
    }
}

impl<C, L, const FLOWS: usize, I, F> RadioMachine for Gateway<C, L, FLOWS, I, F>
where
    C: Crypto,
    L: Layers<C>,
    I: Internet<C>,
    F: Filter,
{
    type Crypto = C;
    type Layers = L;

    fn interface(&mut self) -> &mut Interface<C, L> {
        &mut self.interface
    }
}
