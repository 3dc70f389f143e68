//! An option, and what is known of it.

use sixlock_sim::{Battery, Estimate, Quantity, Scenario, Spread};

use crate::choice::Choice;
use crate::demands::Demands;
use crate::footprint::Footprint;
use crate::front::dominates;
use crate::objective::{LIFE, OBJECTIVES, Objective, Values};
use crate::protection::Protection;

/// What is known of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It does not come into question; why, in a sentence.
    Struck(String),
    /// It does not do what is demanded; what, in a sentence.
    FallsShort(String),
    /// Another is at least as good in every objective, with 95 % confidence, and better in one: its place in the list.
    Dominated(usize),
    /// It does what is demanded, and no other makes it superfluous.
    Remains,
    /// The time did not allow to tell.
    Open,
}

/// An option, and what is known of it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is.
    pub choice: Choice,
    /// What it protects readings from.
    pub protection: Protection,
    /// What it takes of a device's memory, if that is known.
    pub footprint: Option<Footprint>,
    /// Whether it remains.
    pub verdict: Verdict,
    /// What is simulated, unless it was struck.
    pub(crate) scenario: Option<Scenario>,
    /// What its runs came to, one a seed.
    pub(crate) runs: Vec<Values>,
}

impl Candidate {
    /// One of which nothing is known yet, and what is simulated of it.
    pub(crate) fn open(choice: Choice, scenario: Scenario) -> Self {
        let footprint = Footprint::of(&scenario);
        Self { scenario: Some(scenario), footprint, ..Self::new(choice, Verdict::Open) }
    }

    /// The same, struck if it takes more memory than there is.
    pub(crate) fn if_it_fits(mut self, demands: &Demands) -> Self {
        let too_large = self.footprint.and_then(|footprint| footprint.too_large(demands.flash, demands.ram));
        if let Some(why) = too_large {
            self.verdict = Verdict::Struck(why);
        }
        self
    }

    /// One that does not come into question; why, in a sentence.
    pub(crate) fn struck(choice: Choice, why: String) -> Self {
        Self::new(choice, Verdict::Struck(why))
    }

    fn new(choice: Choice, verdict: Verdict) -> Self {
        Self {
            protection: Protection::of(choice.security),
            choice,
            footprint: None,
            verdict,
            scenario: None,
            runs: Vec::new(),
        }
    }

    /// How many seeds it had.
    pub fn seeds(&self) -> u32 {
        self.runs.len() as u32
    }

    /// What its runs say of an objective, by its place. Nothing if a run does not come to a value.
    pub fn estimate(&self, objective: usize) -> Estimate {
        let of_run = |run: &Values| run.get(objective).copied().flatten();
        let values: Option<Vec<_>> = self.runs.iter().map(of_run).collect();
        match (OBJECTIVES.get(objective), values) {
            (Some(objective), Some(values)) => objective.quantity.estimate(&values),
            _ => Estimate::Nothing,
        }
    }

    /// Whether it makes `other` superfluous: it takes no more memory, as far as that is known, and is, with 95 % confidence by the same seeds,
    /// at least as good in every objective, and better in one.
    pub(crate) fn makes_superfluous(&self, other: &Self) -> bool {
        !self.takes_more(other) && dominates(&self.runs, &other.runs)
    }

    /// Whether it is known to take more memory than `other` in some part.
    pub(crate) fn takes_more(&self, other: &Self) -> bool {
        match (&self.footprint, &other.footprint) {
            (Some(own), Some(others)) => !own.is_within(others),
            _ => false,
        }
    }

    /// The same with batteries that hold so many microampere-hours: they last for longer or less long.
    pub(crate) fn with_capacity(&self, capacity: u64) -> Self {
        let mut other = self.clone();
        if let Some(battery) = self.scenario.as_ref().and_then(Scenario::battery) {
            let larger = Battery { capacity, ..battery };
            for run in &mut other.runs {
                run[LIFE] = run[LIFE].and_then(|days| battery.life_of(&larger, days));
            }
        }
        other
    }

    /// How large a battery would have to be for the demanded life, in milliampere-hours, if one is given that does not last so long: infinite if
    /// none of its kind does, as each loses what it holds by itself.
    pub fn capacity_needed(&self, demands: &Demands) -> Option<f64> {
        let (wanted, days) = (OBJECTIVES[LIFE].demanded(demands)?, self.estimate(LIFE).mean()?);
        let battery = self.scenario.as_ref()?.battery().filter(|_| days < wanted)?;
        Some(battery.capacity_for(wanted, days).map_or(f64::INFINITY, |capacity| capacity as f64 / 1000.0))
    }

