//! Frames sealed by the number of their slot, and the numbers that may be used.

use sixlock_base::{Eui64, Nv, NvError, NvSlot};
use sixlock_crypto::{Crypto, Tag};
use sixlock_ieee802154::enhanced::{Asn, NonceCounter, Security};
use sixlock_ieee802154::{KeyId, SecurityLevel};

use crate::LinkSecurity;
use crate::frame_security::FrameCipher;

/// Slots are reserved by 2^this.
const RESERVATION_BITS: u32 = 14;

/// The slots in which this device may send: each once, and none before one in which it has sent.
pub(super) struct Reserved {
    /// The first that was never reserved before, and the first that is not reserved yet, in reservations.
    range: Option<(u32, u32)>,
    /// The last in which it has sent since it was started.
    last: Option<Asn>,
}

impl Reserved {
    /// None yet.
    pub(super) const fn new() -> Self {
        Self { range: None, last: None }
    }

    /// The first slot in which nothing was ever sent.
    pub(super) fn first<N: Nv>(&mut self, nv: &mut N) -> Result<Asn, NvError> {
        let first = match self.range {
            Some((first, _)) => first,
            None => nv.reserve(NvSlot::LinkFrameCounter, 0)?,
        };
        self.range.get_or_insert((first, first));
        Asn::new(u64::from(first) << RESERVATION_BITS).ok_or(NvError::Exhausted)
    }

    /// Whether a frame may be sent in this slot, and the last if so: it is reserved then.
    pub(super) fn take<N: Nv>(&mut self, nv: &mut N, asn: Asn) -> Result<bool, NvError> {
        self.first(nv)?;
        let wanted = u32::try_from(asn.number() >> RESERVATION_BITS).map_err(|_| NvError::Exhausted)?;
        let Some((first, end)) = &mut self.range else { return Ok(false) };
        if wanted < *first || self.last.is_some_and(|last| asn <= last) {
            return Ok(false);
        }
        if wanted >= *end {
            // What is reserved begins where it ended before: nobody else has this counter.
            let begin = nv.reserve(NvSlot::LinkFrameCounter, wanted - *end + 1)?;
            *end = begin.saturating_add(wanted - *end + 1);
        }
        self.last = Some(asn);
        Ok(true)
    }
}

/// The sealing and opening of frames whose nonces have the number of their slot.
pub(super) struct SlotSecurity<C: Crypto>(FrameCipher<C>);

impl<C: Crypto> SlotSecurity<C> {
    /// `None` if the suite has no MIC.
    pub(super) fn new(security: &LinkSecurity, crypto: &mut C) -> Option<Self> {
        let cipher = FrameCipher::new(security, crypto);
        (cipher.mic_len() > 0).then_some(Self(cipher))
    }

    pub(super) const fn mic_len(&self) -> usize {
        self.0.mic_len()
    }

    /// The auxiliary header of data and acknowledgements, or of beacons, which are authenticated only.
    pub(super) const fn header(&self, is_beacon: bool) -> Security {
        let level = match (is_beacon, self.0.level) {
            (true, SecurityLevel::EncMic32) => SecurityLevel::Mic32,
            (true, SecurityLevel::EncMic64) => SecurityLevel::Mic64,
            (true, SecurityLevel::EncMic128) => SecurityLevel::Mic128,
            (_, level) => level,
        };
        let counter = NonceCounter::Asn { frame_counter: None };
        Security { level, key_id: KeyId::Index(self.0.key_index), counter }
    }

    /// Encrypts what of `frame` follows its first `private` bytes, if the level says so, and returns the MIC over all of it.
    pub(super) fn seal(
        &self,
        crypto: &mut C,
        (source, asn): (Eui64, Asn),
        security: &Security,
        frame: &mut [u8],
        private: usize,
    ) -> Tag {
        self.0.seal(crypto, &security.nonce(source, asn), security.level, frame, private)
    }

    /// Opens a frame with its MIC in place, and returns it without, if it is authentic.
    pub(super) fn open<'f>(
        &self,
        crypto: &mut C,
        (source, asn): (Eui64, Asn),
        security: &Security,
        sealed: &'f mut [u8],
        private: usize,
    ) -> Option<&'f mut [u8]> {
        self.0.open(crypto, &security.nonce(source, asn), security.level, sealed, private)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_testing::Ranges;

    fn asn(number: u64) -> Asn {
        Asn::new(number).unwrap()
    }

    #[test]
    fn no_slot_is_used_again_after_a_reboot() {
        let mut nv = Ranges::default();
        let mut reserved = Reserved::new();
        assert_eq!(reserved.first(&mut nv), Ok(asn(0)));
        assert_eq!(reserved.take(&mut nv, asn(5)), Ok(true));
        assert_eq!(reserved.take(&mut nv, asn((1 << 14) + 7)), Ok(true));
        for used in [5, 9, (1 << 14) + 7] {
            assert_eq!(reserved.take(&mut nv, asn(used)), Ok(false), "one before was used, or it itself");
        }

        let mut rebooted = Reserved::new();
        assert_eq!(rebooted.first(&mut nv), Ok(asn(2 << 14)));
        assert_eq!(rebooted.take(&mut nv, asn((2 << 14) - 1)), Ok(false));
        assert_eq!(rebooted.take(&mut nv, asn(2 << 14)), Ok(true));

        let mut again = Reserved::new();
        assert_eq!(again.first(&mut nv), Ok(asn(3 << 14)), "once, however often it is asked");
        assert_eq!(again.first(&mut nv), Ok(asn(3 << 14)));
        assert_eq!(Reserved::new().first(&mut nv), Ok(asn(3 << 14)), "nothing was sent");
    }

    #[test]
    fn a_slot_far_ahead_is_reserved_at_once() {
        let mut nv = Ranges::default();
        let mut reserved = Reserved::new();
        let later = asn(1 << 39);
        assert_eq!(reserved.take(&mut nv, later), Ok(true));
        assert_eq!(Reserved::new().take(&mut nv, later), Ok(false));
        assert_eq!(Reserved::new().take(&mut nv, asn((1 << 39) + (1 << 14))), Ok(true));
    }

    #[test]
    fn without_storage_nothing_is_sent() {
        assert_eq!(Reserved::new().take(&mut Ranges::failed(), asn(0)), Err(NvError::Storage));
    }
}
