//! Values of several runs.

use crate::evaluation::{Provenance, Row};

/// The mean over runs, and the standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    pub(super) mean: f64,
    pub(super) sd: f64,
}

impl Sample {
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, sd: (squares / (count - 1.0).max(1.0)).sqrt() }
    }

    pub(super) fn row(self, label: impl Into<String>, unit: &'static str) -> Row {
        Row { sd: Some(self.sd), ..Row::new(label, self.mean, unit, Provenance::Estimate) }
    }
}
