//! What an experiment has shown.

use serde::{Serialize, Serializer};

use crate::published::{Published, Read};
use crate::statement::{Checked, Statement};
use crate::tolerance::Tolerance;

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
}

impl Provenance {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::ExactEmulation => "exact emulation",
            Self::Estimate => "estimate",
            Self::Published => "published",
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
    /// The unit of all three values.
    pub unit: &'static str,
    /// What the paper says, if that survives in its text.
    pub published: Option<f64>,
    /// How that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Read>,
    /// Where the value is from.
    pub provenance: Provenance,
}

impl Row {
    pub(crate) fn new(
        label: impl Into<String>,
        value: f64,
        unit: &'static str,
        provenance: Provenance,
    ) -> Self {
        Self {
            label: label.into(),
            x: None,
            value,
            sd: None,
            interval: None,
            unit,
            published: None,
            read: None,
            provenance,
        }
    }

    /// At this place on the horizontal axis.
    pub(crate) fn at(self, x: f64) -> Self {
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

/// What a paper claims, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The claim, and where the paper makes it.
    pub text: String,
    /// Whether it holds here.
    pub holds: bool,
    /// Whether it counts: what the paper's own arithmetic, or the way this is built, makes true does not.
    pub counted: bool,
    /// By how much values may differ, up or down, if they are compared with the paper's or with each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<&'static str>,
    /// The values that say so; of one that does not hold, its cause and the run that removes it.
    pub why: String,
    /// What it says of the values, where that can be asked of others, too.
    #[serde(skip)]
    pub statement: Option<Statement>,
}

impl Claim {
    pub(crate) fn new(text: impl Into<String>, holds: bool, why: impl Into<String>) -> Self {
        Self { text: text.into(), holds, counted: true, tolerance: None, why: why.into(), statement: None }
    }

    /// What a statement says of these values.
    pub(crate) fn stated(text: impl Into<String>, statement: Statement, figures: &[Figure]) -> Self {
        let Checked { holds, values } = statement.check(figures);
        let tolerance = statement.tolerance().map(Tolerance::name);
        Self { tolerance, statement: Some(statement), ..Self::new(text, holds, values) }
    }

    /// Adds, if it does not hold, what a run says from which `what` is removed: the statement, of that run's values.
    pub(crate) fn without(mut self, what: &str, statement: &Statement, figures: &[Figure]) -> Self {
        if !self.holds {
            let Checked { holds, values } = statement.check(figures);
            self.why = if holds {
                format!("{}. Cause: {what}. Run that removes it: {values}", self.why)
            } else {
                format!("{}. It does not hold either in a run without this: {what}: {values}", self.why)
            };
        }
        self
    }

    /// Adds, if it does not hold, what may be the reason; no run has shown that.
    pub(crate) fn perhaps(mut self, guess: &str) -> Self {
        if !self.holds {
            self.why = format!("{}. A guess, which no run has shown: {guess}", self.why);
        }
        self
    }

    /// Adds, if it does not hold, why not, and what a run says in which that is removed.
    pub(crate) fn because(mut self, cause: &str, run: impl AsRef<str>) -> Self {
        if !self.holds {
            let run = run.as_ref();
            self.why = format!("{}. Cause: {cause}. Run that removes it: {run}", self.why);
        }
        self
    }
}

/// What an experiment has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The version of this format.
    pub schema: u32,
    /// The experiment's name.
    pub experiment: &'static str,
    /// The paper, and what of it is reproduced.
    pub source: String,
    /// Whether it could be reproduced.
    pub reproduced: bool,
    /// If not, why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// Its values.
    #[serde(rename = "rows", serialize_with = "flat")]
    pub figures: Vec<Figure>,
    /// The claims.
    pub claims: Vec<Claim>,
}

fn flat<S: Serializer>(figures: &[Figure], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(figures.iter().flat_map(|figure| &figure.rows))
}
