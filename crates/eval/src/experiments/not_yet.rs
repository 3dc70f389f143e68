//! Experiments that cannot be made yet, and why.

use crate::experiment::{Experiment, Method};

const THESIS: &str = include_str!("../../../../published/thesis.toml");
const SECURESENSE: &str = include_str!("../../../../published/securesense.toml");

const fn not_yet(name: &'static str, paper: &'static str, at: &'static str, why: &'static str) -> Experiment {
    Experiment { name, paper, at, shows: "", method: Method::NotYet(why) }
}

pub(super) const THESIS_FIG_30: Experiment =
    not_yet("thesis-fig30", THESIS, "figure 30 (section 6.3.3)", "needs RPL and ContikiMAC");
pub(super) const SECURESENSE_FIG_10: Experiment = not_yet(
    "securesense-fig10",
    SECURESENSE,
    "figure 10 (section 5.1.2)",
    "needs a server on a node whose DTLS has certificates, and the time of each message of its handshake",
);
pub(super) const SECURESENSE_FIG_11: Experiment = not_yet(
    "securesense-fig11",
    SECURESENSE,
    "figure 11 (section 5.1.2)",
    "needs the same as figure 10, of which it leaves the elliptic curves out",
);
pub(super) const SECURESENSE_FIG_12: Experiment = not_yet(
    "securesense-fig12",
    SECURESENSE,
    "figure 12 (section 5.1.2)",
    "needs the time of each message of a client's handshake with certificates",
);
pub(super) const SECURESENSE_FIG_13: Experiment = not_yet(
    "securesense-fig13",
    SECURESENSE,
    "figure 13 (section 5.1.2)",
    "needs the same as figure 12, of which it leaves the elliptic curves out",
);
pub(super) const SECURESENSE_FIG_15: Experiment =
    not_yet("securesense-fig15", SECURESENSE, "figure 15 (section 5.2)", "needs ContikiMAC");
