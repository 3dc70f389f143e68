//! What one reading decides.

use sixlock_ingest::Value;

use crate::conditions::{Condition, differs};

/// A reading as rules judge it. Of a truth value, it is 1 or 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// Its time.
    pub(super) time: i64,
    /// Its value.
    pub(super) value: Value,
}

/// How far a rule has come with the readings of its stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Judged {
    /// The newest reading.
    pub(super) seen: Option<Seen>,
    /// The time of the reading since which a threshold is passed.
    pub(super) met_since: Option<i64>,
    /// Whether there is an alert that is not cleared.
    pub(super) is_open: bool,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Opened,
    Cleared,
}

impl Judged {
    /// Judges a reading. One that is older than the newest is late: what newer ones decided stays.
    pub(super) fn reading(&mut self, condition: &Condition, time: i64, value: &Value) -> Option<Decision> {
        if self.seen.as_ref().is_some_and(|seen| time < seen.time) {
            return None;
        }
        let (is_met, hold) = match condition {
            Condition::Threshold { operator, operand, hysteresis, hold_s } => {
                let hysteresis = if self.is_open { *hysteresis } else { 0.0 };
                (operator.holds(value, operand, hysteresis), hold_s.saturating_mul(1_000))
            }
            Condition::Change { by } => {
                (self.seen.as_ref().is_some_and(|before| differs(value, &before.value, *by)), 0)
            }
            Condition::Silence { .. } => return None,
        };
        self.seen = Some(Seen { time, value: value.clone() });
        if !is_met {
            self.met_since = None;
            return std::mem::take(&mut self.is_open).then_some(Decision::Cleared);
        }
        let since = *self.met_since.get_or_insert(time);
        if self.is_open || time.saturating_sub(since) < hold {
            return None;
        }
        self.is_open = true;
        Some(Decision::Opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::Operator;

    fn decisions(condition: &Condition, readings: &[(i64, f64)]) -> Vec<(i64, Decision)> {
        let mut judged = Judged::default();
        let decided = readings.iter().filter_map(|&(time, value)| {
            let decision = judged.reading(condition, time, &value.into())?;
            Some((time, decision))
        });
        decided.collect()
    }

    fn threshold(operator: Operator, hysteresis: f64, hold_s: i64) -> Condition {
        Condition::Threshold { operator, operand: 30.0.into(), hysteresis, hold_s }
    }

    #[test]
    fn hysteresis_keeps_an_alert_open_that_wavers() {
        use Decision::{Cleared, Opened};
        let readings = [(1, 29.9), (2, 30.0), (3, 30.1), (4, 29.5), (5, 29.0), (6, 30.0), (7, 30.5)];
        let above = threshold(Operator::Greater, 1.0, 0);
        assert_eq!(decisions(&above, &readings), [(3, Opened), (5, Cleared), (7, Opened)]);
        let at_least = threshold(Operator::GreaterOrEqual, 0.0, 0);
        assert_eq!(decisions(&at_least, &readings), [(2, Opened), (4, Cleared), (6, Opened)]);
        let below = threshold(Operator::Less, 0.2, 0);
        assert_eq!(decisions(&below, &readings), [(1, Opened), (7, Cleared)]);
        let equal = threshold(Operator::Equal, 0.5, 0);
        assert_eq!(decisions(&equal, &readings), [(2, Opened), (5, Cleared), (6, Opened)]);
    }

    #[test]
    fn late_readings_decide_nothing_and_those_of_the_same_time_do() {
        use Decision::{Cleared, Opened};
        let above = threshold(Operator::Greater, 0.0, 0);
        let readings = [(10, 20.0), (5, 40.0), (10, 40.0), (9, 20.0), (10, 20.0)];
        assert_eq!(decisions(&above, &readings), [(10, Opened), (10, Cleared)]);
    }

    #[test]
    fn a_threshold_is_to_be_passed_all_the_time_that_it_has_to_hold() {
        use Decision::{Cleared, Opened};
        let above = threshold(Operator::Greater, 5.0, 60);
        let readings =
            [(0, 31.0), (59_999, 31.0), (60_000, 29.0), (61_000, 31.0), (121_000, 31.0), (122_000, 26.0)];
        assert_eq!(decisions(&above, &readings), [(121_000, Opened)]);
        let cleared = [&readings[..], &[(123_000, 25.0)]].concat();
        assert_eq!(decisions(&above, &cleared), [(121_000, Opened), (123_000, Cleared)]);
    }

    #[test]
    fn a_change_is_one_since_the_reading_before() {
        use Decision::{Cleared, Opened};
        let change = Condition::Change { by: Some(2.0) };
        let readings = [(1, 50.0), (2, 51.9), (3, 54.0), (4, 57.0), (5, 57.0), (6, 55.0)];
        assert_eq!(decisions(&change, &readings), [(3, Opened), (5, Cleared), (6, Opened)]);
    }

    #[test]
    fn texts_and_truth_values_are_equal_or_not_and_change_when_they_are_others() {
        use Decision::{Cleared, Opened};
        let decided = |condition: &Condition, values: &[Value]| {
            let mut judged = Judged::default();
            let decide = |(time, value)| Some((time, judged.reading(condition, time, value)?));
            (0..).zip(values).filter_map(decide).collect::<Vec<(i64, Decision)>>()
        };
        let compare = |operator, operand: Value, hold_s| Condition::Threshold {
            operator,
            operand,
            hysteresis: 0.0,
            hold_s,
        };
        let texts = ["closed", "open", "open", "Open", "", "open"].map(|text| Value::Text(text.into()));
        let open = || Value::Text("open".into());
        let opened = decided(&compare(Operator::Equal, open(), 0), &texts);
        assert_eq!(opened, [(1, Opened), (3, Cleared), (5, Opened)], "a text is its characters");
        let other = decided(&compare(Operator::NotEqual, open(), 0), &texts);
        assert_eq!(other, [(0, Opened), (1, Cleared), (3, Opened), (5, Cleared)]);
        assert_eq!(decided(&compare(Operator::Greater, open(), 0), &texts), []);
        let change = Condition::Change { by: None };
        assert_eq!(decided(&change, &texts), [(1, Opened), (2, Cleared), (3, Opened)]);
        // A truth value is judged by the number that stands for it.
        let truths = [0.0, 1.0, 1.0, 0.0].map(Value::Number);
        assert_eq!(
            decided(&compare(Operator::Equal, Value::Boolean(true), 0), &truths),
            [(1, Opened), (3, Cleared)]
        );
        assert_eq!(
            decided(&compare(Operator::NotEqual, Value::Boolean(true), 0), &truths),
            [(0, Opened), (1, Cleared), (3, Opened)]
        );
        assert_eq!(decided(&change, &truths), [(1, Opened), (2, Cleared), (3, Opened)]);
        // Numbers change, too, by whatever it is.
        let numbers = [5.0, 5.0, 5.1, 5.1].map(Value::Number);
        assert_eq!(decided(&change, &numbers), [(2, Opened), (3, Cleared)]);
        assert_eq!(decided(&compare(Operator::NotEqual, Value::Number(5.0), 0), &numbers), [(2, Opened)]);
    }
}
