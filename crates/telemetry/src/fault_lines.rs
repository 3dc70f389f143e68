//! How often faults are logged: one that every request meets, as with a full disk, must not fill the log.

use std::sync::{Mutex, PoisonError};

use crate::event::At;

/// For how many milliseconds a fault like the one before at the same place is not logged again.
const SAME_MS: u64 = 60_000;
/// For how many milliseconds no other fault at the same place is logged.
const OTHER_MS: u64 = 1_000;

/// The last faults that were logged: one of each place.
#[derive(Default)]
pub(crate) struct FaultLines(Mutex<Vec<Last>>);

struct Last {
    at: At,
    said: String,
    /// When, in milliseconds since 1970.
    logged: i64,
    /// How many were not logged since.
    unlogged: u64,
}

impl FaultLines {
    /// Returns how many faults at this place were not logged since the last one that was; `None` if this one is not logged either.
    /// `now` is in milliseconds since 1970; a clock that is set back or forth logs one fault more.
    pub(crate) fn admit(&self, at: At, said: &str, now: i64) -> Option<u64> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = known.iter_mut().find(|last| last.at == at) else {
            known.push(Last { at, said: said.to_owned(), logged: now, unlogged: 0 });
            return Some(0);
        };
        let wait = if last.said == said { SAME_MS } else { OTHER_MS };
        if now.abs_diff(last.logged) < wait {
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
        let lines = FaultLines::default();
        let admit = |at, said: &str, millis| lines.admit(at, said, millis);
        assert_eq!(admit(At::Commit, "full", 0), Some(0));
        assert!((1..=59_999).all(|millis| admit(At::Commit, "full", millis).is_none()));
        assert_eq!(admit(At::LookUp, "full", 1), Some(0), "another place");
        assert_eq!(admit(At::Commit, "full", 60_000), Some(59_999));
        assert_eq!(admit(At::Commit, "damaged", 60_999), None, "too soon");
        assert_eq!(admit(At::Commit, "damaged", 61_000), Some(1), "another fault");
        assert_eq!(admit(At::Commit, "full", 62_000), Some(0));
    }
}
