//! Round trips in the paper's network.

use sixlock_base::Security;
use sixlock_decode::Layer;
use sixlock_sim::{
    Csma, Destination, Mac, Options, Scenario, ScenarioBuilder, Simulation, Span, Time, TrafficKind,
};

use super::super::captured::Captured;
use crate::error::Error;
use crate::experiment::Context;
use crate::figure::Figure;
use crate::sample::Sample;
use crate::setup::mac_name;

/// A way to secure it: what the paper calls it, and the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecurityMode {
    pub(super) label: &'static str,
    security: &'static str,
}

pub(super) const UDP: SecurityMode = SecurityMode { label: "UDP", security: "none" };
pub(super) const DTLS_SOFTWARE: SecurityMode = SecurityMode { label: "DTLS, software", security: "dtls-psk" };
pub(super) const DTLS_HARDWARE: SecurityMode =
    SecurityMode { label: "DTLS, hardware", security: "dtls-psk@engine" };

pub(super) const TIME: &str = "Round-trip time";
/// What is removed where there is no CSMA-CA.
pub(super) const BACKOFFS: &str = "the backoffs before frames, which are drawn at random";

/// A setting: how, how many bytes, over how many hops.
pub(super) type Setting = (SecurityMode, u16, u32);

/// Settings, and the round-trip time in each, in milliseconds.
pub(super) struct RoundTrips {
    mac: Mac,
    each: Vec<(Setting, Sample)>,
}

impl RoundTrips {
    /// Simulates every setting with this MAC, with as many seeds as are wanted each.
    pub(super) fn measure(context: &Context<'_>, mac: Mac, settings: &[Setting]) -> Result<Self, Error> {
        let each = context.each(settings, |&setting| {
            let times = (1..=u64::from(context.runs)).map(|seed| round_trip(setting, mac, seed));
            Ok((setting, Sample::of(&times.collect::<Result<Vec<_>, _>>()?)))
        });
        Ok(Self { mac, each: each? })
    }

    /// The time; not a number if it was not measured.
    fn time(&self, setting: Setting) -> Sample {
        let found = self.each.iter().find(|(known, _)| *known == setting);
        found.map_or(Sample::NONE, |(_, time)| time.clone())
    }

    /// By how many milliseconds that is more than without security.
    pub(super) fn added(&self, (way, bytes, hops): Setting) -> Sample {
        self.time((way, bytes, hops)).minus(&self.time((UDP, bytes, hops)))
    }

    /// All of them, over what varies.
    pub(super) fn figure(&self, across: &'static str, x: fn(&Setting) -> f64) -> Figure {
        let row = |(setting, time): &(Setting, Sample)| {
            time.row(setting.0.label, "ms").at(x(setting)).by(mac_name(self.mac))
        };
        Figure { title: TIME, across: Some(across), rows: self.each.iter().map(row).collect() }
    }

    /// What security adds to those that are wanted.
    pub(super) fn figure_added(
        &self,
        title: &'static str,
        across: &'static str,
        x: fn(&Setting) -> f64,
        is_wanted: impl Fn(&Setting) -> bool,
    ) -> Figure {
        let settings = self.each.iter().map(|(setting, _)| *setting);
        let wanted = settings.filter(|setting| setting.0 != UDP && is_wanted(setting));
        let row = |setting: Setting| {
            self.added(setting).row(setting.0.label, "ms").at(x(&setting)).by(mac_name(self.mac))
        };
        Figure { title, across: Some(across), rows: wanted.map(row).collect() }
    }
}

fn scenario((way, bytes, hops): Setting, mac: Mac, seed: u64) -> Result<Scenario, Error> {
    let text = include_str!("../../../../../scenarios/securesense.toml");
    let mode = way.security;
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    Ok(ScenarioBuilder::parse("scenarios/securesense.toml", text)?
        .security(security)
        .mac(mac)
        .seed(seed)
        .traffic_kind(TrafficKind::Echo { payload: bytes })
        .destination(Destination::Node(hops))
        .build()?)
}

fn no_echo((way, bytes, _): Setting, seed: u64) -> Error {
    Error(format!("no echo came back: {}, {bytes} bytes, seed {seed}", way.security))
}

fn round_trip(setting: Setting, mac: Mac, seed: u64) -> Result<f64, Error> {
    let (_, _, hops) = setting;
    let report = Simulation::new(&scenario(setting, mac, seed)?, Options::default())?.run();
    let report = report.map_err(|error| Error(error.to_string()))?;
    let time = report.nodes.get(hops as usize - 1).and_then(|node| node.rtt_ms);
    time.map(|time| time.mean).ok_or_else(|| no_echo(setting, seed))
}

/// What a MAC header and its FCS take of a frame, in bytes, and what it carries behind them.
pub(super) type FrameParts = (usize, usize);

/// The frames in which data go out to the node, as they were captured: those of the second echo, before which all has been learnt.
pub(super) fn frames_of_request(setting: Setting) -> Result<Vec<FrameParts>, Error> {
    const SEED: u64 = 1;
    let scenario = scenario(setting, Mac::Csma(Csma::default()), SEED)?;
    let captured = Captured::default();
    let mut simulation = Simulation::new(&scenario, captured.options())?;
    simulation.step_until(Time::ZERO + scenario.duration());
    let [_, second, third, ..] = &simulation.echoes()[..] else { return Err(no_echo(setting, SEED)) };
    let between = |us: u64| (second.sent..third.sent).contains(&(Time::ZERO + Span::from_micros(us)));
    let mut from = None;
    let mut parts = Vec::new();
    for frame in captured.frames()?.iter().filter(|frame| between(frame.us)) {
        let Some(Layer::Mac(mac)) = frame.layers.first().filter(|_| frame.bytes > 0) else { continue };
        if mac.kind != "data" || mac.repeated {
            continue;
        }
        // Who sends first sends the request.
        if *from.get_or_insert(mac.source) == mac.source {
            parts.push((mac.bytes, frame.bytes - mac.bytes));
        }
    }
    if parts.is_empty() { Err(no_echo(setting, SEED)) } else { Ok(parts) }
}
