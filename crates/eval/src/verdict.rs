//! Whether a claim holds: by where values lie with 95 % confidence.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::plot::number;
use crate::sample::Sample;

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It does, wherever in their intervals the values are.
    Holds,
    /// The intervals do not tell.
    NotDecided,
    /// It does not, wherever in their intervals the values are.
    DoesNotHold,
}

impl Verdict {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::NotDecided => "not decided",
            Self::DoesNotHold => "does not hold",
        }
    }
}

/// Its name and, for those who want to know no more, whether it is that the claim holds.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Verdict", 2)?;
        fields.serialize_field("holds", &(*self == Self::Holds))?;
        fields.serialize_field("verdict", self.name())?;
        fields.end()
    }
}

/// So many runs decide something even if all have the same value.
const ENOUGH: usize = 5;
/// What adding up may leave of an interval that has no width: no value is printed to so many places.
const ROUNDING: f64 = 1e-9;

/// That a value lies in a range.
pub(crate) struct Condition {
    /// What the value is.
    what: String,
    value: Sample,
    range: [f64; 2],
    /// Whether the ends are part of the range.
    is_closed: bool,
}

impl Condition {
    /// That it is below nothing.
    pub(crate) fn negative(what: String, value: Sample) -> Self {
        Self { what, value, range: [f64::NEG_INFINITY, 0.0], is_closed: false }
    }

    /// That it is above nothing.
    pub(crate) fn positive(what: String, value: Sample) -> Self {
        Self { what, value, range: [0.0, f64::INFINITY], is_closed: false }
    }

    /// That it is in this range, or at its ends.
    pub(crate) fn within(what: String, value: Sample, range: [f64; 2]) -> Self {
        Self { what, value, range, is_closed: true }
    }

    /// Whether chance has a say, and runs that are too few have all the same value: that tells nothing of what others would have.
    fn is_by_chance_the_same(&self) -> bool {
        let [low, high] = self.value.interval();
        high - low <= ROUNDING && self.value.runs().is_some_and(|runs| runs < ENOUGH)
    }

    /// Whether it is met. Of what is not a number, it is not.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.is_by_chance_the_same() {
            return Verdict::NotDecided;
        }
        let [low, high] = self.value.interval();
        let [least, most] = self.range;
        let (is_in, is_out) = if self.is_closed {
            (least <= low && high <= most, high < least || most < low)
        } else {
            (least < low && high < most, high <= least || most <= low)
        };
        match (is_in, is_out || self.value.mean.is_nan()) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::DoesNotHold,
            (false, false) => Verdict::NotDecided,
        }
    }

    /// Where the value lies.
    fn described(&self) -> String {
        let [low, high] = self.value.interval();
        match self.value.runs() {
            Some(runs @ ..=1) => format!("{} has no interval with {runs} run", self.what),
            Some(runs) if self.is_by_chance_the_same() => {
                format!("{} is {} in each of {runs} runs, and they are too few", self.what, number(low))
            }
            runs => {
                let runs = runs.map_or(String::new(), |runs| format!(" with {runs} runs"));
                format!("{} is {} to {}{runs}", self.what, number(low), number(high))
            }
        }
    }
}

/// Whether all of them are met. Nothing holds where there are none.
pub(crate) fn of_all(conditions: &[Condition]) -> Verdict {
    conditions.iter().map(Condition::verdict).max().unwrap_or(Verdict::DoesNotHold)
}

