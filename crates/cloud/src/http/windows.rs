//! Windows of data: how long they are, and what is asked of each.

use sixlock_store::{NumberSummary, Point, Summary, Value, ValueType, Width, Zone};

use super::failure::Failure;

/// The shortest window, and the longest, in seconds.
const SHORTEST_S: i64 = 1;
const LONGEST_S: i64 = 366 * 86_400;

/// What is asked of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    Mean,
    Min,
    Max,
    Sum,
    Count,
    First,
    Last,
    /// All of these.
    All,
}

impl Aggregate {
    /// Reads the name of one that there is of values of this type. An empty one is `mean`, and of texts `last`.
    pub(super) fn of(name: &str, value_type: ValueType) -> Result<Self, Failure> {
        let are_texts = value_type == ValueType::Text;
        match name {
            "mean" | "min" | "max" | "sum" if are_texts => {
                let why =
                    format!("aggregate: of texts there is no {name}; ask for count, first, last or all");
                Err(Failure::invalid(why))
            }
            "" if are_texts => Ok(Self::Last),
            "" | "mean" => Ok(Self::Mean),
            "min" => Ok(Self::Min),
            "max" => Ok(Self::Max),
            "sum" => Ok(Self::Sum),
            "count" => Ok(Self::Count),
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            "all" => Ok(Self::All),
            _ => Err(Failure::invalid("aggregate is not mean, min, max, sum, count, first, last or all")),
        }
    }

    /// Of each window a point at its beginning; nothing if all is asked for.
    pub(super) fn points(self, windows: &[Summary]) -> Option<Vec<Point>> {
        let number: fn(&NumberSummary) -> f64 = match self {
            Self::Mean => |numbers| numbers.mean,
            Self::Min => |numbers| numbers.min,
            Self::Max => |numbers| numbers.max,
            Self::Sum => |numbers| numbers.sum,
            Self::Count => return Some(points(windows, |window| Some(Value::Number(window.count as f64)))),
            Self::First => return Some(points(windows, |window| Some(window.first.clone()))),
            Self::Last => return Some(points(windows, |window| Some(window.last.clone()))),
            Self::All => return None,
        };
        Some(points(windows, |window| window.numbers.as_ref().map(number).map(Value::Number)))
    }
}

/// Of each window that has such a value a point at its beginning.
fn points(windows: &[Summary], value: impl Fn(&Summary) -> Option<Value>) -> Vec<Point> {
    let point = |window: &Summary| Some(Point { time: window.time, value: value(window)? });
    windows.iter().filter_map(point).collect()
}

/// Reads how long windows are: a time such as `10m`, or `day` of a zone.
pub(super) fn width(every: &str, time_zone: &str) -> Result<Width, Failure> {
    const OFFER: &str = "every is a time as 30s, 10m, 1h or 7d, from 1s to 366d, or day";
    if every == "day" {
        let zone = if time_zone.is_empty() { "UTC" } else { time_zone };
        return Zone::new(zone).map(Width::Day).map_err(|error| Failure::invalid(error.to_string()));
    }
    if !time_zone.is_empty() {
        return Err(Failure::invalid("time_zone is for every=day: other windows are lengths of time"));
    }
    let digits = every.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = every.split_at(digits);
    let unit_s = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(Failure::invalid(OFFER)),
    };
    let seconds = number.parse().ok().and_then(|number: i64| number.checked_mul(unit_s));
    match seconds {
        Some(seconds) if (SHORTEST_S..=LONGEST_S).contains(&seconds) => Ok(Width::Span(seconds * 1_000)),
        _ => Err(Failure::invalid(OFFER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_time_or_a_day_of_a_zone() {
        let span = |every| match width(every, "") {
            Ok(Width::Span(span)) => Some(span),
            Ok(Width::Day(_)) | Err(_) => None,
        };
        for (every, length_s) in [("1s", 1), ("90s", 90), ("10m", 600), ("6h", 21_600), ("366d", 31_622_400)]
        {
            assert_eq!(span(every), Some(length_s * 1_000), "{every}");
        }
        for every in ["", "0s", "367d", "h", "1", "-1h", "1.5h", "1 h", "1ms", "99999999999999999999s", "é"]
        {
            assert_eq!(span(every), None, "{every}");
        }
        assert!(matches!(width("day", "Europe/Stockholm"), Ok(Width::Day(_))));
        assert!(matches!(width("day", ""), Ok(Width::Day(_))));
        assert!(width("day", "Mars/Olympus").is_err());
        assert!(width("1h", "UTC").is_err());
    }
}
