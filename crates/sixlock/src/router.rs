//! `sixlock router`: the border router, as a program.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use serde_json::json;
use sixlock_base::{Counter, Duration, Eui64, Instant, MESH_PREFIX, Security};
use sixlock_crypto::Soft;
use sixlock_gateway::ipsec::{Addresses, Automated, Selector};
use sixlock_gateway::{
    Datagrams, Exit, Gateway, Link, Route, Routes, SecurityGateway as MeshGateway, Stack, Tunnels, Upstream,
};
use sixlock_ieee802154::{Address, Endpoint, Header};
use sixlock_node::{COAP_PORT, COAPS_PORT, RadioMachine};
use sixlock_router::{Air, HOST, Inbound, Outbound, Tun, Uplink};
use sixlock_sim::{CLOUD, Changed, FlowId, GatewayError, Peering, Peerings, Prefix, SecurityGateway};
use tokio::sync::mpsc;

use crate::args::Router as Args;
use crate::cloud::until_told_to_stop;
use crate::gateway_file::{Gateway as SecureGateway, gateway};
use crate::keys::{MAX_NODES, NetworkFile};
use crate::mesh::WAITING;
use crate::neighbour_file::NeighbourFile;
use crate::protection::{
    Compression, Ipsec, Reassembly, Transform, bypass, compress, peering, reason, transform,
};
use crate::published::{self, Published};
use crate::reload::{Nodes, Reload, Reloader, follow};
use crate::station::{CHANNEL, Context, Lent, Moment, Station, allow, drive, interface};
use crate::xfrm_files;

/// The border router's number among the stations.
const ROUTER: u32 = 0;
/// The longest IPv6 packet, in bytes.
const MTU: usize = 1280;
/// The border router's tables are large, and made on the stack before they are moved.
const STACK: usize = 64 << 20;

/// The services of a node: it speaks DTLS with the cloud, and echoes nothing beside that.
const SERVICES: [(&str, u16); 1] = [("coap", COAP_PORT)];
/// Hosts outside with tunnels to a security gateway, at most.
const HOSTS: usize = 16;
/// Where a cloud on this machine takes CoAP over DTLS.
const COAPS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), COAPS_PORT);
/// How often it is told what was refused, at most.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// Its policies are one for each node, and two for the packets of others.
type Machine = Gateway<Soft, Layers, 1024, Tunnels<Soft, Transform, HOSTS, Automated<HOSTS>>>;
type Layers = Stack<
    Link<true, MAX_NODES, 4>,
    Datagrams<MTU, 32>,
    Routes<[Route; MAX_NODES]>,
    MeshGateway<Ipsec<{ MAX_NODES + 2 }, MAX_NODES>>,
    Compression<{ 2 * MAX_NODES }>,
    Reassembly,
>;

