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
use std::fs;
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
        let sinks = outputs::sinks(args, Some(&scenario))?;
        reports.push(run_recorded(&scenario, sinks, args.serial.as_deref())?);
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

/// Runs in steps, so that progress can be shown. What the node that measures echoes puts out goes into the file `serial`.
fn run_recorded(scenario: &Scenario, sinks: Sinks, serial: Option<&Path>) -> Result<Report, Box<dyn Error>> {
    let measures = scenario.measured_echoes().map(|(node, _)| node);
    let serial = match (serial, measures) {
        (Some(_), None) => {
            return Err("--serial: no emulated node measures echoes: [traffic] from names one".into());
        }
        (path, node) => path.zip(node),
    };
    let mut simulation = Simulation::new(scenario, Options { sinks, ..Options::default() })?;
    let bar = progress::bar("Simulating", STEPS);
    for step in 1..STEPS {
        simulation.step_until(Time::ZERO + Span::from_micros(scenario.duration().micros() / STEPS * step));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some((path, node)) = serial {
        simulation.step_until(Time::ZERO + scenario.duration());
        let cannot = |error| format!("cannot write {}: {error}", path.display());
        fs::write(path, simulation.serial(node).unwrap_or_default()).map_err(cannot)?;
    }
    Ok(with_cost(scenario, simulation.run()?)?)
}
