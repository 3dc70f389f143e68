//! Table I: the memory that AH, ESP and link security take.

use super::super::footprint::{BOARD, Footprint, Footprints, Pair, ROM, ROM_BEYOND, Table, board};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::{CLEARLY, MUCH};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-table1",
    paper: super::PAPER,
    at: "table I (section 6.2)",
    shows: "ROM and RAM of nodes with AH, ESP and link security on the Tmote Sky",
    method: Method::Part(run, &MISSING),
};

const MISSING: [&str; 2] = [
    "AH HMAC-SHA1, ESP CBC, ESP CTR, ESP XCBC and ESP CBC+XCBC, in software: there are no images of them",
    "AH XCBC, ESP CBC, ESP CTR, ESP XCBC, ESP CBC+XCBC and ESP CTR+XCBC, each with the CC2420's AES: no emulator here has that chip",
];

const LINK: &str = "link layer";
const AH: &str = "AH XCBC";
const ESP: &str = "ESP CTR+XCBC";
const IMAGES: &[Pair] = &[
    Pair { label: "without security", image: "udp-none" },
    Pair { label: LINK, image: "udp-llsec" },
    Pair { label: AH, image: "udp-ah-xcbc" },
    Pair { label: ESP, image: "udp-esp-ctr-xcbc" },
];

/// The paper counts the stack as RAM.
const TABLE: Table = Table {
    section: "6.2",
    images: IMAGES,
    published: ["table-1-rom", "table-1-ram", "table-1-rom-difference", "table-1-ram-difference"],
    ram: Footprint::ram_in_all,
};

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let mut figures = TABLE.figures(&Footprints::on_msp430()?, paper)?;
    for rom in figures.iter_mut().filter(|figure| figure.title == ROM) {
        rom.rows.push(board(BOARD, paper, ROM)?);
    }
    let mut claims = TABLE.claims(&figures);
    let beyond = |label| Series::new(ROM_BEYOND, label);
    claims.push(
        Claim::stated(
            "The ROM that link-layer security takes is very small, what the table says (section 6.2)",
            Statement::Published(beyond(LINK), Tolerance::Memory),
            &figures,
        )
        .perhaps("the paper's radio does most of the processing, of ours the processor does all"),
    );
    for label in [AH, ESP] {
        claims.push(Claim::stated(
            format!("{label} takes comparatively more ROM than link-layer security (section 6.2)"),
            Statement::FarBelow(beyond(LINK), beyond(label), MUCH),
            &figures,
        ));
    }
    for label in [AH, ESP] {
        claims.push(Claim::stated(
            format!("With {label} there is always significant space for applications in the 48 KB of ROM of a Tmote Sky (section 6.2)"),
            Statement::FarBelow(Series::new(ROM, label), Series::new(ROM, BOARD), CLEARLY),
            &figures,
        ));
    }
    Ok(Findings { figures, claims })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_the_table_is_made_or_missing_by_name() {
        let paper = Paper::parse(super::super::PAPER).unwrap();
        let [in_software, by_radio] = MISSING.map(|missing| {
            let names = missing.split(':').next().unwrap().trim_end_matches(", in software");
            let names = names.trim_end_matches(", each with the CC2420's AES").replace(" and ", ", ");
            names.split(", ").map(String::from).collect::<Vec<_>>()
        });
        let made = IMAGES.iter().map(|pair| pair.label.to_owned());
        let by_radio = by_radio.iter().map(|name| format!("{name}, hardware"));
        let mut ours: Vec<_> = made.chain(in_software).chain(by_radio).collect();
        let mut printed: Vec<_> = paper.table("table-1-rom").unwrap().labels().map(String::from).collect();
        ours.sort();
        printed.sort();
        assert_eq!(ours, printed);
    }
}
