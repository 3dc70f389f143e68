//! Figure 7: the memory that AH, ESP and DTLS take.

use super::super::footprint::{AH, ESP, Footprint, Footprints, KILOBYTE, NONE};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig7",
    paper: super::PAPER,
    at: "figure 7 (section IV)",
    shows: "ROM and RAM of nodes that send back what they get, without security and with AH, ESP and DTLS, on Cortex-M3",
    method: Method::Run(run),
};

const DTLS: &str = "udp-dtls-psk";
const IMAGES: [(&str, &str); 4] = [("no security", NONE), ("AH", AH), ("ESP", ESP), ("DTLS", DTLS)];
/// What the smaller of the two boards has.
const FLASH: f64 = 128.0 * KILOBYTE;
const RAM: f64 = 8.0 * KILOBYTE;

fn run(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_cortex_m3()?;
    let figure = |title, part: fn(&Footprint) -> f64| {
        let rows = IMAGES.map(|(label, image)| {
            Ok::<_, Error>(Row::new(label, part(&images.of(image)?), "B", Provenance::Measured))
        });
        Ok::<_, Error>(Figure { title, across: None, rows: rows.into_iter().collect::<Result<_, _>>()? })
    };
    let (ah, esp, dtls) = (images.beyond(AH)?, images.beyond(ESP)?, images.beyond(DTLS)?);
    let fits = |image| images.of(image).map(|all| all.flash < FLASH && all.ram_in_all() < RAM);
    let most = images.of(DTLS)?;
    let claims = vec![
        Claim::new(
            "The implementation of DTLS is more complex than those of AH and ESP (section IV)",
            dtls.flash > ah.flash.max(esp.flash),
            format!(
                "beyond a node without security it takes {} bytes of ROM, AH {}, ESP {}",
                dtls.flash, ah.flash, esp.flash
            ),
        ),
        Claim::new(
            "Both protocols meet the requirements of the boards, of which the smaller has 8 KB of RAM and 128 KB of ROM (sections I and III.B)",
            fits(AH)? && fits(ESP)? && fits(DTLS)?,
            format!(
                "a node with DTLS takes {} bytes of flash, and {} of RAM with the stack at its peak",
                most.flash,
                most.ram_in_all()
            ),
        ),
    ];
    Ok(Findings {
        figures: vec![
            figure("ROM", |footprint| footprint.flash)?,
            figure("RAM, static", |footprint| footprint.ram)?,
            figure("RAM, the stack at its peak included", Footprint::ram_in_all)?,
        ],
        claims,
    })
}
