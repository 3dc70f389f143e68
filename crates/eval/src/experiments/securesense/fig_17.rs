//! Figure 17: round-trip time over one to four hops, with and without DTLS.

use super::round_trip::{DTLS_HARDWARE, RoundTrips, UDP};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig17",
    paper: super::PAPER,
    at: "figure 17 (section 5.3)",
    shows: "round-trip time of 128 bytes over one to four hops, without DTLS and with it in hardware",
    method: Method::Run(run),
};

const BYTES: u16 = 128;
const HOPS: [u32; 4] = [1, 2, 3, 4];

fn run(context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let settings = [UDP, DTLS_HARDWARE].map(|way| HOPS.map(|hops| (way, BYTES, hops)));
    let times = RoundTrips::measure(context, settings.concat())?;
    let added = HOPS.map(|hops| times.mean(DTLS_HARDWARE, BYTES, hops) - times.mean(UDP, BYTES, hops));
    let claims = vec![
        Claim::new(
            "For each hop the round-trip time increases faster with DTLS (section 5.3)",
            added.is_sorted_by(|near, far| near < far),
            format!("over {HOPS:?} hops DTLS adds {} ms", added.map(|added| format!("{added:.1}")).join(", ")),
        )
        .because(
            "what longer packets take longer on the air is less than what the backoffs before frames differ by",
            format!("from one hop to four the difference grows by {:.2} ms", added[HOPS.len() - 1] - added[0]),
        ),
    ];
    Ok(Findings { figures: vec![times.figure("hops", |setting| setting.2.into())], claims })
}
