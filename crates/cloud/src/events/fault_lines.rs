//! How often faults are logged: one that every request meets, as with a full disk, must not fill the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::At;

/// How long a fault like the one before at the same place is not logged again.
const SAME: Duration = Duration::from_secs(60);
/// How long no other fault at the same place is logged.
const OTHER: Duration = Duration::from_secs(1);

/// The last faults that were logged: one of each place.
#[derive(Default)]
pub(super) struct FaultLines(Mutex<Vec<Last>>);

struct Last {
    at: At,
    said: String,
    logged: Instant,
    /// How many were not logged since.
    unlogged: u64,
}

impl FaultLines {
    /// Whether a fault is to be logged: then how many at its place were not since the one before.
    pub(super) fn admit(&self, at: At, said: &str, now: Instant) -> Option<u64> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = known.iter_mut().find(|last| last.at == at) else {
            known.push(Last { at, said: said.to_owned(), logged: now, unlogged: 0 });
            return Some(0);
        };
        let wait = if last.said == said { SAME } else { OTHER };
        if now.saturating_duration_since(last.logged) < wait {
            last.unlogged += 1;
            return None;
        }
        (last.said, last.logged) = (said.to_owned(), now);
        Some(std::mem::take(&mut last.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_goes_on_is_logged_each_minute_with_how_often_it_was() {
        let (lines, start) = (FaultLines::default(), Instant::now());
        let admit = |at, said: &str, millis| lines.admit(at, said, start + Duration::from_millis(millis));
        assert_eq!(admit(At::Commit, "full", 0), Some(0));
        assert!((1..=59_999).all(|millis| admit(At::Commit, "full", millis).is_none()));
        assert_eq!(admit(At::LookUp, "full", 1), Some(0), "another place");
        assert_eq!(admit(At::Commit, "full", 60_000), Some(59_999));
        assert_eq!(admit(At::Commit, "damaged", 60_999), None, "too soon");
        assert_eq!(admit(At::Commit, "damaged", 61_000), Some(1), "another fault");
        assert_eq!(admit(At::Commit, "full", 62_000), Some(0));
    }
}
