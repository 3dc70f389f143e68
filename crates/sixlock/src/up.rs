//! `sixlock up`: a simulated network in real time, its border router, the cloud and the dashboard.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use sixlock_base::Security;
use sixlock_cloud::{Device as CloudDevice, Secret};
use sixlock_router::{Inbound, Outbound, Uplink};
use sixlock_sim::{Csma, Device, FarEnd, Options, Scenario, Simulation, Span, Time, Topology};
use tokio::sync::{mpsc, watch};

use crate::args::Up;
use crate::cloud;

/// Datagrams that may wait on their way into the mesh, and out of it. One that finds no room is
/// dropped, as a busy link drops it.
const WAITING: usize = 256;
/// How often the network's figures are renewed.
const SNAPSHOT: Duration = Duration::from_millis(500);
/// How much of a backlog is simulated before sockets get their turn.
const STRIDE: Span = Span::from_millis(50);
/// The longest the simulation sleeps without looking whether it is to end.
const NAP: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &Up) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (network, shown) = watch::channel(Arc::from(r#"{"schema":1,"time_s":0,"nodes":[]}"#));
        let mut config = cloud::config(&args.cloud);
        if args.security.transport.is_none() {
            // Without DTLS the nodes have no other way in.
            config.coap = config.coap.or(Some(([127, 0, 0, 1], 5683).into()));
        }
        let cloud = sixlock_cloud::start(config, Some(shown)).await?;

        let scenario = scenario(args)?;
        let mut devices = Vec::new();
        for id in 1..=args.nodes {
            devices.push(enrol(&cloud, args.security, Device::of_node(scenario.seed, id)).await?);
        }
        let options = Options { far_end: FarEnd::Outside, devices: Some(devices), ..Options::default() };
        let simulation = Simulation::new(&scenario, options)?;

        let (to_mesh, from_router) = sync_channel(WAITING);
        let (to_router, from_mesh) = mpsc::channel(WAITING);
        let uplink = Uplink { coap: cloud.coap, coaps: cloud.coaps };
        let router = tokio::spawn(sixlock_router::run(uplink, from_mesh, to_mesh));
        let stop = Arc::new(AtomicBool::new(false));
        let mesh = {
            let stop = stop.clone();
            let mesh = Mesh { simulation, from_router, to_router, network };
            mesh.show(Time::ZERO);
            thread::Builder::new().name("mesh".into()).spawn(move || mesh.run(&stop))?
        };

        cloud::announce(&cloud);
        println!(
            "{} nodes in a chain report every {} s, protected by {} (seed {})",
            args.nodes,
            args.period.as_secs(),
            args.security,
            scenario.seed
        );
        cloud::until_told_to_stop().await?;
        stop.store(true, Ordering::Relaxed);
        let _ = tokio::task::spawn_blocking(|| mesh.join()).await;
        router.abort();
        cloud.stop().await?;
        Ok(())
    })
}

/// The thesis' Network 1, as the arguments change it.
fn scenario(args: &Up) -> Result<Scenario, getrandom::Error> {
    let mut scenario = Scenario { name: "up".into(), security: args.security, ..Scenario::default() };
    if let Topology::Chain { nodes, .. } = &mut scenario.topology {
        *nodes = args.nodes;
    }
    scenario.traffic.period = args.period;
    // The standard's first backoff is shorter than a full frame, so that two nodes that do not hear
    // each other destroy each other's retries, too: with these, nobody waits for a first reading.
    scenario.mac = Csma { min_be: 5, max_be: 7, max_retries: 7, ..scenario.mac };
    // All keys come from the seed, and the cloud believes who knows one: it must not be guessed.
    scenario.seed = match args.seed {
        Some(seed) => seed,
        None => getrandom::u64()?,
    };
    Ok(scenario)
}

/// Makes the cloud know a node, and the node its resource.
async fn enrol(
    cloud: &sixlock_cloud::Running,
    security: Security,
    node: Device,
) -> Result<Device, sixlock_cloud::Error> {
    let device = CloudDevice {
        label: node.resource,
        mode: security,
        identity: Some(node.identity.clone()),
        key: Some(Secret::new(node.key.clone().into_bytes())),
    };
    let resource = cloud.enrol(device).await?;
    Ok(Device { resource: resource.id.0.to_string(), ..node })
}

/// The simulation, in step with the clock on the wall.
struct Mesh {
    simulation: Simulation,
    from_router: Receiver<Inbound>,
    to_router: mpsc::Sender<Outbound>,
    network: watch::Sender<Arc<str>>,
}

impl Mesh {
    /// Runs until told to stop. When the machine cannot keep pace, the simulation lags behind; it
    /// never skips time.
    fn run(mut self, stop: &AtomicBool) {
        let started = Instant::now();
        let mut snapshot = started;
        while !stop.load(Ordering::Relaxed) {
            let due = Time::ZERO + Span::from_micros(started.elapsed().as_micros() as u64);
            self.simulation.step_until(due.min(self.simulation.now() + STRIDE));
            while let Some(datagram) = self.simulation.poll_upstream() {
                let (flow, port, payload) = (datagram.flow, datagram.port, datagram.payload);
                let _ = self.to_router.try_send(Outbound { flow, port, payload });
            }
            if snapshot.elapsed() >= SNAPSHOT {
                snapshot = Instant::now();
                self.show(due);
            }
            let next = self.simulation.next_time().unwrap_or(due + STRIDE);
            let next = Duration::from_micros(next.micros()).saturating_sub(started.elapsed());
            match self.from_router.recv_timeout(next.min(NAP)) {
                Ok(datagram) => self.receive(started, datagram),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(next.min(NAP)),
            }
        }
    }

    /// Takes what has come in, at the time it is now.
    fn receive(&mut self, started: Instant, first: Inbound) {
        let due = Time::ZERO + Span::from_micros(started.elapsed().as_micros() as u64);
        self.simulation.step_until(due.min(self.simulation.now() + STRIDE));
        let waiting = std::iter::from_fn(|| self.from_router.try_recv().ok());
        for Inbound { flow, payload } in std::iter::once(first).chain(waiting.take(WAITING)) {
            // What the mesh cannot take is lost, as on any link; the border router has counted it.
            let _ = self.simulation.handle_upstream(flow, &payload);
        }
    }

    fn show(&self, due: Time) {
        let lag = due.since(self.simulation.now().min(due));
        let Ok(mut network) = serde_json::to_value(self.simulation.network()) else { return };
        network["lag_s"] = json!(lag.as_secs());
        self.network.send_replace(network.to_string().into());
    }
}
