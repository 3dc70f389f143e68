//! How many claims hold.

use core::fmt;

use crate::claim::Claim;
use crate::evaluation::Evaluation;
use crate::verdict::Verdict;

/// How many claims hold, do not hold, are not decided, and are not counted; and how many sentences are not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    hold: usize,
    fail: usize,
    undecided: usize,
    uncounted: usize,
    unchecked: usize,
}

impl Summary {
    /// That of all claims of these experiments.
    pub fn of<'e>(evaluations: impl Iterator<Item = &'e Evaluation>) -> Self {
        let mut summary = Self::default();
        let mut claims = Vec::new();
        for Evaluation { claims: of_it, unchecked, .. } in evaluations {
            summary.unchecked += unchecked.len();
            claims.extend(of_it);
        }
        for Claim { verdict, counted, .. } in claims {
            let count = match (counted, verdict) {
                (false, _) => &mut summary.uncounted,
                (true, Verdict::Holds) => &mut summary.hold,
                (true, Verdict::DoesNotHold) => &mut summary.fail,
                (true, Verdict::NotDecided) => &mut summary.undecided,
            };
            *count += 1;
        }
        summary
    }

    /// Its numbers, as cells of a table.
    pub(super) fn cells(self) -> String {
        let Self { hold, fail, undecided, uncounted, unchecked } = self;
        format!(
            "<td class=\"n\">{hold}<td class=\"n\">{fail}<td class=\"n\">{undecided}<td class=\"n\">{uncounted}<td class=\"n\">{unchecked}"
        )
    }

    /// What stands above those.
    pub(super) const HEADS: &str = "<th class=\"n\">hold<th class=\"n\">do not hold<th class=\"n\">not decided<th class=\"n\">not counted<th class=\"n\">sentences not checked";
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |count, one, several| if count == 1 { one } else { several };
        let Self { hold, fail, undecided, uncounted, unchecked } = *self;
        write!(
            f,
            "{hold} {}, {fail} {} hold, {undecided} {} not decided, {uncounted} {} not counted",
            verb(hold, "holds", "hold"),
            verb(fail, "does not", "do not"),
            verb(undecided, "is", "are"),
            verb(uncounted, "is", "are")
        )?;
        if unchecked > 0 {
            let sentences = verb(unchecked, "sentence of the papers is", "sentences of the papers are");
            write!(f, "; {unchecked} {sentences} not checked, and listed with the reason")?;
        }
        Ok(())
    }
}
