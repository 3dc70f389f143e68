//! Where in the chain of extension headers AH and ESP stand.

use sixlock_ipv6::extension::{Chain, Extension, Upper};
use sixlock_ipv6::{Header, ah, esp, next_header};

use crate::association::Mode;
use crate::transform::Sending;
use crate::{OutboundError, Protocol, Room, tunnel};

/// What one walk along a packet's extension headers finds.
pub(crate) struct Layout {
    /// The first AH or ESP header, if it has one.
    pub(crate) outermost: Option<Upper>,
    /// What follows the extension headers.
    pub(crate) upper: Upper,
    /// Whether a routing header before AH and ESP has a way still to go.
    pub(crate) is_on_its_way: bool,
    insertion: Upper,
}

impl Layout {
    /// That of `packet`; none if it does not parse.
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let mut chain = Chain::new(packet);
        let mut place = chain.upper();
        let mut layout = Self { outermost: None, upper: place, is_on_its_way: false, insertion: place };
        for header in chain.by_ref() {
            let Extension { kind, at, length, .. } = header.ok()?;
            let behind = Upper { protocol: *packet.get(at)?, at: at + length, named_at: at };
            match kind {
                next_header::AH if layout.outermost.is_none() => layout.outermost = Some(place),
                next_header::HOP_BY_HOP | next_header::ROUTING | next_header::FRAGMENT
                    if layout.outermost.is_none() =>
                {
                    layout.insertion = behind;
                    layout.is_on_its_way |= kind == next_header::ROUTING && *packet.get(at + 3)? != 0;
                }
                _ => {}
            }
            place = behind;
        }
        layout.upper = place;
        if place.protocol == next_header::ESP && layout.outermost.is_none() {
            layout.outermost = Some(place);
        }
        Some(layout)
    }

    /// What policy knows a packet by that nobody has opened: its AH or ESP, or what follows the extension headers.
    pub(crate) fn visible(&self) -> Upper {
        self.outermost.unwrap_or(self.upper)
    }

    /// Where a header goes in transport mode: behind what nodes on the way look at, before the destination options that
    /// only the destination does
    /// ([RFC 4302 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4302#section-3.1.1),
    /// [RFC 4303 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4303#section-3.1.1)).
    pub(crate) fn insertion(&self) -> Result<Upper, OutboundError> {
        if self.outermost.is_none() && self.upper.protocol == next_header::FRAGMENT {
            return Err(OutboundError::Fragment);
        }
        Ok(self.insertion)
    }
}

/// The first AH or ESP header of `packet`, if it has one.
pub(crate) fn outermost(packet: &[u8]) -> Option<Upper> {
    Layout::of(packet)?.outermost
}

/// Makes room in a packet for the header of `protocol`, of `front` bytes. Returns where that is and what follows it, and the
/// length of this.
pub(crate) fn make_room(
    room: &mut Room<'_>,
    sending: &Sending,
    protocol: u8,
    front: usize,
) -> Result<(Upper, usize), OutboundError> {
    let length = room.packet().len();
    let (place, payload) = match &sending.mode {
        Mode::Transport => {
            let layout = Layout::of(room.packet()).ok_or(OutboundError::Malformed)?;
            let place = layout.insertion()?;
            room.open(place.at, front)?;
            (place, length.checked_sub(place.at).ok_or(OutboundError::Malformed)?)
        }
        Mode::Tunnel { local, remote } => {
            let place = tunnel::encapsulate(room, front, local, remote)?;
            (place, (length + Header::LEN).checked_sub(place.at).ok_or(OutboundError::Malformed)?)
        }
    };
    *room.packet_mut().get_mut(place.named_at).ok_or(OutboundError::Malformed)? = protocol;
    Ok((place, payload))
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