/// What policy and security refuse.
const REFUSALS: [Counter; 13] = [
    Counter::MacNeighboursFull,
    Counter::MacUnsecured,
    Counter::MacBadMic,
    Counter::MacReplayed,
    Counter::Ipv6BadAddress,
    Counter::IpsecDiscarded,
    Counter::IpsecNotProtected,
    Counter::IpsecMalformed,
    Counter::IpsecNoAssociation,
    Counter::IpsecBadIcv,
    Counter::IpsecReplayed,
    Counter::IpsecExpired,
    Counter::IpsecPolicyViolated,
];

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let network = NetworkFile::read(&args.network)?;
    allow(args.air, network.llsec.as_ref())?;
    let coaps = cloud_of(args, &network)?;
    let counters = args.counters.clone().unwrap_or_else(|| args.network.with_extension("counters"));
    // Its tunnels' keys may be those of another network's gateway as well.
    let beside_gateway = args.gateway.gateway.as_ref().map(|file| file.with_extension("counters"));
    let mut lent = Lent::new([&counters].into_iter().chain(&beside_gateway))?;
    let neighbours = NeighbourFile::beside(&counters, network.llsec.as_ref(), MAX_NODES)?;
    let gateway = gateway(&args.gateway, network.has_ipsec(), args.tun.is_some())?;
    if let Some(dropped) = gateway.drops(network.nodes.iter().map(|node| (node.id, node.ipsec.is_some()))) {
        to_stderr!("{dropped}");
    }
    let with_hosts = gateway.with_hosts();
    let xfrm = args.network.with_extension("xfrm");
    let associations = xfrm_files::write(&xfrm, &with_hosts)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (to_gateway, reloads) = std::sync::mpsc::channel();
        let reloader =
            Reloader::new(&args.gateway, args.tun.is_some(), &gateway, Nodes::Follow, xfrm, to_gateway)?;
        let SecureGateway { packets, clients, listen } = gateway;
        let tun = args.tun.as_deref().map(|name| Tun::open(name, !with_hosts.is_empty())).transpose()?;
        let mut air = Air::host(args.air, CHANNEL).map_err(|error| {
            format!("no socket at {}: {error}; choose another address with --air", args.air)
        })?;
        let address = air.address()?;
        let (to_mesh, inbound) = sync_channel(WAITING);
        let (to_router, outbound) = mpsc::channel(WAITING);
        air.read(to_mesh.clone())?;
        let exit = if tun.is_some() { Exit::Packets { flows: CLOUD } } else { Exit::Flows };
        let stop = Arc::new(AtomicBool::new(false));
        let (told, started) = std::sync::mpsc::channel();
        let nodes = network.nodes.len();
        // Whoever has no tunnel of their own to the nodes reaches them by DTLS only.
        let reached = network.nodes.iter().map(|node| node.id).filter(|_| clients.is_some()).collect();
        let bound = published::bind(listen, reached, &SERVICES, true).await?;
        let file = args.network.with_extension("endpoints.json");
        let reached = bound.summary(&file);
        let published = Published::new(&mut lent.cx(Instant::from_millis(0)), bound.services, clients);
        let compression = args.compression.choice();
        let mesh = {
            let stop = stop.clone();
            thread::Builder::new().name("mesh".into()).stack_size(STACK).spawn(move || {
                let mut station = match RouterStation::new(
                    network,
                    packets.as_ref(),
                    lent,
                    neighbours,
                    exit,
                    to_router,
                    published,
                    reloads,
                ) {
                    Ok(station) => station,
                    Err(error) => return drop(told.send(Err(error.to_string()))),
                };
                station.machine.interface().compression().payloads = compression;
                let _ = told.send(Ok(()));
                drive(&mut station, &mut air, &inbound, &stop);
            })?
        };
        started.recv()??;
        let uplink = Uplink { coap: args.coap, coaps };
        let router = tokio::spawn(sixlock_router::run(uplink, bound.sockets, tun, outbound, to_mesh));
        to_stdout!("ready air={address}");
        to_stdout!("{nodes} nodes may join; what they send to {CLOUD} goes to {coaps}");
        if let Some(name) = &args.tun {
            to_stdout!("and this machine, {HOST} for them, reaches them through {name}");
        }
        if !bound.endpoints.is_empty() {
            fs::write(&file, json!({ "nodes": bound.endpoints }).to_string())?;
            to_stdout!("{reached}");
        }
        if let Some(file) = associations {
            to_stdout!("once it has the keys of IPsec: sudo ip -batch {}", file.display());
        }
        tokio::select! {
            stopped = until_told_to_stop() => stopped?,
            () = follow(reloader) => {}
        }
        stop.store(true, Ordering::Relaxed);
        let _ = tokio::task::spawn_blocking(|| mesh.join()).await;
        router.abort();
        Ok(())
    })
}

/// Where the cloud takes CoAP over DTLS, by the command line, the network's file, or as it does if nothing else is said.
fn cloud_of(args: &Args, network: &NetworkFile) -> Result<SocketAddr, String> {
    match (args.coaps, &network.cloud) {
        (Some(address), _) => Ok(address),
        (None, Some(cloud)) => {
            let told = |why: &dyn std::fmt::Display| {
                format!(
                    "{}: [cloud] coaps \"{}\": {why}; it is to be the cloud's HOST:PORT, and --coaps IP:PORT counts instead of it",
                    args.network.display(),
                    cloud.coaps
                )
            };
            let mut addresses = cloud.coaps.to_socket_addrs().map_err(|error| told(&error))?;
            addresses.next().ok_or_else(|| told(&"it has no address"))
        }
        (None, None) => Ok(COAPS),
    }
}

struct RouterStation {
    machine: Box<Machine>,
    lent: Lent,
    network: NetworkFile,
    /// What it shares with nodes, and with hosts outside.
    with_nodes: Peerings,
    with_hosts: Peerings,
    /// Its file, as often as that is read anew.
    reloads: Receiver<Reload>,
    /// The network's nodes. With secured links, frames of others are dropped before anything is remembered of their senders.
    members: HashSet<Eui64>,
    /// What its neighbours' frame counters have reached, if links are secured.
    neighbours: Option<NeighbourFile>,
    to_router: mpsc::Sender<Outbound>,
    published: Published,
    /// How often IPsec has refused packets, by direction and reason.
    reasons: BTreeMap<(&'static str, &'static str), u32>,
    /// How much was refused, and when that was told.
    reported: ([u32; REFUSALS.len()], Instant),
}

