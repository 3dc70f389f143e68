//! Time zones, in which days begin and end. They are those that the build contains, not those of the system.

use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

use crate::error::{ExpressionError, refuse};

/// A time zone.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// Reads `UTC`, a difference from it as `+02:00`, or the name of a zone.
    pub fn new(name: &str) -> Result<Self, ExpressionError> {
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
    pub fn day_began(&self, time: i64) -> Option<i64> {
        Some(self.day(time)?.timestamp().as_millisecond())
    }

    /// When the day after that of `time` begins. `None` if no calendar goes as far.
    pub fn day_ends(&self, time: i64) -> Option<i64> {
        Some(day_after(&self.day(time)?)?.timestamp().as_millisecond())
    }

    /// The beginning of the day of `time`: the last midnight that is not later. Where clocks were put back over midnight, the evening
    /// that comes twice belongs to the new day the second time: days follow each other, and none is in two parts.
    fn day(&self, time: i64) -> Option<Zoned> {
        let time = Timestamp::from_millisecond(time).ok()?.to_zoned(self.0.clone());
        let began = time.start_of_day().ok()?;
        Some(day_after(&began).filter(|next| *next <= time).unwrap_or(began))
    }
}

/// The beginning of the day after the one that begins at `began`.
fn day_after(began: &Zoned) -> Option<Zoned> {
    began.tomorrow().ok()?.start_of_day().ok()
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

    /// A minute after midnight of 29 October 2006, clocks were put back by an hour in St John's, to 23:01 of the day before. In Samoa there
    /// was no 30 December 2011.
    #[test]
    fn each_time_is_in_one_day_also_where_clocks_are_put_back_over_midnight_or_a_day_is_left_out() {
        for (zone, from) in [("America/St_Johns", "2006-10-28"), ("Pacific/Apia", "2011-12-29")] {
            let zone = Zone::new(zone).unwrap();
            let mut ends = zone.day_ends(midday(from) - 24 * 3_600_000).unwrap();
            for minute in 0..4 * 24 * 60 {
                let time = midday(from) - 12 * 3_600_000 + minute * 60_000;
                let (began, end) = (zone.day_began(time).unwrap(), zone.day_ends(time).unwrap());
                assert!(began <= time && time < end, "{zone:?} {time}");
                assert!(
                    end == ends || began == ends,
                    "{zone:?} {time}: the next day begins where this one ends"
                );
                ends = end;
            }
        }
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
