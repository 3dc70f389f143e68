//! Table I: the memory that AH, ESP and link security take.

use super::super::footprint::{Footprint, Footprints, Pair, Table};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-table1",
    paper: super::PAPER,
    at: "table I (section 6.2)",
    shows: "ROM and RAM of nodes with AH, ESP and link security on the Tmote Sky",
    method: Method::Part(
        run,
        &[
            "rows with the CC2420's AES: no emulator here has that chip",
            "AH with HMAC-SHA1, ESP with CBC, with CTR and with XCBC alone, link security of other suites: there are no images of them",
        ],
    ),
};

const IMAGES: &[Pair] = &[
    Pair { label: "without security", image: "udp-none" },
    Pair { label: "link layer", image: "udp-llsec" },
    Pair { label: "AH XCBC", image: "udp-ah-xcbc" },
    Pair { label: "ESP CTR+XCBC", image: "udp-esp-ctr-xcbc" },
];

/// The paper counts the stack as RAM.
const TABLE: Table = Table {
    images: IMAGES,
    published: ["table-1-rom", "table-1-ram", "table-1-rom-difference", "table-1-ram-difference"],
    ram: Footprint::ram_in_all,
};

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let images = Footprints::on_msp430()?;
    let flash = |image| images.beyond(image).map(|footprint| footprint.flash);
    let (link, ah, esp) = (flash("udp-llsec")?, flash("udp-ah-xcbc")?, flash("udp-esp-ctr-xcbc")?);
    let mut claims = TABLE.rom_claims(&images, "6.2", [6.2, 7.6])?.to_vec();
    claims.extend([
        Claim::new(
            "Link-layer security takes little ROM, IPsec comparatively more (section 6.2)",
            link < ah.min(esp),
            format!(
                "{link} bytes, of which the paper's radio does most, against {ah} for AH and {esp} for ESP"
            ),
        ),
        TABLE.ram_claim(
            &images,
            "AH and ESP with AES-XCBC-MAC-96 take at most 0.5 kB more RAM (section 6.2)",
            0.5,
        )?,
        TABLE.fits(
            &images,
            "There is space for applications beside AH and ESP on a Tmote Sky (section 6.2)",
        )?,
    ]);
    Ok(Findings { figures: TABLE.figures(&images, paper)?, claims })
}
