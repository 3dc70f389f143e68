use sixlock_base::Eui64;

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
    /// Bytes of the packet that they stand for. The rest follows uncompressed.
    pub consumed: usize,
    /// Nothing follows in the same frame: as much of the payload is compressed as fits, up to a multiple of 8 bytes, and the rest
    /// goes into further fragments.
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

/// Compresses the headers of `packet`, a whole IPv6 packet, into `out`, each with its smallest encoding. Headers that cannot be
/// compressed stay as they are.
///
/// AH, ESP and the payload of UDP stay as they are, too: [`compress_with`] compresses them.
pub fn compress(packet: &[u8], link: LinkAddresses, out: &mut [u8]) -> Result<Compressed, Error> {
    compress_with(&(), packet, link, out)
}

/// [`compress`] with the context that both ends of the link share.
pub fn compress_with(
    context: &impl Context,
    packet: &[u8],
    link: LinkAddresses,
    out: &mut [u8],
) -> Result<Compressed, Error> {
    let mut compressor = Compressor {
        context,
        packet,
        out: Writer::new(out),
        at: 0,
        receiver: &link.destination,
        encapsulating: link.into(),
        ipv6_headers: 0,
        innermost: packet.first_chunk().ok_or(Error::NotIpv6)?,
        is_closed: false,
    };
    let mut next = Some(compressor.classify(protocol::IPV6).ok_or(Error::NotIpv6)?);
    while let Some(header) = next {
        next = match header {
            Next::Ipv6 => compressor.ipv6()?,
            Next::Extension { id, length, padding } => compressor.extension(id, length, padding)?,
            Next::Ipsec(header) => compressor.ipsec(&header)?,
            Next::Udp => compressor.udp()?,
            Next::Icmpv6 => compressor.icmpv6()?,
        };
    }
    let Compressor { out, at, is_closed, .. } = compressor;
    Ok(Compressed { written: out.written()?, consumed: at, is_closed })
}

/// Headers while they are compressed. The method for a kind of header returns the next one, if that can be compressed.
struct Compressor<'a, C> {
    context: &'a C,
    packet: &'a [u8],
    out: Writer<'a>,
    /// How much of the packet was compressed.
    at: usize,
    receiver: &'a Eui64,
    encapsulating: Encapsulating,
    ipv6_headers: usize,
    /// The innermost IPv6 header.
    innermost: &'a [u8; IPV6_LEN],
    is_closed: bool,
}

impl<'a, C: Context> Compressor<'a, C> {
    fn payloads(&self) -> Option<PayloadCompression> {
        self.context.payloads_to(*self.receiver)
    }

