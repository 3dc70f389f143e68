//! Numbers of 256 bits, and their sums, in a time that does not depend on their values.

use core::hint::black_box;

use crate::flash::Table;

/// The words of a number, the lowest first.
pub(super) type Number = [u32; 8];

/// The words of a product, the lowest first.
pub(super) type Wide = [u32; 16];

/// The lower half of a product.
pub(super) fn lower([lower @ .., _, _, _, _, _, _, _, _]: &Wide) -> &Number {
    lower
}

/// The upper half of a product.
pub(super) fn upper([_, _, _, _, _, _, _, _, upper @ ..]: &mut Wide) -> &mut Number {
    upper
}

/// The number that 32 bytes spell, the highest first.
pub(super) fn from_bytes(bytes: &[u8; 32]) -> Number {
    let mut number = [0; 8];
    for (word, bytes) in number.iter_mut().rev().zip(bytes.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    number
}

/// The opposite of [`from_bytes`].
pub(super) fn to_bytes(number: &Number) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (word, bytes) in number.iter().rev().zip(bytes.as_chunks_mut().0) {
        *bytes = word.to_be_bytes();
    }
    bytes
}

/// A number from flash.
pub(super) fn load(table: &'static Table<u32, 8>) -> Number {
    core::array::from_fn(|n| table.get(n))
}

/// All ones if `condition`, else zero; the compiler cannot tell which, so it makes no branch of it.
pub(super) fn mask(condition: bool) -> u32 {
    black_box(u32::from(condition)).wrapping_neg()
}

/// Adds `other` and `carry` to `number`; returns what is carried out.
#[inline(always)]
pub(super) fn add(number: &mut Number, other: &Number, carry: bool) -> bool {
    add_words(number, |n| other[n], carry)
}

/// Takes `other` from `number`; returns what is borrowed.
#[inline(always)]
pub(super) fn subtract(number: &mut Number, other: &Number) -> bool {
    !add_words(number, |n| !other[n], true)
}

/// Adds `modulus` to `number` if `condition`, without its carry.
#[inline(always)]
pub(super) fn add_if(condition: bool, number: &mut Number, modulus: &'static Table<u32, 8>) {
    let mask = mask(condition);
    add_words(number, |n| modulus.get(n) & mask, false);
}

/// Takes `modulus` from `number`, with its carry, if it is not below it.
#[inline(always)]
pub(super) fn subtract_once(number: &mut Number, carry: bool, modulus: &'static Table<u32, 8>) {
    let reached = add_words(number, |n| !modulus.get(n), true);
    add_if(!(reached | carry), number, modulus);
}

/// Subtraction, too, is done by this, with a complement: compilers make one addition with carry a word of it.
#[inline(always)]
fn add_words(number: &mut Number, other: impl Fn(usize) -> u32, mut carry: bool) -> bool {
    // A processor with 32 bits keeps the carry where it is, if there is no loop. Others need so much code for a word
    // that a loop makes no difference.
    #[cfg(target_pointer_width = "16")]
    for (n, word) in number.iter_mut().enumerate() {
        carry = add_word(word, other(n), carry);
    }
    #[cfg(not(target_pointer_width = "16"))]
    {
        carry = add_word(&mut number[0], other(0), carry);
        carry = add_word(&mut number[1], other(1), carry);
        carry = add_word(&mut number[2], other(2), carry);
        carry = add_word(&mut number[3], other(3), carry);
        carry = add_word(&mut number[4], other(4), carry);
        carry = add_word(&mut number[5], other(5), carry);
        carry = add_word(&mut number[6], other(6), carry);
        carry = add_word(&mut number[7], other(7), carry);
    }
    carry
}

/// Adds `other` and `carry` to `word`; returns what is carried out.
#[inline(always)]
#[cfg(not(target_pointer_width = "16"))]
pub(super) fn add_word(word: &mut u32, other: u32, mut carry: bool) -> bool {
    (*word, carry) = word.carrying_add(other, carry);
    carry
}

/// Takes `other` from `word`; returns whether nothing is borrowed.
#[inline(always)]
#[cfg(not(target_pointer_width = "16"))]
pub(super) fn subtract_word(word: &mut u32, other: u32) -> bool {
    let borrow;
    (*word, borrow) = word.overflowing_sub(other);
    !borrow
}

/// Takes `other` from `word`; returns whether nothing is borrowed.
#[inline(always)]
#[cfg(target_pointer_width = "16")]
pub(super) fn subtract_word(word: &mut u32, other: u32) -> bool {
    add_word(word, !other, true)
}

/// Adds `other` and `carry` to `word`; returns what is carried out. It is found by addition: where no instruction makes
/// a number of a comparison, a comparison is a branch.
#[inline(always)]
#[cfg(target_pointer_width = "16")]
pub(super) fn add_word(word: &mut u32, other: u32, carry: bool) -> bool {
    let lower = (*word & 0xffff) + (other & 0xffff) + u32::from(carry);
    let upper = (*word >> 16) + (other >> 16) + (lower >> 16);
    *word = (lower & 0xffff) | (upper << 16);
    upper >> 16 & 1 == 1
}

/// Whether `number` is below `modulus`.
pub(super) fn is_below(number: &Number, modulus: &'static Table<u32, 8>) -> bool {
    let mut difference = *number;
    !add_words(&mut difference, |n| !modulus.get(n), true)
}

/// Whether `number` is zero.
pub(super) fn is_zero(number: &Number) -> bool {
    number.iter().fold(0, |bits, word| bits | word) == 0
}
