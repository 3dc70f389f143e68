//! What a claim says of values: a condition that is checked of whatever values there are, so that a test can ask it of others.

use crate::figure::{Figure, Row};
use crate::plot::number;
use crate::sample::Sample;
use crate::series::{Pair, Point, Series, pairs};
use crate::tolerance::Tolerance;
use crate::verdict::{self, Condition, Verdict};

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Each value of the series beside which the paper has one counts as that.
    Published(Series, Tolerance),
    /// The first series is below the second wherever both have a value.
    Below(Series, Series),
    /// The same from this place on the horizontal axis on.
    BelowFrom(Series, Series, f64),
    /// The first series is below each of the others wherever both have a value.
    Least(Series, Vec<Series>),
    /// The first series is above each of the others wherever both have a value.
    Most(Series, Vec<Series>),
    /// The first series is below so many per cent of the second wherever both have a value.
    FarBelow(Series, Series, f64),
    /// The values grow along the horizontal axis.
    Grows(Series),
    /// Each value of the first series counts as that of the second, wherever both have one.
    Same(Series, Series, Tolerance),
    /// What the first series has more than the second is the same all along the horizontal axis: each within the tolerance of their mean.
    SameAdded(Series, Series, Tolerance),
    /// What the first series has more than the second is less than so many per cent of the second, all along the horizontal axis.
    HardlyMore(Series, Series, f64),
    /// The values grow linearly along the horizontal axis: each step, divided by how far it goes, is upwards and within the tolerance of the mean of
    /// all. Where the line begins is not asked.
    Linear(Series, Tolerance),
    /// Each value of the series is above nothing.
    SomeOf(Series),
    /// Each value of the series beside which the paper has more than nothing is above nothing.
    SomeWherePublished(Series),
    /// Each value of the series is nothing.
    NoneOf(Series),
    /// All of these hold.
    All(Vec<Self>),
}

/// Whether a condition holds of values, and these.
pub(crate) struct Checked {
    pub(crate) verdict: Verdict,
    pub(crate) values: String,
}

impl Statement {
    /// The series that it speaks of.
    pub fn series(&self) -> Vec<&Series> {
        match self {
            Self::Published(series, _)
            | Self::Grows(series)
            | Self::Linear(series, _)
            | Self::SomeOf(series)
            | Self::SomeWherePublished(series)
            | Self::NoneOf(series) => vec![series],
            Self::Below(first, second)
            | Self::BelowFrom(first, second, _)
            | Self::SameAdded(first, second, _)
            | Self::FarBelow(first, second, _)
            | Self::Same(first, second, _)
            | Self::HardlyMore(first, second, _) => vec![first, second],
            Self::Least(one, others) | Self::Most(one, others) => {
                core::iter::once(one).chain(others).collect()
            }
            Self::All(all) => all.iter().flat_map(Self::series).collect(),
        }
    }

    /// What it tolerates.
    pub fn tolerance(&self) -> Option<Tolerance> {
        match self {
            Self::Published(_, tolerance)
            | Self::Same(_, _, tolerance)
            | Self::SameAdded(_, _, tolerance)
            | Self::Linear(_, tolerance) => Some(*tolerance),
            Self::All(all) => all.iter().find_map(Self::tolerance),
            _ => None,
        }
    }

    /// Whether it holds of `figures`. A statement about values that are not there does not.
    pub fn verdict(&self, figures: &[Figure]) -> Verdict {
        verdict::of_all(&self.conditions(figures).unwrap_or_default())
    }

