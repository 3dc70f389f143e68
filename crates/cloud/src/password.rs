//! Passwords, kept as argon2id hashes.

use std::sync::LazyLock;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::{Error, secrets};

/// The shortest password that is taken.
pub(crate) const SHORTEST: usize = 8;
/// The longest: hashing more would be work for nothing.
pub(crate) const LONGEST: usize = 256;

/// A hash takes 19 MiB and some 20 ms: so many at once, and the rest wait.
static SLOTS: Semaphore = Semaphore::const_new(2);

/// What a password is compared with when the user does not exist, so that both cases take the same time.
static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| hash_now(&secrets::token().ok()?).ok());

fn argon2id() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT)
}

fn hash_now(password: &str) -> Result<String, Error> {
    let salt = secrets::random::<16>()?;
    let hash = argon2id().hash_password_with_salt(password.as_bytes(), &salt).map_err(|_| Error::Password)?;
    Ok(hash.to_string())
}

/// Hashes `password` on a thread of its own.
pub(crate) async fn hash(password: String) -> Result<String, Error> {
    let _slot = SLOTS.acquire().await;
    tokio::task::spawn_blocking(move || hash_now(&password)).await.map_err(|_| Error::Password)?
}

/// Whether `password` is the one that `hash` was made of; without a hash, `false` after as much work.
pub(crate) async fn verify(password: String, hash: Option<String>) -> bool {
    let _slot = SLOTS.acquire().await;
    let check = move || {
        let known = hash.is_some();
        let hash = hash.as_ref().or(NOBODY.as_ref());
        let same = hash
            .and_then(|hash| PasswordHash::new(hash).ok())
            .is_some_and(|hash| argon2id().verify_password(password.as_bytes(), &hash).is_ok());
        known && same
    };
    tokio::task::spawn_blocking(check).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_password_of_a_hash_fits_it() {
        let hashed = hash("correct horse".into()).await.unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$"));
        assert!(verify("correct horse".into(), Some(hashed.clone())).await);
        assert!(!verify("correct horsf".into(), Some(hashed)).await);
        assert!(!verify("correct horse".into(), None).await);
    }
}
