use sixlock_base::Entropy;
use sixlock_crypto::constant_time_eq;
use sixlock_ipv6::ah::Header;
use sixlock_ipv6::extension::{Chain, Extension, Upper};
use sixlock_ipv6::{Header as Ipv6Header, next_header};

use crate::suite::{Integrity, MAX_ICV, Message, high_half};
use crate::transform::{OpenError, Opened, Sending, Transform};
use crate::{OutboundError, Protocol, Room, SequenceNumber, place};

mod options;
mod route;

use self::route::Route;

/// The authentication header with the algorithm `I`.
pub struct Ah<I>(pub I);

/// A packet as its ICV covers it: as it will be at its destination, without what changes on the way, which counts as
/// zero ([RFC 4302 section 3.3.3](https://www.rfc-editor.org/rfc/rfc4302#section-3.3.3)).
struct Authenticated<'a> {
    packet: &'a [u8],
    /// Where its AH stands.
    at: usize,
    icv: usize,
    sequence: SequenceNumber,
    extended: bool,
    /// Its length behind the IPv6 header, and its destination, at its end.
    length: usize,
    destination: [u8; 16],
}

impl<'a> Authenticated<'a> {
    /// The packet whose AH stands at `at`; an error if it cannot be told what it will be at its end.
    fn new(
        packet: &'a [u8],
        at: usize,
        icv: usize,
        sequence: SequenceNumber,
        extended: bool,
    ) -> Result<Self, OutboundError> {
        let length = packet.len().saturating_sub(Ipv6Header::LEN);
        let destination =
            *packet.get(24..).and_then(|rest| rest.first_chunk()).ok_or(OutboundError::Malformed)?;
        let mut at_end = Self { packet, at, icv, sequence, extended, length, destination };
        for header in at_end.before() {
            match header.kind {
                next_header::HOP_BY_HOP | next_header::DESTINATION
                    if !options::fit(at_end.bytes(&header)) =>
                {
                    return Err(OutboundError::Malformed);
                }
                next_header::FRAGMENT => at_end.length = at_end.length.saturating_sub(header.length),
                next_header::ROUTING => {
                    let route =
                        Route::parse(at_end.bytes(&header), destination).ok_or(OutboundError::Routing)?;
                    at_end.destination = route.map_or(destination, |route| route.end());
                }
                _ => {}
            }
        }
        Ok(at_end)
    }

    /// The headers before AH.
    fn before(&self) -> impl Iterator<Item = Extension> + use<'a> {
        let at = self.at;
        Chain::new(self.packet).map_while(Result::ok).take_while(move |header| header.at < at)
    }

    fn bytes(&self, header: &Extension) -> &'a [u8] {
        self.packet.get(header.at..header.at + header.length).unwrap_or_default()
    }

    /// Where the packet goes now.
    fn next_destination(&self) -> [u8; 16] {
        self.packet.get(24..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
    }

    /// What a next header field names at the destination, where a fragment header around a whole packet is gone
    /// ([RFC 8200 section 4.5](https://www.rfc-editor.org/rfc/rfc8200#section-4.5)).
    fn next_header(&self, named_at: usize, mut at: usize) -> u8 {
        let byte = |at: usize| self.packet.get(at).copied().unwrap_or(next_header::NONE);
        let mut kind = byte(named_at);
        while kind == next_header::FRAGMENT && at < self.at {
            kind = byte(at);
            at += 8;
        }
        kind
    }
}

