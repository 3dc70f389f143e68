//! Which devices are to be told something, at a glance.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::ids::{CommandId, ResourceId};
use crate::resource_changes::ResourceChanges;

/// The resources that have commands queued, as the database knows them. A device that is heard is looked up here, without a lock if there is
/// no command at all.
pub(crate) struct CommandQueue {
    is_empty: AtomicBool,
    waiting: Mutex<Waiting>,
    /// Tells that a command came or ended.
    pub(crate) changed: watch::Sender<()>,
    /// The resources for which one came.
    pub(crate) added: ResourceChanges,
}

#[derive(Default)]
struct Waiting {
    queued: BTreeSet<ResourceId>,
    /// The commands that devices have been told and not answered yet, and since when: of each resource one at a time.
    under_way: BTreeMap<ResourceId, (CommandId, Instant)>,
}

impl Waiting {
    /// Whether the device of `resource` may be told something.
    fn is_free(&self, resource: ResourceId) -> bool {
        self.under_way.get(&resource).is_none_or(|(_, since)| since.elapsed() >= PATIENCE)
    }
}

/// How long a device that is heard elsewhere, in another session, is not told again what it did not answer. It may have begun anew, and
/// the session in which it was told be gone.
const PATIENCE: Duration = Duration::from_secs(10);

impl CommandQueue {
    /// These resources have commands queued.
    pub(crate) fn new(queued: BTreeSet<ResourceId>) -> Self {
        let is_empty = AtomicBool::new(queued.is_empty());
        let waiting = Mutex::new(Waiting { queued, under_way: BTreeMap::new() });
        Self { is_empty, waiting, changed: watch::Sender::new(()), added: ResourceChanges::default() }
    }

    /// Whether a command is queued for `resource`, and none under way that its device may still answer.
    pub(crate) fn has(&self, resource: ResourceId) -> bool {
        if self.is_empty.load(Ordering::Acquire) {
            return false;
        }
        let waiting = self.lock();
        waiting.queued.contains(&resource) && waiting.is_free(resource)
    }

    /// A command was queued for `resource`.
    pub(crate) fn add(&self, resource: ResourceId) {
        self.lock().queued.insert(resource);
        self.is_empty.store(false, Ordering::Release);
        self.added.add(resource);
        self.changed.send_replace(());
    }

    /// These resources alone have commands queued.
    pub(crate) fn replace(&self, queued: BTreeSet<ResourceId>) {
        let mut waiting = self.lock();
        self.is_empty.store(queued.is_empty(), Ordering::Release);
        waiting.queued = queued;
    }

    /// Nothing is queued for `resource` any more.
    pub(crate) fn remove(&self, resource: ResourceId) {
        let mut waiting = self.lock();
        waiting.queued.remove(&resource);
        self.is_empty.store(waiting.queued.is_empty(), Ordering::Release);
    }

    /// The device of `resource` is told this one now. Returns false if another is under way.
    pub(crate) fn begin(&self, resource: ResourceId, id: CommandId) -> bool {
        let mut waiting = self.lock();
        let is_free = waiting.is_free(resource);
        if is_free {
            waiting.under_way.insert(resource, (id, Instant::now()));
        }
        is_free
    }

    /// The resource whose device was told this one, while it is under way.
    pub(crate) fn resource_of(&self, id: CommandId) -> Option<ResourceId> {
        let waiting = self.lock();
        waiting.under_way.iter().find(|(_, (known, _))| *known == id).map(|(resource, _)| *resource)
    }

    /// This one is under way no longer.
    pub(crate) fn end(&self, id: CommandId) {
        self.lock().under_way.retain(|_, (known, _)| *known != id);
        self.changed.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
