//! Figure 16: round-trip time by the size of the data, with and without DTLS.

use sixlock_ieee802154::MAX_FRAME;
use sixlock_sim::{Csma, Mac};

use super::round_trip::{
    BACKOFFS, DTLS_HARDWARE, DTLS_SOFTWARE, RoundTrips, SecurityMode, Setting, TIME, UDP, frames_of_request,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

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

const WITH_64: &str = "64 bytes";
const WITH_OTHERS: &str = "the most of the others";

const ADDED: &str = "Round-trip time more than without DTLS";
const GROWTH: &str = "Round-trip time more than without DTLS, of sizes that take as many frames with it";
const GROWTH_NULL: &str = "The same with NullMAC in place of CSMA-CA";
const DTLS: &str = "DTLS";
const BYTES: &str = "Bytes of a frame";
const APPENDED_BY_UDP: &str = "appended to the data by UDP";
const APPENDED_BY_DTLS: &str = "appended to the data by DTLS";
const PAYLOAD: &str = "payload of a frame, at most";
const FRAMES: &str = "Frames of a datagram";
const FRAMES_OF_64: &str = "Frames of a datagram with 64 bytes of data";
const FRAGMENTED: &str = "Round-trip time more than without DTLS, with 64 bytes and with others";

/// What is in a captured frame beside the data, and what it has room for.
fn bytes(paper: &Paper) -> Result<Figure, Error> {
    let published = paper.table("section-5-3")?;
    let data = SIZES[1];
    let first = |way: SecurityMode| {
        let frames = frames_of_request((way, data, HOP))?;
        frames.first().copied().ok_or_else(|| Error(format!("there is no frame: {}", way.label)))
    };
    let ((mac, of_udp), (_, of_dtls)) = (first(UDP)?, first(DTLS_HARDWARE)?);
    let values = [
        (APPENDED_BY_UDP, of_udp - usize::from(data)),
        (APPENDED_BY_DTLS, of_dtls - usize::from(data)),
        (PAYLOAD, MAX_FRAME - mac),
    ];
    let row = |(label, bytes): (&str, usize)| {
        Row::new(label, bytes as f64, "B", Provenance::Measured).beside(published.get(label))
    };
    Ok(Figure { title: BYTES, across: None, rows: values.map(row).into() })
}

/// In how many frames data go, of sizes that are wanted, as they were captured.
fn frames(title: &'static str, is_wanted: impl Fn(u16) -> bool) -> Result<Figure, Error> {
    let mut rows = Vec::new();
    for data in SIZES.into_iter().filter(|data| is_wanted(*data)) {
        for (label, way) in [(UDP.label, UDP), (DTLS, DTLS_HARDWARE)] {
            let frames = frames_of_request((way, data, HOP))?.len() as f64;
            rows.push(Row::new(label, frames, "frames", Provenance::Measured).at(data.into()));
        }
    }
    Ok(Figure { title, across: Some("data, bytes"), rows })
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let settings = [UDP, DTLS_SOFTWARE, DTLS_HARDWARE].map(|way| SIZES.map(|bytes| (way, bytes, HOP)));
    let settings = settings.concat();
    let times = RoundTrips::measure(context, Mac::Csma(Csma::default()), &settings)?;
    let with_null = RoundTrips::measure(context, Mac::Null, &settings)?;
    let across = "data, bytes";
    let size = |setting: &Setting| setting.1.into();
    let takes_as_many = |setting: &Setting| setting.1 != BETWEEN;
    let mut fragmented = Vec::new();
    for way in [DTLS_SOFTWARE, DTLS_HARDWARE] {
        let others = SIZES.into_iter().filter(|bytes| *bytes != BETWEEN);
        let others = others.map(|bytes| times.added((way, bytes, HOP)));
        let others = others.max_by(|one, other| one.mean.total_cmp(&other.mean)).unwrap_or(Sample::NONE);
        let between = times.added((way, BETWEEN, HOP));
        for (what, added) in [(WITH_64, between), (WITH_OTHERS, others)] {
            fragmented.push(added.row(label(way, what), "ms"));
        }
    }
    let figures = vec![
        times.figure(across, size),
        times.figure_added(ADDED, across, size, |_| true),
        times.figure_added(GROWTH, across, size, takes_as_many),
        with_null.figure_added(GROWTH_NULL, across, size, takes_as_many),
        Figure { title: FRAGMENTED, across: None, rows: fragmented },
        bytes(paper)?,
        frames(FRAMES, |data| data != BETWEEN)?,
        frames(FRAMES_OF_64, |data| data == BETWEEN)?,
    ];
    let claim = |text: String, statement| Claim::stated(text, statement, &figures);
    let time = |way: SecurityMode| Series::new(TIME, way.label);
    let fragmented = |way, what| Series::new(FRAGMENTED, label(way, what));
    let grows = |figure, way: SecurityMode| Statement::Grows(Series::new(figure, way.label));
    let mut claims = vec![
        claim(
            "The round-trip time is longer with DTLS for all data sizes (section 5.3)".into(),
            Statement::Least(time(UDP), vec![time(DTLS_SOFTWARE), time(DTLS_HARDWARE)]),
        ),
        claim(
            "It is shorter with AES in hardware than in software (section 5.3)".into(),
            Statement::Below(time(DTLS_HARDWARE), time(DTLS_SOFTWARE)),
        ),
    ];
    claims.extend([DTLS_SOFTWARE, DTLS_HARDWARE].map(|way| {
        claim(
            format!("{}: with 64 bytes the difference is larger than with the others, as only DTLS is fragmented then (section 5.3)", way.label),
            Statement::Below(fragmented(way, WITH_OTHERS), fragmented(way, WITH_64)),
        )
    }));
    claims.extend([DTLS_SOFTWARE, DTLS_HARDWARE].map(|way| {
        claim(
            format!("{}: with the size the difference becomes larger, as longer packets take longer to encrypt (section 5.3)", way.label),
            grows(GROWTH, way),
        )
        .without(BACKOFFS, &grows(GROWTH_NULL, way), &figures)
    }));
    let in_frames = |title, way: &str| Series::new(title, way);
    claims.extend([
        claim(
            "The number of fragments is the same with DTLS as without for all sizes other than 64 bytes (section 5.3)".into(),
            Statement::Same(in_frames(FRAMES, DTLS), in_frames(FRAMES, UDP.label), Tolerance::Exact),
        )
        .perhaps("which sizes need a frame more is a matter of a few bytes of headers, which are not Contiki's"),
        claim(
            "With 64 bytes only DTLS is fragmented (section 5.3)".into(),
            Statement::Below(in_frames(FRAMES_OF_64, UDP.label), in_frames(FRAMES_OF_64, DTLS)),
        )
        .perhaps("which sizes need a frame more is a matter of a few bytes of headers, which are not Contiki's"),
    ]);
    for (text, label) in [
        ("UDP appends 18 bytes to the data, its headers compressed", APPENDED_BY_UDP),
        ("DTLS appends 47 bytes to the data, its own 13 and 16 included", APPENDED_BY_DTLS),
        ("104 bytes of a frame can be used for its payload", PAYLOAD),
    ] {
        claims.push(
            claim(format!("{text} (section 5.3)"), Statement::Published(Series::new(BYTES, label), Tolerance::Exact))
                .perhaps("how addresses and ports are compressed, and what a frame's header has, is Contiki's choice there, and ours here"),
        );
    }
    Ok(Findings { figures, claims })
}

fn label(way: SecurityMode, what: &str) -> String {
    format!("{}, {what}", way.label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::KeptRuns;

    #[test]
    fn claims_of_dtls_are_about_each_series_of_it() {
        let kept = KeptRuns::default();
        let context = Context { runs: 1, most_runs: 1, commit: "", kept: &kept, progress: &|_| () };
        let Findings { claims, .. } = run(&context, &Paper::parse(super::super::PAPER).unwrap()).unwrap();
        for way in [DTLS_SOFTWARE, DTLS_HARDWARE] {
            let grows = Statement::Grows(Series::new(GROWTH, way.label));
            assert!(claims.iter().any(|claim| claim.statement == grows), "{}", way.label);
        }
    }
}
