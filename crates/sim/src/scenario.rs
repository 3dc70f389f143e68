//! Scenarios: what is simulated, read from TOML.

use core::fmt;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sixlock_base::{Engines, Security, TransportSuite};
use sixlock_node::{COAP_PORT, Csma as MacCsma, ECHO_PORT};
use toml::de::DeTable;

use crate::platform::{EmulatedNode, Platform};
use crate::random::Probability;
use crate::time::Span;
use crate::toml_reader::{Section, Source};
use crate::topology::{Layout, Placement, Topology};
use crate::units::{parse_length, parse_span};

/// The most nodes a scenario may have.
pub const MAX_NODES: u32 = 1000;

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
    /// The radio medium.
    pub radio: Radio,
    /// How a node gets at the channel.
    pub mac: Mac,
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
    /// The cloud sends each node, or the one of [`Traffic::to`], UDP datagrams of this many bytes, which it echoes.
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
}

/// Why a scenario cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The scenario's file.
    pub file: String,
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl core::error::Error for ScenarioError {}

impl Default for Scenario {
    /// Network 1 of the thesis: a border router and a chain of six nodes.
    fn default() -> Self {
        Self {
            name: "chain-6".into(),
            duration: Span::from_secs(600),
            seed: 1,
            security: Security { transport: Some(TransportSuite::DtlsPsk), ..Security::default() },
            unauthenticated: false,
            radio: Radio { range: 50_000, interference: 50_000, loss: Probability::NEVER },
            mac: Mac::Csma(Csma::default()),
            topology: Topology::Chain { nodes: 6, spacing: 40_000 },
            traffic: Traffic {
                kind: TrafficKind::Report,
                period: Span::from_secs(60),
                to: Destination::Cloud,
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
    /// A node tells its latest reading in the clear where its reports go in the clear, too.
    pub fn services(&self) -> &'static [(&'static str, u16)] {
        match (self.security.transport, self.traffic.kind) {
            (None, TrafficKind::Report) => &[("coap", COAP_PORT), ("echo", ECHO_PORT)],
            _ => &[("echo", ECHO_PORT)],
        }
    }

    /// Reads the scenario in `path`.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&file, &text),
            Err(error) => {
                Err(ScenarioError { file, line: None, message: format!("cannot read the scenario: {error}") })
            }
        }
    }

    /// Reads the scenario in `text`; errors call it `file`. Missing parts take defaults.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let source = Source { file, text };
        let document = DeTable::parse(text)
            .map_err(|error| source.error(error.span().unwrap_or(0..0), error.message()))?;
        let mut top = Section::new(source, "the scenario", document.get_ref());
        let to = top.section("traffic", "[traffic]")?.span("to").unwrap_or(0..0);
        let default = Self::default();
        let mut scenario = Self {
            name: top.string("name")?.unwrap_or(&default.name).into(),
            duration: top.parsed("duration", default.duration, parse_duration)?,
            seed: top.integer("seed", default.seed, 0..=i64::MAX as u64)?,
            security: top.parsed("security", default.security, Security::any)?,
            unauthenticated: top.boolean("unauthenticated", default.unauthenticated)?,
            radio: read_radio(top.section("radio", "[radio]")?, default.radio)?,
            mac: read_mac(top.section("mac", "[mac]")?)?,
            topology: default.topology,
            traffic: read_traffic(top.section("traffic", "[traffic]")?, default.traffic)?,
            profile: None,
            platforms: default.platforms,
            emulated: default.emulated,
        };
        let mut routing = top.section("routing", "[routing]")?;
        routing.choice("kind", &[("static", ())])?;
        routing.finish()?;
        let mut platform = top.section("platform", "[platform]")?;
        let profiles: Vec<_> = Platform::ALL.iter().map(|&(name, platform)| (name, Some(platform))).collect();
        scenario.profile = platform.choice("profile", &[&[("native", None)], &profiles[..]].concat())?;
        platform.finish()?;
        (scenario.topology, scenario.platforms, scenario.emulated) = read_topology(&mut top)?;
        let at = top.span("topology").or(top.span("node")).unwrap_or(0..0);
        scenario.check_security().map_err(|message| top.error("security", message))?;
        top.finish()?;
        match scenario.topology.lay_out(scenario.radio.range) {
            Err(error) => return Err(source.error(at, error.to_string())),
            Ok(layout) => scenario.check_destination(&layout).map_err(|wrong| source.error(to, wrong))?,
        }
        Ok(scenario)
    }

    /// The scenario with what the command line changes.
    ///
    /// # Errors
    /// Says what cannot be changed so.
    pub fn with(mut self, overrides: &Overrides) -> Result<Self, ScenarioError> {
        self.security = overrides.security.unwrap_or(self.security);
        self.duration = overrides.duration.unwrap_or(self.duration);
        self.seed = overrides.seed.unwrap_or(self.seed);
        let error = |message: String| ScenarioError { file: self.name.clone(), line: None, message };
        if let Some(wanted) = overrides.nodes {
            if !(1..=MAX_NODES).contains(&wanted) {
                return Err(error(format!("a network has between 1 and {MAX_NODES} nodes, not {wanted}")));
            }
            match &mut self.topology {
                Topology::Chain { nodes, .. } | Topology::Grid { nodes, .. } => *nodes = wanted,
                Topology::List(_) => {
                    return Err(error("the number of nodes is that of its [[node]] entries".into()));
                }
            }
        }
        self.check_security().map_err(error)?;
        let layout = self.topology.lay_out(self.radio.range).map_err(|wrong| error(wrong.to_string()))?;
        self.check_destination(&layout).map_err(error)?;
        Ok(self)
    }

    fn check_destination(&self, layout: &Layout) -> Result<(), String> {
        let Destination::Node(node) = self.traffic.to else { return Ok(()) };
        let last = layout.len() as u32 - 1;
        if node > last {
            return Err(match self.traffic.kind {
                TrafficKind::Report => format!("readings cannot go to node {node}: the last node is {last}"),
                TrafficKind::Echo { .. } => format!("node {node} cannot echo: the last node is {last}"),
            });
        }
        if self.traffic.kind == TrafficKind::Report && self.security.transport.is_none() {
            return Err("a node takes readings by DTLS only: set security to \"dtls-psk\"".into());
        }
        Ok(())
    }

    fn check_security(&self) -> Result<(), String> {
        if let (TrafficKind::Echo { .. }, Some(_)) = (self.traffic.kind, self.security.transport) {
            return Err(
                "echo traffic is plain UDP: set security to \"none\", \"llsec\", \"ah\" or \"esp\"".into()
            );
        }
        if let (Some(suite), false) = (self.security.unauthenticated(), self.unauthenticated) {
            return Err(format!(
                "{suite} accepts forged and replayed packets: choose another suite, or set unauthenticated = true \
                in the scenario"
            ));
        }
        // Its 4 KB of RAM are full with the statics of such a node alone (docs/decisions/0015).
        let is_small = self.profile.iter().chain(self.platforms.values()).any(|&on| on == Platform::MicaZ);
        if is_small && self.has_long_datagrams() {
            return Err(format!(
                "a micaz has no memory for echoes of more than {SHORT_ECHO} bytes: name another platform"
            ));
        }
        if self.security.transport.is_some() && is_small {
            return Err(
                "a micaz has no memory for DTLS: set security to \"none\" or \"llsec\", or name another \
                platform"
                    .into(),
            );
        }
        if self.security.engines == Engines::NONE {
            return Ok(());
        }
        if let Some(id) = self.emulated.keys().next() {
            return Err(format!(
                "node {id} is emulated, and its firmware takes no engine: leave @engine out"
            ));
        }
        let is_native = match &self.topology {
            Topology::List(nodes) => {
                nodes.iter().any(|node| node.id > 0 && self.platform_of(node.id).is_none())
            }
            _ => self.profile.is_none(),
        };
        match is_native {
            true => Err("the native platform has no engine: name another in [platform] profile, \
                or leave @engine out"
                .into()),
            false => Ok(()),
        }
    }
}

