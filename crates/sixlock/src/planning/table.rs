//! A plan for people.

use std::io::{self, Write};
use std::path::Path;

use sixlock_plan::{Candidate, Modes, Network, OBJECTIVES, Plan, Verdict};
use sixlock_sim::{Estimate, Quantity};

use crate::columns;
use crate::estimates::cell;

use super::words::{
    again, better, changes, is_comparison, nothing_simulated, pairs, protects, takes, tried, verdict,
};

/// Prints those that remain with their values, then the others with the reason; where two are compared, whatever is demanded, all that are
/// simulated.
pub(super) fn print(out: &mut impl Write, network: &Network, plan: &Plan, file: &Path) -> io::Result<()> {
    let is_comparison = is_comparison(plan);
    let is_shown = |verdict: &Verdict| match verdict {
        Verdict::Struck(_) => false,
        Verdict::Remains => true,
        _ => is_comparison,
    };
    let shown: Vec<_> = of(plan, is_shown).collect();
    let seconds = plan.comparison.duration.micros() / 1_000_000;
    let all = plan.comparison.candidates.len();
    let count = if is_comparison {
        format!("{all} options")
    } else {
        format!("{all} options, {} remain", shown.len())
    };
    let name = network.name();
    writeln!(out, "{name}: {count}; means over seeds with half their 95 % intervals, {seconds} s each")?;
    if !shown.is_empty() {
        let candidates: Vec<_> = shown.iter().map(|(_, candidate)| *candidate).collect();
        values(out, &candidates)?;
    }
    for (index, candidate) in &shown {
        writeln!(out, "{}: {}", candidate.choice, protects(candidate))?;
        let (_, why) = verdict(network, plan, *index, candidate);
        if !why.is_empty() && !is_comparison {
            writeln!(out, "  {why}")?;
        }
        takes(candidate).iter().try_for_each(|memory| writeln!(out, "  takes: {memory}"))?;
        writeln!(out, "  to repeat its runs: {}", again(file, network, plan, candidate))?;
    }
    let others = of(plan, |verdict| !is_shown(verdict));
    for (index, candidate) in others {
        let (name, why) = verdict(network, plan, index, candidate);
        writeln!(out, "{}: {name}. {why}", candidate.choice)?;
    }
    if let Some(why) = nothing_simulated(plan) {
        writeln!(out, "{why}")?;
    } else if is_comparison {
        differences(out, plan)?;
    } else {
        writeln!(out, "What would change this:")?;
    }
    for screening in &plan.screenings {
        writeln!(out, "{}:", tried(screening))?;
        changes(plan, screening).iter().try_for_each(|change| writeln!(out, "  {change}"))?;
    }
    if plan.limits.modes == Modes::Usual {
        writeln!(out, "Other suites, and IPsec and DTLS at once, were not tried: --full tries them.")?;
    }
    Ok(())
}

/// How much more the second has than the first, with each way of listening.
fn differences(out: &mut impl Write, plan: &Plan) -> io::Result<()> {
    for (first, second) in pairs(plan) {
        let [one, other] = [first, second].map(|index| &plan.comparison.candidates[index].choice);
        writeln!(out, "{other} beside {one}:")?;
        for (index, objective) in OBJECTIVES.iter().enumerate() {
            let Some((mean, [low, high])) = plan.comparison.difference(second, first, index) else {
                continue;
            };
            let Quantity { name, unit, .. } = objective.quantity;
            let better = better(mean, [low, high], objective.is_gain);
            writeln!(out, "  {name}: {mean:+.2} {unit} ({low:+.2} to {high:+.2}), {better}")?;
        }
    }
    Ok(())
}

/// Candidates with their places.
fn of(plan: &Plan, is_wanted: impl Fn(&Verdict) -> bool) -> impl Iterator<Item = (usize, &Candidate)> {
    let all = plan.comparison.candidates.iter().enumerate();
    all.filter(move |(_, candidate)| is_wanted(&candidate.verdict))
}

/// A line for each of the candidates, with a column for each objective that has values.
fn values(out: &mut impl Write, candidates: &[&Candidate]) -> io::Result<()> {
    let columns = columns(candidates.iter().copied());
    let heading = columns.iter().map(|&index| OBJECTIVES[index].quantity.column.to_owned());
    let mut rows: Vec<Vec<String>> = vec![["option".into()].into_iter().chain(heading).collect()];
    for candidate in candidates {
        let cells = columns.iter().map(|&index| cell(candidate.estimate(index)));
        rows.push([candidate.choice.to_string()].into_iter().chain(cells).collect());
    }
    columns::print(out, &rows)
}

/// The places of the objectives in which one of the candidates has a value.
pub(super) fn columns<'a>(candidates: impl Iterator<Item = &'a Candidate> + Clone) -> Vec<usize> {
    let has =
        |index: &usize| candidates.clone().any(|candidate| candidate.estimate(*index) != Estimate::Nothing);
    (0..OBJECTIVES.len()).filter(has).collect()
}
