//! How long the handshake of DTLS takes.

use super::testbed::{DTLS, SIZES, Testbed};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::Figure;
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-handshake",
    paper: super::PAPER,
    at: "section IV",
    shows: "how long the handshake of DTLS with a pre-shared key takes, from the first hello to the session",
    method: Method::Run(run),
};

const TITLE: &str = "Time of the handshake";
const LABEL: &str = "DTLS, PSK, AES_128_CCM_8";

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let few = SIZES[0];
    let testbed = Testbed::measure(context, &[few])?;
    let published = paper.table("handshake")?.get("DTLS");
    let taken = testbed.get(DTLS, few, |taken| taken.handshake.clone());
    let row = taken.row(LABEL, "ms").beside(published);
    let figures = vec![Figure { title: TITLE, across: None, rows: vec![row] }];
    let claim = Claim::stated(
        "A handshake with a pre-shared key takes 158 ms on average (section IV)",
        Statement::Published(Series::new(TITLE, LABEL), Tolerance::Time),
        &figures,
    )
    .perhaps("the paper does not say what its host and its border router compute meanwhile, here nothing, nor from when to when it measures");
    Ok(Findings { figures, claims: vec![claim] })
}
