//! Values, each beside what the paper says.

use serde::Serialize;

use crate::published::{Published, Read};

/// Where a value is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Provenance {
    /// Measured, on what the code itself made: in this run, or when its images were linked and run.
    #[serde(rename = "measured")]
    Measured,
    /// Counted, each cycle, while the firmware ran in an emulator.
    #[serde(rename = "exact emulation")]
    ExactEmulation,
    /// Reckoned, by a model of the processor's or the radio's time.
    #[serde(rename = "estimate")]
    Estimate,
    /// Reckoned from what the paper says alone.
    #[serde(rename = "published")]
    Published,
    /// What this project is to reach.
    #[serde(rename = "aim")]
    Aim,
}

impl Provenance {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::ExactEmulation => "exact emulation",
            Self::Estimate => "estimate",
            Self::Published => "published",
            Self::Aim => "aim",
        }
    }
}

/// One value, beside what the paper says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What it is the value of.
    pub label: String,
    /// Where on the horizontal axis it stands, if there is one.
    pub x: Option<f64>,
    /// The value.
    pub value: f64,
    /// Its standard deviation over the runs, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// The 95 % confidence interval of the mean over the runs, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The unit of all values of the row.
    pub unit: &'static str,
    /// What the paper says, if that survives in its text.
    pub published: Option<f64>,
    /// How that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Read>,
    /// What the reader has measured, if that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Where the value is from.
    pub provenance: Provenance,
}

impl Row {
    /// A value of one run, beside nothing.
    pub fn new(label: impl Into<String>, value: f64, unit: &'static str, provenance: Provenance) -> Self {
        Self {
            label: label.into(),
            x: None,
            value,
            sd: None,
            interval: None,
            unit,
            published: None,
            read: None,
            measured: None,
            provenance,
        }
    }

    /// At this place on the horizontal axis.
    pub fn at(self, x: f64) -> Self {
        Self { x: Some(x), ..self }
    }

    /// Beside what the paper says, if it says anything.
    pub(crate) fn beside(self, published: Option<Published>) -> Self {
        let (published, read) =
            (published.map(|published| published.value), published.map(|published| published.read));
        Self { published, read, ..self }
    }
}

/// Rows that belong together: a figure or a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it shows.
    pub title: &'static str,
    /// What the horizontal axis is, if there is one.
    pub across: Option<&'static str>,
    /// The values.
    pub rows: Vec<Row>,
}
