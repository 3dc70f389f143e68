//! The thesis' networks: a host that sends 100 datagrams in five minutes to a node, which echoes them, over a soft bridge, RPL and
//! ContikiMAC, on Tmote Sky.

use std::sync::Arc;

use sixlock_base::Security;
use sixlock_sim::{
    Destination, DeviceBackend, EnergestTicks, Options, Platform, Scenario, ScenarioBuilder, Simulation,
    Span, Time, TrafficKind,
};

use crate::error::Error;
use crate::experiment::Context;
use crate::figure::EchoSetting;
use crate::sample::Sample;
use crate::setup::NATIVE;

/// One of the two networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// A chain of six nodes.
    One,
    /// Thirteen nodes.
    Two,
}

impl Network {
    const fn scenario(self) -> (&'static str, &'static str) {
        match self {
            Self::One => (
                "scenarios/thesis-network1.toml",
                include_str!("../../../../../scenarios/thesis-network1.toml"),
            ),
            Self::Two => (
                "scenarios/thesis-network2.toml",
                include_str!("../../../../../scenarios/thesis-network2.toml"),
            ),
        }
    }

    /// The nodes that datagrams go to, and how many hops away each is.
    pub(super) const fn targets(self) -> [Target; 3] {
        match self {
            Self::One => [target(1, 1), target(3, 3), target(6, 6)],
            Self::Two => [target(1, 1), target(6, 3), target(13, 6)],
        }
    }
}

/// A node that datagrams go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) node: u32,
    pub(super) hops: u32,
}

const fn target(node: u32, hops: u32) -> Target {
    Target { node, hops }
}

/// A way to secure datagrams: what the thesis calls it, and the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecurityMode {
    pub(super) label: &'static str,
    security: &'static str,
}

impl SecurityMode {
    /// What a claim says of it.
    pub(super) fn phrase(self) -> String {
        if self == WITHOUT { self.label.into() } else { format!("with {}", self.label) }
    }

    /// What its row is called in figures of both networks.
    pub(super) fn in_network(self, network: Network) -> String {
        let number = match network {
            Network::One => 1,
            Network::Two => 2,
        };
        format!("{}, network {number}", self.label)
    }
}

/// What a Tmote Sky does to radios that sleep: see docs/platforms.md.
pub(super) const COPIES: &str = "a Tmote Sky computes for more than a millisecond between two copies of a frame, so that a neighbour that wakes up may hear none, and hears the frame a cycle or more later";

pub(super) const WITHOUT: SecurityMode = SecurityMode { label: "without IPsec", security: "none" };
pub(super) const AH: SecurityMode = SecurityMode { label: "AH", security: "ah:xcbc" };
pub(super) const ESP: SecurityMode = SecurityMode { label: "ESP", security: "esp:ctr-xcbc" };
pub(super) const MODES: [SecurityMode; 3] = [WITHOUT, AH, ESP];

/// Bytes in a datagram.
pub(super) const SIZES: [u16; 4] = [8, 16, 32, 64];

/// By whose clock response times are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The host's, which is at the other end of a serial line: system-wide.
    Host,
    /// The bridge's: inside Cooja.
    Bridge,
}

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Processor {
    /// A Tmote Sky's.
    TmoteSky,
    /// The same with an AES that reads a table of columns.
    WithTables,
    /// One that takes no time, for comparison.
    Instant,
}

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) network: Network,
    pub(super) mode: SecurityMode,
    pub(super) bytes: u16,
    pub(super) target: Target,
    pub(super) clock: Clock,
    pub(super) processor: Processor,
}

impl Setting {
    /// By the host's clock, on the Tmote Sky.
    pub(super) const fn new(network: Network, mode: SecurityMode, bytes: u16, target: Target) -> Self {
        Self { network, mode, bytes, target, clock: Clock::Host, processor: Processor::TmoteSky }
    }

    /// The same with processors that take no time.
    pub(super) const fn instant(self) -> Self {
        Self { processor: Processor::Instant, ..self }
    }

    /// The same with the other AES.
    pub(super) const fn with_tables(self) -> Self {
        Self { processor: Processor::WithTables, ..self }
    }

    /// The same by the bridge's clock.
    pub(super) const fn by_bridge(self) -> Self {
        Self { clock: Clock::Bridge, ..self }
    }

    /// What its nodes are.
    pub(super) const fn platform(self) -> &'static str {
        match self.processor {
            Processor::TmoteSky => "Tmote Sky, also as the soft bridge",
            Processor::WithTables => "Tmote Sky, also as the soft bridge, by an AES with tables",
            Processor::Instant => NATIVE,
        }
    }

    /// The echo that a node can measure in it: without a serial line, and with processors that take their time.
    pub(super) fn echo(self) -> Option<EchoSetting<'static>> {
        let Self { mode: SecurityMode { security, .. }, bytes, target: Target { hops, .. }, .. } = self;
        let is_by_node = (self.clock, self.processor) == (Clock::Bridge, Processor::TmoteSky);
        is_by_node.then_some(EchoSetting { hops, bytes, security, mac: "contikimac" })
    }
}

/// What Contiki's Energest tells of: the microcontroller at work, the radio that receives or waits for frames, and the radio that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Mcu,
    Rx,
    Tx,
}

impl Part {
    pub(super) const ALL: [Self; 3] = [Self::Mcu, Self::Rx, Self::Tx];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mcu => "MCU",
            Self::Rx => "RX",
            Self::Tx => "TX",
        }
    }
}

/// What one run has shown.
struct Run {
    /// The mean response time of those that came back, in milliseconds; nothing if none did.
    response: Option<f64>,
    /// How many of 100 did not.
    lost: f64,
    /// What the parts of each node consumed in the five minutes, in joules.
    joules: Vec<[f64; 3]>,
}

