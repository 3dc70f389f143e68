//! Figure 4: what is on the air at five datagrams a second.

use super::testbed::{AH, DTLS, ESP, NOTHING, SIZES, Taken, Testbed, WAYS};
use super::{IN_TWO_FRAMES, by_size, is_nearly};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::experiments::packets::{compressed, datagram, protected};
use crate::experiments::sample::Sample;
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

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
/// What stands before a packet whose headers are not compressed.
const UNCOMPRESSED: usize = 1;

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &SIZES)?;
    let published = paper.table("bandwidth-overhead")?;
    let mut worst = Vec::new();
    let mut claims = Vec::new();
    for (way, said) in [(AH, 32.0), (ESP, 58.0), (DTLS, 67.0)] {
        let (most, bytes) = testbed.worst(|bytes| testbed.overhead(way, bytes, BANDWIDTH));
        let row = Row::new(format!("{}, in the worst case", way.label), most, "%", Provenance::Estimate);
        worst.push(row.beside(published.get(way.label)));
        let in_one_frame = testbed.overhead(way, FEW, BANDWIDTH);
        claims.push(
            Claim::new(
                format!("In the worst case {} takes {said} % more (section IV)", way.label),
                is_nearly(most, said),
                format!(
                    "it takes {most:.0} % more with {bytes} bytes; taken for the same if within a quarter"
                ),
            )
            .because(
                "what a size needs a frame more for, it needs it there and back, with its acknowledgement",
                format!("with {FEW} bytes, which take one frame in any case, it is {in_one_frame:.0} %"),
            ),
        );
    }
    let of = |way, bytes| testbed.mean(way, bytes, BANDWIDTH);
    let plain = datagram(FEW.into())?;
    let ah =
        AH.suite().map_or(Ok(0), |suite| protected(&plain, suite).and_then(|packet| compressed(&packet)))?;
    let most_of_all = |bytes| WAYS.into_iter().all(|way| way == DTLS || of(way, bytes) < of(DTLS, bytes));
    let apart = SIZES.map(|bytes| {
        (testbed.mean(DTLS, bytes, STEADY) / testbed.mean(ESP, bytes, STEADY) - 1.0).abs() * 100.0
    });
    claims.extend([
        Claim::new(
            "With few bytes more is sent without security than with AH (section IV)",
            of(AH, FEW) < of(NOTHING, FEW),
            format!("of {FEW} bytes {:.0} B/s without, {:.0} with AH", of(NOTHING, FEW), of(AH, FEW)),
        )
        .because(
            "the paper's stack compresses headers from a certain length of the packet on, this one always",
            format!(
                "with its headers as they are a datagram of {FEW} bytes takes {} bytes of a frame, compressed with AH {ah}",
                UNCOMPRESSED + plain.len()
            ),
        ),
        Claim::new(
            "With more bytes least is sent without security (section IV)",
            SIZES.iter().all(|&bytes| WAYS[1..].iter().all(|&way| of(NOTHING, bytes) < of(way, bytes))),
            format!("of {IN_TWO_FRAMES} bytes {:.0} B/s without, {:.0} with AH, {:.0} with ESP", of(NOTHING, IN_TWO_FRAMES), of(AH, IN_TWO_FRAMES), of(ESP, IN_TWO_FRAMES)),
        ),
        Claim::new(
            "DTLS requires more bandwidth than all in every situation, due to the handshake (section IV)",
            SIZES.into_iter().all(most_of_all),
            format!("of {FEW} bytes {:.0} B/s with DTLS, {:.0} with ESP; the handshake is one of 100 datagrams", of(DTLS, FEW), of(ESP, FEW)),
        ),
        Claim::new(
            "But for the handshake DTLS and ESP are essentially the same (section IV)",
            apart.iter().all(|apart| *apart < 1.0),
            format!("they are {} % apart with {SIZES:?} bytes", apart.map(|apart| format!("{apart:.1}")).join(", ")),
        ),
    ]);
    Ok(Findings {
        figures: vec![
            by_size(&testbed, "On the air, acknowledgements and handshake included", "B/s", BANDWIDTH),
            Figure { title: "On the air more than without security", across: None, rows: worst },
        ],
        claims,
    })
}
