//! How a scenario is put together, from a file or call by call, and checked.

use sixlock_base::Security;
use sixlock_node::PayloadCompression;

use crate::discovery::Addressing;
use crate::error::ScenarioError;
use crate::platform::{EmulatedNode, Platform};
use crate::routing::RoutingKind;
use crate::security_gateway::NodesSide;
use crate::time::Span;
use crate::topology::Topology;

use super::checks::{Fault, Key, Lines};
use super::{Attack, Destination, Listen, Mac, Radio, Scenario, ScenarioEvent, Traffic, TrafficKind};

/// A scenario in the making: what it starts from, with what is set after. Nothing is checked before [`build`](Self::build).
#[derive(Clone, Debug)]
pub struct ScenarioBuilder {
    scenario: Scenario,
    /// How many nodes its chain, grid or random field is to have, if that is set.
    nodes: Option<u32>,
    /// The file that it was read from.
    file: Option<String>,
    /// On which lines of it those keys stand that were not set since.
    lines: Lines,
    /// The longest duration that it has had: a shorter one cuts off what happens later.
    longest: Span,
}

impl Scenario {
    /// One that starts from the default.
    pub fn builder() -> ScenarioBuilder {
        Self::default().into()
    }
}

impl ScenarioBuilder {
    /// What it is so far, not checked yet.
    pub(crate) fn scenario(&self) -> Scenario {
        self.scenario.clone()
    }
}

impl From<Scenario> for ScenarioBuilder {
    fn from(scenario: Scenario) -> Self {
        Self { longest: scenario.duration, scenario, nodes: None, file: None, lines: Lines::new() }
    }
}

impl ScenarioBuilder {
    /// What was read from `file`, with the lines on which keys stand.
    pub(super) fn read(scenario: Scenario, file: &str, lines: Lines) -> Self {
        Self { longest: scenario.duration, scenario, nodes: None, file: Some(file.into()), lines }
    }

    /// With its fields changed. Which of `keys` they belong to stands in no file any more.
    fn set(mut self, keys: &[Key], change: impl FnOnce(&mut Scenario)) -> Self {
        change(&mut self.scenario);
        for key in keys {
            self.lines.remove(key);
        }
        self
    }

