//! Numbers modulo the field's prime or the group's order, in Montgomery's form: times 2^256.

use core::hint::black_box;
use core::marker::PhantomData;
use core::ops::{AddAssign, MulAssign, SubAssign};

use super::number::{self, Number, Wide, add_word, lower, subtract_word, upper};
use super::word::Word;
use crate::flash::{Table, table};

/// The modulus of residues.
pub(super) trait Modulus: Copy + 'static {
    /// Its value: odd, and above 2^255.
    fn value() -> &'static Table<u32, 8>;

    /// 2^512 modulo it.
    fn square() -> &'static Table<u32, 8>;

    /// Makes the lower half of `product` zero by adding a multiple of the modulus; returns what is carried out of the
    /// upper half, which with it is below twice the modulus.
    fn reduce<W: Word>(product: &mut Wide) -> bool;
}

/// The prime 2^256 - 2^224 + 2^192 + 2^96 - 1, of which coordinates are residues.
#[derive(Clone, Copy)]
pub(super) struct Field;

/// The number of points of the curve, of which private keys are residues.
#[derive(Clone, Copy)]
pub(super) struct Order;

table! {
    PRIME: [u32; 8] = [
        0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0x0000_0000, 0x0000_0000, 0x0000_0000, 0x0000_0001, 0xffff_ffff,
    ];
}

table! {
    PRIME_SQUARE: [u32; 8] = [
        0x0000_0003, 0x0000_0000, 0xffff_ffff, 0xffff_fffb, 0xffff_fffe, 0xffff_ffff, 0xffff_fffd, 0x0000_0004,
    ];
}

table! {
    ORDER: [u32; 8] = [
        0xfc63_2551, 0xf3b9_cac2, 0xa717_9e84, 0xbce6_faad, 0xffff_ffff, 0xffff_ffff, 0x0000_0000, 0xffff_ffff,
    ];
}

table! {
    ORDER_SQUARE: [u32; 8] = [
        0xbe79_eea2, 0x8324_4c95, 0x49bd_6fa6, 0x4699_799c, 0x2b6b_ec59, 0x2845_b239, 0xf3d9_5620, 0x66e1_2d94,
    ];
}

table! {
    /// What times the order is -1 modulo 2^256.
    ORDER_INVERSE: [u32; 8] = [
        0xee00_bc4f, 0xccd1_c8aa, 0x7d74_d2e4, 0x48c9_4408, 0xc588_c6f6, 0x50fe_77ec, 0xa9d6_281c, 0x60d0_6633,
    ];
}

impl Modulus for Field {
    fn value() -> &'static Table<u32, 8> {
        &PRIME
    }

    fn square() -> &'static Table<u32, 8> {
        &PRIME_SQUARE
    }

    #[inline(always)]
    fn reduce<W: Word>(product: &mut Wide) -> bool {
        let mut top = false;
        for n in 0..4 {
            if let Some(words) = product[2 * n..].first_chunk_mut() {
                top = reduce_two(words, top);
            }
        }
        top
    }
}

/// The prime is -1 modulo 2^64: the two lowest words, times the prime and added, make themselves zero. `top` counts as
/// the ninth word does; what is returned, as one after the tenth.
#[inline(always)]
fn reduce_two(words: &mut [u32; 10], top: bool) -> bool {
    let [a, b, ..] = *words;
    // What is added from the seventh word on: `a` and `b` times 2^64 - 2^32 + 1.
    let (mut second, mut third) = (b, a);
    let no_borrow = subtract_word(&mut second, a);
    let no_borrow = add_word(&mut third, !b, no_borrow);
    let carry = add_word(&mut third, 0, top);
    let fourth = b.wrapping_add(u32::from(no_borrow)).wrapping_add(u32::from(carry)).wrapping_sub(1);
    let carry = add_word(&mut words[3], a, false);
    let carry = add_word(&mut words[4], b, carry);
    let carry = add_word(&mut words[5], 0, carry);
    let carry = add_word(&mut words[6], a, carry);
    let carry = add_word(&mut words[7], second, carry);
    let carry = add_word(&mut words[8], third, carry);
    add_word(&mut words[9], fourth, carry)
}

