//! What a paper claims, and whether it holds.

use serde::Serialize;

use crate::figure::Figure;
use crate::statement::{Checked, Statement};
use crate::tolerance::Tolerance;

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

    /// Does not count it, and says why not.
    pub(crate) fn uncounted(self, why: &str) -> Self {
        Self { counted: false, why: format!("{}. It is not counted: {why}", self.why), ..self }
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
