//! Scenarios as TOML.

use std::path::{Path, PathBuf};

use sixlock_node::PayloadCompression;

use crate::battery::Battery;
use crate::device_backend::DeviceBackend;
use crate::discovery::{Addressing, DiscoveryKind};
use crate::error::ScenarioError;
use crate::network::MAX_NODES;
use crate::platform::{EmulatedNode, Platform};
use crate::routing::{Objective, RoutingKind, RplMode};
use crate::security_gateway::NodesSide;
use crate::text_file::read_text;
use crate::time::Span;
use crate::toml_reader::{Section, Source};
use crate::topology::{Placement, Topology};
use crate::units::{
    parse_bytes, parse_charge, parse_duration, parse_length, parse_prefix, parse_self_discharge, parse_span,
    parse_voltage,
};

use super::beside::beside;
use super::checks::{
    BAUD, COMMON_OCTETS, COMPRESS_FROM, Key, Lines, NODES, NOT_A_LENGTH, NOT_A_PAYLOAD, READINGS_IN_A_BURST,
    ROUTERS,
};
use super::mode::simulated_mode;
use super::{
    Attack, Credential, Destination, Pattern, Scenario, ScenarioBuilder, ScenarioEvent, ScenarioEventKind,
    Setting, Traffic, TrafficKind, attack, mac, radio,
};

impl Scenario {
    /// Reads the scenario in `path`.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        ScenarioBuilder::load(path)?.build()
    }

    /// Reads the scenario in `text`; errors call it `file`. Missing parts take defaults.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        ScenarioBuilder::parse(file, text)?.build()
    }
}

/// Readings in a burst, where that is not said.
const DEFAULT_BURST: u32 = 5;

impl ScenarioBuilder {
    /// Starts from the scenario in `path`.
    ///
    /// # Errors
    /// Says what cannot be read and where.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        Self::load_with(path, &[])
    }

    /// Starts from the scenario in `path` with `settings`, whose values replace those in it.
    ///
    /// # Errors
    /// Says what cannot be read and where.
    pub fn load_with(path: &Path, settings: &[Setting]) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = read_text(path)
            .map_err(|error| ScenarioError::of_file(&file, format!("cannot read the scenario: {error}")))?;
        Self::parse_with(&file, &text, settings)
    }

    /// Starts from the scenario in `text`; errors call it `file`. Missing parts take defaults.
    ///
    /// # Errors
    /// Says what cannot be read and where.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        Self::parse_with(file, text, &[])
    }

    /// Starts from the scenario in `text` with `settings`, whose values replace those in it; errors call it `file`. Missing parts
    /// take defaults.
    ///
    /// # Errors
    /// Says what cannot be read and where; of a setting, no line is to blame.
    pub fn parse_with(file: &str, text: &str, settings: &[Setting]) -> Result<Self, ScenarioError> {
        let source = Source { file, text };
        let mut document = source.parse()?;
        for setting in settings {
            setting.put(document.get_mut(), source.beyond())?;
        }
        let mut top = Section::new(source, "the scenario", document.get_ref());
        let (mut lines, mut files) = (Lines::new(), Vec::new());
        let default = Scenario::default();
        let (mac, listen) = mac::read(top.section("mac", "[mac]")?, &mut lines)?;
        let mut scenario = Scenario {
            name: top.string("name")?.unwrap_or(&default.name).into(),
            duration: top.parsed("duration", default.duration, parse_duration)?,
            seed: top.integer("seed", default.seed, 0..=i64::MAX as u64)?,
            security: top.parsed("security", default.security, simulated_mode)?,
            unauthenticated: top.boolean("unauthenticated", default.unauthenticated)?,
            gateway: read_gateway(&mut top)?,
            radio: radio::read(
                top.section("radio", "[radio]")?,
                file,
                default.radio,
                (&mut lines, &mut files),
            )?,
            mac,
            listen,
            routing: default.routing,
            addressing: default.addressing,
            compression: default.compression,
            compress_from: default.compress_from,
            serial: read_serial(&mut top)?,
            router: read_router(&mut top, file, &mut files)?,
            topology: default.topology,
            traffic: read_traffic(top.section("traffic", "[traffic]")?, default.traffic, &mut lines)?,
            profile: None,
            battery: read_battery(&mut top, &mut lines)?,
            platforms: default.platforms,
            emulated: default.emulated,
            same_eui64: default.same_eui64,
            hosts: default.hosts,
            mains: default.mains,
            events: read_events(&mut top, &mut lines)?,
            attacks: read_attacks(&mut top, &mut lines)?,
            files: default.files,
        };
        lines.insert(Key::Security, top.line("security"));
        let mut routing = top.section("routing", "[routing]")?;
        let kind = routing.choice("kind", &["static", "rpl"].map(|name| (name, name)))?;
        routing.refuse_keys_of_others("kind", kind, &[("mode", "rpl"), ("objective", "rpl")])?;
        let mode =
            routing.choice("mode", &[("non-storing", RplMode::NonStoring), ("storing", RplMode::Storing)])?;
        let objective =
            routing.choice("objective", &[("mrhof", Objective::Mrhof), ("of0", Objective::Of0)])?;
        scenario.routing = match kind {
            "rpl" => RoutingKind::Rpl { objective, mode },
            _ => RoutingKind::Static,
        };
        lines.insert(Key::Routing, routing.line("kind"));
        routing.finish()?;
        let mut network = top.section("network", "[network]")?;
        let kinds = [
            ("given", DiscoveryKind::Given),
            ("rpl", DiscoveryKind::Rpl),
            ("nd", DiscoveryKind::NeighbourDiscovery),
        ];
        scenario.addressing = Addressing {
            discovery: network.choice("discovery", &kinds)?,
            prefix: network.parsed("prefix", default.addressing.prefix, parse_prefix)?,
            common_octets: network.integer(
                "common_octets",
                default.addressing.common_octets.into(),
                COMMON_OCTETS,
            )? as u8,
        };
        lines.insert(Key::Discovery, network.line("discovery"));
        lines.insert(Key::Prefix, network.line("prefix"));
        network.finish()?;
        let mut lowpan = top.section("lowpan", "[lowpan]")?;
        let compressions = PayloadCompression::ALL.map(|(name, compression)| (name, Some(compression)));
        scenario.compression =
            lowpan.choice("compression", &[&[("none", None)], &compressions[..]].concat())?;
        lines.insert(Key::Compression, lowpan.line("compression"));
        scenario.compress_from = lowpan.parsed("compress_from", default.compress_from, |text| {
            let bytes = u16::try_from(parse_bytes(text)?).ok();
            bytes.filter(|bytes| COMPRESS_FROM.contains(bytes)).ok_or_else(|| NOT_A_LENGTH.to_string())
        })?;
        lines.insert(Key::CompressFrom, lowpan.line("compress_from"));
        lowpan.finish()?;
        scenario.profile = read_platform(top.section("platform", "[platform]")?, file, &mut files)?;
        scenario.files = files;
        scenario.topology = read_topology(&mut top, &mut scenario, &mut lines)?;
        if top.span("name").is_none() {
            scenario.name = scenario.topology.name();
        }
        let key = if top.span("topology").is_some() { "topology" } else { "node" };
        lines.insert(Key::Topology, top.line(key));
        // What is demanded of the network, which `sixlock plan` reads.
        top.skip("plan");
        top.finish()?;
        Ok(Self::read(scenario, file, lines))
    }
}

