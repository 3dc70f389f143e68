//! Experiments that cannot be made yet, and why.

use crate::experiment::{Experiment, Method};

const THESIS: &str = include_str!("../../../../published/thesis.toml");
const RAZA_2012: &str = include_str!("../../../../published/raza2012.toml");
const DE_RUBERTIS_2013: &str = include_str!("../../../../published/derubertis2013.toml");
const SECURESENSE: &str = include_str!("../../../../published/securesense.toml");

const fn not_yet(name: &'static str, paper: &'static str, at: &'static str, why: &'static str) -> Experiment {
    Experiment { name, paper, at, shows: "", method: Method::NotYet(why) }
}

pub(super) const RAZA_2012_TABLE_1: Experiment = not_yet(
    "raza2012-table1",
    RAZA_2012,
    "table I (section 6.2)",
    "needs images for the Tmote Sky with AH and ESP",
);
pub(super) const THESIS_FIG_30: Experiment =
    not_yet("thesis-fig30", THESIS, "figure 30 (section 6.3.3)", "needs RPL and ContikiMAC");
pub(super) const THESIS_TABLE_11: Experiment = not_yet(
    "thesis-table11",
    THESIS,
    "table 11 (section 6.5)",
    "needs images for the Tmote Sky with AH and ESP",
);
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
