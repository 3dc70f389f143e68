use core::mem::swap;

use sixlock_base::Entropy;
use sixlock_crypto::constant_time_eq;
use sixlock_ipv6::ah::Header;
use sixlock_ipv6::extension::{Chain, Extension, Upper};
use sixlock_ipv6::{Header as Ipv6Header, next_header};

use crate::layout::{self, Inserted, before};
use crate::suite::{Integrity, MAX_ICV, Message, high_half};
use crate::transform::{Opened, Sending, Transform};
use crate::{InboundError, OutboundError, PacketBuffer, Protocol, SequenceNumber};

mod route;

use self::route::Route;

/// The authentication header with the algorithm `I`.
///
/// Without `ROUTES`, packets whose source route has segments left are refused. Only hosts that make such routes need it.
pub struct Ah<I, const ROUTES: bool = true>(pub I);

/// A packet as its ICV covers it: as it is at its destination, with zeros in mutable fields
/// ([RFC 4302 section 3.3.3](https://www.rfc-editor.org/rfc/rfc4302#section-3.3.3)). Its IPv6 header and its ICV
/// were changed so before.
struct Authenticated<'a> {
    packet: &'a [u8],
    /// Where its AH stands.
    at: usize,
    sequence: SequenceNumber,
    extended: bool,
}

impl<'a> Authenticated<'a> {
    fn byte(&self, at: usize) -> u8 {
        self.packet.get(at).copied().unwrap_or(next_header::NONE)
    }

    /// The value of a next header field at the destination, where a fragment header around a whole packet is gone
    /// ([RFC 8200 section 4.5](https://www.rfc-editor.org/rfc/rfc8200#section-4.5)).
    fn next_header(&self, named_at: usize, mut at: usize) -> u8 {
        let mut kind = self.byte(named_at);
        while kind == next_header::FRAGMENT && at < self.at {
            kind = self.byte(at);
            at += 8;
        }
        kind
    }
}

/// The mutable fields of an IPv6 header: version, traffic class and flow label; and the hop limit.
type Mutable = ([u8; 4], u8);

/// Whether there is no header before the one at `at`, as in most packets. Small processors find that out by the general way, which takes
/// more time and less flash.
fn is_first(at: usize) -> bool {
    cfg!(target_pointer_width = "64") && at <= Ipv6Header::LEN
}

/// Adds a packet to a code, some of its bytes replaced.
struct Covered<'a, F> {
    packet: &'a [u8],
    /// Where the bytes begin that were not added yet.
    from: usize,
    add: F,
}

impl<F: FnMut(&[u8])> Covered<'_, F> {
    /// Adds the bytes before `at`, and `others` in place of the next `length` bytes.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn replace(&mut self, at: usize, length: usize, others: &[u8]) {
        (self.add)(self.packet.get(self.from..at).unwrap_or_default());
        (self.add)(others);
        self.from = at + length;
    }

    /// Adds the rest of the packet, and the high half of an extended sequence number.
    #[inline(always)]
    fn end(mut self, covered: &Authenticated<'_>) {
        let Authenticated { packet, sequence, extended, .. } = *covered;
        self.replace(packet.len(), 0, high_half(sequence, extended, &mut [0; 4]));
    }
}

/// An option of one byte.
const PAD_1: u8 = 0;

/// The bit of an option's type that says that its data may change on the way
/// ([RFC 8200 section 4.2](https://www.rfc-editor.org/rfc/rfc8200#section-4.2)).
const MUTABLE: u8 = 1 << 5;

impl Message for Authenticated<'_> {
    fn feed(&self, add: impl FnMut(&[u8])) {
        let mut covered = Covered { packet: self.packet, from: 0, add };
        if is_first(self.at) {
            return covered.end(self);
        }
        let (mut chain, mut absent) = (Chain::new(self.packet), Ipv6Header::LEN);
        while let Some(header) = before(&mut chain, self.at) {
            absent += if header.kind == next_header::FRAGMENT { 8 } else { 0 };
        }
        if absent != Ipv6Header::LEN {
            let [l0, l1] = (self.packet.len().saturating_sub(absent) as u16).to_be_bytes();
            let next_header = self.next_header(Ipv6Header::NEXT_HEADER_AT, Ipv6Header::LEN);
            covered.replace(Ipv6Header::PAYLOAD_LENGTH_AT, 3, &[l0, l1, next_header]);
        }
        let mut chain = Chain::new(self.packet);
        while let Some(Extension { kind, at, length, .. }) = before(&mut chain, self.at) {
            let behind = at + length;
            if kind == next_header::FRAGMENT {
                covered.replace(at, length, &[]);
                continue;
            }
            covered.replace(at, 1, &[self.next_header(at, behind)]);
            if !matches!(kind, next_header::HOP_BY_HOP | next_header::DESTINATION) {
                continue;
            }
            // Options that do not fit are covered unchanged.
            let mut option = at + 2;
            while option < behind {
                let kind = self.byte(option);
                let data = option + if kind == PAD_1 { 1 } else { 2 };
                let end = if kind == PAD_1 { data } else { data + usize::from(self.byte(option + 1)) };
                if kind & MUTABLE != 0 && end <= behind {
                    (data..end).for_each(|at| covered.replace(at, 1, &[0]));
                }
                option = end;
            }
        }
        covered.end(self);
    }
}

