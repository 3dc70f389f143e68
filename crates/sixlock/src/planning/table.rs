//! A plan for people.

use std::io::{self, Write};
use std::path::Path;

use sixlock_plan::{Candidate, Modes, Network, OBJECTIVES, Plan, Verdict};

use crate::columns;

use super::words::{again, verdict};

/// What stands where there is no value.
const NOTHING: &str = "–";

/// Prints those that remain with their values, then the others with the reason.
pub(super) fn print(out: &mut impl Write, network: &Network, plan: &Plan, file: &Path) -> io::Result<()> {
    let remain: Vec<_> = of(plan, |verdict| matches!(verdict, Verdict::Remains)).collect();
    let seconds = plan.duration.micros() / 1_000_000;
    writeln!(
        out,
        "{}: {} options, {} remain; means over seeds with half their 95 % intervals, {seconds} s each",
        network.name(),
        plan.candidates.len(),
        remain.len(),
    )?;
    values(out, &remain)?;
    for candidate in &remain {
        protects(out, candidate)?;
        writeln!(out, "  again: {}", again(file, plan, candidate))?;
    }
    let others = of(plan, |verdict| !matches!(verdict, Verdict::Remains));
    for candidate in others {
        let (name, why) = verdict(plan, &candidate.verdict);
        writeln!(out, "{}: {name}. {why}", candidate.choice)?;
    }
    if let Modes::These(_) = plan.limits.modes {
        differences(out, plan)?;
    }
    if plan.limits.modes == Modes::Usual {
        writeln!(out, "Other suites, and IPsec and DTLS at once, were not tried: --full tries them.")?;
    }
    Ok(())
}

/// How much more the second has than the first, with each way of listening.
fn differences(out: &mut impl Write, plan: &Plan) -> io::Result<()> {
    let pairs = plan.candidates.iter().enumerate().flat_map(|(first, one)| {
        let is_other = move |(second, other): &(usize, &Candidate)| {
            *second > first && other.choice.listen == one.choice.listen
        };
        plan.candidates.iter().enumerate().filter(is_other).map(move |(second, _)| (first, second))
    });
    for (first, second) in pairs {
        let [one, other] = [first, second].map(|index| &plan.candidates[index].choice);
        writeln!(out, "{other} beside {one}:")?;
        for (index, objective) in OBJECTIVES.iter().enumerate() {
            let Some((mean, [low, high])) = plan.difference(second, first, index) else { continue };
            let better = match (low, high, objective.is_gain) {
                (low, high, _) if low <= 0.0 && high >= 0.0 => "not decided",
                (low, _, is_gain) if (low > 0.0) == is_gain => "better",
                _ => "worse",
            };
            let (name, unit) = (objective.name, objective.unit);
            writeln!(out, "  {name}: {mean:+.2} {unit} ({low:+.2} to {high:+.2}), {better}")?;
        }
    }
    Ok(())
}

fn of(plan: &Plan, is_wanted: impl Fn(&Verdict) -> bool) -> impl Iterator<Item = &Candidate> {
    plan.candidates.iter().filter(move |candidate| is_wanted(&candidate.verdict))
}

/// A line for each of the candidates, with a column for each objective that has values.
fn values(out: &mut impl Write, candidates: &[&Candidate]) -> io::Result<()> {
    let has = |index: &usize| candidates.iter().any(|candidate| candidate.estimate(*index).is_some());
    let columns: Vec<_> = (0..OBJECTIVES.len()).filter(has).collect();
    let heading =
        columns.iter().filter_map(|&index| OBJECTIVES.get(index)).map(|objective| objective.column.into());
    let mut rows: Vec<Vec<String>> = vec![["option".into()].into_iter().chain(heading).collect()];
    for candidate in candidates {
        let cells = columns.iter().map(|&index| match candidate.estimate(index) {
            None => NOTHING.into(),
            Some((mean, None)) => format!("{mean:.2}"),
            Some((mean, Some([_, high]))) => format!("{mean:.2} ± {:.2}", high - mean),
        });
        rows.push([candidate.choice.to_string()].into_iter().chain(cells).collect());
    }
    columns::print(out, &rows)
}

/// What readings are protected from.
fn protects(out: &mut impl Write, candidate: &Candidate) -> io::Result<()> {
    let protection = &candidate.protection;
    let list = |who: Vec<String>| if who.is_empty() { "nobody".into() } else { who.join("; ") };
    let secret = list(protection.secret_from.iter().map(ToString::to_string).collect());
    let unforgeable = list(protection.unforgeable_by.iter().map(ToString::to_string).collect());
    let forward =
        if protection.forward_secrecy { "; what was recorded stays secret when keys are stolen" } else { "" };
    writeln!(out, "{}: secret from: {secret}; proof against: {unforgeable}{forward}", candidate.choice)
}
