//! Figure 9: how long the handshake takes over a hop, by how both sides prove who they are.

use rayon::prelude::*;
use sixlock_base::Security;
use sixlock_sim::{Csma, Mac, ScenarioBuilder};

use super::super::handshake::handshake;
use super::super::sample::Sample;
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::Figure;
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig9",
    paper: super::PAPER,
    at: "figure 9 (section 5.1.1)",
    shows: "how long a node's handshake with the cloud takes over a hop with NullMAC, its cryptography in hardware; with CSMA-CA beside it",
    method: Method::Part(run, &["handshakes with ContikiMAC"]),
};

const NETWORK: &str = "duration = \"600s\"\n[platform]\nprofile = \"openmote\"\n\
    [topology]\nkind = \"chain\"\nnodes = 1\n[traffic]\nperiod = \"5s\"";
const CLIENT: u32 = 1;
/// As rows name it, and the mode.
const PROOFS: [(&str, &str); 3] =
    [("PSK", "dtls-psk@engine"), ("RPK", "dtls-rpk@engine"), ("X.509", "dtls-x509@engine")];
/// What counts for much longer.
const MUCH: f64 = 2.0;

/// All handshakes of one kind.
struct Kind {
    seconds: Sample,
    /// Which part of that the node's CPU was at work, in per cent.
    at_work: Sample,
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let macs = [("NullMAC", Mac::Null), ("CSMA-CA", Mac::Csma(Csma::default()))];
    let mut kinds = Vec::new();
    for (mac_name, mac) in macs {
        for (name, mode) in PROOFS {
            let each = (1..=u64::from(context.runs)).into_par_iter().map(|seed| one(mode, mac, seed));
            let (seconds, at_work): (Vec<_>, Vec<_>) =
                each.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
            let kind = Kind { seconds: Sample::of(&seconds), at_work: Sample::of(&at_work) };
            kinds.push((format!("{name}, {mac_name}"), kind));
            (context.progress)(kinds.len() as f64 / (macs.len() * PROOFS.len()) as f64);
        }
    }
    let [psk, raw, certified, ..] = &kinds[..] else { return Err(Error("there are three proofs".into())) };
    let [psk, raw, certified] = [psk, raw, certified].map(|(_, kind)| kind.seconds.mean);
    let most = paper.table("handshake")?.get("handshake").map_or(0.0, |said| said.value);
    let public: Vec<_> = kinds.iter().filter(|(name, _)| !name.starts_with("PSK")).collect();
    let least_at_work = public.iter().map(|(_, kind)| kind.at_work.mean).fold(100.0, f64::min);
    let rows = |unit, value: fn(&Kind) -> &Sample| {
        kinds.iter().map(|(name, kind)| value(kind).row(name.clone(), unit)).collect()
    };
    Ok(Findings {
        claims: vec![
            Claim::new(
                "Raw public keys and certificates take much longer than a pre-shared key (section 5.1.1)",
                raw > MUCH * psk && certified > MUCH * psk,
                format!("with NullMAC they take {raw:.2} and {certified:.2} s, and it {psk:.2} s"),
            ),
            Claim::new(
                "Most of the time is spent on the node, the cloud being faster (section 5.1.1)",
                least_at_work > 50.0,
                format!(
                    "with public keys its CPU is at work for {least_at_work:.0} % of it at least; the cloud takes no time here"
                ),
            ),
            Claim::new(
                "With certificates the full process takes less than 4 s (section 5.5)",
                certified < most,
                format!("it takes {certified:.2} s"),
            ),
        ],
        figures: vec![
            Figure {
                title: "Time of a handshake over a hop",
                across: None,
                rows: rows("s", |kind| &kind.seconds),
            },
            Figure {
                title: "Part of it for which the node's CPU is at work",
                across: None,
                rows: rows("%", |kind| &kind.at_work),
            },
        ],
    })
}

/// How long one handshake takes, in seconds, and for which part of it the node's CPU is at work, in per cent.
fn one(mode: &str, mac: Mac, seed: u64) -> Result<(f64, f64), Error> {
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let builder = ScenarioBuilder::parse("securesense-fig9", NETWORK)?;
    let scenario = builder.security(security).mac(mac).seed(seed).build()?;
    let taken = handshake(&scenario, CLIENT)?;
    match taken.has_session {
        true => Ok((taken.seconds, 100.0 * taken.cpu / taken.seconds)),
        false => Err(Error(format!("there was no session: {mode}, {mac:?}, seed {seed}"))),
    }
}
