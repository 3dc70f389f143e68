//! What a claim says of values: a condition that is checked of whatever values there are, so that a test can ask it of others.

use crate::figure::{Figure, Row};
use crate::plot::number;
use crate::tolerance::Tolerance;

/// Rows of one figure with one label: the values of a line in a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The figure's title.
    pub figure: &'static str,
    /// The rows' label.
    pub label: String,
}

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
    /// What is added along the horizontal axis is in proportion to it: each step within the tolerance of their mean.
    InProportion(Series, Tolerance),
    /// Each value of the series is above nothing.
    SomeOf(Series),
    /// Each value of the series is nothing.
    NoneOf(Series),
}

/// Whether a condition holds of values, and these.
pub(crate) struct Checked {
    pub(crate) holds: bool,
    pub(crate) values: String,
}

impl Series {
    pub(crate) fn new(figure: &'static str, label: impl Into<String>) -> Self {
        Self { figure, label: label.into() }
    }

    /// Its rows among `figures`.
    pub(crate) fn rows<'f>(&'f self, figures: &'f [Figure]) -> impl Iterator<Item = &'f Row> {
        let of_title = figures.iter().filter(|figure| figure.title == self.figure);
        of_title.flat_map(|figure| &figure.rows).filter(|row| row.label == self.label)
    }

    /// What the paper says beside the first of its values beside which it says anything.
    pub(crate) fn published(&self, figures: &[Figure]) -> Option<f64> {
        self.rows(figures).find_map(|row| row.published)
    }

    /// Its values, with where each stands.
    fn points(&self, figures: &[Figure]) -> Vec<(f64, f64)> {
        self.rows(figures).map(|row| (row.x.unwrap_or_default(), row.value)).collect()
    }

    fn described(&self, figures: &[Figure]) -> String {
        let rows: Vec<_> = self.rows(figures).collect();
        let list = |value: fn(&Row) -> Option<f64>| {
            rows.iter().filter_map(|row| value(row)).map(number).collect::<Vec<_>>().join(", ")
        };
        let (unit, at) = (rows.first().map_or("", |row| row.unit), list(|row| row.x));
        let across =
            figures.iter().find(|figure| figure.title == self.figure).and_then(|figure| figure.across);
        let values = list(|row| Some(row.value));
        match across {
            Some(across) if !at.is_empty() => format!("{}: {values} {unit} at {at} ({across})", self.label),
            _ => format!("{}: {values} {unit}", self.label),
        }
    }
}

impl Statement {
    /// The series that it speaks of.
    pub fn series(&self) -> Vec<&Series> {
        match self {
            Self::Published(series, _)
            | Self::Grows(series)
            | Self::InProportion(series, _)
            | Self::SomeOf(series)
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
        }
    }

    /// What it tolerates.
    pub const fn tolerance(&self) -> Option<Tolerance> {
        match self {
            Self::Published(_, tolerance)
            | Self::Same(_, _, tolerance)
            | Self::SameAdded(_, _, tolerance)
            | Self::InProportion(_, tolerance) => Some(*tolerance),
            _ => None,
        }
    }

    /// Whether it holds of `figures`. A statement about values that are not there does not.
    pub fn holds(&self, figures: &[Figure]) -> bool {
        let points = |series: &Series| series.points(figures);
        match self {
            Self::Published(series, tolerance) => {
                let mut beside =
                    series.rows(figures).filter_map(|row| Some((row.value, row.published?))).peekable();
                beside.peek().is_some() && beside.all(|(value, published)| tolerance.admits(value, published))
            }
            Self::Below(less, more) => {
                all(&pairs(&points(less), &points(more)), |&(_, less, more)| less < more)
            }
            Self::Least(least, others) => {
                let is_below = |other: &Series| {
                    all(&pairs(&points(least), &points(other)), |&(_, least, other)| least < other)
                };
                all(others, is_below)
            }
            Self::Most(most, others) => {
                let is_above = |other: &Series| {
                    all(&pairs(&points(most), &points(other)), |&(_, most, other)| most > other)
                };
                all(others, is_above)
            }
            Self::FarBelow(less, more, percent) => {
                all(&pairs(&points(less), &points(more)), |&(_, less, more)| less < more * percent / 100.0)
            }
            Self::Same(first, second, tolerance) => {
                all(&pairs(&points(first), &points(second)), |&(_, first, second)| {
                    tolerance.admits(first, second)
                })
            }
            Self::BelowFrom(less, more, from) => {
                let mut pairs = pairs(&points(less), &points(more));
                pairs.retain(|(x, ..)| x >= from);
                all(&pairs, |&(_, less, more)| less < more)
            }
            Self::Grows(series) => {
                let steps: Vec<_> = points(series).windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
                all(&steps, |&step| step > 0.0)
            }
            Self::SameAdded(more, less, tolerance) => {
                let added: Vec<_> =
                    pairs(&points(more), &points(less)).iter().map(|(_, more, less)| more - less).collect();
                are_same(&added, *tolerance)
            }
            Self::HardlyMore(more, less, percent) => {
                all(&pairs(&points(more), &points(less)), |&(_, more, less)| {
                    (more - less).abs() < less.abs() * percent / 100.0
                })
            }
            Self::InProportion(series, tolerance) => {
                let slope = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
                let slopes: Vec<_> = points(series).windows(2).map(slope).collect();
                all(&slopes, |&slope| slope > 0.0) && are_same(&slopes, *tolerance)
            }
            Self::SomeOf(series) => all(&points(series), |&(_, value)| value > 0.0),
            Self::NoneOf(series) => all(&points(series), |&(_, value)| value == 0.0),
        }
    }

