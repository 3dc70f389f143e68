//! Cryptographic primitives behind traits, so that a machine runs over any backend that its program links.
//!
//! A backend implements the traits of the parts that it has: [`BlockCiphers`], [`Hashes`], [`p256::P256`], and, for IPsec,
//! [`ipsec::PacketCipher`] and [`ipsec::Authenticate`]. [`Provider`] makes one backend of the parts of others:
//!
//! ```
//! use sixlock_crypto::{Crypto, Provider, Soft, UnpreparedKeys};
//!
//! fn takes_a_whole_backend(_: impl Crypto) {}
//! takes_a_whole_backend(Soft);
//! takes_a_whole_backend(Provider { ciphers: UnpreparedKeys, hashes: Soft, p256: () });
//! ```
#![no_std]
#![cfg_attr(target_arch = "avr", feature(asm_experimental_arch))]

// By this name tests know it that other crates include.
#[cfg(test)]
extern crate self as sixlock_crypto;

mod ciphers;
mod delegate;
mod flash;
mod hashes;
pub mod ipsec;
mod masked;
mod metered;
mod operations;
pub mod p256;
mod prf;
mod provider;
mod secrets;
mod soft;
#[cfg(test)]
mod tests;
pub mod tiny;
#[cfg(not(target_os = "none"))]
mod unprepared_keys;

pub use ciphers::{AES_128_KEY, AuthenticationFailed, BlockCiphers, CcmNonce, CcmTag, Tag};
pub use delegate::{Call, Delegate, Measured, part};
pub use hashes::{Hashes, SHA_256_DIGEST};
pub use metered::Metered;
pub use operations::{Operation, Operations};
pub use prf::prf_sha256;
pub use provider::Provider;
pub use secrets::{constant_time_eq, wipe};
pub use soft::Soft;
pub use tiny::{Tables, Tiny};
#[cfg(not(target_os = "none"))]
pub use unprepared_keys::{SmallKeys, UnpreparedKeys};

/// The parts that every protocol with symmetric keys needs.
pub trait Crypto: BlockCiphers + Hashes {}

impl<C: BlockCiphers + Hashes> Crypto for C {}
