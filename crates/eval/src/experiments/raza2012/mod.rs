//! Raza et al. (2012): link security and IPsec on a chain of four Tmote Sky.

pub(super) mod fig_9;
pub(super) mod table_2;

const PAPER: &str = include_str!("../../../../../published/raza2012.toml");
