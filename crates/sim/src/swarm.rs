//! A swarm: many networks, each drawn from its seed with all that it goes through, in which the same must hold.

mod describe;
mod draw;

use core::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::recorder::Sinks;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::time::Time;
use crate::trial::{Breach, Invariant, Plan};

use describe::describe;
use draw::draw;

/// What came of a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialResult {
    /// The seed.
    pub seed: u64,
    /// The network, and what it went through.
    pub network: String,
    /// What did not hold; nothing if all did.
    pub breaches: Vec<Breach>,
}

impl fmt::Display for TrialResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.seed, self.network)?;
        self.breaches.iter().try_for_each(|breach| write!(f, "\n  {breach}"))
    }
}

/// Tries the networks of `count` seeds from `first` on, in `threads` threads (one a core if there is no number), and calls `done`
/// after each. They come in the order of their seeds.
///
/// # Errors
/// When there are no threads to be had.
pub fn swarm(
    first: u64,
    count: u32,
    threads: Option<usize>,
    done: impl Fn(&TrialResult) + Sync,
) -> Result<Vec<TrialResult>, String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|failure| failure.to_string())?;
    let tried = |n: u32| {
        let tried = trial(first.wrapping_add(n.into()), Sinks::default());
        done(&tried);
        tried
    };
    Ok(pool.install(|| (0..count).into_par_iter().map(tried).collect()))
}

/// Tries the network of `seed`, and writes to `sinks` what happens.
pub fn trial(seed: u64, sinks: Sinks) -> TrialResult {
    let (scenario, plan) = draw(seed);
    let network = describe(&scenario, &plan);
    let breaches = catch_unwind(AssertUnwindSafe(|| run(&scenario, sinks, plan))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word");
        vec![Breach { time: Time::ZERO, station: None, invariant: Invariant::NoPanic, detail: text.into() }]
    });
    TrialResult { seed, network, breaches }
}

fn run(scenario: &Scenario, sinks: Sinks, plan: Plan) -> Vec<Breach> {
    let mut simulation = match Simulation::on_trial(scenario, sinks, plan) {
        Ok(simulation) => simulation,
        // No such network is to be drawn.
        Err(wrong) => panic!("{wrong}"),
    };
    simulation.run_trial(Time::ZERO + scenario.duration);
    // What was tried counts, whether or not it could be recorded.
    let _ = simulation.flush();
    simulation.breaches()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_can_be_drawn_is_drawn() {
        let networks = (1..=1000).map(|seed| {
            let (scenario, plan) = draw(seed);
            describe(&scenario, &plan)
        });
        let networks: Vec<_> = networks.collect();
        for drawn in [
            "a chain of",
            "a grid of",
            "a tree of",
            "a random field of",
            "border routers",
            "of the links one-way",
            "signals weaker with the distance",
            "tunnels to a security gateway",
            "tunnels alone to a security gateway",
            "but for node",
            "RPL",
            "NullMAC",
            "with the link key",
            "esp:gcm",
            "llsec:cbc-mac",
        ] {
            let count = networks.iter().filter(|network| network.contains(drawn)).count();
            assert!(count >= 3, "{drawn}: {count} of 1000");
        }
        assert!(!networks.iter().any(|network| network.contains("power fails at 0.0 %")));
    }
}
