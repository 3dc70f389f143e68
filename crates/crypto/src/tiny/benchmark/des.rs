//! DES ([FIPS 46-3](https://csrc.nist.gov/pubs/fips/46-3/final)), with the key of each round chosen when it is needed,
//! from a byte for each of its bits.

use crate::flash::table;

/// Length of a block and of a key with its parity bits, in bytes.
pub(super) const BLOCK: usize = 8;

/// The four rows of S1, of S2 and so on.
const S_BOXES: [[u8; 16]; 32] = [
    [14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7],
    [0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8],
    [4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0],
    [15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13],
    [15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10],
    [3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5],
    [0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15],
    [13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9],
    [10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8],
    [13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1],
    [13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7],
    [1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12],
    [7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15],
    [13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9],
    [10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4],
    [3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14],
    [2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9],
    [14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6],
    [4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14],
    [11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3],
    [12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11],
    [10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8],
    [9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6],
    [4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13],
    [4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1],
    [13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6],
    [1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2],
    [6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12],
    [13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7],
    [1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2],
    [7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8],
    [2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11],
];

/// The permutation P: which bit of those that come out of the S-boxes is the first, the second and so on.
const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6,
    22, 11, 4, 25,
];

table! {
    /// What comes out of each S-box, 64 numbers a box, with its bits where the permutation puts them.
    PERMUTED: [u32; 512] = permuted();
}

const fn permuted() -> [u32; 512] {
    let mut permuted = [0; 512];
    let mut n = 0;
    while n < permuted.len() {
        let (s_box, bits) = (n / 64, n % 64);
        // The outer bits are the row, the inner ones the column.
        let row = (bits >> 4 & 2) | (bits & 1);
        let out = (S_BOXES[4 * s_box + row][bits >> 1 & 15] as u32) << (28 - 4 * s_box);
        let mut bit = 0;
        while bit < 32 {
            permuted[n] = permuted[n] << 1 | out >> (32 - PERMUTATION[bit]) & 1;
            bit += 1;
        }
        n += 1;
    }
    permuted
}

table! {
    /// Which bits of the key, numbered from 1, the two halves of its schedule are (PC-1).
    CHOICE_1: [u8; 56] = [
        57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
        63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
    ];
}

table! {
    /// Which bits of the halves, numbered from 1, are the key of a round (PC-2): 24 of the first, 24 of the other.
    CHOICE_2: [u8; 48] = [
        14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
        41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
    ];
}

/// The way through the cipher, which is the order of the rounds' keys.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

impl Direction {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Encrypt => Self::Decrypt,
            Self::Decrypt => Self::Encrypt,
        }
    }
}

/// A block between its initial permutation and the same backwards, which cancel out between one DES and the next.
pub(super) struct Halves {
    left: u32,
    right: u32,
}

impl Halves {
    /// Every other bit of each byte, the last byte's first, to each half.
    pub(super) fn new(block: &[u8; BLOCK]) -> Self {
        let mut block = *block;
        let (mut left, mut right) = (0, 0);
        for _ in 0..4 {
            for byte in block.iter_mut().rev() {
                right = right << 1 | u32::from(*byte >> 7);
                left = left << 1 | u32::from(*byte >> 6 & 1);
                *byte <<= 2;
            }
        }
        Self { left, right }
    }

    pub(super) fn write(self, block: &mut [u8; BLOCK]) {
        let Self { mut left, mut right } = self;
        for _ in 0..4 {
            for byte in block.iter_mut() {
                *byte = *byte >> 2 | (right as u8 & 1) << 7 | (left as u8 & 1) << 6;
                right >>= 1;
                left >>= 1;
            }
        }
    }

    /// The sixteen rounds under `key`, whose bits of parity are not looked at.
    #[inline(never)]
    pub(super) fn apply(&mut self, key: &[u8; BLOCK], direction: Direction) {
        let key = Key::new(key);
        for n in 0..16 {
            let turned = match direction {
                Direction::Encrypt => turned(n),
                Direction::Decrypt => turned(15 - n),
            };
            let mixed = self.left ^ mix(self.right, &key, turned);
            (self.left, self.right) = (self.right, mixed);
        }
        (self.left, self.right) = (self.right, self.left);
    }
}

/// By how many bits the halves of the key are rotated in a round, counting rounds from 0: by two more each time, but
/// by one in the first, second, ninth and last.
fn turned(round: u8) -> u8 {
    2 * round + 1 - u8::from(round >= 1) - u8::from(round >= 8) - u8::from(round == 15)
}

/// A key without its parity, a byte a bit. Each half of 28 bits is there twice, so that wherever it begins after it was
/// rotated, it can be read on.
struct Key {
    first: [u8; 56],
    second: [u8; 56],
}

impl Key {
    fn new(key: &[u8; BLOCK]) -> Self {
        let mut bits = [0; 64];
        for (bits, byte) in bits.as_chunks_mut::<8>().0.iter_mut().zip(key) {
            let mut byte = *byte;
            for bit in bits.iter_mut().rev() {
                *bit = byte & 1;
                byte >>= 1;
            }
        }
        let half = |from: usize| {
            let mut half = [0; 56];
            let (once, again) = half.split_at_mut(28);
            for (n, (once, again)) in once.iter_mut().zip(again).enumerate() {
                *once = bits[usize::from(CHOICE_1.get(from + n) - 1) % 64];
                *again = *once;
            }
            half
        };
        Self { first: half(0), second: half(28) }
    }

    /// The six bits for an S-box, when the halves are rotated by `turned`.
    fn choose(&self, s_box: usize, turned: u8) -> u8 {
        let (half, before) = if s_box < 4 { (&self.first, 1) } else { (&self.second, 29) };
        let mut bits = 0;
        for n in 0..6 {
            let number = CHOICE_2.get(6 * s_box + n) - before + turned;
            bits = bits << 1 | half.get(usize::from(number)).copied().unwrap_or_default();
        }
        bits
    }
}

/// What the S-boxes make of half a block and the round's key.
fn mix(right: u32, key: &Key, turned: u8) -> u32 {
    let mut mixed = 0;
    // The lowest six bits are an S-box's, which overlap by two: with the last of the half, the first five.
    let mut bits = right.rotate_left(5);
    for s_box in 0..8 {
        let index = (bits as u8 & 0x3f) ^ key.choose(s_box, turned);
        mixed ^= PERMUTED.get(64 * s_box + usize::from(index));
        bits = bits.rotate_left(4);
    }
    mixed
}
