use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, Eui64, MESH_PREFIX, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_interface::{Arrival, Config, Interface, Layers, NetworkSecurity, Pool, RadioMachine, SendError};
use sixlock_ipv6::{Header, extension, next_header, udp};

use crate::flows::{Flow, FlowId, Flows};
use crate::internet::Internet;

/// What leaves the mesh, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// UDP datagrams, each in a flow, whatever extension headers stand before them that a host passes; anything else has no way out.
    Flows,
    /// Whole packets, to hosts that answer in packets; only what is for the host `flows` leaves in flows.
    Packets {
        /// The host.
        flows: Ipv6Addr,
    },
}

/// What is on its way out of the mesh, lent.
#[derive(Debug)]
pub enum Upstream<'a> {
    /// A datagram of a flow.
    Datagram(Datagram<'a>),
    /// An IPv6 packet.
    Packet(&'a [u8]),
}

/// A datagram on its way out of the mesh.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// The flow it belongs to: answers are handed to [`Gateway::handle_upstream`] under this name.
    pub flow: FlowId,
    /// The flow's two ends.
    pub ends: Flow,
    /// What it carries.
    pub payload: &'a [u8],
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
    /// Policy demands that it is not sent, or protected in a way that it cannot be.
    Refused,
}

/// A border router with an [`Interface`] of the layers `L` into the mesh and at most `FLOWS` flows out of it. `I` protects packets
/// that leave the mesh whole.
pub struct Gateway<C: Crypto, L: Layers<C>, const FLOWS: usize, I = ()> {
    interface: Interface<C, L>,
    internet: I,
    exit: Exit,
    flows: Flows<FLOWS>,
    downstream: Packet<<L::Pool as Pool>::Buffer>,
}

impl<C: Crypto, L: Layers<C>, const FLOWS: usize, I: Internet<C>> Gateway<C, L, FLOWS, I> {
    /// A border router without routes or flows.
    pub fn new<E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, config: &Config, exit: Exit) -> Self {
        let mut interface = Interface::new();
        interface.start(cx, config);
        Self { interface, internet: I::NEW, exit, flows: Flows::new(), downstream: Packet::new() }
    }

    /// What is done to packets that leave the mesh whole, and that come whole.
    pub fn internet(&mut self) -> &mut I {
        &mut self.internet
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
            // The border router itself offers no service.
            Some(Arrival::Datagram(delivered)) => self.interface.port_unreachable(cx, at, delivered),
            Some(Arrival::External(mut external)) => {
                let leaves_whole = leaves_whole(self.interface.packet(&external), self.exit);
                let is_refused = L::Security::PROTECTS
                    && match leaves_whole {
                        true => !self.interface.admits(cx, &external),
                        false => !self.interface.open(cx, &mut external),
                    };
                if is_refused {
                    return self.interface.release_packet(external);
                }
                let packet = self.interface.packet(&external);
                match leaving(packet, self.exit) {
                    Some(Leaving::Packet) => {
                        if let Some(packet) = self.internet.outbound(cx, packet) {
                            upstream(Upstream::Packet(packet));
                        }
                    }
                    Some(Leaving::Datagram { ends, payload }) => {
                        let flow = self.flows.of(cx.now, ends, cx.counters);
                        upstream(Upstream::Datagram(Datagram { flow, ends, payload }));
                    }
                    None => cx.counters.count(Counter::GatewayNotUdp),
                }
                self.interface.release_packet(external);
            }
            None => {}
        }
    }

    /// Takes in a packet from outside: the first `len` bytes of `buffer`. What is for a node goes into the mesh. Returns
    /// the answer for outside, if there is one, made in `buffer`, of which it may take as much as the mesh's MTU.
    ///
    /// Packets are refused and counted when they are not for the mesh, say that they are from it, or are from the
    /// host of the flows.
    pub fn handle_packet<'b, E: Entropy, N: Nv>(
        &'b mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        buffer: &'b mut [u8],
        len: usize,
    ) -> Option<&'b [u8]> {
        let len = self.internet.inbound(cx, buffer, len)?;
        let source =
            buffer.get(..len).and_then(|packet| Header::parse(packet).ok()).map(|(header, _)| header.source);
        let taken = match self.exit {
            Exit::Flows => false,
            Exit::Packets { flows } => source != Some(flows),
        };
        if !taken {
            cx.counters.count(Counter::Ipv6BadAddress);
            return None;
        }
        let len = self.interface.handle_external(cx, at, buffer, len)?;
        self.internet.outbound(cx, buffer.get(..len)?)
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

impl<C: Crypto, L: Layers<C>, const FLOWS: usize, I: Internet<C>> RadioMachine for Gateway<C, L, FLOWS, I> {
    type Crypto = C;
    type Layers = L;

    fn interface(&mut self) -> &mut Interface<C, L> {
        &mut self.interface
    }
}

/// How a packet leaves.
enum Leaving<'a> {
    /// As it is.
    Packet,
    /// As a datagram between these ends.
    Datagram {
        /// The ends.
        ends: Flow,
        /// What it carries.
        payload: &'a [u8],
    },
}

/// How `packet` leaves by `exit`, if it does.
fn leaving(packet: &[u8], exit: Exit) -> Option<Leaving<'_>> {
    if leaves_whole(packet, exit) {
        return Some(Leaving::Packet);
    }
    let (header, behind) = Header::parse(packet).ok()?;
    let packet = packet.get(..Header::LEN + behind.len())?;
    // The host is behind the flow, so that its share of the extension headers is done here.
    let upper = extension::process(packet).ok().filter(|upper| upper.protocol == next_header::UDP)?;
    let datagram = packet.get(upper.at..)?;
    let (ports, payload) = udp::Header::parse(header.source, header.destination, datagram).ok()?;
    let ends = Flow {
        node: header.source,
        node_port: ports.source_port,
        host: header.destination,
        host_port: ports.destination_port,
    };
    Some(Leaving::Datagram { ends, payload })
}

/// Whether `packet` leaves by `exit` as it is.
fn leaves_whole(packet: &[u8], exit: Exit) -> bool {
    match (exit, Header::parse(packet)) {
        (Exit::Packets { flows }, Ok((header, _))) => header.destination != flows,
        _ => false,
    }
}
