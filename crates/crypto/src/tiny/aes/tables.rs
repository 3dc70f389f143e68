//! AES-128 with a table of columns, and with the keys of all rounds.

use zeroize::{Zeroize, Zeroizing};

use super::rounds::{ROUNDS, next_constant};
use crate::AES_128_KEY;
use crate::flash::table;
use crate::masked::BlockCipher;

/// A column of the state or of a key, its first byte the lowest.
type Column = u32;

/// Four columns in halves of 16 bits, the widest that all processors of devices compute with at once.
type Halves = [u16; 8];

/// The keys of all rounds, from the first to the last.
#[derive(Clone, Default)]
pub struct Schedule([Halves; ROUNDS as usize + 1]);

impl Zeroize for Schedule {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Schedule {
    /// Makes them of `key`.
    pub(in crate::tiny) fn expand(&mut self, key: &[u8; AES_128_KEY]) {
        let mut last = Zeroizing::new([0; 4]);
        for (column, bytes) in last.iter_mut().zip(key.as_chunks().0) {
            *column = Column::from_le_bytes(*bytes);
        }
        let mut constant = 1;
        for round in &mut self.0 {
            for (halves, column) in round.as_chunks_mut().0.iter_mut().zip(&*last) {
                *halves = halves_of(*column);
            }
            let [a, b, c, d] = last[3].to_le_bytes().map(substitute);
            let mut before = Column::from_le_bytes([b ^ constant, c, d, a]);
            for column in last.iter_mut() {
                *column ^= before;
                before = *column;
            }
            constant = next_constant(constant);
        }
    }

