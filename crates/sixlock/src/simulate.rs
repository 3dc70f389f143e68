//! `sixlock sim`.

mod cells;
mod csv;
mod energy;
mod outputs;
mod quantities;
mod rpl;
mod scenario;
mod spread;
mod swarm;
mod table;
mod vary;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks, Span, Time, run_seeds, with_cost};

use crate::args::Sim;
use crate::progress;

/// Steps that a run's progress is shown in.
const STEPS: u64 = 200;

pub(crate) fn run(args: &Sim) -> Result<(), Box<dyn Error>> {
    match &args.scenario {
        Some(path) => run_scenario(args, path),
        None => swarm::run(args),
    }
}

fn run_scenario(args: &Sim, path: &Path) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let reports = if args.vary.is_empty() { run_seeds_of(args, path)? } else { vary::run(args, path)? };
    let simulated: f64 = reports.iter().map(|report| report.simulated_s).sum();
    let wall = started.elapsed().as_secs_f64();
    to_stderr!("{simulated:.0} s simulated in {wall:.2} s: {:.0} times real time", simulated / wall);
    Ok(())
}

/// Simulates the scenario in `path` with as many seeds as `args` say, and prints what runs come to.
fn run_seeds_of(args: &Sim, path: &Path) -> Result<Vec<Report>, Box<dyn Error>> {
    let scenario = scenario::load(args, path, &[])?;
    for note in scenario.notes() {
        to_stderr!("note: {note}");
    }
    let mut reports = Vec::new();
    if outputs::are_wanted(args) || args.runs == 1 {
        reports.push(run_recorded(&scenario, outputs::sinks(args, Some(&scenario))?)?);
    }
    let left = args.runs - reports.len() as u32;
    if left > 0 {
        let bar = progress::bar("Simulating", left.into());
        let scenario = scenario.with_seed(scenario.seed().wrapping_add(reports.len() as u64));
        reports.extend(run_seeds(&scenario, left, args.threads, || bar.inc(1))?);
        bar.finish_and_clear();
    }
    let mut out = io::stdout().lock();
    if args.json {
        match &reports[..] {
            [report] => serde_json::to_writer(&mut out, report)?,
            reports => serde_json::to_writer(&mut out, reports)?,
        }
        writeln!(out)?;
    } else if args.csv {
        csv::print(&mut out, &reports)?;
    } else {
        table::heading(&mut out, &scenario, &reports)?;
        match &reports[..] {
            [report] => {
                table::nodes(&mut out, &scenario, report)?;
                energy::nodes(&mut out, report)?;
            }
            reports => spread::print(&mut out, reports)?,
        }
        table::sums(&mut out, &scenario, &reports)?;
    }
    Ok(reports)
}

/// Runs in steps, so that progress can be shown.
fn run_recorded(scenario: &Scenario, sinks: Sinks) -> Result<Report, Box<dyn Error>> {
    let mut simulation = Simulation::new(scenario, Options { sinks, ..Options::default() })?;
    let bar = progress::bar("Simulating", STEPS);
    for step in 1..STEPS {
        simulation.step_until(Time::ZERO + Span::from_micros(scenario.duration().micros() / STEPS * step));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(with_cost(scenario, simulation.run()?)?)
}
