//! Compressed AH and ESP headers. No RFC has them: there are the encodings of Raza et al. ("Securing communication
//! in 6LoWPAN with compressed IPsec" and "Secure communication for the Internet of Things", 2012) and those of the
//! drafts draft-raza-6lowpan-ipsec and draft-raza-6lo-ipsec.
//!
//! A byte with a reserved extension header id announces them: 1110, 101 and whether what follows is compressed. Then
//! comes a byte of their own, 1101 for AH and 1110 for ESP in its first bits, and what it says to be carried:
//!
//! | format | last four bits | security parameters index | sequence number |
//! |---|---|---|---|
//! | 2012 | length, index, number, next header | left out or whole | last 16 bits or whole |
//! | drafts | index, index, number, number | left out, 8, 16 or 32 bits | 8, 16, 24 or 32 bits |
//!
//! The ICV is computed over the headers as they were, so that the far end is any IPsec host.

use sixlock_base::Eui64;

use crate::contexts::{AddressContexts, MeshContext};
use crate::cursor::{Reader, Writer};
use crate::nhc::{EID_IPSEC, EXTENSION, NEXT_HEADER_COMPRESSED};
use crate::{Error, PayloadCompression, Payloads};

/// Which encoding both ends of a link use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// That of the paper of 2012.
    #[default]
    Paper2012,
    /// That of the drafts.
    Drafts,
}

/// Which of the two headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The authentication header.
    Ah,
    /// The encapsulating security payload.
    Esp,
}

/// A flow of packets whose sequence numbers count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow<'a> {
    /// Source and destination: the receiver chooses the index, and two receivers may choose the same.
    pub ends: &'a [u8; 32],
    /// AH or ESP.
    pub kind: Kind,
    /// The security parameters index.
    pub spi: u32,
}

/// The state of a flow as its receiver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The highest sequence number received.
    pub highest: u32,
    /// Length of AH in bytes.
    pub ah_len: usize,
}

/// The knowledge that both ends of a link share: of AH and ESP, and how payloads are compressed. Of AH and ESP it is none, if nothing else is said.
pub trait Context {
    /// The contexts of addresses.
    fn addresses(&self) -> impl AddressContexts {
        MeshContext
    }

    /// Whether of the headers behind that of IPv6 the one of UDP alone is compressed: see [`Stateless`](crate::Stateless). What comes in
    /// may use all.
    fn is_stateless(&self) -> bool {
        false
    }

    /// The length in bytes from which packets that go out are compressed; shorter ones go as they are
    /// ([RFC 4944 section 5.1](https://www.rfc-editor.org/rfc/rfc4944#section-5.1)). What comes in may be either.
    fn compress_from(&self) -> usize {
        0
    }

    /// How the payload of UDP is compressed. With `None` it is sent uncompressed, and a compressed one is refused.
    fn payloads(&self) -> Option<PayloadCompression> {
        None
    }

    /// The same of what goes to a neighbour, which may read less.
    fn payloads_to(&self, _neighbour: Eui64) -> Option<PayloadCompression> {
        self.payloads()
    }

    /// The encoding. With `None` such headers are sent uncompressed, and compressed ones are refused.
    fn format(&self) -> Option<Format> {
        None
    }

    /// The security parameters index that is left out.
    fn default_spi(&self) -> u32 {
        1
    }

    /// Whether the receiver of a packet with this sequence number, and with an AH of `ah_len` bytes if that is what it has, tells both
    /// from the last 16 bits: not if it may know nothing of the flow, or is to be told again.
    fn is_known_to_receiver(&self, _flow: &Flow<'_>, _sequence: u32, _ah_len: usize) -> bool {
        false
    }

    /// The state of a flow as its receiver knows it.
    fn known(&self, _flow: &Flow<'_>) -> Option<Known> {
        None
    }

    /// Length of AH in bytes where packets do not say it and nothing was heard of the flow, and with the drafts' encoding
    /// always.
    fn default_ah_len(&self) -> usize {
        24
    }

    /// Learns from a packet that came over the link, decompressed and whole.
    fn received(&mut self, _packet: &[u8]) {}

