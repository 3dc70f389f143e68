//! Experiments that cannot be made yet, and why.

use crate::experiment::{Experiment, Method};

const THESIS: &str = include_str!("../../../../published/thesis.toml");
const SECURESENSE: &str = include_str!("../../../../published/securesense.toml");

const fn not_yet(name: &'static str, paper: &'static str, at: &'static str, why: &'static str) -> Experiment {
    Experiment { name, paper, at, shows: "", method: Method::NotYet(why) }
}

pub(super) const THESIS_FIG_30: Experiment =
    not_yet("thesis-fig30", THESIS, "figure 30 (section 6.3.3)", "needs RPL and ContikiMAC");
pub(super) const SECURESENSE_FIG_15: Experiment =
    not_yet("securesense-fig15", SECURESENSE, "figure 15 (section 5.2)", "needs ContikiMAC");