    /// Whether it holds of `figures`, and the values that say so.
    pub(crate) fn check(&self, figures: &[Figure]) -> Checked {
        let values: Vec<_> = self.series().iter().map(|series| series.described(figures)).collect();
        Checked { holds: self.holds(figures), values: values.join("; ") }
    }
}

/// Whether there are values, and each is as wanted.
fn all<T>(values: &[T], is_wanted: impl Fn(&T) -> bool) -> bool {
    !values.is_empty() && values.iter().all(is_wanted)
}

/// The values of two series where both have one, with where that is.
fn pairs(first: &[(f64, f64)], second: &[(f64, f64)]) -> Vec<(f64, f64, f64)> {
    let pair = |&(x, value): &(f64, f64)| {
        let other = second.iter().find(|(other, _)| *other == x)?;
        Some((x, value, other.1))
    };
    first.iter().filter_map(pair).collect()
}

/// Whether each of at least two values counts as their mean.
fn are_same(values: &[f64], tolerance: Tolerance) -> bool {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.len() > 1 && values.iter().all(|&value| tolerance.admits(value, mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Provenance;
    use crate::published::{Published, Read};

    const TITLE: &str = "a figure";

    fn figure(series: &[(&str, &[f64])]) -> [Figure; 1] {
        let rows = series.iter().flat_map(|(label, values)| {
            let row = |(value, x): (&f64, u32)| {
                Row::new(*label, *value, "ms", Provenance::Estimate).at(f64::from(x))
            };
            values.iter().zip(1..).map(row)
        });
        [Figure { title: TITLE, across: Some("hops"), rows: rows.collect() }]
    }

    fn series(label: &str) -> Series {
        Series::new(TITLE, label)
    }

    #[test]
    fn of_what_is_not_there_nothing_holds() {
        let (a, b) = (series("a"), series("b"));
        let statements = [
            Statement::Published(a.clone(), Tolerance::Time),
            Statement::Below(a.clone(), b.clone()),
            Statement::FarBelow(a.clone(), b.clone(), 50.0),
            Statement::Same(a.clone(), b.clone(), Tolerance::Time),
            Statement::Grows(a.clone()),
            Statement::SameAdded(a.clone(), b.clone(), Tolerance::Time),
            Statement::HardlyMore(a.clone(), b.clone(), 10.0),
            Statement::InProportion(a.clone(), Tolerance::Time),
            Statement::SomeOf(a.clone()),
            Statement::NoneOf(a.clone()),
        ];
        for statement in statements {
            assert!(!statement.holds(&[]), "{statement:?}");
            let is_of_a_alone = statement.series().len() == 1;
            assert!(is_of_a_alone || !statement.holds(&figure(&[("a", &[1.0, 2.0])])), "{statement:?}");
        }
    }

    #[test]
    fn a_series_is_below_another_only_at_every_place() {
        let below = Statement::Below(series("a"), series("b"));
        assert!(below.holds(&figure(&[("a", &[1.0, 2.0]), ("b", &[2.0, 3.0, 0.0])])));
        assert!(!below.holds(&figure(&[("a", &[1.0, 3.0]), ("b", &[2.0, 3.0])])));
    }

    #[test]
    fn the_least_is_below_each_of_the_others() {
        let least = Statement::Least(series("a"), vec![series("b"), series("c")]);
        assert!(least.holds(&figure(&[("a", &[1.0]), ("b", &[2.0]), ("c", &[3.0])])));
        assert!(!least.holds(&figure(&[("a", &[1.0]), ("b", &[2.0]), ("c", &[0.5])])));
        assert!(!least.holds(&figure(&[("a", &[1.0]), ("b", &[2.0])])), "c is not there");
    }

    #[test]
    fn the_most_is_above_each_of_the_others() {
        let most = Statement::Most(series("a"), vec![series("b"), series("c")]);
        assert!(most.holds(&figure(&[("a", &[4.0]), ("b", &[2.0]), ("c", &[3.0])])));
        assert!(!most.holds(&figure(&[("a", &[4.0]), ("b", &[2.0]), ("c", &[4.0])])));
        assert!(!most.holds(&figure(&[("a", &[4.0]), ("b", &[2.0])])), "c is not there");
    }

    #[test]
    fn far_below_is_below_a_part_at_every_place() {
        let far_below = Statement::FarBelow(series("a"), series("b"), 50.0);
        assert!(far_below.holds(&figure(&[("a", &[1.0, 1.9]), ("b", &[3.0, 4.0])])));
        assert!(!far_below.holds(&figure(&[("a", &[1.0, 2.0]), ("b", &[3.0, 4.0])])));
    }

    #[test]
    fn the_same_is_within_the_tolerance_at_every_place() {
        let same = Statement::Same(series("a"), series("b"), Tolerance::Loss);
        assert!(same.holds(&figure(&[("a", &[95.0, 100.0]), ("b", &[100.0, 95.0])])));
        assert!(!same.holds(&figure(&[("a", &[95.0, 94.0]), ("b", &[100.0, 100.0])])));
    }

    #[test]
    fn below_from_a_place_on_says_nothing_of_those_before() {
        let figures = figure(&[("a", &[5.0, 2.0, 2.0]), ("b", &[1.0, 3.0, 3.0])]);
        let from = |x| Statement::BelowFrom(series("a"), series("b"), x).holds(&figures);
        assert_eq!([from(1.0), from(2.0), from(3.0), from(4.0)], [false, true, true, false]);
    }

    #[test]
    fn growth_has_no_step_back_and_none_on_the_spot() {
        let grows = Statement::Grows(series("a"));
        assert!(grows.holds(&figure(&[("a", &[1.0, 1.1, 5.0])])));
        assert!(!grows.holds(&figure(&[("a", &[1.0, 2.0, 2.0])])));
        assert!(!grows.holds(&figure(&[("a", &[1.0])])));
    }

    #[test]
    fn what_is_added_is_compared_with_its_mean() {
        let same = Statement::SameAdded(series("a"), series("b"), Tolerance::Time);
        assert!(same.holds(&figure(&[("a", &[11.0, 22.0, 33.0]), ("b", &[1.0, 12.0, 23.0])])));
        assert!(!same.holds(&figure(&[("a", &[11.0, 22.0, 63.0]), ("b", &[1.0, 12.0, 23.0])])));
    }

    #[test]
    fn in_proportion_is_what_takes_equal_steps_upwards() {
        let even = Statement::InProportion(series("a"), Tolerance::Energy);
        assert!(even.holds(&figure(&[("a", &[5.0, 7.0, 9.1])])));
        assert!(!even.holds(&figure(&[("a", &[5.0, 7.0, 27.0])])));
        assert!(!even.holds(&figure(&[("a", &[9.0, 7.0, 5.0])])));
    }

    #[test]
    fn hardly_more_is_hardly_less_too() {
        let hardly = Statement::HardlyMore(series("a"), series("b"), 10.0);
        assert!(hardly.holds(&figure(&[("a", &[10.5, 9.5]), ("b", &[10.0, 10.0])])));
        assert!(!hardly.holds(&figure(&[("a", &[10.5, 8.5]), ("b", &[10.0, 10.0])])));
    }

    #[test]
    fn all_that_the_paper_has_must_be_the_papers() {
        let mut figures = figure(&[("a", &[100.0, 7.0])]);
        let published = Statement::Published(series("a"), Tolerance::Time);
        assert!(!published.holds(&figures), "the paper says nothing");
        figures[0].rows[0] =
            figures[0].rows[0].clone().beside(Some(Published { value: 90.0, read: Read::Prose }));
        assert!(published.holds(&figures));
        figures[0].rows[0].value = 300.0;
        assert!(!published.holds(&figures));
    }

    #[test]
    fn the_values_are_told_with_their_places_and_unit() {
        let figures = figure(&[("a", &[1.0, 2.5]), ("b", &[2.0, 3.0])]);
        let checked = Statement::Below(series("a"), series("b")).check(&figures);
        assert!(checked.holds);
        assert_eq!(checked.values, "a: 1, 2.5 ms at 1, 2 (hops); b: 2, 3 ms at 1, 2 (hops)");
    }
}
