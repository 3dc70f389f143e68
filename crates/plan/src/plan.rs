//! A plan: which options of a network remain, and what would change that.

use sixlock_sim::ScenarioError;

use crate::choice::Choice;
use crate::comparison::{Comparison, Step};
use crate::condition::Condition;
use crate::limits::{Deadline, Limits};
use crate::network::Network;
use crate::screening::{Screening, screen};

/// How far a plan has come.
#[derive(Clone, Debug)]
pub enum Progress {
    /// An option has had another seed.
    Seeds {
        /// Options that have not fallen.
        left: usize,
        /// How many seeds each has had, in the mean.
        seeds: f64,
    },
    /// Which options remain is known of all but the slow ones, with the seeds of before an option can fall.
    FirstFront {
        /// Those that remain.
        left: Vec<Choice>,
        /// Those of which that is not known.
        open: Vec<Choice>,
    },
    /// Another value of this condition is tried.
    Screening {
        /// The condition.
        condition: Condition,
        /// How many values have been tried.
        done: u32,
        /// How many there are.
        all: u32,
    },
}

/// The options of a network, and what would change which of them remain.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The options.
    pub comparison: Comparison,
    /// How much was simulated.
    pub limits: Limits,
    /// What other conditions would change.
    pub screenings: Vec<Screening>,
}

/// Simulates the options of `network` within `limits`, and calls `done` as it goes on. Conditions are screened last, unless options were
/// given.
///
/// # Errors
/// When a run fails.
pub fn plan(
    network: &Network,
    limits: Limits,
    done: impl Fn(&Progress) + Sync,
) -> Result<Plan, ScenarioError> {
    let deadline = Deadline::after(limits.time);
    let choices = Choice::all(network.demands(), &limits.modes);
    let mut comparison = Comparison::new(network, choices, &[], &limits)?;
    let most_seeds = limits.most_seeds;
    comparison.run(network.demands(), &limits, most_seeds, deadline, |step| match step {
        Step::Seeds { left, seeds } => done(&Progress::Seeds { left, seeds }),
        Step::FirstFront(candidates, left, slow) => {
            let choices =
                |indices: &[usize]| indices.iter().map(|&index| candidates[index].choice.clone()).collect();
            done(&Progress::FirstFront { left: choices(&left), open: choices(slow) });
        }
    })?;
    comparison.judge(network.demands(), &limits);
    let screenings = match limits.modes.are_given() {
        true => Vec::new(),
        false => screen(network, &comparison, &limits, deadline, |condition, done_before, all| {
            done(&Progress::Screening { condition, done: done_before, all });
        })?,
    };
    Ok(Plan { comparison, limits, screenings })
}
