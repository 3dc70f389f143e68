//! One scenario with keys that take values in turn: every combination of them, each with all seeds.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};
use sixlock_sim::{Estimate, Report, Scenario, ScenarioError, Setting, run_each};

use crate::args::Sim;
use crate::columns;
use crate::estimates;
use crate::progress;
use crate::variation::Variation;

use super::quantities::{QUANTITIES, estimate};
use super::scenario;

/// Most runs of one command: their reports are held until all are there.
const RUNS: u64 = 10_000;

/// What an option of its own sets, too.
const OPTIONS: [(&str, &str); 5] = [
    ("security", "--security"),
    ("lowpan.compression", "--compression"),
    ("topology.nodes", "--nodes"),
    ("duration", "--duration"),
    ("seed", "--seed"),
];

/// One combination of values.
struct Combination {
    settings: Vec<Setting>,
    /// A run for each seed.
    reports: Vec<Report>,
}

/// Simulates the scenario in `path` with each combination of what `args` vary. The reports come last; nothing is simulated if a
/// combination cannot be.
pub(super) fn run(args: &Sim, path: &Path) -> Result<Vec<Report>, Box<dyn Error>> {
    check(args)?;
    let combinations = combinations(&args.vary)?;
    let mut scenarios = Vec::new();
    let mut notes = BTreeSet::new();
    for settings in &combinations {
        let scenario = scenario::load(args, path, settings)
            .map_err(|error| format!("--vary: with {}: {error}", spell(settings)))?;
        notes.extend(scenario.notes());
        let seeds = (0..args.runs).map(|run| scenario.seed().wrapping_add(run.into()));
        scenarios.extend(seeds.map(|seed| scenario.with_seed(seed)));
    }
    for note in notes {
        to_stderr!("note: {note}");
    }
    let bar = progress::bar("Simulating", scenarios.len() as u64);
    let mut reports = run_each(&scenarios, args.threads, || bar.inc(1))?.into_iter();
    bar.finish_and_clear();
    let runs = args.runs as usize;
    let combinations = combinations.into_iter();
    let combinations: Vec<_> = combinations
        .map(|settings| Combination { settings, reports: reports.by_ref().take(runs).collect() })
        .collect();
    print(args, scenarios.first(), &combinations)?;
    Ok(combinations.into_iter().flat_map(|combination| combination.reports).collect())
}

/// Whether each key is varied once, and by nothing else.
fn check(args: &Sim) -> Result<(), String> {
    let is_given = [
        args.security.is_some(),
        args.compression.is_some(),
        args.nodes.is_some(),
        args.duration.is_some(),
        args.seed.is_some(),
    ];
    let mut keys = BTreeSet::new();
    for Variation { key, .. } in &args.vary {
        if !keys.insert(key) {
            return Err(format!("--vary {key} is there twice: give all its values at once"));
        }
        let options = OPTIONS.iter().zip(is_given).filter(|(_, is_given)| *is_given);
        if let Some(((_, option), _)) = options.into_iter().find(|((name, _), _)| name == key) {
            return Err(format!("--vary {key}: {option} sets it, too; leave one of them out"));
        }
    }
    let counts = args.vary.iter().map(|variation| variation.values.len() as u64);
    let runs = counts.fold(args.runs.into(), u64::saturating_mul);
    match runs {
        0..=RUNS => Ok(()),
        _ => Err(format!("--vary: that makes {runs} runs, of {RUNS} at most: vary less, or lower --runs")),
    }
}

/// Every combination of values; the last key's change first.
fn combinations(variations: &[Variation]) -> Result<Vec<Vec<Setting>>, ScenarioError> {
    let mut all = vec![Vec::new()];
    for Variation { key, values } in variations {
        let mut longer = Vec::new();
        for before in all {
            for value in values {
                let mut settings: Vec<Setting> = before.clone();
                settings.push(Setting::new(key, value)?);
                longer.push(settings);
            }
        }
        all = longer;
    }
    Ok(all)
}

fn spell(settings: &[Setting]) -> String {
    settings.iter().map(Setting::to_string).collect::<Vec<_>>().join(", ")
}

fn print(
    args: &Sim,
    scenario: Option<&Scenario>,
    combinations: &[Combination],
) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &combinations.iter().map(Combination::json).collect::<Vec<_>>())?;
        writeln!(out)?;
    } else if args.csv {
        csv(&mut out, args, combinations)?;
    } else if let Some(scenario) = scenario {
        let (seed, runs) = (scenario.seed(), args.runs);
        match runs {
            1 => writeln!(out, "{}, seed {seed}", scenario.name())?,
            _ => writeln!(
                out,
                "{}, seeds {seed} to {}: means ± half of their 95 % intervals",
                scenario.name(),
                seed.wrapping_add(u64::from(runs) - 1)
            )?,
        }
        table(&mut out, args, combinations)?;
    }
    Ok(())
}

impl Combination {
    fn json(&self) -> Value {
        let value = |text: &str| match serde_json::from_str(text) {
            Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
            _ => text.into(),
        };
        let settings = self.settings.iter().map(|setting| (setting.key().to_owned(), value(setting.value())));
        json!({ "settings": settings.collect::<Map<_, _>>(), "reports": self.reports })
    }

    fn values(&self) -> impl Iterator<Item = String> {
        self.settings.iter().map(|setting| setting.value().to_owned())
    }
}

/// Prints a line a combination: its values, how many runs it had, and of each quantity the mean and where the 95 % interval of that
/// begins and ends.
fn csv(out: &mut impl Write, args: &Sim, combinations: &[Combination]) -> io::Result<()> {
    let keys = args.vary.iter().map(|variation| variation.key.clone());
    let columns = QUANTITIES.iter().map(|quantity| estimates::csv_heading(quantity.column));
    let heading: Vec<_> = keys.chain(["runs".into()]).chain(columns).collect();
    writeln!(out, "{}", heading.join(","))?;
    for combination in combinations {
        let of = |quantity| estimates::csv(estimate(quantity, &combination.reports));
        let cells = QUANTITIES.iter().map(of);
        let runs = combination.reports.len().to_string();
        let cells: Vec<_> = combination.values().chain([runs]).chain(cells).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

/// Prints a line a combination, for people.
fn table(out: &mut impl Write, args: &Sim, combinations: &[Combination]) -> io::Result<()> {
    let quantities = || {
        QUANTITIES.iter().filter(|quantity| {
            let has = |combination: &Combination| {
                !matches!(estimate(quantity, &combination.reports), Estimate::Nothing)
            };
            combinations.iter().any(has)
        })
    };
    let keys = args.vary.iter().map(|variation| variation.key.clone());
    let mut rows =
        vec![keys.chain(quantities().map(|quantity| quantity.column.into())).collect::<Vec<String>>()];
    for combination in combinations {
        let cells = quantities().map(|quantity| estimates::cell(estimate(quantity, &combination.reports)));
        rows.push(combination.values().chain(cells).collect());
    }
    columns::print(out, &rows)
}
