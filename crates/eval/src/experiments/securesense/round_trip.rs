//! Round trips in the paper's network.

use sixlock_base::Security;
use sixlock_sim::{Destination, Options, ScenarioBuilder, Simulation, TrafficKind};

use super::super::sample::Sample;
use crate::error::Error;
use crate::experiment::Context;
use crate::figure::Figure;

/// A way to secure it: what the paper calls it, and the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecurityMode {
    label: &'static str,
    security: &'static str,
}

pub(super) const UDP: SecurityMode = SecurityMode { label: "UDP", security: "none" };
pub(super) const DTLS_SOFTWARE: SecurityMode = SecurityMode { label: "DTLS, software", security: "dtls-psk" };
pub(super) const DTLS_HARDWARE: SecurityMode =
    SecurityMode { label: "DTLS, hardware", security: "dtls-psk@engine" };

/// A setting: how, how many bytes, over how many hops.
pub(super) type Setting = (SecurityMode, u16, u32);

/// Settings, and the round-trip time in each, in milliseconds.
pub(super) struct RoundTrips(Vec<(Setting, Sample)>);

impl RoundTrips {
    /// Simulates every setting, with as many seeds as are wanted each.
    pub(super) fn measure(context: &Context<'_>, settings: Vec<Setting>) -> Result<Self, Error> {
        let each = context.each(&settings, |&setting| {
            let times = (1..=u64::from(context.runs)).map(|seed| round_trip(setting, seed));
            Ok((setting, Sample::of(&times.collect::<Result<Vec<_>, _>>()?)))
        });
        each.map(Self)
    }

    /// The mean; not a number if it was not measured.
    pub(super) fn mean(&self, way: SecurityMode, bytes: u16, hops: u32) -> f64 {
        let found = self.0.iter().find(|(setting, _)| *setting == (way, bytes, hops));
        found.map_or(f64::NAN, |(_, time)| time.mean)
    }

    /// All of them, over what varies.
    pub(super) fn figure(&self, across: &'static str, x: fn(&Setting) -> f64) -> Figure {
        let row = |(setting, time): &(Setting, Sample)| time.row(setting.0.label, "ms").at(x(setting));
        Figure { title: "Round-trip time", across: Some(across), rows: self.0.iter().map(row).collect() }
    }
}

fn round_trip((way, bytes, hops): Setting, seed: u64) -> Result<f64, Error> {
    let text = include_str!("../../../../../scenarios/securesense.toml");
    let mode = way.security;
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let scenario = ScenarioBuilder::parse("scenarios/securesense.toml", text)?
        .security(security)
        .seed(seed)
        .traffic_kind(TrafficKind::Echo { payload: bytes })
        .destination(Destination::Node(hops))
        .build()?;
    let report = Simulation::new(&scenario, Options::default())?.run();
    let report = report.map_err(|error| Error(error.to_string()))?;
    let time = report.nodes.get(hops as usize - 1).and_then(|node| node.rtt_ms);
    time.map(|time| time.mean)
        .ok_or_else(|| Error(format!("no echo came back: {mode}, {bytes} bytes, seed {seed}")))
}
