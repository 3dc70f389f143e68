//! A packet in frames ([RFC 4944 section 5.3](https://www.rfc-editor.org/rfc/rfc4944#section-5.3)).

use sixlock_sixlowpan::ipsec::Context;
use sixlock_sixlowpan::{Compressed, Error, FragmentHeader, LinkAddresses, UNCOMPRESSED, compress_with};

/// Least payload a frame must carry: a fragment header and eight bytes.
pub const MIN_CAPACITY: usize = FragmentHeader::SUBSEQUENT_LEN + 8;

/// Longest frame of IEEE 802.15.4, in bytes.
const MAX_FRAME: usize = 127;

/// The part of `packet` that begins at a multiple of 8 bytes and goes into one frame's payload.
pub(crate) struct Part {
    /// Length of the payload.
    pub(crate) len: usize,
    /// Where the next part begins.
    pub(crate) end: usize,
}

/// Writes the payload of the frame that carries `packet` from `offset` on, with as much of it as fits `out`.
pub(crate) fn emit_part(
    context: &impl Context,
    packet: &[u8],
    link: LinkAddresses,
    offset: usize,
    tag: u16,
    out: &mut [u8],
) -> Option<Part> {
    if offset == 0
        && let Some(part) = emit_whole(context, packet, link, out)
    {
        return Some(part);
    }
    let datagram_size = u16::try_from(packet.len()).ok()?;
    let header = FragmentHeader { datagram_size, tag, offset: u16::try_from(offset).ok()? };
    let header_len = header.emit(out).ok()?;
    let out = out.get_mut(header_len..)?;
    let (written, consumed, end) = if offset > 0 {
        (0, offset, end_of_fragment(packet, offset, out.len()))
    } else {
        match front(context, packet, link, out).map(|front| filled(packet, front, out.len())) {
            Ok(Some(filled)) => filled,
            // Compressed headers are never split; uncompressed ones may be.
            _ => filled(packet, uncompressed(out).ok()?, out.len())?,
        }
    };
    let out = out.get_mut(written..)?;
    let verbatim = packet.get(consumed..end)?;
    out.get_mut(..verbatim.len())?.copy_from_slice(verbatim);
    (end > offset).then_some(Part { len: header_len + written + verbatim.len(), end })
}

/// Writes what a packet begins with on the link: its headers compressed, or that they are not, if it is too short for that.
fn front(
    context: &impl Context,
    packet: &[u8],
    link: LinkAddresses,
    out: &mut [u8],
) -> Result<Compressed, Error> {
    if packet.len() < context.compress_from() {
        uncompressed(out)
    } else {
        compress_with(context, packet, link, out)
    }
}

/// Writes that the headers of a packet are not compressed.
fn uncompressed(out: &mut [u8]) -> Result<Compressed, Error> {
    *out.first_mut().ok_or(Error::BufferTooSmall)? = UNCOMPRESSED;
    Ok(Compressed { written: 1, consumed: 0, is_closed: false })
}

/// Where a fragment ends that carries `room` bytes of the packet from `from` on: offsets count the uncompressed packet, in units of
/// 8 bytes.
fn end_of_fragment(packet: &[u8], from: usize, room: usize) -> usize {
    ((from + room) / 8 * 8).min(packet.len())
}

/// How many bytes were written, of how much of the packet, and where a fragment ends that begins with them; none if there is
/// no room to end it.
fn filled(packet: &[u8], compressed: Compressed, room: usize) -> Option<(usize, usize, usize)> {
    let Compressed { written, consumed, is_closed } = compressed;
    let room = if is_closed { 0 } else { room.checked_sub(written)? };
    let end = end_of_fragment(packet, consumed, room);
    (end >= consumed).then_some((written, consumed, end))
}

/// Writes all of `packet` without a fragment header, if it fits.
fn emit_whole(context: &impl Context, packet: &[u8], link: LinkAddresses, out: &mut [u8]) -> Option<Part> {
    let compressed = front(context, packet, link, out).ok()?;
    let verbatim = packet.get(compressed.consumed..)?;
    if compressed.is_closed && !verbatim.is_empty() {
        return None;
    }
    let len = compressed.written + verbatim.len();
    out.get_mut(compressed.written..len)?.copy_from_slice(verbatim);
    Some(Part { len, end: packet.len() })
}

/// The lengths of the payloads that carry `packet` in frames of `capacity` bytes of payload.
///
/// Payloads are compressed as the ends of the link do, and AH and ESP are not.
pub fn fragment_sizes(
    context: impl Context,
    packet: &[u8],
    link: LinkAddresses,
    capacity: usize,
) -> impl Iterator<Item = usize> {
    let mut offset = 0;
    core::iter::from_fn(move || {
        let mut frame = [0; MAX_FRAME];
        let out = frame.get_mut(..capacity.min(MAX_FRAME))?;
        if offset >= packet.len() {
            return None;
        }
        let part = emit_part(&context, packet, link, offset, 0, out)?;
        offset = part.end;
        Some(part.len)
    })
}
