//! Frames on the air, beside the standard.

use sixlock_sim::{Options, ScenarioBuilder, Simulation, Time};

use super::cooja::{FILE, SCENARIO};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::Findings;
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

const TITLE: &str = "How long a node's radio has sent, by the byte";
const LABEL: &str = "a byte";
/// What the physical layer puts before a frame, in bytes (6.3).
const BEFORE: u64 = 6;

pub(super) fn run(measured: &Paper) -> Result<Findings, Error> {
    let published = measured.table("air-time")?.get(LABEL);
    let value = byte()?;
    let row = Row::new(LABEL, value, "ms", Provenance::Measured).beside(published);
    let figures = vec![Figure { title: TITLE, across: None, rows: vec![row] }];
    let claim = Claim::stated(
        "A byte is on the air for 32 us (IEEE 802.15.4-2006, 6.5.3)",
        Statement::Published(Series::new(TITLE, LABEL), Tolerance::Validation),
        &figures,
    );
    let claims = vec![claim.uncounted("it is true by the way the simulator is built")];
    Ok(Findings { figures, claims })
}

/// How long a node has sent, in milliseconds, divided by all the bytes of what it has sent.
fn byte() -> Result<f64, Error> {
    let scenario = ScenarioBuilder::parse(FILE, SCENARIO)?.build()?;
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    simulation.step_until(Time::ZERO + scenario.duration());
    let nothing = || Error("the first node of scenarios/cooja.toml has sent nothing".into());
    let sent = simulation.network().nodes.first().ok_or_else(nothing)?.transmissions;
    let lasted = simulation.state_times(1).ok_or_else(nothing)?.tx.micros();
    let bytes = u64::from(sent.bytes) + BEFORE * u64::from(sent.frames);
    Ok(lasted as f64 / 1000.0 / bytes as f64)
}
