//! The smallest code: for microcontrollers whose flash counts every byte.

mod aes;
mod backend;
pub mod benchmark;
mod ccm;
mod gcm;
mod hash;
mod ipsec;
pub mod mac;
pub mod modes;
pub mod p256;
mod sha1;
mod sha256;
#[cfg(test)]
mod tests;

/// The backend of our own for 8- and 16-bit processors: AES with each round's key made when it is
/// needed, SHA-256 as a loop.
///
/// Its AES looks bytes up in tables, which tells a neighbour about the key where there is a cache.
/// It is therefore not there on hosts, outside tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tiny;
