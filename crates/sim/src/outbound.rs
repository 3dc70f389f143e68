//! Datagrams on their way out of the mesh.

use core::net::SocketAddrV6;

use sixlock_gateway::FlowId;

/// A datagram on its way out of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// The border router by which it leaves: 0, or another by its place behind the nodes.
    pub(crate) router: u32,
    /// Its flow there, by which answers are handed to [`Simulation::handle_upstream`](crate::Simulation::handle_upstream).
    pub flow: FlowId,
    /// The node that sent it.
    pub from: SocketAddrV6,
    /// The UDP port it is for.
    pub port: u16,
    /// What it carries.
    pub payload: Vec<u8>,
}
