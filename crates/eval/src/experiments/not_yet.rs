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
    "needs ten images for the ATmega128: AES-192, 3DES, SHA-1 and SHA-512 alone and none of them, each with 6LoWPAN and without; so far one image has all four, and only firmware/primitives may link them",
);