impl Message for Authenticated<'_> {
    fn feed(&self, mut add: impl FnMut(&[u8])) {
        let Some(&(mut ipv6)) = self.packet.first_chunk::<{ Ipv6Header::LEN }>() else { return };
        let [l0, l1] = (self.length as u16).to_be_bytes();
        let next_header = self.next_header(Ipv6Header::NEXT_HEADER_AT, Ipv6Header::LEN);
        ipv6[..8].copy_from_slice(&[0x60, 0, 0, 0, l0, l1, next_header, 0]);
        ipv6[24..].copy_from_slice(&self.destination);
        add(&ipv6);
        for header in self.before() {
            let next_header = self.next_header(header.at, header.at + header.length);
            let rest = self.bytes(&header).get(1..).unwrap_or_default();
            match header.kind {
                next_header::FRAGMENT => {}
                next_header::HOP_BY_HOP | next_header::DESTINATION => {
                    add(&[next_header]);
                    options::feed(rest, &mut add);
                }
                next_header::ROUTING => {
                    add(&[next_header]);
                    match Route::parse(self.bytes(&header), self.next_destination()) {
                        Some(Some(route)) => route.feed(&mut add),
                        _ => add(rest),
                    }
                }
                _ => {
                    add(&[next_header]);
                    add(rest);
                }
            }
        }
        let Some((fields, behind)) =
            self.packet.get(self.at..).and_then(|rest| rest.split_first_chunk::<{ Header::LEN }>())
        else {
            return;
        };
        let mut ah = [0; Header::LEN + MAX_ICV];
        ah[..Header::LEN].copy_from_slice(fields);
        add(ah.get(..Header::LEN + self.icv).unwrap_or_default());
        add(behind.get(self.icv..).unwrap_or_default());
        add(high_half(self.sequence, self.extended, &mut [0; 4]));
    }
}

impl<C, I: Integrity<C>> Transform<C> for Ah<I> {
    fn protocol(&self) -> Protocol {
        Protocol::Ah
    }

    fn icv_len(&self) -> usize {
        self.0.icv_len()
    }

    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        _: &mut E,
        sending: &Sending,
        room: &mut Room<'_>,
    ) -> Result<(), OutboundError> {
        let icv = self.0.icv_len();
        let length = Header::len_with(icv);
        let (place, _) = place::make_room(room, sending, next_header::AH, length)?;
        room.set_payload_length()?;
        let packet = room.packet_mut();
        let ah = packet.get_mut(place.at..place.at + length).ok_or(OutboundError::NoRoom)?;
        let header = Header { next_header: place.protocol, spi: sending.spi, sequence: sending.number.low };
        header.emit(ah).map_err(|_| OutboundError::NoRoom)?;
        let Sending { number: sequence, extended, .. } = *sending;
        let authenticated = Authenticated::new(packet, place.at, icv, sequence, extended)?;
        let computed = self.0.icv(crypto, &authenticated);
        let field = packet.get_mut(place.at + Header::LEN..).and_then(|rest| rest.get_mut(..icv));
        for (byte, computed) in field.ok_or(OutboundError::NoRoom)?.iter_mut().zip(computed) {
            *byte = computed;
        }
        Ok(())
    }

    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        sequence: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, OpenError> {
        let icv = self.0.icv_len();
        let ah = packet.get(found.at..).ok_or(OpenError::Malformed)?;
        let (header, field) = Header::parse(ah).map_err(|_| OpenError::Malformed)?;
        let length = Header::LEN + field.len();
        if length != Header::len_with(icv) {
            return Err(OpenError::Malformed);
        }
        let authenticated = Authenticated::new(packet, found.at, icv, sequence, extended);
        let authenticated = authenticated.map_err(|_| OpenError::Malformed)?;
        let computed = self.0.icv(crypto, &authenticated);
        if !matches!((computed.get(..icv), field.get(..icv)), (Some(a), Some(b)) if constant_time_eq(a, b)) {
            return Err(OpenError::BadIcv);
        }
        Ok(Opened { payload: found.at + length..packet.len(), next_header: header.next_header })
    }
}

/// The address `destination` with its last bytes replaced by `end`.
fn with_end(mut destination: [u8; 16], end: &[u8]) -> [u8; 16] {
    for (byte, value) in destination.iter_mut().rev().zip(end.iter().rev()) {
        *byte = *value;
    }
    destination
}
