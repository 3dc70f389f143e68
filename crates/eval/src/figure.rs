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
    /// The value of each run, in the order of the seeds, if there were any: not a number where a run has none. Of rows with the same seeds the
    /// difference is that of each pair.
    #[serde(skip)]
    pub runs: Vec<f64>,
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
    /// What the nodes of its runs were, if not what those of all of the experiment are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<&'static str>,
    /// How they got at the channel, if not as in all of the experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<&'static str>,
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
            runs: Vec::new(),
            unit,
            published: None,
            read: None,
            measured: None,
            provenance,
            platform: None,
            mac: None,
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

    /// Of runs in which nodes were this.
    pub(crate) fn on(self, platform: &'static str) -> Self {
        Self { platform: Some(platform), ..self }
    }

    /// Of runs in which nodes got at the channel like this.
    pub(crate) fn by(self, mac: &'static str) -> Self {
        Self { mac: Some(mac), ..self }
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
    /// What the horizontal axis is, if there is one: its name and, behind a comma, its unit; or what its values mean one by one, as in "AH (1),
    /// ESP (2)".
    pub across: Option<&'static str>,
    /// The values.
    pub rows: Vec<Row>,
}

/// A horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What it is, or what its values mean one by one.
    pub name: &'static str,
    /// Its unit; nothing where it counts what its name says.
    pub unit: Option<&'static str>,
    /// Whether the name says what its values mean one by one.
    pub is_enumerated: bool,
}

impl Figure {
    /// The horizontal axis, if there is one.
    pub fn axis(&self) -> Option<Axis> {
        let across = self.across?;
        let is_enumerated = across.ends_with(')');
        let (name, unit) = match across.rsplit_once(", ").filter(|_| !is_enumerated) {
            Some((name, unit)) => (name, Some(unit)),
            None => (across, None),
        };
        Some(Axis { name, unit, is_enumerated })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_name_and_a_unit_or_says_what_its_values_mean() {
        let axis = |across| Figure { title: "", across, rows: Vec::new() }.axis();
        let of = |name, unit, is_enumerated| Some(Axis { name, unit, is_enumerated });
        assert_eq!(axis(None), None);
        assert_eq!(axis(Some("hops")), of("hops", None, false));
        assert_eq!(axis(Some("payload, bytes")), of("payload", Some("bytes"), false));
        assert_eq!(axis(Some("AH (1), ESP (2)")), of("AH (1), ESP (2)", None, true));
    }
}
