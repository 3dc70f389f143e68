use crate::address::Encapsulating;
use crate::cursor::Writer;
use crate::iphc::{self, IPV6_LEN, NEXT_HEADER_AT, PAYLOAD_LENGTH_AT};
use crate::ipsec::{self, Context, Kind};
use crate::nhc::{self, UDP_LEN, UDP_LENGTH_AT, protocol};
use crate::{Error, LinkAddresses, MAX_IPV6_HEADERS, PayloadCompression, ghc, lithe};

/// What [`compress`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Bytes of compressed headers written.
    pub written: usize,
    /// Bytes of the packet that they stand for; what lies behind follows as it is.
    pub consumed: usize,
    /// Nothing follows in the same frame: the payload is compressed as far as there was room, up to a multiple of 8 bytes, and
    /// what lies behind goes into further fragments.
    pub is_closed: bool,
}

/// A header that can be compressed.
enum Next<'a> {
    Ipv6,
    Udp,
    Icmpv6,
    Extension { id: u8, length: usize, padding: usize },
    Ipsec(ipsec::Header<'a>),
}

/// Compresses the headers of `packet`, a whole IPv6 packet, as far as they can be, into `out`.
///
/// Each choice made is the smallest encoding there is.
///
/// AH and ESP and what UDP carries go as they are: [`compress_with`] compresses them too.
pub fn compress(packet: &[u8], link: LinkAddresses, out: &mut [u8]) -> Result<Compressed, Error> {
    compress_with(&(), packet, link, out)
}

/// The same with what both ends of the link know.
pub fn compress_with(
    context: &impl Context,
    packet: &[u8],
    link: LinkAddresses,
    out: &mut [u8],
) -> Result<Compressed, Error> {
    let mut out = Writer::new(out);
    let mut encapsulating = Encapsulating::from(link);
    let mut ipv6_headers = 0;
    let mut at = 0;
    let mut next = Some(classify(context, packet, 0, protocol::IPV6, 0).ok_or(Error::NotIpv6)?);
    let mut ends = &[0; 32];
    let mut is_closed = false;
    while let Some(current) = next {
        let rest = packet.get(at..).ok_or(Error::NotIpv6)?;
        match current {
            Next::Ipv6 => {
                let header: &[u8; IPV6_LEN] = rest.first_chunk().ok_or(Error::NotIpv6)?;
                ends = header[8..].first_chunk().unwrap_or(ends);
                if ipv6_headers > 0 {
                    out.put(&[nhc::EXTENSION | nhc::EID_IPV6 << 1]);
                }
                ipv6_headers += 1;
                at += IPV6_LEN;
                next = classify(context, packet, at, header[NEXT_HEADER_AT], ipv6_headers);
                iphc::emit(header, next.is_some(), &encapsulating, &mut out);
                encapsulating = iphc::encapsulating(header);
            }
            Next::Extension { id, length, padding } => {
                let header = rest.get(..length).ok_or(Error::NotIpv6)?;
                let [next_header, length_or_reserved, body @ ..] = header else { return Err(Error::NotIpv6) };
                at += length;
                next = if later_fragment(id, header) {
                    None
                } else {
                    classify(context, packet, at, *next_header, ipv6_headers)
                };
                let start = out.at();
                match next {
                    Some(_) => out.put(&[nhc::EXTENSION | id << 1 | nhc::NEXT_HEADER_COMPRESSED]),
                    None => out.put(&[nhc::EXTENSION | id << 1, *next_header]),
                }
                if matches!(context.payloads(), Some(PayloadCompression::Ghc))
                    && ghc::emit_extension(ends, id, start, body, padding, &mut out)
                {
                    continue;
                }
                let body = &body[..body.len() - padding];
                out.put(&[if is_fragment(id) { *length_or_reserved } else { body.len() as u8 }]);
                out.put(body);
            }
            Next::Ipsec(header) => {
                let length = header.length();
                let behind = at + length;
                next = match (header.kind(), rest.first()) {
                    (Kind::Ah, Some(&next_header)) => {
                        classify(context, packet, behind, next_header, ipv6_headers)
                    }
                    // What ESP carries is encrypted.
                    _ => None,
                };
                header.emit(context, ends, next.is_some(), &mut out);
                out.put(rest.get(header.fields_len()..length).ok_or(Error::NotIpv6)?);
                at = behind;
            }
            Next::Udp => {
                let (header, payload) = rest.split_first_chunk().ok_or(Error::NotIpv6)?;
                let start = out.at();
                nhc::emit_udp(nhc::UDP, header, &mut out);
                at += UDP_LEN;
                next = None;
                match context.payloads() {
                    Some(PayloadCompression::Lithe) => {
                        if let Some(consumed) = lithe::emit(payload, &mut out) {
                            out.exchange(start, nhc::UDP, nhc::UDP_LITHE);
                            at += consumed;
                        }
                    }
                    Some(PayloadCompression::Ghc) => {
                        let room = Some(out.room());
                        if let Some(end) = compress_rest(ends, packet, at, room, &mut out) {
                            out.exchange(start, nhc::UDP, nhc::UDP_GHC);
                            (at, is_closed) = (end, true);
                        }
                    }
                    None => {}
                }
            }
            Next::Icmpv6 => {
                // Asked again, so that nothing of this is linked where it is never so.
                if !matches!(context.payloads(), Some(PayloadCompression::Ghc)) {
                    return Err(Error::NotIpv6);
                }
                out.put(&[nhc::ICMPV6_GHC]);
                at = compress_rest(ends, packet, at, None, &mut out).ok_or(Error::NoRoom)?;
                (next, is_closed) = (None, true);
            }
        }
    }
    Ok(Compressed { written: out.written()?, consumed: at, is_closed })
}

