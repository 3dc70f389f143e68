//! Figure 14: the handshake's elliptic curves in software and in the engine.

use sixlock_crypto::Operation;
use sixlock_sim::{Costs, Job, Platform};

use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig14",
    paper: super::PAPER,
    at: "figure 14 (section 5.1.3)",
    shows: "what the handshake computes with P-256, in software and in the CC2538's engine, each alone",
    method: Method::Run(run),
};

/// By the paper's names: and how many multiplications the engine does for it.
const FUNCTIONS: [(&str, Operation, u32); 4] = [
    ("generating a key pair", Operation::P256PublicKey, 1),
    ("calculating the master secret", Operation::P256Agree, 1),
    ("signing", Operation::P256Sign, 1),
    ("verifying a signature", Operation::P256Verify, 2),
];
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
    let (mut times, mut ratios) = (Vec::new(), Vec::new());
    for (name, operation, multiplications) in FUNCTIONS {
        let software = in_software(&costs, operation);
        let hardware = f64::from(multiplications) * multiplication as f64 / 1e6;
        for (how, time) in [("software", software), ("hardware", hardware)] {
            times.push(Row::new(format!("{name}, {how}"), time, "ms", Provenance::Estimate));
        }
        ratios.push((name, software, software / hardware));
    }
    let most = ratios.iter().map(|(.., ratio)| *ratio).fold(0.0, f64::max);
    let published = paper.table("ecc-in-software")?.get("ECC in software");
    let ratio = Row::new("software beside hardware, at most", most, "times", Provenance::Estimate);
    let [(_, key, _), (_, secret, _), (_, sign, _), (_, verify, _)] = ratios[..] else {
        return Err(Error("there are four functions".into()));
    };
    let why = format!("{verify:.0} ms against {secret:.0}, {sign:.0} and {key:.0}");
    let claims = vec![
        Claim::new(
            "In software the functions of elliptic curves take up to 18 times longer than in hardware (section 5.1.3)",
            published.is_some_and(|published| most >= published.value * 0.75),
            format!("they take up to {most:.1} times as long"),
        )
        .because(
            "the software here, with multiplications of 32 by 32 bits made for this curve, is as fast as the engine",
            format!("in the paper's proportion to the engine, software would take {:.1} s to verify a signature, and not {:.2}", 18.0 * 2.0 * multiplication as f64 / 1e9, verify / 1e3),
        ),
        Claim::new(
            "The function that verifies a signature takes longest (section 5.1.3)",
            verify > secret.max(sign).max(key),
            why.clone(),
        ),
        Claim::new(
            "The one that calculates the master secret from the keys of both takes the second longest (section 5.1.3)",
            secret > sign.max(key),
            why.clone(),
        ),
        Claim::new(
            "The one that generates a key pair and the one that signs take similar time (section 5.1.3)",
            (sign / key - 1.0).abs() < 0.3,
            format!("{why}; taken for similar if within 30 %"),
        ),
    ];
    Ok(Findings {
        figures: vec![
            Figure { title: "Time on the OpenMote", across: None, rows: times },
            Figure { title: "Software beside hardware", across: None, rows: vec![ratio.beside(published)] },
        ],
        claims,
    })
}