    /// Notes that a packet goes out over the link, once for each that does.
    fn sent(&mut self, _packet: &[u8]) {}

    /// Makes the next packet of each flow say its number whole, since a receiver knows nothing of those before.
    fn widen(&mut self) {}

    /// Notes that this neighbour is to be asked for whole numbers ([`TELL_WHOLE`]).
    fn ask(&mut self, _neighbour: Eui64) {}

    /// Returns the neighbour to ask, once.
    fn poll_ask(&mut self) -> Option<Eui64> {
        None
    }
}

/// For links whose packets have no AH and no ESP.
impl<P: Payloads> Context for P {
    fn payloads(&self) -> Option<PayloadCompression> {
        self.compression()
    }
}

/// A frame payload of this byte asks its receiver to send whole sequence numbers: the sender of the frame has dropped a packet
/// for want of what came before it. Other nodes drop it, as its first bits tell that it is no packet
/// ([RFC 4944 section 5.1](https://www.rfc-editor.org/rfc/rfc4944#section-5.1)).
///
/// A forged one makes the next packet of each flow two bytes longer.
pub const TELL_WHOLE: u8 = 0b0011_1110;

/// The first bits of AH's byte and of ESP's.
const AH: u8 = 0b1101_0000;
const ESP: u8 = 0b1110_0000;
const KIND_MASK: u8 = 0b1111_0000;

/// The bits of 2012's byte.
const LENGTH_CARRIED: u8 = 1 << 3;
const SPI_CARRIED: u8 = 1 << 2;
const SEQUENCE_WHOLE: u8 = 1 << 1;
const NEXT_HEADER_ELIDED: u8 = 1;

/// Length of AH's fields before its ICV, and of ESP's, in bytes.
const AH_LEN: usize = 12;
const ESP_LEN: usize = 8;

/// Where in AH's fields the index and the number stand.
const SPI_AT: usize = 4;
const SEQUENCE_AT: usize = 8;

/// How far a number is from the highest of its flow, before it or above, if its last bits tell which it is. What came late is not older: no
/// replay window is longer. One that is further away follows a whole number that its receiver has not heard, or came late behind one.
const NEAR: u32 = 1024;

/// The number with these last `bits` bits that is at most [`NEAR`] before `highest`, or a quarter of what `bits` bits tell apart if
/// that is less, or above. `None` if it is further above.
fn recover(highest: u32, last: u32, bits: u32) -> Option<u32> {
    let Some(mask) = 1u32.checked_shl(bits).map(|count| count - 1) else { return Some(last) };
    let lowest = highest.wrapping_sub(NEAR.min(mask >> 2));
    let above = last.wrapping_sub(lowest) & mask;
    (above <= 2 * NEAR).then_some(lowest.wrapping_add(above))
}

/// The first bits of a byte that is ESP's and not the number of what follows AH.
fn begins_like_esp(byte: u8) -> bool {
    byte & KIND_MASK == ESP
}

/// The four bytes at `at`, or zeros.
#[inline(never)]
fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes.get(at..).and_then(|rest| rest.first_chunk().copied()).unwrap_or_default())
}

/// A header that can be compressed.
pub(crate) struct Header<'a> {
    kind: Kind,
    /// Its fields, the index and the number at their end.
    fields: &'a [u8],
}