/// Swaps the mutable fields of a packet's IPv6 header with `fields`.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
fn exchange(packet: &mut [u8], fields: &mut Mutable) {
    if let Some((first, [_, _, _, hop_limit, ..])) = packet.split_first_chunk_mut() {
        swap(first, &mut fields.0);
        swap(hop_limit, &mut fields.1);
    }
}

/// Writes the fields before the addresses again, with zeros in the mutable ones, in one store: it is then read in one load without
/// waiting for several stores.
fn rewrite(packet: &mut [u8]) {
    if let Some(fields) = packet.first_chunk_mut::<{ Ipv6Header::SOURCE_AT }>() {
        let [_, _, _, _, l0, l1, next_header, _] = *fields;
        let length = u16::from_be_bytes([l0, l1]);
        *fields = (0x60 << 56 | u64::from(length) << 16 | u64::from(next_header) << 8).to_be_bytes();
    }
}

impl<I, const ROUTES: bool> Ah<I, ROUTES> {
    /// Computes the ICV of the packet whose AH is at `at`, with an ICV of zeros.
    ///
    /// # Errors
    /// When the packet at its final destination cannot be predicted.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn icv<C>(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        at: usize,
        sequence: SequenceNumber,
        extended: bool,
        computed: &mut [u8; MAX_ICV],
    ) -> Result<(), OutboundError>
    where
        I: Integrity<C>,
    {
        let unfinished = if ROUTES && !is_first(at) { route::unfinished(packet, at)? } else { None };
        let route = unfinished.map(|header| Route::parse(packet, &header).ok_or(OutboundError::Routing));
        let route = route.transpose()?;
        if let Some(route) = &route {
            route.go(packet);
        }
        let mut fields = ([0x60, 0, 0, 0], 0);
        exchange(packet, &mut fields);
        if cfg!(target_pointer_width = "64") {
            rewrite(packet);
        }
        *computed = self.0.icv(crypto, &Authenticated { packet, at, sequence, extended });
        exchange(packet, &mut fields);
        if let Some(route) = &route {
            route.go_back(packet);
        }
        Ok(())
    }
}

impl<C, I: Integrity<C>, const ROUTES: bool> Transform<C> for Ah<I, ROUTES> {
    fn protocol(&self) -> Protocol {
        Protocol::Ah
    }

    fn icv_len(&self) -> usize {
        self.0.icv_len()
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        _: &mut E,
        sending: &Sending,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        let icv = self.0.icv_len();
        let length = Header::len_with(icv);
        let (Inserted { upper, has_segments_left, .. }, packet) =
            layout::insert_header(buffer, sending, next_header::AH, length, |_| 0)?;
        if !ROUTES && has_segments_left {
            return Err(OutboundError::Routing);
        }
        let ah = packet.get_mut(upper.at..upper.at + length).ok_or(OutboundError::NoRoom)?;
        let header = Header { next_header: upper.protocol, spi: sending.spi, sequence: sending.number.low };
        header.emit(ah).map_err(|_| OutboundError::NoRoom)?;
        let mut computed = [0; MAX_ICV];
        self.icv(crypto, packet, upper.at, sending.number, sending.extended, &mut computed)?;
        let field = packet.get_mut(upper.at + Header::LEN..).and_then(|rest| rest.get_mut(..icv));
        field
            .zip(computed.get(..icv))
            .ok_or(OutboundError::NoRoom)
            .map(|(field, icv)| field.copy_from_slice(icv))
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        sequence: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError> {
        let icv = self.0.icv_len();
        let ah = packet.get_mut(found.at..).ok_or(InboundError::Truncated)?;
        let (header, field) = Header::parse(ah).map_err(|_| InboundError::Truncated)?;
        let length = Header::LEN + field.len();
        if length != Header::len_with(icv) {
            return Err(InboundError::IcvLength);
        }
        let (mut computed, mut received) = ([0; MAX_ICV], [0; MAX_ICV]);
        let field = ah.get_mut(Header::LEN..Header::LEN + icv);
        let (field, received) = field.zip(received.get_mut(..icv)).ok_or(InboundError::IcvLength)?;
        received.copy_from_slice(field);
        field.fill(0);
        self.icv(crypto, packet, found.at, sequence, extended, &mut computed)
            .map_err(|_| InboundError::Routing)?;
        if !computed.get(..icv).is_some_and(|computed| constant_time_eq(computed, received)) {
            return Err(InboundError::BadIcv);
        }
        Ok(Opened { payload: found.at + length..packet.len(), next_header: header.next_header })
    }
}
