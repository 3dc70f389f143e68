//! Many runs of one scenario, spread over threads: a run is never split, so threads change nothing.

use std::io;

use rayon::prelude::*;

use crate::scenario::{Scenario, ScenarioError};
use crate::simulation::{Options, Simulation};
use crate::statistics::Report;

/// Runs `scenario` with `runs` seeds from its own on; the reports come in their order.
///
/// # Errors
/// When the scenario cannot be simulated.
pub fn run_seeds(scenario: &Scenario, runs: u32) -> Result<Vec<Report>, ScenarioError> {
    let with_seed = |run: u32| {
        let mut scenario = scenario.clone();
        scenario.seed = scenario.seed.wrapping_add(run.into());
        let report = Simulation::new(&scenario, Options::default())?.run();
        report.map_err(|error: io::Error| ScenarioError {
            file: scenario.name,
            line: None,
            message: error.to_string(),
        })
    };
    (0..runs).into_par_iter().map(with_seed).collect()
}
