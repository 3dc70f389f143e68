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

const PAPER: &str = include_str!("../../../../../published/thesis.toml");
