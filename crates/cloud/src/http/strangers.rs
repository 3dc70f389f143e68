//! How much of the cloud those may have who are not signed in, when they look for public streams and read them. Whoever has a
//! token for a stream counts as one of them: such a token may be anybody's.
//!
//! Of an address, 60 requests are served at once, and then one each half second. Of all addresses, two are looked into at the
//! same time: users have the rest of what the database can do.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::failure::Failure;

/// Requests of one address that are served at once.
const AT_ONCE: u64 = 60;
/// How long each of them is counted, one after the other.
const EACH_MS: u64 = 500;
/// Addresses that are counted: so many rows of so many.
const ROWS: usize = 1024;
const ENTRIES: usize = 8;
/// Requests of all strangers that are looked into at the same time, and that wait for it; beyond, the answer is 503.
const UNDER_WAY: usize = 2;
const WAITING: usize = 64;
/// How long one waits.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much strangers have asked for.
pub(super) struct Strangers {
    counts: Mutex<Box<[[Entry; ENTRIES]]>>,
    hash: RandomState,
    begun: Instant,
    under_way: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// A stranger's turn, which ends when this is dropped.
pub(super) struct Turn {
    _under_way: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// The hash of the address, under a key that nobody knows.
    key: u64,
    /// Until when its requests are counted, in milliseconds. One whose time is over is free.
    until: u64,
}

impl Default for Strangers {
    fn default() -> Self {
        Self {
            counts: Mutex::new(vec![[Entry::default(); ENTRIES]; ROWS].into()),
            hash: RandomState::new(),
            begun: Instant::now(),
            under_way: Arc::new(Semaphore::new(UNDER_WAY)),
            waiting: Arc::new(Semaphore::new(WAITING)),
        }
    }
}

impl Strangers {
    /// Counts a request from `address`, and waits for its turn; or says why it has none.
    pub(super) async fn enter(&self, address: IpAddr) -> Result<Turn, Failure> {
        let now = self.begun.elapsed().as_millis() as u64;
        self.count_at(address, now).map_err(|wait_s| {
            Failure::too_many(
                "too_many_requests",
                format!("Too many requests came from your address; wait {wait_s} s."),
                "Ask less often, or sign in: users are not counted.",
                wait_s,
            )
        })?;
        let _waits = self.waiting.clone().try_acquire_owned().map_err(|_| Failure::busy(2))?;
        let turn = timeout(PATIENCE, self.under_way.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(|| Failure::busy(5))?;
        Ok(Turn { _under_way: turn })
    }

    /// Counts a request, or says after how many seconds it will be served. One that is refused is not counted.
    fn count_at(&self, address: IpAddr, now: u64) -> Result<(), u32> {
        let key = self.hash.hash_one(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        // The upper bits, as the lower ones tell entries of a row apart as well.
        let row = (key >> 32) as usize % counts.len();
        let row = &mut counts[row];
        let known = row.iter().position(|entry| entry.key == key && entry.until > now);
        let at = known.unwrap_or_else(|| {
            // Where a row is full, the one whose time is over first is forgotten, which lets it ask sooner and keeps nobody out.
            let first = (0..ENTRIES).min_by_key(|at| row[*at].until).unwrap_or(0);
            row[first] = Entry { key, until: now };
            first
        });
        let entry = &mut row[at];
        let until = entry.until.max(now) + EACH_MS;
        let too_much = until.saturating_sub(now + AT_ONCE * EACH_MS);
        if too_much > 0 {
            return Err(too_much.div_ceil(1000).try_into().unwrap_or(u32::MAX));
        }
        entry.until = until;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    fn address(n: u32) -> IpAddr {
        IpAddr::V4(n.into())
    }

    #[test]
    fn an_address_asks_so_often_at_once_and_then_as_time_goes() {
        let strangers = Strangers::default();
        for n in 0..AT_ONCE {
            assert_eq!(strangers.count_at(address(1), 0), Ok(()), "{n}");
        }
        assert_eq!(strangers.count_at(address(1), 0), Err(1));
        assert_eq!(strangers.count_at(address(2), 0), Ok(()), "another address does not wait");
        assert_eq!(strangers.count_at(address(1), EACH_MS), Ok(()));
        assert_eq!(strangers.count_at(address(1), EACH_MS), Err(1));
        // What was refused is not counted: after a minute all is as at first.
        for n in 0..AT_ONCE {
            assert_eq!(strangers.count_at(address(1), 60_000), Ok(()), "{n}");
        }
        assert_eq!(strangers.count_at(address(1), 60_000), Err(1));
    }

    #[test]
    fn many_addresses_keep_nobody_out_and_free_nobody_who_asks_most() {
        let strangers = Strangers::default();
        while strangers.count_at(address(1), 0).is_ok() {}
        for n in 0..4 * (ROWS * ENTRIES) as u32 {
            assert_eq!(strangers.count_at(address(1000 + n), 0), Ok(()));
        }
        assert_eq!(strangers.count_at(address(1), 0), Err(1));
    }

    #[tokio::test]
    async fn few_strangers_are_served_at_a_time_and_the_others_wait_their_turn() {
        let strangers = Arc::new(Strangers::default());
        let mut turns = Vec::new();
        for n in 0..UNDER_WAY as u32 {
            turns.push(strangers.enter(address(n)).await.ok().unwrap());
        }
        let mut waiting = Vec::new();
        for n in 0..WAITING as u32 {
            let mut next = Box::pin({
                let strangers = strangers.clone();
                async move { strangers.enter(address(100 + n)).await }
            });
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(next.as_mut().poll(&mut cx).is_pending(), "{n}");
            waiting.push(next);
        }
        let refused = strangers.enter(address(1000)).await.err().unwrap();
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
        turns.pop();
        assert!(waiting.remove(0).await.is_ok());
    }
}
