use sixlock_crypto::{AuthenticationFailed, constant_time_eq, wipe};

use super::{Cipher, EspAlgorithm, EspPacket, EspParts, Integrity, MAX_ICV};

/// Encrypt-then-MAC: a cipher `X` and an integrity algorithm `I`.
pub struct Combined<X, I> {
    /// The cipher.
    pub cipher: X,
    /// The integrity algorithm.
    pub integrity: I,
}

impl<C, X: Cipher<C>, I: Integrity<C>> EspAlgorithm<C> for Combined<X, I> {
    fn iv_len(&self) -> usize {
        self.cipher.iv_len()
    }

    fn alignment(&self) -> usize {
        self.cipher.alignment()
    }

    fn icv_len(&self) -> usize {
        self.integrity.icv_len()
    }

    fn random_iv(&self) -> bool {
        self.cipher.random_iv()
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn seal(&self, crypto: &mut C, mut packet: EspPacket<'_>) {
        let icv = self.integrity.icv_encrypting(crypto, &self.cipher, &mut packet);
        let n = self.integrity.icv_len();
        if let (Some(field), Some(icv)) = (packet.parts().icv.get_mut(..n), icv.get(..n)) {
            field.copy_from_slice(icv);
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn open(&self, crypto: &mut C, mut packet: EspPacket<'_>) -> Result<(), AuthenticationFailed> {
        let mut received = [0; MAX_ICV];
        let n = self.integrity.icv_len();
        let (received, icv) =
            received.get_mut(..n).zip(packet.parts().icv.get(..n)).ok_or(AuthenticationFailed)?;
        received.copy_from_slice(icv);
        let is_authentic = |computed: &[u8; MAX_ICV]| {
            computed.get(..n).is_some_and(|computed| constant_time_eq(computed, received))
        };
        if let Some(computed) = self.integrity.icv_decrypting(crypto, &self.cipher, &mut packet) {
            if is_authentic(&computed) {
                return Ok(());
            }
            wipe(packet.parts().data);
            return Err(AuthenticationFailed);
        }
        let computed = self.integrity.icv(crypto, &&*packet.authenticated());
        if !is_authentic(&computed) {
            return Err(AuthenticationFailed);
        }
        let EspParts { iv, data, .. } = packet.parts();
        self.cipher.decrypt(crypto, iv, data);
        Ok(())
    }
}

/// A cipher without integrity. It accepts forgeries and replays, and is for comparison only.
pub struct EncryptionOnly<X>(pub X);

impl<C, X: Cipher<C>> EspAlgorithm<C> for EncryptionOnly<X> {
    fn iv_len(&self) -> usize {
        self.0.iv_len()
    }

    fn alignment(&self) -> usize {
        self.0.alignment()
    }

    fn icv_len(&self) -> usize {
        0
    }

    fn random_iv(&self) -> bool {
        self.0.random_iv()
    }

    fn seal(&self, crypto: &mut C, mut packet: EspPacket<'_>) {
        let EspParts { iv, data, .. } = packet.parts();
        self.0.encrypt(crypto, iv, data);
    }

    fn open(&self, crypto: &mut C, mut packet: EspPacket<'_>) -> Result<(), AuthenticationFailed> {
        let EspParts { iv, data, .. } = packet.parts();
        self.0.decrypt(crypto, iv, data);
        Ok(())
    }
}
