//! The paper's testbed: a host that sends datagrams to one MB851, which sends them back.

use sixlock_base::{NetworkSuite, Security};
use sixlock_sim::{Energy, Platform, ScenarioBuilder, Simulation, Span, StateTimes, Time, TrafficKind};

use super::super::captured::{Captured, DataFrame};
use crate::error::Error;
use crate::experiment::Context;
use crate::sample::Sample;

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
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    way: SecurityMode,
    bytes: u16,
    /// There and back, in milliseconds.
    pub(super) response: Sample,
    /// What the client sends and receives, as the frames that carry it are on the air, in bytes a second: the handshake included, and
    /// no acknowledgements, which are the link's.
    pub(super) bandwidth: Sample,
    /// That without the handshake.
    pub(super) steady: Sample,
    /// What the node consumes for an echo, CPU at work and radio sending and receiving, in millijoules, its part of the handshake
    /// included: our metric.
    pub(super) energy: Sample,
    /// How long it takes the node from the end of the first frame of an echo that it receives to that of the last that it sends, in
    /// milliseconds: what the paper's metric of energy multiplies.
    pub(super) at_server: Sample,
    /// Frames in which an echo goes there and back.
    frames: Sample,
    /// How long the handshake takes, in milliseconds; nothing where there is none.
    pub(super) handshake: Sample,
}

/// What is otherwise than in the scenario.
type Vary = fn(ScenarioBuilder) -> ScenarioBuilder;

/// The paper's measurements, made again.
pub(super) struct Testbed(Vec<Taken>);

impl Testbed {
    /// Each way with each size, with as many seeds as are wanted.
    pub(super) fn measure(context: &Context<'_>, sizes: &[u16]) -> Result<Self, Error> {
        Self::of(context, sizes, |builder| builder)
    }

    /// The same where headers are compressed whatever the length of the packet.
    pub(super) fn all_compressed(context: &Context<'_>, sizes: &[u16]) -> Result<Self, Error> {
        Self::of(context, sizes, |builder| builder.compress_from(0))
    }

    fn of(context: &Context<'_>, sizes: &[u16], vary: Vary) -> Result<Self, Error> {
        let settings: Vec<_> =
            WAYS.into_iter().flat_map(|way| sizes.iter().map(move |&bytes| (way, bytes))).collect();
        context.each(&settings, |&(way, bytes)| taken(way, bytes, context.runs, vary)).map(Self)
    }

    /// One value; not a number if that was not measured.
    pub(super) fn get(&self, way: SecurityMode, bytes: u16, value: fn(&Taken) -> Sample) -> Sample {
        let found = self.0.iter().find(|taken| taken.way == way && taken.bytes == bytes);
        found.map_or(Sample::NONE, value)
    }

    /// How much more it is than without security.
    pub(super) fn added(&self, way: SecurityMode, bytes: u16, value: fn(&Taken) -> Sample) -> Sample {
        self.get(way, bytes, value).minus(&self.get(NOTHING, bytes, value))
    }

    /// How many per cent more.
    pub(super) fn overhead(&self, way: SecurityMode, bytes: u16, value: fn(&Taken) -> Sample) -> Sample {
        self.get(way, bytes, value).per_cent_more(&self.get(NOTHING, bytes, value))
    }

    /// Whether an echo of so many bytes needs more frames than without security; those that are sent again do not count.
    pub(super) fn needs_more_frames(&self, way: SecurityMode, bytes: u16) -> bool {
        let frames = |way| self.get(way, bytes, |taken| taken.frames.clone()).mean.round();
        frames(way) > frames(NOTHING)
    }

    /// What that is at the size at which its mean is most, of those at which it is anything.
    pub(super) fn worst(&self, of: impl Fn(u16) -> Option<Sample>) -> Sample {
        let most = SIZES.into_iter().filter_map(of).max_by(|one, other| one.mean.total_cmp(&other.mean));
        most.unwrap_or(Sample::NONE)
    }
}

fn taken(way: SecurityMode, bytes: u16, runs: u32, vary: Vary) -> Result<Taken, Error> {
    let mut columns: [Vec<f64>; 7] = Default::default();
    for seed in 1..=u64::from(runs) {
        for (column, value) in columns.iter_mut().zip(run(way, bytes, seed, vary)?) {
            column.push(value);
        }
    }
    let [response, bandwidth, steady, energy, at_server, frames, handshake] =
        columns.map(|column| Sample::of(&column));
    Ok(Taken { way, bytes, response, bandwidth, steady, energy, at_server, frames, handshake })
}

fn run(way: SecurityMode, bytes: u16, seed: u64, vary: Vary) -> Result<[f64; 7], Error> {
    let text = include_str!("../../../../../scenarios/derubertis2013.toml");
    let mode = way.security;
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let scenario = vary(ScenarioBuilder::parse("scenarios/derubertis2013.toml", text)?)
        .security(security)
        .seed(seed)
        .traffic_kind(TrafficKind::Echo { payload: bytes })
        .build()?;
    let captured = Captured::default();
    let mut simulation = Simulation::new(&scenario, captured.options())?;
    let lost = || Error(format!("there was no echo: {mode}, {bytes} bytes, seed {seed}"));
    simulation.step_until(Time::ZERO + scenario.duration());
    let frames: Vec<_> = captured.frames()?.iter().filter_map(DataFrame::of).collect();
    // The handshake is over when the first echo is sent.
    let begin = simulation.echoes().first().ok_or_else(lost)?.sent;
    let all: usize = frames.iter().map(|frame| frame.bytes).sum();
    let of_echoes: Vec<_> = frames.iter().filter(|frame| frame.begin >= begin).collect();
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
        all as f64 / seconds,
        of_echoes.iter().map(|frame| frame.bytes).sum::<usize>() as f64 / seconds,
        energy / echoes,
        at_server(&simulation, &frames).ok_or_else(lost)?,
        of_echoes.len() as f64 / echoes,
        node.handshake_ms().map_or(0.0, |handshake| handshake.mean),
    ])
}

const NODE: u32 = 1;

/// How long echoes take the node on average, in milliseconds, from when it has received the first frame to when it has sent its last. One that is
/// still under way when the run ends is left out.
fn at_server(simulation: &Simulation, frames: &[DataFrame]) -> Option<f64> {
    let echoes = simulation.echoes();
    let mut spans = Vec::new();
    for (at, echo) in echoes.iter().enumerate() {
        let next = echoes.get(at + 1).map(|next| next.sent);
        let is_of_it =
            |frame: &&DataFrame| frame.begin >= echo.sent && next.is_none_or(|next| frame.begin < next);
        let mut of_it = frames.iter().filter(is_of_it);
        let received = of_it.clone().find(|frame| frame.from != NODE);
        let sent = of_it.rfind(|frame| frame.from == NODE);
        let Some((received, sent)) = received.zip(sent) else { continue };
        spans.push(sent.end.since(received.end).micros() as f64 / 1000.0);
    }
    (!spans.is_empty()).then(|| spans.iter().sum::<f64>() / spans.len() as f64)
}
