//! `sixlock up`: a simulated network in real time, its border router, the cloud and the dashboard.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use serde_json::{Value, json};
use sixlock_base::{Nv, Security, TransportSuite};
use sixlock_cloud::public_keys::{CLOUD_NAME, KeyPair, pem};
use sixlock_cloud::{CertificateTerms, Device as CloudDevice, Enrolled, PollAllow, Secret, replace_private};
use sixlock_router::{HOST, Tun, Uplink};
use sixlock_rpl::MAX_HOPS;
use sixlock_sim::{
    Csma, Device, EmulatedNode, FarEnd, Host, Mac, Objective, Options, Platform, RoutingKind, RplMode,
    Scenario, ScenarioBuilder, Simulation,
};
use tokio::sync::{mpsc, watch};

use crate::announce::announce;
use crate::args::{Routing, Up};
use crate::cloud;
use crate::durable::FileCounters;
use crate::gateway_file::{Gateway, gateway};
use crate::key_ring;
use crate::mesh::{Mesh, WAITING};
use crate::published::{self, DEVICE_COAPS, Service};
use crate::reload::{Nodes, Reloader, follow};
use crate::xfrm_files;

pub(crate) fn run(args: &Up) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let has_ipsec = args.security.network.is_some();
        let gateway = gateway(&args.gateway, has_ipsec, args.tun.is_some())?;
        if let Some(dropped) = gateway.drops((1..=args.nodes).map(|id| (id, has_ipsec))) {
            to_stderr!("{dropped}");
        }
        let has_tunnels = !gateway.with_hosts().is_empty();
        let (to_gateway, reloads) = std::sync::mpsc::channel();
        let xfrm = args.cloud.data.join("xfrm");
        let reloader = Reloader::new(
            &args.gateway,
            args.tun.is_some(),
            &gateway,
            Nodes::Stay,
            xfrm.clone(),
            to_gateway,
        )?;
        let Gateway { packets, clients, listen } = gateway;
        let tun = args.tun.as_deref().map(|name| Tun::open(name, has_tunnels)).transpose()?;
        let (network, shown) = watch::channel(Arc::from(r#"{"schema":1,"time_s":0,"nodes":[]}"#));
        let mut config = cloud::config(&args.cloud)?;
        if args.security.transport.is_none() {
            // Without DTLS the nodes have no other way in.
            config.coap = config.coap.or(Some(([127, 0, 0, 1], 5683).into()));
        }
        let scenario = scenario(args)?;
        let at = (listen, args.gateway.ports);
        let published = published::bind(at, &services(args, &scenario), clients.is_some()).await?;
        config.poll_allow.extend(published.device_coaps()?.into_iter().map(PollAllow::from));
        let cloud = sixlock_cloud::start(config, Some(shown)).await?;

        let mut devices = Vec::new();
        for id in 1..=args.nodes {
            devices.push(enrol(&cloud, args.security, Device::of_node(scenario.seed(), id)).await?);
        }
        let mut router_counters: Option<Box<dyn Nv + Send>> = None;
        if let Some(gateway) = &args.gateway.gateway {
            router_counters = Some(Box::new(FileCounters::open([&gateway.with_extension("counters")])?));
        }
        let options = Options {
            far_end: FarEnd::Outside,
            packets: args.tun.is_some(),
            host: args.tun.is_some().then_some(Host { address: HOST, tunnel: false }),
            security_gateway: packets,
            router_counters,
            devices: Some(devices),
            ..Options::default()
        };
        let simulation = Simulation::new(&scenario, options)?;
        let associations = xfrm_files::write(&xfrm, simulation.peerings())?;

        let file = args.cloud.data.join("endpoints.json");
        add_endpoints(&file, &published.endpoints)?;
        let told = published.summary(&file);

        let (to_mesh, from_router) = sync_channel(WAITING);
        let (to_router, from_mesh) = mpsc::channel(WAITING);
        let uplink = Uplink { coap: cloud.coap, coaps: cloud.coaps };
        let router = tokio::spawn(sixlock_router::run(uplink, published.sockets, tun, from_mesh, to_mesh));
        let stop = Arc::new(AtomicBool::new(false));
        let mesh = {
            let stop = stop.clone();
            let mesh = Mesh::new(
                simulation,
                published.services,
                clients,
                from_router,
                to_router,
                reloads,
                network,
                cloud.router_metrics(),
            );
            thread::Builder::new().name("mesh".into()).spawn(move || mesh.run(&stop))?
        };

        announce(&cloud, &args.cloud.data)?;
        to_stdout!(
            "{} nodes in a chain report every {} s, protected by {} (seed {})",
            args.nodes,
            args.period.as_secs(),
            args.security,
            scenario.seed()
        );
        if routing(args) != RoutingKind::Static {
            to_stdout!("their network forms itself by RPL: each hop takes it some 5 s");
        }
        to_stdout!("{told}");
        let last = published.endpoints.last().and_then(|node| node["address"].as_str());
        if let (Some(name), Some(address)) = (&args.tun, last) {
            to_stdout!("and by IPv6 through {name}, where this machine is {HOST}: ping {address}");
            if let Some(file) = associations {
                to_stdout!("once it has the keys of IPsec: sudo ip -batch {}", file.display());
            }
        }
        tokio::select! {
            stopped = cloud::until_told_to_stop() => stopped?,
            () = follow(reloader) => {}
        }
        stop.store(true, Ordering::Relaxed);
        let _ = tokio::task::spawn_blocking(|| mesh.join()).await;
        router.abort();
        cloud.stop().await?;
        Ok(())
    })
}

