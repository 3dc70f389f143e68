use sixlock_crypto::{AuthenticationFailed, constant_time_eq};

use super::{Cipher, EspAlgorithm, EspPacket, EspParts, Integrity, Message, high_half};

/// A cipher `X` and an algorithm `I` that authenticates what it has encrypted.
pub struct Combined<X, I> {
    /// What encrypts.
    pub cipher: X,
    /// What authenticates.
    pub integrity: I,
}

/// An ESP packet as far as its ICV covers it.
struct Authenticated<'a>(&'a EspPacket<'a>);

impl Message for Authenticated<'_> {
    fn feed(&self, mut add: impl FnMut(&[u8])) {
        let packet = self.0;
        add(packet.authenticated());
        add(high_half(packet.sequence, packet.extended, &mut [0; 4]));
    }
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

    fn seal(&self, crypto: &mut C, mut packet: EspPacket<'_>) {
        let EspParts { iv, data, .. } = packet.parts();
        self.cipher.encrypt(crypto, iv, data);
        let icv = self.integrity.icv(crypto, &Authenticated(&packet));
        for (byte, computed) in packet.parts().icv.iter_mut().zip(icv) {
            *byte = computed;
        }
    }

    fn open(&self, crypto: &mut C, mut packet: EspPacket<'_>) -> Result<(), AuthenticationFailed> {
        let computed = self.integrity.icv(crypto, &Authenticated(&packet));
        let EspParts { iv, data, icv, .. } = packet.parts();
        let expected = computed.get(..self.integrity.icv_len()).ok_or(AuthenticationFailed)?;
        if !constant_time_eq(expected, icv) {
            return Err(AuthenticationFailed);
        }
        self.cipher.decrypt(crypto, iv, data);
        Ok(())
    }
}

/// A cipher alone. It accepts forgeries and replays, and is here to be compared with.
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
