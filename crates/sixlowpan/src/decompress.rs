use crate::address::Encapsulating;
use crate::contexts::AddressContexts;
use crate::cursor::{Reader, Writer};
use crate::ghc::End;
use crate::iphc::{self, IPV6_LEN, NEXT_HEADER_AT, PAYLOAD_LENGTH_AT};
use crate::ipsec::{self, Context, Kind};
use crate::nhc::{self, UDP_LEN, UDP_LENGTH_AT, protocol};
use crate::{Error, LinkAddresses, MAX_IPV6_HEADERS, PayloadCompression, UNCOMPRESSED, ghc, lithe};

/// What [`decompress`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// Bytes of the payload that were headers; the rest is part of the packet as it is.
    pub consumed: usize,
    /// Bytes of IPv6 packet written.
    pub written: usize,
    /// The UDP checksum that is to be computed when the packet is complete.
    pub elided_checksum: Option<ElidedChecksum>,
}

/// Where a UDP checksum is missing. Whoever restores the packet computes it
/// ([RFC 6282 section 4.3.2](https://www.rfc-editor.org/rfc/rfc6282#section-4.3.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElidedChecksum {
    /// Where the IPv6 header stands whose addresses the checksum covers.
    pub ipv6_at: u16,
    /// Where the UDP header stands.
    pub udp_at: u16,
}

/// Restores the headers of `payload`, which begins with a dispatch byte, into `out`.
///
/// `datagram_size` is the one of the fragment header; without one, the payload is a whole packet.
pub fn decompress(
    payload: &[u8],
    link: LinkAddresses,
    datagram_size: Option<u16>,
    out: &mut [u8],
) -> Result<Decompressed, Error> {
    decompress_with(&(), payload, link, datagram_size, out)
}

/// [`decompress`] with the context that both ends of the link share.
pub fn decompress_with(
    context: &impl Context,
    payload: &[u8],
    link: LinkAddresses,
    datagram_size: Option<u16>,
    out: &mut [u8],
) -> Result<Decompressed, Error> {
    if payload.first() == Some(&UNCOMPRESSED) {
        return Ok(Decompressed { consumed: 1, written: 0, elided_checksum: None });
    }
    let mut headers = Headers {
        reader: Reader::new(payload),
        out: Writer::new(out),
        encapsulating: link.into(),
        ipv6: [0; MAX_IPV6_HEADERS],
        ipv6_headers: 0,
        udp: None,
        record: None,
        elided_checksum: None,
        routed_or_fragmented: false,
        ends: [0; 32],
    };
    let mut elided = headers.ipv6(context.addresses())?;
    while let Some(at) = elided {
        let nhc = headers.reader.byte();
        headers.reader.consumed()?;
        let id = nhc >> 1 & 7;
        let kind;
        (kind, elided) = if nhc & nhc::UDP_MASK == nhc::UDP {
            (protocol::UDP, headers.udp(nhc)?)
        } else if matches!(context.payloads(), Some(PayloadCompression::Lithe)) && nhc::is_udp_lithe(nhc) {
            (protocol::UDP, headers.lithe(nhc)?)
        } else if matches!(context.payloads(), Some(PayloadCompression::Ghc)) && nhc::is_ghc(nhc) {
            headers.ghc(nhc)?
        } else if nhc & nhc::EXTENSION_MASK != nhc::EXTENSION {
            return Err(Error::UnknownNextHeader);
        } else if id == nhc::EID_IPV6 {
            (protocol::IPV6, headers.ipv6(context.addresses())?)
        } else if id == nhc::EID_IPSEC {
            headers.ipsec(context, nhc)?
        } else {
            let kind = nhc::extension_protocol(id).ok_or(Error::UnknownNextHeader)?;
            (kind, headers.extension(kind, nhc & nhc::NEXT_HEADER_COMPRESSED != 0)?)
        };
        headers.out.patch(at, &[kind]);
    }
    let (consumed, written) = (headers.reader.consumed()?, headers.out.written()?);
    let size = match datagram_size {
        Some(size) => usize::from(size),
        None => written + payload.len() - consumed,
    };
    headers.lengths(size)?;
    if matches!(context.payloads(), Some(PayloadCompression::Lithe)) {
        headers.record_lengths(size)?;
    }
    Ok(Decompressed { consumed, written, elided_checksum: headers.elided_checksum })
}

