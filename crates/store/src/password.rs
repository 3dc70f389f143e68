//! Passwords, kept as argon2id hashes.

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Params, Version};
use sixlock_crypto::constant_time_eq;

use crate::error::Error;
use crate::hashing::Hasher;
use crate::hashing_turns::Origin;
use crate::secrets;
use crate::secrets::Secret;

/// The shortest password that is taken, in bytes.
pub(crate) const SHORTEST: usize = 8;
/// The longest, in bytes: hashing more would be work for nothing.
pub(crate) const LONGEST: usize = 256;

/// Passwords that are guessed first, one a line, in lower case.
const COMMONEST: &str = include_str!("commonest_passwords.txt");

/// Refuses passwords that are guessed first: those of a wrong length, the commonest ones, one character repeated, and the
/// user's own name.
pub(crate) fn check(password: &str, username: &str) -> Result<(), Error> {
    if !(SHORTEST..=LONGEST).contains(&password.len()) {
        return Err(Error::Invalid("a password has 8 to 256 bytes"));
    }
    let lower = password.to_lowercase();
    if COMMONEST.lines().any(|common| common == lower) || repeats_one_character(&lower) {
        return Err(Error::Invalid("this password is among the first that are guessed; choose another"));
    }
    if lower == username.to_lowercase() {
        return Err(Error::Invalid("a password is not the username; choose another"));
    }
    Ok(())
}

fn repeats_one_character(text: &str) -> bool {
    text.chars().next().is_some_and(|first| text.chars().all(|char| char == first))
}

/// Hashes a new `password` that comes from `origin`. [`Error::Busy`] if too many passwords wait to be hashed.
pub(crate) async fn hash(hasher: &Hasher, origin: Origin, password: String) -> Result<String, Error> {
    let salt = secrets::random::<16>()?;
    let hash = hasher.hash(origin, secret(password), &salt, Params::DEFAULT).await?.ok_or(Error::Password)?;
    let phc = || -> argon2::password_hash::Result<String> {
        Ok(PasswordHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: ParamsString::try_from(&Params::DEFAULT)?,
            salt: Some(Salt::new(&salt)?),
            hash: Some(Output::new(&hash)?),
        }
        .to_string())
    };
    phc().map_err(|_| Error::Password)
}

/// Whether `password`, tried from `origin`, is the one that `hash` was made of; without a hash, `false` after as much work. [`Error::Busy`] if
/// too many passwords wait to be hashed.
pub(crate) async fn verify(
    hasher: &Hasher,
    origin: Origin,
    password: String,
    hash: Option<String>,
) -> Result<bool, Error> {
    let known = hash.as_deref().and_then(parse);
    let (salt, params) = match &known {
        Some((salt, params, _)) => (salt.clone(), params.clone()),
        None => (secrets::random::<16>()?.to_vec(), Params::DEFAULT),
    };
    let hashed = hasher.hash(origin, secret(password), &salt, params).await?;
    Ok(known.zip(hashed).is_some_and(|((_, _, known), hashed)| constant_time_eq(&known, &hashed)))
}

/// Salt, parameters and hash, of the form in which they are kept.
fn parse(hash: &str) -> Option<(Vec<u8>, Params, Vec<u8>)> {
    let hash = PasswordHash::new(hash).ok()?;
    let params = Params::try_from(&hash).ok()?;
    Some((hash.salt?.to_vec(), params, hash.hash?.as_bytes().to_vec()))
}

fn secret(password: String) -> Secret {
    Secret::new(password.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_password_of_a_hash_fits_it() {
        let hasher = Hasher::default();
        let hashed = hash(&hasher, Origin::SignedIn, "correct horse".into()).await.unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hashed}");
        let verify = async |password: &str, hash| {
            verify(&hasher, Origin::SignedIn, password.into(), hash).await.unwrap()
        };
        assert!(verify("correct horse", Some(hashed.clone())).await);
        assert!(!verify("correct horsf", Some(hashed)).await);
        assert!(!verify("correct horse", None).await);
    }

    #[tokio::test]
    async fn a_hash_that_an_earlier_version_kept_still_fits() {
        use crate::hashing::argon2id;
        let hasher = Hasher::default();
        use argon2::password_hash::PasswordHasher;
        let kept = argon2id(Params::DEFAULT).hash_password_with_salt(b"correct horse", b"0123456789abcdef");
        let kept = kept.unwrap().to_string();
        for (password, fits) in [("correct horse", true), ("correct horsf", false)] {
            let verified = verify(&hasher, Origin::SignedIn, password.into(), Some(kept.clone())).await;
            assert_eq!(verified.unwrap(), fits, "{password}");
        }
    }

    #[test]
    fn passwords_that_are_guessed_first_are_refused() {
        for password in
            ["short", &"x".repeat(257), "password", "Password1", "12345678", "aaaaaaaa", "Gardener"]
        {
            assert!(check(password, "gardener").is_err(), "{password}");
        }
        for password in ["correct horse", "long enough", "gardener's", "aaaaaaab"] {
            assert!(check(password, "gardener").is_ok(), "{password}");
        }
    }

    #[test]
    fn the_commonest_passwords_are_those_that_would_be_taken_otherwise() {
        let mut lines: Vec<&str> = COMMONEST.lines().collect();
        let all = lines.len();
        assert!((100..=300).contains(&all), "{all}");
        for line in &lines {
            assert!(line.len() >= SHORTEST && line.to_lowercase() == *line, "{line}");
        }
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), all, "one stands twice");
    }
}
