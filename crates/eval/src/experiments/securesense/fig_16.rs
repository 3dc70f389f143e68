//! Figure 16: round-trip time by the size of the data, with and without DTLS.

use super::round_trip::{DTLS_HARDWARE, DTLS_SOFTWARE, RoundTrips, UDP};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig16",
    paper: super::PAPER,
    at: "figure 16 (section 5.3)",
    shows: "round-trip time over a hop by the size of the data, without DTLS, and with it in software and hardware",
    method: Method::Run(run),
};

/// The one that takes two frames with DTLS and one without.
const BETWEEN: u16 = 64;
const SIZES: [u16; 6] = [8, 16, 32, BETWEEN, 96, 128];
const HOP: u32 = 1;

fn run(context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let settings = [UDP, DTLS_SOFTWARE, DTLS_HARDWARE].map(|way| SIZES.map(|bytes| (way, bytes, HOP)));
    let times = RoundTrips::measure(context, settings.concat())?;
    let of = |way, bytes| times.mean(way, bytes, HOP);
    let added = |way| SIZES.map(|bytes| of(way, bytes) - of(UDP, bytes));
    let (software, hardware) = (added(DTLS_SOFTWARE), added(DTLS_HARDWARE));
    let listed = |added: [f64; SIZES.len()]| added.map(|added| format!("{added:.1}")).join(", ");
    let why = format!(
        "to {SIZES:?} bytes DTLS adds {} ms in software, {} with the engines",
        listed(software),
        listed(hardware)
    );
    let of_frames = |added: [f64; SIZES.len()]| {
        let others = SIZES.into_iter().zip(added).filter(|(bytes, _)| *bytes != BETWEEN);
        others.map(|(_, added)| added).collect::<Vec<_>>()
    };
    let between = SIZES.iter().position(|bytes| *bytes == BETWEEN).unwrap_or_default();
    let is_most = |added: [f64; SIZES.len()]| of_frames(added).iter().all(|other| *other < added[between]);
    let claims = vec![
        Claim::new(
            "The round-trip time is longer with DTLS for all data sizes (section 5.3)",
            software.iter().chain(&hardware).all(|added| *added > 0.0),
            why.clone(),
        ),
        Claim::new(
            "It is shorter with AES in hardware than in software (section 5.3)",
            SIZES.into_iter().all(|bytes| of(DTLS_HARDWARE, bytes) < of(DTLS_SOFTWARE, bytes)),
            why.clone(),
        ),
        Claim::new(
            "With 64 bytes the difference is larger than with the others, as only DTLS is fragmented then (section 5.3)",
            is_most(software) && is_most(hardware),
            why.clone(),
        ),
        Claim::new(
            "With the size the difference becomes larger, as longer packets take longer to encrypt (section 5.3)",
            of_frames(software).is_sorted(),
            why,
        )
        .because(
            "what encryption takes longer is less than what the backoffs before frames differ by",
            format!("from the least size to the largest the difference in software grows by {:.2} ms", software[SIZES.len() - 1] - software[0]),
        ),
    ];
    Ok(Findings { figures: vec![times.figure("data, bytes", |setting| setting.1.into())], claims })
}
