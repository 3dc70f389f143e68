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
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(Error::Encoding);
        }
        let mut fields = [0; 7];
        for (field, &[tens, ones]) in fields.iter_mut().zip(digits.as_chunks().0) {
            *field = 10 * (tens - b'0') + ones - b'0';
        }
        let [century, year, month, day, hour, minute, second] = fields;
        let is_time = hour < 24 && minute < 60 && second < 60;
        let is_day = (1..=days_in(century, year, month)).contains(&day);
        if is_time && is_day { Ok(Self(digits)) } else { Err(Error::Encoding) }
    }
}

/// The number of days in a month of the year `year` of a century; 0 if there is no such month.
fn days_in(century: u8, year: u8, month: u8) -> u8 {
    let is_leap_year = if year == 0 { century.is_multiple_of(4) } else { year.is_multiple_of(4) };
    match month {
        2 => 28 + u8::from(is_leap_year),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
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

/// What is known of the time when a certificate is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// It is this time: certificates must be valid at it.
    At(Time),
    /// It is this time or later, and nobody knows how much, for a device without a clock: of a certificate's validity it can
    /// judge that it ended before, not that it ended since, nor that it has begun. The time is the latest that the device has
    /// seen proof of: when its firmware was made, or when its own certificate began to be valid. Such a device relies on
    /// authorities that sign for no longer than a key is to be trusted, and on its peer, which has a clock.
    Since(Time),
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

    #[test]
    fn a_day_that_does_not_exist_is_refused() {
        for (last, missing) in [
            ("20250131", "20250132"),
            ("20250228", "20250229"),
            ("20240229", "20240230"),
            ("21000228", "21000229"),
            ("20000229", "20000230"),
            ("20250430", "20250431"),
            ("20250630", "20250631"),
            ("20250831", "20250832"),
            ("20250930", "20250931"),
            ("20251130", "20251131"),
            ("20251231", "20251232"),
            ("20250101", "20250100"),
            ("20250101", "20250001"),
            ("20250101", "20251301"),
        ] {
            assert!(read(GENERALIZED_TIME, &format!("{last}235959Z")).is_ok(), "{last}");
            assert_eq!(
                read(GENERALIZED_TIME, &format!("{missing}235959Z")),
                Err(Error::Encoding),
                "{missing}"
            );
        }
        assert_eq!(read(UTC_TIME, "250229000000Z"), Err(Error::Encoding));
        for time in ["240000", "236000", "235960", "9a0000"] {
            assert_eq!(read(UTC_TIME, &format!("250228{time}Z")), Err(Error::Encoding), "{time}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_is_read_and_no_other() {
        let mut day = 0;
        for year in 1970..2370 {
            for month in 1..=12 {
                for number in 1..=31 {
                    let time = read(GENERALIZED_TIME, &format!("{year}{month:02}{number:02}120000Z"));
                    let next = Time::new(day, 43_200);
                    assert_eq!(time.ok(), (time == Ok(next)).then_some(next), "{year}-{month}-{number}");
                    day += u32::from(time.is_ok());
                }
            }
        }
        assert_eq!(day, 146_097);
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