    fn rest(&self) -> Result<&'a [u8], Error> {
        self.packet.get(self.at..).ok_or(Error::NotIpv6)
    }

    /// Source and destination of the innermost packet.
    fn ends(&self) -> &'a [u8; 32] {
        self.innermost[8..].first_chunk().unwrap_or(&[0; 32])
    }

    fn ipv6(&mut self) -> Result<Option<Next<'a>>, Error> {
        let header: &[u8; IPV6_LEN] = self.rest()?.first_chunk().ok_or(Error::NotIpv6)?;
        if self.ipv6_headers > 0 {
            self.out.put(&[nhc::EXTENSION | nhc::EID_IPV6 << 1]);
        }
        self.ipv6_headers += 1;
        self.innermost = header;
        self.at += IPV6_LEN;
        let next = self.classify(header[NEXT_HEADER_AT]);
        let contexts = self.context.addresses();
        iphc::emit(header, next.is_some(), &self.encapsulating, contexts, &mut self.out);
        self.encapsulating = iphc::encapsulating(header);
        Ok(next)
    }

    fn extension(&mut self, id: u8, length: usize, padding: usize) -> Result<Option<Next<'a>>, Error> {
        let header = self.rest()?.get(..length).ok_or(Error::NotIpv6)?;
        let [next_header, length_or_reserved, body @ ..] = header else { return Err(Error::NotIpv6) };
        self.at += length;
        let next = if later_fragment(id, header) { None } else { self.classify(*next_header) };
        let start = self.out.at();
        match next {
            Some(_) => self.out.put(&[nhc::EXTENSION | id << 1 | nhc::NEXT_HEADER_COMPRESSED]),
            None => self.out.put(&[nhc::EXTENSION | id << 1, *next_header]),
        }
        if matches!(self.payloads(), Some(PayloadCompression::Ghc))
            && ghc::emit_extension(self.ends(), id, start, body, padding, &mut self.out)
        {
            return Ok(next);
        }
        let body = &body[..body.len() - padding];
        self.out.put(&[if is_fragment(id) { *length_or_reserved } else { body.len() as u8 }]);
        self.out.put(body);
        Ok(next)
    }

    fn ipsec(&mut self, header: &ipsec::Header<'_>) -> Result<Option<Next<'a>>, Error> {
        let rest = self.rest()?;
        let length = header.length();
        self.at += length;
        let next = match (header.kind(), rest.first()) {
            (Kind::Ah, Some(&next_header)) => self.classify(next_header),
            // What ESP carries is encrypted.
            _ => None,
        };
        header.emit(self.context, self.ends(), next.is_some(), &mut self.out);
        self.out.put(rest.get(header.fields_len()..length).ok_or(Error::NotIpv6)?);
        Ok(next)
    }

    fn udp(&mut self) -> Result<Option<Next<'a>>, Error> {
        let (header, payload) = self.rest()?.split_first_chunk().ok_or(Error::NotIpv6)?;
        let start = self.out.at();
        nhc::emit_udp(nhc::UDP, header, &mut self.out);
        self.at += UDP_LEN;
        match self.payloads() {
            Some(PayloadCompression::Lithe) => {
                if let Some(consumed) = lithe::emit(payload, &mut self.out) {
                    self.out.exchange(start, nhc::UDP, nhc::UDP_LITHE);
                    self.at += consumed;
                }
            }
            Some(PayloadCompression::Ghc) => {
                let free = Some(self.out.free());
                if self.payload(free).is_some() {
                    self.out.exchange(start, nhc::UDP, nhc::UDP_GHC);
                }
            }
            None => {}
        }
        Ok(None)
    }

    fn icmpv6(&mut self) -> Result<Option<Next<'a>>, Error> {
        // Asked again, so that nothing of this is linked where it is never so.
        if !matches!(self.payloads(), Some(PayloadCompression::Ghc)) {
            return Err(Error::NotIpv6);
        }
        self.out.put(&[nhc::ICMPV6_GHC]);
        self.payload(None).ok_or(Error::BufferTooSmall)?;
        Ok(None)
    }

    /// Compresses the rest of the packet, or as much of it as fits into a fragment. Returns `None`, and writes nothing, unless this is
    /// more than the `free` bytes that fit uncompressed.
    fn payload(&mut self, free: Option<usize>) -> Option<()> {
        let (start, mut end) = (self.out.at(), self.packet.len());
        loop {
            match ghc::compress(self.ends(), self.packet.get(self.at..end)?, &mut self.out) {
                Ok(()) => break,
                Err(covered) => {
                    self.out.truncate(start);
                    end = (self.at + covered).min(end - 1) / 8 * 8;
                }
            }
        }
        let covered = end.checked_sub(self.at)?;
        let is_better = match free {
            Some(_) if end == self.packet.len() => self.out.at() - start < covered,
            Some(free) => covered > free,
            None => covered > 0,
        };
        if !is_better {
            self.out.truncate(start);
            return None;
        }
        (self.at, self.is_closed) = (end, true);
        Some(())
    }

    /// Whether, and as what, the header `kind` that comes next can be compressed: its length must be the one that
    /// the receiver will compute.
    fn classify(&self, kind: u8) -> Option<Next<'a>> {
        let rest = self.packet.get(self.at..)?;
        if self.context.is_stateless() && self.ipv6_headers > 0 && kind != protocol::UDP {
            return None;
        }
        match kind {
            protocol::IPV6 => {
                let is_ipv6 = rest.first()? >> 4 == 6
                    && length_at(rest, PAYLOAD_LENGTH_AT)? == rest.len().checked_sub(IPV6_LEN)?
                    && self.ipv6_headers < MAX_IPV6_HEADERS;
                is_ipv6.then_some(Next::Ipv6)
            }
            protocol::UDP => {
                let length = length_at(rest, UDP_LENGTH_AT)?;
                (length >= UDP_LEN && length == rest.len()).then_some(Next::Udp)
            }
            protocol::ICMPV6 if matches!(self.payloads(), Some(PayloadCompression::Ghc)) => {
                (!rest.is_empty()).then_some(Next::Icmpv6)
            }
            protocol::AH => ipsec::Header::parse(self.context, Kind::Ah, rest).map(Next::Ipsec),
            protocol::ESP => ipsec::Header::parse(self.context, Kind::Esp, rest).map(Next::Ipsec),
            kind => extension(kind, rest),
        }
    }
}

/// The 16-bit length that stands at `at`.
fn length_at(header: &[u8], at: usize) -> Option<usize> {
    let bytes = header.get(at..)?.first_chunk()?;
    Some(usize::from(u16::from_be_bytes(*bytes)))
}

/// The extension header `kind` at the beginning of `rest`, if it can be compressed.
fn extension(kind: u8, rest: &[u8]) -> Option<Next<'_>> {
    let id = nhc::extension_id(kind)?;
    let length = if is_fragment(id) { 8 } else { (usize::from(*rest.get(1)?) + 1) * 8 };
    let body = rest.get(2..length)?;
    let padding = match kind {
        protocol::HOP_BY_HOP | protocol::DESTINATION => nhc::trailing_padding(body),
        _ => 0,
    };
    (body.len() - padding <= usize::from(u8::MAX)).then_some(Next::Extension { id, length, padding })
}

fn is_fragment(id: u8) -> bool {
    nhc::extension_protocol(id) == Some(protocol::FRAGMENT)
}

/// Whether `header` begins a fragment other than the first, which no header follows.
fn later_fragment(id: u8, header: &[u8]) -> bool {
    is_fragment(id) && matches!(header, [_, _, high, low, ..] if *high != 0 || low & 0xf8 != 0)
}
