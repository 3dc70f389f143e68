//! When a reading was taken, in the ways that payloads say it.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;

use crate::{Reading, Refused};

/// The year 10000; what is later is a mistake.
pub(crate) const LATEST_SECONDS: f64 = 253_402_300_800.0;
/// The times that there are, in milliseconds since 1970.
pub const TIMES: Range<i64> = 0..253_402_300_800_000;
/// How far ahead of its arrival a reading may have been taken, by the clock of who says so: a day. A clock that is further
/// ahead is wrong, and what it says would hide all later readings of the stream.
pub const MOST_AHEAD_MS: i64 = 24 * 60 * 60 * 1000;
/// The longest pattern, and the longest time.
const LONGEST: usize = 64;

/// How a time is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeFormat {
    /// As in RFC 3339, for example `2026-11-21T16:45:00+01:00`.
    Rfc3339,
    /// Seconds since 1970, with or without a fraction.
    UnixSeconds,
    /// Milliseconds since 1970.
    UnixMilliseconds,
    /// A pattern of `strftime`, for example `%d.%m.%Y %H:%M`; in UTC if it holds no offset.
    Pattern(String),
}

impl TimeFormat {
    /// The time that `text` spells, in milliseconds since 1970.
    pub(crate) fn read(&self, text: &str) -> Result<i64, String> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(format!("a time is longer than {LONGEST} bytes"));
        }
        let milliseconds = match self {
            Self::Rfc3339 => {
                let time: Timestamp =
                    text.parse().map_err(|error| format!("{text:?} is no time of RFC 3339: {error}"))?;
                time.as_millisecond()
            }
            Self::UnixSeconds => number(text)?
                .filter(|seconds| *seconds < LATEST_SECONDS)
                .map_or(-1, |seconds| (seconds * 1000.0).round() as i64),
            Self::UnixMilliseconds => number(text)?
                .filter(|time| *time < LATEST_SECONDS * 1000.0)
                .map_or(-1, |time| time.round() as i64),
            Self::Pattern(pattern) => by_pattern(pattern, text)?,
        };
        if TIMES.contains(&milliseconds) {
            return Ok(milliseconds);
        }
        Err(format!("{text:?} is not a time from 1970 to 9999"))
    }
}

/// Whether no reading was taken more than [`MOST_AHEAD_MS`] after `arrival`.
pub fn check_times(readings: &[Reading], arrival: i64) -> Result<(), Refused> {
    let is_ahead = |reading: &&Reading| reading.time > arrival.saturating_add(MOST_AHEAD_MS);
    let Some(Reading { stream, time, .. }) = readings.iter().find(is_ahead) else { return Ok(()) };
    let time = Timestamp::from_millisecond(*time).map_or_else(|_| time.to_string(), |time| time.to_string());
    Err(Refused::new(format!(
        "{stream}: its time, {time}, is more than 24 hours ahead; set the clock of the device, or send no time"
    )))
}

fn number(text: &str) -> Result<Option<f64>, String> {
    let number: f64 =
        text.parse().map_err(|_| format!("{text:?} is not a number of seconds or milliseconds"))?;
    Ok(number.is_finite().then_some(number))
}

fn by_pattern(pattern: &str, text: &str) -> Result<i64, String> {
    let why = |error: jiff::Error| format!("{text:?} does not fit the pattern {pattern:?}: {error}");
    let time = BrokenDownTime::parse(pattern, text).map_err(why)?;
    let time = match time.offset() {
        Some(_) => time.to_timestamp().map_err(why)?,
        None => {
            let time = time.to_datetime().map_err(why)?;
            time.to_zoned(TimeZone::UTC).map_err(why)?.timestamp()
        }
    };
    Ok(time.as_millisecond())
}

impl FromStr for TimeFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "rfc3339" => Ok(Self::Rfc3339),
            "unix-s" => Ok(Self::UnixSeconds),
            "unix-ms" => Ok(Self::UnixMilliseconds),
            pattern if pattern.contains('%') => {
                if pattern.len() > LONGEST {
                    return Err(format!("a pattern has at most {LONGEST} bytes"));
                }
                // A pattern is good if it reads what it writes.
                let some_time = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
                BrokenDownTime::from(&some_time)
                    .to_string(pattern)
                    .map_err(|error| error.to_string())
                    .and_then(|text| by_pattern(pattern, &text))
                    .map_err(|error| format!("the pattern {pattern:?} does not give a time: {error}"))?;
                Ok(Self::Pattern(pattern.to_owned()))
            }
            _ => Err(format!("{text:?} is not rfc3339, unix-s, unix-ms or a pattern like %Y-%m-%d %H:%M:%S")),
        }
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rfc3339 => "rfc3339",
            Self::UnixSeconds => "unix-s",
            Self::UnixMilliseconds => "unix-ms",
            Self::Pattern(pattern) => pattern,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_format() {
        for (format, text, expected) in [
            ("rfc3339", "2026-11-21T16:45:00Z", 1_795_279_500_000),
            ("rfc3339", "2026-11-21T17:45:00.25+01:00", 1_795_279_500_250),
            ("unix-s", "1795279500", 1_795_279_500_000),
            ("unix-s", "1795279500.2504", 1_795_279_500_250),
            ("unix-s", "1.7952795e9", 1_795_279_500_000),
            ("unix-ms", "1795279500001", 1_795_279_500_001),
            ("%d.%m.%Y %H:%M", "21.11.2026 16:45", 1_795_279_500_000),
            ("%Y-%m-%d %H:%M:%S %z", "2026-11-21 17:45:00 +0100", 1_795_279_500_000),
            ("%Y%m%d", "20261121", 1_795_219_200_000),
        ] {
            assert_eq!(format.parse::<TimeFormat>().unwrap().read(text), Ok(expected), "{format} {text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_its_text() {
        for (format, text) in [
            ("rfc3339", "2026-11-21"),
            ("rfc3339", "yesterday"),
            ("rfc3339", "1960-01-01T00:00:00Z"),
            ("unix-s", "-1"),
            ("unix-s", "1e300"),
            ("unix-s", "nan"),
            ("unix-ms", "soon"),
            ("%H:%M %d.%m.%Y", "25:00 21.11.2026"),
        ] {
            let error = format.parse::<TimeFormat>().unwrap().read(text).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
        let long = "1".repeat(65);
        assert!(TimeFormat::UnixSeconds.read(&long).unwrap_err().contains("64 bytes"));
    }

    #[test]
    fn patterns_that_give_no_time_are_refused_before_they_are_used() {
        for pattern in ["", "iso", "%", "%H:%M", "%Q!", &"%Y".repeat(40)] {
            assert!(pattern.parse::<TimeFormat>().is_err(), "{pattern}");
        }
        for text in ["rfc3339", "unix-s", "unix-ms", "%Y-%m-%d"] {
            assert_eq!(text.parse::<TimeFormat>().unwrap().to_string(), text);
        }
    }
}
