use sixlock_base::{Eui64, LinkSuite, Nv, NvError, NvSlot};
use sixlock_crypto::{CcmNonce, CcmTag, Crypto, Tag};
use sixlock_ieee802154::{AuxiliaryHeader, KeyId, SecurityLevel};

use crate::LinkSecurity;

/// Frame counters reserved at a time: what a reboot may waste of the 2^32 of a key.
const RESERVATION: u16 = 1024;

/// The level at which frames say that they are secured by `suite`, and the tag that CCM\* makes for it.
pub const fn security_level(suite: LinkSuite) -> (SecurityLevel, CcmTag) {
    match suite {
        LinkSuite::CbcMac32 => (SecurityLevel::Mic32, CcmTag::Four),
        LinkSuite::CbcMac64 => (SecurityLevel::Mic64, CcmTag::Eight),
        LinkSuite::CbcMac128 => (SecurityLevel::Mic128, CcmTag::Sixteen),
        LinkSuite::Ctr => (SecurityLevel::Enc, CcmTag::Zero),
        LinkSuite::Ccm32 => (SecurityLevel::EncMic32, CcmTag::Four),
        LinkSuite::Ccm64 => (SecurityLevel::EncMic64, CcmTag::Eight),
        LinkSuite::Ccm128 => (SecurityLevel::EncMic128, CcmTag::Sixteen),
    }
}

/// The sealing and opening of frames by CCM\*, whatever their nonces are made of.
pub(crate) struct FrameCipher<C: Crypto> {
    key: C::Aes128,
    pub(crate) level: SecurityLevel,
    tag: CcmTag,
    pub(crate) key_index: u8,
}

impl<C: Crypto> FrameCipher<C> {
    pub(crate) fn new(security: &LinkSecurity, crypto: &mut C) -> Self {
        let (level, tag) = security_level(security.suite);
        Self { key: crypto.aes_128(&security.key), level, tag, key_index: security.key_index }
    }

    pub(crate) const fn mic_len(&self) -> usize {
        self.tag.len()
    }

    /// Encrypts what follows the first `private` bytes of `frame`, if `level` encrypts, in place and returns the MIC over all of it.
    pub(crate) fn seal(
        &self,
        crypto: &mut C,
        nonce: &[u8; 13],
        level: SecurityLevel,
        frame: &mut [u8],
        private: usize,
    ) -> Tag {
        let mut mic = Tag::empty(self.tag);
        let from = encrypted_from(level, private, frame.len());
        if let Some((clear, payload)) = frame.split_at_mut_checked(from) {
            crypto.ccm_seal(&self.key, CcmNonce::Thirteen(nonce), clear, payload, &mut mic);
        }
        mic
    }

    /// Decrypts a frame with its MIC in place and returns it without, if it is authentic.
    pub(crate) fn open<'f>(
        &self,
        crypto: &mut C,
        nonce: &[u8; 13],
        level: SecurityLevel,
        sealed: &'f mut [u8],
        private: usize,
    ) -> Option<&'f mut [u8]> {
        let len = sealed.len().checked_sub(self.mic_len())?;
        let (frame, mic) = sealed.split_at_mut(len);
        let mic = match self.tag {
            CcmTag::Zero => Tag::empty(CcmTag::Zero),
            _ => Tag::from_bytes(mic)?,
        };
        let (clear, payload) = frame.split_at_mut_checked(encrypted_from(level, private, len))?;
        crypto.ccm_open(&self.key, CcmNonce::Thirteen(nonce), clear, payload, &mic).ok()?;
        Some(frame)
    }
}

/// Where in a frame of `len` bytes that begins which is encrypted: behind its first `private` bytes, or with a level that does not
/// encrypt, behind all of it (7.6.3.4).
const fn encrypted_from(level: SecurityLevel, private: usize, len: usize) -> usize {
    if level.is_encrypted() || private > len { private } else { len }
}

/// The sealing and opening of frames whose nonces have the sender's frame counter, and that counter.
pub(crate) struct FrameSecurity<C: Crypto> {
    cipher: FrameCipher<C>,
    next_counter: u32,
    /// Reserved counters from `next_counter` on.
    reserved: u16,
}

impl<C: Crypto> FrameSecurity<C> {
    pub(crate) fn new(security: &LinkSecurity, crypto: &mut C) -> Self {
        Self { cipher: FrameCipher::new(security, crypto), next_counter: 0, reserved: 0 }
    }

    pub(crate) const fn mic_len(&self) -> usize {
        self.cipher.mic_len()
    }

    /// The auxiliary header of a frame with this counter, outgoing or acceptable.
    pub(crate) const fn header(&self, frame_counter: u32) -> AuxiliaryHeader {
        let FrameCipher { level, key_index, .. } = &self.cipher;
        AuxiliaryHeader { level: *level, key_id: KeyId::Index(*key_index), frame_counter }
    }

    /// A frame counter never used before. The last value is never used (7.5.8.2.1).
    pub(crate) fn take_counter<N: Nv>(&mut self, nv: &mut N) -> Result<u32, NvError> {
        if self.reserved == 0 {
            self.next_counter = nv.reserve(NvSlot::LinkFrameCounter, u32::from(RESERVATION))?;
            self.reserved = RESERVATION;
        }
        let counter = self.next_counter;
        if counter == u32::MAX {
            return Err(NvError::Exhausted);
        }
        self.next_counter += 1;
        self.reserved -= 1;
        Ok(counter)
    }