/// Compresses what stands from `at` on; if there is no room for all of it, as far as a fragment may go. Returns where that ends.
/// None if as much would fit as it is, in `room` bytes or fewer, and nothing is written then.
fn compress_rest(
    ends: &[u8; 32],
    packet: &[u8],
    at: usize,
    room: Option<usize>,
    out: &mut Writer<'_>,
) -> Option<usize> {
    let (start, mut end) = (out.at(), packet.len());
    loop {
        match ghc::compress(ends, packet.get(at..end)?, out) {
            Ok(()) => break,
            Err(covered) => {
                out.truncate(start);
                end = (at + covered).min(end - 1) / 8 * 8;
            }
        }
    }
    let covered = end.checked_sub(at)?;
    let is_better = match room {
        Some(_) if end == packet.len() => out.at() - start < covered,
        Some(room) => covered > room,
        None => covered > 0,
    };
    if !is_better {
        out.truncate(start);
    }
    is_better.then_some(end)
}

/// Whether, and as what, the header `kind` at `at` can be compressed: its length must be the one that
/// the receiver will compute.
fn classify<'a>(
    context: &impl Context,
    packet: &'a [u8],
    at: usize,
    kind: u8,
    ipv6_headers: usize,
) -> Option<Next<'a>> {
    let rest = packet.get(at..)?;
    let length_at = |at: usize| {
        let bytes = rest.get(at..)?.first_chunk()?;
        Some(usize::from(u16::from_be_bytes(*bytes)))
    };
    match kind {
        protocol::IPV6 => {
            let is_ipv6 = rest.first()? >> 4 == 6
                && length_at(PAYLOAD_LENGTH_AT)? == rest.len().checked_sub(IPV6_LEN)?
                && ipv6_headers < MAX_IPV6_HEADERS;
            is_ipv6.then_some(Next::Ipv6)
        }
        protocol::UDP => {
            let length = length_at(UDP_LENGTH_AT)?;
            (length >= UDP_LEN && length == rest.len()).then_some(Next::Udp)
        }
        protocol::ICMPV6 if matches!(context.payloads(), Some(PayloadCompression::Ghc)) => {
            (!rest.is_empty()).then_some(Next::Icmpv6)
        }
        protocol::AH => ipsec::Header::parse(context, Kind::Ah, rest).map(Next::Ipsec),
        protocol::ESP => ipsec::Header::parse(context, Kind::Esp, rest).map(Next::Ipsec),
        kind => {
            let id = nhc::extension_id(kind)?;
            let length = if is_fragment(id) { 8 } else { (usize::from(*rest.get(1)?) + 1) * 8 };
            let body = rest.get(2..length)?;
            let padding = match kind {
                protocol::HOP_BY_HOP | protocol::DESTINATION => nhc::trailing_padding(body),
                _ => 0,
            };
            (body.len() - padding <= usize::from(u8::MAX)).then_some(Next::Extension { id, length, padding })
        }
    }
}

fn is_fragment(id: u8) -> bool {
    nhc::extension_protocol(id) == Some(protocol::FRAGMENT)
}

/// Whether what follows `header` is the middle of something and no header.
fn later_fragment(id: u8, header: &[u8]) -> bool {
    is_fragment(id) && matches!(header, [_, _, high, low, ..] if *high != 0 || low & 0xf8 != 0)
}