impl RouterStation {
    #[allow(clippy::too_many_arguments, reason = "each is one part of it")]
    fn new(
        network: NetworkFile,
        gateway: Option<&SecurityGateway>,
        mut lent: Lent,
        neighbours: Option<NeighbourFile>,
        exit: Exit,
        to_router: mpsc::Sender<Outbound>,
        published: Published,
        reloads: Receiver<Reload>,
    ) -> Result<Self, Box<dyn Error>> {
        let start = Instant::from_millis(0);
        let config = interface(0, network.llsec.as_ref())?;
        let mut machine = Box::new(Machine::new(&mut lent.cx(start), &config, exit));
        let interface = machine.interface();
        for (neighbour, counter) in neighbours.iter().flat_map(NeighbourFile::counters) {
            // The table has as much room as the file.
            interface.restore_frame_counter(neighbour, counter);
        }
        for node in &network.nodes {
            let address = Eui64::of_node(node.id);
            let route = interface.routing().add(address, address);
            route.map_err(|_| format!("node {}: a network has at most {MAX_NODES} nodes", node.id))?;
        }
        let members = network.nodes.iter().map(|node| Eui64::of_node(node.id)).collect();
        let mut station = Self {
            machine,
            lent,
            network,
            with_nodes: Peerings::default(),
            with_hosts: Peerings::default(),
            reloads,
            members,
            neighbours,
            to_router,
            published,
            reasons: BTreeMap::new(),
            reported: ([0; _], start),
        };
        station.protect(gateway, start)?;
        Ok(station)
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
        let interface = machine.interface();
        let security = interface.security();
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
            compress(interface.compression(), peering);
        }
        if let Some(side) = internet {
            changed = changed + side.apply(machine.internet(), with_hosts, now, transform)?;
        }
        Ok(changed)
    }

    /// Follows the gateway's file, if that was read anew.
    fn reload(&mut self, now: Instant) {
        self.with_hosts.handle_timeout(self.machine.internet().ipsec(), now);
        if let Ok(Reload { gateway, answer }) = self.reloads.try_recv() {
            let changed = self.protect(Some(&gateway), now).map_err(|error| error.to_string());
            let _ = answer.send(changed.map(|changed| (changed, gateway.with_hosts())));
        }
    }

    fn count_reasons(&mut self) {
        let events = [
            self.machine.interface().security().ipsec.poll_event(),
            self.machine.internet().ipsec().poll_event(),
        ];
        for reason in events.into_iter().flatten().filter_map(reason) {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }
}

/// Whether a frame says that one of these sent it, or does not say it, as acknowledgements do not.
fn is_of(members: &HashSet<Eui64>, frame: &[u8]) -> bool {
    match Header::parse(frame).map(|(header, _)| header.source) {
        Ok(Some(Endpoint { address: Address::Extended(source), .. })) => members.contains(&source),
        _ => true,
    }
}

/// The way into the mesh, at a time.
struct MeshRouter<'a, 'c> {
    machine: &'a mut Machine,
    cx: &'a mut Context<'c>,
    time: Moment,
}

impl published::Router for MeshRouter<'_, '_> {
    fn open_flow(&mut self, node: u32, port: u16) -> Option<FlowId> {
        Some(self.machine.open(self.cx, CLOUD, Eui64::of_node(node), port))
    }

    fn send(&mut self, flow: FlowId, payload: &[u8]) -> Result<(), GatewayError> {
        self.machine.handle_upstream(self.cx, self.time.at, flow, payload)
    }
}

/// What the border router, or the cloud that it speaks for, shares with the nodes.
fn peerings(
    network: &NetworkFile,
    gateway: Option<&SecurityGateway>,
) -> Result<Vec<Peering>, Box<dyn Error>> {
    let link_only = gateway.map_or(&[][..], |gateway| &gateway.nodes.link_only);
    if let Some(id) = link_only.iter().find(|&&id| network.nodes.iter().all(|node| node.id != id)) {
        return Err(format!("there is no node {id} that could have link security only").into());
    }
    if gateway.is_some_and(|gateway| gateway.nodes.tunnels) && !network.has_ipsec() {
        return Err(
            "tunnels to nodes need keys that have ah or esp in their mode, for example llsec+esp+dtls-psk"
                .into(),
        );
    }
    let mut peerings = Vec::new();
    for node in network.nodes.iter().filter(|node| !link_only.contains(&node.id)) {
        let told = |why: &dyn std::fmt::Display| format!("node {}: {why}", node.id);
        let mode: Security = node.mode.parse().map_err(|error| told(&error))?;
        let Some(suite) = mode.network else { continue };
        let keys = node.ipsec.as_ref().ok_or_else(|| told(&format_args!("there are no keys for {suite}")))?;
        let is_tunnel = gateway.is_some_and(|gateway| gateway.nodes.has_tunnel_to(node.id));
        peerings.push(peering(node.id, suite, keys, is_tunnel).map_err(|error| told(&error))?);
    }
    Ok(peerings)
}

