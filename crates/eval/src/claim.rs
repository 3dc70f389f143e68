//! What a paper claims, and whether it holds.

use serde::Serialize;

use crate::figure::Figure;
use crate::statement::{Checked, Statement};
use crate::tolerance::Tolerance;
use crate::verdict::Verdict;

/// What a paper claims, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The claim, and where the paper makes it.
    pub text: String,
    /// Whether it holds here.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Whether it counts: what the paper's own arithmetic, or the way this is built, makes true does not.
    pub counted: bool,
    /// By how much values may differ, up or down, if they are compared with the paper's or with each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<&'static str>,
    /// The values that say so; of one that is not decided, what the intervals leave open; of one that does not hold, its cause and the run
    /// that removes it.
    pub why: String,
    /// What it says of the values, so that it can be asked of others, too.
    #[serde(skip)]
    pub statement: Statement,
}

impl Claim {
    /// What a statement says of these values.
    pub(crate) fn stated(text: impl Into<String>, statement: Statement, figures: &[Figure]) -> Self {
        let Checked { verdict, values } = statement.check(figures);
        let tolerance = statement.tolerance().map(Tolerance::name);
        Self { text: text.into(), verdict, counted: true, tolerance, why: values, statement }
    }

    /// Adds, if it does not hold, what a run says from which `what` is removed: the statement, of that run's values.
    pub(crate) fn without(mut self, what: &str, statement: &Statement, figures: &[Figure]) -> Self {
        if self.verdict == Verdict::DoesNotHold {
            let Checked { verdict, values } = statement.check(figures);
            let without = match verdict {
                Verdict::Holds => format!("Cause: {what}. Run that removes it: {values}"),
                Verdict::NotDecided => format!("It is not decided in runs without this: {what}: {values}"),
                Verdict::DoesNotHold => {
                    format!("It does not hold either in a run without this: {what}: {values}")
                }
            };
            self.why = format!("{}. {without}", self.why);
        }
        self
    }

    /// Adds, if it is not decided, what would decide it.
    pub(crate) fn if_undecided(mut self, what: &str) -> Self {
        if self.verdict == Verdict::NotDecided {
            self.why = format!("{}; {what}", self.why);
        }
        self
    }

    /// Does not count it, and says why not.
    pub(crate) fn uncounted(self, why: &str) -> Self {
        Self { counted: false, why: format!("{}. It is not counted: {why}", self.why), ..self }
    }

    /// Adds, if it does not hold, what may be the reason; no run has shown that.
    pub(crate) fn perhaps(mut self, guess: &str) -> Self {
        if self.verdict == Verdict::DoesNotHold {
            self.why = format!("{}. A guess, which no run has shown: {guess}", self.why);
        }
        self
    }
}
