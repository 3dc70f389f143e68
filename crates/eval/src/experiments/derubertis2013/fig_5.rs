//! Figure 5: what the node consumes for a datagram.

use sixlock_sim::Platform;

use super::testbed::{AH, DTLS, ESP, NOTHING, SIZES, SecurityMode, Taken, Testbed, WAYS};
use super::{IN_TWO_FRAMES, NEARLY, by_size};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::experiments::sample::Sample;
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig5",
    paper: super::PAPER,
    at: "figure 5 (section IV)",
    shows: "energy of the node that answers, by the paper's metric and by ours",
    method: Method::Part(
        run,
        &[
            "equation 1 from the first fragment that is received to the last bit that is sent: its time here is the client's",
        ],
    ),
};

const ENERGY: fn(&Taken) -> Sample = |taken| taken.energy;

/// By the paper's metric (section III.C, equation 1): how long it takes, at one current and voltage, in millijoules. The border
/// router's work takes no time here.
fn per_millisecond() -> f64 {
    let profile = *Platform::mb851().profile();
    profile.cpu as f64 * 1e-9 * profile.millivolts as f64 * 1e-3
}

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &SIZES)?;
    let published = paper.table("energy-overhead")?;
    let by_paper = WAYS.into_iter().flat_map(|way| {
        SIZES.map(|bytes| {
            let energy = testbed.get(way, bytes, |taken| taken.response).times(per_millisecond());
            energy.row(way.label, "mJ").at(bytes.into())
        })
    });
    let by_paper = Figure {
        title: "The paper's metric: time from the datagram to its answer, at the current of the CPU",
        across: Some("payload, bytes"),
        rows: by_paper.collect(),
    };
    let worst = [AH, ESP, DTLS].map(|way| {
        let (most, _) = testbed.worst(|bytes| testbed.overhead(way, bytes, ENERGY));
        let row = Row::new(format!("{}, in the worst case", way.label), most, "%", Provenance::Estimate);
        row.beside(published.get(way.label))
    });
    Ok(Findings {
        figures: vec![
            by_size(
                &testbed,
                "Energy of CPU and radio for a datagram, the handshake's part included, ours",
                "mJ",
                ENERGY,
            ),
            by_paper,
            Figure { title: "Energy more than without security, ours", across: None, rows: worst.into() },
        ],
        claims: claims(&testbed),
    })
}

fn claims(testbed: &Testbed) -> Vec<Claim> {
    let of = |way, bytes| testbed.mean(way, bytes, ENERGY);
    let each = |less, more| SIZES.iter().all(|&bytes| of(less, bytes) < of(more, bytes));
    let more = |way: SecurityMode, bytes| testbed.overhead(way, bytes, ENERGY);
    let mut claims: Vec<_> = [(AH, 11.0), (ESP, 36.0), (DTLS, 40.0)]
        .into_iter()
        .map(|(way, said)| {
            let (most, bytes) = testbed.worst(|bytes| more(way, bytes));
            Claim::new(
                format!("{} consumes at most {said} % more (section IV)", way.label),
                most <= said * (1.0 + NEARLY),
                format!("it consumes {most:.0} % more with {bytes} bytes; taken for no more if by less than a quarter"),
            )
            .because(
                "with that size security needs a second frame there and back; and an echo without security takes this node hardly more than its frames are on the air, so that what they grow by counts in full",
                format!("with {IN_TWO_FRAMES} bytes, which take two frames in any case, it consumes {:.0} % more", more(way, IN_TWO_FRAMES)),
            )
        })
        .collect();
    let [few, .., many] = SIZES;
    let added = |way, bytes| of(way, bytes) - of(NOTHING, bytes);
    claims.extend([
        Claim::new(
            "DTLS consumes more than AH and ESP for each payload, because of the handshake (section IV)",
            each(AH, DTLS) && each(ESP, DTLS),
            format!("of {few} bytes {:.3} mJ with DTLS, {:.3} with ESP, {:.3} with AH, and of {many} {:.3}, {:.3} and {:.3}; the handshake is one of 100 datagrams", of(DTLS, few), of(ESP, few), of(AH, few), of(DTLS, many), of(ESP, many), of(AH, many)),
        ),
        Claim::new(
            "AH is the more economic security solution (section IV)",
            each(AH, ESP) && each(AH, DTLS),
            format!("of {many} bytes it adds {:.3} mJ, ESP {:.3}, DTLS {:.3}", added(AH, many), added(ESP, many), added(DTLS, many)),
        ),
        Claim::new(
            "The differences grow with the payload, as the CPU is busy with cryptography (section IV)",
            [AH, ESP, DTLS].into_iter().all(|way| added(way, few) < added(way, many)),
            format!("AH adds {:.3} mJ to {few} bytes and {:.3} to {many}, ESP {:.3} and {:.3}, DTLS {:.3} and {:.3}", added(AH, few), added(AH, many), added(ESP, few), added(ESP, many), added(DTLS, few), added(DTLS, many)),
        ),
    ]);
    claims
}
