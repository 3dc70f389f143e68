//! Figure 17: round-trip time over one to four hops, with and without DTLS.

use sixlock_sim::{Csma, Mac};

use super::round_trip::{BACKOFFS, DTLS_HARDWARE, RoundTrips, Setting, UDP};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "securesense-fig17",
    paper: super::PAPER,
    at: "figure 17 (section 5.3)",
    shows: "round-trip time of 128 bytes over one to four hops, without DTLS and with it in hardware",
    method: Method::Run(run),
};

const BYTES: u16 = 128;
const HOPS: [u32; 4] = [1, 2, 3, 4];

const ADDED: &str = "Round-trip time more than without DTLS";
const ADDED_NULL: &str = "The same with NullMAC in place of CSMA-CA";

fn run(context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let settings = [UDP, DTLS_HARDWARE].map(|way| HOPS.map(|hops| (way, BYTES, hops)));
    let settings = settings.concat();
    let times = RoundTrips::measure(context, Mac::Csma(Csma::default()), &settings)?;
    let with_null = RoundTrips::measure(context, Mac::Null, &settings)?;
    let hops = |setting: &Setting| setting.2.into();
    let figures = vec![
        times.figure("hops", hops),
        times.figure_added(ADDED, "hops", hops, |_| true),
        with_null.figure_added(ADDED_NULL, "hops", hops, |_| true),
    ];
    let grows = |figure| Statement::Grows(Series::new(figure, DTLS_HARDWARE.label));
    let claim = Claim::stated(
        "For each hop the round-trip time increases faster with DTLS (section 5.3)",
        grows(ADDED),
        &figures,
    );
    let claims = vec![claim.without(BACKOFFS, &grows(ADDED_NULL), &figures)];
    Ok(Findings { figures, claims })
}
