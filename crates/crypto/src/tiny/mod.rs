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

use core::marker::PhantomData;

pub use self::aes::{Aes, OnTheFly, Tables};

/// The backend of our own for 8- and 16-bit processors: SHA-256 as a loop, and AES in the way of `A`, with each round's key made when it
/// is needed unless it says otherwise.
///
/// AES here, and every other cipher below [`tiny`](crate::tiny), looks bytes up in tables, whose addresses depend on the key. Where
/// there is a cache, its timing tells a neighbour about them. A value of this type proves that there is no cache: every cipher takes
/// one, and only devices, and the tests of this crate, can make one. A host cannot:
///
/// ```compile_fail,E0599
/// sixlock_crypto::Tiny::new();
/// ```
///
/// ```compile_fail,E0599
/// sixlock_crypto::Tiny::default();
/// ```
///
/// ```compile_fail,E0423
/// sixlock_crypto::Tiny(core::marker::PhantomData);
/// ```
///
/// ```compile_fail,E0599
/// sixlock_crypto::Tiny::with_tables();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tiny<A = OnTheFly>(PhantomData<A>);

impl Tiny {
    /// The backend, for targets without an operating system only.
    #[cfg(any(target_os = "none", test, doc))]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl Tiny<Tables> {
    /// The backend whose AES reads larger tables, for the same targets only.
    #[cfg(any(target_os = "none", test, doc))]
    pub const fn with_tables() -> Self {
        Self(PhantomData)
    }
}

#[cfg(any(target_os = "none", test, doc))]
impl Default for Tiny {
    fn default() -> Self {
        Self::new()
    }
}
