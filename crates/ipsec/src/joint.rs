use core::net::Ipv6Addr;

use sixlock_base::Entropy;
use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::{checksum, next_header};
use sixlock_sixlowpan::udp;

use crate::layout::Layout;
use crate::transform::{Opened, Sending, Transform};
use crate::{Esp, InboundError, Mode, OutboundError, PacketBuffer, Protocol, SequenceNumber};

/// Joint mode: ESP that compresses the UDP header before encryption, which hides it from header compression on the links. Both ends must
/// use it.
///
/// In tunnel mode, and for other protocols, it does as [`Esp`].
///
/// The UDP checksum is elided if it is right and the packet has an ICV, which covers the same bytes
/// ([RFC 6282 section 4.3.2](https://www.rfc-editor.org/rfc/rfc6282#section-4.3.2)); the far end computes it again.
pub struct Joint<S>(pub Esp<S>);

/// Length of a UDP header in bytes, and where in it stand its length and its checksum.
const UDP_LEN: usize = 8;
const LENGTH_AT: usize = 4;
const CHECKSUM_AT: usize = 6;

/// The source and the destination of a packet.
fn ends(packet: &[u8]) -> Option<(Ipv6Addr, Ipv6Addr)> {
    let (source, rest) = packet.get(8..)?.split_first_chunk::<16>()?;
    Some(((*source).into(), (*rest.first_chunk::<16>()?).into()))
}

/// Compresses the header of the UDP datagram that stands at `at` in the packet.
fn compress(buffer: &mut PacketBuffer<'_>, at: usize, authenticates: bool) -> Option<()> {
    let packet = buffer.packet();
    let (source, destination) = ends(packet)?;
    let datagram = packet.get(at..)?;
    let header = datagram.first_chunk::<UDP_LEN>()?;
    let &[_, _, _, _, l0, l1, checksums @ ..] = header;
    if usize::from(u16::from_be_bytes([l0, l1])) != datagram.len() {
        // Its length could not be restored.
        return None;
    }
    let is_right = checksums != [0; 2] && checksum(source, destination, next_header::UDP, datagram) == 0;
    let mut compressed = [0; udp::MAX];
    let length = udp::compress(header, is_right && authenticates, &mut compressed);
    buffer.remove(at, UDP_LEN - length).ok()?;
    buffer.finish().ok()?.get_mut(at..at + length)?.copy_from_slice(compressed.get(..length)?);
    Some(())
}

/// Restores the UDP header of the datagram `opened`, in the space that ESP's fields have left. Returns where the datagram begins.
fn restore(packet: &mut [u8], found: &Upper, opened: &Opened) -> Option<usize> {
    let (source, destination) = ends(packet)?;
    let restored = udp::decompress(packet.get(opened.payload.clone())?).ok()?;
    let start = (opened.payload.start + restored.consumed).checked_sub(UDP_LEN)?;
    let datagram = packet.get_mut(start..opened.payload.end).filter(|_| start >= found.at)?;
    let length = u16::try_from(datagram.len()).ok()?;
    let header = datagram.first_chunk_mut::<UDP_LEN>()?;
    *header = restored.header;
    header[LENGTH_AT..CHECKSUM_AT].copy_from_slice(&length.to_be_bytes());
    if restored.checksum_elided {
        // Zero would mean no checksum (RFC 8200 section 8.1).
        let sum = match checksum(source, destination, next_header::UDP, datagram) {
            0 => u16::MAX,
            sum => sum,
        };
        datagram.get_mut(CHECKSUM_AT..UDP_LEN)?.copy_from_slice(&sum.to_be_bytes());
    }
    Some(start)
}

impl<C, S> Transform<C> for Joint<S>
where
    Esp<S>: Transform<C>,
{
    fn protocol(&self) -> Protocol {
        Protocol::Esp
    }

    fn icv_len(&self) -> usize {
        self.0.icv_len()
    }

    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        entropy: &mut E,
        sending: &Sending,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        if matches!(sending.mode, Mode::Transport) {
            let place = Layout::of(buffer.packet()).ok_or(OutboundError::HeaderChain)?.insertion()?;
            if place.protocol == next_header::UDP {
                compress(buffer, place.at, self.icv_len() > 0).ok_or(OutboundError::HeaderChain)?;
            }
        }
        self.0.protect(crypto, entropy, sending, buffer)
    }

    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        number: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError> {
        let mut opened = self.0.open(crypto, packet, found, number, extended)?;
        if opened.next_header == next_header::UDP {
            opened.payload.start = restore(packet, found, &opened).ok_or(InboundError::CompressedUdp)?;
        }
        Ok(opened)
    }
}