/// Headers while they are restored. The method for a kind of header returns where its next header
/// field stands, if that was elided.
struct Headers<'a> {
    reader: Reader<'a>,
    out: Writer<'a>,
    encapsulating: Encapsulating,
    /// Where IPv6 headers stand, `ipv6_headers` of them.
    ipv6: [u16; MAX_IPV6_HEADERS],
    ipv6_headers: usize,
    /// Where the UDP header stands.
    udp: Option<usize>,
    /// Where a record of DTLS stands, and whether a message's header follows its own.
    record: Option<(usize, bool)>,
    elided_checksum: Option<ElidedChecksum>,
    routed_or_fragmented: bool,
    /// Source and destination of the innermost packet.
    ends: [u8; 32],
}

impl Headers<'_> {
    fn ipv6(&mut self, contexts: impl AddressContexts) -> Result<Option<usize>, Error> {
        let at = self.out.at();
        let slot = self.ipv6.get_mut(self.ipv6_headers).ok_or(Error::TooManyHeaders)?;
        *slot = u16::try_from(at).map_err(|_| Error::Length)?;
        self.ipv6_headers += 1;
        let mut header = [0; IPV6_LEN];
        let next_header_compressed =
            iphc::parse(&mut self.reader, &self.encapsulating, contexts, &mut header)?;
        self.encapsulating = iphc::encapsulating(&header);
        self.routed_or_fragmented = false;
        if let Some(ends) = header[8..].first_chunk() {
            self.ends = *ends;
        }
        self.out.put(&header);
        Ok(next_header_compressed.then_some(at + NEXT_HEADER_AT))
    }

    fn extension(&mut self, kind: u8, next_header_compressed: bool) -> Result<Option<usize>, Error> {
        let at = self.out.at();
        let next_header = if next_header_compressed { 0 } else { self.reader.byte() };
        let length = self.reader.byte();
        if kind == protocol::FRAGMENT {
            // Eight bytes always: what stands in the place of the length is reserved.
            self.routed_or_fragmented = true;
            self.out.put(&[next_header, length]);
            self.out.put(self.reader.take(6));
            return Ok(next_header_compressed.then_some(at));
        }
        let body = self.reader.take(usize::from(length));
        self.reader.consumed()?;
        let padding = (8 - (2 + body.len()) % 8) % 8;
        if padding > 0 && !matches!(kind, protocol::HOP_BY_HOP | protocol::DESTINATION) {
            return Err(Error::Length);
        }
        self.routed_or_fragmented |= kind == protocol::ROUTING;
        let units = (2 + body.len() + padding) / 8;
        self.out.put(&[next_header, (units - 1) as u8]);
        self.out.put(body);
        self.out.put(nhc::padding(padding));
        Ok(next_header_compressed.then_some(at))
    }

    /// Returns which header it is too.
    fn ipsec(&mut self, context: &impl Context, nhc: u8) -> Result<(u8, Option<usize>), Error> {
        let at = self.out.at();
        let restored = ipsec::restore(nhc, context, &self.ends, &mut self.reader)?;
        self.out.put(restored.fields());
        self.out.put(self.reader.take(restored.icv_len));
        self.reader.consumed()?;
        Ok(match restored.kind {
            Kind::Ah => (protocol::AH, restored.next_header_elided.then_some(at)),
            Kind::Esp => (protocol::ESP, None),
        })
    }

    fn udp(&mut self, nhc: u8) -> Result<Option<usize>, Error> {
        let at = self.out.at();
        let udp = nhc::parse_udp(nhc, &mut self.reader);
        if udp.checksum_elided {
            // The checksum covers the final destination and the whole datagram: neither is here.
            if self.routed_or_fragmented {
                return Err(Error::ChecksumElided);
            }
            let inner = self.ipv6_headers.checked_sub(1).and_then(|last| self.ipv6.get(last));
            self.elided_checksum = Some(ElidedChecksum {
                ipv6_at: *inner.ok_or(Error::ChecksumElided)?,
                udp_at: u16::try_from(at).map_err(|_| Error::Length)?,
            });
        }
        self.udp = Some(at);
        self.out.put(&udp.header);
        Ok(None)
    }

    fn lithe(&mut self, nhc: u8) -> Result<Option<usize>, Error> {
        let elided = self.udp(nhc)?;
        let at = self.out.at();
        self.record = Some((at, lithe::restore(&mut self.reader, &mut self.out)?));
        Ok(elided)
    }

    /// Returns which header it is too.
    fn ghc(&mut self, nhc: u8) -> Result<(u8, Option<usize>), Error> {
        let at = self.out.at();
        let (kind, elided, end) = if nhc == nhc::ICMPV6_GHC {
            (protocol::ICMPV6, None, End::Payload)
        } else if nhc & nhc::UDP_MASK == nhc::UDP_GHC {
            (protocol::UDP, self.udp(nhc)?, End::Payload)
        } else {
            let kind = nhc::extension_protocol(nhc >> 1 & 7).filter(|&kind| ghc::is_length_elided(kind));
            let elided = nhc & nhc::NEXT_HEADER_COMPRESSED != 0;
            let next_header = if elided { 0 } else { self.reader.byte() };
            self.out.put(&[next_header, 0]);
            (kind.ok_or(Error::UnknownNextHeader)?, elided.then_some(at), End::Stop)
        };
        ghc::restore(&self.ends, &mut self.reader, end, &mut self.out)?;
        if end == End::Stop {
            self.routed_or_fragmented |= kind == protocol::ROUTING;
            let length = self.out.at() - at;
            let units = (length / 8).checked_sub(1).filter(|_| length.is_multiple_of(8));
            let units = units.and_then(|units| u8::try_from(units).ok()).ok_or(Error::Length)?;
            self.out.patch(at + 1, &[units]);
        }
        Ok((kind, elided))
    }

    /// Fills in the lengths that were elided, from the `size` of the packet
    /// ([RFC 6282 section 3.2](https://www.rfc-editor.org/rfc/rfc6282#section-3.2)).
    fn lengths(&mut self, size: usize) -> Result<(), Error> {
        let behind = |at: usize| {
            let length = size.checked_sub(at).and_then(|length| u16::try_from(length).ok());
            length.map(u16::to_be_bytes).ok_or(Error::Length)
        };
        for &at in self.ipv6.iter().take(self.ipv6_headers) {
            let at = usize::from(at);
            self.out.patch(at + PAYLOAD_LENGTH_AT, &behind(at + IPV6_LEN)?);
        }
        if let Some(at) = self.udp {
            behind(at + UDP_LEN)?;
            self.out.patch(at + UDP_LENGTH_AT, &behind(at)?);
        }
        behind(self.out.at()).map(|_| ())
    }

    /// The same in a record of DTLS.
    fn record_lengths(&mut self, size: usize) -> Result<(), Error> {
        let behind = |at: usize| {
            let length = size.checked_sub(at).and_then(|length| u16::try_from(length).ok());
            length.map(u16::to_be_bytes).ok_or(Error::Length)
        };
        if let Some((at, with_message)) = self.record {
            self.out.patch(at + lithe::RECORD_LENGTH_AT, &behind(at + lithe::RECORD_LEN)?);
            if with_message {
                let length = behind(at + lithe::RECORD_LEN + lithe::HANDSHAKE_LEN)?;
                self.out.patch(at + lithe::MESSAGE_LENGTH_AT + 1, &length);
                self.out.patch(at + lithe::FRAGMENT_LENGTH_AT + 1, &length);
            }
        }
        Ok(())
    }
}
