//! SecureSense, Raza et al. (2017): DTLS on a chain of OpenMotes.

pub(super) mod fig_14;
pub(super) mod fig_16;
pub(super) mod fig_17;
pub(super) mod fig_18;
pub(super) mod fig_9;
pub(super) mod figs_10_to_13;
mod messages;
mod round_trip;

const PAPER: &str = include_str!("../../../../../published/securesense.toml");
