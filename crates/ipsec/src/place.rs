//! Where in the chain of extension headers AH and ESP stand.

use sixlock_ipv6::extension::{Chain, Upper};
use sixlock_ipv6::{Error, ah, esp, next_header};

use crate::{OutboundError, Protocol};

/// Where a header goes in transport mode: behind what nodes on the way look at, before the destination options that
/// only the destination does
/// ([RFC 4302 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4302#section-3.1.1),
/// [RFC 4303 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4303#section-3.1.1)).
pub(crate) fn insertion(packet: &[u8]) -> Result<Upper, OutboundError> {
    let mut chain = Chain::new(packet);
    let mut place = chain.upper();
    while let Some(header) = chain.next() {
        match header.map_err(|_| OutboundError::Malformed)?.kind {
            next_header::HOP_BY_HOP | next_header::ROUTING | next_header::FRAGMENT => place = chain.upper(),
            next_header::AH => return Ok(place),
            _ => {}
        }
    }
    match chain.upper().protocol {
        next_header::FRAGMENT => Err(OutboundError::Fragment),
        _ => Ok(place),
    }
}

/// The first AH or ESP header of `packet`, if it has one, wherever the packet is.
pub(crate) fn outermost(packet: &[u8]) -> Option<Upper> {
    let mut chain = Chain::new(packet);
    loop {
        let place = chain.upper();
        match chain.next() {
            None => return (place.protocol == next_header::ESP).then_some(place),
            Some(header) if header.ok()?.kind == next_header::AH => return Some(place),
            Some(_) => {}
        }
    }
}

/// The first AH or ESP header of `packet`, if it has one. It is looked for at the packet's destination only: a routing
/// header with a way still to go is an error.
pub(crate) fn find(packet: &[u8]) -> Result<Option<Upper>, Error> {
    let mut chain = Chain::new(packet);
    loop {
        let place = chain.upper();
        match chain.next() {
            None if place.protocol == next_header::ESP => return Ok(Some(place)),
            None => return Ok(None),
            Some(header) => match header?.kind {
                next_header::AH => return Ok(Some(place)),
                next_header::ROUTING if packet.get(place.at + 3).is_none_or(|&left| left != 0) => {
                    return Err(Error::Length);
                }
                _ => {}
            },
        }
    }
}

/// The protocol, security parameters index and sequence number of the header at `found`, before they are believed.
pub(crate) fn numbers(packet: &[u8], found: &Upper) -> Option<(Protocol, u32, u32)> {
    let bytes = packet.get(found.at..)?;
    let protocol = Protocol::named(found.protocol)?;
    let numbers = match protocol {
        Protocol::Ah => bytes.get(ah::Header::LEN - esp::Header::LEN..)?,
        Protocol::Esp => bytes,
    };
    // AH's fields end with those that ESP begins with.
    let (esp::Header { spi, sequence }, _) = esp::Header::parse(numbers).ok()?;
    Some((protocol, spi, sequence))
}
