//! The cloud's own keys of P-256: those of its authority, which signs the certificates of devices, and those by which it
//! proves who it is, raw or in a certificate.

mod expiry;
mod key_pair;
pub(crate) mod own_fingerprints;
mod own_keys;
pub mod pem;
mod time;

pub use expiry::{date, expires};
pub use key_pair::{KeyPair, fingerprint};
pub use own_keys::{CLOUD_NAME, OwnKeys};
pub(crate) use own_keys::{FILES, check};
pub use time::time;
