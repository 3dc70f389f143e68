//! Figure 3: response time by the size of the datagram.

use super::testbed::{AH, DTLS, ESP, SecurityMode, Taken, Testbed};
use super::{by_size, worst_claims, worst_of};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig3",
    paper: super::PAPER,
    at: "figure 3 (section IV)",
    shows: "response time by the size of the datagram, with AH, ESP and DTLS",
    method: Method::Run(run),
};

const RESPONSE: fn(&Taken) -> Sample = |taken| taken.response.clone();
const TIME: &str = "Response time";
const WORST: &str = "Response time more than without security";

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &super::SIZES)?;
    let published = paper.table("response-time-overhead")?;
    let figures = vec![
        by_size(&testbed, TIME, "ms", RESPONSE),
        worst_of(&testbed, WORST, "ms", published, |way, bytes| Some(testbed.added(way, bytes, RESPONSE))),
    ];
    let series = |way: SecurityMode| Series::new(TIME, way.label);
    let more = worst_claims(&figures, WORST, Tolerance::Time, |name, said| {
        format!("In the worst case {name} adds {said} ms to the response time (section IV)")
    });
    let guess = "where two frames are needed instead of one, what each takes beside its bytes counts, of which the paper does not tell; nor does it of the serial line's speed";
    let mut claims: Vec<_> = more.map(|claim| claim.perhaps(guess)).into();
    for (text, less, more) in [
        ("AH performs better than ESP", AH, ESP),
        ("AH performs better than DTLS", AH, DTLS),
        ("ESP has a greater delay than DTLS", DTLS, ESP),
    ] {
        claims.push(
            Claim::stated(
                format!("{text} (section IV)"),
                Statement::Below(series(less), series(more)),
                &figures,
            )
            .perhaps("the backoffs before frames are drawn at random, and these differ by less"),
        );
    }
    Ok(Findings { figures, claims })
}
