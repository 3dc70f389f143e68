//! `sixlock sim`.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use sixlock_base::Engines;
use sixlock_sim::{
    NodeReport, Options, Overrides, Report, Scenario, Simulation, Sinks, Span, Time, create_key_log,
    run_seeds,
};

use crate::args::{Compression, Sim};
use crate::progress;

/// Steps that a run's progress is shown in.
const STEPS: u64 = 200;

pub(crate) fn run(args: &Sim) -> Result<(), Box<dyn Error>> {
    let overrides = Overrides {
        security: args.security,
        nodes: args.nodes,
        duration: args.duration,
        seed: args.seed,
        compression: args.compression.map(Compression::choice),
    };
    let scenario = Scenario::load(&args.scenario)?.with(&overrides)?;
    let started = Instant::now();
    let mut reports = Vec::new();
    if args.pcap.is_some() || args.keylog.is_some() || args.events.is_some() || args.runs == 1 {
        reports.push(run_recorded(&scenario, sinks(args)?)?);
    }
    let left = args.runs - reports.len() as u32;
    if left > 0 {
        let bar = progress::bar("Simulating", left.into());
        let mut scenario = scenario.clone();
        scenario.seed = scenario.seed.wrapping_add(reports.len() as u64);
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
    } else {
        if let [report] = &reports[..] {
            print_nodes(&mut out, &scenario, report)?;
        }
        print_sums(&mut out, &scenario, &reports)?;
    }
    let simulated: f64 = reports.iter().map(|report| report.simulated_s).sum();
    let wall = started.elapsed().as_secs_f64();
    eprintln!("{simulated:.0} s simulated in {wall:.2} s: {:.0} times real time", simulated / wall);
    Ok(())
}

/// Runs in steps, so that progress can be shown.
fn run_recorded(scenario: &Scenario, sinks: Sinks) -> Result<Report, Box<dyn Error>> {
    let mut simulation = Simulation::new(scenario, Options { sinks, ..Options::default() })?;
    let bar = progress::bar("Simulating", STEPS);
    for step in 1..STEPS {
        simulation.step_until(Time::ZERO + Span::from_micros(scenario.duration.micros() / STEPS * step));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(simulation.run()?)
}

fn sinks(args: &Sim) -> Result<Sinks, Box<dyn Error>> {
    Ok(Sinks {
        pcap: create(args.pcap.as_deref(), |path| File::create(path))?,
        events: create(args.events.as_deref(), |path| File::create(path))?,
        key_log: create(args.keylog.as_deref(), create_key_log)?,
    })
}

type Sink = Option<Box<dyn Write + Send>>;

fn create(path: Option<&Path>, open: impl FnOnce(&Path) -> io::Result<File>) -> Result<Sink, String> {
    let Some(path) = path else { return Ok(None) };
    let file = open(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(Some(Box::new(BufWriter::new(file))))
}

/// Prints one run, a line a node.
fn print_nodes(out: &mut impl Write, scenario: &Scenario, report: &Report) -> io::Result<()> {
    writeln!(
        out,
        "{}, {}, seed {}, {:.0} s",
        scenario.name, scenario.security, report.seed, report.simulated_s
    )?;
    write!(
        out,
        "{:>5} {:>5} {:>6} {:>10} {:>11} {:>11} {:>8} {:>10}",
        "node", "hops", "sent", "delivered", "rtt p50/ms", "rtt p95/ms", "frames", "bytes"
    )?;
    let consume = report.nodes.iter().any(|node| node.energy_mj.is_some());
    writeln!(out, "{}", if consume { "      CPU/mJ      all/mJ" } else { "" })?;
    for node in &report.nodes {
        let [p50, p95] = match node.rtt_ms {
            Some(rtt) => [rtt.p50, rtt.p95].map(|millis| format!("{millis:.1}")),
            None => ["-".into(), "-".into()],
        };
        write!(
            out,
            "{:>5} {:>5} {:>6} {:>10} {p50:>11} {p95:>11} {:>8} {:>10}",
            node.id, node.hops, node.sent, node.delivered, node.frames, node.bytes
        )?;
        match node.energy_mj {
            Some(energy) => writeln!(out, " {:>11.1} {:>11.1}", energy.cpu, energy.total())?,
            None if consume => writeln!(out, " {:>11} {:>11}", "-", "-")?,
            None => writeln!(out)?,
        }
    }
    if consume {
        let from = |cpu| report.nodes.iter().filter_map(|node| node.provenance).any(|node| node.cpu == cpu);
        let cpu = match (from("emulated"), from("modelled")) {
            (true, true) => "emulated or modelled",
            (true, false) => "emulated",
            _ => "modelled",
        };
        writeln!(
            out,
            "CPU times are {cpu}, radio times modelled, currents published: see docs/platforms.md"
        )?;
        if scenario.security.engines != Engines::NONE {
            writeln!(out, "what @engine computes takes times modelled from data sheets")?;
        }
    }
    Ok(())
}

/// Prints what all runs come to.
fn print_sums(out: &mut impl Write, scenario: &Scenario, reports: &[Report]) -> io::Result<()> {
    let sum = |field: fn(&NodeReport) -> u64| -> u64 {
        reports.iter().flat_map(|report| &report.nodes).map(field).sum()
    };
    let (sent, delivered) = (sum(|node| node.sent), sum(|node| node.delivered));
    let share = if sent == 0 { 100.0 } else { 100.0 * delivered as f64 / sent as f64 };
    writeln!(out, "{delivered} of {sent} readings delivered ({share:.2} %)")?;
    if scenario.security.transport.is_some() {
        let connected = |report: &&Report| report.nodes.iter().all(|node| node.handshakes > 0);
        let (runs, all) = (reports.len(), reports.iter().filter(connected).count());
        let noun = if runs == 1 { "run" } else { "runs" };
        writeln!(out, "every node completed its DTLS handshake in {all} of {runs} {noun}")?;
    }
    Ok(())
}
