//! `sixlock router`: the border router, as a program.

mod border_router;
mod firewall_file;
mod firewall_reload;
mod machine;
mod mesh_link;
mod peerings;
mod radio;
mod refusals;
mod serial;

use std::error::Error;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use serde_json::json;
use sixlock_base::Instant;
use sixlock_gateway::Exit;
use sixlock_node::{COAP_PORT, COAPS_PORT};
use sixlock_router::{HOST, Tun, Uplink};
use sixlock_sim::CLOUD;
use tokio::sync::mpsc;

use crate::args::Router as Args;
use crate::cloud::until_told_to_stop;
use crate::gateway_file::{Gateway as SecureGateway, gateway};
use crate::keys::NetworkFile;
use crate::mesh::WAITING;
use crate::published::{self, DEVICE_COAPS, Published, Service};
use crate::reload::{Nodes, Reloader, follow};
use crate::station::{Lent, allow};
use crate::xfrm_files;
use border_router::Parts;
use firewall_file::Firewall;
use mesh_link::MeshLink;

/// The service of a node that has no DTLS.
const COAP: Service = ("coap", COAP_PORT);
/// Where a cloud on this machine takes CoAP over DTLS.
const COAPS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), COAPS_PORT);
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let network = NetworkFile::read(&args.network)?;
    if args.serial.is_none() {
        allow(args.air, network.llsec.as_ref())?;
    }
    let coaps = cloud_of(args, &network)?;
    let counters = args.counters.clone().unwrap_or_else(|| args.network.with_extension("counters"));
    // Its tunnels' keys may be those of another network's gateway as well.
    let beside_gateway = args.gateway.gateway.as_ref().map(|file| file.with_extension("counters"));
    let mut lent = Lent::new([&counters].into_iter().chain(&beside_gateway))?;
    let firewall = args.firewall.as_deref().map(Firewall::read).transpose()?;
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
        let (to_mesh, inbound) = sync_channel(WAITING);
        let (to_router, outbound) = mpsc::channel(WAITING);
        let mesh_link = match &args.serial {
            Some(device) => MeshLink::serial(device, args.baud, to_mesh.clone())?,
            None => MeshLink::radio(args, &counters, &network, to_mesh.clone())?,
        };
        let ready = mesh_link.summary()?;
        let exit = if tun.is_some() { Exit::Packets { flows: CLOUD } } else { Exit::Flows };
        let nodes = network.nodes.len();
        // Whoever has no tunnel of their own to the nodes reaches them by DTLS only: the nodes', or the gateway's.
        let services: Vec<_> = clients.iter().map(|_| COAP).chain([DEVICE_COAPS]).collect();
        let reached: Vec<_> = network.nodes.iter().map(|node| (node.id, services.clone())).collect();
        let bound = published::bind((listen, args.gateway.ports), &reached, true).await?;
        let file = args.network.with_extension("endpoints.json");
        let reached = bound.summary(&file);
        let published = Published::new(&mut lent.cx(Instant::from_millis(0)), bound.services, clients);
        let (to_firewall, firewalls) = std::sync::mpsc::channel();
        let rules = firewall_reload::Reloader::new(args.firewall.clone(), to_firewall)?;
        let parts =
            Parts { network, gateway: packets, firewall, firewalls, lent, to_router, published, reloads };
        let stop = Arc::new(AtomicBool::new(false));
        let mesh = mesh_link.start(parts, exit, args.compression, inbound, stop.clone())?;
        let uplink = Uplink { coap: args.coap, coaps };
        let router = tokio::spawn(sixlock_router::run(uplink, bound.sockets, tun, outbound, to_mesh));
        to_stdout!("{ready}");
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
            () = firewall_reload::follow(rules) => {}
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
