//! The paper's testbed: a host that sends datagrams to one MB851, which sends them back.

use sixlock_base::{NetworkSuite, Security};
use sixlock_sim::{
    Energy, Options, Platform, ScenarioBuilder, Simulation, Span, StateTimes, Time, TrafficKind,
};

use super::super::sample::Sample;
use crate::error::Error;
use crate::experiment::Context;

/// A way to secure it: what the paper calls it, and the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecurityMode {
    pub(super) label: &'static str,
    security: &'static str,
}

impl SecurityMode {
    /// The suite of IPsec.
    pub(super) fn suite(self) -> Option<NetworkSuite> {
        Security::any(self.security).ok()?.network
    }
}

pub(super) const NOTHING: SecurityMode = SecurityMode { label: "no security", security: "none" };
// As the paper's, AES is the chip's engine's work.
pub(super) const AH: SecurityMode = SecurityMode { label: "AH", security: "ah:xcbc@engine" };
pub(super) const ESP: SecurityMode = SecurityMode { label: "ESP", security: "esp:ctr-xcbc@engine" };
pub(super) const DTLS: SecurityMode = SecurityMode { label: "DTLS", security: "dtls-psk@engine" };
pub(super) const WAYS: [SecurityMode; 4] = [NOTHING, AH, ESP, DTLS];

/// Bytes in a datagram: the paper's go from 1 to 128, an echo here has a number of eight.
pub(super) const SIZES: [u16; 5] = [8, 32, 64, 96, 128];

/// What echoes of a size take, secured in a way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    way: SecurityMode,
    bytes: u16,
    /// There and back, in milliseconds.
    pub(super) response: Sample,
    /// What is on the air, handshake and acknowledgements included, in bytes a second.
    pub(super) bandwidth: Sample,
    /// That without the handshake.
    pub(super) steady: Sample,
    /// What the node consumes for an echo, CPU at work and radio sending and receiving, in millijoules, its part of the handshake
    /// included: our metric.
    pub(super) energy: Sample,
    /// How long its CPU works for an echo, in milliseconds.
    pub(super) cpu: Sample,
    /// How long the handshake takes, in milliseconds; nothing where there is none.
    pub(super) handshake: Sample,
}

/// The paper's measurements, made again.
pub(super) struct Testbed(Vec<Taken>);

impl Testbed {
    /// Each way with each size, with as many seeds as are wanted.
    pub(super) fn measure(context: &Context<'_>, sizes: &[u16]) -> Result<Self, Error> {
        let settings: Vec<_> =
            WAYS.into_iter().flat_map(|way| sizes.iter().map(move |&bytes| (way, bytes))).collect();
        context.each(&settings, |&(way, bytes)| taken(way, bytes, context.runs)).map(Self)
    }

    /// One value; not a number if that was not measured.
    pub(super) fn get(&self, way: SecurityMode, bytes: u16, value: fn(&Taken) -> Sample) -> Sample {
        let found = self.0.iter().find(|taken| taken.way == way && taken.bytes == bytes);
        found.map_or(Sample::NONE, value)
    }

    /// Its mean.
    pub(super) fn mean(&self, way: SecurityMode, bytes: u16, value: fn(&Taken) -> Sample) -> f64 {
        self.get(way, bytes, value).mean
    }

    /// How much more it is than without security.
    pub(super) fn added(&self, way: SecurityMode, bytes: u16, value: fn(&Taken) -> Sample) -> f64 {
        self.mean(way, bytes, value) - self.mean(NOTHING, bytes, value)
    }

    /// How many per cent more.
    pub(super) fn overhead(&self, way: SecurityMode, bytes: u16, value: fn(&Taken) -> Sample) -> f64 {
        100.0 * self.added(way, bytes, value) / self.mean(NOTHING, bytes, value)
    }

    /// What that is at the size at which it is most, and the size.
    pub(super) fn worst(&self, of: impl Fn(u16) -> f64) -> (f64, u16) {
        let sizes = SIZES.into_iter().map(|bytes| (of(bytes), bytes));
        sizes.fold((f64::MIN, 0), |worst, next| if next.0 > worst.0 { next } else { worst })
    }
}

fn taken(way: SecurityMode, bytes: u16, runs: u32) -> Result<Taken, Error> {
    let mut columns: [Vec<f64>; 6] = Default::default();
    for seed in 1..=u64::from(runs) {
        for (column, value) in columns.iter_mut().zip(run(way, bytes, seed)?) {
            column.push(value);
        }
    }
    let [response, bandwidth, steady, energy, cpu, handshake] = columns.map(|column| Sample::of(&column));
    Ok(Taken { way, bytes, response, bandwidth, steady, energy, cpu, handshake })
}

fn run(way: SecurityMode, bytes: u16, seed: u64) -> Result<[f64; 6], Error> {
    let text = include_str!("../../../../../scenarios/derubertis2013.toml");
    let mode = way.security;
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let scenario = ScenarioBuilder::parse("scenarios/derubertis2013.toml", text)?
        .security(security)
        .seed(seed)
        .traffic_kind(TrafficKind::Echo { payload: bytes })
        .build()?;
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    let end = Time::ZERO + scenario.duration();
    let lost = || Error(format!("there was no echo: {mode}, {bytes} bytes, seed {seed}"));
    // The handshake is over when the first echo is sent.
    while simulation.echoes().is_empty() {
        simulation.step_until(simulation.next_time().filter(|next| *next <= end).ok_or_else(lost)?);
    }
    let before = on_the_air(&simulation);
    simulation.step_until(end);
    let all = on_the_air(&simulation);
    let report = simulation.report();
    let node = report.nodes.first().ok_or_else(lost)?;
    let response = node.rtt_ms.ok_or_else(lost)?.mean;
    let times = simulation.state_times(1).ok_or_else(lost)?;
    let nothing = Span::from_micros(0);
    let awake = StateTimes { lpm: nothing, listen: nothing, ..times };
    let energy = Energy::of(Platform::mb851().profile(), &awake).total();
    let echoes = node.sent as f64;
    let seconds = echoes * scenario.traffic().period.as_secs();
    Ok([
        response,
        f64::from(all) / seconds,
        f64::from(all - before) / seconds,
        energy / echoes,
        node.cpu_ms.and_then(|cpu| cpu.echoed).ok_or_else(lost)?.mean,
        node.handshake_ms().map_or(0.0, |handshake| handshake.mean),
    ])
}

/// The bytes that the border router and the node have sent.
fn on_the_air(simulation: &Simulation) -> u32 {
    let network = simulation.network();
    network.router.bytes + network.nodes.iter().map(|node| node.transmissions.bytes).sum::<u32>()
}
