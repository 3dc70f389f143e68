//! What the papers say: the files in `published/`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A paper, and those of its values that experiments are compared with.
#[derive(Debug, Deserialize)]
pub struct Paper {
    /// Authors, title, year.
    pub title: String,
    /// How far the 95 % confidence interval of the paper's results goes to either side at most, in per cent of the mean, if it says so.
    pub relative_error: Option<f64>,
    /// What its text says of its results that is not checked.
    #[serde(default)]
    pub unchecked: Vec<Unchecked>,
    #[serde(flatten)]
    tables: BTreeMap<String, Table>,
}

/// A sentence that is not checked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Unchecked {
    /// The experiment that it is about most of all.
    #[serde(skip_serializing)]
    pub experiment: String,
    /// The section that it stands in.
    pub section: String,
    /// What the paper says.
    pub says: String,
    /// Why that cannot be checked, or is not.
    pub why: String,
}

/// How a value was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Read {
    /// It is printed in a table or a figure.
    Printed,
    /// The running text says it.
    Prose,
    /// Somebody has measured it and passed it on; no text prints it.
    Measurement,
}

impl Read {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Prose => "prose",
            Self::Measurement => "measurement",
        }
    }
}

/// A value that a paper says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The value.
    pub value: f64,
    /// How it was read.
    pub read: Read,
}

/// Values of one table, figure or passage, in one unit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Which table or figure.
    pub at: String,
    /// The section that it stands in.
    pub section: String,
    /// The unit of its values.
    pub unit: String,
    /// How they were read.
    pub read: Read,
    values: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    label: String,
    x: Option<f64>,
    value: f64,
}

impl Paper {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| Error(format!("a file in published/: {error}")))
    }

    /// The table of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn table(&self, name: &str) -> Result<&Table, Error> {
        self.tables.get(name).ok_or_else(|| Error(format!("published/ has no {name} of {}", self.title)))
    }
}

impl Table {
    /// The value of `label` where the horizontal axis has no part in it.
    pub fn get(&self, label: &str) -> Option<Published> {
        self.find(label, None)
    }

    /// The value of `label` at `x`.
    pub fn at(&self, label: &str, x: f64) -> Option<Published> {
        self.find(label, Some(x))
    }

    /// What its values are of, in their order.
    #[cfg(test)]
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|value| value.label.as_str())
    }

    fn find(&self, label: &str, x: Option<f64>) -> Option<Published> {
        let found = self.values.iter().find(|value| value.label == label && value.x == x)?;
        Some(Published { value: found.value, read: self.read })
    }
}
