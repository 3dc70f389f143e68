use cc2538_pac::{RfcoreSfr, RfcoreXreg, SysCtrl};
use sixlock_base::Entropy;
use sixlock_crypto::{Hashes, SHA_256_DIGEST, Soft};

use crate::radio::{RECEIVE, RECEIVER_OFF, strobe};

/// Bytes of noise that the first state is made of: 32 bits for each of its own.
const NOISE: usize = 1024;

/// Random numbers: a chain of digests that begins with noise of the radio. What was given out says nothing of what was
/// before or comes after it.
pub(crate) struct Random {
    state: [u8; SHA_256_DIGEST],
    block: [u8; SHA_256_DIGEST],
    /// How many bytes of the block were given out.
    used: usize,
}

impl Random {
    /// Gathers noise from the receiver, which must not be in use (SWRU319, RFRND).
    pub(crate) fn gather(control: &SysCtrl, registers: &RfcoreXreg, fifo: &RfcoreSfr) -> Self {
        control.rcgcrfc().modify(|_, w| w.rfc0().set_bit());
        while control.rcgcrfc().read().rfc0().bit_is_clear() {}
        // SAFETY: 10 has the receiver run on without looking for frames.
        registers.frmctrl0().write(|w| unsafe { w.rx_mode().bits(0b10) });
        strobe(fifo, RECEIVE);
        let crypto = &mut Soft;
        let mut hash = crypto.sha256();
        for _ in 0..NOISE {
            // It is noise only as long as the receiver works.
            while registers.rssistat().read().rssi_valid().bit_is_clear() {}
            let byte =
                (0..8).fold(0, |bits, _| bits << 1 | u8::from(registers.rfrnd().read().irnd().bit_is_set()));
            crypto.sha256_update(&mut hash, &[byte]);
        }
        strobe(fifo, RECEIVER_OFF);
        Self { state: crypto.sha256_finish(hash), block: [0; SHA_256_DIGEST], used: SHA_256_DIGEST }
    }

    fn digest(&self, purpose: u8) -> [u8; SHA_256_DIGEST] {
        let mut hash = Soft.sha256();
        Soft.sha256_update(&mut hash, &self.state);
        Soft.sha256_update(&mut hash, &[purpose]);
        Soft.sha256_finish(hash)
    }
}

impl Entropy for Random {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.used == SHA_256_DIGEST {
                (self.block, self.state) = (self.digest(0), self.digest(1));
                self.used = 0;
            }
            *byte = core::mem::take(&mut self.block[self.used]);
            self.used += 1;
        }
    }
}
