//! What goes between the mesh and this machine.

use std::net::SocketAddr;

use sixlock_gateway::FlowId;

/// A program that asks a published service: on this machine or, where services are published to others, on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Client {
    /// Which service: its place in [`Services`](crate::Services).
    pub service: usize,
    /// The program's address.
    pub address: SocketAddr,
}

/// What leaves the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outbound {
    /// A datagram for the cloud.
    Datagram {
        /// Its flow.
        flow: FlowId,
        /// The UDP port it is for: of CoAP (5683) or CoAPs (5684).
        port: u16,
        /// What it carries.
        payload: Vec<u8>,
    },
    /// A whole packet for this machine.
    Packet(Vec<u8>),
    /// What a published service answers.
    Answer {
        /// Whom it is for.
        client: Client,
        /// What it carries.
        payload: Vec<u8>,
    },
}

/// What goes into the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inbound {
    /// A datagram of the cloud.
    Datagram {
        /// Its flow.
        flow: FlowId,
        /// What it carries.
        payload: Vec<u8>,
    },
    /// A whole packet of this machine.
    Packet(Vec<u8>),
    /// A frame of the radio channel.
    Frame(Vec<u8>),
    /// What comes over the serial line, or becomes of it.
    Line(LineEvent),
    /// All places of the radio channel are taken, which so many newcomers have found.
    ChannelFull(u64),
    /// What a client sends to a published service.
    Request {
        /// Who it is from.
        client: Client,
        /// What it carries.
        payload: Vec<u8>,
    },
}

/// What becomes of a serial line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineEvent {
    /// Bytes have come in.
    Bytes(Vec<u8>),
    /// It is gone: its device was unplugged, or fails. From now on it is looked for once a second.
    Lost(String),
    /// It is there again.
    Found,
}
