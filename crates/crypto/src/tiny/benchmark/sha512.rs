//! SHA-512 ([FIPS 180-4](https://doi.org/10.6028/NIST.FIPS.180-4)) as a loop over its rounds, with each word as two of
//! 32 bits: small processors shift 64 bits in functions of the compiler's.

use core::ops::{AddAssign, BitAnd, BitXor, Not};

use crate::flash::table;

/// Length of a digest, in bytes.
pub const SHA_512_DIGEST: usize = 64;

const BLOCK: usize = 128;

table! {
    /// The first 64 bits of the fractional parts of the cube roots of the first 80 primes, the upper 32 first.
    CONSTANTS: [u32; 160] = [
        0x428a_2f98, 0xd728_ae22, 0x7137_4491, 0x23ef_65cd, 0xb5c0_fbcf, 0xec4d_3b2f, 0xe9b5_dba5, 0x8189_dbbc,
        0x3956_c25b, 0xf348_b538, 0x59f1_11f1, 0xb605_d019, 0x923f_82a4, 0xaf19_4f9b, 0xab1c_5ed5, 0xda6d_8118,
        0xd807_aa98, 0xa303_0242, 0x1283_5b01, 0x4570_6fbe, 0x2431_85be, 0x4ee4_b28c, 0x550c_7dc3, 0xd5ff_b4e2,
        0x72be_5d74, 0xf27b_896f, 0x80de_b1fe, 0x3b16_96b1, 0x9bdc_06a7, 0x25c7_1235, 0xc19b_f174, 0xcf69_2694,
        0xe49b_69c1, 0x9ef1_4ad2, 0xefbe_4786, 0x384f_25e3, 0x0fc1_9dc6, 0x8b8c_d5b5, 0x240c_a1cc, 0x77ac_9c65,
        0x2de9_2c6f, 0x592b_0275, 0x4a74_84aa, 0x6ea6_e483, 0x5cb0_a9dc, 0xbd41_fbd4, 0x76f9_88da, 0x8311_53b5,
        0x983e_5152, 0xee66_dfab, 0xa831_c66d, 0x2db4_3210, 0xb003_27c8, 0x98fb_213f, 0xbf59_7fc7, 0xbeef_0ee4,
        0xc6e0_0bf3, 0x3da8_8fc2, 0xd5a7_9147, 0x930a_a725, 0x06ca_6351, 0xe003_826f, 0x1429_2967, 0x0a0e_6e70,
        0x27b7_0a85, 0x46d2_2ffc, 0x2e1b_2138, 0x5c26_c926, 0x4d2c_6dfc, 0x5ac4_2aed, 0x5338_0d13, 0x9d95_b3df,
        0x650a_7354, 0x8baf_63de, 0x766a_0abb, 0x3c77_b2a8, 0x81c2_c92e, 0x47ed_aee6, 0x9272_2c85, 0x1482_353b,
        0xa2bf_e8a1, 0x4cf1_0364, 0xa81a_664b, 0xbc42_3001, 0xc24b_8b70, 0xd0f8_9791, 0xc76c_51a3, 0x0654_be30,
        0xd192_e819, 0xd6ef_5218, 0xd699_0624, 0x5565_a910, 0xf40e_3585, 0x5771_202a, 0x106a_a070, 0x32bb_d1b8,
        0x19a4_c116, 0xb8d2_d0c8, 0x1e37_6c08, 0x5141_ab53, 0x2748_774c, 0xdf8e_eb99, 0x34b0_bcb5, 0xe19b_48a8,
        0x391c_0cb3, 0xc5c9_5a63, 0x4ed8_aa4a, 0xe341_8acb, 0x5b9c_ca4f, 0x7763_e373, 0x682e_6ff3, 0xd6b2_b8a3,
        0x748f_82ee, 0x5def_b2fc, 0x78a5_636f, 0x4317_2f60, 0x84c8_7814, 0xa1f0_ab72, 0x8cc7_0208, 0x1a64_39ec,
        0x90be_fffa, 0x2363_1e28, 0xa450_6ceb, 0xde82_bde9, 0xbef9_a3f7, 0xb2c6_7915, 0xc671_78f2, 0xe372_532b,
        0xca27_3ece, 0xea26_619c, 0xd186_b8c7, 0x21c0_c207, 0xeada_7dd6, 0xcde0_eb1e, 0xf57d_4f7f, 0xee6e_d178,
        0x06f0_67aa, 0x7217_6fba, 0x0a63_7dc5, 0xa2c8_98a6, 0x113f_9804, 0xbef9_0dae, 0x1b71_0b35, 0x131c_471b,
        0x28db_77f5, 0x2304_7d84, 0x32ca_ab7b, 0x40c7_2493, 0x3c9e_be0a, 0x15c9_bebc, 0x431d_67c4, 0x9c10_0d4c,
        0x4cc5_d4be, 0xcb3e_42b6, 0x597f_299c, 0xfc65_7e2a, 0x5fcb_6fab, 0x3ad6_faec, 0x6c44_198c, 0x4a47_5817,
    ];
}