/// How long the network has to form, how long datagrams are sent then, and how long the last of them may take.
const FORMING: Span = Span::from_secs(180);
const SENDING: Span = Span::from_secs(300);
const RETURNING: Span = Span::from_secs(5);
const DATAGRAMS: usize = 100;

/// The runs of settings.
pub(super) struct Measured(Vec<(Setting, Vec<Arc<Run>>)>);

impl Measured {
    /// Simulates every setting, with as many seeds as are wanted each.
    pub(super) fn new(context: &Context<'_>, settings: &[Setting]) -> Result<Self, Error> {
        let seeds = |&setting: &Setting| (1..=u64::from(context.runs)).map(move |seed| (setting, seed));
        let each: Vec<_> = settings.iter().flat_map(seeds).collect();
        let runs = context.each(&each, |&(setting, seed)| {
            context.kept.get(&format!("{setting:?}, seed {seed}"), || run(setting, seed))
        })?;
        let of_settings = runs.chunks(context.runs as usize).map(<[_]>::to_vec);
        Ok(Self(settings.iter().copied().zip(of_settings).collect()))
    }

    /// A value of each run of a setting; a run that has none is not a number.
    fn sample(&self, setting: Setting, value: impl Fn(&Run) -> Option<f64>) -> Sample {
        let found = self.0.iter().find(|(known, _)| *known == setting);
        let runs = found.map_or(&[][..], |(_, runs)| runs);
        Sample::of(&runs.iter().map(|run| value(run).unwrap_or(f64::NAN)).collect::<Vec<_>>())
    }

    /// The response time in milliseconds.
    pub(super) fn response(&self, setting: Setting) -> Sample {
        self.sample(setting, |run| run.response)
    }

    /// How many of 100 datagrams were lost.
    pub(super) fn lost(&self, setting: Setting) -> Sample {
        self.sample(setting, |run| Some(run.lost))
    }

    /// What a part of all nodes consumed, in joules.
    pub(super) fn of_network(&self, setting: Setting, part: Part) -> Sample {
        self.sample(setting, |run| Some(run.joules.iter().map(|parts| parts[part as usize]).sum()))
    }

    /// What that of the first node consumed.
    pub(super) fn of_first_node(&self, setting: Setting, part: Part) -> Sample {
        self.sample(setting, |run| Some(run.joules.first()?[part as usize]))
    }
}

/// When datagrams are sent that count.
pub(super) fn counted() -> core::ops::Range<Time> {
    let begin = Time::ZERO + FORMING;
    begin..begin + SENDING
}

/// The scenario of a setting.
pub(super) fn scenario(setting: Setting, seed: u64) -> Result<Scenario, Error> {
    let Setting { network, mode, bytes, target, clock, processor } = setting;
    let (file, text) = network.scenario();
    let security =
        Security::any(mode.security).map_err(|error| Error(format!("{}: {error}", mode.security)))?;
    let mut builder = ScenarioBuilder::parse(file, text)?
        .security(security)
        .seed(seed)
        .duration(FORMING + SENDING + RETURNING)
        .traffic_kind(TrafficKind::Echo { payload: bytes })
        .destination(Destination::Node(target.node));
    if clock == Clock::Bridge {
        builder = builder.without_serial();
    }
    match processor {
        Processor::TmoteSky => {}
        Processor::WithTables => {
            let board = Platform::tmote_sky().with_backend(DeviceBackend::Tables).map_err(Error)?;
            builder = builder.profile(Some(board));
        }
        Processor::Instant => builder = builder.profile(None),
    }
    Ok(builder.build()?)
}

/// How many of the datagrams that count were sent, and the response times of those that came back, in milliseconds.
pub(super) fn echoes(simulation: &Simulation) -> (usize, Vec<f64>) {
    let echoes = simulation.echoes();
    let these: Vec<_> = echoes.iter().filter(|echo| counted().contains(&echo.sent)).take(DATAGRAMS).collect();
    let times = these.iter().filter_map(|echo| echo.round_trip);
    (these.len(), times.map(|time| time.micros() as f64 / 1000.0).collect())
}

fn run(setting: Setting, seed: u64) -> Result<Run, Error> {
    let scenario = scenario(setting, seed)?;
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    let mut ticks = [Vec::new(), Vec::new()];
    for (ticks, time) in ticks.iter_mut().zip([counted().start, counted().end]) {
        simulation.step_until(time);
        let nodes = simulation.report().nodes;
        ticks.extend(nodes.iter().filter_map(|node| Some(node.energest?.ticks)));
    }
    simulation.step_until(Time::ZERO + scenario.duration());
    let (sent, times) = echoes(&simulation);
    let [before, after] = ticks;
    Ok(Run {
        response: (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64),
        lost: (sent - times.len()) as f64,
        joules: before.iter().zip(&after).map(|(before, after)| joules(before, after)).collect(),
    })
}

/// What the parts of a Tmote Sky consumed from one view of Energest to the next: ticks times current and voltage.
fn joules(before: &EnergestTicks, after: &EnergestTicks) -> [f64; 3] {
    let profile = *Platform::tmote_sky().profile();
    let seconds = |after: u64, before: u64| (after - before) as f64 / f64::from(profile.energest);
    let watts = |nanoamperes: u32| f64::from(nanoamperes) * 1e-9 * f64::from(profile.millivolts) * 1e-3;
    [
        seconds(after.cpu, before.cpu) * watts(profile.cpu),
        seconds(after.rx, before.rx) * watts(profile.listen),
        seconds(after.tx, before.tx) * watts(profile.tx),
    ]
}