impl Station for RouterStation {
    type Machine = Machine;

    fn lend(&mut self, now: Instant) -> (&mut Machine, Context<'_>) {
        (&mut self.machine, self.lent.cx(now))
    }

    fn handle(&mut self, time: Moment, inbound: Inbound) {
        let Self { machine, lent, members, neighbours, to_router, published, .. } = self;
        let mut cx = lent.cx(time.now);
        // What the other side does not take is lost, as on any link; what the mesh does not take is counted.
        match inbound {
            Inbound::Frame(frame) if neighbours.is_some() && !is_of(members, &frame) => {
                cx.counters.count(Counter::MacNeighboursFull);
            }
            Inbound::Frame(mut frame) => {
                let mut left = None;
                machine.handle_frame(&mut cx, time.at, &mut frame, |upstream| {
                    left = Some(match upstream {
                        Upstream::Packet(packet) => Outbound::Packet(packet.to_vec()),
                        Upstream::Datagram(datagram) => Outbound::Datagram {
                            flow: datagram.flow,
                            port: datagram.ends.host_port,
                            payload: datagram.payload.to_vec(),
                        },
                    });
                });
                let latest = machine.interface().latest_frame_counter();
                if !neighbours.as_mut().is_none_or(|file| file.keep(latest)) {
                    left = None;
                }
                if let Some(outbound) = left.and_then(|left| published.leave(&mut cx, left)) {
                    let _ = to_router.try_send(outbound);
                }
            }
            Inbound::ChannelFull(newcomers) => {
                to_stderr!(
                    "the radio channel is full: {newcomers} newcomers have found no place free; stations that send no frames give theirs up"
                );
            }
            Inbound::Datagram { flow, payload } => {
                let _ = machine.handle_upstream(&mut cx, time.at, flow, &payload);
            }
            Inbound::Packet(mut packet) => {
                let len = packet.len();
                packet.resize(len.max(MTU), 0);
                if let Some(answer) = machine.handle_packet(&mut cx, time.at, &mut packet, len) {
                    let _ = to_router.try_send(Outbound::Packet(answer.to_vec()));
                }
            }
            Inbound::Request { client, payload } => {
                for said in published.open(&mut cx, client, payload) {
                    published.ask(
                        &mut MeshRouter { machine: &mut *machine, cx: &mut cx, time },
                        client,
                        &said,
                    );
                }
            }
        }
    }

    fn settle(&mut self, time: Moment) {
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.settle(time.now);
        }
        while let Some(outbound) = self.published.poll_transmit(&mut self.lent.cx(time.now)) {
            let _ = self.to_router.try_send(outbound);
        }
        self.count_reasons();
        self.reload(time.now);
        let counted = REFUSALS.map(|counter| self.lent.counters.get(counter));
        let (reported, at) = &mut self.reported;
        if counted == *reported || time.now.since(*at) < TOLD_EVERY {
            return;
        }
        (*reported, *at) = (counted, time.now);
        let refused = REFUSALS.iter().zip(counted).filter(|&(_, count)| count > 0);
        let refused: Vec<_> = refused.map(|(counter, count)| format!("{}={count}", counter.name())).collect();
        let reasons =
            self.reasons.iter().map(|((direction, reason), count)| format!(" {direction}/{reason}={count}"));
        to_stdout!("refused so far: {}{}", refused.join(" "), reasons.collect::<String>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_in_the_name_of_no_member_is_of_none() {
        let members = HashSet::from([1, 2].map(Eui64::of_node));
        let frame = |source: u32| {
            // Data, both addresses extended, in the same PAN; the lowest byte of an address is first.
            let mut frame = vec![0x41, 0xcc, 7, 0xcd, 0xab];
            for address in [Eui64::of_node(0), Eui64::of_node(source)] {
                frame.extend(address.0.iter().rev());
            }
            frame
        };
        assert!(is_of(&members, &frame(1)) && is_of(&members, &frame(2)));
        assert!(!is_of(&members, &frame(3)));
        assert!(is_of(&members, &[2, 0, 7]), "an acknowledgement");
    }
}
