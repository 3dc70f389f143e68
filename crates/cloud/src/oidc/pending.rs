//! What is remembered of a sign-in that is under way: by the browser, in a cookie that is sealed by a key of this process. The cloud itself
//! remembers which of them are finished, as far as they could be finished again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sixlock_store::{MasterKey, TokenDigest, UserId, secrets};

use crate::Error;

/// How long a sign-in may take.
pub(crate) const PATIENCE_MS: i64 = 10 * 60_000;
/// The most finished sign-ins that are remembered. When one more is finished, the oldest is forgotten: the provider, too, takes a code only
/// once, and the browser was told to forget its cookie.
const FINISHED: usize = 1024;
/// The longest cookie that is opened, in bytes.
const LONGEST: usize = 4096;

/// Who is signed in and wants to sign in by the provider from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Linking {
    user: i64,
    token: [u8; 32],
}

impl Linking {
    pub(crate) const fn new(user: UserId, token: TokenDigest) -> Self {
        Self { user: user.0, token: *token.bytes() }
    }

    /// The user.
    pub(crate) const fn user(self) -> UserId {
        UserId(self.user)
    }

    /// The session in which they asked for it, which must be good still.
    pub(crate) const fn token(self) -> TokenDigest {
        TokenDigest::from_bytes(self.token)
    }
}

/// A sign-in for which a browser was sent to the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuthorizationRequest {
    pub(super) state: String,
    pub(super) nonce: String,
    pub(super) verifier: String,
    /// Where the provider sends the browser back to.
    pub(super) callback: String,
    /// Who links an account, if it is not about signing in.
    pub(super) linking: Option<Linking>,
}

/// What is under way in a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pending {
    /// A user has shown the password, and is to be sent to the provider.
    Linking(Linking),
    /// The provider is asked.
    Authorization(AuthorizationRequest),
    /// The provider has said whose account it is, by this subject, and the session in which the link was asked for is to show itself yet.
    Link { linking: Linking, subject: String },
    /// The provider has said whose account it is, by this subject, and a one-time code is to be shown yet.
    Code { user: i64, subject: String },
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    since: i64,
    pending: Pending,
}

/// Seals cookies.
pub(super) struct Seal(MasterKey);

impl Seal {
    /// With a key that ends with this process, and with it what is under way.
    pub(super) fn new() -> Result<Self, Error> {
        let digits = secrets::hex(&secrets::random::<16>()?);
        MasterKey::parse(digits.as_bytes()).map(Self).ok_or(Error::Entropy)
    }

    /// The value of a cookie that holds `pending`, from the time `now` on.
    pub(super) fn seal(&self, pending: Pending, now: i64) -> Result<String, Error> {
        let sealed = serde_json::to_vec(&Sealed { since: now, pending }).map_err(|_| Error::SealedKey)?;
        Ok(URL_SAFE_NO_PAD.encode(self.0.seal(CONTEXT, &sealed)?))
    }

    /// What the cookie holds, and since when; nothing if it is none of this process, or too old at the time `now`.
    pub(super) fn open(&self, cookie: &str, now: i64) -> Option<(Pending, i64)> {
        if cookie.len() > LONGEST {
            return None;
        }
        let opened = self.0.open_sealed(CONTEXT, &URL_SAFE_NO_PAD.decode(cookie).ok()?).ok()?;
        let Sealed { since, pending } = serde_json::from_slice(opened.bytes()).ok()?;
        (since..since.saturating_add(PATIENCE_MS)).contains(&now).then_some((pending, since))
    }
}

/// What cookies are sealed for.
const CONTEXT: &[u8] = b"sign-in by OpenID Connect";

/// The sign-ins that were finished of late.
#[derive(Default)]
pub(super) struct Finished(Mutex<VecDeque<TokenDigest>>);

impl Finished {
    /// Notes that the one of this state is finished; false if it was already.
    pub(super) fn add(&self, state: &str) -> bool {
        let state = TokenDigest::of(state);
        let mut finished = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if finished.contains(&state) {
            return false;
        }
        if finished.len() >= FINISHED {
            finished.pop_front();
        }
        finished.push_back(state);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_by_the_process_that_sealed_it_for_ten_minutes() {
        let (seal, other) = (Seal::new().unwrap(), Seal::new().unwrap());
        let pending = Pending::Linking(Linking::new(UserId(7), TokenDigest::of("token")));
        let cookie = seal.seal(pending.clone(), 1000).unwrap();
        assert_eq!(seal.open(&cookie, 1000), Some((pending.clone(), 1000)));
        assert_eq!(seal.open(&cookie, 999 + PATIENCE_MS), Some((pending, 1000)));
        assert_eq!(seal.open(&cookie, 1000 + PATIENCE_MS), None);
        assert_eq!(seal.open(&cookie, 999), None, "the clock was set back");
        assert_eq!(other.open(&cookie, 1000), None);
        let swapped = if cookie.starts_with('A') { 'B' } else { 'A' };
        assert_eq!(seal.open(&format!("{swapped}{}", &cookie[1..]), 1000), None);
        assert_eq!(seal.open(&"A".repeat(LONGEST + 1), 1000), None);
    }

    #[test]
    fn a_sign_in_is_finished_once_and_as_many_are_remembered_as_have_room() {
        let finished = Finished::default();
        assert!(finished.add("first") && !finished.add("first"));
        for number in 0..FINISHED {
            assert!(finished.add(&number.to_string()));
        }
        assert!(finished.add("first"), "it was forgotten for others");
        assert_eq!(finished.0.lock().unwrap().len(), FINISHED);
    }
}