/// What makes the border router a security gateway, if the section is there.
fn read_gateway(top: &mut Section<'_, '_>) -> Result<Option<NodesSide>, ScenarioError> {
    let is_there = top.span("gateway").is_some();
    let mut section = top.section("gateway", "[gateway]")?;
    let tunnels = section.choice("nodes", &[("tunnel", true), ("link", false)])?;
    let link_only = section.integers("link_only", NODES)?;
    let enforce = section.choice("enforce", &[("none", false), ("ipsec", true)])?;
    section.finish()?;
    let link_only = link_only.into_iter().map(|id| id as u32).collect();
    Ok(is_there.then_some(NodesSide { tunnels, link_only, enforce }))
}

/// How fast the serial line between border router and host is, in bits per second, if there is one.
fn read_serial(top: &mut Section<'_, '_>) -> Result<Option<u32>, ScenarioError> {
    let is_there = top.span("serial").is_some();
    let mut section = top.section("serial", "[serial]")?;
    let baud = section.integer("baud", 115_200, BAUD)? as u32;
    section.finish()?;
    Ok(is_there.then_some(baud))
}

/// What the border router runs on, if its work takes time.
fn read_router(
    top: &mut Section<'_, '_>,
    scenario: &str,
    files: &mut Vec<PathBuf>,
) -> Result<Option<Platform>, ScenarioError> {
    let platform = read_platform(top.section("router", "[router]")?, scenario, files)?;
    match platform {
        Some(platform) if platform.is_small() => {
            let why = format!("a {} has no memory for a border router", platform.name());
            Err(top.error("router", why))
        }
        platform => Ok(platform),
    }
}

