//! How often requests and handshakes were refused, by scheme and reason.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::record::Scheme;

/// How often requests of a scheme were refused for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalCount {
    /// The scheme of the requests.
    pub scheme: Scheme,
    /// The reason, in one word of a fixed list.
    pub reason: &'static str,
    /// How often.
    pub count: u64,
}

/// All of them since the start. Reasons are words of a fixed list, so there are few.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<(&'static str, &'static str), RefusalCount>>);

impl Refusals {
    pub(crate) fn count(&self, scheme: Scheme, reason: &'static str) {
        let mut counts = self.counts();
        let known = counts.entry((scheme.name(), reason));
        known.or_insert(RefusalCount { scheme, reason, count: 0 }).count += 1;
    }

    /// All of them, in the order of schemes and reasons.
    pub(crate) fn all(&self) -> Vec<RefusalCount> {
        self.counts().values().copied().collect()
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<(&'static str, &'static str), RefusalCount>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
