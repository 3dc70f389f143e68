//! The one-time link that begins the first session.

use std::sync::{Mutex, PoisonError};

use sixlock_crypto::constant_time_eq;
use sixlock_store::{Error, UserId, now_ms, secrets};

use super::paths;

/// How long the link can be used.
const LINK_MS: i64 = 3_600_000;

/// A link that signs one person in, once.
pub(crate) struct SignInLink {
    pub(super) user: UserId,
    token: Mutex<Option<String>>,
    expires: i64,
}

impl SignInLink {
    /// A link for `user`, and its path with the token.
    pub(crate) fn new(user: UserId) -> Result<(Self, String), Error> {
        let token = secrets::token()?;
        let path = format!("{}?token={token}", paths::SIGN_IN);
        Ok((Self { user, token: Mutex::new(Some(token)), expires: now_ms() + LINK_MS }, path))
    }

    /// Uses the link up, if `token` is its token.
    pub(super) fn take(&self, token: &str) -> bool {
        let mut kept = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = kept.as_ref().is_some_and(|kept| constant_time_eq(kept.as_bytes(), token.as_bytes()));
        if fits {
            *kept = None;
        }
        fits && now_ms() < self.expires
    }
}
