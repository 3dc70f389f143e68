use core::fmt;
use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Entropy, LINK_LOCAL_PREFIX, Nv};
use sixlock_ipv6::{Header, extension, next_header, udp};

use crate::firewall::{Direction, Filter, Traffic};
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
    /// The flow it belongs to: answers are handed in under this name.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownFlow => "the flow is gone",
            Self::TooLong => "the datagram is longer than the mesh carries",
            Self::NoRoute => "no route leads to the node",
            Self::Full => "every buffer is in use: send it later",
            Self::Refused => {
                "policy demands that the datagram is not sent, or protected in a way that it cannot be"
            }
        })
    }
}

impl core::error::Error for Error {}

/// The side of a border router that is not the mesh: `F` says which packets pass, `I` protects those that leave whole.
pub(crate) struct Outside<const FLOWS: usize, I, F> {
    pub(crate) internet: I,
    pub(crate) firewall: F,
    exit: Exit,
    flows: Flows<FLOWS>,
}

impl<const FLOWS: usize, I, F: Filter> Outside<FLOWS, I, F> {
    pub(crate) fn new(internet: I, exit: Exit) -> Self {
        Self { internet, firewall: F::NEW, exit, flows: Flows::new() }
    }

    /// Whether `packet` leaves as it is.
    pub(crate) fn takes_whole(&self, packet: &[u8]) -> bool {
        match (self.exit, Header::parse(packet)) {
            (Exit::Packets { flows }, Ok((header, _))) => header.destination != flows,
            _ => false,
        }
    }

    /// Gives a packet of the mesh to `upstream` as it leaves, if it may and there is a way.
    pub(crate) fn leave<C, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &[u8],
        upstream: impl FnOnce(Upstream<'_>),
    ) where
        I: Internet<C>,
    {
        if !self.firewall.passes(cx.now, Direction::Out, Traffic::Packet(packet)) {
            return;
        }
        if self.takes_whole(packet) {
            if let Some(packet) = self.internet.outbound(cx, packet) {
                upstream(Upstream::Packet(packet));
            }
            return;
        }
        match datagram(packet) {
            Some((ends, payload)) => {
                let flow = self.flows.of(cx.now, ends, cx.counters);
                upstream(Upstream::Datagram(Datagram { flow, ends, payload }));
            }
            None => cx.counters.count(Counter::GatewayNotUdp),
        }
    }

    /// Takes in a packet from outside for the mesh of that prefix, the first `len` bytes of `buffer`; its length if it may go into the mesh.
    pub(crate) fn enter<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        mesh: Option<[u8; 8]>,
        buffer: &mut [u8],
        len: usize,
    ) -> Option<usize>
    where
        I: Internet<C>,
    {
        let len = self.internet.inbound(cx, buffer, len)?;
        let Some((header, payload)) = buffer.get(..len).and_then(|packet| Header::parse(packet).ok()) else {
            cx.counters.count(Counter::Ipv6Malformed);
            return None;
        };
        let len = Header::LEN + payload.len();
        let is_taken = match self.exit {
            Exit::Flows => false,
            Exit::Packets { flows } => {
                header.source != flows && is_outside(mesh, header.source) && is_node(mesh, header.destination)
            }
        };
        if !is_taken {
            cx.counters.count(Counter::Ipv6BadAddress);
            return None;
        }
        self.firewall.passes(cx.now, Direction::In, Traffic::Packet(buffer.get(..len)?)).then_some(len)
    }

    /// Begins a flow from outside.
    pub(crate) fn open<C, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        host: Ipv6Addr,
        node: Ipv6Addr,
        node_port: u16,
    ) -> FlowId {
        self.flows.open(cx.now, node, node_port, host, cx.counters)
    }

    /// The flow between these ends, if it was begun.
    pub(crate) fn find<C, E, N>(&mut self, cx: &Cx<'_, C, E, N>, ends: &Flow) -> Option<FlowId> {
        self.flows.find(cx.now, ends)
    }

    /// The ends of a flow in which a datagram is to go into the mesh, if it may.
    pub(crate) fn ends<C, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, flow: FlowId) -> Result<Flow, Error> {
        let ends = self.flows.get(cx.now, flow).ok_or(Error::UnknownFlow)?;
        match self.firewall.passes(cx.now, Direction::In, Traffic::Datagram(ends)) {
            true => Ok(ends),
            false => Err(Error::Refused),
        }
    }
}

/// Whether it is an address of a host outside the mesh of that prefix.
pub(crate) fn is_outside(mesh: Option<[u8; 8]>, address: Ipv6Addr) -> bool {
    !is_node(mesh, address)
        && address.octets()[..8] != LINK_LOCAL_PREFIX
        && !address.is_multicast()
        && address != Ipv6Addr::LOCALHOST
        && address != Ipv6Addr::UNSPECIFIED
}

/// Whether it is an address of the mesh of that prefix.
pub(crate) fn is_node(mesh: Option<[u8; 8]>, address: Ipv6Addr) -> bool {
    mesh.is_some_and(|prefix| address.octets()[..8] == prefix)
}

/// The UDP datagram in `packet`: its ends, and what it carries.
fn datagram(packet: &[u8]) -> Option<(Flow, &[u8])> {
    let (header, behind) = Header::parse(packet).ok()?;
    let packet = packet.get(..Header::LEN + behind.len())?;
    // The host is behind the flow, so that its share of the extension headers is done here.
    let upper = extension::process(packet).ok().filter(|upper| upper.protocol == next_header::UDP)?;
    let (ports, payload) =
        udp::Header::parse(header.source, header.destination, packet.get(upper.at..)?).ok()?;
    let ends = Flow {
        node: header.source,
        node_port: ports.source_port,
        host: header.destination,
        host_port: ports.destination_port,
    };
    Some((ends, payload))
}
