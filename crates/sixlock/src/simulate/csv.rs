//! What runs have shown, as CSV: a line for each node and run.

use std::io::{self, Write};

use sixlock_sim::{METRICS, Metric, Report};

use super::cells::Cells;

/// Prints the metrics of all nodes; the border router is node 0.
pub(super) fn print(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let columns: Vec<_> = METRICS.iter().flat_map(Metric::columns).collect();
    writeln!(out, "seed,{}", columns.join(","))?;
    for report in reports {
        let router = [Cells::of_router(report)?];
        for cells in Cells::of_nodes(report)?.iter().chain(&router) {
            let cells: Vec<_> = columns.iter().map(|column| cells.text(column)).collect();
            writeln!(out, "{},{}", report.seed, cells.join(","))?;
        }
    }
    Ok(())
}
