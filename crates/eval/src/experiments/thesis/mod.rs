//! The thesis: IPsec and DTLS on Contiki in Cooja. Its figures 26 and 27 are captures of a packet that RPL has carried.

pub(super) mod delay;
pub(super) mod dtls;
pub(super) mod energy;
pub(super) mod fig_26;
pub(super) mod fig_27;
pub(super) mod loss;
mod network;
pub(super) mod table_11;

use sixlock_base::NetworkSuite;
use sixlock_crypto::Soft;
use sixlock_ipsec::{SequenceNumber, Transform};
use sixlock_ipv6::extension::{Chain, Upper};
use sixlock_ipv6::next_header;

use super::packets;
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Table};
use crate::statement::{Series, Statement};
use crate::tolerance::Tolerance;

const PAPER: &str = include_str!("../../../../../published/thesis.toml");

/// What all experiments on the networks have in common.
const EXPERIMENT: Experiment =
    Experiment { name: "", paper: PAPER, at: "", shows: "", method: Method::NotYet("") };

/// Where the IPv6 header ends.
const BEHIND_IPV6: usize = sixlock_ipv6::Header::LEN;
/// Where in the packet the rank stands that each hop writes into the RPL option (RFC 6553).
const RANK_AT: usize = BEHIND_IPV6 + 6;
/// The option, in a hop-by-hop header before UDP.
const RPL: [u8; 8] = [next_header::UDP, 0, 0x63, 4, 0x80, 0x1e, 0x01, 0x00];
/// Bytes of payload.
const PAYLOAD: usize = 16;
/// So many packets, each a byte longer than the one before, are sent over a link.
const PACKETS: usize = 100;

const ORDER: &str = "Places of the headers in the packet";
const PLACE: &str = "place";
const ON_THEIR_WAY: &str = "Packets with the header of RPL, over a link on which they are compressed";
const SENT: &str = "sent";
const TAKEN: &str = "taken by the far end, the rank written on the way";
const FORGED: &str = "taken with a bit changed";

fn name(kind: u8) -> &'static str {
    match kind {
        next_header::IPV6 => "IPv6",
        next_header::HOP_BY_HOP => "hop-by-hop",
        next_header::AH => "AH",
        next_header::ESP => "ESP",
        next_header::UDP => "UDP",
        _ => "another",
    }
}

/// A packet as that of the captures: UDP that RPL carries, with so many bytes of payload.
fn carried_by_rpl(payload: usize) -> Result<Vec<u8>, Error> {
    let mut packet = packets::datagram(payload)?;
    packet.splice(BEHIND_IPV6..BEHIND_IPV6, RPL);
    packet[sixlock_ipv6::Header::NEXT_HEADER_AT] = next_header::HOP_BY_HOP;
    let payload = (packet.len() - BEHIND_IPV6) as u16;
    packet[sixlock_ipv6::Header::PAYLOAD_LENGTH_AT..][..2].copy_from_slice(&payload.to_be_bytes());
    Ok(packet)
}

/// The headers of a packet by their protocol numbers, and how long they are; the last is what ESP hides, or UDP.
fn headers(packet: &[u8]) -> Result<Vec<(u8, usize)>, Error> {
    let mut chain = Chain::new(packet);
    let mut headers = vec![(next_header::IPV6, BEHIND_IPV6)];
    for extension in chain.by_ref() {
        let extension = extension.map_err(|error| Error(format!("a chain of headers: {error:?}")))?;
        headers.push((extension.kind, extension.length));
    }
    let upper = chain.upper();
    headers.push((upper.protocol, packet.len() - upper.at));
    Ok(headers)
}

/// Whether the far end takes what has come to it.
fn opens(suite: NetworkSuite, packet: &[u8]) -> Result<bool, Error> {
    let mut chain = Chain::new(packet);
    let ah = chain.by_ref().flatten().find(|extension| extension.kind == next_header::AH);
    let found = match ah {
        Some(ah) => Upper { protocol: ah.kind, at: ah.at, named_at: ah.named_at },
        None => chain.upper(),
    };
    let mut packet = packet.to_vec();
    let opened = packets::transform(&mut Soft, suite)?.open(
        &mut Soft,
        &mut packet,
        &found,
        SequenceNumber::new(0, packets::SEQUENCE),
        false,
    );
    Ok(opened.is_ok_and(|opened| opened.next_header == next_header::UDP))
}

