//! The paper's network: a host that sends datagrams over a chain of four Tmote Sky, of which one sends them back.

use sixlock_base::Security;
use sixlock_sim::{
    Csma, Destination, Echo, Energy, Mac, Options, Platform, ScenarioBuilder, Simulation, Span, StateTimes,
    Time, TrafficKind,
};

use crate::error::Error;
use crate::experiment::Context;
use crate::figure::EchoSetting;
use crate::sample::Sample;
use crate::setup::TMOTE_SKY;

/// A way to secure it: what the paper calls it, and the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecurityMode {
    pub(super) label: &'static str,
    pub(super) security: &'static str,
}

pub(super) const fn way(label: &'static str, security: &'static str) -> SecurityMode {
    SecurityMode { label, security }
}

pub(super) const NOTHING: SecurityMode = way("no security", "none");
// As the paper's, link security is the radio's work.
pub(super) const LINK_MIC_4: SecurityMode = way("link, 4-byte MIC", "llsec:cbc-mac-32@engine");
pub(super) const LINK_MIC_16: SecurityMode = way("link, 16-byte MIC", "llsec:cbc-mac-128@engine");
pub(super) const LINK_CCM_4: SecurityMode = way("link, CCM, 4-byte MIC", "llsec:ccm-32@engine");
pub(super) const LINK_CCM_16: SecurityMode = way("link, CCM, 16-byte MIC", "llsec:ccm-128@engine");
pub(super) const AH: SecurityMode = way("AH", "ah:xcbc");
pub(super) const AH_ENGINE: SecurityMode = way("AH, hardware", "ah:xcbc@engine");
pub(super) const ESP: SecurityMode = way("ESP", "esp:ctr-xcbc");
pub(super) const ESP_ENGINE: SecurityMode = way("ESP, hardware", "esp:ctr-xcbc@engine");

/// A setting of the experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) way: SecurityMode,
    /// Bytes of payload in a datagram.
    pub(super) bytes: u16,
    /// How far away is who sends it back.
    pub(super) hops: u32,
    /// How nodes get at the channel.
    pub(super) mac: Mac,
    /// Whether what the processors of nodes on the way do takes time.
    pub(super) forwarding: Forwarding,
}

/// What the processors of nodes on the way take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forwarding {
    /// Their time.
    TakesTime,
    /// None, for comparison.
    Instant,
}

impl Setting {
    /// As in the paper: the NullMAC.
    pub(super) const fn new(way: SecurityMode, bytes: u16, hops: u32) -> Self {
        Self { way, bytes, hops, mac: Mac::Null, forwarding: Forwarding::TakesTime }
    }

    /// With the CSMA-CA of the standard instead.
    pub(super) fn with_csma(self) -> Self {
        Self { mac: Mac::Csma(Csma::default()), ..self }
    }

    /// With processors on the way that take no time.
    pub(super) const fn without_forwarding(self) -> Self {
        Self { forwarding: Forwarding::Instant, ..self }
    }

    /// What its nodes are.
    pub(super) const fn platform(self) -> &'static str {
        match self.forwarding {
            Forwarding::TakesTime => TMOTE_SKY,
            Forwarding::Instant => "a Tmote Sky that answers; native nodes, which take no time, before it",
        }
    }

    /// The echo that a node can measure in it: processors take their time.
    pub(super) fn echo(self) -> Option<EchoSetting<'static>> {
        let Self { way: SecurityMode { security, .. }, bytes, hops, mac, forwarding } = self;
        let mac = if mac == Mac::Null { "null" } else { "csma" };
        (forwarding == Forwarding::TakesTime).then_some(EchoSetting { hops, bytes, security, mac })
    }
}

/// What an echo takes in a setting.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) setting: Setting,
    /// There and back, in milliseconds.
    pub(super) response: Sample,
    /// What the CPU of the node that sends it back consumes at work, in millijoules: the paper's metric.
    pub(super) cpu: Sample,
    /// What that node consumes, CPU at work and radio sending and receiving, in millijoules: ours.
    pub(super) node: Sample,
    /// How long the CPU of the node before that is at work, in milliseconds; nothing over one hop.
    pub(super) forwarder: Sample,
    /// What the CPUs of all nodes on the way consume at work, in millijoules, by the paper's metric.
    pub(super) path: Sample,
    /// Echoes that were lost before one came back, in all runs; and how many came back that were measured.
    lost: u32,
    answered: u32,
}

/// Settings, simulated.
pub(super) struct Chain(Vec<Taken>);

impl Chain {
    /// Simulates every setting, with as many seeds as are wanted each.
    pub(super) fn measure(context: &Context<'_>, settings: &[Setting]) -> Result<Self, Error> {
        context.each(settings, |setting| taken(*setting, context.runs)).map(Self)
    }

