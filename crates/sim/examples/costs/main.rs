//! Finds what tasks take on each CPU, holds that against round trips that it was not found from, and compares it with
//! `costs/`. `scripts/firmware.sh costs` builds what this needs.
//!
//! Usage: `costs [--operations] [--json] [--accept] CASES [CPU BACKEND COUNTED COMPILER]...`. CASES is what the example `primitives`
//! says of the images `sixlock-operations` and `sixlock-p256`, or those with another backend, on the platform CPU-BACKEND. With `--operations`, steps stay as they are; with `--accept`, `costs/` becomes
//! what was measured. It exits with 1 if `costs/` is another, or if a round trip is missed by too much.

#[path = "../../tests/line/mod.rs"]
mod line;

mod least_squares;
mod operations;
mod steps;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sixlock_crypto::Operation;
use sixlock_sim::{Costs, DeviceBackend, HeldOut, Platform, Step, StepCost};

/// The backend whose operations and steps are both measured. The steps with another are the same: they are those of the stack.
const FIRST: &str = "tiny";
/// The CPUs, and a platform of each.
const CPUS: [(&str, &str); 3] =
    [("cortex-m3", "openmote"), ("msp430f1611", "tmote-sky"), ("atmega128", "micaz")];

struct Arguments {
    operations: bool,
    json: bool,
    accept: bool,
    /// The file of cases; then for each backend on a CPU their names, how it was counted there and what compiled the images.
    rest: Vec<String>,
}

impl Arguments {
    fn read() -> Self {
        let (options, rest): (Vec<_>, Vec<_>) =
            std::env::args().skip(1).partition(|word| word.starts_with("--"));
        let has = |name: &str| options.iter().any(|option| option == name);
        Self { operations: has("--operations"), json: has("--json"), accept: has("--accept"), rest }
    }
}

/// A figure of a file of costs.
struct Figure {
    name: String,
    value: f64,
}

fn figures(costs: &Costs) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut figure = |name: String, value| figures.push(Figure { name, value });
    for operation in Operation::ALL {
        figure(operation.name().into(), costs.operations[operation as usize]);
    }
    for (step, cost) in Step::ALL.iter().zip(&costs.steps) {
        figure(step.name().into(), cost.each);
        figure(format!("{}, byte", step.name()), cost.byte);
    }
    figures
}

fn held_out_figures(costs: &Costs) -> impl Iterator<Item = Figure> + '_ {
    costs.held_out.iter().flat_map(|HeldOut { case, measured, modelled }| {
        let figure = |what, value| Figure { name: format!("{case}, {what}"), value };
        [figure("measured", *measured), figure("modelled", *modelled)]
    })
}

/// The figures by which two costs differ: a line each.
fn differences(committed: Option<&Costs>, measured: &Costs) -> Vec<String> {
    let Some(committed) = committed else { return vec!["there are none yet".into()] };
    let all = |costs| -> Vec<Figure> { figures(costs).into_iter().chain(held_out_figures(costs)).collect() };
    let (before, now) = (all(committed), all(measured));
    let known = |figure: &Figure| before.iter().find(|other| other.name == figure.name);
    let changed = now.iter().filter_map(|figure| match known(figure) {
        Some(known) if known.value == figure.value => None,
        Some(known) => {
            let change = (figure.value / known.value - 1.0) * 100.0;
            Some(format!("{:<40} {:>12.2} {:>12.2} {change:>+8.1} %", figure.name, known.value, figure.value))
        }
        None => Some(format!("{:<40} {:>12} {:>12.2}", figure.name, "-", figure.value)),
    });
    let gone = before.iter().filter(|figure| !now.iter().any(|other| other.name == figure.name));
    changed
        .chain(gone.map(|figure| format!("{:<40} {:>12.2} {:>12}", figure.name, figure.value, "-")))
        .collect()
}

fn print(costs: &Costs) {
    println!("{}-{}: {}", costs.cpu, costs.backend, costs.counted);
    for figure in figures(costs).iter().filter(|figure| figure.value != 0.0) {
        println!("  {:<28} {:>12.2}", figure.name, figure.value);
    }
    for held_out in &costs.held_out {
        let (measured, modelled, error) = (held_out.measured, held_out.modelled, held_out.error());
        println!(
            "  held out: {:<28} {measured:>10.0}, by these {modelled:>10.0} {error:>+7.2} %",
            held_out.case
        );
    }
}

