//! Windows: which points before a time, and at it.

use crate::error::{ExpressionError, refuse_at};
use crate::limits::{LONGEST_SPAN_MS, POINTS_PER_WINDOW};
use crate::point::Point;
use crate::zone::Zone;

/// Which points of a stream, seen from a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// Those that are less than so many milliseconds old.
    Span(i64),
    /// The latest so many.
    Points(usize),
    /// Those of the day.
    Day,
}

/// How a window is written, for messages.
const OFFER: &str =
    "a window is a time (\"90s\", \"10m\", \"24h\", \"7d\"), \"day\", or a number of points (\"10 points\")";

impl Window {
    /// Reads `text`, which begins at `position`.
    pub(crate) fn read(text: &str, position: usize) -> Result<Self, ExpressionError> {
        let text = text.trim();
        if text == "day" {
            return Ok(Self::Day);
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim_start();
        let unit_ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "point" | "points" => {
                let number = number.parse().map_err(|_| refuse_at(position, OFFER))?;
                return Self::points(number, position);
            }
            _ => return Err(refuse_at(position, OFFER)),
        };
        let number: i64 = number.parse().map_err(|_| refuse_at(position, OFFER))?;
        match number.checked_mul(unit_ms) {
            Some(span) if (1..=LONGEST_SPAN_MS).contains(&span) => Ok(Self::Span(span)),
            _ => Err(refuse_at(position, "a window is not empty, and not longer than 31 days")),
        }
    }

    /// The latest so many points.
    pub(crate) fn points(number: u64, position: usize) -> Result<Self, ExpressionError> {
        let number = usize::try_from(number).ok().filter(|number| (1..=POINTS_PER_WINDOW).contains(number));
        let why = || refuse_at(position, format!("a window has 1 to {POINTS_PER_WINDOW} points"));
        number.map(Self::Points).ok_or_else(why)
    }

    /// The points of the window at the end of `points`, which are sorted and not later than `at`.
    pub(crate) fn of<'a>(self, points: &'a [Point], at: i64, zone: &Zone) -> &'a [Point] {
        let first = match self {
            Self::Points(number) => points.len().saturating_sub(number),
            Self::Span(_) | Self::Day => match self.begin(at, zone) {
                Some(begin) => points.partition_point(|point| point.time < begin),
                None => points.len(),
            },
        };
        &points[first..]
    }

    /// The first time of the window at `at`; `None` if it goes by the number of points, or there is no such time.
    pub(crate) fn begin(self, at: i64, zone: &Zone) -> Option<i64> {
        match self {
            Self::Points(_) => None,
            Self::Span(span) => Some(at.saturating_sub(span).saturating_add(1)),
            Self::Day => zone.day_began(at),
        }
    }

    /// The first time at which a point at `time` is in the window no more; `None` if that goes by the number of points.
    pub(crate) fn end(self, time: i64, zone: &Zone) -> Option<i64> {
        match self {
            Self::Points(_) => None,
            Self::Span(span) => Some(time.saturating_add(span)),
            Self::Day => Some(zone.day_ends(time).unwrap_or(i64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_written_as_a_time_a_day_or_a_number_of_points() {
        for (text, window) in [
            ("250ms", Window::Span(250)),
            ("90s", Window::Span(90_000)),
            ("10m", Window::Span(600_000)),
            ("10 min", Window::Span(600_000)),
            (" 24h ", Window::Span(86_400_000)),
            ("31d", Window::Span(LONGEST_SPAN_MS)),
            ("day", Window::Day),
            ("10 points", Window::Points(10)),
            ("1point", Window::Points(1)),
            ("10000 points", Window::Points(10_000)),
        ] {
            assert_eq!(Window::read(text, 1), Ok(window), "{text}");
        }
        for text in [
            "",
            "10",
            "m",
            "0s",
            "32d",
            "-1m",
            "1.5h",
            "10001 points",
            "0 points",
            "99999999999999999999s",
            "1 y",
            "é",
        ] {
            assert!(Window::read(text, 1).is_err(), "{text}");
        }
    }
}
