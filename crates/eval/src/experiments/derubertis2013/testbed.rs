//! The paper's testbed: a host that sends datagrams to one MB851, which sends them back.

use sixlock_base::{Counter, NetworkSuite, Security};
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
pub(super) const PROTECTED: [SecurityMode; 3] = [AH, ESP, DTLS];
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
    /// How long it takes the node from the end of the first frame of an echo that it receives to that of the last that it sends, in
    /// milliseconds: what the paper's metric of energy multiplies.
    pub(super) at_server: Sample,
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

    /// What that is at the size at which it is most.
    pub(super) fn worst(&self, of: impl Fn(u16) -> f64) -> f64 {
        SIZES.into_iter().map(of).fold(f64::MIN, f64::max)
    }
}

fn taken(way: SecurityMode, bytes: u16, runs: u32) -> Result<Taken, Error> {
    let mut columns: [Vec<f64>; 6] = Default::default();
    for seed in 1..=u64::from(runs) {
        for (column, value) in columns.iter_mut().zip(run(way, bytes, seed)?) {
            column.push(value);
        }
    }
    let [response, bandwidth, steady, energy, at_server, handshake] =
        columns.map(|column| Sample::of(&column));
    Ok(Taken { way, bytes, response, bandwidth, steady, energy, at_server, handshake })
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
    let frames = frames_until(&mut simulation, end);
    let all = on_the_air(&simulation);
    let report = simulation.report();
    let node = report.nodes.first().ok_or_else(lost)?;
    let response = node.rtt_ms.ok_or_else(lost)?.mean;
    let times = simulation.state_times(NODE).ok_or_else(lost)?;
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
        at_server(&simulation, &frames).ok_or_else(lost)?,
        node.handshake_ms().map_or(0.0, |handshake| handshake.mean),
    ])
}

/// The border router and the node, as they are counted.
const STATIONS: [u32; 2] = [0, NODE];
const NODE: u32 = 1;

/// When frames of the border router and the node have ended, and whose, until `end`.
fn frames_until(simulation: &mut Simulation, end: Time) -> Vec<(Time, u32)> {
    let sent = |simulation: &Simulation| {
        STATIONS.map(|id| simulation.counters(id).map_or(0, |counters| counters.get(Counter::BytesSent)))
    };
    let (mut frames, mut before) = (Vec::new(), sent(simulation));
    while let Some(next) = simulation.next_time().filter(|next| *next <= end) {
        simulation.step_until(next);
        let now = sent(simulation);
        let who = STATIONS.into_iter().zip(now.into_iter().zip(before));
        frames.extend(who.filter(|(_, (now, before))| now != before).map(|(id, _)| (next, id)));
        before = now;
    }
    frames
}

/// How long echoes take the node on average, in milliseconds, from the border router's first frame to the node's last.
fn at_server(simulation: &Simulation, frames: &[(Time, u32)]) -> Option<f64> {
    let echoes = simulation.echoes();
    let mut spans = Vec::new();
    for (at, echo) in echoes.iter().enumerate() {
        let next = echoes.get(at + 1).map(|next| next.sent);
        let is_of_it = |(time, _): &&(Time, u32)| *time >= echo.sent && next.is_none_or(|next| *time < next);
        let mut of_it = frames.iter().filter(is_of_it);
        let (received, _) = of_it.clone().find(|(_, id)| *id != NODE)?;
        let (sent, _) = of_it.rfind(|(_, id)| *id == NODE)?;
        spans.push(sent.since(*received).micros() as f64 / 1000.0);
    }
    (!spans.is_empty()).then(|| spans.iter().sum::<f64>() / spans.len() as f64)
}

/// The bytes that the border router and the node have sent.
fn on_the_air(simulation: &Simulation) -> u32 {
    let network = simulation.network();
    network.router.bytes + network.nodes.iter().map(|node| node.transmissions.bytes).sum::<u32>()
}