fn parse_duration(text: &str) -> Result<Span, String> {
    match parse_span(text)? {
        Span::ZERO => Err("it must be longer than nothing".into()),
        span => Ok(span),
    }
}

fn read_radio(mut section: Section<'_, '_>, default: Radio) -> Result<Radio, ScenarioError> {
    section.choice("model", &[("unit-disk", ())])?;
    let positive = |text: &str| match parse_length(text)? {
        length @ 1.. => Ok(length),
        _ => Err("it must be more than nothing".to_string()),
    };
    let range = section.parsed("range", default.range, positive)?;
    let interference = section.parsed("interference", range, positive)?;
    if interference < range {
        return Err(section.error("interference", "interference must reach at least as far as range"));
    }
    let loss = section.float("loss", 0.0)?;
    let loss = Probability::new(loss)
        .ok_or_else(|| section.error("loss", "loss is a probability between 0.0 and 1.0"))?;
    section.finish()?;
    Ok(Radio { range, interference, loss })
}

fn read_mac(mut section: Section<'_, '_>) -> Result<Mac, ScenarioError> {
    if section.choice("kind", &[("csma", false), ("null", true)])? {
        section.finish()?;
        return Ok(Mac::Null);
    }
    let default = Csma::default();
    // The ranges of IEEE 802.15.4-2006, table 86.
    let max_be = section.integer("max_be", default.max_be.into(), 3..=8)?;
    let min_be = section.integer("min_be", u64::from(default.min_be).min(max_be), 0..=max_be)?;
    let csma = Csma {
        min_be: min_be as u8,
        max_be: max_be as u8,
        max_backoffs: section.integer("max_backoffs", default.max_backoffs.into(), 0..=5)? as u8,
        max_retries: section.integer("max_retries", default.max_retries.into(), 0..=7)? as u8,
        ack: section.boolean("ack", default.ack)?,
    };
    section.finish()?;
    Ok(Mac::Csma(csma))
}

