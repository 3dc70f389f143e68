//! What several runs have shown: means, and how far runs are from them.

use std::collections::BTreeSet;
use std::io::{self, Write};

use sixlock_sim::{Estimate, Quantity, Report};

use crate::columns::NOTHING;

use super::quantities::{QUANTITIES, estimate};

/// Prints a line a value.
pub(super) fn print(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    writeln!(out, "{} runs: mean ± standard deviation, and the mean's 95 % interval", reports.len())?;
    for quantity in &QUANTITIES {
        row(out, &format!("{}/{}", quantity.name, quantity.unit), estimate(quantity, reports))?;
    }
    lives(out, reports)
}

/// Prints how long the battery of each node lasts.
fn lives(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let ids: BTreeSet<_> = reports.iter().flat_map(|report| &report.nodes).map(|node| node.id).collect();
    for id in ids {
        let node = |report: &Report| report.nodes.iter().find(|node| node.id == id)?.life_days;
        let lives: Vec<_> = reports.iter().filter_map(node).collect();
        row(out, &format!("Life of node {id}/d"), Quantity::LIFE.estimate(&lives))?;
    }
    Ok(())
}

/// Prints the line of a value, unless no run has it.
fn row(out: &mut impl Write, name: &str, estimate: Estimate) -> io::Result<()> {
    match estimate {
        Estimate::Several { spread, interval: [low, high], is_cut } => {
            let (mean, sd) = (spread.mean, spread.sd);
            let note = if is_cut { " (cut to what is possible)" } else { "" };
            writeln!(out, "{name:>36} {mean:>14.2} ± {sd:<10.2} {low:>14.2} to {high:.2}{note}")
        }
        Estimate::One(_) => writeln!(out, "{name:>36} {NOTHING:>14} (one run alone has it)"),
        Estimate::Nothing => Ok(()),
    }
}
