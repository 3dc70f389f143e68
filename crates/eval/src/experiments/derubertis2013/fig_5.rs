//! Figure 5: what the node consumes for a datagram.

use sixlock_sim::Platform;

use super::testbed::{AH, DTLS, ESP, PROTECTED, SIZES, SecurityMode, Taken, Testbed};
use super::{by_size, without_more_frames, worst_claims, worst_of, worst_of_as_many_frames};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::Figure;
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig5",
    paper: super::PAPER,
    at: "figure 5 (section IV)",
    shows: "energy of the node that answers, by the paper's metric and by ours",
    method: Method::Run(run),
};

const OURS: &str = "Energy of CPU and radio for a datagram, the handshake's part included, ours";
const THEIRS: &str = "The paper's metric: time from the first fragment received to the last bit sent, at the current of the CPU";
const AT_ENDS: &str = "More than without security with the fewest bytes and the most, by the paper's metric";
const WORST: &str = "More than without security, by the paper's metric";
const AS_MANY_FRAMES: &str = "The same, of the sizes with which security needs no more frames";
const OUR_WORST: &str = "More than without security, ours";

const ENERGY: fn(&Taken) -> Sample = |taken| taken.energy;
/// By the paper's metric (section III.C, equation 1): how long it takes the server, at one current and voltage, in millijoules.
const BY_PAPER: fn(&Taken) -> Sample = |taken| taken.at_server.times(per_millisecond());

fn per_millisecond() -> f64 {
    let profile = *Platform::mb851().profile();
    profile.cpu as f64 * 1e-9 * profile.millivolts as f64 * 1e-3
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &SIZES)?;
    let published = paper.table("energy-overhead")?;
    let [few, .., many] = SIZES;
    let at_ends = PROTECTED.into_iter().flat_map(|way| {
        let added = |bytes| testbed.added(way, bytes, BY_PAPER);
        [few, many].map(|bytes| added(bytes).row(way.label, "mJ").at(bytes.into()))
    });
    let figures = vec![
        by_size(&testbed, THEIRS, "mJ", BY_PAPER),
        by_size(&testbed, OURS, "mJ", ENERGY),
        Figure { title: AT_ENDS, across: Some("payload, bytes"), rows: at_ends.collect() },
        worst_of(&testbed, WORST, "%", published, |way, bytes| Some(testbed.overhead(way, bytes, BY_PAPER))),
        worst_of_as_many_frames(&testbed, AS_MANY_FRAMES, published, BY_PAPER),
        Figure {
            title: OUR_WORST,
            across: None,
            rows: PROTECTED
                .map(|way| {
                    let most = testbed.worst(|bytes| Some(testbed.overhead(way, bytes, ENERGY)));
                    most.row(super::worst(way), "%")
                })
                .into(),
        },
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let of = |figure, way: SecurityMode| Series::new(figure, way.label);
    let more = worst_claims(figures, WORST, Tolerance::Percent, |name, said| {
        format!("{name} consumes up to {said} % more (section IV)")
    });
    let mut claims = without_more_frames(more, AS_MANY_FRAMES, figures);
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let dtls_is_most = |figure| Statement::Most(of(figure, DTLS), vec![of(figure, AH), of(figure, ESP)]);
    claims.extend([
        claim(
            "DTLS consumes more than AH and ESP for each payload, because of the handshake (section IV)"
                .into(),
            dtls_is_most(THEIRS),
        )
        .without(
            "equation 1 is of a datagram, and leaves the handshake out",
            &dtls_is_most(OURS),
            figures,
        ),
        claim(
            "AH is the more economic security solution (section IV)".into(),
            Statement::Least(of(THEIRS, AH), vec![of(THEIRS, ESP), of(THEIRS, DTLS)]),
        ),
    ]);
    for way in PROTECTED {
        claims.push(claim(
            format!("With the payload the difference that {} makes becomes larger, as the CPU is busy with cryptography (section IV)", way.label),
            Statement::Grows(of(AT_ENDS, way)),
        ));
    }
    claims
}
