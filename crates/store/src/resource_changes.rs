//! Resources of which something has changed.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::ids::ResourceId;

/// The resources of which something changed that was not looked at since. Nobody waits to add one, and there are no more than there
/// are resources.
#[derive(Default)]
pub(crate) struct ResourceChanges {
    resources: Mutex<BTreeSet<ResourceId>>,
    added: Notify,
}

impl ResourceChanges {
    pub(crate) fn add(&self, resource: ResourceId) {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner).insert(resource);
        self.added.notify_one();
    }

    /// Waits until there are some, and takes them.
    pub(crate) async fn wait(&self) -> BTreeSet<ResourceId> {
        loop {
            let added = self.added.notified();
            let changed = std::mem::take(&mut *self.resources.lock().unwrap_or_else(PoisonError::into_inner));
            if !changed.is_empty() {
                return changed;
            }
            added.await;
        }
    }
}
