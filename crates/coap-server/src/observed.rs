//! How many observations there are of each device and of each user, at all shards together.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::Holder;
use crate::observation_id::ObservationId;

/// The most of one device or user, whatever addresses and sessions they come from. One more takes the place of the oldest.
const OF_ONE_HOLDER: usize = 16;

/// Which observations there are of each device and of each user, the oldest first. It has an entry for each that a shard keeps, and those are
/// limited. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Observed(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    known: BTreeMap<Holder, VecDeque<Held>>,
    /// Those of each shard that have lost their place, until it looks.
    ended: BTreeMap<usize, Vec<ObservationId>>,
    shards: usize,
}

/// An observation, and the shard that keeps it.
struct Held {
    shard: usize,
    id: ObservationId,
}

impl Observed {
    /// The number of another shard.
    pub(crate) fn shard(&self) -> usize {
        let mut table = self.table();
        table.shards += 1;
        table.shards
    }

    /// Notes an observation of `holder` at `shard`; if there are too many, the oldest has to end.
    pub(crate) fn add(&self, holder: Holder, shard: usize, id: ObservationId) {
        let mut table = self.table();
        let known = table.known.entry(holder).or_default();
        known.push_back(Held { shard, id });
        if known.len() > OF_ONE_HOLDER
            && let Some(oldest) = known.pop_front()
        {
            table.ended.entry(oldest.shard).or_default().push(oldest.id);
        }
    }

    /// An observation is over.
    pub(crate) fn remove(&self, holder: Holder, shard: usize, id: ObservationId) {
        let mut table = self.table();
        let Some(known) = table.known.get_mut(&holder) else { return };
        known.retain(|held| (held.shard, held.id) != (shard, id));
        if known.is_empty() {
            table.known.remove(&holder);
        }
    }

    /// The observations at `shard` that have lost their place since it last looked.
    pub(crate) fn ended(&self, shard: usize) -> Vec<ObservationId> {
        self.table().ended.remove(&shard).unwrap_or_default()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
