//! How many live feeds are followed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_store::UserId;

use super::failure::Failure;

/// Live feeds at the same time; beyond, the answer is 503.
const ALL: usize = 256;
/// Live feeds of one user at the same time; beyond, the answer is 429.
const OF_USER: usize = 8;

/// The live feeds that are followed, by user. Clones share the count.
#[derive(Clone, Default)]
pub(super) struct LiveFeeds(Arc<Mutex<HashMap<UserId, usize>>>);

/// A live feed's place among them, free again when this is dropped.
pub(super) struct Permit {
    feeds: LiveFeeds,
    user: UserId,
}

impl LiveFeeds {
    /// A place for a feed of `user`, or why there is none.
    pub(super) fn enter(&self, user: UserId) -> Result<Permit, Failure> {
        let mut feeds = self.lock();
        let all: usize = feeds.values().sum();
        let own = feeds.get(&user).copied().unwrap_or(0);
        if own >= OF_USER {
            return Err(Failure::too_many(
                "live_feeds",
                format!("You follow {OF_USER} live feeds already."),
                "End one: close a tab of the dashboard, or a program that follows one.",
                15,
            ));
        }
        if all >= ALL {
            return Err(Failure::busy(2));
        }
        feeds.insert(user, own + 1);
        Ok(Permit { feeds: self.clone(), user })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().values().sum()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut feeds = self.feeds.lock();
        if let Some(own) = feeds.get_mut(&self.user) {
            *own -= 1;
            if *own == 0 {
                feeds.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn a_user_has_eight_feeds_and_leaves_the_others_theirs() {
        let feeds = LiveFeeds::default();
        let status = |user| feeds.enter(UserId(user)).map_err(|failure| failure.status);
        let mut own: Vec<_> = (0..OF_USER).map(|_| status(1).unwrap()).collect();
        assert_eq!(status(1).err(), Some(StatusCode::TOO_MANY_REQUESTS));
        let others: Vec<_> = (0..ALL - OF_USER).map(|n| status(2 + n as i64 / 8).unwrap()).collect();
        own.pop();
        own.push(status(1).unwrap());
        assert_eq!(status(1000).err(), Some(StatusCode::SERVICE_UNAVAILABLE));
        drop((own, others));
        assert_eq!(feeds.count(), 0);
        assert!(feeds.lock().is_empty());
    }
}
