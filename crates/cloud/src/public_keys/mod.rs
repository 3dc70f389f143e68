//! The cloud's own keys, and work with public keys in handshakes.

mod perform;

pub use sixlock_store::public_keys::{CLOUD_NAME, KeyPair, OwnKeys, date, fingerprint, pem};

pub(crate) use perform::KeyRing;
pub(crate) use sixlock_store::public_keys::{expires, time};
