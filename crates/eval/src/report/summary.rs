//! How many claims hold.

use core::fmt;

use crate::claim::Claim;
use crate::evaluation::Evaluation;

/// How many claims hold, do not hold, and are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) hold: usize,
    pub(super) fail: usize,
    pub(super) uncounted: usize,
}

impl Summary {
    /// That of all claims of these experiments.
    pub(super) fn of<'e>(evaluations: impl Iterator<Item = &'e Evaluation>) -> Self {
        let mut summary = Self::default();
        for Claim { holds, counted, .. } in evaluations.flat_map(|evaluation| &evaluation.claims) {
            let count = match (counted, holds) {
                (false, _) => &mut summary.uncounted,
                (true, true) => &mut summary.hold,
                (true, false) => &mut summary.fail,
            };
            *count += 1;
        }
        summary
    }

    /// Its three numbers, as cells of a table.
    pub(super) fn cells(self) -> String {
        let Self { hold, fail, uncounted } = self;
        format!("<td class=\"n\">{hold}<td class=\"n\">{fail}<td class=\"n\">{uncounted}")
    }

    /// What stands above those.
    pub(super) const HEADS: &str =
        "<th class=\"n\">hold<th class=\"n\">do not hold<th class=\"n\">not counted";
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |count, one, several| if count == 1 { one } else { several };
        let Self { hold, fail, uncounted } = *self;
        write!(
            f,
            "{hold} {}, {fail} {} hold, {uncounted} {} not counted",
            verb(hold, "holds", "hold"),
            verb(fail, "does not", "do not"),
            verb(uncounted, "is", "are")
        )
    }
}