/// The battery of each node, if there is one.
fn read_battery(top: &mut Section<'_, '_>, lines: &mut Lines) -> Result<Option<Battery>, ScenarioError> {
    let is_there = top.span("battery").is_some();
    lines.insert(Key::Battery, top.line("battery"));
    let mut section = top.section("battery", "[battery]")?;
    let battery = Battery {
        capacity: section.parsed("capacity", 2_500_000, parse_charge)?,
        millivolts: section.parsed("voltage", 3000, parse_voltage)?,
        self_discharge: section.parsed("self_discharge", 0, parse_self_discharge)?,
    };
    section.finish()?;
    Ok(is_there.then_some(battery))
}

fn read_events(top: &mut Section<'_, '_>, lines: &mut Lines) -> Result<Vec<ScenarioEvent>, ScenarioError> {
    let entries = top.sections("event", "[[event]]")?;
    let mut events = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        lines.insert(Key::Event(index), entry.line("node"));
        lines.insert(Key::EventTime(index), entry.line("at"));
        events.push(read_event(entry)?);
    }
    Ok(events)
}

fn read_attacks(top: &mut Section<'_, '_>, lines: &mut Lines) -> Result<Vec<Attack>, ScenarioError> {
    let entries = top.sections("attack", "[[attack]]")?;
    let mut attacks = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        lines.insert(Key::Attack(index), entry.line("kind"));
        attacks.push(attack::read(entry)?);
    }
    Ok(attacks)
}

fn read_event(mut section: Section<'_, '_>) -> Result<ScenarioEvent, ScenarioError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Reboot,
        Move,
        Die,
        Join,
    }
    let at = section.parsed("at", Span::ZERO, parse_span)?;
    // Which nodes there are is known later.
    let node = section.integer("node", 0, 0..=u32::MAX.into())? as u32;
    let kinds = [("reboot", Kind::Reboot), ("move", Kind::Move), ("die", Kind::Die), ("join", Kind::Join)];
    let kind = section.choice("kind", &kinds)?;
    let place = ["x", "y"];
    let needed = if kind == Kind::Move { &place[..] } else { &[] };
    for key in ["at", "node", "kind"].into_iter().chain(needed.iter().copied()) {
        if section.span(key).is_none() {
            let what = if place.contains(&key) { "an [[event]] that moves a node" } else { "an [[event]]" };
            return Err(section.error(key, format!("{what} needs {key}")));
        }
    }
    if let Some(key) = place.into_iter().find(|key| kind != Kind::Move && section.span(key).is_some()) {
        return Err(section.error(key, format!("{key} says where a node moves to: set kind to \"move\"")));
    }
    let x = section.parsed("x", 0, parse_length)?;
    let y = section.parsed("y", 0, parse_length)?;
    section.finish()?;
    let kind = match kind {
        Kind::Reboot => ScenarioEventKind::Reboot,
        Kind::Move => ScenarioEventKind::Move { x, y },
        Kind::Die => ScenarioEventKind::Die,
        Kind::Join => ScenarioEventKind::Join,
    };
    Ok(ScenarioEvent { at, node, kind })
}

/// What every node runs on: a platform that is shipped, or a file's, which is named relative to the scenario.
fn read_platform(
    mut section: Section<'_, '_>,
    scenario: &str,
    files: &mut Vec<PathBuf>,
) -> Result<Option<Platform>, ScenarioError> {
    let profile = section.parsed("profile", None, |name| match name {
        "native" => Ok(None),
        _ => Platform::named(name).map(Some).map_err(|_| Platform::unknown(name, &["native"])),
    })?;
    let backend = section.choice("backend", &DeviceBackend::ALL)?;
    let file = section.string("file")?;
    let with_backend = |section: &Section<'_, '_>, platform: Platform| {
        platform.with_backend(backend).map_err(|wrong| section.error("backend", format!("backend: {wrong}")))
    };
    let Some(name) = file else {
        if profile.is_none() && section.span("backend").is_some() {
            return Err(section.error("backend", "a backend is what a board's images link: name a board"));
        }
        let platform = profile.map(|profile| with_backend(&section, profile)).transpose()?;
        section.finish()?;
        return Ok(platform);
    };
    if section.span("profile").is_some() {
        return Err(
            section.error("file", "a file or a profile says what nodes run on: leave one of them out")
        );
    }
    let path = beside(scenario, name);
    if !path.is_file() {
        return Err(section.error("file", format!("there is no file {}", path.display())));
    }
    let platform = with_backend(&section, Platform::load(&path)?)?;
    section.finish()?;
    files.push(path);
    Ok(Some(platform))
}

