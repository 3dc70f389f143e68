//! How many live feeds are followed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_store::UserId;

use super::failure::Failure;

/// Live feeds of users at the same time; beyond, the answer is 503.
const OF_USERS: usize = 256;
/// Live feeds of one user at the same time; beyond, the answer is 429.
const OF_USER: usize = 8;
/// Live feeds of strangers at the same time, beside those of users; beyond, the answer is 503.
const OF_STRANGERS: usize = 64;
/// Live feeds of strangers from one address, or /64 of IPv6, at the same time; beyond, the answer is 429.
const OF_ADDRESS: usize = 4;

/// The follower of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Follower {
    User(UserId),
    /// Somebody at this address who is not signed in.
    Stranger(IpAddr),
}

impl Follower {
    const fn is_user(self) -> bool {
        matches!(self, Self::User(_))
    }
}

/// The live feeds that are followed, by whom. Clones share the count.
#[derive(Clone, Default)]
pub(super) struct LiveFeeds(Arc<Mutex<HashMap<Follower, usize>>>);

/// A live feed's place among them, free again when this is dropped.
pub(super) struct Permit {
    feeds: LiveFeeds,
    follower: Follower,
}

impl LiveFeeds {
    /// A place for a feed of `follower`, or why there is none. Users and strangers take none of each other's.
    pub(super) fn enter(&self, follower: Follower) -> Result<Permit, Failure> {
        let mut feeds = self.lock();
        let alike = feeds.iter().filter(|(other, _)| other.is_user() == follower.is_user());
        let all: usize = alike.map(|(_, count)| count).sum();
        let own = feeds.get(&follower).copied().unwrap_or(0);
        let (most, most_of_one, whose) = match follower {
            Follower::User(_) => (OF_USERS, OF_USER, "You follow"),
            Follower::Stranger(_) => (OF_STRANGERS, OF_ADDRESS, "Your address follows"),
        };
        if own >= most_of_one {
            return Err(Failure::too_many(
                "live_feeds",
                format!("{whose} {most_of_one} live feeds already."),
                "End one: close a tab of the dashboard, or a program that follows one.",
                15,
            ));
        }
        if all >= most {
            return Err(Failure::busy(2));
        }
        feeds.insert(follower, own + 1);
        Ok(Permit { feeds: self.clone(), follower })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().values().sum()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Follower, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut feeds = self.feeds.lock();
        if let Some(own) = feeds.get_mut(&self.follower) {
            *own -= 1;
            if *own == 0 {
                feeds.remove(&self.follower);
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
        let status = |user| feeds.enter(Follower::User(UserId(user))).map_err(|failure| failure.status);
        let mut own: Vec<_> = (0..OF_USER).map(|_| status(1).unwrap()).collect();
        assert_eq!(status(1).err(), Some(StatusCode::TOO_MANY_REQUESTS));
        let others: Vec<_> = (0..OF_USERS - OF_USER).map(|n| status(2 + n as i64 / 8).unwrap()).collect();
        own.pop();
        own.push(status(1).unwrap());
        assert_eq!(status(1000).err(), Some(StatusCode::SERVICE_UNAVAILABLE));
        drop((own, others));
        assert_eq!(feeds.count(), 0);
        assert!(feeds.lock().is_empty());
    }

    #[test]
    fn strangers_have_few_feeds_and_none_of_those_of_users() {
        let feeds = LiveFeeds::default();
        let stranger = |n: u8| Follower::Stranger(IpAddr::from([192, 0, 2, n]));
        let status = |follower| feeds.enter(follower).map_err(|failure| failure.status);
        let of_one: Vec<_> = (0..OF_ADDRESS).map(|_| status(stranger(0)).unwrap()).collect();
        assert_eq!(status(stranger(0)).err(), Some(StatusCode::TOO_MANY_REQUESTS));
        let rest = OF_STRANGERS - OF_ADDRESS;
        let others: Vec<_> = (0..rest).map(|n| status(stranger(1 + n as u8)).unwrap()).collect();
        assert_eq!(status(stranger(200)).err(), Some(StatusCode::SERVICE_UNAVAILABLE));
        let users: Vec<_> =
            (0..OF_USERS).map(|n| status(Follower::User(UserId(n as i64 / 8))).unwrap()).collect();
        assert_eq!(feeds.count(), OF_STRANGERS + OF_USERS);
        drop((of_one, others));
        assert!(status(stranger(0)).is_ok());
        drop(users);
        assert_eq!(feeds.count(), 0);
    }
}
