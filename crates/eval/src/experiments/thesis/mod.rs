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

fn name(kind: u8) -> &'static str {
    match kind {
        next_header::HOP_BY_HOP => "hop-by-hop",
        next_header::AH => "AH",
        next_header::ESP => "ESP",
        next_header::UDP => "UDP",
        _ => "another",
    }
}

/// The packet of the captures: UDP that RPL carries.
fn carried_by_rpl() -> Result<Vec<u8>, Error> {
    let mut packet = packets::datagram(PAYLOAD)?;
    packet.splice(BEHIND_IPV6..BEHIND_IPV6, RPL);
    packet[sixlock_ipv6::Header::NEXT_HEADER_AT] = next_header::HOP_BY_HOP;
    let payload = (packet.len() - BEHIND_IPV6) as u16;
    packet[sixlock_ipv6::Header::PAYLOAD_LENGTH_AT..][..2].copy_from_slice(&payload.to_be_bytes());
    Ok(packet)
}

/// The headers of a packet, and how long they are; the last is what ESP hides, or UDP.
fn headers(packet: &[u8]) -> Result<Vec<(&'static str, usize)>, Error> {
    let mut chain = Chain::new(packet);
    let mut headers = vec![("IPv6", BEHIND_IPV6)];
    for extension in chain.by_ref() {
        let extension = extension.map_err(|error| Error(format!("a chain of headers: {error:?}")))?;
        headers.push((name(extension.kind), extension.length));
    }
    let upper = chain.upper();
    headers.push((name(upper.protocol), packet.len() - upper.at));
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

/// Figures 26 and 27, with the order that the thesis sees in the capture.
fn capture(suite: NetworkSuite, expected: &[&str]) -> Result<Findings, Error> {
    let plain = carried_by_rpl()?;
    let sent = packets::protected(&plain, suite)?;
    let headers = headers(&sent)?;
    let rows = headers.iter().zip(1..).map(|(&(name, len), position)| {
        Row::new(format!("{position}. {name}"), len as f64, "B", Provenance::Measured)
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

    // A router writes its rank; the packet goes over another link compressed.
    let mut arrived = sent.clone();
    arrived[RANK_AT] ^= 0x55;
    let restored = packets::over_a_link(&arrived)?;
    let mut forged = arrived.clone();
    if let Some(last) = forged.last_mut() {
        *last ^= 1;
    }
    let order: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
    let (is_opened, is_refused) = (opens(suite, &restored)?, !opens(suite, &forged)?);
    let claims = vec![
        Claim::new(
            format!("The headers are {} (section 6.2)", expected.join(", ")),
            order == expected,
            format!("they are {}", order.join(", ")),
        ),
        Claim::new(
            "IPsec is working correctly with the header of RPL before it (section 6.2)",
            restored == arrived && is_opened && is_refused,
            "a router has written its rank into the option, the headers were compressed and restored, and the far end takes the packet; with one bit of it changed, it does not",
        ),
    ];
    let figures = vec![
        Figure { title: "Headers of the packet, in their order", across: None, rows: rows.collect() },
        Figure { title: "The packet, whole and on the air", across: None, rows: whole },
    ];
    Ok(Findings { figures, claims })
}
