//! `sixlock sim --swarm`: networks drawn from seeds, and what must hold in all of them.

use std::error::Error;
use std::io::{self, Write};
use std::time::Instant;

use sixlock_sim::{TrialResult, swarm, trial};

use crate::args::Sim;
use crate::progress;

use super::outputs;

/// The seed of the first network unless another is given.
const FIRST: u64 = 1;

pub(super) fn run(args: &Sim) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let records = outputs::are_wanted(args);
    let tried = match (args.swarm, args.swarm_seed) {
        (Some(_), _) if records => {
            return Err("what is recorded is of one network: give its --swarm-seed alone".into());
        }
        (None, Some(seed)) => vec![trial(seed, outputs::sinks(args, None)?)],
        (count, first) => several(first.unwrap_or(FIRST), count.unwrap_or(1), args.threads)?,
    };
    let mut out = io::stdout().lock();
    if let (Some(_), [one]) = (args.swarm_seed, &tried[..]) {
        writeln!(out, "{}", one.network)?;
    }
    let broken: Vec<_> = tried.iter().filter(|tried| !tried.breaches.is_empty()).collect();
    for network in &broken {
        tell(&mut out, network)?;
    }
    writeln!(out, "{} networks tried, {} with a finding", tried.len(), broken.len())?;
    to_stderr!("in {:.1} s", started.elapsed().as_secs_f64());
    match broken.is_empty() {
        true => Ok(()),
        false => Err("what must hold does not".into()),
    }
}

fn several(first: u64, count: u32, threads: Option<usize>) -> Result<Vec<TrialResult>, String> {
    let bar = progress::bar("Trying networks", count.into());
    let tried = swarm(first, count, threads, |_| bar.inc(1));
    bar.finish_and_clear();
    tried
}

fn tell(out: &mut impl Write, network: &TrialResult) -> io::Result<()> {
    for breach in &network.breaches {
        writeln!(out, "{breach}")?;
    }
    writeln!(out, "  again: sixlock sim --swarm-seed {}", network.seed)
}
