//! AES-128 with a table of columns, and with the keys of all rounds.

use zeroize::{Zeroize, Zeroizing};

use super::rounds::{ROUNDS, next_constant};
use crate::AES_128_KEY;
use crate::flash::table;
use crate::masked::BlockCipher;

/// A column of the state or of a key, its first byte the lowest.
type Column = u32;

/// The keys of all rounds, from the first to the last.
#[derive(Clone, Default)]
pub struct Schedule([[Column; 4]; ROUNDS as usize + 1]);

impl Zeroize for Schedule {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Schedule {
    /// Makes them of `key`.
    pub(super) fn expand(&mut self, key: &[u8; AES_128_KEY]) {
        let mut last = Zeroizing::new(columns(key));
        let mut constant = 1;
        for round in &mut self.0 {
            *round = *last;
            let mut before = substituted([last[3].rotate_right(8); 4]) ^ Column::from(constant);
            for column in last.iter_mut() {
                *column ^= before;
                before = *column;
            }
            constant = next_constant(constant);
        }
    }

    /// The key that they were made of: that of the first round.
    pub(super) fn first(&self) -> Zeroizing<[u8; AES_128_KEY]> {
        let mut key = Zeroizing::new([0; AES_128_KEY]);
        write(&self.0[0], &mut key);
        key
    }
}

impl BlockCipher for Schedule {
    fn encrypt(&self, block: &mut [u8; 16]) {
        let [first, rounds @ .., last] = &self.0;
        let mut state = columns(block);
        add(&mut state, first);
        for key in rounds {
            state = shifted(&state, mixed);
            add(&mut state, key);
        }
        state = shifted(&state, substituted);
        add(&mut state, last);
        write(&state, block);
    }
}

fn columns(bytes: &[u8; 16]) -> [Column; 4] {
    let mut columns = [0; 4];
    for (column, bytes) in columns.iter_mut().zip(bytes.as_chunks().0) {
        *column = Column::from_le_bytes(*bytes);
    }
    columns
}

fn write(columns: &[Column; 4], bytes: &mut [u8; 16]) {
    for (bytes, column) in bytes.as_chunks_mut().0.iter_mut().zip(columns) {
        *bytes = column.to_le_bytes();
    }
}

fn add(state: &mut [Column; 4], key: &[Column; 4]) {
    for (column, key) in state.iter_mut().zip(key) {
        *column ^= key;
    }
}

/// ShiftRows, and what `of` makes of the four columns from which it takes the bytes of one.
#[inline(always)]
fn shifted(&[a, b, c, d]: &[Column; 4], of: fn([Column; 4]) -> Column) -> [Column; 4] {
    [of([a, b, c, d]), of([b, c, d, a]), of([c, d, a, b]), of([d, a, b, c])]
}

/// SubBytes and MixColumns of the first byte of the first column, the second of the second and so on.
#[inline(never)]
fn mixed([a, b, c, d]: [Column; 4]) -> Column {
    let even = entry(a as u8) ^ entry((c >> 16) as u8).rotate_right(16);
    let odd = entry((b >> 8) as u8) ^ entry((d >> 24) as u8).rotate_right(16);
    even ^ odd.rotate_left(8)
}

/// SubBytes of the same.
#[inline(never)]
fn substituted([a, b, c, d]: [Column; 4]) -> Column {
    Column::from_le_bytes([
        substitute(a as u8),
        substitute((b >> 8) as u8),
        substitute((c >> 16) as u8),
        substitute((d >> 24) as u8),
    ])
}

fn entry(byte: u8) -> Column {
    COLUMNS.get(byte.into())
}

/// The substitution is in the table, too.
fn substitute(byte: u8) -> u8 {
    (entry(byte) >> 8) as u8
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
            assert_eq!(entry(byte).to_le_bytes(), [twice, once, once, once ^ twice]);
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
            assert_eq!(schedule.0[round], words.map(u32::swap_bytes));
        }
    }

    #[test]
    fn a_key_is_wiped_whole() {
        let mut schedule = Schedule::default();
        schedule.expand(&[7; 16]);
        assert!(schedule.0.as_flattened().iter().all(|word| *word != 0));
        schedule.zeroize();
        assert_eq!(schedule.0, [[0; 4]; 11]);
    }
}
