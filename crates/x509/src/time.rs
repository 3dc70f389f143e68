use crate::Error;
use crate::der::{Reader, Writer};

const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// A date and a time of day, in UTC, to the second: the digits of year, month, day, hours, minutes and seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time([u8; 14]);

impl Time {
    /// The time on the day number `day` after 1 January 1970, `second` seconds after midnight. Days are counted to the end of
    /// the year 9999.
    pub fn new(day: u32, second: u32) -> Self {
        // Counted from 1 March 0000, a year ends with its leap day.
        let day = day + 719_468;
        let (era, day) = (day / 146_097, day % 146_097);
        let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, carried) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = 400 * era + year_of_era + carried;
        let fields = [year / 100, year % 100, month, day, second / 3600, second / 60 % 60, second % 60];
        let mut digits = [b'0'; 14];
        for (pair, field) in digits.as_chunks_mut::<2>().0.iter_mut().zip(fields) {
            *pair = [b'0' + (field / 10 % 10) as u8, b'0' + (field % 10) as u8];
        }
        Self(digits)
    }

    /// Reads a time ([RFC 5280 section 4.1.2.5](https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5)).
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut digits = [0; 14];
        match reader.element()? {
            (UTC_TIME, [text @ .., b'Z']) if text.len() == 12 => {
                let century = if text[0] < b'5' { b"20" } else { b"19" };
                digits[..2].copy_from_slice(century);
                digits[2..].copy_from_slice(text);
            }
            (GENERALIZED_TIME, [text @ .., b'Z']) if text.len() == 14 => digits.copy_from_slice(text),
            _ => return Err(Error::Encoding),
        }
        let pairs = digits.as_chunks::<2>().0;
        let bounds = [(0, 99), (0, 99), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59)];
        let fits = pairs.iter().zip(bounds).all(|(&[tens, ones], (least, most))| {
            tens.is_ascii_digit()
                && ones.is_ascii_digit()
                && (least..=most).contains(&(10 * (tens - b'0') + ones - b'0'))
        });
        if fits { Ok(Self(digits)) } else { Err(Error::Encoding) }
    }
}

impl Time {
    /// Writes the time, in the form that it must have: the short one up to the year 2049.
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        let (tag, digits) = match self.0 {
            [b'1', b'9', b'5'..=b'9', ..] | [b'2', b'0', b'0'..=b'4', ..] => (UTC_TIME, &self.0[2..]),
            _ => (GENERALIZED_TIME, &self.0[..]),
        };
        writer.element(tag, |time| {
            time.put(b"Z");
            time.put(digits);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::format;
    use std::string::String;

    fn read(tag: u8, text: &str) -> Result<Time, Error> {
        let mut der = [tag, text.len() as u8].to_vec();
        der.extend_from_slice(text.as_bytes());
        Time::read(&mut Reader::new(&der))
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (day, second, text) in [
            (0, 0, "19700101000000Z"),
            (59, 86_399, "19700301235959Z"),
            (11_016, 0, "20000229000000Z"),
            (19_782, 3_661, "20240229010101Z"),
            (47_540, 1, "21000228000001Z"),
            (47_541, 1, "21000301000001Z"),
            (2_932_896, 86_399, "99991231235959Z"),
        ] {
            assert_eq!(read(GENERALIZED_TIME, text), Ok(Time::new(day, second)), "{text}");
        }
    }

    #[test]
    fn both_forms_are_read_and_others_refused() {
        assert_eq!(read(UTC_TIME, "491231235959Z"), read(GENERALIZED_TIME, "20491231235959Z"));
        assert_eq!(read(UTC_TIME, "500101000000Z"), read(GENERALIZED_TIME, "19500101000000Z"));
        for text in ["4912312359Z", "491231235959", "491231235959+0100", "491331235959Z", "49123123595:Z"] {
            assert_eq!(read(UTC_TIME, text), Err(Error::Encoding), "{text}");
        }
        for text in
            ["20491231235960Z", "20490031000000Z", "20491231240000Z", "2049123123595Z", "204912312359.5Z"]
        {
            assert_eq!(read(GENERALIZED_TIME, text), Err(Error::Encoding), "{text}");
        }
        assert_eq!(read(crate::der::INTEGER, "20491231235959Z"), Err(Error::Encoding));
    }

    proptest! {
        #[test]
        fn times_are_in_order_and_every_one_is_read(a in 0u32..2_932_897, b in 0u32..2_932_897, second in 0u32..86_400) {
            prop_assert_eq!(a.cmp(&b), Time::new(a, second).cmp(&Time::new(b, second)));
            let time = Time::new(a, second);
            let text = String::from_utf8(time.0.to_vec()).unwrap();
            prop_assert_eq!(read(GENERALIZED_TIME, &format!("{text}Z")), Ok(time));
            let mut der = [0; 20];
            let mut writer = Writer::new(&mut der);
            time.write(&mut writer);
            prop_assert_eq!(Time::read(&mut Reader::new(writer.written().unwrap())), Ok(time));
        }
    }
}
