//! Identities that other authorities than the cloud prove.
//!
//! Whoever holds such an identity in the cloud gets the readings of the device that another authority gave it to, and nothing
//! shows the cloud whose that device is. So an administrator says it.

use axum::http::StatusCode;
use sixlock_base::{Security, TransportSuite};

use super::caller::Caller;
use super::failure::Failure;

/// Whether an identity is one that another authority proves.
pub(super) fn is_proved_elsewhere(mode: Security, has_key: bool) -> bool {
    mode.transport == Some(TransportSuite::DtlsX509) && !has_key
}

/// Refuses that `caller` binds an identity that certificates of other authorities prove, unless they are an administrator.
/// That is so with `dtls-x509` where no key or certificate is stated.
pub(super) fn check_authority(caller: &Caller, mode: Security, has_key: bool) -> Result<(), Failure> {
    if caller.user.admin || !is_proved_elsewhere(mode, has_key) {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::FORBIDDEN,
        "other_authority",
        "Only an administrator says whose an identity is that another authority proves.",
        "Send the device's public key or certificate as key, or ask an administrator.",
    ))
}
