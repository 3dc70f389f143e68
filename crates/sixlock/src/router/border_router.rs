//! What a border router does wherever its mesh is: policies, flows, packets and published services.

use std::error::Error;
use std::sync::mpsc::Receiver;

use sixlock_base::{Eui64, Instant, MESH_PREFIX};
use sixlock_gateway::Upstream;
use sixlock_gateway::ipsec::{Addresses, Selector};
use sixlock_router::{Inbound, Outbound};
use sixlock_sim::{Changed, FlowId, GatewayError, Peerings, Prefix, SecurityGateway};
use tokio::sync::mpsc;

use super::firewall_file::Firewall;
use super::firewall_reload;
use super::machine::Machine;
use super::peerings::peerings;
use super::refusals::Refusals;
use crate::keys::NetworkFile;
use crate::protection::{bypass, transform};
use crate::published::{self, Published};
use crate::reload::Reload;
use crate::station::{Context, Lent, Moment};

/// The border router's number among the stations.
const ROUTER: u32 = 0;
/// The longest IPv6 packet, in bytes.
const MTU: usize = 1280;
/// Room for what goes around a packet from outside: a tunnel, and a source route.
const AROUND: usize = 512;

/// What a border router is told at its start, wherever its mesh is.
pub(super) struct Parts {
    pub(super) network: NetworkFile,
    pub(super) gateway: Option<SecurityGateway>,
    pub(super) firewall: Option<Firewall>,
    /// The firewall's file, as often as that is read anew.
    pub(super) firewalls: Receiver<firewall_reload::Reload>,
    pub(super) lent: Lent,
    pub(super) to_router: mpsc::Sender<Outbound>,
    pub(super) published: Published,
    /// The gateway's file, as often as that is read anew.
    pub(super) reloads: Receiver<Reload>,
}

/// A border router, with what it is lent.
pub(super) struct BorderRouter<M> {
    pub(super) machine: Box<M>,
    pub(super) lent: Lent,
    network: NetworkFile,
    /// What it shares with nodes, and with hosts outside.
    with_nodes: Peerings,
    with_hosts: Peerings,
    reloads: Receiver<Reload>,
    firewalls: Receiver<firewall_reload::Reload>,
    to_router: mpsc::Sender<Outbound>,
    published: Published,
    refusals: Refusals,
}

impl<M: Machine> BorderRouter<M> {
    pub(super) fn new(machine: Box<M>, parts: Parts, now: Instant) -> Result<Self, Box<dyn Error>> {
        let Parts { network, gateway, firewall, firewalls, lent, to_router, published, reloads } = parts;
        let mut router = Self {
            machine,
            lent,
            network,
            with_nodes: if M::SPEAKS_RPL { Peerings::passing(Selector::RPL) } else { Peerings::default() },
            with_hosts: Peerings::default(),
            reloads,
            firewalls,
            to_router,
            published,
            refusals: Refusals::new(now),
        };
        if let Some(firewall) = &firewall {
            router.filter(firewall);
        }
        router.protect(gateway.as_ref(), now)?;
        Ok(router)
    }

    /// Lets this firewall say what passes from now on: also of flows that another has let through, and counted anew.
    fn filter(&mut self, firewall: &Firewall) {
        let rules: Vec<_> = firewall.rules.iter().map(|(_, rule)| *rule).collect();
        // The file has no more than there is room for.
        if self.machine.firewall().start(&rules, firewall.defaults).is_ok() {
            self.refusals.follow(firewall);
        }
    }

    /// Makes its associations and policies those of this gateway, or of a border router that is none.
    ///
    /// # Errors
    /// Says why it cannot be done; then nothing is changed.
    fn protect(
        &mut self,
        gateway: Option<&SecurityGateway>,
        now: Instant,
    ) -> Result<Changed, Box<dyn Error>> {
        let Self { machine, network, with_nodes, with_hosts, .. } = self;
        let wanted = peerings(network, gateway)?;
        let internet = gateway.and_then(|gateway| gateway.internet.as_ref());
        if let Some(side) = internet {
            let hosts: Vec<_> = side.peerings().collect();
            with_hosts.check(machine.internet().ipsec(), ROUTER, &hosts, transform)?;
        }
        let security = machine.security();
        let mut changed = with_nodes.change(&mut security.ipsec, ROUTER, &wanted, now, transform)?;
        match gateway {
            Some(gateway) => security
                .protect_others(Prefix::mesh().addresses(), !gateway.nodes.enforce)
                .map_err(|_| "no room for a policy")?,
            None if wanted.is_empty() => bypass(&mut security.ipsec, Selector::ANY)?,
            None => {
                let is_protected = |id| wanted.iter().any(|peering| peering.id == id);
                for node in network.nodes.iter().filter(|node| !is_protected(node.id)) {
                    let address = Eui64::of_node(node.id).with_prefix(MESH_PREFIX);
                    let selector = Selector { remote: Addresses::one(address), ..Selector::ANY };
                    bypass(&mut security.ipsec, selector)?;
                }
            }
        }
        for peering in &wanted {
            machine.compress(peering);
        }
        if let Some(side) = internet {
            changed = changed + side.apply(machine.internet(), with_hosts, now, transform)?;
        }
        Ok(changed)
    }

