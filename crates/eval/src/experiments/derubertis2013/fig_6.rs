//! Figure 6: what is in a frame beside the payload.

use sixlock_ieee802154::KeyId;
use sixlock_sixlowpan::PayloadCompression;

use super::testbed::{AH, DTLS, ESP, SecurityMode, WAYS};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::experiments::packets::{compressed, compressed_with, datagram, frame, protected, record};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::wording::EQUAL;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "derubertis2013-fig6",
    paper: super::PAPER,
    at: "figure 6 (section IV)",
    shows: "bytes of a frame that are not payload, headers compressed, between two nodes of a mesh",
    method: Method::Run(run),
};

/// ESP pads to words: by lengths that differ by up to one, padding counts as on average.
const PAYLOADS: core::ops::Range<usize> = 32..36;

/// Links that compress headers of DTLS, too.
const LINKS: [(&str, PayloadCompression); 2] =
    [("DTLS, Lithe", PayloadCompression::Lithe), ("DTLS, RFC 7400", PayloadCompression::Ghc)];

/// A frame less its payload (section III.C, equation 2), for one that has so many bytes.
fn overhead(way: SecurityMode, payload: usize) -> Result<usize, Error> {
    let packet = match (way.suite(), way == DTLS) {
        (Some(suite), _) => protected(&datagram(payload)?, suite)?,
        (None, true) => record(payload)?,
        (None, false) => datagram(payload)?,
    };
    Ok(frame(None, KeyId::Implicit, 1) + compressed(&packet)? - payload)
}

/// The mean over all payloads.
fn mean(overhead: impl Fn(usize) -> Result<usize, Error>) -> Result<f64, Error> {
    let of_each = PAYLOADS.map(overhead).collect::<Result<Vec<_>, _>>()?;
    Ok(of_each.iter().sum::<usize>() as f64 / of_each.len() as f64)
}

const OVERHEAD: &str = "A frame less its payload";

fn run(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let mut rows = Vec::new();
    for way in WAYS {
        let mean = mean(|payload| overhead(way, payload))?;
        rows.push(Row::new(way.label, mean, "B", Provenance::Measured));
    }
    // The paper compresses none of DTLS.
    for (label, payloads) in LINKS {
        let mean = mean(|payload| {
            Ok(frame(None, KeyId::Implicit, 1) + compressed_with(&record(payload)?, payloads)? - payload)
        })?;
        rows.push(Row::new(label, mean, "B", Provenance::Measured));
    }
    let figures = vec![Figure { title: OVERHEAD, across: None, rows }];
    let of = |way: SecurityMode| Series::new(OVERHEAD, way.label);
    let claim = |text: &str, statement| Claim::stated(text, statement, &figures);
    let claims = vec![
        claim(
            "The packet overhead of ESP and DTLS is equal, ESP's padding as on average (section IV)",
            Statement::HardlyMore(of(ESP), of(DTLS), EQUAL),
        )
        .perhaps("a record takes 29 bytes of header, nonce and code, of which nothing is compressed; ESP what its own take, and a UDP header that cannot be"),
        claim(
            "AH has the least overhead of the three (figure 6)",
            Statement::Least(of(AH), vec![of(ESP), of(DTLS)]),
        ),
    ];
    Ok(Findings { figures, claims })
}
