use core::cell::Cell;

use sixlock_base::Entropy;
use sixlock_ipv6::extension::Upper;

use crate::transform::{Features, Opened, Sending, Transform};
use crate::{InboundError, OutboundError, PacketBuffer, Protocol, SequenceNumber};

/// A transform whose receiver finds the high half of extended sequence numbers again, which packets do not carry, after it was
/// restarted or has missed 2^32 packets.
///
/// When [`FAILURES`] packets in a row had a wrong ICV, the last of them is tried with the next `AHEAD` high halves, too
/// ([RFC 4303 appendix A3](https://www.rfc-editor.org/rfc/rfc4303#appendix-A3)). So forged packets cost a receiver at most `AHEAD` more
/// computations in [`FAILURES`]. The high half only grows, and only by an authentic packet: packets that were sent under an earlier one
/// stay refused.
///
/// A packet is copied to be tried, and not tried if it is longer than `N` bytes. Costs nothing when unused.
pub struct Resynchronised<T, const N: usize = 1280, const AHEAD: u32 = 16> {
    transform: T,
    /// The difference between the high half and the replay window's guess of it.
    ahead: Cell<u32>,
    /// Packets in a row with a wrong ICV.
    failures: Cell<u8>,
}

/// How many packets in a row are refused for their ICV before another high half is tried.
pub const FAILURES: u8 = 16;

impl<T, const N: usize, const AHEAD: u32> Resynchronised<T, N, AHEAD> {
    /// The same transform at a receiver that can be restarted.
    pub const fn new(transform: T) -> Self {
        Self { transform, ahead: Cell::new(0), failures: Cell::new(0) }
    }
}

impl<C, T: Transform<C>, const N: usize, const AHEAD: u32> Transform<C> for Resynchronised<T, N, AHEAD> {
    const FEATURES: Features = T::FEATURES;

    fn protocol(&self) -> Protocol {
        self.transform.protocol()
    }

    fn icv_len(&self) -> usize {
        self.transform.icv_len()
    }

    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        entropy: &mut E,
        sending: &Sending,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        self.transform.protect(crypto, entropy, sending, buffer)
    }

    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        number: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError> {
        if !extended {
            return self.transform.open(crypto, packet, found, number, extended);
        }
        let ahead = self.ahead.get();
        let open = |crypto: &mut C, packet: &mut [u8], ahead: u32| {
            let high = number.high.checked_add(ahead).ok_or(InboundError::BadIcv)?;
            self.transform.open(crypto, packet, found, SequenceNumber { high, ..number }, true)
        };
        let failures = self.failures.get() + 1;
        if failures < FAILURES {
            let result = open(crypto, packet, ahead);
            self.failures.set(if result == Err(InboundError::BadIcv) { failures } else { 0 });
            return result;
        }
        self.failures.set(0);
        let mut copy = [0; N];
        let Some(kept) = copy.get_mut(..packet.len()) else { return open(crypto, packet, ahead) };
        // A failed attempt may destroy the packet.
        kept.copy_from_slice(packet);
        for ahead in (ahead..=u32::MAX).take(1 + AHEAD as usize) {
            packet.copy_from_slice(kept);
            let result = open(crypto, packet, ahead);
            if result != Err(InboundError::BadIcv) {
                self.ahead.set(ahead);
                return result;
            }
        }
        Err(InboundError::BadIcv)
    }
}
