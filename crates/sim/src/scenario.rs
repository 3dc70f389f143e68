//! Scenarios: what is simulated, read from TOML.

mod attack;
mod beside;
mod builder;
mod checks;
mod event;
mod mac;
mod mode;
mod notes;
mod radio;
mod read;
mod setting;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use sixlock_base::{Security, TransportSuite};
use sixlock_node::contikimac::Times;
use sixlock_node::mac::tsch::Slotframes;
use sixlock_node::{COAP_PORT, Csma as MacCsma, ECHO_PORT, PayloadCompression, Rules};

use crate::battery::Battery;
use crate::buffers::Buffers;
use crate::discovery::Addressing;
use crate::network::ROUTER;
use crate::platform::{EmulatedNode, Platform};
use crate::random::Probability;
use crate::routing::RoutingKind;
use crate::security_gateway::NodesSide;
use crate::time::Span;
use crate::topology::{Layout, Links, Topology, TopologyError};

pub use crate::radio_model::{LinkTable, LogDistance, Radio, RadioModel};
pub use attack::{Attack, AttackKind, AttackedFrom, Flood};
pub use builder::ScenarioBuilder;
pub use event::{ScenarioEvent, ScenarioEventKind};
pub use mode::{simulated_mode, trusted_mode};
pub use setting::Setting;

/// The longest payload of echoes that an image's buffers have room for, whatever the security mode adds.
const SHORT_ECHO: u16 = 200;

/// What is simulated. It comes from a file or from a [`ScenarioBuilder`], and keeps what is checked there.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub(crate) name: String,
    /// How long to simulate.
    pub(crate) duration: Span,
    /// Where all randomness comes from.
    pub(crate) seed: u64,
    /// How traffic is protected.
    pub(crate) security: Security,
    /// Whether that may be by suites that accept forged packets.
    pub(crate) unauthenticated: bool,
    /// What protects packets between nodes and the border router as a security gateway, if it is one.
    pub(crate) gateway: Option<NodesSide>,
    /// The radio medium.
    pub(crate) radio: Radio,
    /// How a node gets at the channel.
    pub(crate) mac: Mac,
    /// When its radio listens.
    pub(crate) listen: Listen,
    /// Which way its packets go.
    pub(crate) routing: RoutingKind,
    /// The addresses of its nodes, and how these come to them.
    pub(crate) addressing: Addressing,
    /// How nodes and border router compress the payload of UDP over links; none as it is.
    pub(crate) compression: Option<PayloadCompression>,
    /// From how many bytes on they compress the headers of a packet.
    pub(crate) compress_from: u16,
    /// How fast the serial line between border router and host is, in bits per second, if there is one.
    pub(crate) serial: Option<u32>,
    /// What the border router runs on; without, its work takes no time.
    pub(crate) router: Option<Platform>,
    /// Where the nodes stand.
    pub(crate) topology: Topology,
    /// What they send.
    pub(crate) traffic: Traffic,
    /// What every node runs on, unless it says otherwise; without, nodes take no time.
    pub(crate) profile: Option<Platform>,
    /// The battery of each node, if its life is to be told.
    pub(crate) battery: Option<Battery>,
    /// What single nodes run on that are not emulated, by id.
    pub(crate) platforms: BTreeMap<u32, Platform>,
    /// The nodes that are emulated, by id; the others run natively.
    pub(crate) emulated: BTreeMap<u32, EmulatedNode>,
    /// The nodes that have the EUI-64 of another, by id, and whose.
    pub(crate) same_eui64: BTreeMap<u32, u32>,
    /// The nodes that are hosts: they take no part in RPL.
    pub(crate) hosts: BTreeSet<u32>,
    /// The nodes that have no battery.
    pub(crate) mains: BTreeSet<u32>,
    /// What happens to stations.
    pub(crate) events: Vec<ScenarioEvent>,
    /// Who attacks the network.
    pub(crate) attacks: Vec<Attack>,
    /// The files that it was read from beside its own: of a board, of links.
    pub(crate) files: Vec<PathBuf>,
}

impl Radio {
    /// Which links there are.
    pub fn links(&self) -> Links {
        let (range, one_way) = (self.receives_within(), self.one_way);
        Links { range, one_way, radio: self.clone(), hosts: BTreeSet::new(), forwarders: None }
    }
}

/// When radios listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Whenever they do not send, as with the NullRDC of Contiki.
    Always,
    /// Now and then, by ContikiMAC.
    ContikiMac {
        /// Its times.
        times: Times,
        /// Whether frames are sent when their receiver is known to wake up.
        phase_lock: bool,
    },
    /// Nodes with nothing below them sleep, and ask their parents for what waits there; the others always listen.
    Sleepy {
        /// The longest time from one of their data requests to the next.
        poll: Span,
    },
    /// In time slots, by TSCH.
    Tsch {
        /// How long its slotframes are.
        slotframes: Slotframes,
        /// For how many microseconds a node that has just been told the time listens before and after a frame should begin; without, for as
        /// long as the times of a slot say.
        guard: Option<u16>,
    },
}

