//! The file of a security gateway read anew while the gateway runs: when its process gets SIGHUP.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

use sixlock_sim::{Changed, NodesSide, Peering, SecurityGateway};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::GatewayOptions;
use crate::gateway_file::{Gateway, reread};
use crate::secure_services::Keys;
use crate::xfrm_files;

/// What a gateway is to be from now on.
pub(crate) struct Reload {
    pub(crate) gateway: SecurityGateway,
    /// Where it is said what that has changed, and what it shares with hosts outside since; or why it changes nothing.
    pub(crate) answer: Sender<Result<(Changed, Vec<Peering>), String>>,
}

/// Whether what a file says of nodes can change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// The border router follows.
    Follow,
    /// Nodes are told at their start, in this process.
    Stay,
}

/// What only a restart changes.
#[derive(PartialEq, Eq)]
struct Lasting {
    listen: IpAddr,
    clients: Option<Keys>,
    has_tunnels: bool,
    nodes: Option<NodesSide>,
}

impl Lasting {
    fn of(gateway: &Gateway, nodes: Nodes) -> Self {
        let Gateway { packets, clients, listen } = gateway;
        let nodes = packets.as_ref().filter(|_| nodes == Nodes::Stay).map(|packets| packets.nodes.clone());
        Self {
            listen: *listen,
            clients: clients.clone(),
            has_tunnels: !gateway.with_hosts().is_empty(),
            nodes,
        }
    }

    /// Why it cannot be this from now on, if it cannot.
    fn refuses(&self, wanted: &Self) -> Option<&'static str> {
        if self.listen != wanted.listen || self.clients != wanted.clients {
            return Some("[internet] listen and [[client]] change by a restart only");
        }
        if self.has_tunnels != wanted.has_tunnels {
            return Some(
                "a gateway gets its first tunnel with a host, and loses its last, by a restart only",
            );
        }
        (self.nodes != wanted.nodes).then_some("[nodes] changes by a restart only")
    }
}

/// Reads the file of a running gateway anew.
pub(crate) struct Reloader {
    file: PathBuf,
    options: GatewayOptions,
    has_tun: bool,
    lasting: Lasting,
    nodes: Nodes,
    /// Where associations are written down for other hosts.
    xfrm: PathBuf,
    to_gateway: Sender<Reload>,
    hangup: Signal,
}

impl Reloader {
    /// That of `gateway`, if it has a file. From now on SIGHUP does not end the process.
    pub(crate) fn new(
        options: &GatewayOptions,
        has_tun: bool,
        gateway: &Gateway,
        nodes: Nodes,
        xfrm: PathBuf,
        to_gateway: Sender<Reload>,
    ) -> io::Result<Option<Self>> {
        let Some(file) = options.gateway.clone() else { return Ok(None) };
        Ok(Some(Self {
            file,
            options: options.clone(),
            has_tun,
            lasting: Lasting::of(gateway, nodes),
            nodes,
            xfrm,
            to_gateway,
            hangup: signal(SignalKind::hangup())?,
        }))
    }

    fn reload(&self) -> Result<Changed, Box<dyn Error>> {
        let gateway = reread(&self.file, &self.options, self.has_tun)?;
        let told = |why: &dyn std::fmt::Display| format!("{}: {why}", self.file.display());
        if let Some(why) = self.lasting.refuses(&Lasting::of(&gateway, self.nodes)) {
            return Err(told(&why).into());
        }
        xfrm_files::check(&gateway.with_hosts())?;
        let (answer, answered) = channel();
        let reload = Reload { gateway: gateway.packets.unwrap_or_default(), answer };
        self.to_gateway.send(reload)?;
        let (changed, peerings) = answered.recv()?.map_err(|why| told(&why))?;
        if let Err(error) = xfrm_files::write(&self.xfrm, &peerings) {
            // The gateway has changed all the same.
            to_stderr!("{}: {error}", self.xfrm.display());
        }
        Ok(changed)
    }
}

/// Reads the gateway's file anew as often as the process gets SIGHUP, and says what that has changed, or why it changes nothing.
pub(crate) async fn follow(reloader: Option<Reloader>) {
    let Some(mut reloader) = reloader else { return std::future::pending().await };
    while reloader.hangup.recv().await.is_some() {
        match reloader.reload() {
            Ok(changed) => to_stdout!("{} read anew, tunnels: {changed}", reloader.file.display()),
            Err(error) => to_stderr!("{error}: everything stays as it was"),
        }
    }
}
