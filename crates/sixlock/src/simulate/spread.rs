//! What several runs have shown: means, and how far runs are from them.

use std::collections::BTreeSet;
use std::io::{self, Write};

use sixlock_sim::Report;

use super::quantity::{Estimate, QUANTITIES};
use super::table::NOTHING;

/// Prints a line a value.
pub(super) fn print(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    writeln!(out, "{} runs: mean ± standard deviation, and the mean's 95 % interval", reports.len())?;
    for quantity in &QUANTITIES {
        row(out, quantity.name, &quantity.of(reports))?;
    }
    lives(out, reports)
}

/// Prints how long the battery of each node lasts.
fn lives(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let ids: BTreeSet<_> = reports.iter().flat_map(|report| &report.nodes).map(|node| node.id).collect();
    for id in ids {
        let node = |report: &Report| report.nodes.iter().find(|node| node.id == id)?.life_days;
        let life = Estimate::of(f64::INFINITY, reports.iter().filter_map(node));
        row(out, &format!("life of node {id}/d"), &life)?;
    }
    Ok(())
}

/// Prints the line of a value, unless no run has it.
fn row(out: &mut impl Write, name: &str, estimate: &Estimate) -> io::Result<()> {
    match estimate {
        Estimate::Several { spread, interval: [low, high], is_cut } => {
            let (mean, sd) = (spread.mean, spread.sd);
            let note = if *is_cut { " (cut to what is possible)" } else { "" };
            writeln!(out, "{name:>30} {mean:>14.2} ± {sd:<10.2} {low:>14.2} to {high:.2}{note}")
        }
        Estimate::One(_) => writeln!(out, "{name:>30} {NOTHING:>14} (one run alone has it)"),
        Estimate::Nothing => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_does_not_exceed_what_a_value_can_be() {
        let printed = |name, most, values: [f64; 2]| {
            let mut out = Vec::new();
            row(&mut out, name, &Estimate::of(most, values.into_iter())).unwrap();
            String::from_utf8(out).unwrap()
        };
        let share = printed("share", 100.0, [90.0, 100.0]);
        assert!(share.trim_end().ends_with("31.47 to 100.00 (cut to what is possible)"), "{share}");
        let time = printed("time", f64::INFINITY, [1.0, 3.0]);
        assert!(time.trim_end().ends_with(" 0.00 to 14.71 (cut to what is possible)"), "{time}");
        let narrow = printed("narrow", 100.0, [50.0, 51.0]);
        assert!(narrow.trim_end().ends_with("44.15 to 56.85"), "{narrow}");
    }
}
