//! Tables and figures that cannot be made yet, and what that would take.

use crate::experiment::{Experiment, Method};

const GRANJAL: &str = include_str!("../../../../published/granjal2008.toml");

const fn not_yet(name: &'static str, paper: &'static str, at: &'static str, why: &'static str) -> Experiment {
    Experiment { name, paper, at, shows: "", method: Method::NotYet(why) }
}

pub(super) const GRANJAL_TABLE_2: Experiment = not_yet(
    "granjal2008-table2",
    GRANJAL,
    "table 2 (section 3.2)",
    "needs images for the ATmega128 of each algorithm alone, with 6LoWPAN and without",
);