fn read_traffic(mut section: Section<'_, '_>, default: Traffic) -> Result<Traffic, ScenarioError> {
    let echo = section.choice("kind", &[("report", false), ("echo", true)])?;
    let period = section.parsed("period", default.period, parse_duration)?;
    section.choice("start", &[("uniform", ())])?;
    let to = read_destination(&mut section)?;
    let payload = section.string("payload")?;
    let kind = if echo {
        let payload = match payload.map(|text| text.strip_suffix('B').unwrap_or(text).parse::<u16>()) {
            None => 64,
            Some(Ok(bytes)) if (8..=1024).contains(&bytes) => bytes,
            Some(_) => {
                let message = "the payload of echo traffic has between 8 and 1024 bytes, such as \"64B\"";
                return Err(section.error("payload", message));
            }
        };
        if section.boolean("confirmable", false)? {
            return Err(section.error("confirmable", "echo traffic is plain UDP: it cannot be confirmable"));
        }
        TrafficKind::Echo { payload }
    } else {
        if payload.is_some_and(|payload| payload != "senml") {
            return Err(section.error("payload", "the payload of report traffic is \"senml\""));
        }
        if !section.boolean("confirmable", true)? {
            return Err(section.error("confirmable", "nodes report by confirmable messages only"));
        }
        TrafficKind::Report
    };
    section.finish()?;
    Ok(Traffic { kind, period, to })
}

/// Where traffic goes: `"cloud"`, or the number of a node.
fn read_destination(section: &mut Section<'_, '_>) -> Result<Destination, ScenarioError> {
    if !section.is_number("to") {
        return section.parsed("to", Destination::Cloud, |text| match text {
            "cloud" => Ok(Destination::Cloud),
            _ => Err(format!("\"{text}\" is not \"cloud\", nor the number of a node, such as 1")),
        });
    }
    Ok(Destination::Node(section.integer("to", 1, 1..=MAX_NODES.into())? as u32))
}

/// Nodes, by id.
type Nodes<T> = BTreeMap<u32, T>;

fn read_topology(
    top: &mut Section<'_, '_>,
) -> Result<(Topology, Nodes<Platform>, Nodes<EmulatedNode>), ScenarioError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Chain,
        Grid,
        List,
    }
    let mut section = top.section("topology", "[topology]")?;
    let kind =
        section.choice("kind", &[("chain", Kind::Chain), ("grid", Kind::Grid), ("list", Kind::List)])?;
    let entries = top.sections("node", "[[node]]")?;
    let (mut platforms, mut emulated) = (BTreeMap::new(), BTreeMap::new());
    let topology = if kind == Kind::List {
        let mut placements = Vec::new();
        for entry in entries {
            let (placement, runs) = read_node(entry)?;
            match runs {
                Runs::Native => {}
                Runs::Modelled(platform) => drop(platforms.insert(placement.id, platform)),
                Runs::Emulated(node) => drop(emulated.insert(placement.id, node)),
            }
            placements.push(placement);
        }
        placements.sort_by_key(|placement| placement.id);
        Topology::List(placements)
    } else {
        if !entries.is_empty() {
            return Err(top.error("node", "[[node]] entries need [topology] kind = \"list\""));
        }
        let default_nodes = if kind == Kind::Chain { 6 } else { 100 };
        let nodes = section.integer("nodes", default_nodes, 1..=MAX_NODES.into())? as u32;
        let spacing = section.parsed("spacing", 40_000, parse_length)?;
        if spacing <= 0 {
            return Err(section.error("spacing", "spacing must be more than nothing"));
        }
        if kind == Kind::Chain {
            section.choice("router", &[("end", ())])?;
            Topology::Chain { nodes, spacing }
        } else {
            section.choice("router", &[("corner", ())])?;
            Topology::Grid { nodes, spacing }
        }
    };
    section.finish()?;
    Ok((topology, platforms, emulated))
}