impl Modulus for Order {
    fn value() -> &'static Table<u32, 8> {
        &ORDER
    }

    fn square() -> &'static Table<u32, 8> {
        &ORDER_SQUARE
    }

    /// The sum of the lower halves carries one, unless they are zero.
    fn reduce<W: Word>(product: &mut Wide) -> bool {
        let (mut factor, mut added) = ([0; 16], [0; 16]);
        W::multiply(lower(product), &number::load(&ORDER_INVERSE), &mut factor);
        W::multiply(lower(&factor), &number::load(&ORDER), &mut added);
        let carry = !number::is_zero(lower(product));
        number::add(upper(product), upper(&mut added), carry)
    }
}

/// A number modulo `M`, multiplied in words of the size of `W`.
pub(super) struct Residue<M, W> {
    /// The number times 2^256, modulo `M`.
    words: Number,
    types: PhantomData<(M, W)>,
}

impl<M: Modulus, W: Word> Clone for Residue<M, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Modulus, W: Word> Copy for Residue<M, W> {}

impl<M: Modulus, W: Word> Residue<M, W> {
    pub(super) const ZERO: Self = Self::from_montgomery([0; 8]);

    /// The residue whose form is `words`, below the modulus.
    pub(super) const fn from_montgomery(words: Number) -> Self {
        Self { words, types: PhantomData }
    }

    /// The residue of `number`, below the modulus.
    pub(super) fn new(number: &Number) -> Self {
        let mut residue = Self::from_montgomery(*number);
        residue *= &Self::from_montgomery(number::load(M::square()));
        residue
    }

    /// The number of which this is the residue, below the modulus.
    #[inline(never)]
    pub(super) fn number(&self) -> Number {
        let mut number = Self::from_montgomery([1, 0, 0, 0, 0, 0, 0, 0]);
        number *= self;
        number.words
    }

    pub(super) fn is_zero(&self) -> bool {
        number::is_zero(&self.words)
    }

    /// What gives one when multiplied by this; zero for zero
    /// ([Fermat's little theorem](https://en.wikipedia.org/wiki/Fermat%27s_little_theorem): this, to the
    /// power of the modulus less two).
    #[inline(never)]
    pub(super) fn inverse(&self) -> Self {
        // The highest bit of the exponent is one.
        let mut power = *self;
        for n in (0..255).rev() {
            let word = M::value().get(n / 32) - if n < 32 { 2 } else { 0 };
            let other = power;
            power *= &other;
            if word >> (n % 32) & 1 == 1 {
                power *= self;
            }
        }
        power
    }

    /// Replaces this by `other` where `mask` has ones.
    #[inline(never)]
    pub(super) fn assign_masked(&mut self, other: &Self, mask: u32) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word ^= (*word ^ other) & mask;
        }
    }
}

impl<M: Modulus, W: Word> AddAssign<&Self> for Residue<M, W> {
    #[inline(never)]
    fn add_assign(&mut self, other: &Self) {
        let mut sum = self.words;
        let carry = number::add(&mut sum, &other.words, false);
        number::subtract_once(&mut sum, carry, M::value());
        self.words = sum;
    }
}

impl<M: Modulus, W: Word> SubAssign<&Self> for Residue<M, W> {
    #[inline(never)]
    fn sub_assign(&mut self, other: &Self) {
        let mut difference = self.words;
        let borrow = number::subtract(&mut difference, &other.words);
        number::add_if(borrow, &mut difference, M::value());
        self.words = difference;
    }
}

impl<M: Modulus, W: Word> MulAssign<&Self> for Residue<M, W> {
    #[inline(never)]
    fn mul_assign(&mut self, other: &Self) {
        // Zeros that the compiler does not know for such: it would call `memset`, which may go byte by byte.
        let mut product = [black_box(0); 16];
        W::multiply(&self.words, &other.words, &mut product);
        let carry = M::reduce::<W>(&mut product);
        let words = upper(&mut product);
        number::subtract_once(words, carry, M::value());
        self.words = *words;
    }
}
