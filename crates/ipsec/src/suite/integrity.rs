use sixlock_crypto::ipsec::{Authenticate, Cmac, Direction, HmacSha1, HmacSha256, MacAlgorithm, Xcbc};

use super::{BadKey, Cipher, EspPacket, EspParts, MAX_ICV};

/// The bytes that an ICV covers, in parts.
pub trait Message {
    /// Calls `add` with each part in turn.
    fn feed(&self, add: impl FnMut(&[u8]));
}

impl Message for &[u8] {
    fn feed(&self, mut add: impl FnMut(&[u8])) {
        add(self);
    }
}

/// An algorithm that computes ICVs, with its key.
pub trait Integrity<C> {
    /// Length of the ICV in bytes.
    fn icv_len(&self) -> usize;

    /// The ICV of `message`, in the first [`Integrity::icv_len`] bytes; the others are unspecified.
    fn icv(&self, crypto: &mut C, message: &impl Message) -> [u8; MAX_ICV];

    /// Encrypts the payload of `packet` in place with `cipher`. Returns its ICV, as [`Integrity::icv`] does.
    #[inline(always)]
    fn icv_encrypting(
        &self,
        crypto: &mut C,
        cipher: &impl Cipher<C>,
        packet: &mut EspPacket<'_>,
    ) -> [u8; MAX_ICV] {
        let EspParts { iv, data, .. } = packet.parts();
        cipher.encrypt(crypto, iv, data);
        self.icv(crypto, &&*packet.authenticated())
    }

    /// Computes the ICV of `packet` and decrypts its payload in place with `cipher`, in one pass. Returns the ICV, as
    /// [`Integrity::icv`] does, or `None`, with nothing done, if `crypto` has no such pass.
    #[inline(always)]
    fn icv_decrypting(
        &self,
        _crypto: &mut C,
        _cipher: &impl Cipher<C>,
        _packet: &mut EspPacket<'_>,
    ) -> Option<[u8; MAX_ICV]> {
        None
    }
}

/// The message authentication code `A`, of which `ICV` bytes are sent.
pub struct Code<C: Authenticate<A>, A: MacAlgorithm, const ICV: usize> {
    key: C::Key,
}

/// AES-XCBC-MAC-96 ([RFC 3566](https://www.rfc-editor.org/rfc/rfc3566)).
pub type Xcbc96<C> = Code<C, Xcbc, 12>;
/// AES-CMAC-96 ([RFC 4494](https://www.rfc-editor.org/rfc/rfc4494)).
pub type Cmac96<C> = Code<C, Cmac, 12>;
/// HMAC-SHA1-96 ([RFC 2404](https://www.rfc-editor.org/rfc/rfc2404)).
pub type HmacSha1_96<C> = Code<C, HmacSha1, 12>;
/// HMAC-SHA256-128 ([RFC 4868](https://www.rfc-editor.org/rfc/rfc4868)).
pub type HmacSha256_128<C> = Code<C, HmacSha256, 16>;

impl<C: Authenticate<A>, A: MacAlgorithm, const ICV: usize> Code<C, A, ICV> {
    /// Prepares `key`, which must have the algorithm's one length.
    pub fn new(crypto: &mut C, key: &[u8]) -> Result<Self, BadKey> {
        Ok(Self { key: crypto.authentication_key(key).ok_or(BadKey)? })
    }
}

impl<C: Authenticate<A>, A: MacAlgorithm, const ICV: usize> Integrity<C> for Code<C, A, ICV> {
    fn icv_len(&self) -> usize {
        ICV
    }

    fn icv(&self, crypto: &mut C, message: &impl Message) -> [u8; MAX_ICV] {
        let mut state = crypto.begin(&self.key);
        message.feed(|part| crypto.update(&mut state, part));
        icv_of(crypto.finish(state))
    }

    // Small processors do one after the other, which takes less flash.
    #[cfg(target_pointer_width = "64")]
    #[inline(always)]
    fn icv_encrypting(
        &self,
        crypto: &mut C,
        cipher: &impl Cipher<C>,
        packet: &mut EspPacket<'_>,
    ) -> [u8; MAX_ICV] {
        if let Some(code) = cipher.in_one_pass(crypto, Direction::Encrypt, &self.key, packet) {
            return icv_of(code);
        }
        let EspParts { iv, data, .. } = packet.parts();
        // The first writes of the code leave the store buffer while the cipher runs.
        let mut state = crypto.begin(&self.key);
        cipher.encrypt(crypto, iv, data);
        crypto.update(&mut state, packet.authenticated());
        icv_of(crypto.finish(state))
    }

    #[inline(always)]
    fn icv_decrypting(
        &self,
        crypto: &mut C,
        cipher: &impl Cipher<C>,
        packet: &mut EspPacket<'_>,
    ) -> Option<[u8; MAX_ICV]> {
        cipher.in_one_pass(crypto, Direction::Decrypt, &self.key, packet).map(icv_of)
    }
}

/// The first bytes of a code: no ICV is longer.
#[inline(always)]
fn icv_of(code: impl AsRef<[u8]>) -> [u8; MAX_ICV] {
    // Each algorithm's code has as many bytes, or more.
    match code.as_ref().first_chunk() {
        Some(icv) => *icv,
        None => [0; MAX_ICV],
    }
}
