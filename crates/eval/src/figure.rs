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

/// An echo that a value is the time of, there and back: one that a node measures, and not a host behind a border router or a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoSetting<'a> {
    /// Over how many hops.
    pub hops: u32,
    /// How many bytes it carries.
    pub bytes: u16,
    /// How it is protected, as modes of security are spelt.
    pub security: &'a str,
    /// How nodes contend for the channel, and listen: `csma`, `null` or `contikimac`.
    pub mac: &'a str,
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
    /// The echo that it is the time of, in milliseconds, if it is that of one that a node can measure.
    #[serde(skip)]
    pub echo: Option<EchoSetting<'static>>,
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
            echo: None,
        }
    }

    /// At this place on the horizontal axis.
    pub fn at(self, x: f64) -> Self {
        Self { x: Some(x), ..self }
    }

    /// The time of this echo, in milliseconds, if it is one's.
    pub(crate) fn of_echo(self, echo: Option<EchoSetting<'static>>) -> Self {
        Self { echo, ..self }
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
