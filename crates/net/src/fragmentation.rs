//! Packets taken apart by who sends them ([RFC 8200 section 4.5](https://www.rfc-editor.org/rfc/rfc8200#section-4.5)).

use sixlock_ipv6::extension::Chain;
use sixlock_ipv6::{Header, fragment, next_header};

/// The longest fragment: the least MTU of IPv6.
const MTU: usize = 1280;

/// Calls `send` with the fragments of `packet`, each at most 1,280 bytes and at most `limit`. What they have in common should not
/// be easy to guess ([RFC 7739 section 1](https://www.rfc-editor.org/rfc/rfc7739#section-1)). Returns false once `send` does, and
/// for what is no packet of which fragments can be made.
pub fn fragment(
    packet: &[u8],
    limit: usize,
    identification: u32,
    mut send: impl FnMut(&[u8]) -> bool,
) -> bool {
    let mut scratch = [0; MTU];
    let (at, named_at) = place(packet);
    let limit = limit.min(MTU);
    let room = limit.saturating_sub(at + fragment::Header::LEN) / 8 * 8;
    let (Some((before, data)), Some(&protocol)) = (packet.split_at_checked(at), packet.get(named_at)) else {
        return false;
    };
    if room == 0 {
        return false;
    }
    let mut offset = 0usize;
    for piece in data.chunks(room) {
        let more = offset + piece.len() < data.len();
        let Ok(place) = u16::try_from(offset) else { return false };
        let header = fragment::Header { next_header: protocol, offset: place, more, identification };
        let len = at + fragment::Header::LEN + piece.len();
        let Some(out) = scratch.get_mut(..len) else { return false };
        let (front, behind) = out.split_at_mut(at);
        front.copy_from_slice(before);
        let Some(field) = front.get_mut(named_at) else { return false };
        *field = next_header::FRAGMENT;
        let payload = (len - Header::LEN) as u16;
        let Some(field) = front.get_mut(Header::PAYLOAD_LENGTH_AT..).and_then(|rest| rest.first_chunk_mut())
        else {
            return false;
        };
        *field = payload.to_be_bytes();
        let Some((head, body)) = behind.split_at_mut_checked(fragment::Header::LEN) else { return false };
        if header.emit(head).is_err() {
            return false;
        }
        body.copy_from_slice(piece);
        if !send(out) {
            return false;
        }
        offset += piece.len();
    }
    true
}

/// Where the fragment header goes, behind the headers that nodes on the way process, and where stands the field that names it.
fn place(packet: &[u8]) -> (usize, usize) {
    let mut place = (Header::LEN, Header::NEXT_HEADER_AT);
    for header in Chain::new(packet).map_while(Result::ok) {
        match header.kind {
            next_header::HOP_BY_HOP | next_header::ROUTING => place = (header.at + header.length, header.at),
            next_header::DESTINATION => {}
            _ => break,
        }
    }
    place
}
