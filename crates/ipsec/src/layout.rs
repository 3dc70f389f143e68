//! Where AH and ESP are in the chain of extension headers.

use sixlock_ipv6::extension::{Chain, Extension, Upper};
use sixlock_ipv6::{Header, ah, esp, next_header};

use crate::transform::Sending;
use crate::{Mode, OutboundError, PacketBuffer, Protocol, tunnel};

/// The result of one walk along the extension headers of a packet.
pub(crate) struct Layout {
    /// The first AH or ESP, or else the upper-layer header: what policy sees before the packet is opened.
    pub(crate) visible: Upper,
    /// Whether a routing header before it has segments left.
    pub(crate) has_segments_left: bool,
    /// Where a header goes in transport mode: after the headers that are for routers, before the destination options that are for the
    /// final destination only
    /// ([RFC 4302 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4302#section-3.1.1),
    /// [RFC 4303 section 3.1.1](https://www.rfc-editor.org/rfc/rfc4303#section-3.1.1)).
    insertion: Upper,
}

impl Layout {
    /// Walks along the headers of `packet`. Returns `None` if they do not parse as far as the first AH or ESP.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let mut chain = Chain::new(packet);
        let mut layout = Self { visible: chain.upper(), has_segments_left: false, insertion: chain.upper() };
        while layout.visible.protocol != next_header::AH
            && let Some(header) = chain.next()
        {
            let Extension { kind, at, .. } = header.ok()?;
            layout.visible = chain.upper();
            if matches!(kind, next_header::HOP_BY_HOP | next_header::ROUTING | next_header::FRAGMENT) {
                layout.insertion = layout.visible;
                layout.has_segments_left |= kind == next_header::ROUTING && *packet.get(at + 3)? != 0;
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

/// The upper-layer header of `packet`, after all extension headers, AH included. Returns `None` if these do not parse.
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

/// Where a header was inserted.
pub(crate) struct Inserted {
    /// The place of the header, and the protocol that follows it.
    pub(crate) upper: Upper,
    /// The length of the payload after it.
    pub(crate) payload: usize,
    /// Whether a routing header before it has segments left.
    pub(crate) has_segments_left: bool,
}

/// Inserts `front` bytes for the header of `protocol` before the payload, and `back` bytes after it, a function of the payload's length.
/// Returns the place of the header, and the packet, whose other headers are updated.
#[inline(always)]
pub(crate) fn insert_header<'a>(
    buffer: &'a mut PacketBuffer<'_>,
    sending: &Sending,
    protocol: u8,
    front: usize,
    back: impl FnOnce(usize) -> usize,
) -> Result<(Inserted, &'a mut [u8]), OutboundError> {
    let length = buffer.len();
    let (upper, length, has_segments_left) = match &sending.mode {
        Mode::Transport => {
            let layout = Layout::of(buffer.packet());
            let Some(layout) = &layout else { return Err(OutboundError::HeaderChain) };
            let upper = layout.insertion()?;
            buffer.insert(upper.at, front)?;
            (upper, length, layout.has_segments_left)
        }
        Mode::Tunnel { local, remote } => {
            (tunnel::encapsulate(buffer, front, local, remote)?, length + Header::LEN, false)
        }
    };
    let payload = length.checked_sub(upper.at).ok_or(OutboundError::Malformed)?;
    let back = back(payload);
    // AH has no trailer: the call would be linked for nothing.
    if back > 0 {
        buffer.append(back)?;
    }
    let packet = buffer.finish()?;
    *packet.get_mut(upper.named_at).ok_or(OutboundError::Malformed)? = protocol;
    Ok((Inserted { upper, payload, has_segments_left }, packet))
}

/// The protocol, security parameters index and sequence number of the header at `found`, which are not authenticated yet.
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
