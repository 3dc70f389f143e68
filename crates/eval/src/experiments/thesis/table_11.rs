//! Table 11: the memory that AH and ESP take.

use super::super::footprint::{
    AH, AH_WITH_TABLES, ESP, ESP_WITH_TABLES, Footprints, NONE, Pair, Table, beside_board, board_is_enough,
};
use crate::claim::Claim;
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

const ALL: &[Pair] = &[
    Pair { label: "without IPsec", image: NONE },
    Pair { label: "AH, MIRACL", image: AH_WITH_TABLES },
    Pair { label: "AH, TI", image: AH },
    Pair { label: "ESP, MIRACL", image: ESP_WITH_TABLES },
    Pair { label: "ESP, TI", image: ESP },
];

/// The thesis adds up data and bss. Beside MIRACL's AES stands ours that keeps the keys of all rounds and reads a table of columns, and beside
/// TI's the one that makes each round's key when it is needed.
const TABLE: Table = Table {
    section: "6.5",
    images: ALL,
    published: ["table-11-rom", "table-11-ram", "table-11-rom-difference", "table-11-ram-difference"],
    ram: |footprint| footprint.ram,
};

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_msp430()?;
    let of_images: Vec<_> = ALL.iter().map(|pair| (pair.label, pair.image)).collect();
    let mut figures = TABLE.figures(&images, paper)?;
    figures.push(beside_board(&images, &of_images, TABLE.ram, paper)?);
    let mut claims = TABLE.claims(&figures);
    claims.push(Claim::stated(
        "The system's footprint is always under the 48 KB of ROM and the 10 KB of RAM of a Tmote Sky (section 6.5)",
        board_is_enough(&of_images),
        &figures,
    ));
    Ok(Findings { figures, claims })
}
