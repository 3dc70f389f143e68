//! Figure 9: how long the handshake takes over a hop, by how both sides prove who they are.

use rayon::prelude::*;
use sixlock_base::Security;
use sixlock_sim::{Csma, Mac, ScenarioBuilder};

use super::super::handshake::{Taken, handshake};
use super::super::sample::Sample;
use super::figs_10_to_13::ASSUMED;
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::statement::{Series, Statement};
use crate::wording::MUCH;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig9",
    paper: super::PAPER,
    at: "figure 9 (section 5.1.1)",
    shows: "how long a node's handshake with the cloud takes over a hop with NullMAC, its cryptography in hardware, and pauses of 0.2 s between datagrams of several frames in it; with CSMA-CA beside it",
    method: Method::Part(
        run,
        &[
            "handshakes with ContikiMAC",
            "what the cloud computes: it takes no time here, and so it is not asked whether the cloud is faster",
        ],
    ),
};

const NETWORK: &str = "duration = \"600s\"\n[platform]\nprofile = \"openmote\"\n\
    [topology]\nkind = \"chain\"\nnodes = 1\n[traffic]\nperiod = \"5s\"";
const CLIENT: u32 = 1;
const PSK: &str = "PSK";
const RAW: &str = "RPK";
const CERTIFIED: &str = "X.509";
/// As rows name it, and the mode.
const PROOFS: [(&str, &str); 3] =
    [(PSK, "dtls-psk@engine"), (RAW, "dtls-rpk@engine"), (CERTIFIED, "dtls-x509@engine")];
const NULL: &str = "NullMAC";

const TIME: &str = "Time of a handshake over a hop";
const PARTS: &str = "Parts of a handshake with NullMAC";
/// What the paper's claim ends at.
const LIMIT: &str = "certificates, the paper's limit";
const AT_WORK: &str = "the node's CPU at work";
const REST: &str = "the rest";

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let macs = [(NULL, Mac::Null), ("CSMA-CA", Mac::Csma(Csma::default()))];
    let (mut times, mut parts) = (Vec::new(), Vec::new());
    for (mac_name, mac) in macs {
        for (name, mode) in PROOFS {
            let each = (1..=u64::from(context.runs)).into_par_iter().map(|seed| one(mode, mac, seed));
            let each = each.collect::<Result<Vec<_>, _>>()?;
            let sample = |of: fn(&Taken) -> f64| Sample::of(&each.iter().map(of).collect::<Vec<_>>());
            times.push(sample(|taken| taken.seconds).row(label(name, mac_name), "s"));
            if mac == Mac::Null {
                let at_work = sample(|taken| taken.cpu).row(part(name, AT_WORK), "s");
                let rest = sample(|taken| taken.seconds - taken.cpu).row(part(name, REST), "s");
                parts.extend([at_work, rest]);
            }
            (context.progress)(times.len() as f64 / (macs.len() * PROOFS.len()) as f64);
        }
    }
    let limit = paper.table("handshake")?.get("handshake");
    times.extend(limit.map(|limit| Row::new(LIMIT, limit.value, "s", Provenance::Published)));
    let figures = vec![
        Figure { title: TIME, across: None, rows: times },
        Figure { title: PARTS, across: None, rows: parts },
    ];
    let time = |name| Series::new(TIME, label(name, NULL));
    let mut claims = Vec::new();
    for name in [RAW, CERTIFIED] {
        let claim = Claim::stated(
            format!("{name} takes much longer than a pre-shared key (section 5.1.1)"),
            Statement::FarBelow(time(PSK), time(name), MUCH),
            &figures,
        );
        claims.push(claim.uncounted(ASSUMED));
    }
    for name in [RAW, CERTIFIED] {
        let claim = Claim::stated(
            format!("{name}: most of the time is spent on the node (section 5.1.1)"),
            Statement::Below(Series::new(PARTS, part(name, REST)), Series::new(PARTS, part(name, AT_WORK))),
            &figures,
        );
        claims.push(claim.uncounted(ASSUMED));
    }
    claims.push(Claim::stated(
        "With certificates the full process takes less than 4 s (section 5.5)",
        Statement::Below(time(CERTIFIED), Series::new(TIME, LIMIT)),
        &figures,
    ));
    Ok(Findings { figures, claims })
}

fn label(proof: &str, mac: &str) -> String {
    format!("{proof}, {mac}")
}

fn part(proof: &str, part: &str) -> String {
    format!("{proof}, {part}")
}

fn one(mode: &str, mac: Mac, seed: u64) -> Result<Taken, Error> {
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let builder = ScenarioBuilder::parse("securesense-fig9", NETWORK)?;
    let scenario = builder.security(security).mac(mac).seed(seed).build()?;
    let taken = handshake(&scenario, CLIENT)?;
    match taken.has_session {
        true => Ok(taken),
        false => Err(Error(format!("there was no session: {mode}, {mac:?}, seed {seed}"))),
    }
}
