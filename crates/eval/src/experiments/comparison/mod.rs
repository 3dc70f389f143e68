//! What the IETF's comparison of security protocols for CoAP says of DTLS 1.2, made by our code, and in its form what it does not
//! say: the handshakes of DTLS 1.2, and IPsec.

mod flights;
mod packet;

use sixlock_dtls::{Certificates, RawPublicKeys};

use self::flights::keys;
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{COMPARISON, Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "protocol-comparison",
    paper: COMPARISON,
    at: "sections 3 and 4",
    shows: "the flights of DTLS 1.2 handshakes by pre-shared keys, raw public keys and certificates, and what DTLS 1.2, AH and ESP add to a packet",
    method: Method::Run(run),
};

const FLIGHTS: &str = "Flights of a handshake";
const RECORDS: &str = "What DTLS 1.2 adds to 6 bytes";

fn run(_: &Context<'_>, draft: &Paper) -> Result<Findings, Error> {
    let handshakes = [
        ("PSK", flights::of::<()>(None)?),
        ("RPK", flights::of::<RawPublicKeys>(keys("dtls-rpk")?)?),
        ("X.509", flights::of::<Certificates>(keys("dtls-x509")?)?),
    ];
    let flight = |(label, flights): &(&'static str, Vec<usize>)| {
        let row = |(number, bytes): (u32, &usize)| bytes_of(*label, *bytes).at(number.into());
        (1..).zip(flights).map(row).collect::<Vec<_>>()
    };
    let total = |(label, flights): &(&'static str, Vec<usize>)| bytes_of(*label, flights.iter().sum());
    let figures = vec![
        Figure { title: FLIGHTS, across: Some("flight"), rows: handshakes.iter().flat_map(flight).collect() },
        Figure { title: "All flights", across: None, rows: handshakes.iter().map(total).collect() },
        Figure { title: RECORDS, across: Some("bytes of the connection id"), rows: records(draft)? },
        packet::figure()?,
    ];
    let ([whole, ghc], [longer, longer_ghc]) = (as_drafted(&[0x42])?, as_drafted(&[0x40, 0x02])?);
    let claims = vec![
        sizes(&figures, 0..=0),
        sizes(&figures, 1..=2).because(
            "a record with an id has its content type behind its content, and before it one of its own, which GHC's dictionary does not have (RFC 9146, section 4): the draft leaves out both",
            format!("a record as the draft writes it has {whole} and {ghc} with an id of 1 byte, {longer} and {longer_ghc} with one of 2"),
        ),
    ];
    Ok(Findings { figures, claims })
}

fn bytes_of(label: impl Into<String>, bytes: usize) -> Row {
    Row::new(label, bytes as f64, "B", Provenance::Measured)
}

/// What records take beyond their content, as they are and compressed, by the id that they carry.
fn records(draft: &Paper) -> Result<Vec<Row>, Error> {
    let published = draft.table("record")?;
    let mut rows = Vec::new();
    for (label, is_compressed) in [("DTLS 1.2", false), ("DTLS 1.2, GHC", true)] {
        for id in [&[][..], &[0x42], &[0x40, 0x02]] {
            let record = flights::record(id)?;
            let length = if is_compressed { packet::behind_udp(&record)? } else { record.len() };
            let x = id.len() as f64;
            let row = bytes_of(label, length - flights::CONTENT.len()).at(x);
            rows.push(row.beside(published.at(label, x)));
        }
    }
    Ok(rows)
}

/// Rows of records whose ids are so long.
fn of_ids(figures: &[Figure], ids: core::ops::RangeInclusive<u8>) -> impl Iterator<Item = &Row> {
    let is_wanted = move |row: &&Row| ids.clone().any(|id| row.x == Some(id.into()));
    figures.iter().filter(|figure| figure.title == RECORDS).flat_map(|figure| &figure.rows).filter(is_wanted)
}

/// Whether records with ids of these lengths are as long as the draft says.
fn sizes(figures: &[Figure], ids: core::ops::RangeInclusive<u8>) -> Claim {
    let (from, to) = (*ids.start(), *ids.end());
    let with = if to == 0 { "no id".into() } else { format!("an id of {from} or {to} bytes") };
    let are_same = of_ids(figures, ids.clone()).all(|row| row.published == Some(row.value));
    Claim::new(
        format!("A record with {with} takes as much, whole and by GHC, as the draft says (section 4.1)"),
        are_same,
        format!("it has {}", described(figures, ids)),
    )
}

fn described(figures: &[Figure], ids: core::ops::RangeInclusive<u8>) -> String {
    let values: Vec<_> = of_ids(figures, ids).map(|row| format!("{} ({})", row.value, row.label)).collect();
    values.join(", ")
}

/// Where the id stands in a record.
const ID_AT: usize = 11;

/// What a record with this id takes beyond its content as the draft writes it, whole and by GHC.
fn as_drafted(id: &[u8]) -> Result<[usize; 2], Error> {
    let mut record = flights::record(&[])?;
    record.splice(ID_AT..ID_AT, id.iter().copied());
    Ok([record.len(), packet::behind_udp(&record)?].map(|length| length - flights::CONTENT.len()))
}
