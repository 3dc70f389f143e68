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
    let published = paper.table("figure-3")?;
    let mut rows = Vec::new();
    for (name, suite) in SUITES {
        let (suite, level) = (suite.map(|(suite, _)| suite), suite.map(|(_, level)| level));
        for (which, payload) in [("both PANs named", longest_header(level)), ("as sent", ours(suite))] {
            rows.push(
                Row::new(format!("{name}, {which}"), payload as f64, "B", Provenance::Measured)
                    .beside(published.get(name)),
            );
        }
    }
    let longest: Vec<_> = rows.iter().step_by(2).collect();
    let taken: Vec<_> = longest.iter().map(|row| longest[0].value - row.value).collect();
    let sent: Vec<_> = rows.iter().skip(1).step_by(2).map(|row| row.value.to_string()).collect();
    let claims = vec![
        Claim::new(
            "Without link security 102 bytes are left to the network layer, with AES-CCM-32, -64 and -128 93, 89 and 81 (section 4)",
            longest.iter().all(|row| row.published == Some(row.value)),
            "headers with two extended addresses that name both PANs, and no key, leave this",
        ),
        Claim::new(
            "Security takes 9, 13 and 21 bytes of a frame (section 4)",
            taken == [0.0, 9.0, 13.0, 21.0],
            format!(
                "with a key that no field names; our MAC names its key, 1 byte, and one PAN instead of two, which saves 2: {} bytes are left",
                sent.join(", ")
            ),
        ),
    ];
    Ok(Findings { figures: vec![Figure { title: "Payload of a frame", across: None, rows }], claims })
}
