//! Figure 4: what is on the air at five datagrams a second.

use super::testbed::{AH, DTLS, ESP, NOTHING, PROTECTED, SIZES, SecurityMode, Taken, Testbed, WAYS};
use super::{by_size, worst_claims, worst_of};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::experiments::sample::Sample;
use crate::figure::Figure;
use crate::published::Paper;
use crate::statement::{Series, Statement};
use crate::tolerance::Tolerance;
use crate::wording::EQUAL;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig4",
    paper: super::PAPER,
    at: "figure 4 (section IV)",
    shows: "bytes a second on the air at five datagrams a second, there and back, the handshake included",
    method: Method::Part(
        run,
        &[
            "the threshold below which headers are not compressed: every header is, here",
            "what the client alone sends and receives: this is all that is on the air",
        ],
    ),
};

const BANDWIDTH: fn(&Taken) -> Sample = |taken| taken.bandwidth;
const STEADY: fn(&Taken) -> Sample = |taken| taken.steady;
/// A few bytes: here compression pays most.
const FEW: u16 = SIZES[0];

const ALL: &str = "On the air, acknowledgements and handshake included";
const WITHOUT_HANDSHAKE: &str = "On the air, the handshake left out";
const OF_FEW: &str = "On the air with few bytes, acknowledgements and handshake included";
const WORST: &str = "On the air more than without security";

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &SIZES)?;
    let published = paper.table("bandwidth-overhead")?;
    let of_few = WAYS.map(|way| testbed.get(way, FEW, BANDWIDTH).row(way.label, "B/s"));
    let figures = vec![
        by_size(&testbed, ALL, "B/s", BANDWIDTH),
        by_size(&testbed, WITHOUT_HANDSHAKE, "B/s", STEADY),
        Figure { title: OF_FEW, across: None, rows: of_few.into() },
        worst_of(&testbed, WORST, "%", published, |way, bytes| testbed.overhead(way, bytes, BANDWIDTH)),
    ];
    let of = |figure, way: SecurityMode| Series::new(figure, way.label);
    let more = worst_claims(&figures, WORST, Tolerance::Percent, |name, said| {
        format!("In the worst case {name} takes {said} % more (section IV)")
    });
    let guess = "what a size needs a frame more for, it needs it there and back, with its acknowledgement; the paper counts what the client sends and receives";
    let mut claims: Vec<_> = more.map(|claim| claim.perhaps(guess)).into();
    let claim = |text: &str, statement| Claim::stated(text, statement, &figures);
    claims.extend([
        claim(
            "With few bytes more is sent without security than with AH (section IV)",
            Statement::Below(of(OF_FEW, AH), of(OF_FEW, NOTHING)),
        )
        .perhaps("the paper's stack compresses headers from a certain length of the packet on, this one always"),
        claim(
            "With more bytes least is sent without security (section IV)",
            Statement::Least(of(ALL, NOTHING), PROTECTED.map(|way| of(ALL, way)).into()),
        ),
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
