//! The thesis: IPsec and DTLS on Contiki in Cooja.

pub(super) mod aes;
mod capture;
pub(super) mod delay;
pub(super) mod dtls;
pub(super) mod energy;
pub(super) mod fig_26;
pub(super) mod fig_27;
pub(super) mod loss;
mod network;
pub(super) mod table_11;

use crate::experiment::{Experiment, Method};

const PAPER: &str = include_str!("../../../../../published/thesis.toml");

/// What all experiments on the networks have in common.
const EXPERIMENT: Experiment =
    Experiment { name: "", paper: PAPER, at: "", shows: "", method: Method::NotYet("") };
