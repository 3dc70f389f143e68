use core::cell::Cell;

use sixlock_base::Entropy;
use sixlock_ipv6::extension::Upper;

use crate::transform::{Features, Opened, Sending, Transform};
use crate::{InboundError, OutboundError, Protocol, Room, SequenceNumber};

/// A transform whose receiver finds its way back into extended sequence numbers, of which packets do not carry the high
/// half: when it was restarted and knows of none, or has missed 2^32 of them.
///
/// Each time that so many packets one after the other were refused for their ICV, the last of them is tried with the next
/// `AHEAD` high halves, too ([RFC 4303 appendix A3](https://www.rfc-editor.org/rfc/rfc4303#appendix-A3)). So who forges
/// packets makes a receiver work for at most `AHEAD` more in [`FAILURES`]. High halves grow only, and only by a packet
/// that is authentic: what was sent under earlier ones stays refused.
///
/// A packet that is longer than `N` bytes, which it holds a copy of meanwhile, is not tried. Who does without has nothing of it.
pub struct Resynchronised<T, const N: usize = 1280, const AHEAD: u32 = 16> {
    transform: T,
    /// What the high half is more than the replay window takes it for.
    ahead: Cell<u32>,
    /// Packets refused one after the other.
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
        room: &mut Room<'_>,
    ) -> Result<(), OutboundError> {
        self.transform.protect(crypto, entropy, sending, room)
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
        // What is tried may leave nothing of the packet.
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
