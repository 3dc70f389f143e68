//! Granjal et al. (2008), table 2: the memory that algorithms of IPsec take on the MicaZ, without 6LoWPAN and with it.

mod claims;
mod figures;
mod programs;

use super::granjal2008::PAPER;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "granjal2008-table2",
    paper: PAPER,
    at: "table 2 (section 3.3)",
    shows: "flash and SRAM of programs with AES-192, 3DES, SHA-1, SHA-512 and none of them on the MicaZ, without 6LoWPAN and with it",
    method: Method::Run(run),
};

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let printed =
        programs::Printed { eeprom: paper.table("table-2-eeprom")?, sram: paper.table("table-2-sram")? };
    let programs = programs::measured()?;
    let figures = figures::figures(&programs, &printed, paper)?;
    let claims = claims::claims(&programs, &printed, &figures);
    Ok(Findings { figures, claims })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::KeptRuns;
    use crate::tolerance::Tolerance;

    #[test]
    fn each_value_of_the_paper_has_a_verdict_and_shares_of_the_board_that_of_memory() {
        let kept = KeptRuns::default();
        let context = Context { runs: 1, most_runs: 1, commit: "", kept: &kept, progress: &|_| () };
        let Findings { figures, claims } = run(&context, &Paper::parse(PAPER).unwrap()).unwrap();
        // Figures of causes stand beside what other claims name.
        let of_causes = [figures::STATIC_BEYOND, figures::WITH_TABLES, figures::NODES_WITH_TABLES];
        for figure in figures.iter().filter(|figure| !of_causes.contains(&figure.title)) {
            for row in figure.rows.iter().filter(|row| row.published.is_some()) {
                let is_of_it = |claim: &&crate::Claim| {
                    let series = claim.statement.series();
                    series.iter().any(|series| series.figure == figure.title && series.label == row.label)
                        && claim.statement.tolerance().is_some()
                };
                let claim = claims.iter().find(is_of_it);
                let claim = claim.unwrap_or_else(|| panic!("{}: {} has none", figure.title, row.label));
                if figure.title.contains(", of 4 KB") || figure.title.contains(", of 128 KB") {
                    assert_eq!(claim.statement.tolerance(), Some(Tolerance::Memory), "{}", claim.text);
                }
            }
        }
    }
}
