//! Raza et al. (2012): link security and IPsec on a chain of four Tmote Sky.

mod chain;
pub(super) mod concurrent;
pub(super) mod fig_10;
pub(super) mod fig_11;
pub(super) mod fig_12;
pub(super) mod fig_13;
pub(super) mod fig_14;
pub(super) mod fig_9;
mod response;
pub(super) mod table_1;
pub(super) mod table_2;

use self::chain::{AH, AH_ENGINE, ESP, ESP_ENGINE, LINK_CCM_4, LINK_CCM_16, LINK_MIC_4, LINK_MIC_16};
use self::response::{Protection, Service};

const PAPER: &str = include_str!("../../../../../published/raza2012.toml");

/// Figures 11 and 12.
const INTEGRITY: Service = Service {
    protection: Protection::Integrity,
    header: "AH",
    software: AH,
    hardware: AH_ENGINE,
    links: [LINK_MIC_4, LINK_MIC_16],
};

/// Figures 13 and 14.
const BOTH: Service = Service {
    protection: Protection::Both,
    header: "ESP",
    software: ESP,
    hardware: ESP_ENGINE,
    links: [LINK_CCM_4, LINK_CCM_16],
};