    /// What must be so for it to hold; nothing if it speaks of values that are not there.
    fn conditions(&self, figures: &[Figure]) -> Option<Vec<Condition>> {
        let points = |series: &Series| series.points(figures);
        let pairs = |first: &Series, second: &Series| pairs(points(first), points(second));
        let less = |first: &Series, second: &Series, pair: Pair| {
            let (what, value) = apart(&first.label, &second.label, &pair, 1.0);
            Condition::negative(what, value)
        };
        let conditions = match self {
            Self::Published(series, tolerance) => series
                .rows(figures)
                .filter_map(|row| {
                    let range = tolerance.range(row.published?);
                    let what = format!("{}{}", series.label, at(row.x));
                    Some(Condition::within(what, Sample::of_row(row), range))
                })
                .collect(),
            Self::Below(first, second) => {
                pairs(first, second).into_iter().map(|pair| less(first, second, pair)).collect()
            }
            Self::BelowFrom(first, second, from) => {
                let pairs = pairs(first, second).into_iter();
                let from = pairs.filter(|pair| pair.x.is_some_and(|x| x >= *from));
                from.map(|pair| less(first, second, pair)).collect()
            }
            Self::Least(least, others) => {
                let below = |other: &Series| Self::Below(least.clone(), other.clone());
                return of_each(others.iter().map(below), figures);
            }
            Self::Most(most, others) => {
                let below = |other: &Series| Self::Below(other.clone(), most.clone());
                return of_each(others.iter().map(below), figures);
            }
            Self::All(all) => return of_each(all.iter().cloned(), figures),
            Self::FarBelow(first, second, percent) => {
                let far = |pair: Pair| {
                    let (what, value) = apart(&first.label, &second.label, &pair, percent / 100.0);
                    Condition::negative(what, value)
                };
                pairs(first, second).into_iter().map(far).collect()
            }
            Self::Same(first, second, tolerance) => {
                let same = |pair: Pair| counts_as(&first.label, &second.label, &pair, *tolerance);
                pairs(first, second).into_iter().flat_map(same).collect()
            }
            Self::Grows(series) => {
                let step = |pair: &[Point]| {
                    let [(from, before), (to, after)] = pair else { return None };
                    let what = format!("{}{} less that{}", series.label, at(*to), at(*from));
                    Some(Condition::positive(what, after.minus(before)))
                };
                points(series).windows(2).filter_map(step).collect()
            }
            Self::SameAdded(more, less, tolerance) => {
                let added = |pair: Pair| (pair.x, pair.first.minus(&pair.second));
                let added: Vec<_> = pairs(more, less).into_iter().map(added).collect();
                are_same(&format!("what {} has more than {}", more.label, less.label), &added, *tolerance)
            }
            Self::HardlyMore(more, less, percent) => {
                let hardly = |pair: Pair| {
                    let share = percent / 100.0 * pair.second.mean.signum();
                    let apart = |times| apart(&more.label, &less.label, &pair, times);
                    let ((above, most), (below, least)) = (apart(1.0 + share), apart(1.0 - share));
                    [Condition::negative(above, most), Condition::positive(below, least)]
                };
                pairs(more, less).into_iter().flat_map(hardly).collect()
            }
            Self::Linear(series, tolerance) => {
                let slope = |pair: &[Point]| {
                    let [(Some(from), before), (Some(to), after)] = pair else { return None };
                    Some((Some(*to), after.minus(before).times(1.0 / (to - from))))
                };
                let slopes: Vec<_> = points(series).windows(2).filter_map(slope).collect();
                let what = format!("the slope of {}", series.label);
                let upwards =
                    |(x, slope): &Point| Condition::positive(format!("{what}{}", at(*x)), slope.clone());
                let mut conditions = are_same(&what, &slopes, *tolerance);
                conditions.extend(slopes.iter().map(upwards));
                conditions
            }
            Self::SomeOf(series) => {
                let some = |(x, value)| Condition::positive(format!("{}{}", series.label, at(x)), value);
                points(series).into_iter().map(some).collect()
            }
            Self::SomeWherePublished(series) => {
                let rows = series.rows(figures).filter(|row| row.published.is_some_and(|value| value > 0.0));
                let some =
                    |row: &Row| Condition::positive(series.label.clone() + &at(row.x), Sample::of_row(row));
                rows.map(some).collect()
            }
            Self::NoneOf(series) => {
                let none =
                    |(x, value)| Condition::within(format!("{}{}", series.label, at(x)), value, [0.0; 2]);
                points(series).into_iter().map(none).collect()
            }
        };
        (!conditions.is_empty()).then_some(conditions)
    }

    /// Whether it holds of `figures`, and the values that say so.
    pub(crate) fn check(&self, figures: &[Figure]) -> Checked {
        let mut described: Vec<_> = Vec::new();
        for series in self.series() {
            let values = series.described(figures);
            if !described.contains(&values) {
                described.push(values);
            }
        }
        let conditions = self.conditions(figures).unwrap_or_default();
        let mut values = described.join("; ");
        if let Some(open) = verdict::undecided(&conditions) {
            values.push_str(&format!(". With 95 % confidence, {open}"));
        }
        Checked { verdict: verdict::of_all(&conditions), values }
    }
}

/// What all of these statements ask for; nothing if one speaks of values that are not there.
fn of_each(statements: impl Iterator<Item = Statement>, figures: &[Figure]) -> Option<Vec<Condition>> {
    let each = statements.map(|statement| statement.conditions(figures)).collect::<Option<Vec<_>>>()?;
    Some(each.into_iter().flatten().collect())
}

fn at(x: Option<f64>) -> String {
    x.map_or(String::new(), |x| format!(" at {}", number(x)))
}

/// What the first of a pair has more than so many times the second, in words and as a number.
fn apart(first: &str, second: &str, pair: &Pair, times: f64) -> (String, Sample) {
    let of = if times == 1.0 { String::new() } else { format!("{} % of ", number(100.0 * times)) };
    let value = Sample::sum(&[(1.0, &pair.first), (-times, &pair.second)]);
    (format!("{first} less {of}{second}{}", at(pair.x)), value)
}

/// That the first of a pair counts as the second.
fn counts_as(first: &str, second: &str, pair: &Pair, tolerance: Tolerance) -> [Condition; 2] {
    let (share, more) = tolerance.share_and_more();
    let share = share * pair.second.mean.signum();
    let apart = |times| apart(first, second, pair, times);
    let ((above, most), (below, least)) = (apart(1.0 + share), apart(1.0 - share));
    [
        Condition::within(above, most, [f64::NEG_INFINITY, more]),
        Condition::within(below, least, [-more, f64::INFINITY]),
    ]
}

/// That each of at least two values counts as their mean.
fn are_same(what: &str, values: &[Point], tolerance: Tolerance) -> Vec<Condition> {
    if values.len() < 2 {
        return Vec::new();
    }
    let terms: Vec<_> = values.iter().map(|(_, value)| (1.0 / values.len() as f64, value)).collect();
    let mean = Sample::sum(&terms);
    let same = |(x, value): &Point| {
        let pair = Pair { x: *x, first: value.clone(), second: mean.clone() };
        counts_as(what, "the mean of all", &pair, tolerance)
    };
    values.iter().flat_map(same).collect()
}

#[cfg(test)]
mod tests;
