//! Ours beside measurements that are not ours.

mod air;
mod cooja;
mod engine;

use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, MEASUREMENTS, Method};
use crate::published::Paper;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "validation",
    paper: MEASUREMENTS,
    at: "Cooja, data sheets and standards",
    shows: "what we simulate beside what others have measured: echoes in Cooja, the CC2420's AES, frames on the air",
    method: Method::Run(run),
};

fn run(context: &Context<'_>, measured: &Paper) -> Result<Findings, Error> {
    let parts = [cooja::run(context, measured)?, engine::run(measured)?, air::run(measured)?];
    let mut found = Findings::default();
    for part in parts {
        found.figures.extend(part.figures);
        found.claims.extend(part.claims);
    }
    Ok(found)
}