/// How a node gets at the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mac {
    /// Each frame is sent once and at once, unless the channel is busy just then, and nobody acknowledges it: the NullMAC
    /// of Contiki.
    Null,
    /// Unslotted CSMA-CA.
    Csma(Csma),
}

impl Mac {
    /// What it is to the protocol code: the parameters of CSMA-CA, and whether acknowledgements are asked for.
    pub(crate) const fn config(self) -> (MacCsma, bool) {
        match self {
            Self::Null => (MacCsma::NONE, false),
            Self::Csma(Csma { min_be, max_be, max_backoffs, max_retries, ack, .. }) => {
                (MacCsma { min_be, max_be, max_backoffs, max_retries }, ack)
            }
        }
    }

    /// Its times and rules.
    pub(crate) const fn rules(self) -> Rules {
        match self {
            Self::Null => Rules::STANDARD,
            Self::Csma(Csma { rules, .. }) => rules,
        }
    }
}

/// The parameters of unslotted CSMA-CA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csma {
    /// The smallest backoff exponent.
    pub min_be: u8,
    /// The largest backoff exponent.
    pub max_be: u8,
    /// Backoffs before the channel counts as busy.
    pub max_backoffs: u8,
    /// Transmissions after the first when no acknowledgement comes.
    pub max_retries: u8,
    /// Whether acknowledgements are asked for.
    pub ack: bool,
    /// The times, and what other MACs do differently.
    pub rules: Rules,
}

impl Default for Csma {
    /// The defaults of the standard.
    fn default() -> Self {
        let MacCsma { min_be, max_be, max_backoffs, max_retries } = MacCsma::default();
        Self { min_be, max_be, max_backoffs, max_retries, ack: true, rules: Rules::STANDARD }
    }
}

/// What the nodes send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Who sends what to whom.
    pub kind: TrafficKind,
    /// From when on readings are due: before, the network forms, and sessions are made.
    pub begin: Span,
    /// The time between a node's readings, on average; the first comes uniformly within the first period.
    pub period: Span,
    /// How the times between them differ from that.
    pub pattern: Pattern,
    /// Whether readings are confirmable messages of CoAP, which are sent again until they are acknowledged. Others are sent once,
    /// and are not waited for when the next is due.
    pub confirmable: bool,
    /// Where readings go, or what answers echoes.
    pub to: Destination,
    /// The only node that posts readings, if it is not all that do: the others send them on. Of echoes, the border router, which is 0, or an
    /// emulated node, whose image sends and measures them; without, they are the cloud's.
    pub from: Option<u32>,
    /// How readings in the clear say whose they are.
    pub credential: Credential,
    /// How long a node uses a DTLS session at most; without, as long as it gets answers.
    pub session: Option<Span>,
}

/// How the times between readings, or echoes, differ from the period, which stays their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each comes a period after the one before, and up to `jitter` later than that, evenly distributed.
    Periodic {
        /// Less than the period.
        jitter: Span,
    },
    /// They come independently of each other: a Poisson process.
    Poisson,
    /// Several come one after the other, and the next burst as many periods later.
    Burst {
        /// How many a burst has.
        readings: u32,
        /// From one of them to the next.
        gap: Span,
    },
}

/// How readings in the clear say whose they are. A cloud outside the simulation needs [`Credential::Query`], and gets it in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Credential {
    /// Not at all, so that each security mode protects the same request: the simulated cloud knows its nodes by their addresses.
    #[default]
    None,
    /// By the resource's id and key in the request's query, as the real cloud demands of devices without DTLS.
    Query,
}

/// Where readings go, or what answers echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Readings go to the cloud; every node answers echoes.
    Cloud,
    /// Readings go to this node, which takes them in by CoAP over DTLS and makes its own for who asks it; it alone answers
    /// echoes.
    Node(u32),
}

/// Who sends what to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficKind {
    /// Each node posts readings, as SenML in CoAP, to where [`Traffic::to`] says.
    Report,
    /// The cloud sends each node, or the one of [`Traffic::to`], this many bytes by UDP, which it echoes: over DTLS, in a
    /// session that the cloud begins with it, if the security mode has that.
    Echo {
        /// Bytes in a datagram.
        payload: u16,
    },
}

