//! What the IETF's comparison of security protocols for CoAP says of DTLS 1.2, made by our code, and in its form what it does not
//! say: the handshakes of DTLS 1.2, and IPsec.

mod packet;
mod row;

use sixlock_dtls::{Certificates, RawPublicKeys};

use self::row::bytes_of;
use super::native_handshake::{self, keys};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{COMPARISON, Context, Experiment, Findings, Method};
use crate::figure::{Figure, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "protocol-comparison",
    paper: COMPARISON,
    at: "sections 3 and 4",
    shows: "the flights of DTLS 1.2 handshakes by pre-shared keys, raw public keys and certificates, and what DTLS 1.2, AH and ESP add to a packet",
    method: Method::Run(run),
};

const FLIGHTS: &str = "Flights of a handshake";
const WITHOUT_ID: &str = "What DTLS 1.2 adds to 6 bytes";
const WITH_ID: &str = "What DTLS 1.2 adds to 6 bytes, with a connection id";
const AS_DRAFTED: &str = "What DTLS 1.2 adds to 6 bytes, with a connection id, as the draft writes it";
/// Records as they are, and compressed by GHC.
const LABELS: [(&str, bool); 2] = [("DTLS 1.2", false), ("DTLS 1.2, GHC", true)];
const IDS: [&[u8]; 2] = [&[0x42], &[0x40, 0x02]];
const CAUSE: &str = "a record with an id has its content type behind its content, and before it one of its own, which GHC's dictionary does not have (RFC 9146, section 4): the draft leaves out both";

fn run(_: &Context<'_>, draft: &Paper) -> Result<Findings, Error> {
    let handshakes = [
        ("PSK", native_handshake::of::<()>(None)?),
        ("RPK", native_handshake::of::<RawPublicKeys>(keys("dtls-rpk")?)?),
        ("X.509", native_handshake::of::<Certificates>(keys("dtls-x509")?)?),
    ];
    let flight = |(label, flights): &(&'static str, Vec<usize>)| {
        let row = |(number, bytes): (u32, &usize)| bytes_of(*label, *bytes).at(number.into());
        (1..).zip(flights).map(row).collect::<Vec<_>>()
    };
    let total = |(label, flights): &(&'static str, Vec<usize>)| bytes_of(*label, flights.iter().sum());
    let across = Some("connection id, bytes");
    let figures = vec![
        Figure { title: FLIGHTS, across: Some("flight"), rows: handshakes.iter().flat_map(flight).collect() },
        Figure { title: "All flights", across: None, rows: handshakes.iter().map(total).collect() },
        Figure { title: WITHOUT_ID, across, rows: records(draft, &[&[]], native_handshake::record)? },
        Figure { title: WITH_ID, across, rows: records(draft, &IDS, native_handshake::record)? },
        Figure { title: AS_DRAFTED, across, rows: records(draft, &IDS, as_drafted)? },
        packet::figure()?,
    ];
    let as_published = |title, label| Statement::Published(Series::new(title, label), Tolerance::Exact);
    let claim = |title, what: &str, (label, _): (&'static str, bool)| {
        let text = format!("{label}: a record {what} takes as much as the draft says (section 4.1)");
        Claim::stated(text, as_published(title, label), &figures)
    };
    let without_id = LABELS.map(|label| claim(WITHOUT_ID, "without an id", label));
    let with_id = LABELS.map(|label| {
        claim(WITH_ID, "with an id of 1 or 2 bytes", label).without(
            CAUSE,
            &as_published(AS_DRAFTED, label.0),
            &figures,
        )
    });
    let claims = without_id.into_iter().chain(with_id).collect();
    Ok(Findings { figures, claims })
}

/// What records take beyond their content, as they are and compressed, by the id that each is made with.
fn records(
    draft: &Paper,
    ids: &[&[u8]],
    record: fn(&[u8]) -> Result<Vec<u8>, Error>,
) -> Result<Vec<Row>, Error> {
    let published = draft.table("record")?;
    let mut rows = Vec::new();
    for (label, is_compressed) in LABELS {
        for &id in ids {
            let record = record(id)?;
            let length = if is_compressed { packet::behind_udp(&record)? } else { record.len() };
            let x = id.len() as f64;
            let row = bytes_of(label, length - native_handshake::CONTENT.len()).at(x);
            rows.push(row.beside(published.at(label, x)));
        }
    }
    Ok(rows)
}

/// Where the id stands in a record.
const ID_AT: usize = 11;

/// A record with this id as the draft writes it.
fn as_drafted(id: &[u8]) -> Result<Vec<u8>, Error> {
    let mut record = native_handshake::record(&[])?;
    record.splice(ID_AT..ID_AT, id.iter().copied());
    Ok(record)
}