/// The same of the square roots of the first eight.
const INITIAL: [Word; 8] = [
    Word { high: 0x6a09_e667, low: 0xf3bc_c908 },
    Word { high: 0xbb67_ae85, low: 0x84ca_a73b },
    Word { high: 0x3c6e_f372, low: 0xfe94_f82b },
    Word { high: 0xa54f_f53a, low: 0x5f1d_36f1 },
    Word { high: 0x510e_527f, low: 0xade6_82d1 },
    Word { high: 0x9b05_688c, low: 0x2b3e_6c1f },
    Word { high: 0x1f83_d9ab, low: 0xfb41_bd6b },
    Word { high: 0x5be0_cd19, low: 0x137e_2179 },
];

/// The digest of `message`, which must be shorter than 2^32 bytes.
pub fn sha_512(message: &[u8]) -> [u8; SHA_512_DIGEST] {
    let mut state = INITIAL;
    let (blocks, rest) = message.as_chunks();
    for block in blocks {
        compress(&mut state, block);
    }
    let mut last = [0; BLOCK];
    for (to, from) in last.iter_mut().zip(rest.iter().chain(&[0x80])) {
        *to = *from;
    }
    // The length is of 128 bits; where it does not fit, a block of its own holds it.
    if rest.len() >= BLOCK - 16 {
        compress(&mut state, &last);
        last = [0; BLOCK];
    }
    let length = message.len() as u32;
    last[BLOCK - 5] = (length >> 29) as u8;
    last[BLOCK - 4..].copy_from_slice(&(length << 3).to_be_bytes());
    compress(&mut state, &last);
    let mut digest = [0; SHA_512_DIGEST];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(&state) {
        *bytes = word.to_bytes();
    }
    digest
}

#[inline(never)]
fn compress(state: &mut [Word; 8], block: &[u8; BLOCK]) {
    // The last sixteen words of the message schedule.
    let mut w = [Word::ZERO; 16];
    for (word, bytes) in w.iter_mut().zip(block.as_chunks().0) {
        *word = Word::from_bytes(bytes);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for t in 0..80 {
        let word = w[t % 16];
        let mut one = h;
        one += Word { high: CONSTANTS.get(2 * t), low: CONSTANTS.get(2 * t + 1) };
        one += word;
        one += e.rotate(14) ^ e.rotate(18) ^ e.rotate(41);
        one += (e & f) ^ (!e & g);
        let mut two = a.rotate(28) ^ a.rotate(34) ^ a.rotate(39);
        two += (a & b) ^ (a & c) ^ (b & c);
        two += one;
        d += one;
        (h, g, f, e) = (g, f, e, d);
        (d, c, b, a) = (c, b, a, two);
        let (near, far) = (w[(t + 1) % 16], w[(t + 14) % 16]);
        let mut next = word;
        next += near.rotate(1) ^ near.rotate(8) ^ near.shift(7);
        next += w[(t + 9) % 16];
        next += far.rotate(19) ^ far.rotate(61) ^ far.shift(6);
        w[t % 16] = next;
    }
    for (word, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word += value;
    }
}

/// A number of 64 bits.
#[derive(Clone, Copy)]
struct Word {
    high: u32,
    low: u32,
}

impl Word {
    const ZERO: Self = Self { high: 0, low: 0 };

    fn from_bytes([a, b, c, d, e, f, g, h]: &[u8; 8]) -> Self {
        Self { high: u32::from_be_bytes([*a, *b, *c, *d]), low: u32::from_be_bytes([*e, *f, *g, *h]) }
    }

    fn to_bytes(self) -> [u8; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (self.high.to_be_bytes(), self.low.to_be_bytes());
        [a, b, c, d, e, f, g, h]
    }

    /// The bits rotated `n` places to the right, of which there are 1 to 63, but not 32.
    #[inline(always)]
    fn rotate(self, n: u32) -> Self {
        let Self { high, low } = if n < 32 { self } else { Self { high: self.low, low: self.high } };
        let n = n % 32;
        Self { high: high >> n | low << (32 - n), low: low >> n | high << (32 - n) }
    }

    /// The bits shifted `n` places to the right, of which there are 1 to 31.
    #[inline(always)]
    fn shift(self, n: u32) -> Self {
        Self { high: self.high >> n, low: self.low >> n | self.high << (32 - n) }
    }
}

impl AddAssign for Word {
    #[inline(never)]
    fn add_assign(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high = self.high.wrapping_add(other.high).wrapping_add(carry.into());
    }
}

impl BitXor for Word {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        Self { high: self.high ^ other.high, low: self.low ^ other.low }
    }
}

impl BitAnd for Word {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self { high: self.high & other.high, low: self.low & other.low }
    }
}

impl Not for Word {
    type Output = Self;

    fn not(self) -> Self {
        Self { high: !self.high, low: !self.low }
    }
}
