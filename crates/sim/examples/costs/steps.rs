//! What the steps of the stack take, from what emulated nodes took in small networks.

use std::error::Error;

use sixlock_sim::{
    Chip, Costs, DeviceBackend, EmulatedNode, HeldOut, MeasuredTask, Options, Platform, ScenarioBuilder,
    Simulation, Span, Step, StepCost, Time,
};

use crate::least_squares::solve;
use crate::line::{CSMA, line};

/// The node that is emulated, in the middle of the line: it answers and forwards.
const EMULATED: u32 = 2;
/// Payloads of echoes, in bytes, that the costs are found from, the longest that every chip has room for; and others that
/// they are held against.
const TRAINING: [u16; 8] = [8, 32, 44, 64, 72, 96, 168, 208];
const HELD_OUT: [u16; 4] = [20, 52, 128, 200];
/// Seeds for reports, whose payload does not vary, and how many frames in a hundred are lost: so that some are sent again.
const TRAINING_SEEDS: [(u64, u32); 3] = [(1, 0), (2, 0), (3, 8)];
const HELD_OUT_SEEDS: [(u64, u32); 1] = [(4, 0)];
/// Without a task for so long, what was under way has ended, in milliseconds.
const PAUSE: u32 = 400;
/// By how much the costs of a round trip may be wrong, in per cent.
pub(crate) const TOLERANCE: f64 = 5.0;

/// Modes of IPsec that there are images for, and the longest payload for which each chip has room then.
const AH: &str = "ah:xcbc";
const ESP: &str = "esp:ctr-xcbc";
const PROTECTED: u16 = 200;

/// What a network does.
struct Case {
    name: String,
    security: &'static str,
    traffic: String,
}

impl Case {
    fn echo(security: &'static str, payload: u16) -> Self {
        let traffic = format!("[traffic]\nkind = \"echo\"\nperiod = \"15s\"\npayload = \"{payload}B\"");
        Self { name: format!("echo, {security}, {payload} bytes"), security, traffic }
    }

    fn report(security: &'static str, seed: u64, loss: u32) -> Self {
        let traffic = "[traffic]\nkind = \"report\"\nperiod = \"14s\"";
        let traffic = format!("[radio]\nloss = 0.{loss:02}\n{traffic}");
        Self { name: format!("report, {security}, seed {seed}"), security, traffic }
    }

    /// What the emulated node does in it.
    fn run(&self, platform: &Platform, seed: u64) -> Result<Vec<MeasuredTask>, Box<dyn Error>> {
        let text = line(platform.name(), self.security, CSMA, &self.traffic);
        let node = EmulatedNode { platform: platform.clone(), image: None };
        let scenario =
            ScenarioBuilder::parse(&self.name, &text)?.emulated(EMULATED, node).seed(seed).build()?;
        let end = Time::ZERO + Span::from_micros(scenario.duration().micros());
        let mut simulation = Simulation::new(&scenario, Options { shadows: true, ..Options::default() })?;
        simulation.step_until(end);
        simulation.flush().map_err(|error| format!("{}: {error}", self.name))?;
        Ok(simulation.take_measured(EMULATED))
    }
}

/// The security modes of the images that a platform has, for echoes and for reports.
fn modes(platform: &Platform) -> [&'static [&'static str]; 2] {
    if platform.backend() == DeviceBackend::Tables {
        return [&[AH, ESP], &[]];
    }
    match platform.chip() {
        Chip::CortexM3 | Chip::Msp430F1611 => [&["none", "llsec", AH, ESP], &["none", "llsec", "dtls-psk"]],
        Chip::Atmega128 => [&["none", "llsec", AH, ESP], &["none", "llsec"]],
    }
}

fn cases(platform: &Platform, payloads: &[u16], seeds: &[(u64, u32)]) -> Vec<(Case, u64)> {
    let [echoes, reports] = modes(platform);
    let has_room = |mode: &str, payload| payload <= PROTECTED || ![AH, ESP].contains(&mode);
    let echoes = echoes.iter().flat_map(|mode| payloads.iter().map(move |payload| (mode, *payload)));
    let echoes = echoes.filter(|&(mode, payload)| has_room(mode, payload));
    let echoes = echoes.map(|(mode, payload)| (Case::echo(mode, payload), 1));
    let reports = reports
        .iter()
        .flat_map(|mode| seeds.iter().map(|&(seed, loss)| (Case::report(mode, seed, loss), seed)));
    echoes.chain(reports).collect()
}

/// A task's steps as coefficients: of each how often, and how many bytes.
fn coefficients(task: &MeasuredTask) -> Vec<f64> {
    let steps = Step::ALL.map(|step| task.work.step(step));
    steps.into_iter().flat_map(|(n, bytes)| [f64::from(n), f64::from(bytes)]).collect()
}

/// Finds what steps take on `platform`, whose operations' costs `costs` has.
pub(crate) fn fit(costs: &mut Costs, platform: &Platform) -> Result<(), Box<dyn Error>> {
    let mut rows = Vec::new();
    for (case, seed) in cases(platform, &TRAINING, &TRAINING_SEEDS) {
        for task in case.run(platform, seed)? {
            // What operations take is known, and not charged to steps again. A small task counts as much as a large one.
            let (cost, operations) = (task.cost as f64, costs.of_operations(&task.work.operations));
            let coefficients = coefficients(&task).into_iter().map(|n| n / cost).collect();
            rows.push((coefficients, (cost - operations) / cost));
        }
    }
    let found = solve(&rows, 2 * Step::ALL.len());
    let mut steps = [StepCost::default(); Step::ALL.len()];
    for (cost, pair) in steps.iter_mut().zip(found.as_chunks::<2>().0) {
        let [each, byte] = *pair;
        *cost = StepCost { each, byte };
    }
    costs.steps = steps;
    Ok(())
}

/// Holds the costs against round trips that they were not found from: what one takes on the mean, from the first frame of
/// a request on, the node's own and those that it forwards.
pub(crate) fn hold(costs: &Costs, platform: &Platform) -> Result<Vec<HeldOut>, Box<dyn Error>> {
    let mut held_out = Vec::new();
    for (case, seed) in cases(platform, &HELD_OUT, &HELD_OUT_SEEDS) {
        let (mut trips, mut measured, mut modelled) = (0.0, 0.0, 0.0);
        let mut last = None;
        for task in case.run(platform, seed)? {
            let now = task.at.millis();
            if last.is_none_or(|last| now - last > PAUSE) {
                trips += 1.0;
            }
            last = Some(now);
            measured += task.cost as f64;
            modelled += costs.of(&task.work) as f64;
        }
        held_out.push(HeldOut { case: case.name, measured: measured / trips, modelled: modelled / trips });
    }
    Ok(held_out)
}
