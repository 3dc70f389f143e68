//! Figure 7: the memory that AH, ESP and DTLS take.

use super::super::footprint::{AH, ESP, Footprint, Footprints, NONE, ROM, beside_board, board_is_enough};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::wording::MUCH;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig7",
    paper: super::PAPER,
    at: "figure 7 (section IV)",
    shows: "ROM and RAM of nodes that send back what they get, without security and with AH, ESP and DTLS, on Cortex-M3",
    method: Method::Run(run),
};

const DTLS: &str = "udp-dtls-psk";
const IMAGES: [(&str, &str); 4] = [("no security", NONE), ("AH", AH), ("ESP", ESP), ("DTLS", DTLS)];

const BEYOND: &str = "ROM beyond that of a node without security";

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_cortex_m3()?;
    let figure = |title, part: fn(&Footprint) -> f64| {
        let rows = IMAGES.map(|(label, image)| {
            Ok::<_, Error>(Row::new(label, part(&images.of(image)?), "B", Provenance::Measured))
        });
        Ok::<_, Error>(Figure { title, across: None, rows: rows.into_iter().collect::<Result<_, _>>()? })
    };
    let mut figures = vec![
        figure(ROM, |footprint| footprint.flash)?,
        figure("RAM, the stack at its peak included", Footprint::ram_in_all)?,
        figure("RAM, static", |footprint| footprint.ram)?,
        figure(BEYOND, |footprint| footprint.flash)?,
    ];
    let none = images.of(NONE)?.flash;
    for figure in figures.iter_mut().filter(|figure| figure.title == BEYOND) {
        figure.rows.remove(0);
        figure.rows.iter_mut().for_each(|row| row.value -= none);
    }
    figures.push(beside_board(&images, &IMAGES, Footprint::ram_in_all, paper)?);
    let mut claims = Vec::new();
    for than in ["AH", "ESP"] {
        claims.push(Claim::stated(
            format!("The implementation of DTLS is more complex than that of {than}: {than} takes far less ROM (section IV)"),
            Statement::FarBelow(Series::new(BEYOND, than), Series::new(BEYOND, "DTLS"), MUCH),
            &figures,
        ));
    }
    claims.push(Claim::stated(
        "The protocols meet the requirements of the boards: the ROM and the RAM of the smaller are enough (sections I and III.B)",
        board_is_enough(&IMAGES),
        &figures,
    ));
    Ok(Findings { figures, claims })
}