    /// One value of a setting; not a number if that was not simulated.
    pub(super) fn get(&self, setting: Setting, value: fn(&Taken) -> Sample) -> Sample {
        let found = self.0.iter().find(|taken| taken.setting == setting);
        found.map_or(Sample::NONE, value)
    }

    /// How many of 100 echoes of these settings were lost that are secured in this way.
    pub(super) fn lost(&self, way: SecurityMode, settings: &[Setting]) -> Sample {
        let of_these =
            self.0.iter().filter(|taken| taken.setting.way == way && settings.contains(&taken.setting));
        let (lost, answered) =
            of_these.fold((0, 0), |(lost, answered), taken| (lost + taken.lost, answered + taken.answered));
        Sample::share(f64::from(lost), f64::from(lost + answered))
    }

    /// The response time in milliseconds.
    pub(super) fn response(&self, setting: Setting) -> Sample {
        self.get(setting, |taken| taken.response.clone())
    }

    /// By how many milliseconds that is more than without security.
    pub(super) fn added(&self, setting: Setting) -> Sample {
        self.response(setting).minus(&self.response(Setting { way: NOTHING, ..setting }))
    }

    /// By how many per cent it is more.
    pub(super) fn overhead(&self, setting: Setting) -> Sample {
        self.response(setting).per_cent_more(&self.response(Setting { way: NOTHING, ..setting }))
    }
}

fn taken(setting: Setting, runs: u32) -> Result<Taken, Error> {
    let profile = *Platform::tmote_sky().profile();
    let mut columns: [Vec<f64>; 5] = Default::default();
    let (mut all_lost, mut answered) = (0, 0);
    for seed in 1..=u64::from(runs) {
        let (echo, lost) = echo(setting, seed)?;
        all_lost += lost;
        let Some(echo) = echo else {
            // All were lost in this run, which has no value.
            columns.iter_mut().for_each(|column| column.push(f64::NAN));
            continue;
        };
        answered += 1;
        let nowhere = || Error(format!("an echo came back from nowhere: {setting:?}, seed {seed}"));
        let answering = echo.way.first().ok_or_else(nowhere)?.1;
        let nothing = Span::ZERO;
        let awake = StateTimes { lpm: nothing, listen: nothing, ..answering };
        let forwarder = echo.way.get(1).map_or(nothing, |(_, times)| times.cpu);
        let values = [
            millis(echo.round_trip.ok_or_else(nowhere)?),
            Energy::of(&profile, &awake).cpu,
            Energy::of(&profile, &awake).total(),
            millis(forwarder),
            echo.way.iter().map(|(_, times)| Energy::of(&profile, times).cpu).sum(),
        ];
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
    }
    let [response, cpu, node, forwarder, path] = columns.map(|column| Sample::of(&column));
    if response.mean.is_nan() {
        return Err(Error(format!("no echo came back: {setting:?}")));
    }
    Ok(Taken { setting, response, cpu, node, forwarder, path, lost: all_lost, answered })
}

fn millis(span: Span) -> f64 {
    span.micros() as f64 / 1000.0
}

/// The first echo of a run that comes back, but for the very first: what is there to be learnt of the flow, that has told. And how many were lost
/// before it, or at all: nothing sends them again, and nodes that do not hear each other may send at once.
fn echo(setting: Setting, seed: u64) -> Result<(Option<Echo>, u32), Error> {
    let text = include_str!("../../../../../scenarios/raza2012.toml");
    let mode = setting.way.security;
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let scenario = ScenarioBuilder::parse("scenarios/raza2012.toml", text)?
        .security(security)
        .seed(seed)
        .mac(setting.mac)
        .traffic_kind(TrafficKind::Echo { payload: setting.bytes })
        .destination(Destination::Node(setting.hops));
    let scenario = match setting.forwarding {
        Forwarding::TakesTime => scenario,
        Forwarding::Instant => scenario.profile(None).platform(setting.hops, Platform::tmote_sky()),
    };
    let scenario = scenario.build()?;
    let (period, end) = (scenario.traffic().period.micros(), Time::ZERO + scenario.duration());
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    let mut until = Time::ZERO;
    while until < end {
        until = end.min(until + Span::from_micros(period));
        simulation.step_until(until);
        let echoes = simulation.echoes();
        let back = echoes.iter().zip(0..).find(|(echo, number)| *number > 0 && echo.round_trip.is_some());
        if let Some((echo, number)) = back {
            return Ok((Some(echo.clone()), number - 1));
        }
    }
    // The last may still be under way.
    Ok((None, simulation.echoes().len().saturating_sub(2) as u32))
}
