//! Figure 3: response time by the size of the datagram.

use super::testbed::{AH, DTLS, ESP, SIZES, Taken, Testbed};
use super::{by_size, is_nearly};
use crate::error::Error;
use crate::evaluation::{Claim, Figure, Provenance, Row};
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::experiments::packets::{datagram, protected};
use crate::experiments::sample::Sample;
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig3",
    paper: super::PAPER,
    at: "figure 3 (section IV)",
    shows: "response time by the size of the datagram, with AH, ESP and DTLS",
    method: Method::Run(run),
};

const RESPONSE: fn(&Taken) -> Sample = |taken| taken.response;
/// Milliseconds that a byte takes on a serial line of 115,200 bit/s, there and back, as Contiki's border routers have one.
const SERIAL_LINE: f64 = 2.0 * 10.0 / 115.2;
/// A size at which no way takes more frames than another.
const EVEN: usize = 32;

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let testbed = Testbed::measure(context, &SIZES)?;
    let published = paper.table("response-time-overhead")?;
    let plain = datagram(EVEN)?;
    let mut worst = Vec::new();
    let mut claims = Vec::new();
    for (way, said) in [(AH, 10.0), (ESP, 14.0), (DTLS, 14.0)] {
        let (most, bytes) = testbed.worst(|bytes| testbed.added(way, bytes, RESPONSE));
        let row = Row::new(format!("{}, in the worst case", way.label), most, "ms", Provenance::Estimate);
        worst.push(row.beside(published.get(way.label)));
        let packet = match way.suite() {
            Some(suite) => protected(&plain, suite)?.len(),
            None => plain.len() + sixlock_dtls::RECORD_OVERHEAD,
        };
        let serial = (packet - plain.len()) as f64 * SERIAL_LINE;
        claims.push(
            Claim::new(
                format!("In the worst case {} adds {said} ms to the response time (section IV)", way.label),
                is_nearly(most, said),
                format!("it adds {most:.1} ms to {bytes} bytes, which then take two frames instead of one; taken for the same if within a quarter"),
            )
            .because(
                "in the paper what goes over the air goes over a serial line to the host, too, as whole IPv6 packets",
                format!("with one of 115,200 bit/s it adds {:.1} ms", most + serial),
            ),
        );
    }
    let each = |less, more| {
        SIZES.iter().all(|&bytes| testbed.mean(less, bytes, RESPONSE) < testbed.mean(more, bytes, RESPONSE))
    };
    let at_all = |way| {
        let added = SIZES.map(|bytes| format!("{:.2}", testbed.added(way, bytes, RESPONSE)));
        format!("{} adds {} ms", way.label, added.join(", "))
    };
    let added = format!("to {SIZES:?} bytes {}, {}, {}", at_all(AH), at_all(ESP), at_all(DTLS));
    claims.extend([
        Claim::new(
            "AH performs better than ESP and DTLS (section IV)",
            each(AH, ESP) && each(AH, DTLS),
            added.clone(),
        ),
        Claim::new("ESP has a greater delay than DTLS (section IV)", each(DTLS, ESP), added).because(
            "both take as many bytes on the air, and the backoffs before them are drawn at random",
            format!(
                "without all that the node's CPU works {:.2} ms for {EVEN} bytes with ESP, {:.2} with DTLS",
                testbed.mean(ESP, EVEN as u16, |taken| taken.cpu),
                testbed.mean(DTLS, EVEN as u16, |taken| taken.cpu)
            ),
        ),
    ]);
    Ok(Findings {
        figures: vec![
            by_size(&testbed, "Response time", "ms", RESPONSE),
            Figure { title: "Response time more than without security", across: None, rows: worst },
        ],
        claims,
    })
}