impl<'a> Header<'a> {
    /// The AH or ESP at the start of `bytes`, if it can be compressed.
    pub(crate) fn parse(context: &impl Context, kind: Kind, bytes: &'a [u8]) -> Option<Self> {
        let format = context.format()?;
        let fields_len = match kind {
            Kind::Ah => AH_LEN,
            Kind::Esp => ESP_LEN,
        };
        let header = Self { kind, fields: bytes.get(..fields_len)? };
        let is_told = match *header.fields {
            // The reserved bytes are not carried.
            [next_header, 1..=u8::MAX, 0, 0, ..] if kind == Kind::Ah => {
                format == Format::Paper2012
                    || header.length() == context.default_ah_len() && !begins_like_esp(next_header)
            }
            _ => kind == Kind::Esp,
        };
        (is_told && bytes.len() >= header.length()).then_some(header)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Length of the part that is compressed.
    pub(crate) fn fields_len(&self) -> usize {
        self.fields.len()
    }

    /// Its length in bytes, the ICV of AH included.
    pub(crate) fn length(&self) -> usize {
        match (self.kind, self.fields) {
            (Kind::Ah, [_, length, ..]) => (usize::from(*length) + 2) * 4,
            _ => self.fields.len(),
        }
    }

    /// Writes it compressed, but for the ICV of AH. `elided` says whether the next header is compressed, too.
    ///
    /// The format is asked for again, so that nothing of this is linked where there is never one.
    #[inline(never)]
    pub(crate) fn emit(&self, context: &impl Context, ends: &[u8; 32], elided: bool, out: &mut Writer<'_>) {
        let Some(format) = context.format() else { return };
        let (own, numbers) = self.fields.split_at(self.fields.len() - ESP_LEN);
        let (spi, sequence) = numbers.split_at(4);
        let flow = Flow { ends, kind: self.kind, spi: number(spi, 0) };
        let default_spi = flow.spi == context.default_spi();
        let last = number(sequence, 0);
        let is_ah = self.kind == Kind::Ah;
        let is_known = context.is_known_to_receiver(&flow, last, if is_ah { self.length() } else { 0 });
        let kind = if is_ah { AH } else { ESP };
        let sequence = if is_known { &sequence[2..] } else { sequence };
        match format {
            Format::Paper2012 => {
                let mut byte = kind;
                byte |= if default_spi { 0 } else { SPI_CARRIED };
                byte |= if is_known { 0 } else { SEQUENCE_WHOLE };
                byte |= if is_ah && !is_known { LENGTH_CARRIED } else { 0 };
                byte |= if elided { NEXT_HEADER_ELIDED } else { 0 };
                out.put(&[EXTENSION | EID_IPSEC << 1 | NEXT_HEADER_COMPRESSED, byte]);
                // The next header and the length of AH.
                let from = if elided { 1 } else { 0 };
                let to = if is_known { 1 } else { 2 };
                out.put(own.get(from..to).unwrap_or_default());
                out.put(if default_spi { &[] } else { spi });
            }
            Format::Drafts => {
                let announce = EXTENSION | EID_IPSEC << 1;
                match own {
                    [_, ..] if elided => out.put(&[announce | NEXT_HEADER_COMPRESSED]),
                    [next_header, ..] => out.put(&[announce, *next_header]),
                    [] => out.put(&[announce]),
                }
                let (spi_bits, spi) = match spi {
                    _ if default_spi => (0, &[][..]),
                    [0, 0, 0, rest @ ..] => (1, rest),
                    [0, 0, rest @ ..] => (2, rest),
                    whole => (3, whole),
                };
                let sequence_bits = if is_known { 1 } else { 3 };
                out.put(&[kind | spi_bits << 2 | sequence_bits]);
                out.put(spi);
            }
        }
        out.put(sequence);
    }
}

/// A header that was restored, but for the ICV of AH, which follows as it is.
pub(crate) struct Restored {
    pub(crate) kind: Kind,
    fields: [u8; AH_LEN],
    /// Length of the ICV of AH with its padding.
    pub(crate) icv_len: usize,
    /// Whether the header after AH is compressed, too.
    pub(crate) next_header_elided: bool,
}

impl Restored {
    /// The header's fields: those of AH end with ESP's.
    pub(crate) fn fields(&self) -> &[u8] {
        match self.kind {
            Kind::Ah => &self.fields,
            Kind::Esp => &self.fields[AH_LEN - ESP_LEN..],
        }
    }
}

/// Reads what follows `announce`, the byte with the extension header id.
pub(crate) fn restore(
    announce: u8,
    context: &impl Context,
    ends: &[u8; 32],
    reader: &mut Reader<'_>,
) -> Result<Restored, Error> {
    let format = context.format().ok_or(Error::UnknownNextHeader)?;
    let compressed = announce & NEXT_HEADER_COMPRESSED != 0;
    let mut fields = [0; AH_LEN];
    let mut byte = reader.byte();
    if format == Format::Drafts && !compressed && !begins_like_esp(byte) {
        // Before AH stands what follows it.
        fields[0] = byte;
        byte = reader.byte();
    }
    let kind = match byte & KIND_MASK {
        AH => Kind::Ah,
        ESP => Kind::Esp,
        _ => return Err(Error::UnknownNextHeader),
    };
    let is_ah = kind == Kind::Ah;
    let (next_header_elided, spi_len, sequence_len);
    match format {
        Format::Paper2012 => {
            next_header_elided = is_ah && byte & NEXT_HEADER_ELIDED != 0;
            if is_ah && !next_header_elided {
                fields[0] = reader.byte();
            }
            if is_ah && byte & LENGTH_CARRIED != 0 {
                fields[1] = reader.byte();
            }
            spi_len = if byte & SPI_CARRIED == 0 { 0 } else { 4 };
            sequence_len = if byte & SEQUENCE_WHOLE == 0 { 2 } else { 4 };
        }
        Format::Drafts => {
            next_header_elided = is_ah && compressed;
            spi_len = [0, 1, 2, 4][usize::from(byte >> 2 & 3)];
            sequence_len = usize::from(byte & 3) + 1;
        }
    }
    let length_carried = format == Format::Paper2012 && byte & LENGTH_CARRIED != 0;
    fields[SPI_AT..SEQUENCE_AT].copy_from_slice(&context.default_spi().to_be_bytes());
    if spi_len > 0 {
        fields[SPI_AT..SEQUENCE_AT - spi_len].fill(0);
        reader.fill(&mut fields[SEQUENCE_AT - spi_len..SEQUENCE_AT]);
    }
    reader.fill(&mut fields[AH_LEN - sequence_len..]);
    reader.consumed()?;
    let known = context.known(&Flow { ends, kind, spi: number(&fields, SPI_AT) });
    if sequence_len < 4 {
        let Known { highest, .. } = known.ok_or(Error::UnknownSequence)?;
        let sequence = recover(highest, number(&fields, SEQUENCE_AT), sequence_len as u32 * 8)
            .ok_or(Error::UnknownSequence)?;
        fields[SEQUENCE_AT..].copy_from_slice(&sequence.to_be_bytes());
    }
    let mut icv_len = 0;
    if is_ah {
        let ah_len = match known {
            _ if length_carried => (usize::from(fields[1]) + 2) * 4,
            Some(known) if format == Format::Paper2012 => known.ah_len,
            _ => context.default_ah_len(),
        };
        icv_len = ah_len.checked_sub(AH_LEN).ok_or(Error::Length)?;
        fields[1] = u8::try_from(ah_len / 4 - 2).map_err(|_| Error::Length)?;
    }
    Ok(Restored { kind, fields, icv_len, next_header_elided })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_recovered_near_the_highest(highest: u32, age in 0..1025u32, ahead in 0..1025u32) {
            for sequence in [highest.wrapping_sub(age), highest.wrapping_add(ahead)] {
                prop_assert_eq!(recover(highest, sequence & 0xffff, 16), Some(sequence));
                prop_assert_eq!(recover(highest, sequence & 0xff_ffff, 24), Some(sequence));
                prop_assert_eq!(recover(highest, sequence, 32), Some(sequence));
            }
            for sequence in [highest.wrapping_sub(age % 64), highest.wrapping_add(ahead % 192)] {
                prop_assert_eq!(recover(highest, sequence & 0xff, 8), Some(sequence));
            }
        }

        #[test]
        fn a_number_is_not_guessed_far_from_the_highest(highest: u32, far in 1025..0xffff - 1024u32) {
            for sequence in [highest.wrapping_sub(far), highest.wrapping_add(far)] {
                prop_assert_eq!(recover(highest, sequence & 0xffff, 16), None);
                prop_assert_eq!(recover(highest, sequence & 0xff_ffff, 24), None);
                prop_assert_eq!(recover(highest, sequence, 32), Some(sequence));
            }
        }
    }
}
