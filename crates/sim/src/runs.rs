//! Many runs, spread over threads: a run is never split, so threads change nothing.

use std::io;

use rayon::prelude::*;

use crate::error::ScenarioError;
use crate::options::Options;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::statistics::{AttackCost, Report};

/// Runs `scenario` with `runs` seeds from its own on, in `threads` threads (one a core if there is
/// no number), and calls `done` after each run. The reports come in the order of their seeds.
///
/// # Errors
/// When the scenario cannot be simulated, or there are no threads to be had.
pub fn run_seeds(
    scenario: &Scenario,
    runs: u32,
    threads: Option<usize>,
    done: impl Fn() + Sync,
) -> Result<Vec<Report>, ScenarioError> {
    let with_seed = |run: u32| scenario.with_seed(scenario.seed.wrapping_add(run.into()));
    let scenarios: Vec<_> = (0..runs).map(with_seed).collect();
    run_each(&scenarios, threads, done)
}

/// Runs `scenario`.
///
/// # Errors
/// When it cannot be simulated.
pub fn run(scenario: &Scenario) -> Result<Report, ScenarioError> {
    let report = Simulation::new(scenario, Options::default())?.run();
    let report = report.and_then(|report| with_cost(scenario, report));
    report.map_err(|failure: io::Error| ScenarioError::of_file(&scenario.name, failure))
}

/// Runs each of `scenarios` in `threads` threads (one a core if there is no number), and calls `done` after each run. The reports come
/// in the order of the scenarios.
///
/// # Errors
/// When a scenario cannot be simulated, or there are no threads to be had.
pub fn run_each(
    scenarios: &[Scenario],
    threads: Option<usize>,
    done: impl Fn() + Sync,
) -> Result<Vec<Report>, ScenarioError> {
    let run = |scenario: &Scenario| {
        let report = run(scenario);
        done();
        report
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|failure| ScenarioError::of_file("simulation", failure))?;
    pool.install(|| scenarios.par_iter().map(run).collect())
}

/// The report of a run of `scenario`, with what its attacks have cost: so much more than a run of the same seed in which nobody
/// attacks.
///
/// # Errors
/// When that run fails.
pub fn with_cost(scenario: &Scenario, report: Report) -> io::Result<Report> {
    if scenario.attacks.is_empty() {
        return Ok(report);
    }
    let calm = Scenario { attacks: Vec::new(), ..scenario.clone() };
    let calm = Simulation::new(&calm, Options::default()).map_err(io::Error::other)?.run()?;
    Ok(Report { cost: Some(AttackCost::of(&report, &calm)), ..report })
}
