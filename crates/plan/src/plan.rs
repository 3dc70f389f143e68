//! Simulates the options of a network, round by round, until it is known which remain.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use sixlock_sim::{Report, ScenarioError, Span, Spread, run};

use crate::candidate::{Candidate, Verdict};
use crate::choice::{Choice, Modes};
use crate::front::dominates;
use crate::network::Network;
use crate::objective::{Values, values};

/// How long a network is simulated before its readings count: in it, it forms.
const START: Span = Span::from_secs(300);

/// How much is simulated.
#[derive(Clone, Debug)]
pub struct Limits {
    /// After how long no other run begins.
    pub time: Duration,
    /// The first seed.
    pub first_seed: u64,
    /// Seeds that an option has before it can fall.
    pub least_seeds: u32,
    /// Readings of each node, over these seeds.
    pub readings: u32,
    /// Seeds that an option has which does not fall.
    pub most_seeds: u32,
    /// Which security modes are tried.
    pub modes: Modes,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(600),
            first_seed: 1,
            least_seeds: 5,
            readings: 200,
            most_seeds: 10,
            modes: Modes::Usual,
        }
    }
}

/// How far a plan has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Seeds that each option has had.
    pub seeds: u32,
    /// Those that it has at most.
    pub most_seeds: u32,
    /// Options that have not fallen.
    pub left: Vec<Choice>,
}

/// The options of a network.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All of them.
    pub candidates: Vec<Candidate>,
    /// How long each run simulates.
    pub duration: Span,
    /// The seeds of runs, the first one's and how many there are at most.
    pub limits: Limits,
}

/// Simulates the options of `network` within `limits`, and calls `done` after each round: a seed of every option that is left.
///
/// # Errors
/// When a run fails.
pub fn plan(network: &Network, limits: Limits, done: impl Fn(&Progress)) -> Result<Plan, ScenarioError> {
    let started = Instant::now();
    let readings = limits.readings.div_ceil(limits.least_seeds);
    let duration = START + Span::from_micros(network.period().micros().saturating_mul(readings.into()));
    let choices = Choice::all(network.demands(), &limits.modes).into_iter();
    let candidates = choices
        .map(|choice| {
            let struck = struck(network, &choice, &limits, duration);
            Candidate::new(choice, struck)
        })
        .collect();
    let time = limits.time;
    let mut plan = Plan { candidates, duration, limits };
    for seeds in 0..plan.limits.most_seeds {
        let seed = plan.limits.first_seed.wrapping_add(seeds.into());
        let open: Vec<_> = plan.open().collect();
        let scenarios =
            open.iter().map(|&index| network.scenario(&plan.candidates[index].choice, duration, seed));
        let scenarios: Vec<_> = scenarios.collect::<Result<_, _>>()?;
        let in_time = |scenario| match started.elapsed() < time {
            true => run(scenario).map(Some),
            false => Ok(None),
        };
        let reports: Vec<_> = scenarios.par_iter().map(in_time).collect::<Result<_, ScenarioError>>()?;
        // All that are left have the same seeds: a round that is not whole does not count.
        let Some(reports) = reports.into_iter().collect::<Option<Vec<Report>>>() else { break };
        for (index, report) in open.into_iter().zip(reports) {
            plan.candidates[index].runs.push(values(&report));
        }
        // Of those that are to be compared none falls.
        if seeds + 1 >= plan.limits.least_seeds && !matches!(plan.limits.modes, Modes::These(_)) {
            plan.drop_dominated();
        }
        let left = plan.open().map(|index| plan.candidates[index].choice.clone()).collect();
        done(&Progress { seeds: seeds + 1, most_seeds: plan.limits.most_seeds, left });
        if plan.open().count() == 0 {
            break;
        }
    }
    plan.judge(network);
    Ok(plan)
}

/// Why an option does not come into question, in a sentence, if it does not.
fn struck(network: &Network, choice: &Choice, limits: &Limits, duration: Span) -> Option<String> {
    let struck = match limits.modes {
        Modes::These(_) => None,
        Modes::Usual | Modes::Every => choice.struck(network.demands()),
    };
    struck.or_else(|| {
        let cannot = network.scenario(choice, duration, limits.first_seed).err();
        cannot.map(|error| format!("It cannot be simulated: {}.", error.message))
    })
}

impl Plan {
    /// How much more `one` has of an objective than `other`, both by their place: the mean over seeds, and its 95 % interval. Nothing if a
    /// run does not come to a value.
    pub fn difference(&self, one: usize, other: usize, objective: usize) -> Option<(f64, [f64; 2])> {
        let [one, other] = [one, other].map(|index| self.candidates.get(index));
        let value = |run: &Values| run.get(objective).copied().flatten();
        let pairs = one?.runs.iter().zip(&other?.runs);
        let differences =
            pairs.map(|(one, other)| Some(value(one)? - value(other)?)).collect::<Option<Vec<_>>>()?;
        let spread = Spread::of(&differences)?;
        Some((spread.mean, spread.interval()))
    }

    /// The places of those of which it is not known yet whether they remain.
    fn open(&self) -> impl Iterator<Item = usize> {
        let is_open = |(_, candidate): &(usize, &Candidate)| candidate.verdict == Verdict::Open;
        self.candidates.iter().enumerate().filter(is_open).map(|(index, _)| index)
    }

    /// Lets options fall that another dominates, with the same seeds.
    fn drop_dominated(&mut self) {
        let open: Vec<_> = self.open().collect();
        for &index in &open {
            let by = open.iter().find(|&&other| {
                let [this, other] = [index, other].map(|index| &self.candidates[index].runs[..]);
                dominates(other, this)
            });
            if let Some(&by) = by {
                self.candidates[index].verdict = Verdict::Dominated(by);
            }
        }
    }

    /// Says of those that are left whether they do what is demanded.
    fn judge(&mut self, network: &Network) {
        for index in self.open().collect::<Vec<_>>() {
            let candidate = &self.candidates[index];
            if candidate.seeds() >= self.limits.least_seeds {
                let short = candidate.falls_short(network.demands());
                self.candidates[index].verdict = short.map_or(Verdict::Remains, Verdict::FallsShort);
            }
        }
    }
}
