use crate::output::Output;

/// A decimal number: `mantissa` × 10^`exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The digits.
    pub mantissa: i32,
    /// The power of ten they are multiplied by.
    pub exponent: i8,
}

/// The longest decimal fraction written out; beyond it, and for positive exponents, JSON's `e` notation is used.
const MAX_FRACTION: u8 = 12;

impl Decimal {
    /// The number `mantissa` × 10^`exponent`.
    pub const fn new(mantissa: i32, exponent: i8) -> Self {
        Self { mantissa, exponent }
    }

    /// The number that the JSON number `text` stands for, if it is one and fits exactly.
    pub fn parse(text: &str) -> Option<Self> {
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i16>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match digits.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, digits),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || digits.ends_with('.') {
            return None;
        }
        // Zeros at the end carry no value, only room in the mantissa.
        let (fraction, mut mantissa) = (fraction.trim_end_matches('0'), 0i32);
        for digit in whole.bytes().chain(fraction.bytes()) {
            if !digit.is_ascii_digit() {
                return None;
            }
            let digit = i32::from(digit - b'0');
            let digit = if negative { -digit } else { digit };
            mantissa = mantissa.checked_mul(10)?.checked_add(digit)?;
        }
        let exponent = exponent.checked_sub(i16::try_from(fraction.len()).ok()?)?;
        Some(Self { mantissa, exponent: i8::try_from(exponent).ok()? })
    }

    /// Writes the number as JSON does.
    pub(crate) fn write(self, out: &mut Output<'_>) {
        if self.mantissa < 0 {
            out.put_byte(b'-');
        }
        let mut digits = [b'0'; MAX_FRACTION as usize + 1];
        let mut count = digits_of(self.mantissa.unsigned_abs(), &mut digits);
        let fraction = usize::from(self.exponent.unsigned_abs());
        let point = self.exponent < 0 && fraction <= MAX_FRACTION.into();
        if point {
            // At least one digit stands before the point.
            count = count.max(fraction + 1);
        }
        for (left, &digit) in (1..=digits.len()).rev().zip(&digits) {
            if left <= count {
                out.put_byte(digit);
                if point && left == fraction + 1 {
                    out.put_byte(b'.');
                }
            }
        }
        if !point && self.exponent != 0 {
            out.put_byte(b'e');
            Self::new(self.exponent.into(), 0).write(out);
        }
    }
}

/// Writes `value` in decimal at the end of `digits` and returns how many digits it takes.
fn digits_of(mut value: u32, digits: &mut [u8]) -> usize {
    let mut written = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        written += 1;
        if value == 0 {
            break;
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use proptest::prelude::*;
    use std::string::String;

    fn text(number: Decimal) -> String {
        let mut buffer = [0; 32];
        let mut out = Output::new(&mut buffer);
        number.write(&mut out);
        let len = out.len().unwrap();
        String::from_utf8(buffer[..len].to_vec()).unwrap()
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        for (mantissa, exponent, expected) in [
            (214, -1, "21.4"),
            (310, 0, "310"),
            (0, 0, "0"),
            (0, -2, "0.00"),
            (-5, -3, "-0.005"),
            (-2_147_483_648, -9, "-2.147483648"),
            (i32::MIN, 0, "-2147483648"),
            (i32::MAX, -12, "0.002147483647"),
            (1, -13, "1e-13"),
            (-31, 2, "-31e2"),
            (7, 127, "7e127"),
            (7, -128, "7e-128"),
        ] {
            assert_eq!(text(Decimal::new(mantissa, exponent)), expected);
        }
    }

    #[test]
    fn only_json_numbers_that_fit_are_parsed() {
        assert_eq!(Decimal::parse("21.400"), Some(Decimal::new(214, -1)));
        assert_eq!(Decimal::parse("-1.5e+3"), Some(Decimal::new(-15, 2)));
        assert_eq!(Decimal::parse("-2147483648"), Some(Decimal::new(i32::MIN, 0)));
        for not in ["", "-", ".5", "5.", "1e", "0x1", "2147483648", "1e200", "1.2.3", "21.400000000000002"] {
            assert_eq!(Decimal::parse(not), None, "{not}");
        }
    }

    proptest! {
        #[test]
        fn written_numbers_parse_to_the_same_value(mantissa: i32, exponent: i8) {
            let number = Decimal::new(mantissa, exponent);
            let text = text(number);
            let expected: f64 = std::format!("{mantissa}e{exponent}").parse().unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap(), expected);
            let parsed = Decimal::parse(&text).unwrap();
            let parsed: f64 = std::format!("{}e{}", parsed.mantissa, parsed.exponent).parse().unwrap();
            prop_assert_eq!(parsed, expected);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text: String) {
            Decimal::parse(&text);
        }
    }
}
