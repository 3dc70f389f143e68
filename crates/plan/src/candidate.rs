//! An option, and what is known of it.

use sixlock_sim::Spread;

use crate::choice::Choice;
use crate::demands::Demands;
use crate::objective::{OBJECTIVES, Objective, Values};
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
    /// Whether it remains.
    pub verdict: Verdict,
    /// What its runs came to, one a seed.
    pub(crate) runs: Vec<Values>,
}

impl Candidate {
    /// One of which nothing is known yet, or why it does not come into question.
    pub(crate) fn new(choice: Choice, struck: Option<String>) -> Self {
        let verdict = struck.map_or(Verdict::Open, Verdict::Struck);
        Self { protection: Protection::of(choice.security), choice, verdict, runs: Vec::new() }
    }

    /// How many seeds it had.
    pub fn seeds(&self) -> u32 {
        self.runs.len() as u32
    }

    /// The mean of an objective over its runs, and the 95 % interval of that, which two runs have at least. Nothing if a run does not
    /// come to a value.
    pub fn estimate(&self, objective: usize) -> Option<(f64, Option<[f64; 2]>)> {
        let values =
            self.runs.iter().map(|run| run.get(objective).copied().flatten()).collect::<Option<Vec<_>>>()?;
        match (Spread::of(&values), &values[..]) {
            (Some(spread), _) => Some((spread.mean, Some(spread.interval()))),
            (None, [value]) => Some((*value, None)),
            (None, _) => None,
        }
    }

    /// What it does not do that is demanded, in a sentence: it surely does not, with 95 % confidence.
    pub(crate) fn falls_short(&self, demands: &Demands) -> Option<String> {
        let demanded =
            |(index, objective): (usize, &Objective)| Some((index, *objective, objective.demanded(demands)?));
        OBJECTIVES.iter().enumerate().filter_map(demanded).find_map(|(index, objective, wanted)| {
            let Objective { name, unit, is_gain, .. } = objective;
            let Some((mean, Some([low, high]))) = self.estimate(index) else {
                return Some(format!("{name}: not every run has a value."));
            };
            let (is_short, bound) = if is_gain { (high < wanted, "at least") } else { (low > wanted, "at most") };
            is_short.then(|| {
                format!("{name}: {mean:.1} {unit} ({low:.1} to {high:.1}), where {bound} {wanted:.1} {unit} are demanded.")
            })
        })
    }
}
