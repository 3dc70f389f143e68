//! Options that are simulated with the same seeds, until it is known which remain.

use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sixlock_sim::{ScenarioError, Setting, Span, Spread, run};

use crate::candidate::{Candidate, Verdict};
use crate::choice::Choice;
use crate::demands::Demands;
use crate::limits::{Deadline, Limits};
use crate::network::Network;
use crate::objective::{OBJECTIVES, Values, values};

/// Options, and what is known of them.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// All of them.
    pub candidates: Vec<Candidate>,
    /// How long each run simulates.
    pub duration: Span,
}

/// How far a comparison has come.
pub(crate) enum Step<'a> {
    /// So many options are left, which have had so many seeds in the mean.
    Seeds { left: usize, seeds: f64 },
    /// Options have had seeds enough to tell which of them remain, but for the slow ones: those that remain of them, and the slow ones, by their
    /// places.
    FirstFront(&'a [Candidate], Vec<usize>, &'a [usize]),
}

/// An option is slow whose first run took so many times as long as that of the one in the middle.
const SLOW: u32 = 4;

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
        let duration = network.begin() + Span::from_micros(period.saturating_mul(readings.into()));
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

    /// Simulates every option that is left with up to so many seeds, and calls `done` as it goes on. An option falls once all have seeds enough and
    /// another dominates it, or it surely does not do what is demanded. Until then the slow ones wait for the others. Whether it was done before the
    /// deadline.
    ///
    /// # Errors
    /// When a run fails.
    pub(crate) fn run(
        &mut self,
        demands: &Demands,
        limits: &Limits,
        most_seeds: u32,
        deadline: Deadline,
        done: impl Fn(Step<'_>) + Sync,
    ) -> Result<bool, ScenarioError> {
        let seeds = |this: &mut Self, options: &[usize], numbers: Range<u32>| {
            let seeds = numbers.map(|number| limits.first_seed.wrapping_add(number.into()));
            this.seeds(options, &seeds.collect::<Vec<_>>(), deadline, &done)
        };
        let least_seeds = limits.least_seeds.min(most_seeds);
        let Some(took) = seeds(self, &self.open(), 0..1)? else { return Ok(false) };
        let (fast, slow) = by_speed(&self.open(), &took);
        for options in [&fast, &slow] {
            if seeds(self, options, 1..least_seeds)?.is_none() {
                return Ok(false);
            }
            if options == &fast {
                let mut left = match limits.modes.are_given() {
                    true => fast.clone(),
                    false => self.front(&fast, demands),
                };
                left.sort_unstable();
                done(Step::FirstFront(&self.candidates, left, &slow));
            }
        }
        for number in least_seeds..=most_seeds {
            // Of those that are given none falls.
            if number >= limits.least_seeds && !limits.modes.are_given() {
                self.drop_dominated();
                self.drop_short(demands, limits);
            }
            if number < most_seeds && seeds(self, &self.open(), number..number + 1)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Simulates these options with these seeds; how long each run took, seed by seed. Nothing if the deadline was over before all were done: a
    /// seed counts that all options have had, as those before it.
    fn seeds(
        &mut self,
        options: &[usize],
        seeds: &[u64],
        deadline: Deadline,
        done: &(impl Fn(Step<'_>) + Sync),
    ) -> Result<Option<Vec<Duration>>, ScenarioError> {
        let open = self.open();
        let before: u32 = open.iter().map(|&index| self.candidates[index].seeds()).sum();
        let ended = AtomicU32::new(before);
        let one = |&(seed, index): &(u64, usize)| match (&self.candidates[index].scenario, deadline.is_over())
        {
            (Some(scenario), false) => {
                let begun = Instant::now();
                let report = run(&scenario.with_seed(seed))?;
                let ended = ended.fetch_add(1, Ordering::Relaxed) + 1;
                done(Step::Seeds { left: open.len(), seeds: f64::from(ended) / open.len().max(1) as f64 });
                Ok(Some((values(&report), begun.elapsed())))
            }
            _ => Ok(None),
        };
        let pairs: Vec<_> =
            seeds.iter().flat_map(|&seed| options.iter().map(move |&index| (seed, index))).collect();
        // Taken up in their order, so that the seeds that all have had are as many as can be when the time is over.
        let numbered = pairs.iter().enumerate().par_bridge();
        let ran = numbered.map(|(number, pair)| Ok((number, one(pair)?)));
        let mut runs: Vec<_> = ran.collect::<Result<_, ScenarioError>>()?;
        runs.sort_unstable_by_key(|(number, _)| *number);
        let mut took = Vec::new();
        for of_seed in runs.chunks(options.len().max(1)) {
            let whole: Option<Vec<_>> = of_seed.iter().map(|(_, run)| *run).collect();
            let Some(whole) = whole else { return Ok(None) };
            for (&index, (values, time)) in options.iter().zip(whole) {
                self.candidates[index].runs.push(values);
                took.push(time);
            }
        }
        Ok(Some(took))
    }

    /// Those of these options that none of them dominates, and that do what is demanded as far as is known.
    fn front(&self, options: &[usize], demands: &Demands) -> Vec<usize> {
        let candidate = |index: &usize| &self.candidates[*index];
        let is_left = |option: &&usize| {
            let is_dominated =
                || options.iter().any(|other| candidate(other).makes_superfluous(candidate(option)));
            candidate(option).falls_short(demands).is_none() && !is_dominated()
        };
        options.iter().filter(is_left).copied().collect()
    }

    /// Says of those that are left, and had seeds enough, that they remain, unless they do not do what is demanded. Those that are given do.
    pub(crate) fn judge(&mut self, demands: &Demands, limits: &Limits) {
        if !limits.modes.are_given() {
            self.drop_short(demands, limits);
        }
        for index in self.open() {
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

    /// Of those that remain, the ones beside which the option of this place is surely better in nothing, and surely worse in something, though they
    /// take no more memory: chance may be all that keeps it. Their places.
    pub fn better_all_round(&self, index: usize) -> Vec<usize> {
        let is_above = |one: usize, other: usize| {
            (0..OBJECTIVES.len()).any(|objective| self.is_surely_better(one, other, objective))
        };
        let remains = |&other: &usize| {
            let [own, other_one] = [index, other].map(|place| &self.candidates[place]);
            other != index && other_one.verdict == Verdict::Remains && !other_one.takes_more(own)
        };
        let others = (0..self.candidates.len()).filter(remains);
        others.filter(|&other| is_above(other, index) && !is_above(index, other)).collect()
    }

    /// The places of those of which it is not known yet whether they remain.
    fn open(&self) -> Vec<usize> {
        let is_open = |(_, candidate): &(usize, &Candidate)| candidate.verdict == Verdict::Open;
        self.candidates.iter().enumerate().filter(is_open).map(|(index, _)| index).collect()
    }

    /// Lets options fall that had seeds enough, and surely do not do what is demanded.
    fn drop_short(&mut self, demands: &Demands, limits: &Limits) {
        for index in self.open() {
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
        let open = self.open();
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

/// Options whose first runs took so long, the fast ones and the slow ones. In each, those that take longest come first, so that no core is left
/// with a long run when all others are done.
fn by_speed(options: &[usize], took: &[Duration]) -> (Vec<usize>, Vec<usize>) {
    let mut sorted = took.to_vec();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let mut timed: Vec<_> = options.iter().copied().zip(took).collect();
    timed.sort_by_key(|(_, took)| core::cmp::Reverse(**took));
    let (slow, fast): (Vec<_>, Vec<_>) = timed.into_iter().partition(|(_, took)| **took > middle * SLOW);
    let indices = |timed: Vec<(usize, &Duration)>| timed.into_iter().map(|(index, _)| index).collect();
    (indices(fast), indices(slow))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_slow_that_takes_more_than_four_times_as_long_as_the_one_in_the_middle_and_longer_ones_come_first()
     {
        let by_speed = |took: &[u64]| {
            let took: Vec<_> = took.iter().copied().map(Duration::from_millis).collect();
            by_speed(&(10..).take(took.len()).collect::<Vec<_>>(), &took)
        };
        assert_eq!(by_speed(&[]), (vec![], vec![]));
        assert_eq!(by_speed(&[7]), (vec![10], vec![]));
        assert_eq!(by_speed(&[100, 2200, 120, 400, 2300, 80]), (vec![13, 12, 10, 15], vec![14, 11]));
        assert_eq!(by_speed(&[1, 4, 5, 1, 1]), (vec![11, 10, 13, 14], vec![12]));
    }
}
