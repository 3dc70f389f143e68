//! Products, by the multiplication that the processor has.

use super::number::{Number, Wide};

/// The words that a processor multiplies.
pub(super) trait Word: Copy + Default {
    /// `a` times `b`, plus `c` and `d`, which is never more than two words: the lower and the upper.
    fn multiply_add(a: Self, b: Self, c: Self, d: Self) -> (Self, Self);

    /// Writes `a` times `b` to `product`, which is zero.
    fn multiply(a: &Number, b: &Number, product: &mut Wide);
}

/// The processor's own.
#[cfg(target_arch = "avr")]
pub(super) type Native = u8;
/// The processor's own.
#[cfg(target_arch = "msp430")]
pub(super) type Native = u16;
/// The processor's own.
#[cfg(not(any(target_arch = "avr", target_arch = "msp430")))]
pub(super) type Native = u32;

impl Word for u8 {
    #[inline(always)]
    fn multiply_add(a: Self, b: Self, c: Self, d: Self) -> (Self, Self) {
        let sum = u16::from(a) * u16::from(b) + u16::from(c) + u16::from(d);
        (sum as u8, (sum >> 8) as u8)
    }

    #[inline(never)]
    fn multiply(a: &Number, b: &Number, product: &mut Wide) {
        multiply_parts(a, b, product, u32::to_le_bytes, u32::from_le_bytes);
    }
}

impl Word for u16 {
    #[inline(always)]
    fn multiply_add(a: Self, b: Self, c: Self, d: Self) -> (Self, Self) {
        let sum = u32::from(a) * u32::from(b) + u32::from(c) + u32::from(d);
        (sum as u16, (sum >> 16) as u16)
    }

    #[inline(never)]
    fn multiply(a: &Number, b: &Number, product: &mut Wide) {
        let split = |word| [word as u16, (word >> 16) as u16];
        multiply_parts(a, b, product, split, |[low, high]| u32::from(low) | u32::from(high) << 16);
    }
}

impl Word for u32 {
    #[inline(always)]
    fn multiply_add(a: Self, b: Self, c: Self, d: Self) -> (Self, Self) {
        let sum = u64::from(a) * u64::from(b) + u64::from(c) + u64::from(d);
        (sum as u32, (sum >> 32) as u32)
    }

    #[inline(never)]
    fn multiply(a: &Number, b: &Number, product: &mut Wide) {
        multiply_words(a, b, product);
    }
}

/// For words of which 32 bits have several, the lowest first.
#[inline(always)]
fn multiply_parts<W: Word, const PARTS: usize>(
    a: &Number,
    b: &Number,
    product: &mut Wide,
    split: impl Fn(u32) -> [W; PARTS],
    join: impl Fn([W; PARTS]) -> u32,
) {
    let (a, b) = (a.map(&split), b.map(split));
    let mut sum = [[W::default(); PARTS]; 16];
    multiply_words(a.as_flattened(), b.as_flattened(), sum.as_flattened_mut());
    for (to, words) in product.iter_mut().zip(sum) {
        *to = join(words);
    }
}

/// Writes the product of `a` and `b`, equally many words, to `sum`, which is zero.
#[inline(always)]
fn multiply_words<W: Word>(a: &[W], b: &[W], sum: &mut [W]) {
    for (n, &[first, second]) in a.as_chunks().0.iter().enumerate() {
        let (to, rest) = sum[2 * n..].split_at_mut(b.len());
        let zero = W::default();
        let mut rows = Rows { first, second, first_carry: zero, second_carry: zero, before: zero };
        for (to, b) in to.as_chunks_mut::<8>().0.iter_mut().zip(b.as_chunks::<8>().0) {
            // Written out: what a loop costs is as much as what it does here.
            rows.add_column(b[0], &mut to[0]);
            rows.add_column(b[1], &mut to[1]);
            rows.add_column(b[2], &mut to[2]);
            rows.add_column(b[3], &mut to[3]);
            rows.add_column(b[4], &mut to[4]);
            rows.add_column(b[5], &mut to[5]);
            rows.add_column(b[6], &mut to[6]);
            rows.add_column(b[7], &mut to[7]);
        }
        (rest[0], rest[1]) = W::multiply_add(second, rows.before, rows.first_carry, rows.second_carry);
    }
}

/// Two words of one factor times the other factor. Both at once halve how often the sum is read and written.
struct Rows<W> {
    first: W,
    second: W,
    first_carry: W,
    second_carry: W,
    /// The word of the other factor in the column before.
    before: W,
}

impl<W: Word> Rows<W> {
    #[inline(always)]
    fn add_column(&mut self, b: W, sum: &mut W) {
        (*sum, self.first_carry) = W::multiply_add(self.first, b, *sum, self.first_carry);
        (*sum, self.second_carry) = W::multiply_add(self.second, self.before, *sum, self.second_carry);
        self.before = b;
    }
}
