//! Which pollers have changed.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::ids::ResourceId;

/// The pollers that changed and were not looked at since. Nobody waits to add one, and there are no more than there
/// are resources.
#[derive(Default)]
pub(crate) struct PollerChanges {
    resources: Mutex<BTreeSet<ResourceId>>,
    pub(crate) added: Notify,
}

impl PollerChanges {
    pub(crate) fn add(&self, resource: ResourceId) {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner).insert(resource);
        self.added.notify_one();
    }

    pub(crate) fn take(&self) -> BTreeSet<ResourceId> {
        std::mem::take(&mut *self.resources.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
