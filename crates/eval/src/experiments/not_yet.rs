//! Experiments that cannot be made yet, and why.

use crate::experiment::{Experiment, Method};

const THESIS: &str = include_str!("../../../../published/thesis.toml");
const DE_RUBERTIS_2013: &str = include_str!("../../../../published/derubertis2013.toml");
const SECURESENSE: &str = include_str!("../../../../published/securesense.toml");

const fn not_yet(name: &'static str, paper: &'static str, at: &'static str, why: &'static str) -> Experiment {
    Experiment { name, paper, at, shows: "", method: Method::NotYet(why) }
}

pub(super) const THESIS_FIG_30: Experiment =
    not_yet("thesis-fig30", THESIS, "figure 30 (section 6.3.3)", "needs RPL and ContikiMAC");
pub(super) const DE_RUBERTIS_2013_FIG_5: Experiment = not_yet(
    "derubertis2013-fig5",
    DE_RUBERTIS_2013,
    "figure 5 (section IV)",
    "needs echoes over DTLS in the simulated nodes, beside those under AH and ESP",
);
pub(super) const SECURESENSE_FIG_15: Experiment = not_yet(
    "securesense-fig15",
    SECURESENSE,
    "figure 15 (section 5.2)",
    "needs ContikiMAC, and DTLS with raw public keys and X.509 certificates",
);