    /// Follows the files of the firewall and of the gateway, if they were read anew.
    fn reload(&mut self, now: Instant) {
        if let Ok(firewall_reload::Reload { firewall, answer }) = self.firewalls.try_recv() {
            self.filter(&firewall);
            let _ = answer.send(());
        }
        self.with_hosts.handle_timeout(self.machine.internet().ipsec(), now);
        if let Ok(Reload { gateway, answer }) = self.reloads.try_recv() {
            let changed = self.protect(Some(&gateway), now).map_err(|error| error.to_string());
            let _ = answer.send(changed.map(|changed| (changed, gateway.with_hosts())));
        }
    }

    /// Lets leave what leaves the mesh.
    pub(super) fn leave(&mut self, now: Instant, left: Outbound) {
        if let Some(outbound) = self.published.leave(&mut self.lent.cx(now), left) {
            // What the other side does not take is lost, as on any link.
            let _ = self.to_router.try_send(outbound);
        }
    }

    /// Takes in what comes from outside the mesh; the rest is returned.
    pub(super) fn handle(&mut self, time: Moment, inbound: Inbound) -> Option<Inbound> {
        let Self { machine, lent, to_router, published, .. } = self;
        let mut cx = lent.cx(time.now);
        // What the mesh does not take is counted.
        match inbound {
            Inbound::Datagram { flow, payload } => {
                let _ = machine.handle_upstream(&mut cx, time, flow, &payload);
            }
            Inbound::Packet(mut packet) => {
                let len = packet.len();
                packet.resize(len.max(MTU) + AROUND, 0);
                if let Some(answer) = machine.handle_packet(&mut cx, time, &mut packet, len) {
                    let _ = to_router.try_send(Outbound::Packet(answer.to_vec()));
                }
            }
            Inbound::Request { client, payload } => {
                for said in published.open(&mut cx, client, payload) {
                    let mut way = MeshRouter { machine: &mut **machine, cx: &mut cx, time };
                    published.ask(&mut way, client, &said);
                }
            }
            other @ (Inbound::Frame(_) | Inbound::ChannelFull(_) | Inbound::Line(_)) => return Some(other),
        }
        None
    }

    /// Deals with what calls have brought about.
    pub(super) fn settle(&mut self, now: Instant) {
        while let Some(outbound) = self.published.poll_transmit(&mut self.lent.cx(now)) {
            let _ = self.to_router.try_send(outbound);
        }
        let events =
            [self.machine.security().ipsec.poll_event(), self.machine.internet().ipsec().poll_event()];
        for event in events.into_iter().flatten() {
            self.refusals.by_ipsec.count(event);
        }
        self.reload(now);
        self.refusals.tell(now, &self.lent.counters, self.machine.firewall());
    }
}

/// What leaves the mesh, as it goes to sockets.
pub(super) fn outbound(upstream: Upstream<'_>) -> Outbound {
    match upstream {
        Upstream::Packet(packet) => Outbound::Packet(packet.to_vec()),
        Upstream::Datagram(datagram) => Outbound::Datagram {
            flow: datagram.flow,
            port: datagram.ends.host_port,
            payload: datagram.payload.to_vec(),
        },
    }
}

/// The way into the mesh, at a time.
struct MeshRouter<'a, 'c, M> {
    machine: &'a mut M,
    cx: &'a mut Context<'c>,
    time: Moment,
}

impl<M: Machine> published::Router for MeshRouter<'_, '_, M> {
    fn open_flow(&mut self, node: u32, port: u16) -> Option<FlowId> {
        Some(self.machine.open(self.cx, Eui64::of_node(node), port))
    }

    fn send(&mut self, flow: FlowId, payload: &[u8]) -> Result<(), GatewayError> {
        self.machine.handle_upstream(self.cx, self.time, flow, payload)
    }
}
