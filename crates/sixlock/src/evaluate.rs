//! `sixlock eval`.

use std::error::Error;
use std::fs;
use std::io::{self, Write};

use serde::Serialize;
use sixlock_eval::{Context, EXPERIMENTS, Evaluation, Experiment, html};

use crate::args::Eval;
use crate::progress;

/// Steps that an experiment's progress is shown in.
const STEPS: u64 = 100;

pub(crate) fn run(args: &Eval) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    if args.list {
        return Ok(list(&mut out, args.json)?);
    }
    let is_wanted = |experiment: &&Experiment| {
        args.experiments.is_empty() || args.experiments.iter().any(|name| name == experiment.name)
    };
    let wanted: Vec<_> = EXPERIMENTS.iter().filter(is_wanted).collect();
    let bar = progress::bar("Evaluating", STEPS * wanted.len() as u64);
    let mut evaluations = Vec::new();
    for (done, experiment) in (0..).zip(wanted) {
        bar.set_message(experiment.name);
        let show = |share: f64| bar.set_position(STEPS * done + (STEPS as f64 * share) as u64);
        evaluations.push(experiment.run(&Context { runs: args.runs, progress: &show })?);
    }
    bar.finish_and_clear();
    if let Some(folder) = &args.report {
        let cannot = |error| format!("cannot write the report to {}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(cannot)?;
        fs::write(folder.join("index.html"), html(&evaluations)).map_err(cannot)?;
        fs::write(folder.join("eval.json"), serde_json::to_vec(&evaluations)?).map_err(cannot)?;
        to_stderr!("the report is {}", folder.join("index.html").display());
    }
    if args.json {
        serde_json::to_writer(&mut out, &evaluations)?;
        writeln!(out)?;
    } else {
        for evaluation in &evaluations {
            print(&mut out, evaluation)?;
        }
    }
    Ok(())
}

/// A line of `--list`.
#[derive(Serialize)]
struct Listed {
    experiment: &'static str,
    reproduced: bool,
    why: &'static str,
}

fn list(out: &mut impl Write, json: bool) -> io::Result<()> {
    let lines = EXPERIMENTS.iter().map(|experiment| Listed {
        experiment: experiment.name,
        reproduced: experiment.is_reproduced(),
        why: experiment.why(),
    });
    if json {
        serde_json::to_writer(&mut *out, &lines.collect::<Vec<_>>())?;
        return writeln!(out);
    }
    for Listed { experiment, reproduced, why } in lines {
        let state = if reproduced { "reproduced" } else { "not yet" };
        writeln!(out, "{experiment:<20} {state:<12} {why}")?;
    }
    Ok(())
}

fn print(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    writeln!(out, "{}: {}", evaluation.experiment, evaluation.source)?;
    if let Some(why) = evaluation.why {
        return writeln!(out, "  not yet reproduced: {why}\n");
    }
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
    for figure in &evaluation.figures {
        writeln!(
            out,
            "\n  {:<52} {:>10} {:>10} {:>7} {:>10}",
            figure.title,
            figure.across.and_then(|across| across.rsplit(", ").next()).unwrap_or_default(),
            "ours",
            "± sd",
            "published"
        )?;
        for row in &figure.rows {
            writeln!(
                out,
                "  {:<52} {:>10} {:>10} {:>7} {:>10} {:<5} {}",
                row.label,
                row.x.map_or(String::new(), |x| x.to_string()),
                number(Some(row.value)),
                row.sd.map_or(String::new(), |sd| number(Some(sd))),
                number(row.published),
                row.unit,
                row.provenance.name()
            )?;
        }
    }
    writeln!(out)?;
    for claim in &evaluation.claims {
        let verdict = if claim.holds { "holds:         " } else { "does not hold: " };
        writeln!(out, "  {verdict} {}\n    {}", claim.text, claim.why)?;
    }
    writeln!(out)
}