fn read_traffic(
    mut section: Section<'_, '_>,
    default: Traffic,
    lines: &mut Lines,
) -> Result<Traffic, ScenarioError> {
    let echo = section.choice("kind", &[("report", false), ("echo", true)])?;
    let period = section.parsed("period", default.period, parse_duration)?;
    let begin = section.parsed("begin", default.begin, parse_span)?;
    section.choice("start", &[("uniform", ())])?;
    let to = read_destination(&mut section)?;
    let payload = section.string("payload")?;
    let mut confirmable = true;
    let kind = if echo {
        let payload = match payload.map(|text| text.strip_suffix('B').unwrap_or(text).parse::<u16>()) {
            None => 64,
            Some(Ok(bytes)) => bytes,
            Some(Err(_)) => return Err(section.error("payload", NOT_A_PAYLOAD)),
        };
        if section.boolean("confirmable", false)? {
            return Err(section.error("confirmable", "echo traffic is plain UDP: it cannot be confirmable"));
        }
        TrafficKind::Echo { payload }
    } else {
        if payload.is_some_and(|payload| payload != "senml") {
            return Err(section.error("payload", "the payload of report traffic is \"senml\""));
        }
        confirmable = section.boolean("confirmable", true)?;
        TrafficKind::Report
    };
    let pattern = read_pattern(&mut section)?;
    // Echoes come from the cloud, or from the border router.
    let senders = if matches!(kind, TrafficKind::Echo { .. }) { 0..=*NODES.end() } else { NODES };
    let from = section.optional_integer("from", senders)?.map(|from| from as u32);
    let credential =
        section.choice("credential", &[("none", Credential::None), ("query", Credential::Query)])?;
    let session = Some(section.parsed("session", Span::ZERO, parse_duration)?).filter(|it| *it > Span::ZERO);
    let keys = [
        (Key::Session, "session"),
        (Key::Begin, "begin"),
        (Key::Period, "period"),
        (Key::Payload, "payload"),
        (Key::To, "to"),
        (Key::From, "from"),
        (Key::Credential, "credential"),
        (Key::Confirmable, "confirmable"),
        (Key::Pattern, if section.span("pattern").is_some() { "pattern" } else { "jitter" }),
    ];
    lines.extend(keys.map(|(key, name)| (key, section.line(name))));
    section.finish()?;
    Ok(Traffic { kind, begin, period, pattern, confirmable, to, from, credential, session })
}

/// How the times between readings differ, with the keys that belong to it.
fn read_pattern(section: &mut Section<'_, '_>) -> Result<Pattern, ScenarioError> {
    let none = Pattern::Periodic { jitter: Span::ZERO };
    let burst = Pattern::Burst { readings: DEFAULT_BURST, gap: Span::from_millis(1) };
    let pattern =
        section.choice("pattern", &[("periodic", none), ("poisson", Pattern::Poisson), ("burst", burst)])?;
    let jitter = section.parsed("jitter", Span::ZERO, parse_span)?;
    let readings = section.integer("burst", DEFAULT_BURST.into(), READINGS_IN_A_BURST)? as u32;
    let gap = section.parsed("burst_gap", Span::from_millis(1), parse_duration)?;
    let (pattern, own) = match pattern {
        Pattern::Periodic { .. } => (Pattern::Periodic { jitter }, "periodic"),
        Pattern::Poisson => (pattern, "poisson"),
        Pattern::Burst { .. } => (Pattern::Burst { readings, gap }, "burst"),
    };
    let keys = [("jitter", "periodic"), ("burst", "burst"), ("burst_gap", "burst")];
    section.refuse_keys_of_others("pattern", own, &keys)?;
    Ok(pattern)
}

/// Where traffic goes: `"cloud"`, or the number of a node.
fn read_destination(section: &mut Section<'_, '_>) -> Result<Destination, ScenarioError> {
    if !section.is_number("to") {
        return section.parsed("to", Destination::Cloud, |text| match text {
            "cloud" => Ok(Destination::Cloud),
            _ => Err(format!("\"{text}\" is not \"cloud\", nor the number of a node, such as 1")),
        });
    }
    Ok(Destination::Node(section.integer("to", 1, NODES)? as u32))
}

