//! Devices, between polls.

use std::collections::HashMap;

use sixlock_store::ResourceId;

/// A device, between two polls.
#[derive(Debug, PartialEq)]
pub(super) struct PolledDevice<D, S> {
    /// The device, and the state by which a session with it is resumed.
    pub(super) device: D,
    /// The session, which is closed by dropping it.
    pub(super) open: Option<S>,
}

/// The devices, by resource. When more sessions are open than may be, the one used longest ago is closed, to be
/// resumed when it is its turn; when more devices are known than may be, the one used longest ago is forgotten.
pub(super) struct Sessions<D, S> {
    most_open: usize,
    most: usize,
    kept: HashMap<ResourceId, (u64, PolledDevice<D, S>)>,
    uses: u64,
}

impl<D, S> Sessions<D, S> {
    pub(super) fn new(most_open: usize, most: usize) -> Self {
        Self { most_open, most, kept: HashMap::new(), uses: 0 }
    }

    /// Takes what is left of a session from before the start; nothing beyond how many there may be.
    pub(super) fn restore(&mut self, resource: ResourceId, device: D) {
        if self.kept.len() < self.most || self.kept.contains_key(&resource) {
            self.uses += 1;
            self.kept.insert(resource, (self.uses, PolledDevice { device, open: None }));
        }
    }

    /// Hands out what is kept for `resource`, which is no longer kept then.
    pub(super) fn take(&mut self, resource: ResourceId) -> Option<PolledDevice<D, S>> {
        self.kept.remove(&resource).map(|(_, kept)| kept)
    }

    /// Hands out all that is kept.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PolledDevice<D, S>> {
        self.kept.drain().map(|(_, (_, kept))| kept)
    }

    /// Keeps what was just used.
    pub(super) fn keep(&mut self, resource: ResourceId, kept: PolledDevice<D, S>) {
        self.uses += 1;
        self.kept.insert(resource, (self.uses, kept));
        if self.kept.len() > self.most
            && let Some((&oldest, _)) = self.kept.iter().min_by_key(|(_, (used, _))| *used)
        {
            self.kept.remove(&oldest);
        }
        let open = self.kept.values_mut().filter(|(_, kept)| kept.open.is_some());
        let (mut count, mut oldest) = (0, None);
        for (used, kept) in open {
            count += 1;
            if oldest.as_ref().is_none_or(|(least, _)| *used < *least) {
                oldest = Some((*used, kept));
            }
        }
        if let Some((_, oldest)) = oldest.filter(|_| count > self.most_open) {
            oldest.open = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_closes_and_in_the_end_forgets_what_was_used_longest_ago() {
        let mut table = Sessions::new(2, 4);
        let kept = |id: i64, open: bool| PolledDevice { device: id, open: open.then_some("session") };
        for id in 0..3 {
            table.keep(ResourceId(id), kept(id, true));
        }
        assert_eq!(table.take(ResourceId(0)), Some(kept(0, false)));
        table.keep(ResourceId(0), kept(0, true));
        table.keep(ResourceId(3), kept(3, false));
        table.keep(ResourceId(4), kept(4, false));
        let all: Vec<_> = (0..5).map(|id| table.take(ResourceId(id))).collect();
        let expected =
            [Some(kept(0, true)), None, Some(kept(2, true)), Some(kept(3, false)), Some(kept(4, false))];
        assert_eq!(all, expected);
    }
}
