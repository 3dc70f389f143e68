//! The compressed IPv6 header ([RFC 6282 section 3.1](https://www.rfc-editor.org/rfc/rfc6282#section-3.1)).

use crate::Error;
use crate::address::{
    Encapsulating, Mode, context_of_destination, emit_multicast, emit_source, emit_unicast, parse_multicast,
    parse_source, parse_unicast,
};
use crate::contexts::AddressContexts;
use crate::cursor::{Reader, Writer};

/// Length of an IPv6 header in bytes.
pub(crate) const IPV6_LEN: usize = 40;
/// Where its payload length stands.
pub(crate) const PAYLOAD_LENGTH_AT: usize = 4;
/// Where its next header stands.
pub(crate) const NEXT_HEADER_AT: usize = 6;
const HOP_LIMIT_AT: usize = 7;

const DISPATCH: u8 = 0b0110_0000;
const DISPATCH_MASK: u8 = 0b1110_0000;
// The first byte.
const NEXT_HEADER_COMPRESSED: u8 = 1 << 2;
// The second byte.
const CONTEXT_IDS: u8 = 1 << 7;
const SOURCE_CONTEXT: u8 = 1 << 6;
const SOURCE_MODE_SHIFT: u8 = 4;
const MULTICAST: u8 = 1 << 3;
const DESTINATION_CONTEXT: u8 = 1 << 2;

/// Compresses `header`, whose next header is compressed too or is carried as it is; its addresses statelessly, or by these contexts.
#[inline(never)]
pub(crate) fn emit<A: AddressContexts>(
    header: &[u8; IPV6_LEN],
    next_header_compressed: bool,
    encapsulating: &Encapsulating,
    contexts: A,
    out: &mut Writer<'_>,
) {
    let start = out.at();
    out.put(&[0, 0]);
    let ids = if A::MANY { context_ids(header, contexts) } else { 0 };
    if ids != 0 {
        out.put(&[ids]);
    }
    let mut first = DISPATCH | emit_traffic(header, out) << 3;
    if next_header_compressed {
        first |= NEXT_HEADER_COMPRESSED;
    } else {
        out.put(&[header[NEXT_HEADER_AT]]);
    }
    first |= match header[HOP_LIMIT_AT] {
        1 => 1,
        64 => 2,
        255 => 3,
        hop_limit => {
            out.put(&[hop_limit]);
            0
        }
    };
    let (addresses, _) = header[8..].as_chunks();
    let (source, destination) = (&addresses[0], &addresses[1]);
    let mode = emit_source(source, &encapsulating.source, contexts, out);
    let mut second = mode.mode << SOURCE_MODE_SHIFT;
    if ids != 0 {
        second |= CONTEXT_IDS;
    }
    if mode.context {
        second |= SOURCE_CONTEXT;
    }
    let mode = if destination[0] == 0xff {
        second |= MULTICAST;
        emit_multicast(destination, contexts, out)
    } else {
        emit_unicast(destination, &encapsulating.destination, contexts, out)
    };
    second |= mode.mode;
    if mode.context {
        second |= DESTINATION_CONTEXT;
    }
    out.patch(start, &[first, second]);
}

/// The ids of the contexts by which the addresses are compressed.
fn context_ids(header: &[u8; IPV6_LEN], contexts: impl AddressContexts) -> u8 {
    let (addresses, _) = header[8..].as_chunks::<16>();
    let of_source = contexts.context_of(&addresses[0][..8]);
    let of_destination = context_of_destination(&addresses[1], contexts);
    of_source.unwrap_or(0) << 4 | of_destination.unwrap_or(0)
}

/// Writes traffic class and flow label, as far as they are not zero, and returns TF.
fn emit_traffic(header: &[u8; IPV6_LEN], out: &mut Writer<'_>) -> u8 {
    let traffic_class = header[0] << 4 | header[1] >> 4;
    // Congestion notification goes before the differentiated services.
    let class = traffic_class.rotate_right(2);
    let flow = [header[1] & 0x0f, header[2], header[3]];
    let [high, middle, low] = flow;
    match (flow, class) {
        ([0, 0, 0], 0) => 3,
        ([0, 0, 0], _) => {
            out.put(&[class]);
            2
        }
        _ if class & 0x3f == 0 => {
            out.put(&[class | high, middle, low]);
            1
        }
        _ => {
            out.put(&[class, high, middle, low]);
            0
        }
    }
}

/// Decompresses an IPv6 header into `header`, which is all zero, and whose payload length is zero still then; whether its next header
/// is compressed too.
pub(crate) fn parse(
    reader: &mut Reader<'_>,
    encapsulating: &Encapsulating,
    known: impl AddressContexts,
    header: &mut [u8; IPV6_LEN],
) -> Result<bool, Error> {
    let [first, second] = reader.array();
    reader.consumed()?;
    if first & DISPATCH_MASK != DISPATCH {
        return Err(Error::UnknownDispatch);
    }
    let contexts = if second & CONTEXT_IDS != 0 { reader.byte() } else { 0 };
    let (class, flow) = match first >> 3 & 3 {
        0 => {
            let [class, flow @ ..] = reader.array::<4>();
            (class, flow)
        }
        1 => {
            let [high, middle, low] = reader.array();
            (high & 0xc0, [high, middle, low])
        }
        2 => (reader.byte(), [0; 3]),
        _ => (0, [0; 3]),
    };
    let traffic_class = class.rotate_left(2);
    header[0] = 0x60 | traffic_class >> 4;
    header[1] = traffic_class << 4 | flow[0] & 0x0f;
    header[2] = flow[1];
    header[3] = flow[2];
    let next_header_compressed = first & NEXT_HEADER_COMPRESSED != 0;
    if !next_header_compressed {
        header[NEXT_HEADER_AT] = reader.byte();
    }
    header[HOP_LIMIT_AT] = match first & 3 {
        0 => reader.byte(),
        1 => 1,
        2 => 64,
        _ => 255,
    };
    let (addresses, _) = header[8..].as_chunks_mut();
    let [source, destination] = addresses else { return Err(Error::Length) };
    let mode = Mode { context: second & SOURCE_CONTEXT != 0, mode: second >> SOURCE_MODE_SHIFT & 3 };
    parse_source(mode, known, contexts >> 4, &encapsulating.source, reader, source)?;
    let mode = Mode { context: second & DESTINATION_CONTEXT != 0, mode: second & 3 };
    if second & MULTICAST != 0 {
        parse_multicast(mode, known, contexts & 0x0f, reader, destination)?;
    } else {
        parse_unicast(mode, known, contexts & 0x0f, &encapsulating.destination, reader, destination)?;
    }
    Ok(next_header_compressed)
}

/// The interface identifiers that `header` lends to an IPv6 header inside of it.
pub(crate) fn encapsulating(header: &[u8; IPV6_LEN]) -> Encapsulating {
    let (mut source, mut destination) = ([0; 8], [0; 8]);
    source.copy_from_slice(&header[16..24]);
    destination.copy_from_slice(&header[32..]);
    Encapsulating { source, destination }
}
