//! `sixlock eval`.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use sixlock_eval::{
    Context, EXPERIMENTS, Evaluation, Experiment, KeptRuns, MEASUREMENTS_FILE, Measurements, Mistake,
    ReportFile, Summary, Unchecked, has_more_typed, report, text,
};

use crate::args::Eval;
use crate::progress;

/// Runs of an experiment, where nobody says how many.
const RUNS: u32 = 10;
/// The same at most where a paper went on until its results were certain.
const MOST_RUNS: u32 = 160;
/// Steps that an experiment's progress is shown in.
const STEPS: u64 = 100;
/// So many mistakes of a file are told.
const TOLD: usize = 20;
/// The commit that this program was built from.
const COMMIT: &str = env!("SIXLOCK_COMMIT");

pub(crate) fn run(args: &Eval) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    if args.list {
        return list(&mut out, args.json);
    }
    let measured =
        args.measured.as_deref().map(|path| Ok::<_, Box<dyn Error>>((path, read(path)?))).transpose()?;
    if let Some(folder) = &args.report {
        try_to_write(folder)?;
    }
    let is_wanted = |experiment: &&Experiment| {
        args.experiments.is_empty() || args.experiments.iter().any(|wanted| wanted.name == experiment.name)
    };
    let wanted: Vec<_> = EXPERIMENTS.iter().filter(is_wanted).collect();
    let bar = progress::bar("Evaluating", STEPS * wanted.len() as u64);
    let (runs, most_runs) = args.runs.map_or((RUNS, MOST_RUNS), |runs| (runs, runs));
    let (mut evaluations, kept) = (Vec::new(), KeptRuns::default());
    let mut entered = 0;
    for (done, experiment) in (0..).zip(wanted) {
        bar.set_message(experiment.name);
        let show = |share: f64| bar.set_position(STEPS * done + (STEPS as f64 * share) as u64);
        let context = Context { runs, most_runs, commit: COMMIT, kept: &kept, progress: &show };
        let mut evaluation = experiment.run(&context)?;
        if let Some((path, measurements)) = &measured {
            entered += measurements.enter(&mut evaluation).map_err(|mistakes| describe(path, &mistakes))?;
        }
        evaluations.push(evaluation);
    }
    bar.finish_and_clear();
    if let Some((path, _)) = measured.filter(|_| entered == 0) {
        to_stderr!(
            "{} has no value of these experiments; docs/evaluation.md says which it can be for",
            path.display()
        );
    }
    if let Some(folder) = &args.report {
        write_report(folder, &evaluations)?;
        to_stderr!("the report is {}", folder.join("index.html").display());
    }
    if args.json {
        serde_json::to_writer(&mut out, &evaluations)?;
        writeln!(out)?;
    } else {
        for evaluation in &evaluations {
            write!(out, "{}", text(evaluation))?;
        }
        writeln!(out, "Of the claims, {}.", Summary::of(evaluations.iter()))?;
    }
    Ok(())
}

/// The reader's measurements.
fn read(path: &Path) -> Result<Measurements, Box<dyn Error>> {
    let cannot = |error| format!("cannot read {}: {error}", path.display());
    Ok(Measurements::read(fs::File::open(path).map_err(cannot)?)
        .map_err(|mistakes| describe(path, &mistakes))?)
}

fn describe(path: &Path, mistakes: &[Mistake]) -> String {
    let line = |Mistake { line, why }: &Mistake| format!("{}:{line}: {why}", path.display());
    mistakes.iter().take(TOLD).map(line).collect::<Vec<_>>().join("\n")
}

/// The experiments take minutes: whether their report can be written is found out before.
fn try_to_write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let cannot = |error| format!("cannot write the report to {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(cannot)?;
    let file = folder.join(".eval");
    fs::write(&file, "").map_err(cannot)?;
    Ok(fs::remove_file(&file).map_err(cannot)?)
}

/// Writes the pages, and the result as JSON beside them. What a person has typed into the file of measurements stays.
fn write_report(folder: &Path, evaluations: &[Evaluation]) -> Result<(), Box<dyn Error>> {
    let cannot = |error| format!("cannot write the report to {}: {error}", folder.display());
    for ReportFile { name, text } in report(evaluations) {
        let file = folder.join(&name);
        if name == MEASUREMENTS_FILE && is_to_be_kept(&file, &text).map_err(cannot)? {
            to_stderr!(
                "{} has what you have entered, and is kept as it is; read it with --measured",
                file.display()
            );
            continue;
        }
        fs::write(file, text).map_err(cannot)?;
    }
    fs::write(folder.join("eval.json"), serde_json::to_vec(evaluations)?).map_err(cannot)?;
    Ok(())
}

/// Whether there is a file whose measurements would be lost if this were written.
fn is_to_be_kept(file: &Path, text: &str) -> io::Result<bool> {
    match fs::read(file) {
        Ok(before) => Ok(has_more_typed(&before, text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A line of `--list`.
#[derive(Serialize)]
struct Listed {
    experiment: &'static str,
    part: &'static str,
    state: &'static str,
    reproduced: bool,
    missing: &'static [&'static str],
    why: &'static str,
    unchecked: Vec<Unchecked>,
}

fn list(out: &mut impl Write, json: bool) -> Result<(), Box<dyn Error>> {
    let line = |experiment: &Experiment| {
        Ok::<_, sixlock_eval::Error>(Listed {
            experiment: experiment.name,
            part: if experiment.is_own() { "own" } else { "papers" },
            state: experiment.state().name(),
            reproduced: true,
            missing: experiment.missing(),
            why: experiment.shows,
            unchecked: experiment.unchecked()?,
        })
    };
    let all = EXPERIMENTS.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    let (own, papers): (Vec<_>, Vec<_>) = all.into_iter().partition(|line| line.part == "own");
    if json {
        serde_json::to_writer(&mut *out, &papers.iter().chain(&own).collect::<Vec<_>>())?;
        return Ok(writeln!(out)?);
    }
    let made = |state| papers.iter().filter(|line| line.state == state).count();
    writeln!(
        out,
        "Tables and figures of the papers: {}, of which {} are made, {} in part; {} sentences are not checked",
        papers.len(),
        made("made"),
        made("part"),
        papers.iter().map(|line| line.unchecked.len()).sum::<usize>()
    )?;
    lines(out, &papers)?;
    writeln!(out, "Experiments of our own: {}", own.len())?;
    Ok(lines(out, &own)?)
}

fn lines(out: &mut impl Write, lines: &[Listed]) -> io::Result<()> {
    for Listed { experiment, state, why, missing, unchecked, .. } in lines {
        writeln!(out, "  {experiment:<24} {state:<4} {why}")?;
        for missing in *missing {
            writeln!(out, "  {:<24} {:<4} not {missing}", "", "")?;
        }
        for Unchecked { section, says, why, .. } in unchecked {
            writeln!(out, "  {:<24} {:<4} not checked (section {section}): {says}: {why}", "", "")?;
        }
    }
    Ok(())
}