/// Places of headers: each of those that the thesis has, where it is found here, or at none.
fn places(found: &[(u8, usize)], published: &Table) -> Vec<Row> {
    let place = |kind: u8| found.iter().position(|&(of, _)| of == kind).map_or(0, |at| at + 1);
    let row = |kind: u8| {
        let said = published.at(PLACE, kind.into());
        Row::new(PLACE, place(kind) as f64, "place", Provenance::Measured).at(kind.into()).beside(said)
    };
    let kinds =
        [next_header::IPV6, next_header::HOP_BY_HOP, next_header::AH, next_header::ESP, next_header::UDP];
    kinds.into_iter().map(row).filter(|row| row.value > 0.0 || row.published.is_some()).collect()
}

/// Packets that a router has written its rank into, compressed and restored on another link, and what the far end takes of them.
fn packets_on_their_way(suite: NetworkSuite) -> Result<Vec<Row>, Error> {
    let counts = (0..PACKETS).map(|payload| {
        let mut arrived = packets::protected(&carried_by_rpl(payload)?, suite)?;
        arrived[RANK_AT] ^= 0x55;
        let restored = packets::over_a_link(&arrived)?;
        let mut forged = arrived.clone();
        if let Some(last) = forged.last_mut() {
            *last ^= 1;
        }
        Ok([restored == arrived && opens(suite, &restored)?, opens(suite, &forged)?])
    });
    let counts = counts.collect::<Result<Vec<_>, Error>>()?;
    let count = |which: usize| counts.iter().filter(|opened| opened[which]).count() as f64;
    let row = |(label, value)| Row::new(label, value, "of 100", Provenance::Measured);
    Ok([(SENT, PACKETS as f64), (TAKEN, count(0)), (FORGED, count(1))].map(row).into())
}

/// Figures 26 and 27, with the order that the thesis sees in the capture, which is that of a table in `published/`.
fn capture(paper: &Paper, suite: NetworkSuite, table: &str) -> Result<Findings, Error> {
    let plain = carried_by_rpl(PAYLOAD)?;
    let sent = packets::protected(&plain, suite)?;
    let headers = headers(&sent)?;
    let lengths = headers.iter().zip(1..).map(|(&(kind, len), position)| {
        Row::new(format!("{position}. {}", name(kind)), len as f64, "B", Provenance::Measured)
    });
    let sizes = [("plain", &plain), ("protected", &sent)].map(|(which, packet)| {
        let compressed = packets::compressed(packet)?;
        Ok::<_, Error>([
            Row::new(format!("{which}, whole"), packet.len() as f64, "B", Provenance::Measured),
            Row::new(format!("{which}, on the air"), compressed as f64, "B", Provenance::Measured),
        ])
    });
    let mut whole = Vec::new();
    for rows in sizes {
        whole.extend(rows?);
    }
    let figures = vec![
        Figure { title: ORDER, across: Some("protocol number"), rows: places(&headers, paper.table(table)?) },
        Figure { title: "Headers of the packet, in their order", across: None, rows: lengths.collect() },
        Figure { title: "The packet, whole and on the air", across: None, rows: whole },
        Figure { title: ON_THEIR_WAY, across: None, rows: packets_on_their_way(suite)? },
    ];
    let of = |label| Series::new(ON_THEIR_WAY, label);
    let claims = [
        (
            "The headers stand in the order of the capture (section 6.2)",
            Statement::Published(Series::new(ORDER, PLACE), Tolerance::Exact),
        ),
        (
            "IPsec is working correctly with the header of RPL before it: the far end takes packets into which a router has written its rank (section 6.2)",
            Statement::Same(of(TAKEN), of(SENT), Tolerance::Exact),
        ),
        (
            "IPsec is working correctly with the header of RPL before it: the far end takes none that was changed (section 6.2)",
            Statement::NoneOf(of(FORGED)),
        ),
    ];
    let claims = claims.map(|(text, statement)| Claim::stated(text, statement, &figures)).into();
    Ok(Findings { figures, claims })
}
