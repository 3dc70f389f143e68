//! Security modes by their names, and which was meant where there is none.

use sixlock_base::{AhSuite, EspSuite, LinkSuite, ParseSecurityError, Security, TransportSuite};

use crate::toml_reader::did_you_mean;

/// The security mode of that name, also one that accepts forged packets.
///
/// # Errors
/// When there is none: why, and which was meant if one is near.
pub fn simulated_mode(mode: &str) -> Result<Security, String> {
    Security::any(mode).map_err(|error| explained(mode, error))
}

/// The security mode of that name, if it refuses forged packets.
///
/// # Errors
/// When there is none: why, and which was meant if one is near.
pub fn trusted_mode(mode: &str) -> Result<Security, String> {
    mode.parse().map_err(|error| explained(mode, error))
}

fn explained(mode: &str, error: ParseSecurityError) -> String {
    let (is_wrong, parts) = (|part: &&str| Security::any(part).is_err(), mode_parts());
    let hint = |part| did_you_mean(part, parts.iter().map(String::as_str));
    format!("{error}{}", mode.split('+').find(is_wrong).map(hint).unwrap_or_default())
}

/// The parts of security modes, with each suite and without.
fn mode_parts() -> Vec<String> {
    let plain = ["none", "llsec", "ah", "esp"].map(str::to_owned);
    let links = LinkSuite::ALL.iter().map(|suite| format!("llsec:{}", suite.name()));
    let headers = AhSuite::ALL.iter().map(|suite| format!("ah:{}", suite.name()));
    let payloads = EspSuite::ALL.iter().map(|suite| format!("esp:{}", suite.name()));
    let transports = TransportSuite::ALL.iter().map(|suite| suite.name().to_owned());
    plain.into_iter().chain(links).chain(headers).chain(payloads).chain(transports).collect()
}