/// The thesis' Network 1, as the arguments change it.
fn scenario(args: &Up) -> Result<Scenario, Box<dyn Error>> {
    // The standard's first backoff is shorter than a full frame, so that two nodes that do not hear
    // each other destroy each other's retries, too: with these, nobody waits for a first reading.
    let mac = Mac::Csma(Csma { min_be: 5, max_be: 7, max_retries: 7, ..Csma::default() });
    // All keys come from the seed, and the cloud believes who knows one: it must not be guessed.
    let seed = match args.seed {
        Some(seed) => seed,
        None => getrandom::u64()?,
    };
    let builder = Scenario::builder()
        .name("up")
        .security(args.security)
        .nodes(args.nodes)
        .period(args.period)
        .compression(args.compression.choice())
        .mac(mac)
        .routing(routing(args))
        .seed(seed);
    let emulated = |builder: ScenarioBuilder, (id, platform): &(u32, Platform)| {
        builder.emulated(*id, EmulatedNode { platform: platform.clone(), image: None })
    };
    Ok(args.emulate.iter().fold(builder, emulated).build()?)
}

/// What each node serves. Of those that prove who they are, the ones that are not emulated let themselves be asked.
fn services(args: &Up, scenario: &Scenario) -> Vec<(u32, Vec<Service>)> {
    let is_asked =
        |id| args.security.transport.is_some() && args.emulate.iter().all(|(emulated, _)| *emulated != id);
    let of_node = |id| {
        let own = is_asked(id).then_some(DEVICE_COAPS);
        (id, scenario.services().iter().copied().chain(own).collect())
    };
    (1..=args.nodes).map(of_node).collect()
}

/// How the network routes.
fn routing(args: &Up) -> RoutingKind {
    let default = if args.emulate.is_empty() { Routing::Rpl } else { Routing::Static };
    match args.routing.unwrap_or(default) {
        Routing::Static => RoutingKind::Static,
        Routing::Rpl => {
            // A source route is at most as long as this.
            let mode = if args.nodes as usize > MAX_HOPS { RplMode::Storing } else { RplMode::NonStoring };
            RoutingKind::Rpl { objective: Objective::Mrhof, mode }
        }
    }
}

/// Makes the cloud know a node, and the node its resource. A key pair is a new one each time.
async fn enrol(
    cloud: &sixlock_cloud::Running,
    security: Security,
    node: Device,
) -> Result<Device, Box<dyn Error>> {
    let has_pair = security.transport.is_some_and(TransportSuite::has_public_keys);
    let pair = has_pair.then(KeyPair::random).transpose()?;
    let is_named = security.transport != Some(TransportSuite::DtlsRpk);
    let key = pair.as_ref().map_or_else(|| node.key.clone(), |pair| pem::public_key(&pair.point));
    let device = CloudDevice {
        mode: security,
        identity: is_named.then(|| node.identity.clone()),
        key: Some(Secret::new(key.into_bytes())),
        certificate: CertificateTerms { server: true, ..CertificateTerms::default() },
        ..CloudDevice::named(node.resource)
    };
    let Enrolled { resource, certificate, .. } = cloud.enrol(device).await?;
    let own = cloud.own_keys();
    let keys = match (pair, certificate) {
        (Some(pair), Some(certificate)) => {
            let ring = key_ring::certified(&pair, &certificate, own.authority(), CLOUD_NAME);
            Some(ring.map_err(|error| format!("the certificate of {}: {error:?}", resource.label))?)
        }
        (Some(pair), None) => Some(key_ring::raw(&pair, *own.public_key())),
        (None, _) => None,
    };
    Ok(Device { resource: resource.id.0.to_string(), keys, ..node })
}

/// Adds the nodes to the file in which the cloud says where it is.
fn add_endpoints(path: &Path, nodes: &[Value]) -> Result<(), Box<dyn Error>> {
    let mut all: Value = serde_json::from_slice(&fs::read(path)?)?;
    all["nodes"] = json!(nodes);
    // Whoever reads it meanwhile reads the old one.
    Ok(replace_private(path, &all.to_string())?)
}
