//! Table 11: the memory that AH and ESP take.

use super::super::footprint::{Footprints, Pair, Table};
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "thesis-table11",
    paper: super::PAPER,
    at: "table 11 (section 6.5)",
    shows: "ROM and RAM of nodes with AH and ESP on the Tmote Sky, beside both of the thesis' implementations of AES",
    method: Method::Part(run, &["AH and ESP with hardware AES: no emulator here has a CC2420"]),
};

const AH: &str = "udp-ah-xcbc";
const ESP: &str = "udp-esp-ctr-xcbc";
const ALL: &[Pair] = &[
    Pair { label: "without IPsec", image: "udp-none" },
    Pair { label: "AH, MIRACL", image: AH },
    Pair { label: "AH, TI", image: AH },
    Pair { label: "ESP, MIRACL", image: ESP },
    Pair { label: "ESP, TI", image: ESP },
];

/// The thesis adds up data and bss. Ours has one implementation of AES, and so stands beside both of its.
const TABLE: Table = Table {
    images: ALL,
    published: ["table-11-rom", "table-11-ram", "table-11-rom-difference", "table-11-ram-difference"],
    ram: |footprint| footprint.ram,
};

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_msp430()?;
    let mut claims = TABLE.rom_claims(&images, "6.5", [5.5, 5.7])?.to_vec();
    claims.extend([
        TABLE.ram_claim(&images, "The RAM footprint overhead is at most 0.4 KB (section 6.5)", 0.4)?,
        TABLE.fits(
            &images,
            "The system's footprint is always under 48 KB of ROM and 10 KB of RAM (section 6.5)",
        )?,
    ]);
    Ok(Findings { figures: TABLE.figures(&images, paper)?, claims })
}