impl Default for Scenario {
    /// Network 1 of the thesis: a border router and a chain of six nodes.
    fn default() -> Self {
        Self {
            name: "chain-6".into(),
            duration: Span::from_secs(600),
            seed: 1,
            security: Security { transport: Some(TransportSuite::DtlsPsk), ..Security::default() },
            unauthenticated: false,
            gateway: None,
            radio: Radio {
                range: 50_000,
                interference: 50_000,
                one_way: Probability::NEVER,
                loss: Probability::NEVER,
                burst: None,
                drift: 0,
                model: RadioModel::UnitDisk { loss_at_range: None },
            },
            mac: Mac::Csma(Csma::default()),
            listen: Listen::Always,
            routing: RoutingKind::Static,
            addressing: Addressing::default(),
            compression: None,
            compress_from: 0,
            serial: None,
            router: None,
            topology: Topology::Chain { nodes: 6, spacing: 40_000 },
            traffic: Traffic {
                kind: TrafficKind::Report,
                begin: Span::ZERO,
                period: Span::from_secs(60),
                pattern: Pattern::Periodic { jitter: Span::ZERO },
                confirmable: true,
                to: Destination::Cloud,
                from: None,
                credential: Credential::None,
                session: None,
            },
            profile: None,
            battery: None,
            platforms: BTreeMap::new(),
            emulated: BTreeMap::new(),
            same_eui64: BTreeMap::new(),
            hosts: BTreeSet::new(),
            mains: BTreeSet::new(),
            events: Vec::new(),
            attacks: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl Scenario {
    /// The same with another seed.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The battery of each node, if it says how large that is.
    pub fn battery(&self) -> Option<Battery> {
        self.battery
    }

    /// How long to simulate.
    pub fn duration(&self) -> Span {
        self.duration
    }

    /// Where all randomness comes from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How traffic is protected.
    pub fn security(&self) -> Security {
        self.security
    }

    /// What protects packets between nodes and the border router as a security gateway, if it is one.
    pub fn gateway(&self) -> Option<&NodesSide> {
        self.gateway.as_ref()
    }

    /// How a node gets at the channel.
    pub fn mac(&self) -> Mac {
        self.mac
    }

    /// When its radio listens.
    pub fn listen(&self) -> Listen {
        self.listen
    }

    /// The radio medium.
    pub fn radio(&self) -> Radio {
        self.radio.clone()
    }

    /// Which way packets go.
    pub fn routing(&self) -> RoutingKind {
        self.routing
    }

    /// The addresses of its nodes, and how these come to them.
    pub fn addressing(&self) -> Addressing {
        self.addressing
    }

    /// Where the nodes stand.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Where the nodes stand, and which way their packets go.
    ///
    /// # Errors
    /// Says why nodes cannot stand so; those of a scenario that was built can.
    pub(crate) fn layout(&self) -> Result<Layout, TopologyError> {
        // Where some nodes have mains, those with batteries sleep if others can do without them.
        let forwarders = match self.listen {
            Listen::Sleepy { .. } if !self.mains.is_empty() => Some(self.mains.clone()),
            _ => None,
        };
        let links = Links { hosts: self.hosts.clone(), forwarders, ..self.radio.links() };
        self.topology.lay_out(links, self.seed)
    }

    /// What the nodes send.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The nodes that are emulated, by id.
    pub fn emulated(&self) -> &BTreeMap<u32, EmulatedNode> {
        &self.emulated
    }

    /// The files that it was read from beside its own: of a board, of links.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The node whose EUI-64 a node has: its own, unless the scenario says so.
    pub(crate) fn eui64_of(&self, id: u32) -> u32 {
        self.same_eui64.get(&id).copied().unwrap_or(id)
    }

    /// The nodes that are hosts: they find a router by neighbour discovery, and take no part in RPL.
    pub fn hosts(&self) -> &BTreeSet<u32> {
        &self.hosts
    }

    /// What happens to stations.
    pub fn events(&self) -> &[ScenarioEvent] {
        &self.events
    }

    /// Who attacks the network.
    pub fn attacks(&self) -> &[Attack] {
        &self.attacks
    }

    /// What node `id`, which is not the border router, runs on, if that takes time.
    pub fn platform_of(&self, id: u32) -> Option<Platform> {
        let emulated = self.emulated.get(&id).map(|node| &node.platform);
        emulated.or_else(|| self.platforms.get(&id)).or(self.profile.as_ref()).cloned()
    }

    /// The buffers of its nodes. Those of images for nodes have no room for long datagrams, which an image that measures sends, too.
    pub(crate) fn buffers(&self) -> Buffers {
        let is_long = matches!(self.traffic.kind, TrafficKind::Echo { payload } if payload > SHORT_ECHO);
        match self.routing {
            _ if is_long || self.measured_echoes().is_some() => Buffers::Long,
            RoutingKind::Rpl { .. } => Buffers::Rpl,
            RoutingKind::Static => Buffers::Listed,
        }
    }

    /// The emulated node whose image sends echoes and measures them, and the node that answers them, if there are such.
    pub fn measured_echoes(&self) -> Option<(u32, u32)> {
        match (self.traffic.kind, self.traffic.from, self.traffic.to) {
            (TrafficKind::Echo { .. }, Some(node), Destination::Node(peer)) if node != ROUTER => {
                Some((node, peer))
            }
            _ => None,
        }
    }

    /// The UDP services of every node: their names and ports.
    ///
    /// A node has them only where its own traffic goes without DTLS, too. It tells its latest reading if it makes any.
    pub fn services(&self) -> &'static [(&'static str, u16)] {
        match (self.security.transport, self.traffic.kind) {
            (Some(_), _) => &[],
            (None, TrafficKind::Report) => &[("coap", COAP_PORT), ("echo", ECHO_PORT)],
            (None, TrafficKind::Echo { .. }) => &[("echo", ECHO_PORT)],
        }
    }
}
