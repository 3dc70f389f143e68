//! What several runs have shown: means, and how far runs are from them.

use std::collections::BTreeSet;
use std::io::{self, Write};

use sixlock_sim::{Energy, NodeReport, Report, Spread};

use super::table::NOTHING;

/// Prints a line a value.
pub(super) fn print(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    writeln!(out, "{} runs: mean ± standard deviation, and the mean's 95 % interval", reports.len())?;
    let energy = |of: fn(&Energy) -> f64| {
        move |report: &Report| {
            let parts: Vec<_> = report.nodes.iter().filter_map(|node| node.energy_mj).collect();
            (!parts.is_empty()).then(|| parts.iter().map(of).sum())
        }
    };
    let (share, any) = (100.0, f64::INFINITY);
    row(out, "delivered of due/%", share, reports, |report| Some(100.0 * report.delivery()?))?;
    row(out, "rtt, mean of nodes' means/ms", any, reports, round_trip)?;
    row(out, "bytes, router and nodes", any, reports, |report| Some(bytes(report)))?;
    row(out, "energy of all nodes/mJ", any, reports, energy(Energy::total))?;
    row(out, "the same without listening/mJ", any, reports, energy(Energy::without_listening))?;
    lives(out, reports)
}

/// Prints how long batteries last: that of the worst node in each run, and that of each node.
fn lives(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let any = f64::INFINITY;
    let worst = |report: &Report| report.nodes.iter().filter_map(|node| node.life_days).reduce(f64::min);
    row(out, "life of the worst node/d", any, reports, worst)?;
    let ids: BTreeSet<_> = reports.iter().flat_map(|report| &report.nodes).map(|node| node.id).collect();
    for id in ids {
        let node = |report: &Report| report.nodes.iter().find(|node| node.id == id)?.life_days;
        row(out, &format!("life of node {id}/d"), any, reports, node)?;
    }
    Ok(())
}

/// The 95 % interval of a value between 0 and `most`, within these, and whether it would be wider without them.
fn interval(spread: &Spread, most: f64) -> (f64, f64, bool) {
    let [low, high] = spread.interval();
    (low.max(0.0), high.min(most), low < 0.0 || high > most)
}

/// Prints the line of a value that is `most` at most, unless no run has it.
fn row(
    out: &mut impl Write,
    name: &str,
    most: f64,
    reports: &[Report],
    value: impl Fn(&Report) -> Option<f64>,
) -> io::Result<()> {
    let values: Vec<_> = reports.iter().filter_map(value).collect();
    match (Spread::of(&values), values.is_empty()) {
        (Some(spread), _) => {
            let (Spread { mean, sd, .. }, (low, high, is_cut)) = (spread, interval(&spread, most));
            let note = if is_cut { " (cut to what is possible)" } else { "" };
            writeln!(out, "{name:>30} {mean:>14.2} ± {sd:<10.2} {low:>14.2} to {high:.2}{note}")
        }
        (None, false) => writeln!(out, "{name:>30} {NOTHING:>14} (one run alone has it)"),
        (None, true) => Ok(()),
    }
}

/// The mean of nodes' mean round trips.
fn round_trip(report: &Report) -> Option<f64> {
    let means: Vec<_> = report.nodes.iter().filter_map(|node: &NodeReport| node.rtt_ms).collect();
    (!means.is_empty()).then(|| means.iter().map(|rtt| rtt.mean).sum::<f64>() / means.len() as f64)
}

fn bytes(report: &Report) -> f64 {
    report.sum(|node| node.bytes.into()) as f64 + f64::from(report.router.bytes)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use sixlock_sim::RouterReport;

    use super::*;

    #[test]
    fn an_interval_does_not_exceed_what_a_value_can_be() {
        let printed = |name, most, values: [f64; 2]| {
            let mut runs = values.into_iter();
            let report = Report {
                schema: 2,
                scenario: String::new(),
                security: String::new(),
                seed: 1,
                simulated_s: 1.0,
                nodes: Vec::new(),
                router: RouterReport::default(),
                routers: Vec::new(),
                cloud: None,
                attacks: Vec::new(),
                cost: None,
            };
            let values = RefCell::new(&mut runs);
            let mut out = Vec::new();
            row(&mut out, name, most, &[report.clone(), report], |_| values.borrow_mut().next()).unwrap();
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
