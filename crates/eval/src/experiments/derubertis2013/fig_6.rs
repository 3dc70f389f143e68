//! Figure 6: what is in a frame beside the payload.

use sixlock_ieee802154::KeyId;
use sixlock_sixlowpan::PayloadCompression;

use super::testbed::{DTLS, SecurityMode, WAYS};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::experiments::packets::{compressed, compressed_with, datagram, frame, protected, record};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

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

fn run(_: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let mut rows = Vec::new();
    let mut means = Vec::new();
    for way in WAYS {
        let mean = mean(|payload| overhead(way, payload))?;
        rows.push(Row::new(way.label, mean, "B", Provenance::Measured));
        means.push(mean);
    }
    // The paper compresses none of DTLS.
    for (label, payloads) in LINKS {
        let mean = mean(|payload| {
            Ok(frame(None, KeyId::Implicit, 1) + compressed_with(&record(payload)?, payloads)? - payload)
        })?;
        rows.push(Row::new(label, mean, "B", Provenance::Measured));
    }
    let [nothing, ah, esp, dtls] = means[..] else { return Err(Error("there are four ways".into())) };
    let claims = vec![
        Claim::new(
            "The packet overhead of ESP and DTLS is equal (section IV)",
            (esp - dtls).abs() < 1.0,
            format!("{esp} bytes with ESP, its padding as on average, {dtls} with DTLS; taken for equal if they differ by less than a byte"),
        )
        .because(
            "a record takes 29 bytes of header, nonce and code, of which nothing is compressed; ESP what its own take, and a UDP header that cannot be",
            format!("without the UDP header's ESP has {}", esp - sixlock_ipv6::udp::Header::LEN as f64),
        ),
        Claim::new(
            "AH has the least overhead of the three (figure 6)",
            nothing < ah && ah < esp.min(dtls),
            format!("{ah} bytes, {} more than without security", ah - nothing),
        ),
    ];
    Ok(Findings { figures: vec![Figure { title: "A frame less its payload", across: None, rows }], claims })
}
