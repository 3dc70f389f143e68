//! How many observations there are of each resource, at all shards together.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_store::ResourceId;

use super::observers::Id;

/// The most of one resource, whatever addresses and sessions they come from. One more takes the place of the oldest.
pub(super) const OF_ONE_RESOURCE: usize = 16;

/// Which observations there are of each resource, the oldest first. It has an entry for each that a shard keeps, and those are
/// limited. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Observed(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    known: BTreeMap<ResourceId, VecDeque<Held>>,
    /// Those of each shard that have lost their place, until it looks.
    ended: BTreeMap<usize, Vec<Id>>,
    shards: usize,
}

/// An observation, and the shard that keeps it.
struct Held {
    shard: usize,
    id: Id,
}

impl Observed {
    /// The number of another shard.
    pub(super) fn shard(&self) -> usize {
        let mut table = self.table();
        table.shards += 1;
        table.shards
    }

    /// Notes an observation of `resource` at `shard`; if there are too many, the oldest has to end.
    pub(super) fn add(&self, resource: ResourceId, shard: usize, id: Id) {
        let mut table = self.table();
        let known = table.known.entry(resource).or_default();
        known.push_back(Held { shard, id });
        if known.len() > OF_ONE_RESOURCE
            && let Some(oldest) = known.pop_front()
        {
            table.ended.entry(oldest.shard).or_default().push(oldest.id);
        }
    }

    /// An observation is over.
    pub(super) fn remove(&self, resource: ResourceId, shard: usize, id: Id) {
        let mut table = self.table();
        let Some(known) = table.known.get_mut(&resource) else { return };
        known.retain(|held| (held.shard, held.id) != (shard, id));
        if known.is_empty() {
            table.known.remove(&resource);
        }
    }

    /// The observations at `shard` that have lost their place since it last looked.
    pub(super) fn ended(&self, shard: usize) -> Vec<Id> {
        self.table().ended.remove(&shard).unwrap_or_default()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
