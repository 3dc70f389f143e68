//! `sixlock router`: the border router, as a program.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use sixlock_base::{Eui64, Instant, Security, Symbols};
use sixlock_crypto::Soft;
use sixlock_gateway::{Exit, Gateway, Upstream};
use sixlock_node::RadioCommand;
use sixlock_router::{Air, HOST, Inbound, Outbound, Services, Tun, Uplink};
use sixlock_sim::CLOUD;
use tokio::sync::mpsc;

use crate::args::Router as Args;
use crate::cloud::until_told_to_stop;
use crate::keys::{MAX_NODES, NetworkFile};
use crate::mesh::WAITING;
use crate::protection::{End, Ipsec, bypass, protect};
use crate::station::{CHANNEL, Lent, Moment, Station, allow, drive, interface};

/// The longest IPv6 packet, in bytes.
const MTU: usize = 1280;
/// The border router's tables are large, and made on the stack before they are moved.
const STACK: usize = 64 << 20;

type Machine = Gateway<Soft, MAX_NODES, 4, MTU, 32, MAX_NODES, 1024, Ipsec<MAX_NODES, { 2 * MAX_NODES }>>;

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let network = NetworkFile::read(&args.network)?;
    allow(args.air, network.llsec.as_ref())?;
    let counters = args.network.with_extension("counters");
    let lent = Lent::new(args.counters.as_deref().unwrap_or(&counters))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let tun = args.tun.as_deref().map(|name| Tun::open(name, false)).transpose()?;
        let mut air =
            Air::host(args.air, CHANNEL).map_err(|error| format!("no socket at {}: {error}", args.air))?;
        let address = air.address()?;
        let (to_mesh, inbound) = sync_channel(WAITING);
        let (to_router, outbound) = mpsc::channel(WAITING);
        air.read(to_mesh.clone())?;
        let exit = if tun.is_some() { Exit::Packets { flows: CLOUD } } else { Exit::Flows };
        let stop = Arc::new(AtomicBool::new(false));
        let (told, started) = std::sync::mpsc::channel();
        let nodes = network.nodes.len();
        let mesh = {
            let stop = stop.clone();
            thread::Builder::new().name("mesh".into()).stack_size(STACK).spawn(move || {
                let mut station = match RouterStation::new(&network, lent, exit, to_router) {
                    Ok(station) => station,
                    Err(error) => return drop(told.send(Err(error.to_string()))),
                };
                let _ = told.send(Ok(()));
                drive(&mut station, &mut air, &inbound, &stop);
            })?
        };
        started.recv()??;
        let uplink = Uplink { coap: args.coap, coaps: args.coaps };
        let sockets = Services::bind(0).await?;
        let router = tokio::spawn(sixlock_router::run(uplink, sockets, tun, outbound, to_mesh));
        println!("ready air={address}");
        println!("{nodes} nodes may join; what they send to {CLOUD} goes to {}", args.coaps);
        if let Some(name) = &args.tun {
            println!("and this machine, {HOST} for them, reaches them through {name}");
        }
        until_told_to_stop().await?;
        stop.store(true, Ordering::Relaxed);
        let _ = tokio::task::spawn_blocking(|| mesh.join()).await;
        router.abort();
        Ok(())
    })
}

struct RouterStation {
    machine: Box<Machine>,
    lent: Lent,
    to_router: mpsc::Sender<Outbound>,
}

impl RouterStation {
    fn new(
        network: &NetworkFile,
        mut lent: Lent,
        exit: Exit,
        to_router: mpsc::Sender<Outbound>,
    ) -> Result<Self, Box<dyn Error>> {
        let config = interface(0, network.llsec.as_ref())?;
        let mut machine = Box::new(Machine::new(&mut lent.cx(Instant::from_millis(0)), &config, exit));
        let interface = machine.interface();
        let mut protected = false;
        for node in &network.nodes {
            let told = |why: &dyn std::fmt::Display| format!("node {}: {why}", node.id);
            let mode: Security = node.mode.parse().map_err(|error| told(&error))?;
            let address = Eui64::of_node(node.id);
            let route = interface.net().add_route(address, address);
            route.map_err(|_| told(&format_args!("a network has at most {MAX_NODES} nodes")))?;
            match (mode.network, &node.ipsec) {
                (None, _) => {}
                (Some(suite), Some(keys)) => {
                    protect(interface.protection(), End::Cloud, node.id, suite, keys)?;
                    protected = true;
                }
                (Some(suite), None) => {
                    return Err(told(&format_args!("there are no keys for {suite}")).into());
                }
            }
        }
        if !protected {
            bypass(interface.protection())?;
        }
        Ok(Self { machine, lent, to_router })
    }
}

impl Station for RouterStation {
    fn handle(&mut self, time: Moment, inbound: Inbound) {
        let Self { machine, lent, to_router } = self;
        let mut cx = lent.cx(time.now);
        // What the other side does not take is lost, as on any link; what the mesh does not take is counted.
        match inbound {
            Inbound::Frame(mut frame) => machine.handle_frame(&mut cx, time.at, &mut frame, |upstream| {
                let _ = to_router.try_send(match upstream {
                    Upstream::Packet(packet) => Outbound::Packet(packet.to_vec()),
                    Upstream::Datagram(datagram) => Outbound::Datagram {
                        flow: datagram.flow,
                        port: datagram.ends.host_port,
                        payload: datagram.payload.to_vec(),
                    },
                });
            }),
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
            // No service is published.
            Inbound::Request { .. } => {}
        }
    }

    fn handle_cca(&mut self, time: Moment, clear: bool) {
        self.machine.handle_cca(&mut self.lent.cx(time.now), time.at, clear);
    }

    fn handle_transmitted(&mut self, time: Moment) {
        self.machine.handle_transmitted(&mut self.lent.cx(time.now), time.at);
    }

    fn handle_radio_timeout(&mut self, time: Moment) {
        self.machine.handle_radio_timeout(&mut self.lent.cx(time.now), time.at);
    }

    fn handle_timeout(&mut self, time: Moment) {
        self.machine.handle_timeout(&mut self.lent.cx(time.now));
    }

    fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.machine.poll_radio()
    }

    fn transmit_frame(&self) -> &[u8] {
        self.machine.transmit_frame()
    }

    fn poll_radio_timeout(&self) -> Option<Symbols> {
        self.machine.poll_radio_timeout()
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.machine.poll_timeout()
    }
}