    /// What is demanded that it may miss, as chance decides, each with what there is of it.
    pub fn may_miss(&self, demands: &Demands) -> Vec<String> {
        let missed = |(objective, wanted, estimate): (Objective, f64, Estimate)| {
            let Estimate::Several { interval: [low, high], .. } = estimate else { return None };
            let worst = if objective.is_gain { low } else { high };
            let Quantity { name, unit, .. } = objective.quantity;
            objective.misses(worst, wanted).then(|| {
                format!(
                    "{}, {low:.1} to {high:.1} {unit}, where {} {wanted:.1} are demanded",
                    lower_first(name),
                    objective.bound()
                )
            })
        };
        self.demanded(demands).filter_map(missed).collect()
    }

    /// What it does not do that is demanded, in a sentence: it surely does not, with 95 % confidence.
    pub(crate) fn falls_short(&self, demands: &Demands) -> Option<String> {
        self.demanded(demands).find_map(|(objective, wanted, estimate)| {
            let Quantity { name, unit, .. } = objective.quantity;
            let Estimate::Several { spread: Spread { mean, .. }, interval: [low, high], .. } = estimate else {
                return Some(format!("{name}: not every run has a value."));
            };
            let best = if objective.is_gain { high } else { low };
            objective.misses(best, wanted).then(|| {
                format!(
                    "{name}: {mean:.1} {unit} ({low:.1} to {high:.1}), where {} {wanted:.1} {unit} are demanded.",
                    objective.bound()
                )
            })
        })
    }

    /// The objectives of which something is demanded, with what that is, and what there is.
    fn demanded(&self, demands: &Demands) -> impl Iterator<Item = (Objective, f64, Estimate)> {
        let of = |(index, objective): (usize, &Objective)| {
            Some((*objective, objective.demanded(demands)?, self.estimate(index)))
        };
        OBJECTIVES.iter().enumerate().filter_map(of)
    }
}

/// A name in the midst of a sentence.
fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use sixlock_sim::{ScenarioBuilder, Span};

    use super::*;
    use crate::objective::OBJECTIVES;

    const LATENCY: usize = 1;

    fn candidate(text: &str, latencies: &[f64]) -> Candidate {
        let scenario = ScenarioBuilder::parse("f", text).unwrap().build().unwrap();
        let choice = Choice { security: scenario.security(), listen: None };
        let mut candidate = Candidate::open(choice, scenario);
        candidate.runs = latencies
            .iter()
            .map(|latency| {
                let mut values = [Some(100.0); OBJECTIVES.len()];
                values[LATENCY] = Some(*latency);
                values
            })
            .collect();
        candidate
    }

    #[test]
    fn what_chance_may_keep_from_a_demand_is_named_and_what_is_surely_met_is_not() {
        let demands = Demands { latency: Some(Span::from_secs(2)), ..Demands::default() };
        let near = candidate("", &[1800.0, 1900.0, 2000.0, 2100.0, 2000.0]);
        assert_eq!(near.falls_short(&demands), None);
        let missed = near.may_miss(&demands);
        assert!(missed.len() == 1 && missed[0].ends_with("where at most 2000.0 are demanded"), "{missed:?}");
        assert!(candidate("", &[1000.0, 1100.0, 1000.0, 1100.0, 1000.0]).may_miss(&demands).is_empty());
    }

    #[test]
    fn another_battery_makes_a_life_longer_or_none_lasts() {
        let text = "[platform]\nprofile = \"openmote\"\n[battery]\ncapacity = \"1000mAh\"\nself_discharge = \"2%/year\"";
        let of = candidate(text, &[1000.0; 5]);
        let life = |candidate: &Candidate| candidate.estimate(LIFE).mean().unwrap();
        assert!((life(&of) - 100.0).abs() < 1e-9);
        let smaller = life(&of.with_capacity(500_000));
        assert!((50.0..50.3).contains(&smaller), "{smaller}");
        let years =
            |years: u64| Demands { life: Some(Span::from_secs(years * 365 * 86_400)), ..Demands::default() };
        assert!(of.capacity_needed(&years(1)).is_some_and(|needed| (3650.0..4000.0).contains(&needed)));
        assert_eq!(
            of.capacity_needed(&years(60)),
            Some(f64::INFINITY),
            "it is empty after 50 years by itself"
        );
    }
}
