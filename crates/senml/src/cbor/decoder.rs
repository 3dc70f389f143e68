//! As much of CBOR ([RFC 8949](https://www.rfc-editor.org/rfc/rfc8949)) as reading a pack takes.

use core::fmt;

use super::{DECIMAL_FRACTION, FALSE, TRUE, major};
use crate::number::{Integer, Numeral};

/// Why bytes are not CBOR, or not as SenML uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CborError {
    /// The bytes end too early.
    End,
    /// Bytes follow the pack.
    Trailing,
    /// A byte begins nothing that there is in CBOR.
    Syntax,
    /// An item is not of the type that belongs here.
    Type,
    /// A text is not UTF-8.
    Utf8,
    /// A text or byte string comes in pieces.
    Pieces,
    /// A number is not finite, or the exponent of a decimal fraction has more than 16 bits.
    Number,
    /// Values are nested too deeply.
    Depth,
}

impl fmt::Display for CborError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::End => "it ends too early",
            Self::Trailing => "bytes follow the pack",
            Self::Syntax => "a byte begins nothing that there is in CBOR",
            Self::Type => "an item is not of the type that belongs there",
            Self::Utf8 => "a text is not UTF-8",
            Self::Pieces => "a text or byte string comes in pieces",
            Self::Number => "a number is not finite, or its exponent has more than 16 bits",
            Self::Depth => "values are nested too deeply",
        })
    }
}

impl core::error::Error for CborError {}

/// How deep values of unknown fields may be nested.
const MAX_DEPTH: usize = 16;

/// The beginning of an item.
#[derive(Clone, Copy, Debug)]
struct Head {
    major: u8,
    /// What the argument was made of: itself, or which bytes follow.
    information: u8,
    /// The argument; nothing for an indefinite length, and for the break that ends it.
    argument: Option<u64>,
}

/// How many items an array or map holds, if that is said.
pub(super) type Count = Option<u64>;

/// What has been begun while a value is passed.
#[derive(Clone, Copy)]
enum Open {
    /// This many items follow.
    Items(usize),
    /// Items follow up to a break.
    Array,
    /// Keys and values follow up to a break, next a key.
    Key,
    /// Keys and values follow up to a break, next a value.
    Value,
}

