//! How publishing to each broker goes, for those who ask.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_store::{BrokerId, BrokerProgress};

/// How many positions of all users' points may pass before it is noted that they were none for a broker.
const UNNOTED: u64 = 50_000;

/// How publishing to a broker goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct BrokerState {
    pub(crate) progress: BrokerProgress,
    /// Since when it is connected, in milliseconds since 1970.
    pub(crate) connected_since: Option<i64>,
    /// Why it is not, or was not last.
    pub(crate) last_error: Option<String>,
    /// How many tries failed since the last one that did not.
    pub(crate) failures: u32,
    /// The settings of which this is said.
    pub(super) revision: i64,
    /// What the store knows.
    noted: BrokerProgress,
}

impl BrokerState {
    /// That of a broker that is not served: so far it had come.
    pub(crate) fn resting(progress: BrokerProgress) -> Self {
        Self { progress, ..Self::default() }
    }
}

/// How publishing goes. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct States(Arc<Mutex<HashMap<BrokerId, BrokerState>>>);

/// What is to be noted of a broker, and how many points were published and dropped since that was done last.
pub(super) struct Unnoted {
    pub(super) broker: BrokerId,
    pub(super) revision: i64,
    pub(super) progress: BrokerProgress,
    pub(super) published: u64,
    pub(super) dropped: u64,
}

impl States {
    fn lock(&self) -> MutexGuard<'_, HashMap<BrokerId, BrokerState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it goes; nothing if the broker is not served.
    pub(crate) fn get(&self, broker: BrokerId) -> Option<BrokerState> {
        self.lock().get(&broker).cloned()
    }

    /// How many are connected.
    pub(crate) fn connected(&self) -> usize {
        self.lock().values().filter(|state| state.connected_since.is_some()).count()
    }

    /// A broker is served, with the settings of this revision, from `progress` on, of which the store knows `noted`.
    pub(super) fn begin(
        &self,
        broker: BrokerId,
        revision: i64,
        (progress, noted): (BrokerProgress, BrokerProgress),
    ) {
        self.lock().insert(broker, BrokerState { progress, noted, revision, ..BrokerState::default() });
    }

    /// A broker is not served any more.
    pub(super) fn end(&self, broker: BrokerId) {
        self.lock().remove(&broker);
    }

    /// Changes what is said of a broker with the settings of this revision, while it is served.
    pub(super) fn change(&self, broker: BrokerId, revision: i64, change: impl FnOnce(&mut BrokerState)) {
        if let Some(state) = self.lock().get_mut(&broker).filter(|state| state.revision == revision) {
            change(state);
        }
    }

    /// What the store is to know, or, at the end, whatever it does not know.
    pub(super) fn unnoted(&self, is_end: bool) -> Vec<Unnoted> {
        let states = self.lock();
        let is_due = |state: &BrokerState| {
            let BrokerState { progress, noted, .. } = state;
            let passed = progress.counted.for_journal().saturating_sub(noted.counted.for_journal());
            let counts = |of: &BrokerProgress| (of.waiting, of.published, of.dropped);
            counts(progress) != counts(noted) || passed >= if is_end { 1 } else { UNNOTED }
        };
        let due = states.iter().filter(|(_, state)| is_due(state));
        due.map(|(broker, BrokerState { progress, noted, revision, .. })| Unnoted {
            broker: *broker,
            revision: *revision,
            progress: *progress,
            published: progress.published.saturating_sub(noted.published),
            dropped: progress.dropped.saturating_sub(noted.dropped),
        })
        .collect()
    }

    /// The store knows this.
    pub(super) fn noted(&self, Unnoted { broker, revision, progress, .. }: &Unnoted) {
        self.change(*broker, *revision, |state| state.noted = *progress);
    }
}
