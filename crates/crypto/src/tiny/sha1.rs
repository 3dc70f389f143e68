//! SHA-1 ([FIPS 180-4](https://doi.org/10.6028/NIST.FIPS.180-4)) as a loop over its rounds.
//!
//! Collisions of it are known, which HMAC does not suffer from; it signs nothing here.

use zeroize::Zeroize;

use super::hash::{BLOCK, State};

/// The words of a computation.
#[derive(Clone)]
pub struct Sha1([u32; 5]);

impl Zeroize for Sha1 {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl State for Sha1 {
    const INITIAL: Self = Self([0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]);

    fn words(&self) -> &[u32] {
        &self.0
    }

    fn compress(&mut self, block: &[u8; BLOCK]) {
        // The last sixteen words of the message schedule.
        let mut w = [0; 16];
        for (word, bytes) in w.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        let [mut a, mut b, mut c, mut d, mut e] = self.0;
        for t in 0..80 {
            if t >= 16 {
                let word: u32 = w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ w[t % 16];
                w[t % 16] = word.rotate_left(1);
            }
            let (mixed, constant) = match t {
                0..20 => ((b & c) | (!b & d), 0x5a82_7999),
                20..40 => (b ^ c ^ d, 0x6ed9_eba1),
                40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc_u32),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e);
            (e, d, c, b, a) =
                (d, c, b.rotate_left(30), a, sum.wrapping_add(constant).wrapping_add(w[t % 16]));
        }
        for (word, value) in self.0.iter_mut().zip([a, b, c, d, e]) {
            *word = word.wrapping_add(value);
        }
    }
}
