use core::ops::Range;

use sixlock_base::Entropy;
use sixlock_ipv6::esp::{Header, Trailer};
use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::next_header;

use crate::layout::{self, Inserted};
use crate::suite::{EspAlgorithm, EspPacket};
use crate::transform::{Opened, Sending, Transform};
use crate::{InboundError, OutboundError, PacketBuffer, Protocol, SequenceNumber};

/// The encapsulating security payload with the suite `S`.
pub struct Esp<S>(pub S);

/// Writes the header, the initialization vector and the trailer around the payload, at `payload` in `esp`.
fn write<C, E: Entropy>(
    suite: &impl EspAlgorithm<C>,
    entropy: &mut E,
    sending: &Sending,
    next_header: u8,
    payload: Range<usize>,
    esp: &mut [u8],
) -> Option<()> {
    Header { spi: sending.spi, sequence: sending.number.low }.emit(esp).ok()?;
    let iv = esp.get_mut(Header::LEN..payload.start)?;
    if suite.random_iv() {
        entropy.fill(iv);
    } else if let Some(iv) = iv.first_chunk_mut() {
        *iv = sending.number.to_be_bytes();
    }
    let end = esp.len().checked_sub(suite.icv_len())?;
    Trailer { next_header }.emit(esp.get_mut(payload.end..end)?).ok()
}

impl<C, S: EspAlgorithm<C>> Transform<C> for Esp<S> {
    fn protocol(&self) -> Protocol {
        Protocol::Esp
    }

    fn icv_len(&self) -> usize {
        self.0.icv_len()
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        entropy: &mut E,
        sending: &Sending,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        let suite = &self.0;
        let front = Header::LEN + suite.iv_len();
        let back = |payload| Trailer::len_behind(payload, suite.alignment()) + suite.icv_len();
        let (Inserted { upper, payload, .. }, packet) =
            layout::insert_header(buffer, sending, next_header::ESP, front, back)?;
        let esp = packet.get_mut(upper.at..).ok_or(OutboundError::Malformed)?;
        write(suite, entropy, sending, upper.protocol, front..front + payload, esp)
            .ok_or(OutboundError::NoRoom)?;
        let packet = EspPacket::new(suite, esp, sending.number, sending.extended);
        suite.seal(crypto, packet.ok_or(OutboundError::NoRoom)?);
        Ok(())
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        number: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError> {
        let suite = &self.0;
        let esp = packet.get_mut(found.at..).ok_or(InboundError::Truncated)?;
        let sealed = EspPacket::new(suite, esp, number, extended).ok_or(InboundError::Truncated)?;
        let data = sealed.data_range();
        if data.len() & (suite.alignment() - 1) != 0 {
            return Err(InboundError::Alignment);
        }
        suite.open(crypto, sealed)?;
        let start = found.at + data.start;
        let plain = packet.get(start..found.at + data.end).ok_or(InboundError::Trailer)?;
        let (Trailer { next_header }, payload) = Trailer::parse(plain).map_err(|_| InboundError::Trailer)?;
        Ok(Opened { payload: start..start + payload.len(), next_header })
    }
}