/// What is not decided, if that is why a claim is not.
pub(crate) fn undecided(conditions: &[Condition]) -> Option<String> {
    if of_all(conditions) != Verdict::NotDecided {
        return None;
    }
    let mut open = conditions.iter().filter(|condition| condition.verdict() == Verdict::NotDecided);
    let first = open.next()?.described();
    Some(match open.count() {
        0 => first,
        1 => format!("{first}, and 1 more value is as open"),
        others => format!("{first}, and {others} more values are as open"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(runs: &[f64]) -> Verdict {
        Condition::negative(String::new(), Sample::of(runs)).verdict()
    }

    #[test]
    fn what_an_interval_does_not_tell_is_not_decided() {
        assert_eq!(verdict(&[-1.0, -1.1, -0.9]), Verdict::Holds);
        assert_eq!(verdict(&[1.0, 1.1, 0.9]), Verdict::DoesNotHold);
        assert_eq!(verdict(&[-1.0, 0.9, -0.5]), Verdict::NotDecided, "the mean alone would hold");
        assert_eq!(verdict(&[-1.0]), Verdict::NotDecided, "one run has no interval");
        assert_eq!(verdict(&[-2.0; ENOUGH]), Verdict::Holds, "so many are not the same by chance");
        assert_eq!(verdict(&[f64::NAN]), Verdict::DoesNotHold);
    }

    #[test]
    fn few_runs_with_the_same_value_decide_nothing_where_chance_has_a_say() {
        for runs in 2..ENOUGH {
            for value in [-2.0, 0.0, 2.0] {
                assert_eq!(verdict(&vec![value; runs]), Verdict::NotDecided, "{value}, {runs} runs");
            }
        }
        assert_eq!(verdict(&[2.0; ENOUGH]), Verdict::DoesNotHold);
        // What adding up leaves is no width; a thousandth is.
        let apart = |by: f64| verdict(&[-2.0, -2.0 - by]);
        assert_eq!([apart(1e-14), apart(1e-3)], [Verdict::NotDecided, Verdict::Holds]);
        let of = |value| Condition::negative(String::new(), Sample::exactly(value)).verdict();
        assert_eq!([of(-2.0), of(2.0)], [Verdict::Holds, Verdict::DoesNotHold], "chance has no say");
        let two = Condition::negative("it".into(), Sample::of(&[-2.0, -2.0]));
        assert_eq!(undecided(&[two]).unwrap(), "it is -2 in each of 2 runs, and they are too few");
        let none_lost =
            |runs| Condition::within("lost".into(), Sample::of(&vec![0.0; runs]), [0.0; 2]).verdict();
        assert_eq!([none_lost(2), none_lost(ENOUGH)], [Verdict::NotDecided, Verdict::Holds]);
    }

    #[test]
    fn the_ends_of_a_range_are_its_part_only_where_it_is_closed() {
        let zero = || Sample::exactly(0.0);
        assert_eq!(Condition::negative(String::new(), zero()).verdict(), Verdict::DoesNotHold);
        assert_eq!(Condition::positive(String::new(), zero()).verdict(), Verdict::DoesNotHold);
        assert_eq!(Condition::within(String::new(), zero(), [0.0, 0.0]).verdict(), Verdict::Holds);
        let wide = Sample::of(&[-9.0, 9.0]);
        assert_eq!(Condition::within(String::new(), wide, [-1.0, 1.0]).verdict(), Verdict::NotDecided);
    }

    #[test]
    fn one_that_fails_decides_and_one_that_is_open_leaves_all_open() {
        let of = |values: &[f64]| Condition::negative("it".into(), Sample::of(values));
        let [met, open, failed] = [[-1.0, -1.01], [-1.0, 1.0], [1.0, 1.01]];
        assert_eq!(of_all(&[of(&met), of(&met)]), Verdict::Holds);
        assert_eq!(of_all(&[of(&met), of(&open)]), Verdict::NotDecided);
        assert_eq!(of_all(&[of(&failed), of(&open)]), Verdict::DoesNotHold);
        assert_eq!(of_all(&[]), Verdict::DoesNotHold);
        let why = undecided(&[of(&met), of(&open), of(&open)]).unwrap();
        assert_eq!(why, "it is -12.71 to 12.71 with 2 runs, and 1 more value is as open");
        assert_eq!(undecided(&[of(&failed), of(&open)]), None);
    }
}
