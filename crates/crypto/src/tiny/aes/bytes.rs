//! AES-128 a byte at a time, with each round's key made when it is needed.

use core::hint::black_box;

use super::rounds::{ROUNDS, next_constant, previous_constant};
use super::s_box::{self, doubled, substitute};

/// Encrypts `block` in place, a byte at a time.
#[cfg(any(target_pointer_width = "16", test))]
pub(in crate::tiny) fn encrypt(key: &[u8; 16], block: &mut [u8; 16]) {
    let mut k = *key;
    let mut other = [0; 16];
    for (byte, key) in block.iter_mut().zip(&k) {
        *byte ^= key;
    }
    let mut constant = 1;
    for _ in 0..4 {
        constant = next_key(&mut k, constant);
        round(block, &k, &mut other);
        constant = next_key(&mut k, constant);
        round(&other, &k, block);
    }
    constant = next_key(&mut k, constant);
    round(block, &k, &mut other);
    next_key(&mut k, constant);
    last_round(&other, &k, block);
}

#[inline(never)]
pub(in crate::tiny) fn round(from: &[u8; 16], key: &[u8; 16], to: &mut [u8; 16]) {
    column([from[0], from[5], from[10], from[15]], key, to, 0);
    column([from[4], from[9], from[14], from[3]], key, to, 4);
    column([from[8], from[13], from[2], from[7]], key, to, 8);
    column([from[12], from[1], from[6], from[11]], key, to, 12);
}

#[inline(always)]
fn column(from: [u8; 4], key: &[u8; 16], to: &mut [u8; 16], n: usize) {
    let [a, b, c, d] = from;
    let (mut w, mut x, mut y, mut z) = (key[n], key[n + 1], key[n + 2], key[n + 3]);
    let (one, two) = (substitute(a), doubled(a));
    w ^= two;
    x ^= one;
    y ^= one;
    z ^= one ^ two;
    let (one, two) = (substitute(b), doubled(b));
    x ^= two;
    y ^= one;
    z ^= one;
    w ^= one ^ two;
    let (one, two) = (substitute(c), doubled(c));
    y ^= two;
    z ^= one;
    w ^= one;
    x ^= one ^ two;
    let (one, two) = (substitute(d), doubled(d));
    z ^= two;
    w ^= one;
    x ^= one;
    y ^= one ^ two;
    (to[n], to[n + 1], to[n + 2], to[n + 3]) = (w, x, y, z);
}

#[inline(never)]
pub(in crate::tiny) fn last_round(from: &[u8; 16], key: &[u8; 16], to: &mut [u8; 16]) {
    to[0] = substitute(from[0]) ^ key[0];
    to[1] = substitute(from[5]) ^ key[1];
    to[2] = substitute(from[10]) ^ key[2];
    to[3] = substitute(from[15]) ^ key[3];
    to[4] = substitute(from[4]) ^ key[4];
    to[5] = substitute(from[9]) ^ key[5];
    to[6] = substitute(from[14]) ^ key[6];
    to[7] = substitute(from[3]) ^ key[7];
    to[8] = substitute(from[8]) ^ key[8];
    to[9] = substitute(from[13]) ^ key[9];
    to[10] = substitute(from[2]) ^ key[10];
    to[11] = substitute(from[7]) ^ key[11];
    to[12] = substitute(from[12]) ^ key[12];
    to[13] = substitute(from[1]) ^ key[13];
    to[14] = substitute(from[6]) ^ key[14];
    to[15] = substitute(from[11]) ^ key[15];
}

/// Makes the round key after `key`, with the constant of its round; returns that of the next.
#[inline(never)]
fn next_key(key: &mut [u8; 16], constant: u8) -> u8 {
    // Written out: what a loop costs is as much as what it does here.
    key[0] ^= substitute(key[13]) ^ constant;
    key[1] ^= substitute(key[14]);
    key[2] ^= substitute(key[15]);
    key[3] ^= substitute(key[12]);
    key[4] ^= key[0];
    key[5] ^= key[1];
    key[6] ^= key[2];
    key[7] ^= key[3];
    key[8] ^= key[4];
    key[9] ^= key[5];
    key[10] ^= key[6];
    key[11] ^= key[7];
    key[12] ^= key[8];
    key[13] ^= key[9];
    key[14] ^= key[10];
    key[15] ^= key[11];
    next_constant(constant)
}

/// Decrypts `block` in place: the rounds, and the keys of the rounds, from the last to the first.
pub(in crate::tiny) fn decrypt(key: &[u8; 16], block: &mut [u8; 16]) {
    let mut k = *key;
    let mut constant = 1;
    for _ in 0..ROUNDS {
        constant = next_key(&mut k, constant);
    }
    for round in (0..ROUNDS).rev() {
        add(block, &k);
        if round < ROUNDS - 1 {
            unmix_columns(block);
        }
        unsubstitute(block);
        constant = previous_constant(constant);
        previous_key(&mut k, constant);
    }
    add(block, &k);
}

pub(in crate::tiny) fn add(block: &mut [u8; 16], key: &[u8; 16]) {
    for (byte, key) in block.iter_mut().zip(key) {
        *byte ^= key;
    }
}

/// ShiftRows and SubBytes, backwards.
pub(in crate::tiny) fn unsubstitute(block: &mut [u8; 16]) {
    let from = *block;
    let mut place = 0;
    for byte in &from {
        block[place & 15] = s_box::unsubstitute(*byte);
        place += 5;
    }
}

/// MixColumns, backwards: its matrix is that of MixColumns times one with but two numbers in it.
#[inline(never)]
pub(in crate::tiny) fn unmix_columns(block: &mut [u8; 16]) {
    for column in block.as_chunks_mut::<4>().0 {
        let [a, b, c, d] = column;
        let (even, odd) = (double(double(*a ^ *c)), double(double(*b ^ *d)));
        let [a, b, c, d] = [*a ^ even, *b ^ odd, *c ^ even, *d ^ odd];
        let all = a ^ b ^ c ^ d;
        *column = [
            a ^ all ^ double(a ^ b),
            b ^ all ^ double(b ^ c),
            c ^ all ^ double(c ^ d),
            d ^ all ^ double(d ^ a),
        ];
    }
}

fn double(byte: u8) -> u8 {
    (byte << 1) ^ (0x1b & highest_bit(byte).wrapping_neg())
}

/// The compiler cannot tell that it is a bit, so it makes no branch of it.
fn highest_bit(byte: u8) -> u8 {
    black_box(byte >> 7)
}

/// Makes the round key before `key`, with the constant of the round of `key`.
fn previous_key(key: &mut [u8; 16], constant: u8) {
    for n in (4..16).rev() {
        key[n] ^= key[n - 4];
    }
    let [a, b, c, d] = [key[12], key[13], key[14], key[15]];
    key[0] ^= substitute(b) ^ constant;
    key[1] ^= substitute(c);
    key[2] ^= substitute(d);
    key[3] ^= substitute(a);
}
