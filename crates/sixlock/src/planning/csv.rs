//! A plan as CSV: a line for each option.

use std::io::{self, Write};

use sixlock_plan::{Footprint, Network, OBJECTIVES, Plan};

use crate::estimates;

use super::words::verdict;

/// Prints each option with its verdict, the means of its objectives, and where their 95 % intervals begin and end.
pub(super) fn print(out: &mut impl Write, network: &Network, plan: &Plan) -> io::Result<()> {
    let columns: Vec<_> =
        OBJECTIVES.iter().map(|objective| estimates::csv_heading(objective.quantity.column)).collect();
    writeln!(out, "security,listen,verdict,seeds,{},flash_bytes,ram_bytes", columns.join(","))?;
    for (index, candidate) in plan.comparison.candidates.iter().enumerate() {
        let cells = (0..OBJECTIVES.len()).map(|index| estimates::csv(candidate.estimate(index)));
        let (choice, (name, _)) = (&candidate.choice, verdict(network, plan, index, candidate));
        let listen = choice.listen.as_deref().unwrap_or_default();
        let of = |part: fn(&Footprint) -> u32| {
            candidate.footprint.as_ref().map(|it| part(it).to_string()).unwrap_or_default()
        };
        let memory = [of(|footprint| footprint.flash), of(|footprint| footprint.ram)];
        let cells: Vec<_> = cells.chain(memory).collect();
        writeln!(out, "{},{listen},{name},{},{}", choice.security, candidate.seeds(), cells.join(","))?;
    }
    Ok(())
}
