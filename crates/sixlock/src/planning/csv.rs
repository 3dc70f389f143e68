//! A plan as CSV: a line for each option.

use std::io::{self, Write};

use sixlock_plan::{OBJECTIVES, Plan};

use super::words::verdict;

/// Prints each option with its verdict, the means of its objectives, and where their 95 % intervals begin and end.
pub(super) fn print(out: &mut impl Write, plan: &Plan) -> io::Result<()> {
    let columns = OBJECTIVES.iter().map(|objective| objective.column);
    let columns: Vec<_> = columns.map(|column| format!("{column},{column}.low,{column}.high")).collect();
    writeln!(out, "security,listen,verdict,seeds,{}", columns.join(","))?;
    for candidate in &plan.candidates {
        let cells = (0..OBJECTIVES.len()).map(|index| match candidate.estimate(index) {
            None => ",,".into(),
            Some((mean, None)) => format!("{mean},,"),
            Some((mean, Some([low, high]))) => format!("{mean},{low},{high}"),
        });
        let (choice, (name, _)) = (&candidate.choice, verdict(plan, &candidate.verdict));
        let listen = choice.listen.as_deref().unwrap_or_default();
        let cells: Vec<_> = cells.collect();
        writeln!(out, "{},{listen},{name},{},{}", choice.security, candidate.seeds(), cells.join(","))?;
    }
    Ok(())
}
