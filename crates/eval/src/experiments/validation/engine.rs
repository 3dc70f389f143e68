//! The AES of the CC2420, whose model is made of another line of its data sheet.

use sixlock_sim::{Job, Platform};

use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::Findings;
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::setup::NONE;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

const TITLE: &str = "What the CC2420's AES takes, beside its data sheet";
const LABEL: &str = "CBC-MAC of 98 bytes";
const BYTES: usize = 98;

pub(super) fn run(measured: &Paper) -> Result<Findings, Error> {
    let sky = Platform::tmote_sky();
    let nanoseconds = |header| {
        let effort = Job::Frame { header, payload: 0 }.on(&sky);
        effort.map(|effort| effort.engine).ok_or_else(|| Error("the CC2420 has lost its AES".into()))
    };
    // CCM does CBC-MAC over a frame's header, behind two bytes that tell its length.
    let lasts = nanoseconds(BYTES - 2)? - nanoseconds(0)?;
    let row = Row::new(LABEL, lasts as f64 / 1e6, "ms", Provenance::Estimate);
    let row =
        row.on("the CC2420 of a Tmote Sky").by(NONE).beside(measured.table("cc2420-cbc-mac")?.get(LABEL));
    let figures = vec![Figure { title: TITLE, across: None, rows: vec![row] }];
    let statement = Statement::Published(Series::new(TITLE, LABEL), Tolerance::Validation);
    let claim = Claim::stated(
        "The CC2420's AES takes as long for CBC-MAC as its data sheet says, reckoned from what that says of CCM",
        statement,
        &figures,
    );
    Ok(Findings { claims: vec![claim], figures })
}