/// A place in CBOR.
#[derive(Clone, Debug)]
pub(super) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8], CborError> {
        let len = usize::try_from(len).map_err(|_| CborError::End)?;
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(CborError::End)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads the head of an item ([RFC 8949 section 3](https://www.rfc-editor.org/rfc/rfc8949#section-3)).
    fn head(&mut self) -> Result<Head, CborError> {
        let (&first, rest) = self.rest.split_first().ok_or(CborError::End)?;
        self.rest = rest;
        let (major, information) = (first >> 5, first & 0x1f);
        let argument = match information {
            0..24 => Some(information.into()),
            24..28 => {
                let bytes = self.take(1 << (information - 24))?;
                let argument = bytes.iter().fold(0, |argument, &byte| argument << 8 | u64::from(byte));
                // A simple value of two bytes is not one that a single byte spells.
                if major == major::SIMPLE && information == 24 && argument < 32 {
                    return Err(CborError::Syntax);
                }
                Some(argument)
            }
            31 if matches!(major, major::BYTES..=major::MAP | major::SIMPLE) => None,
            _ => return Err(CborError::Syntax),
        };
        Ok(Head { major, information, argument })
    }

    /// Begins an array or a map, as `major` says.
    pub(super) fn begin(&mut self, major: u8) -> Result<Count, CborError> {
        let head = self.head()?;
        if head.major == major { Ok(head.argument) } else { Err(CborError::Type) }
    }

    /// Whether another item of an array or map follows, of which `left` are left.
    pub(super) fn more(&mut self, left: &mut Count) -> bool {
        match left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => match self.rest {
                [0xff, rest @ ..] => {
                    self.rest = rest;
                    false
                }
                _ => true,
            },
        }
    }

    fn string(&mut self, major: u8) -> Result<&'a [u8], CborError> {
        let head = self.head()?;
        if head.major != major {
            return Err(CborError::Type);
        }
        self.take(head.argument.ok_or(CborError::Pieces)?)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, CborError> {
        core::str::from_utf8(self.string(major::TEXT)?).map_err(|_| CborError::Utf8)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], CborError> {
        self.string(major::BYTES)
    }

    pub(super) fn boolean(&mut self) -> Result<bool, CborError> {
        match self.head()? {
            Head { major: major::SIMPLE, information: FALSE, .. } => Ok(false),
            Head { major: major::SIMPLE, information: TRUE, .. } => Ok(true),
            _ => Err(CborError::Type),
        }
    }

    /// A number that is not below zero, no greater than 255; 0 for a greater one.
    pub(super) fn version(&mut self) -> Result<u8, CborError> {
        match self.head()? {
            Head { major: major::UNSIGNED, argument: Some(argument), .. } => {
                Ok(argument.try_into().unwrap_or(0))
            }
            _ => Err(CborError::Type),
        }
    }

    /// A field's label: an integer, or the text of an extension. Integers that are not those of a field give `i8::MIN`.
    pub(super) fn label(&mut self) -> Result<Result<i8, &'a str>, CborError> {
        let (&first, _) = self.rest.split_first().ok_or(CborError::End)?;
        if first >> 5 == major::TEXT {
            return self.text().map(Err);
        }
        let Integer { negative, argument } = self.integer()?;
        let label = i8::try_from(argument).map(|label| if negative { !label } else { label });
        Ok(Ok(label.unwrap_or(i8::MIN)))
    }

    /// A whole number.
    fn integer(&mut self) -> Result<Integer, CborError> {
        match self.head()? {
            Head { major: major @ (major::UNSIGNED | major::NEGATIVE), argument: Some(argument), .. } => {
                Ok(Integer { negative: major == major::NEGATIVE, argument })
            }
            _ => Err(CborError::Type),
        }
    }

    /// An integer, a floating-point number, or a decimal fraction
    /// ([RFC 8949 section 3.4.4](https://www.rfc-editor.org/rfc/rfc8949#section-3.4.4)).
    pub(super) fn number(&mut self) -> Result<Numeral<'a>, CborError> {
        let before = self.clone();
        let head = self.head()?;
        match (head.major, head.information, head.argument) {
            (major::SIMPLE, 25, Some(half)) => widen::<5, 10>(half),
            (major::SIMPLE, 26, Some(single)) => widen::<8, 23>(single),
            (major::SIMPLE, 27, Some(double)) => widen::<11, 52>(double),
            (major::TAG, _, Some(tag)) if tag == DECIMAL_FRACTION.into() => {
                if self.begin(major::ARRAY)? != Some(2) {
                    return Err(CborError::Type);
                }
                let Integer { negative, argument } = self.integer()?;
                let exponent = i16::try_from(argument).map_err(|_| CborError::Number)?;
                let exponent = if negative { !exponent } else { exponent };
                Ok(Numeral::Decimal { mantissa: self.integer()?, exponent })
            }
            _ => {
                *self = before;
                Ok(Numeral::Decimal { mantissa: self.integer()?, exponent: 0 })
            }
        }
    }

    /// Passes any value. Nesting is counted, not recursed into.
    pub(super) fn skip_value(&mut self) -> Result<(), CborError> {
        let (mut open, mut depth) = ([Open::Array; MAX_DEPTH], 0usize);
        loop {
            let mut tagged = false;
            let head = loop {
                let head = self.head()?;
                if head.major != major::TAG {
                    break head;
                }
                tagged = true;
            };
            let begun = match head {
                Head { major: major::BYTES | major::TEXT, argument: Some(len), .. } => {
                    self.take(len)?;
                    None
                }
                Head { major: major @ (major::BYTES | major::TEXT), argument: None, .. } => {
                    let mut left = None;
                    while self.more(&mut left) {
                        self.string(major)?;
                    }
                    None
                }
                Head { major: major::ARRAY, argument: Some(items), .. } => Some(items_of(items, 1)?),
                Head { major: major::ARRAY, .. } => Some(Open::Array),
                Head { major: major::MAP, argument: Some(pairs), .. } => Some(items_of(pairs, 2)?),
                Head { major: major::MAP, .. } => Some(Open::Key),
                Head { major: major::SIMPLE, argument: None, .. } => {
                    // A break: it ends what has no stated length, where an item could follow.
                    let innermost = depth.checked_sub(1).and_then(|innermost| open.get(innermost));
                    if tagged || !matches!(innermost, Some(Open::Array | Open::Key)) {
                        return Err(CborError::Syntax);
                    }
                    depth -= 1;
                    None
                }
                _ => None,
            };
            if let Some(begun) = begun {
                *open.get_mut(depth).ok_or(CborError::Depth)? = begun;
                depth += 1;
                if !matches!(begun, Open::Items(0)) {
                    continue;
                }
                depth -= 1;
            }
            // A value is complete, and with it those whose last it was.
            loop {
                let Some(innermost) = depth.checked_sub(1).and_then(|innermost| open.get_mut(innermost))
                else {
                    return Ok(());
                };
                *innermost = match *innermost {
                    Open::Items(0 | 1) => {
                        depth -= 1;
                        continue;
                    }
                    Open::Items(left) => Open::Items(left - 1),
                    Open::Array => Open::Array,
                    Open::Key => Open::Value,
                    Open::Value => Open::Key,
                };
                break;
            }
        }
    }
}

/// An array or map that says how many entries it has. When they do not fit the address space, they are not here.
fn items_of(entries: u64, items_each: usize) -> Result<Open, CborError> {
    let entries = usize::try_from(entries).ok();
    entries.and_then(|entries| entries.checked_mul(items_each)).map(Open::Items).ok_or(CborError::End)
}

/// Makes an IEEE 754 number of so many bits one of 64 bits, without floating point.
fn widen<'a, const EXPONENT: u32, const MANTISSA: u32>(bits: u64) -> Result<Numeral<'a>, CborError> {
    const BIAS: u64 = 1023;
    let sign = (bits >> (EXPONENT + MANTISSA)) << 63;
    let largest = (1 << EXPONENT) - 1;
    let (exponent, mantissa) = (bits >> MANTISSA & largest, bits & ((1 << MANTISSA) - 1));
    let bias = BIAS - largest / 2;
    let (exponent, mantissa) = match (exponent, mantissa) {
        (exponent, _) if exponent == largest => return Err(CborError::Number),
        (0, 0) => (0, 0),
        // As small in 64 bits.
        (0, mantissa) if EXPONENT == 11 => (0, mantissa),
        // The leading one of a subnormal number becomes the one that is not written.
        (0, mantissa) => {
            let shift = MANTISSA + 1 - (64 - mantissa.leading_zeros());
            (bias + 1 - u64::from(shift), mantissa << shift & ((1 << MANTISSA) - 1))
        }
        (exponent, mantissa) => (exponent + bias, mantissa),
    };
    Ok(Numeral::Double(sign | exponent << 52 | mantissa << (52 - MANTISSA)))
}
