//! Series: rows of a figure that have a label in common.

use crate::figure::{Figure, Row};
use crate::plot::number;
use crate::sample::Sample;

/// Rows of one figure with one label: the values of a line in a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The figure's title.
    pub figure: &'static str,
    /// The rows' label.
    pub label: String,
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
    pub(crate) fn points(&self, figures: &[Figure]) -> Vec<Point> {
        self.rows(figures).map(|row| (row.x, Sample::of_row(row))).collect()
    }

    pub(crate) fn described(&self, figures: &[Figure]) -> String {
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

/// A value, and where it stands.
pub(crate) type Point = (Option<f64>, Sample);

/// The values of two series at one place.
pub(crate) struct Pair {
    pub(crate) x: Option<f64>,
    pub(crate) first: Sample,
    pub(crate) second: Sample,
}

/// The values of two series where both have one.
pub(crate) fn pairs(first: Vec<Point>, second: Vec<Point>) -> Vec<Pair> {
    let pair = |(x, first): Point| {
        let (_, second) = second.iter().find(|(other, _)| *other == x)?;
        Some(Pair { x, first, second: second.clone() })
    };
    first.into_iter().filter_map(pair).collect()
}