/// Where the nodes stand; what is said of single ones goes into `scenario`.
fn read_topology(
    top: &mut Section<'_, '_>,
    scenario: &mut Scenario,
    lines: &mut Lines,
) -> Result<Topology, ScenarioError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Chain,
        Grid,
        Random,
        List,
    }
    let mut section = top.section("topology", "[topology]")?;
    let kind = section.choice(
        "kind",
        &[("chain", Kind::Chain), ("grid", Kind::Grid), ("random", Kind::Random), ("list", Kind::List)],
    )?;
    let entries = top.sections("node", "[[node]]")?;
    let topology = if kind == Kind::List {
        let mut placements = Vec::new();
        for entry in entries {
            let line = entry.line("id");
            let ReadNode { placement, runs, eui64, is_host, has_mains } = read_node(entry, scenario.routing)?;
            let id = placement.id;
            if let Some(first) = lines.insert(Key::Node(id), line) {
                let first = first.map(|line| format!(", on line {line} too")).unwrap_or_default();
                let message = format!("node {id} is there twice{first}: give each [[node]] an id of its own");
                return Err(ScenarioError { line, ..top.error("node", message) });
            }
            if let Some(other) = eui64 {
                scenario.same_eui64.insert(id, other);
            }
            if is_host {
                scenario.hosts.insert(id);
            }
            if has_mains {
                scenario.mains.insert(id);
            }
            match runs {
                Runs::Native => {}
                Runs::Modelled(platform) => drop(scenario.platforms.insert(id, platform)),
                Runs::Emulated(node) => drop(scenario.emulated.insert(id, node)),
            }
            placements.push(placement);
        }
        placements.sort_by_key(|placement| placement.id);
        Topology::List(placements)
    } else {
        if !entries.is_empty() {
            return Err(top.error("node", "[[node]] entries need [topology] kind = \"list\""));
        }
        let default_nodes = match kind {
            Kind::Chain => 6,
            Kind::Random => 50,
            Kind::Grid | Kind::List => 100,
        };
        let nodes = section.integer("nodes", default_nodes, NODES)? as u32;
        let routers = section.integer("routers", 1, ROUTERS)? as u32;
        lines.insert(Key::Routers, section.line("routers"));
        if kind != Kind::Random && routers > 1 {
            return Err(section.error(
                "routers",
                "several border routers stand in a random field only: set kind to \"random\", or leave routers out",
            ));
        }
        if kind == Kind::Random {
            section.choice("router", &[("centre", ())])?;
            let width = section.parsed("width", 250_000, parse_length)?;
            let height = section.parsed("height", 250_000, parse_length)?;
            lines.insert(Key::Spacing, section.line("width"));
            section.finish()?;
            return Ok(Topology::Random { nodes, width, height, routers });
        }
        let spacing = section.parsed("spacing", 40_000, parse_length)?;
        lines.insert(Key::Spacing, section.line("spacing"));
        if kind == Kind::Chain {
            section.choice("router", &[("end", ())])?;
            Topology::Chain { nodes, spacing }
        } else {
            section.choice("router", &[("corner", ())])?;
            Topology::Grid { nodes, spacing }
        }
    };
    section.finish()?;
    Ok(topology)
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

/// What is said of a node.
struct ReadNode {
    placement: Placement,
    runs: Runs,
    /// The other whose EUI-64 it has.
    eui64: Option<u32>,
    /// Whether it is a host alone.
    is_host: bool,
    /// Whether it needs no battery.
    has_mains: bool,
}

fn read_node(mut section: Section<'_, '_>, routing: RoutingKind) -> Result<ReadNode, ScenarioError> {
    let id = section.integer("id", 0, 0..=MAX_NODES.into())? as u32;
    if section.span("id").is_none() {
        return Err(section.error("x", "a [[node]] needs an id"));
    }
    let x = section.parsed("x", 0, parse_length)?;
    let y = section.parsed("y", 0, parse_length)?;
    let parent = section.optional_integer("parent", 0..=MAX_NODES.into())?.map(|parent| parent as u32);
    if id == 0 && parent.is_some() {
        return Err(section.error("parent", "node 0 is the router: it has no parent"));
    }
    if parent.is_some() && routing != RoutingKind::Static {
        return Err(section.error(
            "parent",
            "nodes find their parents by RPL: leave parent out, or set [routing] kind to \"static\"",
        ));
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
            return Err(section.error("platform", "node 0 is the router: what it runs on stands in [router]"));
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
    let eui64 = section.optional_integer("eui64", NODES)?.map(|other| other as u32);
    if id == 0 && eui64.is_some() {
        return Err(section.error("eui64", "node 0 is the router: its EUI-64 is its own"));
    }
    let is_host = section.boolean("host", false)?;
    if id == 0 && is_host {
        return Err(section.error("host", "node 0 is the router: it is no host"));
    }
    let has_mains = section.boolean("mains", false)?;
    if id == 0 && has_mains {
        return Err(section.error("mains", "node 0 is the router, which has mains anyway"));
    }
    section.finish()?;
    Ok(ReadNode { placement: Placement { id, x, y, parent }, runs, eui64, is_host, has_mains })
}
