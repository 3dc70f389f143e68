//! Scenarios: what is simulated, read from TOML.

mod checks;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sixlock_base::{Security, TransportSuite};
use sixlock_node::{COAP_PORT, Csma as MacCsma, ECHO_PORT, PayloadCompression};

use crate::error::ScenarioError;
use crate::network::MAX_NODES;
use crate::platform::{EmulatedNode, Platform};
use crate::random::Probability;
use crate::security_gateway::NodesSide;
use crate::time::Span;
use crate::topology::Topology;

/// The longest payload of echoes that an image's buffers have room for, whatever the security mode adds.
const SHORT_ECHO: u16 = 200;

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// How long to simulate.
    pub duration: Span,
    /// Where all randomness comes from.
    pub seed: u64,
    /// How traffic is protected.
    pub security: Security,
    /// Whether that may be by suites that accept forged packets.
    pub unauthenticated: bool,
    /// What protects packets between nodes and the border router as a security gateway, if it is one.
    pub gateway: Option<NodesSide>,
    /// The radio medium.
    pub radio: Radio,
    /// How a node gets at the channel.
    pub mac: Mac,
    /// Whether packets carry RPL's option and the headers that border routers put around them for it, as if routers read them; routes
    /// are static.
    pub rpl_headers: bool,
    /// How nodes and border router compress the payload of UDP over links; none as it is.
    pub compression: Option<PayloadCompression>,
    /// Where the nodes stand.
    pub topology: Topology,
    /// What they send.
    pub traffic: Traffic,
    /// What every node runs on, unless it says otherwise; without, nodes take no time.
    pub profile: Option<Platform>,
    /// What single nodes run on that are not emulated, by id.
    pub platforms: BTreeMap<u32, Platform>,
    /// The nodes that are emulated, by id; the others run natively.
    pub emulated: BTreeMap<u32, EmulatedNode>,
}

/// The unit-disk radio medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radio {
    /// How far a frame can be received, in millimetres.
    pub range: i32,
    /// How far a transmission disturbs others, in millimetres.
    pub interference: i32,
    /// Probability that a receiver in range loses a frame or an acknowledgement, before retries.
    pub loss: Probability,
    /// How many a link loses in a row, on average, of the frames that chance takes; without, each is as likely lost as any
    /// other.
    pub burst: Option<u32>,
}

/// How a node gets at the channel. With each, its radio is always on, as with the NullRDC of Contiki.
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
            Self::Csma(Csma { min_be, max_be, max_backoffs, max_retries, ack }) => {
                (MacCsma { min_be, max_be, max_backoffs, max_retries }, ack)
            }
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
}

impl Default for Csma {
    /// The defaults of the standard.
    fn default() -> Self {
        let MacCsma { min_be, max_be, max_backoffs, max_retries } = MacCsma::default();
        Self { min_be, max_be, max_backoffs, max_retries, ack: true }
    }
}

/// What the nodes send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Who sends what to whom.
    pub kind: TrafficKind,
    /// The time between a node's readings; the first comes uniformly within the first period.
    pub period: Span,
    /// Where readings go, or what answers echoes.
    pub to: Destination,
    /// The only node that posts readings, if it is not all that do: the others send them on.
    pub from: Option<u32>,
    /// How readings in the clear say whose they are.
    pub credential: Credential,
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
    /// Each node posts readings, as SenML in confirmable CoAP, to where [`Traffic::to`] says.
    Report,
    /// The cloud sends each node, or the one of [`Traffic::to`], this many bytes by UDP, which it echoes: over DTLS, in a
    /// session that the cloud begins with it, if the security mode has that.
    Echo {
        /// Bytes in a datagram.
        payload: u16,
    },
}

/// What the command line changes in a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// How traffic is protected.
    pub security: Option<Security>,
    /// How many nodes a chain or grid has.
    pub nodes: Option<u32>,
    /// How long to simulate.
    pub duration: Option<Span>,
    /// Where all randomness comes from.
    pub seed: Option<u64>,
    /// How links compress the payload of UDP, if they do.
    pub compression: Option<Option<PayloadCompression>>,
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
            radio: Radio { range: 50_000, interference: 50_000, loss: Probability::NEVER, burst: None },
            mac: Mac::Csma(Csma::default()),
            rpl_headers: false,
            compression: None,
            topology: Topology::Chain { nodes: 6, spacing: 40_000 },
            traffic: Traffic {
                kind: TrafficKind::Report,
                period: Span::from_secs(60),
                to: Destination::Cloud,
                from: None,
                credential: Credential::None,
            },
            profile: None,
            platforms: BTreeMap::new(),
            emulated: BTreeMap::new(),
        }
    }
}

impl Scenario {
    /// What node `id`, which is not the border router, runs on, if that takes time.
    pub fn platform_of(&self, id: u32) -> Option<Platform> {
        let emulated = self.emulated.get(&id).map(|node| node.platform);
        emulated.or_else(|| self.platforms.get(&id).copied()).or(self.profile)
    }

    /// Whether its datagrams are longer than the images of nodes have room for.
    pub(crate) fn has_long_datagrams(&self) -> bool {
        matches!(self.traffic.kind, TrafficKind::Echo { payload } if payload > SHORT_ECHO)
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

    /// The scenario with what the command line changes.
    ///
    /// # Errors
    /// Says what cannot be changed so.
    pub fn with(mut self, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let name = self.name.clone();
        let error = |message: String| ScenarioError { file: name.clone(), line: None, message };
        self.change(overrides).map_err(error)?;
        self.check_security().map_err(error)?;
        self.check_compression().map_err(error)?;
        let layout = self.topology.lay_out(self.radio.range).map_err(|wrong| error(wrong.to_string()))?;
        self.check_destination(&layout).map_err(error)?;
        Ok(self)
    }

    /// Changes what the command line does, and checks nothing but the number of nodes.
    fn change(&mut self, overrides: &Overrides) -> Result<(), String> {
        self.security = overrides.security.unwrap_or(self.security);
        self.duration = overrides.duration.unwrap_or(self.duration);
        self.seed = overrides.seed.unwrap_or(self.seed);
        self.compression = overrides.compression.unwrap_or(self.compression);
        let Some(wanted) = overrides.nodes else { return Ok(()) };
        if !(1..=MAX_NODES).contains(&wanted) {
            return Err(format!("a network has between 1 and {MAX_NODES} nodes, not {wanted}"));
        }
        match &mut self.topology {
            Topology::Chain { nodes, .. } | Topology::Grid { nodes, .. } => *nodes = wanted,
            Topology::List(_) => return Err("the number of nodes is that of its [[node]] entries".into()),
        }
        Ok(())
    }
}
