//! The machine in a border router, by what it has beside its mesh.

use sixlock_base::Eui64;
use sixlock_crypto::Soft;
use sixlock_gateway::ipsec::Automated;
use sixlock_gateway::{Firewall, SecurityGateway as MeshGateway, Tunnels};
use sixlock_sim::{FlowId, GatewayError, Peering};

use crate::keys::MAX_NODES;
use crate::protection::{Ipsec, Transform};
use crate::station::{Context, Moment};

/// Hosts outside with tunnels to a security gateway, at most.
const HOSTS: usize = 16;
/// Rules of a firewall, at most.
pub(super) const RULES: usize = 64;

/// What protects packets in the mesh: a policy for each node, one for RPL, and two for the packets of others.
pub(super) type MeshSecurity = MeshGateway<Ipsec<{ MAX_NODES + 3 }, MAX_NODES>>;
/// What protects packets outside of it.
pub(super) type Hosts = Tunnels<Soft, Transform, HOSTS, Automated<HOSTS>>;
/// What says which flows pass.
pub(super) type Rules = Firewall<RULES, 1024>;

/// A border router's machine, whose mesh is a radio channel, or at the other end of a serial line.
pub(super) trait Machine {
    /// Whether it speaks RPL, whose messages pass as they are: see [`Selector::RPL`](sixlock_gateway::ipsec::Selector::RPL).
    const SPEAKS_RPL: bool;

    fn security(&mut self) -> &mut MeshSecurity;

    fn internet(&mut self) -> &mut Hosts;

    fn firewall(&mut self) -> &mut Rules;

    /// Lets headers be compressed on its own links whose packets `peering` protects.
    fn compress(&mut self, peering: &Peering);

    /// Begins a flow from the cloud's address to a node's port.
    fn open(&mut self, cx: &mut Context<'_>, node: Eui64, port: u16) -> FlowId;

    /// Sends a datagram in a flow.
    fn handle_upstream(
        &mut self,
        cx: &mut Context<'_>,
        time: Moment,
        flow: FlowId,
        payload: &[u8],
    ) -> Result<(), GatewayError>;

    /// Sends a packet of this machine, the first `len` bytes of `buffer`, into the mesh; the answer to it, if there is one.
    fn handle_packet<'b>(
        &'b mut self,
        cx: &mut Context<'_>,
        time: Moment,
        buffer: &'b mut [u8],
        len: usize,
    ) -> Option<&'b [u8]>;
}
