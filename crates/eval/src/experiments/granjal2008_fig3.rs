//! Granjal et al. (2008), figure 3: what link security leaves of a frame.

use sixlock_base::LinkSuite;
use sixlock_crypto::Soft;
use sixlock_ieee802154::{KeyId, MAX_FRAME, SecurityLevel};
use sixlock_mac::{Config, Csma, Link, LinkSecurity, Mac};

use super::packets::{FROM, frame};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "granjal2008-fig3",
    paper: include_str!("../../../../published/granjal2008.toml"),
    at: "figure 3 (section 4)",
    shows: "payload that IEEE 802.15.4 leaves to the network layer, by link security",
    method: Method::Run(run),
};

/// The suites by the names of the paper.
const SUITES: [(&str, Option<(LinkSuite, SecurityLevel)>); 4] = [
    ("none", None),
    ("CCM-32", Some((LinkSuite::Ccm32, SecurityLevel::EncMic32))),
    ("CCM-64", Some((LinkSuite::Ccm64, SecurityLevel::EncMic64))),
    ("CCM-128", Some((LinkSuite::Ccm128, SecurityLevel::EncMic128))),
];

const PAYLOAD: &str = "Payload of a frame";
const TAKEN: &str = "What link security takes of a frame";
/// Headers with two extended addresses that name both PANs, and no key; our MAC names its key, a byte, and one PAN.
const BOTH_PANS: &str = "both PANs named";

/// What a frame carries of the longest kind that the paper reckons with: both PANs are named, the key is not.
fn longest_header(level: Option<SecurityLevel>) -> usize {
    MAX_FRAME - frame(level, KeyId::Implicit, 2)
}

/// What a frame of our MAC carries.
fn ours(suite: Option<LinkSuite>) -> usize {
    let mut mac = Mac::<Soft, Link<true, 1, 1>>::new();
    let security = suite.map(|suite| LinkSecurity { suite, key: [0; 16], key_index: 1 });
    let config = Config { address: FROM, pan_id: 1, csma: Csma::default(), ack: true, security };
    mac.start(&config, &mut Soft);
    mac.payload_capacity()
}

fn run(_: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let (left, taken) = (paper.table("figure-3")?, paper.table("figure-3-taken")?);
    let all = longest_header(None);
    let (mut payloads, mut by_security) = (Vec::new(), Vec::new());
    for (name, suite) in SUITES {
        let (suite, level) = (suite.map(|(suite, _)| suite), suite.map(|(_, level)| level));
        let mic = level.map_or(0, SecurityLevel::mic_len) as f64;
        let longest = longest_header(level);
        for (which, payload) in [(BOTH_PANS, longest), ("as sent", ours(suite))] {
            let row = Row::new(which, payload as f64, "B", Provenance::Measured).at(mic);
            payloads.push(row.beside(left.get(name)));
        }
        if level.is_some() {
            let row = Row::new(BOTH_PANS, (all - longest) as f64, "B", Provenance::Measured).at(mic);
            by_security.push(row.beside(taken.get(name)));
        }
    }
    let across = Some("MIC, bytes");
    let figures = vec![
        Figure { title: PAYLOAD, across, rows: payloads },
        Figure { title: TAKEN, across, rows: by_security },
    ];
    let published = |figure| Statement::Published(Series::new(figure, BOTH_PANS), Tolerance::Exact);
    let claims = vec![
        Claim::stated(
            "Without link security, and with AES-CCM-32, -64 and -128, so much is left to the network layer as the text says (section 4)",
            published(PAYLOAD),
            &figures,
        ),
        Claim::stated(
            "AES-CCM-32, -64 and -128 take so much of a frame as the text says (section 4)",
            published(TAKEN),
            &figures,
        )
        .uncounted("it is what the claim before says, subtracted"),
    ];
    Ok(Findings { figures, claims })
}
