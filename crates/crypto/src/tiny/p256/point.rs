//! Points of the curve y^2 = x^3 - 3x + b, with x = X/Z and y = Y/Z.

use super::number::{self, Number};
use super::residue::{self, Field};
use super::word::Word;
use crate::flash::table;

/// A coordinate.
pub(super) type Coordinate<W> = residue::Residue<Field, W>;

table! {
    /// One, in Montgomery's form, as all of these.
    ONE: [u32; 8] = [
        0x0000_0001, 0x0000_0000, 0x0000_0000, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_fffe, 0x0000_0000,
    ];
}

table! {
    /// The curve's b.
    B: [u32; 8] = [
        0x29c4_bddf, 0xd89c_df62, 0x7884_3090, 0xacf0_05cd, 0xf721_2ed6, 0xe5a2_20ab, 0x0487_4834, 0xdc30_061d,
    ];
}

table! {
    /// The base point's x.
    BASE_X: [u32; 8] = [
        0x18a9_143c, 0x79e7_30d4, 0x5fed_b601, 0x75ba_95fc, 0x7762_2510, 0x79fb_732b, 0xa537_55c6, 0x1890_5f76,
    ];
}

table! {
    /// The base point's y.
    BASE_Y: [u32; 8] = [
        0xce95_560a, 0xddf2_5357, 0xba19_e45c, 0x8b4a_b8e4, 0xdd21_f325, 0xd2e8_8688, 0x2588_5d85, 0x8571_ff18,
    ];
}

table! {
    /// The x of the base point times 2^128.
    UPPER_BASE_X: [u32; 8] = [
        0xbfe2_0925, 0x62a8_c244, 0x8fdc_e867, 0x91c1_9ac3, 0xdd38_7063, 0x5a96_a5d5, 0x21d3_24f6, 0x61d5_87d4,
    ];
}

table! {
    /// The y of the base point times 2^128.
    UPPER_BASE_Y: [u32; 8] = [
        0xa371_73ea, 0xe876_73a2, 0x5377_8b65, 0x2384_8008, 0x05ba_b43e, 0x10f8_441e, 0x4621_efbe, 0xfa11_fe12,
    ];
}

/// A point, or infinity, whose Z is zero.
#[derive(Clone, Copy)]
pub(super) struct Point<W: Word> {
    x: Coordinate<W>,
    y: Coordinate<W>,
    z: Coordinate<W>,
}

impl<W: Word> Point<W> {
    /// No point, to be written over: points are made in place, since copies of them are what fills the stack.
    pub(super) const BLANK: Self = Self { x: Coordinate::ZERO, y: Coordinate::ZERO, z: Coordinate::ZERO };

    #[inline(never)]
    pub(super) fn set_infinity(&mut self) {
        *self = Self::BLANK;
        self.y = one();
    }

    /// Makes it the base point.
    #[inline(never)]
    pub(super) fn set_base(&mut self) {
        self.x = Coordinate::from_montgomery(number::load(&BASE_X));
        self.y = Coordinate::from_montgomery(number::load(&BASE_Y));
        self.z = one();
    }

    /// Makes it the base point times 2^128.
    #[inline(never)]
    pub(super) fn set_upper_base(&mut self) {
        self.x = Coordinate::from_montgomery(number::load(&UPPER_BASE_X));
        self.y = Coordinate::from_montgomery(number::load(&UPPER_BASE_Y));
        self.z = one();
    }

    /// Makes it the point at these coordinates, both below the prime.
    #[inline(never)]
    pub(super) fn set(&mut self, x: &Number, y: &Number) {
        self.x = Coordinate::new(x);
        self.y = Coordinate::new(y);
        self.z = one();
    }

    /// Whether it is on the curve, for a point whose Z is one.
    pub(super) fn is_on_curve(&self) -> bool {
        // x * x * x - x - x - x + b - y * y
        let mut difference = self.x;
        difference *= &self.x;
        difference *= &self.x;
        for _ in 0..3 {
            difference -= &self.x;
        }
        difference += &b();
        let mut square = self.y;
        square *= &self.y;
        difference -= &square;
        difference.is_zero()
    }

    /// Makes its Z one; X and Y, too, are zero then for infinity, which is not on the curve.
    #[inline(never)]
    pub(super) fn normalize(&mut self) {
        self.z = self.z.inverse();
        self.x *= &self.z;
        self.y *= &self.z;
        self.z = one();
    }

