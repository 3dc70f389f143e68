//! Options that are simulated with the same seeds, until it is known which remain.

use rayon::prelude::*;
use sixlock_sim::{Report, ScenarioError, Setting, Span, Spread, run};

use crate::candidate::{Candidate, Verdict};
use crate::choice::Choice;
use crate::demands::Demands;
use crate::limits::{Deadline, Limits};
use crate::network::Network;
use crate::objective::{OBJECTIVES, Values, values};

/// How long a network is simulated before its readings count: in it, it forms.
const START: Span = Span::from_secs(300);

/// Options, and what is known of them.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// All of them.
    pub candidates: Vec<Candidate>,
    /// How long each run simulates.
    pub duration: Span,
}

/// How far a comparison has come.
pub(crate) struct Round<'a> {
    /// Seeds that each option has had which has not fallen.
    pub(crate) seeds: u32,
    /// All options.
    pub(crate) candidates: &'a [Candidate],
}

impl Comparison {
    /// Those of `choices`, in `network` with `settings`.
    ///
    /// # Errors
    /// When the network cannot be read with them.
    pub(crate) fn new(
        network: &Network,
        choices: Vec<Choice>,
        settings: &[Setting],
        limits: &Limits,
    ) -> Result<Self, ScenarioError> {
        let readings = limits.readings.div_ceil(limits.least_seeds);
        let period = network.period(settings)?.micros();
        let duration = START + Span::from_micros(period.saturating_mul(readings.into()));
        let candidate = |choice: Choice| {
            let struck = if limits.modes.are_given() { None } else { choice.struck(network.demands()) };
            match struck {
                Some(why) => Candidate::struck(choice, why),
                None => match network.scenario(&choice, settings, duration) {
                    Ok(scenario) => Candidate::open(choice, scenario).if_it_fits(network.demands()),
                    Err(error) => {
                        Candidate::struck(choice, format!("It cannot be simulated: {}.", error.message))
                    }
                },
            }
        };
        Ok(Self { candidates: choices.into_iter().map(candidate).collect(), duration })
    }

    /// Simulates round by round, a seed of every option that is left, up to so many, and calls `done` after each. An option falls once it
    /// has seeds enough and another dominates it, or it surely does not do what is demanded. Whether it was done before the deadline.
    ///
    /// # Errors
    /// When a run fails.
    pub(crate) fn run(
        &mut self,
        demands: &Demands,
        limits: &Limits,
        most_seeds: u32,
        deadline: Deadline,
        done: impl Fn(Round<'_>),
    ) -> Result<bool, ScenarioError> {
        for seeds in 0..most_seeds {
            let seed = limits.first_seed.wrapping_add(seeds.into());
            let open: Vec<_> = self.open().collect();
            if open.is_empty() {
                break;
            }
            let one = |&index: &usize| match (&self.candidates[index].scenario, deadline.is_over()) {
                (Some(scenario), false) => run(&scenario.with_seed(seed)).map(Some),
                _ => Ok(None),
            };
            let reports: Vec<_> = open.par_iter().map(one).collect::<Result<_, ScenarioError>>()?;
            // All that are left have the same seeds: a round that is not whole does not count.
            let Some(reports) = reports.into_iter().collect::<Option<Vec<Report>>>() else {
                return Ok(false);
            };
            for (index, report) in open.into_iter().zip(reports) {
                self.candidates[index].runs.push(values(&report));
            }
            // Of those that are given none falls.
            if seeds + 1 >= limits.least_seeds && !limits.modes.are_given() {
                self.drop_dominated();
                self.drop_short(demands, limits);
            }
            done(Round { seeds: seeds + 1, candidates: &self.candidates });
        }
        Ok(true)
    }

    /// Says of those that are left, and had seeds enough, that they remain, unless they do not do what is demanded.
    pub(crate) fn judge(&mut self, demands: &Demands, limits: &Limits) {
        self.drop_short(demands, limits);
        for index in self.open().collect::<Vec<_>>() {
            let candidate = &mut self.candidates[index];
            if candidate.seeds() >= limits.least_seeds {
                candidate.verdict = Verdict::Remains;
            }
        }
    }

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

    /// Whether `one` is better than `other` in an objective, with 95 % confidence.
    pub(crate) fn is_surely_better(&self, one: usize, other: usize, objective: usize) -> bool {
        let is_gain = OBJECTIVES.get(objective).is_some_and(|objective| objective.is_gain);
        self.difference(one, other, objective)
            .is_some_and(|(_, [low, high])| if is_gain { low > 0.0 } else { high < 0.0 })
    }

    /// The places of those of which it is not known yet whether they remain.
    fn open(&self) -> impl Iterator<Item = usize> {
        let is_open = |(_, candidate): &(usize, &Candidate)| candidate.verdict == Verdict::Open;
        self.candidates.iter().enumerate().filter(is_open).map(|(index, _)| index)
    }

    /// Lets options fall that had seeds enough, and surely do not do what is demanded.
    fn drop_short(&mut self, demands: &Demands, limits: &Limits) {
        for index in self.open().collect::<Vec<_>>() {
            let candidate = &mut self.candidates[index];
            if candidate.seeds() >= limits.least_seeds
                && let Some(short) = candidate.falls_short(demands)
            {
                candidate.verdict = Verdict::FallsShort(short);
            }
        }
    }

    /// Lets options fall that another dominates, with the same seeds.
    fn drop_dominated(&mut self) {
        let open: Vec<_> = self.open().collect();
        for &index in &open {
            let is_better =
                |other: &&usize| self.candidates[**other].makes_superfluous(&self.candidates[index]);
            let by = open.iter().find(is_better);
            if let Some(&by) = by {
                self.candidates[index].verdict = Verdict::Dominated(by);
            }
        }
    }
}
