//! How long the handshake of DTLS takes.

use super::testbed::{DTLS, SIZES, Testbed};
use crate::error::Error;
use crate::evaluation::{Claim, Figure};
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-handshake",
    paper: super::PAPER,
    at: "section IV",
    shows: "how long the handshake of DTLS with a pre-shared key takes, from the first hello to the session",
    method: Method::Run(run),
};

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let few = SIZES[0];
    let testbed = Testbed::measure(context, &[few])?;
    let published = paper.table("handshake")?.get("DTLS");
    let taken = testbed.get(DTLS, few, |taken| taken.handshake);
    let row = taken.row("DTLS, PSK, AES_128_CCM_8", "ms").beside(published);
    let claim = Claim::new(
        "A handshake with a pre-shared key takes 158 ms on average (section IV): here no more",
        published.is_some_and(|published| taken.mean <= published.value),
        format!("it takes {:.0} ms; the border router and the host take no time here", taken.mean),
    );
    Ok(Findings {
        figures: vec![Figure { title: "Time of the handshake", across: None, rows: vec![row] }],
        claims: vec![claim],
    })
}
