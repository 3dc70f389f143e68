//! How fast and in how much memory networks are simulated: `./bench sim [SCENARIO...] [--growth FILE]`.
//!
//! Each run is a process of its own, on one processor, whose time counts: its memory is the most that the process ever had. `--growth`
//! simulates fields of more and more nodes, as dense as that of 10,000, and plots time and memory over their number.

use std::error::Error;
use std::process::Command;
use std::{env, fs};

use sixlock_eval::{Figure, Provenance, Row, svg};
use sixlock_sim::{Options, ScenarioBuilder, Simulation};

/// What is measured unless it is said otherwise.
const SCENARIOS: [&str; 2] = ["scenarios/field-200.toml", "scenarios/field-10000.toml"];

/// The field that smaller ones are cut from to show the growth, its side in metres, its nodes and its border routers.
const FIELD: &str = include_str!("../../../scenarios/field-10000.toml");
const SIDE: f64 = 2800.0;
const NODES: u32 = 10_000;
const ROUTERS: u32 = 36;
/// The nodes of those.
const SIZES: [u32; 7] = [100, 200, 500, 1000, 2000, 5000, 10_000];

/// The way by which a process asks for a run of this program.
const RUN: &str = "--run";

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (mut scenarios, mut growth) = (Vec::new(), None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            RUN => return run(&args.next().ok_or("which scenario?")?),
            "--growth" => growth = Some(args.next().ok_or("--growth: name the file that gets the plot")?),
            _ => scenarios.push(arg),
        }
    }
    if scenarios.is_empty() && growth.is_none() {
        scenarios.extend(SCENARIOS.map(String::from));
    }
    println!(
        "{:<28}{:>7}{:>12}{:>10}{:>14}{:>10}{:>12}",
        "", "nodes", "simulated", "took", "x real time", "memory", "delivered"
    );
    for path in scenarios {
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        measure(&path, &text)?;
    }
    if let Some(file) = growth {
        plot(&file)?;
    }
    Ok(())
}

/// What a run took.
struct Measured {
    /// Simulated.
    simulated: f64,
    /// Of a processor's time.
    seconds: f64,
    megabytes: f64,
}

/// Runs a scenario in a process of its own, and prints what it took.
fn measure(name: &str, text: &str) -> Result<Measured, Box<dyn Error>> {
    let output = Command::new(env::current_exe()?).args([RUN, text]).output()?;
    if !output.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let line = String::from_utf8(output.stdout)?;
    let mut values = line.split_whitespace().map(str::parse::<f64>);
    let mut next = || values.next().unwrap_or(Ok(0.0));
    let [nodes, simulated, seconds, megabytes, delivered] = [next()?, next()?, next()?, next()?, next()?];
    let faster = simulated / seconds;
    println!(
        "{name:<28}{nodes:>7}{simulated:>10} s{seconds:>8.2} s{faster:>14.0}{megabytes:>7.0} MB{delivered:>10.2} %"
    );
    Ok(Measured { simulated, seconds, megabytes })
}

/// Simulates a scenario, and prints: its nodes, seconds that were simulated and that it took, megabytes, and per cent delivered.
fn run(text: &str) -> Result<(), Box<dyn Error>> {
    let scenario = ScenarioBuilder::parse("scenario", text)?.build()?;
    let simulated = scenario.duration().micros() as f64 / 1e6;
    let before = processor_time()?;
    let report = Simulation::new(&scenario, Options::default())?.run()?;
    let seconds = processor_time()? - before;
    let delivered = 100.0 * report.delivery().unwrap_or_default();
    println!("{} {simulated} {seconds} {} {delivered}", report.nodes.len(), peak()?);
    Ok(())
}

/// The time that processors have spent on this process, in seconds.
fn processor_time() -> Result<f64, Box<dyn Error>> {
    let scheduled = fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds =
        scheduled.split_whitespace().next().ok_or("the kernel tells no time of the processor")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

/// The most memory that this process ever had, in megabytes.
fn peak() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the kernel tells no VmHWM")?;
    Ok(peak.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}

/// Simulates fields of more and more nodes, and plots what they took.
fn plot(file: &str) -> Result<(), Box<dyn Error>> {
    let mut rows = Vec::new();
    for nodes in SIZES {
        let share = f64::from(nodes) / f64::from(NODES);
        let side = SIDE * share.sqrt();
        let routers = (f64::from(ROUTERS) * share).round().max(1.0);
        let text = FIELD
            .replace(&format!("nodes = {NODES}"), &format!("nodes = {nodes}"))
            .replace(&format!("routers = {ROUTERS}"), &format!("routers = {routers}"))
            .replace(&format!("{SIDE}m"), &format!("{side:.0}m"));
        let measured = measure(&format!("a field of {nodes}"), &text)?;
        let Measured { simulated, seconds, megabytes } = measured;
        for (label, value, unit) in
            [("time", 1000.0 * seconds / simulated, "ms"), ("memory", megabytes, "MB")]
        {
            rows.push(Row::new(label, value, unit, Provenance::Measured).at(nodes.into()));
        }
    }
    let of = |label: &str| rows.iter().filter(|row| row.label == label).cloned().collect();
    let figures = [("Time for a simulated second", of("time")), ("Memory", of("memory"))];
    let drawn = figures.map(|(title, rows)| svg(&Figure { title, across: Some("nodes"), rows }));
    fs::write(file, format!("<!doctype html><meta charset=\"utf-8\">{}", drawn.join("\n")))?;
    println!("{file} has the plots.");
    Ok(())
}
