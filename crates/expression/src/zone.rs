//! Time zones, in which days begin and end. They are those that the build contains, not those of the system.

use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

use crate::error::{ExpressionError, refuse};

/// A time zone.
#[derive(Clone, Debug)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// Reads `UTC`, a difference from it as `+02:00`, or the name of a zone.
    pub(crate) fn new(name: &str) -> Result<Self, ExpressionError> {
        if name.eq_ignore_ascii_case("utc") {
            return Ok(Self(TimeZone::UTC));
        }
        if let Some(offset) = offset(name) {
            return Ok(Self(TimeZone::fixed(offset)));
        }
        let zone = TimeZoneDatabase::bundled().get(name).map_err(|_| {
            let start: String = name.chars().take(40).collect();
            refuse(format!(
                "time_zone: {start:?} is none; write UTC, a difference such as +02:00, or a name such as Europe/Stockholm"
            ))
        })?;
        Ok(Self(zone))
    }

    /// When the day of `time` began: its first millisecond. `None` if `time` is beyond all calendars.
    pub(crate) fn day_began(&self, time: i64) -> Option<i64> {
        let day = self.at(time)?.start_of_day().ok()?;
        Some(day.timestamp().as_millisecond())
    }

    /// When the day after that of `time` begins.
    pub(crate) fn day_ends(&self, time: i64) -> Option<i64> {
        let next = self.at(time)?.tomorrow().ok()?.start_of_day().ok()?;
        Some(next.timestamp().as_millisecond())
    }

    fn at(&self, time: i64) -> Option<Zoned> {
        Some(Timestamp::from_millisecond(time).ok()?.to_zoned(self.0.clone()))
    }
}

/// The difference in `text`, as `+02:00`.
fn offset(text: &str) -> Option<Offset> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str, below: i32| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number: &i32| digits && *number < below)
    };
    Offset::from_seconds(sign * (number(hours, 24)? * 3_600 + number(minutes, 60)? * 60)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Midday UTC of this day.
    fn midday(day: &str) -> i64 {
        format!("{day}T12:00:00Z").parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn days_begin_and_end_as_their_zone_says_also_where_clocks_are_changed() {
        const HOUR: i64 = 3_600_000;
        for (zone, day, began, hours) in [
            ("UTC", "2026-03-29", 0, 24),
            ("utc", "2026-03-29", 0, 24),
            ("+02:00", "2026-03-29", -2, 24),
            ("-05:30", "2026-03-29", 5, 24),
            ("Europe/Stockholm", "2026-03-28", -1, 24),
            ("Europe/Stockholm", "2026-03-29", -1, 23),
            ("Europe/Stockholm", "2026-03-30", -2, 24),
            ("Europe/Stockholm", "2026-10-25", -2, 25),
        ] {
            let time = midday(day);
            let midnight = time - 12 * HOUR;
            let half = if zone == "-05:30" { HOUR / 2 } else { 0 };
            let zone = Zone::new(zone).unwrap();
            let (from, until) = (zone.day_began(time).unwrap(), zone.day_ends(time).unwrap());
            assert_eq!(
                (from - midnight - half, until - from),
                (began * HOUR, hours * HOUR),
                "{zone:?} {day}"
            );
            assert_eq!((zone.day_began(from), zone.day_ends(until - 1)), (Some(from), Some(until)));
        }
        assert_eq!(Zone::new("UTC").unwrap().day_began(i64::MAX), None);
    }

    #[test]
    fn what_names_no_zone_is_refused() {
        for name in ["", "+", "+2", "+24:00", "+02:60", "+2:00", "++1:00", "Stockholm", "Mars/Olympus", "é"]
        {
            let said = Zone::new(name).unwrap_err().to_string();
            assert!(said.contains("write UTC"), "{name}: {said}");
        }
    }
}
