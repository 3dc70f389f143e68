//! Figure 14: the handshake's elliptic curves in software and in the engine.

use sixlock_crypto::Operation;
use sixlock_sim::{Costs, Job, Platform};

use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::SIMILAR;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig14",
    paper: super::PAPER,
    at: "figure 14 (section 5.1.3)",
    shows: "what the handshake computes with P-256, in software and in the CC2538's engine, each alone",
    method: Method::Run(run),
};

const GENERATE: &str = "generating a key pair";
const AGREE: &str = "calculating the master secret";
const SIGN: &str = "signing";
const VERIFY: &str = "verifying a signature";
/// By the paper's names: and how many multiplications the engine does for it.
const FUNCTIONS: [(&str, Operation, u32); 4] = [
    (GENERATE, Operation::P256PublicKey, 1),
    (AGREE, Operation::P256Agree, 1),
    (SIGN, Operation::P256Sign, 1),
    (VERIFY, Operation::P256Verify, 2),
];
const TIME: &str = "Time on the OpenMote";
const BESIDE: &str = "Software beside hardware";
const RATIO: &str = "software beside hardware, at most";
/// Cycles that an instruction takes, as the simulator has it.
const CYCLES: f64 = 4.0 / 3.0;

/// How long a function takes in software, in milliseconds.
fn in_software(costs: &Costs, operation: Operation) -> f64 {
    costs.operations[operation as usize] * CYCLES / Platform::openmote().profile().kilohertz as f64
}

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let costs = Platform::openmote().costs()?;
    let effort = Job::P256Multiplication.on(&Platform::openmote());
    let multiplication = effort.ok_or_else(|| Error("the CC2538 has no engine for P-256".into()))?.engine;
    let (mut times, mut most) = (Vec::new(), 0.0_f64);
    for (name, operation, multiplications) in FUNCTIONS {
        let software = in_software(&costs, operation);
        let hardware = f64::from(multiplications) * multiplication as f64 / 1e6;
        for (how, time) in [("software", software), ("hardware", hardware)] {
            times.push(Row::new(format!("{name}, {how}"), time, "ms", Provenance::Estimate));
        }
        most = most.max(software / hardware);
    }
    let ratio = Row::new(RATIO, most, "times", Provenance::Estimate)
        .beside(paper.table("ecc-in-software")?.get("ECC in software"));
    let figures = vec![
        Figure { title: TIME, across: None, rows: times },
        Figure { title: BESIDE, across: None, rows: vec![ratio] },
    ];
    let of = |name| Series::new(TIME, format!("{name}, software"));
    let claim = |text: &str, statement| Claim::stated(text, statement, &figures);
    let claims = vec![
        claim(
            "In software the functions of elliptic curves take up to 18 times longer than in hardware (section 5.1.3)",
            Statement::Published(Series::new(BESIDE, RATIO), Tolerance::Time),
        )
        .perhaps("the software here, with multiplications of 32 by 32 bits made for this curve, is as fast as the engine, whose time is assumed")
        .uncounted("it is a ratio to the engine's time, which is assumed"),
        claim(
            "The function that verifies a signature takes longest (section 5.1.3)",
            Statement::Most(of(VERIFY), [AGREE, SIGN, GENERATE].map(of).into()),
        ),
        claim(
            "The one that calculates the master secret from the keys of both takes the second longest (section 5.1.3)",
            Statement::Most(of(AGREE), [SIGN, GENERATE].map(of).into()),
        ),
        claim(
            "The one that generates a key pair and the one that signs take similar time (section 5.1.3)",
            Statement::HardlyMore(of(SIGN), of(GENERATE), SIMILAR),
        )
        .perhaps("who signs generates a pair of keys for it, and divides by one of them modulo the order"),
    ];
    Ok(Findings { figures, claims })
}
