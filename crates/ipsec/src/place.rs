//! Where in the chain of extension headers AH and ESP stand.

use sixlock_ipv6::extension::{Chain, Extension, Upper};
use sixlock_ipv6::{Header, ah, esp, next_header};

use crate::transform::Sending;
use crate::{Mode, OutboundError, Protocol, Room, tunnel};

/// What one walk along a packet's extension headers finds.
pub(crate) struct Layout {
    /// What policy knows a packet by that nobody has opened: its first AH or ESP, or what follows the extension headers.
    pub(crate) visible: Upper,
    /// Whether a routing header before it has a way still to go.
    pub(crate) is_on_its_way: bool,
    /// Where a header goes in transport mode: behind what nodes on the way look at, before the destination options that
    /// only the destination does
    /// ([RFC 4302 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4302#section-3.1.1),
    /// [RFC 4303 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4303#section-3.1.1)).
    insertion: Upper,
}

impl Layout {
    /// That of `packet`; none if it does not parse as far as its first AH or ESP.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let mut chain = Chain::new(packet);
        let mut layout = Self { visible: chain.upper(), is_on_its_way: false, insertion: chain.upper() };
        while layout.visible.protocol != next_header::AH
            && let Some(header) = chain.next()
        {
            let Extension { kind, at, .. } = header.ok()?;
            layout.visible = chain.upper();
            if matches!(kind, next_header::HOP_BY_HOP | next_header::ROUTING | next_header::FRAGMENT) {
                layout.insertion = layout.visible;
                layout.is_on_its_way |= kind == next_header::ROUTING && *packet.get(at + 3)? != 0;
            }
        }
        Some(layout)
    }

    /// The packet's first AH or ESP header, if it has one.
    pub(crate) fn outermost(&self) -> Option<&Upper> {
        Protocol::named(self.visible.protocol).map(|_| &self.visible)
    }

    /// Where a header goes in transport mode.
    pub(crate) fn insertion(&self) -> Result<Upper, OutboundError> {
        if self.visible.protocol == next_header::FRAGMENT {
            return Err(OutboundError::Fragment);
        }
        Ok(self.insertion)
    }
}

/// What follows the extension headers of `packet`, AH among them; none if it does not parse.
pub(crate) fn upper(packet: &[u8]) -> Option<Upper> {
    let mut chain = Chain::new(packet);
    chain.by_ref().try_for_each(|header| header.map(drop)).ok()?;
    Some(chain.upper())
}

/// The next of the headers before AH, which stands at `at`.
#[cfg_attr(target_pointer_width = "64", inline(always))]
pub(crate) fn before(chain: &mut Chain<'_>, at: usize) -> Option<Extension> {
    if chain.upper().at < at { chain.next()?.ok() } else { None }
}

/// Where a header was put.
pub(crate) struct Place {
    /// Where that is, and what follows it.
    pub(crate) upper: Upper,
    /// The length of what follows it.
    pub(crate) payload: usize,
    /// Whether a routing header before it has a way still to go.
    pub(crate) is_on_its_way: bool,
}

/// Makes room in a packet for the header of `protocol`, of `front` bytes, and for as many bytes behind what follows it as `back` says,
/// which is given the length of that. Lends the packet, whose headers tell of the new one and of its length.
#[inline(always)]
pub(crate) fn make_room<'a>(
    room: &'a mut Room<'_>,
    sending: &Sending,
    protocol: u8,
    front: usize,
    back: impl FnOnce(usize) -> usize,
) -> Result<(Place, &'a mut [u8]), OutboundError> {
    let length = room.len();
    let (upper, length, is_on_its_way) = match &sending.mode {
        Mode::Transport => {
            let layout = Layout::of(room.packet());
            let Some(layout) = &layout else { return Err(OutboundError::HeaderChain) };
            let upper = layout.insertion()?;
            room.open(upper.at, front)?;
            (upper, length, layout.is_on_its_way)
        }
        Mode::Tunnel { local, remote } => {
            (tunnel::encapsulate(room, front, local, remote)?, length + Header::LEN, false)
        }
    };
    let payload = length.checked_sub(upper.at).ok_or(OutboundError::Malformed)?;
    let back = back(payload);
    // AH has nothing there, and links no call that does nothing.
    if back > 0 {
        room.extend(back)?;
    }
    let packet = room.finish()?;
    *packet.get_mut(upper.named_at).ok_or(OutboundError::Malformed)? = protocol;
    Ok((Place { upper, payload, is_on_its_way }, packet))
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
