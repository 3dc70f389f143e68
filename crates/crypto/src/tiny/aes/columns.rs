//! AES-128 a column at a time: on a processor of 32 bits that takes less room than a byte at a time, and no longer.

use super::rounds::{ROUNDS, next_constant};
use super::s_box::substitute;

/// A column of the state or of a key, its first byte the lowest.
type Column = u32;

/// Encrypts `block` in place.
pub(in crate::tiny) fn encrypt(key: &[u8; 16], block: &mut [u8; 16]) {
    let mut key = columns(key);
    let mut state = columns(block);
    add(&mut state, &key);
    let mut constant = 1;
    for round in 1..=ROUNDS {
        next_key(&mut key, constant);
        constant = next_constant(constant);
        let from = state;
        for (n, column) in state.iter_mut().enumerate() {
            // ShiftRows takes the bytes of a column from four.
            *column = substituted(from[n], from[(n + 1) & 3], from[(n + 2) & 3], from[(n + 3) & 3]);
            if round < ROUNDS {
                *column = mixed(*column);
            }
        }
        add(&mut state, &key);
    }
    for (bytes, column) in block.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = column.to_le_bytes();
    }
}

fn columns(bytes: &[u8; 16]) -> [Column; 4] {
    let mut columns = [0; 4];
    for (column, bytes) in columns.iter_mut().zip(bytes.as_chunks().0) {
        *column = Column::from_le_bytes(*bytes);
    }
    columns
}

fn add(state: &mut [Column; 4], key: &[Column; 4]) {
    for (column, key) in state.iter_mut().zip(key) {
        *column ^= key;
    }
}

/// SubBytes of the first byte of the first column, the second of the second and so on.
#[inline(never)]
fn substituted(a: Column, b: Column, c: Column, d: Column) -> Column {
    let byte = |column: Column, place: u32| Column::from(substitute((column >> place) as u8)) << place;
    byte(a, 0) | byte(b, 8) | byte(c, 16) | byte(d, 24)
}

/// MixColumns: each byte twice, the next one three times and the other two once.
fn mixed(column: Column) -> Column {
    let next = column.rotate_right(8);
    doubled(column ^ next) ^ next ^ column.rotate_right(16) ^ column.rotate_right(24)
}

/// Each byte multiplied by x in GF(2^8), in the same time whatever it is.
fn doubled(column: Column) -> Column {
    ((column & 0x7f7f_7f7f) << 1) ^ (((column >> 7) & 0x0101_0101) * 0x1b)
}

/// Makes the round key after `key`, with the constant of its round.
fn next_key(key: &mut [Column; 4], constant: u8) {
    let last = key[3].rotate_right(8);
    let mut before = substituted(last, last, last, last) ^ Column::from(constant);
    for column in key {
        *column ^= before;
        before = *column;
    }
}