/// What a node runs on.
enum Runs {
    /// Nothing that takes time, or the profile of all.
    Native,
    /// A platform whose costs are known.
    Modelled(Platform),
    /// An emulator.
    Emulated(EmulatedNode),
}

fn read_node(mut section: Section<'_, '_>) -> Result<(Placement, Runs), ScenarioError> {
    let id = section.integer("id", 0, 0..=MAX_NODES.into())? as u32;
    if section.span("id").is_none() {
        return Err(section.error("x", "a [[node]] needs an id"));
    }
    let x = section.parsed("x", 0, parse_length)?;
    let y = section.parsed("y", 0, parse_length)?;
    let parent = section.integer("parent", 0, 0..=MAX_NODES.into())? as u32;
    let parent = section.span("parent").map(|_| parent);
    if id == 0 && parent.is_some() {
        return Err(section.error("parent", "node 0 is the router: it has no parent"));
    }
    let is_emulated = section.choice("kind", &[("native", false), ("emulated", true)])?;
    let platform = section.parsed("platform", None, |name| Platform::named(name).map(Some))?;
    let image = section.string("image")?.map(PathBuf::from);
    let runs = match (is_emulated, platform) {
        (true, _) if id == 0 => {
            return Err(section.error("kind", "node 0 is the router, which runs natively"));
        }
        (true, Some(platform)) => Runs::Emulated(EmulatedNode { platform, image }),
        (false, Some(_)) if id == 0 => {
            return Err(section.error("platform", "node 0 is the router, whose work takes no time"));
        }
        (true, None) => {
            return Err(section.error("kind", "an emulated node needs a platform, such as \"tmote-sky\""));
        }
        (false, _) if image.is_some() => {
            return Err(section.error("image", "an image needs kind = \"emulated\""));
        }
        (false, Some(platform)) => Runs::Modelled(platform),
        (false, None) => Runs::Native,
    };
    section.finish()?;
    Ok((Placement { id, x, y, parent }, runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_s_own_platform_counts_more_than_the_profile_of_all() {
        let text = "[platform]\nprofile = \"mb851\"\n[topology]\nkind = \"list\"\n[[node]]\nid = 1\n\
            [[node]]\nid = 2\nplatform = \"tmote-sky\"\n[[node]]\nid = 3\nkind = \"emulated\"\nplatform = \"openmote\"";
        let scenario = Scenario::parse("s", text).unwrap();
        let platforms = [1, 2, 3].map(|id| scenario.platform_of(id));
        assert_eq!(platforms, [Platform::Mb851, Platform::TmoteSky, Platform::OpenMote].map(Some));
        assert_eq!(scenario.emulated.len(), 1);
        assert_eq!(Scenario::default().platform_of(1), None);
    }

    #[test]
    fn an_empty_scenario_takes_the_defaults() {
        assert_eq!(Scenario::parse("s", "").unwrap(), Scenario::default());
    }

    #[test]
    fn every_key_of_the_format_is_read() {
        let text = r#"
            name = "n"
            duration = "2min"
            seed = 7
            security = "llsec+dtls-psk"
            [radio]
            model = "unit-disk"
            range = "30m"
            interference = "60m"
            loss = 0.25
            [mac]
            kind = "csma"
            min_be = 2
            max_be = 4
            max_backoffs = 5
            max_retries = 1
            ack = false
            [routing]
            kind = "static"
            [platform]
            profile = "native"
            [topology]
            kind = "list"
            [[node]]
            id = 2
            x = "20m"
            y = "15m"
            parent = 1
            [[node]]
            id = 1
            x = "20m"
            y = "0m"
            kind = "emulated"
            platform = "micaz"
            image = "an/image"
            [traffic]
            kind = "report"
            period = "5s"
            start = "uniform"
            payload = "senml"
            confirmable = true
            to = "cloud"
        "#;
        let scenario = Scenario::parse("s", text).unwrap();
        assert_eq!(scenario.name, "n");
        assert_eq!((scenario.duration, scenario.seed), (Span::from_secs(120), 7));
        assert_eq!(scenario.security.to_string(), "llsec:ccm-64+dtls-psk");
        let loss = Probability::new(0.25).unwrap();
        assert_eq!(scenario.radio, Radio { range: 30_000, interference: 60_000, loss });
        let mac = Csma { min_be: 2, max_be: 4, max_backoffs: 5, max_retries: 1, ack: false };
        assert_eq!(scenario.mac, Mac::Csma(mac));
        let first = Placement { id: 1, x: 20_000, y: 0, parent: None };
        let second = Placement { id: 2, x: 20_000, y: 15_000, parent: Some(1) };
        assert_eq!(scenario.topology, Topology::List(vec![first, second]));
        let traffic =
            Traffic { kind: TrafficKind::Report, period: Span::from_secs(5), to: Destination::Cloud };
        assert_eq!(scenario.traffic, traffic);
        let node = EmulatedNode { platform: Platform::MicaZ, image: Some("an/image".into()) };
        assert_eq!(scenario.emulated, BTreeMap::from([(1, node)]));
    }

    #[test]
    fn errors_name_the_line_and_what_to_do() {
        for (text, message) in [
            ("seed = 1\nnam = \"x\"", "f:2: unknown key `nam` in the scenario; did you mean `name`?"),
            (
                "[traffic]\n\nperoid = \"1s\"",
                "f:3: unknown key `peroid` in [traffic]; did you mean `period`?",
            ),
            ("[radio]\nrange = 50", "f:2: range is not a string: write it in quotes"),
            ("[radio]\nrange = \"50\"", "f:2: range: \"50\" is not a length such as \"40m\" or \"1.2km\""),
            ("[radio]\nloss = 1.5", "f:2: loss is a probability between 0.0 and 1.0"),
            ("[radio]\nloss = nan", "f:2: loss is a probability between 0.0 and 1.0"),
            (
                "[radio]\nrange = \"50m\"\ninterference = \"40m\"",
                "f:3: interference must reach at least as far as range",
            ),
            ("[mac]\nmin_be = 7", "f:2: min_be is not a whole number between 0 and 5"),
            ("[mac]\nack = 1", "f:2: ack is neither true nor false"),
            ("[mac]\nkind = \"nul\"", "f:2: kind: \"nul\" is not \"csma\" or \"null\""),
            (
                "[mac]\nkind = \"null\"\nmax_retries = 3",
                "f:3: unknown key `max_retries` in [mac]; did you mean `kind`?",
            ),
            ("duration = \"0s\"", "f:1: duration: it must be longer than nothing"),
            ("[topology]\nkind = \"ring\"", "f:2: kind: \"ring\" is not \"chain\" or \"grid\" or \"list\""),
            ("[topology]\nnodes = 0", "f:2: nodes is not a whole number between 1 and 1000"),
            ("[topology]\nrouter = \"corner\"", "f:2: router: \"corner\" is not \"end\""),
            (
                "\n[topology]\nspacing = \"60m\"",
                "f:2: no way leads from node 1 to the router: raise the range or lower the spacing",
            ),
            ("[[node]]\nid = 1", "f:1: [[node]] entries need [topology] kind = \"list\""),
            ("[topology]\nkind = \"list\"", "f:1: a network needs a [[node]] beside the router"),
            ("[topology]\nkind = \"list\"\n[[node]]\nx = \"1m\"", "f:4: a [[node]] needs an id"),
            (
                "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nkind = \"emulated\"",
                "f:5: an emulated node needs a platform, such as \"tmote-sky\"",
            ),
            (
                "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nimage = \"elf\"",
                "f:5: an image needs kind = \"emulated\"",
            ),
            (
                "[topology]\nkind = \"list\"\n[[node]]\nid = 0\nplatform = \"micaz\"",
                "f:5: node 0 is the router, whose work takes no time",
            ),
            (
                "[platform]\nprofile = \"micas\"",
                "f:2: profile: \"micas\" is not \"native\" or \"tmote-sky\" or \"micaz\" or \"openmote\" or \"mb851\"",
            ),
            (
                "[topology]\nkind = \"list\"\n[[node]]\nid = 0\nkind = \"emulated\"\nplatform = \"micaz\"",
                "f:5: node 0 is the router, which runs natively",
            ),
            (
                "[traffic]\nkind = \"echo\"",
                "f:1: echo traffic is plain UDP: set security to \"none\", \"llsec\", \"ah\" or \"esp\"",
            ),
            (
                "security = \"llsec@engine\"",
                "f:1: the native platform has no engine: name another in [platform] profile, or leave @engine out",
            ),
            (
                "security = \"llsec@gpu\"",
                "f:1: security: a part of a security mode is computed by the CPU or, with @engine, by an accelerator",
            ),
            (
                "security = \"llsec@engine\"\n[platform]\nprofile = \"micaz\"\n[topology]\nkind = \"list\"\n\
                 [[node]]\nid = 1\nkind = \"emulated\"\nplatform = \"micaz\"",
                "f:1: node 1 is emulated, and its firmware takes no engine: leave @engine out",
            ),
            (
                "security = \"dtls-psk\"\n[platform]\nprofile = \"micaz\"",
                "f:1: a micaz has no memory for DTLS: set security to \"none\" or \"llsec\", or name another platform",
            ),
            ("[traffic]\npayload = \"64B\"", "f:2: the payload of report traffic is \"senml\""),
            (
                "[traffic]\nto = \"clod\"",
                "f:2: to: \"clod\" is not \"cloud\", nor the number of a node, such as 1",
            ),
            ("[traffic]\nto = 0", "f:2: to is not a whole number between 1 and 1000"),
            ("[traffic]\nto = 7", "f:2: readings cannot go to node 7: the last node is 6"),
            (
                "security = \"none\"\n[traffic]\nto = 1",
                "f:3: a node takes readings by DTLS only: set security to \"dtls-psk\"",
            ),
            (
                "security = \"none\"\n[traffic]\nkind = \"echo\"\nto = 7",
                "f:4: node 7 cannot echo: the last node is 6",
            ),
            (
                "security = \"none\"\n[platform]\nprofile = \"micaz\"\n[traffic]\nkind = \"echo\"\npayload = \"201B\"",
                "f:1: a micaz has no memory for echoes of more than 200 bytes: name another platform",
            ),
            ("[traffic]\nconfirmable = false", "f:2: nodes report by confirmable messages only"),
        ] {
            assert_eq!(Scenario::parse("f", text).unwrap_err().to_string(), message);
        }
        assert_eq!(Scenario::parse("f", "a = 1\nb = [").unwrap_err().line, Some(2));
        assert_eq!(Scenario::parse("f", "security = \"dtls\"").unwrap_err().line, Some(1));
        assert_eq!(Scenario::load(Path::new("/nowhere.toml")).unwrap_err().line, None);
    }

    #[test]
    fn the_command_line_beats_the_file() {
        let overrides = Overrides {
            security: Some("none".parse().unwrap()),
            nodes: Some(3),
            duration: Some(Span::from_secs(5)),
            seed: Some(9),
        };
        let scenario = Scenario::default().with(&overrides).unwrap();
        assert_eq!(scenario.security, Security::default());
        assert_eq!((scenario.duration, scenario.seed), (Span::from_secs(5), 9));
        assert_eq!(scenario.topology, Topology::Chain { nodes: 3, spacing: 40_000 });
        let to = Scenario::parse("s", "[traffic]\nto = 6").unwrap();
        assert_eq!(to.traffic.to, Destination::Node(6));
        let fewer = Overrides { nodes: Some(5), ..Overrides::default() };
        assert_eq!(
            to.with(&fewer).unwrap_err().to_string(),
            "chain-6: readings cannot go to node 6: the last node is 5"
        );
        let none = Overrides { nodes: Some(0), ..Overrides::default() };
        assert!(Scenario::default().with(&none).is_err());
        let list = "[topology]\nkind = \"list\"\n[[node]]\nid = 1";
        assert!(Scenario::parse("s", list).unwrap().with(&overrides).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_scenario_or_an_error(text in "[a-z\\[\\]=\" \n0-9.]{0,80}") {
            let _ = Scenario::parse("s", &text);
        }
    }
}
