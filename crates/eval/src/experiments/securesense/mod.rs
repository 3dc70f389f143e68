//! SecureSense, Raza et al. (2017): DTLS on a chain of OpenMotes.

pub(super) mod fig_14;
pub(super) mod fig_15;
pub(super) mod fig_16;
pub(super) mod fig_17;
pub(super) mod fig_18;
pub(super) mod fig_9;
pub(super) mod figs_10_to_13;
mod flights;
mod messages;
mod round_trip;

const PAPER: &str = include_str!("../../../../../published/securesense.toml");

const PSK: &str = "PSK";
const RAW: &str = "RPK";
const CERTIFIED: &str = "X.509";
/// By what both sides prove who they are, as rows name it, and the mode, with cryptography in the chip's engine.
const PROOFS: [(&str, &str); 3] =
    [(PSK, "dtls-psk@engine"), (RAW, "dtls-rpk@engine"), (CERTIFIED, "dtls-x509@engine")];

/// Contiki's CSMA over radios that sleep by its ContikiMAC.
const CONTIKIMAC: &str = "[mac]\nkind = \"contiki-csma\"\nlisten = \"contikimac\"";
