//! Devices, between polls.

use std::collections::HashMap;

use sixlock_store::{ResourceId, UserId};

/// A device, between two polls.
#[derive(Debug, PartialEq)]
pub(super) struct PolledDevice<D, S> {
    /// The device, and the state by which a session with it is resumed.
    pub(super) device: D,
    /// The session, which is closed by dropping it.
    pub(super) open: Option<S>,
}

/// How many sessions may be open.
#[derive(Clone, Copy)]
pub(super) struct SessionLimits {
    /// In all.
    pub(super) open: usize,
    /// Of one owner, of those in which somebody listens.
    pub(super) watched: usize,
}

/// The devices, by resource. When more sessions are open than may be, the one used longest ago in which nobody listens is closed, to be resumed when
/// it is its turn, and without one the new one; when more devices are known than may be, the one used longest ago is forgotten.
pub(super) struct Sessions<D, S> {
    limits: SessionLimits,
    most: usize,
    kept: HashMap<ResourceId, Entry<D, S>>,
    uses: u64,
}

/// A device, and when it was used. Nobody listens to one from before the start.
struct Entry<D, S> {
    used: u64,
    /// Whose it is, if somebody listens in its session.
    watched_by: Option<UserId>,
    polled: PolledDevice<D, S>,
}

impl<D, S> Entry<D, S> {
    fn is_open(&self) -> bool {
        self.polled.open.is_some()
    }
}

impl<D, S> Sessions<D, S> {
    pub(super) fn new(limits: SessionLimits, most: usize) -> Self {
        Self { limits, most, kept: HashMap::new(), uses: 0 }
    }

    /// Takes what is left of a session from before the start; nothing beyond how many there may be.
    pub(super) fn restore(&mut self, resource: ResourceId, device: D) {
        if self.kept.len() < self.most || self.kept.contains_key(&resource) {
            let polled = PolledDevice { device, open: None };
            self.insert(resource, None, polled);
        }
    }

    /// Hands out what is kept for `resource`, which is no longer kept then.
    pub(super) fn take(&mut self, resource: ResourceId) -> Option<PolledDevice<D, S>> {
        self.kept.remove(&resource).map(|entry| entry.polled)
    }

    /// Hands out all that is kept.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PolledDevice<D, S>> {
        self.kept.drain().map(|(_, entry)| entry.polled)
    }

    /// Keeps what was just used, whose owner is told if somebody listens in its session. Whether that is still open.
    pub(super) fn keep(
        &mut self,
        resource: ResourceId,
        watched_by: Option<UserId>,
        mut polled: PolledDevice<D, S>,
    ) -> bool {
        let watched = || self.kept.values().filter(|entry| entry.is_open() && entry.watched_by == watched_by);
        if watched_by.is_some() && watched().count() >= self.limits.watched {
            polled.open = None;
        }
        let is_open = polled.open.is_some();
        self.insert(resource, watched_by, polled);
        if self.kept.len() > self.most
            && let Some((&oldest, _)) = self.kept.iter().min_by_key(|(_, entry)| entry.used)
        {
            self.kept.remove(&oldest);
        }
        if self.kept.values().filter(|entry| entry.is_open()).count() <= self.limits.open {
            return is_open;
        }
        let idle = self.kept.values_mut().filter(|entry| entry.is_open() && entry.watched_by.is_none());
        match idle.min_by_key(|entry| entry.used) {
            Some(oldest) => oldest.polled.open = None,
            None => {
                if let Some(newest) = self.kept.get_mut(&resource) {
                    newest.polled.open = None;
                }
                return false;
            }
        }
        self.kept.get(&resource).is_some_and(Entry::is_open)
    }

    fn insert(&mut self, resource: ResourceId, watched_by: Option<UserId>, polled: PolledDevice<D, S>) {
        self.uses += 1;
        self.kept.insert(resource, Entry { used: self.uses, watched_by, polled });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SessionLimits = SessionLimits { open: 2, watched: 1 };

    fn device(id: i64, open: bool) -> PolledDevice<i64, &'static str> {
        PolledDevice { device: id, open: open.then_some("session") }
    }

    #[test]
    fn a_full_table_closes_and_in_the_end_forgets_what_was_used_longest_ago() {
        let mut table = Sessions::new(LIMITS, 4);
        for id in 0..3 {
            assert!(table.keep(ResourceId(id), None, device(id, true)));
        }
        assert_eq!(table.take(ResourceId(0)), Some(device(0, false)));
        assert!(table.keep(ResourceId(0), None, device(0, true)));
        table.keep(ResourceId(3), None, device(3, false));
        table.keep(ResourceId(4), None, device(4, false));
        let all: Vec<_> = (0..5).map(|id| table.take(ResourceId(id))).collect();
        let expected = [
            Some(device(0, true)),
            None,
            Some(device(2, true)),
            Some(device(3, false)),
            Some(device(4, false)),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_session_in_which_somebody_listens_is_closed_for_no_other() {
        let (ann, bob) = (UserId(1), UserId(2));
        let mut table = Sessions::new(LIMITS, 9);
        assert!(table.keep(ResourceId(1), Some(ann), device(1, true)));
        assert!(!table.keep(ResourceId(2), Some(ann), device(2, true)), "ann has one already");
        assert!(table.keep(ResourceId(3), None, device(3, true)));
        assert!(table.keep(ResourceId(4), Some(bob), device(4, true)), "the idle one makes room");
        assert!(!table.keep(ResourceId(5), None, device(5, true)), "there is none that would");
        let open: Vec<_> = (1..6).map(|id| table.take(ResourceId(id)).unwrap().open.is_some()).collect();
        assert_eq!(open, [true, false, false, true, false]);
    }
}