    /// The key that they were made of: that of the first round.
    pub(in crate::tiny) fn first(&self) -> Zeroizing<[u8; AES_128_KEY]> {
        let mut key = Zeroizing::new([0; AES_128_KEY]);
        for (bytes, half) in key.as_chunks_mut().0.iter_mut().zip(self.0[0]) {
            *bytes = half.to_le_bytes();
        }
        key
    }
}

impl BlockCipher for Schedule {
    fn encrypt(&self, block: &mut [u8; 16]) {
        let [first, rounds @ .., before_last, last] = &self.0;
        let (mut state, mut other) = ([0; 8], [0; 8]);
        for ((half, bytes), key) in state.iter_mut().zip(block.as_chunks().0).zip(first) {
            *half = u16::from_le_bytes(*bytes) ^ key;
        }
        for [one, next] in rounds.as_chunks().0 {
            round(&state, one, &mut other);
            round(&other, next, &mut state);
        }
        round(&state, before_last, &mut other);
        last_round(&other, last, block);
    }
}

#[inline(never)]
fn round(from: &Halves, key: &Halves, to: &mut Halves) {
    let byte = |n| byte(from, n);
    (to[0], to[1]) = mixed([byte(0), byte(5), byte(10), byte(15)], key[0], key[1]);
    (to[2], to[3]) = mixed([byte(4), byte(9), byte(14), byte(3)], key[2], key[3]);
    (to[4], to[5]) = mixed([byte(8), byte(13), byte(2), byte(7)], key[4], key[5]);
    (to[6], to[7]) = mixed([byte(12), byte(1), byte(6), byte(11)], key[6], key[7]);
}

/// SubBytes, MixColumns and AddRoundKey of a column. The columns of the four bytes are the same, rotated: by two bytes, which are the other
/// half, and two of them by one more.
#[inline(always)]
fn mixed([a, b, c, d]: [u8; 4], low: u16, high: u16) -> (u16, u16) {
    let ([a, more_a], [b, more_b]) = (entry(a), entry(b));
    let ([c, more_c], [d, more_d]) = (entry(c), entry(d));
    let (odd, more_odd) = ((b ^ more_d).swap_bytes(), (more_b ^ d).swap_bytes());
    let crossed = (odd ^ more_odd) & 0xff;
    (low ^ a ^ more_c ^ odd ^ crossed, high ^ more_a ^ c ^ more_odd ^ crossed)
}

#[inline(never)]
fn last_round(from: &Halves, key: &Halves, to: &mut [u8; 16]) {
    let mut place = 0;
    for (bytes, key) in to.as_chunks_mut().0.iter_mut().zip(key) {
        // ShiftRows takes each byte from the column behind that of the one before.
        let [low, high] = [place, place + 5].map(|place| substitute(byte(from, place & 15)));
        *bytes = (u16::from_le_bytes([low, high]) ^ key).to_le_bytes();
        place += 10;
    }
}

#[inline(always)]
fn byte(state: &Halves, n: usize) -> u8 {
    state[n / 2].to_le_bytes()[n % 2]
}

fn halves_of(column: Column) -> [u16; 2] {
    [column as u16, (column >> 16) as u16]
}

#[inline(always)]
fn entry(byte: u8) -> [u16; 2] {
    halves_of(COLUMNS.get(byte.into()))
}

/// The substitution is in the table, too.
fn substitute(byte: u8) -> u8 {
    let [half, _] = entry(byte);
    (half >> 8) as u8
}

table! {
    /// What SubBytes and MixColumns make of a byte, where it is the first of a column; the columns of the three others are these, rotated.
    COLUMNS: [u32; 256] = entries();
}

/// The S-box as [FIPS 197](https://doi.org/10.6028/NIST.FIPS.197-upd1) defines it (section 5.1.1), twice, once, once and three times.
const fn entries() -> [Column; 256] {
    let mut entries = [entry_of(0); 256];
    // Times 3, again and again, makes 1 all elements of GF(2^8) but 0; divided by 3, their inverses.
    let (mut element, mut inverse) = (1u8, 1u8);
    loop {
        element ^= double(element);
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        if inverse >= 0x80 {
            inverse ^= 0x09;
        }
        entries[element as usize] = entry_of(inverse);
        if element == 1 {
            return entries;
        }
    }
}

const fn entry_of(inverse: u8) -> Column {
    let near = inverse ^ inverse.rotate_left(1) ^ inverse.rotate_left(2);
    let once = near ^ inverse.rotate_left(3) ^ inverse.rotate_left(4) ^ 0x63;
    Column::from_le_bytes([double(once), once, once, double(once) ^ once])
}

const fn double(byte: u8) -> u8 {
    (byte << 1) ^ (0x1b * (byte >> 7))
}

#[cfg(test)]
mod tests {
    use super::super::s_box;
    use super::*;

    #[test]
    fn the_table_is_made_of_the_s_box() {
        for byte in 0..=u8::MAX {
            let (once, twice) = (s_box::substitute(byte), s_box::doubled(byte));
            assert_eq!(entry(byte).map(u16::to_le_bytes).as_flattened(), [twice, once, once, once ^ twice]);
        }
    }

    /// FIPS 197 appendix A.1: the words from 0 to 7, and the last four.
    #[test]
    fn keys_of_rounds_are_those_of_fips_197() {
        let mut schedule = Schedule::default();
        schedule.expand(&[
            0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
        ]);
        for (round, words) in [
            (0, [0x2b7e_1516, 0x28ae_d2a6, 0xabf7_1588, 0x09cf_4f3c_u32]),
            (1, [0xa0fa_fe17, 0x8854_2cb1, 0x23a3_3939, 0x2a6c_7605]),
            (10, [0xd014_f9a8, 0xc9ee_2589, 0xe13f_0cc8, 0xb663_0ca6]),
        ] {
            let halves = words.map(|word| halves_of(u32::swap_bytes(word)));
            assert_eq!(schedule.0[round], halves.as_flattened());
        }
    }

    #[test]
    fn a_key_is_wiped_whole() {
        let mut schedule = Schedule::default();
        schedule.expand(&[7; 16]);
        assert!(schedule.0.as_flattened().iter().all(|half| *half != 0));
        schedule.zeroize();
        assert_eq!(schedule.0, [[0; 8]; 11]);
    }
}
