//! What protection adds to a packet of 6 bytes over UDP.

use sixlock_base::{AhSuite, EspSuite, NetworkSuite};
use sixlock_sixlowpan::PayloadCompression;

use super::super::native_handshake::CONTENT;
use super::super::packets::{carrying, compressed, compressed_with, datagram, protected};
use super::row::bytes_of;
use crate::error::Error;
use crate::figure::Figure;

const SUITES: [(&str, NetworkSuite); 3] = [
    ("AH, AES-XCBC-MAC-96", NetworkSuite::Ah(AhSuite::Xcbc)),
    ("ESP, AES-CTR and AES-XCBC-MAC-96", NetworkSuite::Esp(EspSuite::CtrXcbc)),
    ("ESP, AES-CCM-8", NetworkSuite::Esp(EspSuite::Ccm8)),
];

/// What a UDP payload has on a link that compresses it by RFC 7400, headers left out.
pub(super) fn behind_udp(payload: &[u8]) -> Result<usize, Error> {
    let ghc = PayloadCompression::Ghc;
    let [whole, empty] =
        [payload, &[]].map(|payload| compressed_with(&carrying((5684, 5684), payload)?, ghc));
    Ok(whole? - empty?)
}

/// What IPsec adds, whole and with compressed headers, over UDP in the clear.
pub(super) fn figure() -> Result<Figure, Error> {
    let plain = datagram(CONTENT.len())?;
    let mut rows = Vec::new();
    for (label, suite) in SUITES {
        let packet = protected(&plain, suite)?;
        rows.push(bytes_of(format!("{label}, whole"), packet.len() - plain.len()));
        rows.push(bytes_of(format!("{label}, on the air"), compressed(&packet)? - compressed(&plain)?));
    }
    Ok(Figure { title: "What IPsec adds to 6 bytes over UDP", across: None, rows })
}
