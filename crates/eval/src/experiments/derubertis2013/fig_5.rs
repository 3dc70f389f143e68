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
use crate::wording::SIMILAR;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig5",
    paper: super::PAPER,
    at: "figure 5 (section IV)",
    shows: "energy of the node that answers, by the paper's metric and by ours",
    method: Method::Run(run),
};

const OURS: &str = "Energy of CPU and radio for a datagram, the handshake's part included, ours";
const THEIRS: &str = "The paper's metric: time from the first fragment received to the last bit sent, at the current of the CPU";
const OF_FEW: &str = "The same with few bytes, by the paper's metric";
const ADDED: &str = "More than without security, by the size of the datagram, by the paper's metric";
const ADDED_WITH_AS_MANY: &str =
    "More than without security, of the sizes with which security needs no more frames";
const WORST: &str = "More than without security, by the paper's metric";
const AS_MANY_FRAMES: &str = "The same, of the sizes with which security needs no more frames";
const OUR_WORST: &str = "More than without security, ours";

const ENERGY: fn(&Taken) -> Sample = |taken| taken.energy.clone();
/// By the paper's metric (section III.C, equation 1): how long it takes the server, at one current and voltage, in millijoules.
const BY_PAPER: fn(&Taken) -> Sample = |taken| taken.at_server.times(per_millisecond());

fn per_millisecond() -> f64 {
    let profile = *Platform::mb851().profile();
    profile.cpu as f64 * 1e-9 * profile.millivolts as f64 * 1e-3
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &SIZES)?;
    let published = paper.table("energy-overhead")?;
    let added = |title, is_wanted: &dyn Fn(SecurityMode, u16) -> bool| {
        let of_way =
            |way| SIZES.into_iter().filter(move |&bytes| is_wanted(way, bytes)).map(move |it| (way, it));
        let row = |(way, bytes): (SecurityMode, u16)| {
            testbed.added(way, bytes, BY_PAPER).row(way.label, "mJ").at(bytes.into())
        };
        let rows = PROTECTED.into_iter().flat_map(of_way).map(row);
        Figure { title, across: Some("payload, bytes"), rows: rows.collect() }
    };
    let figures = vec![
        by_size(&testbed, THEIRS, "mJ", BY_PAPER),
        by_size(&testbed, OURS, "mJ", ENERGY),
        Figure {
            title: OF_FEW,
            across: None,
            rows: PROTECTED.map(|way| testbed.get(way, SIZES[0], BY_PAPER).row(way.label, "mJ")).into(),
        },
        added(ADDED, &|_, _| true),
        added(ADDED_WITH_AS_MANY, &|way, bytes| !testbed.needs_more_frames(way, bytes)),
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
    for [one, other] in [[AH, ESP], [AH, DTLS], [ESP, DTLS]] {
        claims.push(
            claim(
                format!(
                    "For small payload {} and {} are very close to one another (section IV)",
                    one.label, other.label
                ),
                Statement::HardlyMore(of(OF_FEW, one), of(OF_FEW, other), SIMILAR),
            )
            .perhaps("what is computed for each datagram beside its bytes is not the same for all three"),
        );
    }
    for way in PROTECTED {
        let grows = |figure| Statement::Grows(of(figure, way));
        let becomes_larger = claim(
            format!(
                "With the payload, from each size to the next, the difference that {} makes becomes larger, as the CPU is busy with cryptography (section IV)",
                way.label
            ),
            grows(ADDED),
        );
        claims.push(becomes_larger.without(
            "with some sizes security needs a frame more, there and back",
            &grows(ADDED_WITH_AS_MANY),
            figures,
        ));
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::KeptRuns;

    #[test]
    fn growth_with_the_payload_is_judged_at_each_size() {
        let kept = KeptRuns::default();
        let context = Context { runs: 1, most_runs: 1, commit: "", kept: &kept, progress: &|_| () };
        let Findings { figures, claims } =
            run(&context, &Paper::parse(super::super::PAPER).unwrap()).unwrap();
        for way in PROTECTED {
            let series = Series::new(ADDED, way.label);
            let sizes: Vec<_> = series.rows(&figures).filter_map(|row| row.x).collect();
            assert_eq!(sizes, SIZES.map(f64::from));
            assert!(claims.iter().any(|claim| claim.statement == Statement::Grows(series.clone())));
        }
    }
}