    /// Its x, when its Z is one.
    pub(super) fn x(&self) -> Number {
        self.x.number()
    }

    /// Its y, when its Z is one.
    pub(super) fn y(&self) -> Number {
        self.y.number()
    }

    /// Adds `other`: right for any two points, so that no scalar is special
    /// ([Renes, Costello and Batina](https://eprint.iacr.org/2015/1060), algorithm 4).
    #[inline(never)]
    pub(super) fn add(&mut self, other: &Self) {
        let Self { x, y, z } = self;
        let mut t0 = *x;
        t0 *= &other.x;
        let mut t1 = *y;
        t1 *= &other.y;
        let mut t2 = *z;
        t2 *= &other.z;
        let mut t3 = *x;
        t3 += &*y;
        let mut t4 = other.x;
        t4 += &other.y;
        t3 *= &t4;
        t3 -= &t0;
        t3 -= &t1;
        t4 = other.y;
        t4 += &other.z;
        *y += &*z;
        t4 *= &*y;
        t4 -= &t1;
        t4 -= &t2;
        *x += &*z;
        *y = other.x;
        *y += &other.z;
        *y *= &*x;
        *y -= &t0;
        *y -= &t2;
        *x = b();
        *z = *x;
        *z *= &t2;
        *x = *y;
        *x -= &*z;
        *z = *x;
        *x += &*z;
        *x += &*z;
        *z = t1;
        *z -= &*x;
        *x += &t1;
        t1 = b();
        *y *= &t1;
        t1 = t2;
        t2 += &t1;
        t2 += &t1;
        *y -= &t2;
        *y -= &t0;
        t1 = *y;
        *y += &t1;
        *y += &t1;
        t1 = t0;
        t0 += &t1;
        t0 += &t1;
        t0 -= &t2;
        t1 = t4;
        t1 *= &*y;
        t2 = t0;
        t2 *= &*y;
        *y = *x;
        *y *= &*z;
        *y += &t2;
        *x *= &t3;
        *x -= &t1;
        *z *= &t4;
        t3 *= &t0;
        *z += &t3;
    }

    /// Doubles it `times` times; `other` is overwritten.
    pub(super) fn double(&mut self, times: u8, other: &mut Self) {
        for _ in 0..times {
            (other.x, other.y, other.z) = (self.x, self.y, self.z);
            self.add(other);
        }
    }

    /// Makes it the first of `points` if `first`, the second if `second`, the third if both, infinity if neither.
    #[inline(never)]
    fn select(&mut self, points: &[Self; 3], first: bool, second: bool) {
        self.set_infinity();
        self.assign_if(first & !second, &points[0]);
        self.assign_if(!first & second, &points[1]);
        self.assign_if(first & second, &points[2]);
    }

    /// Replaces it by `other` if `condition`, in the same time if not.
    #[inline(never)]
    fn assign_if(&mut self, condition: bool, other: &Self) {
        let mask = number::mask(condition);
        self.x.assign_masked(&other.x, mask);
        self.y.assign_masked(&other.y, mask);
        self.z.assign_masked(&other.z, mask);
    }
}

fn one<W: Word>() -> Coordinate<W> {
    Coordinate::from_montgomery(number::load(&ONE))
}

fn b<W: Word>() -> Coordinate<W> {
    Coordinate::from_montgomery(number::load(&B))
}

/// Replaces the third of `points` by the first times `first` plus the second times `second`, two numbers of equally
/// many words, in a time that depends on how many there are only. Its Z is one.
#[inline(never)]
pub(super) fn sum_products<W: Word>(points: &mut [Point<W>; 3], first: &[u32], second: &[u32]) {
    let [p, q, both] = points;
    *both = *p;
    both.add(q);
    let (mut sum, mut added) = (Point::BLANK, Point::BLANK);
    sum.set_infinity();
    let bit = |words: &[u32], n| words[n / 32] >> (n % 32) & 1 == 1;
    for n in (0..32 * first.len().min(second.len())).rev() {
        sum.double(1, &mut added);
        added.select(points, bit(first, n), bit(second, n));
        sum.add(&added);
    }
    points[2] = sum;
    points[2].normalize();
}
