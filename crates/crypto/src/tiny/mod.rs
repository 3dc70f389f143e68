//! The smallest code: for microcontrollers whose flash counts every byte.

mod aes;
mod aes_backend;
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
/// needed, in 16 bytes of RAM and with 512 bytes of tables, SHA-256 as a loop.
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
/// sixlock_crypto::Tiny(());
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(any(target_os = "none", test, doc), derive(Default))]
pub struct Tiny(());

impl Tiny {
    /// The backend, for targets without an operating system only.
    #[cfg(any(target_os = "none", test, doc))]
    pub const fn new() -> Self {
        Self(())
    }
}

/// AES for the same processors where RAM and flash matter less than time: a key takes 176 bytes of RAM, as the keys of all rounds are made when
/// it is prepared, and the table has 1,024 bytes of flash: the columns that SubBytes and MixColumns make of a byte
/// ([proposal of Rijndael](https://csrc.nist.gov/csrc/media/projects/cryptographic-standards-and-guidelines/documents/aes-development/rijndael-ammended.pdf),
/// section 5.2). It decrypts blocks as [`Tiny`] does. It has neither hashes nor P-256: [`Provider`](crate::Provider) adds those of [`Tiny`].
///
/// Like [`Tiny`], it is for processors without a cache, and a value of it proves that there is none.
///
/// ```compile_fail,E0599
/// sixlock_crypto::Tables::new();
/// ```
///
/// ```compile_fail,E0423
/// sixlock_crypto::Tables(());
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(any(target_os = "none", test, doc), derive(Default))]
pub struct Tables(());

impl Tables {
    /// The backend, for targets without an operating system only.
    #[cfg(any(target_os = "none", test, doc))]
    pub const fn new() -> Self {
        Self(())
    }
}
