//! Figure 4: what the client sends and receives at five datagrams a second.

use super::testbed::{AH, DTLS, ESP, NOTHING, PROTECTED, SIZES, SecurityMode, Taken, Testbed, WAYS};
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
use crate::wording::EQUAL;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig4",
    paper: super::PAPER,
    at: "figure 4 (section IV)",
    shows: "bytes a second that the client sends and receives at five datagrams a second, the handshake included",
    method: Method::Run(run),
};

const BANDWIDTH: fn(&Taken) -> Sample = |taken| taken.bandwidth.clone();
const STEADY: fn(&Taken) -> Sample = |taken| taken.steady.clone();
/// A few bytes: here compression pays most.
const FEW: u16 = SIZES[0];

const ALL: &str = "What the client sends and receives, in frames, the handshake included";
const WITHOUT_HANDSHAKE: &str = "The same, the handshake left out";
const OF_FEW: &str = "The same with few bytes, the handshake included";
const OF_FEW_COMPRESSED: &str =
    "The same with few bytes, if headers are compressed whatever the length of the packet";
const WORST: &str = "What the client sends and receives more than without security";
const AS_MANY_FRAMES: &str = "The same, of the sizes with which security needs no more frames";
/// Bytes from which on headers are compressed without security, too.
const COMPRESSED: f64 = SIZES[1] as f64;

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &SIZES)?;
    let published = paper.table("bandwidth-overhead")?;
    let all_compressed = Testbed::all_compressed(context, &[FEW])?;
    let of_few = |testbed: &Testbed| WAYS.map(|way| testbed.get(way, FEW, BANDWIDTH).row(way.label, "B/s"));
    let figures = vec![
        by_size(&testbed, ALL, "B/s", BANDWIDTH),
        by_size(&testbed, WITHOUT_HANDSHAKE, "B/s", STEADY),
        Figure { title: OF_FEW, across: None, rows: of_few(&testbed).into() },
        Figure { title: OF_FEW_COMPRESSED, across: None, rows: of_few(&all_compressed).into() },
        worst_of(&testbed, WORST, "%", published, |way, bytes| Some(testbed.overhead(way, bytes, BANDWIDTH))),
        worst_of_as_many_frames(&testbed, AS_MANY_FRAMES, published, BANDWIDTH),
    ];
    let of = |figure, way: SecurityMode| Series::new(figure, way.label);
    let more = worst_claims(&figures, WORST, Tolerance::Percent, |name, said| {
        format!("In the worst case {name} takes {said} % more (section IV)")
    });
    let mut claims = without_more_frames(more, AS_MANY_FRAMES, &figures);
    let claim = |text: &str, statement| Claim::stated(text, statement, &figures);
    claims.push(claim(
        "With few bytes more is sent without security than with AH (section IV)",
        Statement::Below(of(OF_FEW, AH), of(OF_FEW, NOTHING)),
    ));
    let cause = claim(
        "That is because headers are not compressed under a length of the packet: if they are, more is sent with AH (section IV)",
        Statement::Below(of(OF_FEW_COMPRESSED, NOTHING), of(OF_FEW_COMPRESSED, AH)),
    );
    claims.push(cause.uncounted("it is the paper's reason, and the paper has no run without it"));
    for way in PROTECTED {
        claims.push(claim(
            &format!("Where headers are compressed without security, too, less is sent without it than with {} (section IV)", way.label),
            Statement::BelowFrom(of(ALL, NOTHING), of(ALL, way), COMPRESSED),
        ));
    }
    claims.extend([
        claim(
            "DTLS requires more bandwidth than all in every situation, due to the handshake (section IV)",
            Statement::Most(of(ALL, DTLS), [NOTHING, AH, ESP].map(|way| of(ALL, way)).into()),
        )
        .perhaps("what ESP pads to a word, and the UDP header that it hides, may be more than the handshake, which is one of 100 datagrams"),
        claim(
            "But for the handshake DTLS and ESP are essentially the same (section IV)",
            Statement::HardlyMore(of(WITHOUT_HANDSHAKE, DTLS), of(WITHOUT_HANDSHAKE, ESP), EQUAL),
        )
        .perhaps("ESP pads to a word, and frames are sent again where two stations have drawn the same backoff"),
    ]);
    Ok(Findings { figures, claims })
}
