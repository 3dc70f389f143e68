//! AH and ESP, and the keys that open them.

use std::net::Ipv6Addr;

use sixlock_base::NetworkSuite;
use sixlock_crypto::Soft;
use sixlock_ipsec::{AnyTransform, InboundError, Opened, Protocol, SequenceNumber, Transform};
use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::{Header, ah, esp};

use crate::layer::{Ah, Esp, Layer, Reason, Unread};

/// A security association: who sends under it to whom, its index, and its suite with the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Association {
    pub(crate) source: Ipv6Addr,
    pub(crate) destination: Ipv6Addr,
    pub(crate) spi: u32,
    pub(crate) suite: NetworkSuite,
    pub(crate) key: Vec<u8>,
}

impl Association {
    fn is(&self, protocol: Protocol, ends: &Header, spi: u32) -> bool {
        let own = match self.suite {
            NetworkSuite::Ah(_) => Protocol::Ah,
            NetworkSuite::Esp(_) | NetworkSuite::Joint(_) => Protocol::Esp,
        };
        (own, self.source, self.destination, self.spi) == (protocol, ends.source, ends.destination, spi)
    }
}

/// Tries the associations that may have made the header at `found` of `packet`, and opens it in place. Nothing if there
/// are none.
fn open(
    associations: &[Association],
    protocol: Protocol,
    (spi, sequence): (u32, u32),
    packet: &mut Vec<u8>,
    found: &Upper,
) -> Option<Result<(Opened, String), InboundError>> {
    let (ends, _) = Header::parse(packet).ok()?;
    let mut result = None;
    let fitting = associations.iter().filter(|association| association.is(protocol, &ends, spi));
    for Association { suite, key, .. } in fitting {
        let Ok(transform) = AnyTransform::new(&mut Soft, *suite, key) else { continue };
        // Whether numbers are extended, packets do not say; nobody has sent 2^32 of them in a capture.
        for extended in [false, true] {
            let mut copy = packet.clone();
            match transform.open(&mut Soft, &mut copy, found, SequenceNumber::new(0, sequence), extended) {
                Ok(opened) => {
                    *packet = copy;
                    return Some(Ok((opened, suite.to_string())));
                }
                Err(error) => result = Some(Err(error)),
            }
        }
    }
    result
}

/// Why a packet does not open: in general, and the name of the reason.
fn refused(error: InboundError) -> (Reason, String) {
    match error {
        InboundError::BadIcv => (Reason::BadMic, String::new()),
        error => (Reason::Malformed, error.name().into()),
    }
}

fn no_key(protocol: &str, packet: &[u8], spi: u32) -> String {
    match Header::parse(packet) {
        Ok((Header { source, destination, .. }, _)) => {
            format!(
                "no association of {protocol} from {source} to {destination} with index {spi} in the keys"
            )
        }
        Err(_) => String::new(),
    }
}

/// Reads the AH at `found`, of `length` bytes. What follows it is in the clear, so that it is read also where the ICV cannot
/// be verified.
pub(crate) fn ah(
    associations: &[Association],
    packet: &[u8],
    found: &Upper,
    length: usize,
    layers: &mut Vec<Layer>,
) -> Result<(), Unread> {
    let bytes = packet.get(found.at..).unwrap_or_default();
    let malformed = |error| Unread::malformed("AH", bytes.len(), error);
    let (ah::Header { spi, sequence, .. }, _) = ah::Header::parse(bytes).map_err(malformed)?;
    let mut ah = Ah { bytes: length, spi, sequence, suite: None };
    match open(associations, Protocol::Ah, (spi, sequence), &mut packet.to_vec(), found) {
        Some(Ok((_, suite))) => {
            ah.suite = Some(suite);
            layers.push(Layer::Ah(ah));
        }
        Some(Err(error)) => {
            let (reason, why) = refused(error);
            layers.push(Layer::Ah(ah));
            layers.push(Unread::new("ICV of AH", length - ah::Header::LEN, reason, why).into());
        }
        None => {
            layers.push(Layer::Ah(ah));
            let why = no_key("AH", packet, spi);
            layers.push(Unread::new("ICV of AH", length - ah::Header::LEN, Reason::NoKey, why).into());
        }
    }
    Ok(())
}

/// Opens the ESP at `found`, and returns the packet without it.
pub(crate) fn esp(
    associations: &[Association],
    packet: &[u8],
    found: &Upper,
    layers: &mut Vec<Layer>,
) -> Result<Vec<u8>, Unread> {
    let bytes = packet.get(found.at..).unwrap_or_default();
    let unread = |reason, why| Unread::new("ESP", bytes.len(), reason, why);
    let (esp::Header { spi, sequence }, _) =
        esp::Header::parse(bytes).map_err(|error| Unread::malformed("ESP", bytes.len(), error))?;
    let mut opened = packet.to_vec();
    let mut layer = Esp { bytes: esp::Header::LEN, spi, sequence, suite: None };
    let failure = match open(associations, Protocol::Esp, (spi, sequence), &mut opened, found) {
        Some(Ok((Opened { payload, next_header }, suite))) => {
            layer.bytes = bytes.len() - payload.len();
            layer.suite = Some(suite);
            layers.push(Layer::Esp(layer));
            return without(&opened, found, payload, next_header)
                .ok_or_else(|| unread(Reason::Malformed, String::new()));
        }
        Some(Err(error)) => refused(error),
        None => (Reason::NoKey, no_key("ESP", packet, spi)),
    };
    layers.push(Layer::Esp(layer));
    Err(Unread::new("content of ESP", bytes.len() - esp::Header::LEN, failure.0, failure.1))
}

/// The packet whose ESP at `found` was opened, as it was before.
fn without(
    packet: &[u8],
    found: &Upper,
    payload: std::ops::Range<usize>,
    next_header: u8,
) -> Option<Vec<u8>> {
    let mut clear = [packet.get(..found.at)?, packet.get(payload)?].concat();
    let length = u16::try_from(clear.len().checked_sub(Header::LEN)?).ok()?;
    clear.get_mut(4..6)?.copy_from_slice(&length.to_be_bytes());
    *clear.get_mut(found.named_at)? = next_header;
    Some(clear)
}