    /// Sets its name.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.set(&[], |scenario| scenario.name = name.into())
    }

    /// Sets how long to simulate.
    pub fn duration(mut self, duration: Span) -> Self {
        self.longest = self.longest.max(duration);
        self.set(&[Key::Duration], |scenario| scenario.duration = duration)
    }

    /// Sets where all randomness comes from.
    pub fn seed(self, seed: u64) -> Self {
        self.set(&[], |scenario| scenario.seed = seed)
    }

    /// Sets how traffic is protected.
    pub fn security(self, security: Security) -> Self {
        // A node that takes readings demands a security mode.
        self.set(&[Key::Security, Key::To], |scenario| scenario.security = security)
    }

    /// Sets what protects packets between nodes and the border router, which becomes a security gateway.
    pub fn gateway(self, nodes: NodesSide) -> Self {
        self.set(&[], |scenario| scenario.gateway = Some(nodes))
    }

    /// Sets the radio medium.
    pub fn radio(self, radio: Radio) -> Self {
        let keys = [Key::Range, Key::Interference, Key::Burst, Key::LossAtRange, Key::Links, Key::Floor];
        self.set(&keys, |scenario| scenario.radio = radio).without_places()
    }

    /// Sets how a node gets at the channel.
    pub fn mac(self, mac: Mac) -> Self {
        self.set(&[Key::Mac], |scenario| scenario.mac = mac)
    }

    /// Sets when radios listen.
    pub fn listen(self, listen: Listen) -> Self {
        self.set(&[Key::Mac], |scenario| scenario.listen = listen)
    }

    /// Makes the border router one machine, without a serial line.
    pub fn without_serial(self) -> Self {
        self.set(&[], |scenario| scenario.serial = None)
    }

    /// Sets which way packets go.
    pub fn routing(self, routing: RoutingKind) -> Self {
        self.set(&[Key::Routing], |scenario| scenario.routing = routing)
    }

    /// Sets the addresses of nodes, and how these come to them.
    pub fn addressing(self, addressing: Addressing) -> Self {
        self.set(&[Key::Discovery, Key::Prefix], |scenario| scenario.addressing = addressing)
    }

    /// Sets how links compress the payload of UDP, if they do.
    pub fn compression(self, compression: Option<PayloadCompression>) -> Self {
        self.set(&[Key::Compression], |scenario| scenario.compression = compression)
    }

    /// Sets from how many bytes on links compress the headers of a packet: with 0, of all.
    pub fn compress_from(self, bytes: u16) -> Self {
        self.set(&[Key::CompressFrom], |scenario| scenario.compress_from = bytes)
    }

    /// Sets where the nodes stand.
    pub fn topology(self, topology: Topology) -> Self {
        self.set(&[], |scenario| scenario.topology = topology).without_places()
    }

    /// Sets how many nodes a chain, a grid or a random field has. A list has those that it names.
    pub fn nodes(mut self, nodes: u32) -> Self {
        self.nodes = Some(nodes);
        self.without_places()
    }

    /// The nodes do not stand where the file says, nor are there as many.
    fn without_places(mut self) -> Self {
        self.lines.retain(|key, _| {
            !matches!(key, Key::Topology | Key::Node(_) | Key::Spacing | Key::To | Key::From)
        });
        self
    }

    /// Sets what the nodes send.
    pub fn traffic(self, traffic: Traffic) -> Self {
        let keys = [
            Key::Security,
            Key::Period,
            Key::Payload,
            Key::To,
            Key::From,
            Key::Credential,
            Key::Confirmable,
            Key::Pattern,
        ];
        self.set(&keys, |scenario| scenario.traffic = traffic)
    }

    /// Sets who sends what to whom.
    pub fn traffic_kind(self, kind: TrafficKind) -> Self {
        let traffic = self.scenario.traffic;
        self.traffic(Traffic { kind, ..traffic })
    }

    /// Sets the time between a node's readings.
    pub fn period(self, period: Span) -> Self {
        self.set(&[Key::Period], |scenario| scenario.traffic.period = period)
    }

    /// Sets where readings go, or what answers echoes.
    pub fn destination(self, to: Destination) -> Self {
        self.set(&[Key::To], |scenario| scenario.traffic.to = to)
    }

    /// Sets what every node runs on, unless it says otherwise; without, nodes take no time.
    pub fn profile(self, platform: Option<Platform>) -> Self {
        self.on_boards(|scenario| scenario.profile = platform)
    }

    /// Makes node `id` run on this platform, without an emulator.
    pub fn platform(self, id: u32, platform: Platform) -> Self {
        self.on_boards(|scenario| {
            scenario.emulated.remove(&id);
            scenario.platforms.insert(id, platform);
        })
    }

    /// Makes node `id` run in an emulator.
    pub fn emulated(self, id: u32, node: EmulatedNode) -> Self {
        self.on_boards(|scenario| {
            scenario.platforms.remove(&id);
            scenario.emulated.insert(id, node);
        })
    }

    /// Makes node `id` run on what every node runs on.
    pub fn without_platform(self, id: u32) -> Self {
        self.on_boards(|scenario| {
            scenario.emulated.remove(&id);
            scenario.platforms.remove(&id);
        })
    }

    /// Sets what happens to stations.
    pub fn events(mut self, events: Vec<ScenarioEvent>) -> Self {
        self.scenario.events = events;
        self.lines.retain(|key, _| !matches!(key, Key::Event(_) | Key::EventTime(_)));
        self
    }

    /// Sets who attacks the network.
    pub fn attacks(mut self, attacks: Vec<Attack>) -> Self {
        self.scenario.attacks = attacks;
        self.lines.retain(|key, _| !matches!(key, Key::Attack(_)));
        self
    }

    fn on_boards(self, change: impl FnOnce(&mut Scenario)) -> Self {
        self.set(&[Key::Security, Key::Compression, Key::CompressFrom, Key::Routing], change)
    }

    /// The scenario, if it can be simulated.
    ///
    /// # Errors
    /// Says what is wrong, and on which line if the file is to blame.
    pub fn build(mut self) -> Result<Scenario, ScenarioError> {
        let checked = match self.nodes {
            Some(nodes) => self.scenario.set_nodes(nodes),
            None => Ok(()),
        };
        match checked.and_then(|()| self.scenario.check(self.longest)) {
            Ok(()) => Ok(self.scenario),
            Err(fault) => Err(self.blame(fault)),
        }
    }

    fn blame(self, Fault { key, message }: Fault) -> ScenarioError {
        let line = self.lines.get(&key).or_else(|| match key {
            Key::Node(_) => self.lines.get(&Key::Topology),
            _ => None,
        });
        let line = line.copied().flatten();
        ScenarioError { file: self.file.unwrap_or(self.scenario.name), line, message }
    }
}