/// What was measured of one backend on one CPU, as it is written: with two digits behind the point. `first` is what was measured of the first
/// backend there.
fn measure(
    arguments: &Arguments,
    cases: &serde_json::Value,
    [cpu, backend, counted, compiler]: &[String; 4],
    committed: Option<&Costs>,
    first: Option<&Costs>,
) -> Result<Costs, Box<dyn Error>> {
    let (_, platform) =
        CPUS.iter().find(|(name, _)| name == cpu).ok_or_else(|| format!("{cpu} is not known"))?;
    let mut platform = Platform::named(platform)?;
    if backend != FIRST {
        platform = platform.with_backend(DeviceBackend::Tables)?;
    }
    let platform = &platform;
    let unit = if cpu == "cortex-m3" { "instructions" } else { "cycles" };
    let mut costs = Costs {
        cpu: cpu.clone(),
        backend: backend.clone(),
        unit: unit.into(),
        counted: counted.clone(),
        compiler: compiler.clone(),
        operations: operations::fit(cases, &format!("{cpu}-{backend}"))?,
        steps: [StepCost::default(); Step::ALL.len()],
        held_out: Vec::new(),
    };
    // What P-256 takes does not depend on how AES is done: no case of another backend has it.
    for (cost, of_first) in costs.operations.iter_mut().zip(first.iter().flat_map(|first| first.operations)) {
        if *cost == 0.0 {
            *cost = of_first;
        }
    }
    match committed {
        Some(committed) if arguments.operations => {
            (costs.steps, costs.held_out) = (committed.steps, committed.held_out.clone());
        }
        _ => {
            match first {
                Some(first) => costs.steps = first.steps,
                None => steps::fit(&mut costs, platform)?,
            }
            costs.held_out = steps::hold(&costs, platform)?;
        }
    }
    Ok(Costs::parse(cpu, &costs.to_toml())?)
}

fn run() -> Result<bool, Box<dyn Error>> {
    let arguments = Arguments::read();
    let Some((cases, cpus)) = arguments.rest.split_first() else {
        return Err(
            "usage: costs [--operations] [--json] [--accept] CASES [CPU BACKEND COUNTED COMPILER]...".into(),
        );
    };
    let cases = serde_json::from_str(&std::fs::read_to_string(cases)?)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../costs");
    let (mut is_good, mut all) = (true, Vec::<Costs>::new());
    for of in cpus.as_chunks::<4>().0 {
        let [cpu, backend, ..] = of;
        let path: PathBuf = folder.join(format!("{cpu}-{backend}.toml"));
        let committed = read(&path);
        let committed = match committed {
            // What cannot be read is replaced.
            Err(error) if arguments.accept => {
                eprintln!("{error}");
                None
            }
            committed => Some(committed?),
        };
        let first = match all.iter().find(|costs| costs.cpu == *cpu && costs.backend == FIRST) {
            Some(measured) => Some(measured.clone()),
            None if backend == FIRST => None,
            None => Some(read(&folder.join(format!("{cpu}-{FIRST}.toml")))?),
        };
        let costs = measure(&arguments, &cases, of, committed.as_ref(), first.as_ref())?;
        let missed = costs.held_out.iter().filter(|held_out| held_out.error().abs() > steps::TOLERANCE);
        for held_out in missed {
            is_good = false;
            eprintln!("{cpu}-{backend}: {} is missed by {:.1} %", held_out.case, held_out.error());
        }
        if !arguments.json {
            print(&costs);
        }
        let differences = differences(committed.as_ref(), &costs);
        if !differences.is_empty() {
            eprintln!("{cpu}-{backend}: what is committed, and what was measured:");
            differences.iter().for_each(|line| eprintln!("  {line}"));
            is_good &= arguments.accept;
        }
        // Another emulator or compiler that measures the same is no difference, but worth to be noted with the rest.
        if arguments.accept && committed.as_ref() != Some(&costs) {
            std::fs::write(&path, costs.to_toml())?;
        }
        all.push(costs);
    }
    if arguments.json {
        println!("{}", serde_json::Value::Array(all.iter().map(to_json).collect()));
    }
    Ok(is_good)
}

fn read(path: &Path) -> Result<Costs, Box<dyn Error>> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    Ok(Costs::parse(&name, &text)?)
}

fn to_json(costs: &Costs) -> serde_json::Value {
    let all = figures(costs).into_iter().chain(held_out_figures(costs));
    let all = all.map(|figure| (figure.name, figure.value.into())).collect();
    serde_json::json!({
        "schema": 1,
        "cpu": costs.cpu,
        "backend": costs.backend,
        "unit": costs.unit,
        "counted": costs.counted,
        "compiler": costs.compiler,
        "figures": serde_json::Value::Object(all),
    })
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
