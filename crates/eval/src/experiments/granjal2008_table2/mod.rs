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
