use core::ops::Add;
use core::str::FromStr;

use crate::output::Output;

/// A number as the pack spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numeral<'a> {
    /// A number in JSON's spelling.
    Json(&'a str),
    /// An integer or decimal fraction: `mantissa` × 10^`exponent`.
    Decimal {
        /// The digits.
        mantissa: Integer,
        /// The power of ten they are multiplied by.
        exponent: i16,
    },
    /// The bits of a binary floating-point number of 64 bits, which is finite.
    Double(u64),
}

/// A whole number as CBOR spells it, from −2^64 to 2^64 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Whether it is below zero.
    pub negative: bool,
    /// The number itself, or, below zero, −1 less the number.
    pub argument: u64,
}

impl From<i16> for Integer {
    fn from(number: i16) -> Self {
        let negative = number < 0;
        Self { negative, argument: if negative { !number } else { number } as u64 }
    }
}

impl Numeral<'_> {
    /// The longest a decimal gets: sign, 20 digits, `e`, the sign and digits of the exponent.
    const LONGEST: usize = 1 + 20 + 1 + 6;

    fn value<T: FromStr>(self, from_bits: impl Fn(u64) -> T) -> Option<T> {
        match self {
            Self::Json(text) => text.parse().ok(),
            Self::Double(bits) => Some(from_bits(bits)),
            Self::Decimal { mantissa, exponent } => {
                let mut text = [0; Self::LONGEST];
                let mut out = Output::new(&mut text);
                write(&mut out, mantissa);
                out.put_byte(b'e');
                write(&mut out, exponent.into());
                let len = out.len().ok()?;
                core::str::from_utf8(text.get(..len)?).ok()?.parse().ok()
            }
        }
    }
}

/// A number of a record: what the record says and the pack's base, to be added. One of them is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    /// The base.
    pub base: Option<Numeral<'a>>,
    /// The record's own part.
    pub own: Option<Numeral<'a>>,
}

impl Number<'_> {
    /// The number in a floating-point type, which may make infinities of huge numbers. `from_bits` makes that type
    /// of the bits of a double: it is the type's method of this name.
    pub fn sum<T: FromStr + Add<Output = T>>(&self, from_bits: impl Fn(u64) -> T) -> Option<T> {
        match (self.base, self.own) {
            (Some(base), Some(own)) => Some(base.value(&from_bits)? + own.value(&from_bits)?),
            (base, own) => base.or(own)?.value(from_bits),
        }
    }
}

/// Writes a whole number by counting how often each power of ten goes into it: devices do not divide 64 bits.
fn write(out: &mut Output<'_>, Integer { negative, argument: mut rest }: Integer) {
    if negative {
        out.put_byte(b'-');
    }
    // Below zero there is one more to write than `rest`, and the two together may take 65 bits.
    let mut one_more = negative;
    let mut begun = false;
    for &power in POWERS_OF_TEN.iter().rev() {
        let mut digit = b'0';
        loop {
            if rest >= power {
                rest -= power;
            } else if one_more && rest == power - 1 {
                (rest, one_more) = (0, false);
            } else {
                break;
            }
            digit += 1;
        }
        begun |= digit != b'0' || power == 1;
        if begun {
            out.put_byte(digit);
        }
    }
}

const POWERS_OF_TEN: [u64; 20] = {
    let mut powers = [1; 20];
    let mut zeros = 1;
    while zeros < powers.len() {
        powers[zeros] = powers[zeros - 1] * 10;
        zeros += 1;
    }
    powers
};