    /// Encrypts the payload of `frame`, which follows a header of `header_len` bytes, in place and returns the MIC over both.
    pub(crate) fn seal(
        &self,
        crypto: &mut C,
        source: Eui64,
        frame_counter: u32,
        frame: &mut [u8],
        header_len: usize,
    ) -> Tag {
        let nonce = self.header(frame_counter).nonce(source);
        self.cipher.seal(crypto, &nonce, self.cipher.level, frame, header_len)
    }

    /// Decrypts the payload of `sealed`, a frame with a header of `header_len` bytes and with its MIC, in place and returns
    /// the payload, if it and the header are authentic.
    pub(crate) fn open<'f>(
        &self,
        crypto: &mut C,
        source: Eui64,
        frame_counter: u32,
        sealed: &'f mut [u8],
        header_len: usize,
    ) -> Option<&'f mut [u8]> {
        let nonce = self.header(frame_counter).nonce(source);
        self.cipher.open(crypto, &nonce, self.cipher.level, sealed, header_len)?.get_mut(header_len..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_crypto::Soft;

    const KEY: [u8; 16] =
        [0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf];

    fn link(suite: LinkSuite) -> FrameSecurity<Soft> {
        FrameSecurity::new(&LinkSecurity { suite, key: KEY, key_index: 1 }, &mut Soft)
    }

    #[test]
    fn annex_c_command_frame_is_sealed_and_opened() {
        // IEEE 802.15.4-2006, C.2.3: level 6, counter 5; the header and the command's number
        // are authenticated, its one byte of content is encrypted.
        let header = [
            0x2b, 0xdc, 0x84, 0x21, 0x43, 0x02, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0xff, 0xff, 0x01, 0, 0, 0, 0,
            0x48, 0xde, 0xac, 0x06, 0x05, 0, 0, 0, 0x01,
        ];
        let sealed = [0xd8, 0x4f, 0xde, 0x52, 0x90, 0x61, 0xf9, 0xc6, 0xf1];
        let source = Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 1]);
        let link = link(LinkSuite::Ccm64);
        let mut frame = [&header[..], &[0xce]].concat();
        let mic = link.seal(&mut Soft, source, 5, &mut frame, header.len());
        assert_eq!([&frame[header.len()..], mic.bytes()].concat(), sealed);
        let mut frame = [&header[..], &sealed].concat();
        let opened = link.open(&mut Soft, source, 5, &mut frame, header.len());
        assert_eq!(opened.as_deref(), Some(&[0xce][..]));
    }

    #[test]
    fn annex_c_beacon_frame_is_sealed_and_opened() {
        // IEEE 802.15.4-2006, C.2.1: level 2, counter 5; all is authenticated, nothing encrypted.
        let frame = [
            0x08, 0xd0, 0x84, 0x21, 0x43, 0x01, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0x02, 0x05, 0, 0, 0, 0x55,
            0xcf, 0, 0, 0x51, 0x52, 0x53, 0x54,
        ];
        let mic = [0x22, 0x3b, 0xc1, 0xec, 0x84, 0x1a, 0xb5, 0x53];
        let source = Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 1]);
        let link = link(LinkSuite::CbcMac64);
        let mut sealed = frame;
        assert_eq!(link.seal(&mut Soft, source, 5, &mut sealed, 18).bytes(), mic);
        assert_eq!(sealed, frame, "in the clear");
        let mut sealed = [&frame[..], &mic].concat();
        assert_eq!(link.open(&mut Soft, source, 5, &mut sealed, 18).as_deref(), Some(&frame[18..]));
        sealed[20] ^= 1;
        assert_eq!(link.open(&mut Soft, source, 5, &mut sealed, 18), None);
    }

    #[test]
    fn annex_c_data_frame_is_encrypted_alone() {
        // IEEE 802.15.4-2006, C.2.2: level 4, counter 5; nothing is authenticated.
        let header = [
            0x69, 0xdc, 0x84, 0x21, 0x43, 0x02, 0, 0, 0, 0, 0x48, 0xde, 0xac, 0x01, 0, 0, 0, 0, 0x48, 0xde,
            0xac, 0x04, 0x05, 0, 0, 0,
        ];
        let source = Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 1]);
        let link = link(LinkSuite::Ctr);
        let mut frame = [&header[..], b"abcd"].concat();
        assert_eq!(link.seal(&mut Soft, source, 5, &mut frame, header.len()).bytes(), []);
        assert_eq!(frame[header.len()..], [0xd4, 0x3e, 0x02, 0x2b]);
        let opened = link.open(&mut Soft, source, 5, &mut frame, header.len());
        assert_eq!(opened.as_deref(), Some(&b"abcd"[..]));
    }

    struct Values {
        next: u32,
        asked: u32,
    }

    impl Nv for Values {
        fn reserve(&mut self, _: NvSlot, count: u32) -> Result<u32, NvError> {
            self.asked += 1;
            let first = self.next;
            self.next = self.next.saturating_add(count);
            Ok(first)
        }
    }

    #[test]
    fn counters_are_taken_from_blocks_and_the_last_is_never_used() {
        let mut link = link(LinkSuite::Ccm32);
        let mut nv = Values { next: 7, asked: 0 };
        for expected in 7..7 + 2 * u32::from(RESERVATION) {
            assert_eq!(link.take_counter(&mut nv), Ok(expected));
        }
        assert_eq!(nv.asked, 2);
        nv.next = u32::MAX - 1;
        assert_eq!(link.take_counter(&mut nv), Ok(u32::MAX - 1));
        for _ in 0..3 {
            assert_eq!(link.take_counter(&mut nv), Err(NvError::Exhausted));
        }
    }
}
