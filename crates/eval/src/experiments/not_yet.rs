//! Tables and figures that cannot be made yet, and what that would take.

use crate::experiment::{Experiment, Method};

const THESIS: &str = include_str!("../../../../published/thesis.toml");
const GRANJAL: &str = include_str!("../../../../published/granjal2008.toml");
const ANOTHER_AES: &str =
    "needs a second AES in images for the MSP430, one that reads tables, beside the one that computes";

const fn not_yet(name: &'static str, paper: &'static str, at: &'static str, why: &'static str) -> Experiment {
    Experiment { name, paper, at, shows: "", method: Method::NotYet(why) }
}

pub(super) const THESIS_TABLE_4: Experiment =
    not_yet("thesis-table4", THESIS, "table 4 (section 6.3.2)", ANOTHER_AES);
pub(super) const THESIS_FIG_29: Experiment =
    not_yet("thesis-fig29", THESIS, "figure 29 (section 6.3.2)", ANOTHER_AES);
pub(super) const GRANJAL_TABLE_2: Experiment = not_yet(
    "granjal2008-table2",
    GRANJAL,
    "table 2 (section 3.2)",
    "needs images for the ATmega128 of each algorithm alone, with 6LoWPAN and without",
);
