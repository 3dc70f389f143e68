use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::num::NonZeroU64;

use sixlock_base::{Duration, Instant};

use super::{Queue, Slot, Table};

/// A table on the heap whose operations take a time logarithmic in the number of values, and in an order that depends
/// on nothing but the calls.
#[derive(Debug)]
pub struct SlabTable<K, V> {
    entries: Vec<Option<Entry<K, V>>>,
    free: BTreeSet<Slot>,
    limit: u32,
    keys: BTreeMap<K, Slot>,
    /// The deadlines, on a clock that does not wrap.
    deadlines: BTreeSet<(NonZeroU64, Slot)>,
    clock: Clock,
    uses: Uses,
    /// May name values whose mark was taken away since.
    marked: [VecDeque<Slot>; 2],
}

#[derive(Debug)]
struct Entry<K, V> {
    key: Option<K>,
    value: V,
    used: Instant,
    /// The values used before and after this one, next to it.
    neighbours: [Option<Slot>; 2],
    deadline: Option<NonZeroU64>,
    marks: [bool; 2],
}

/// How many values there are, and those at the ends of the chain in which each has its place by its last use.
#[derive(Debug, Default)]
struct Uses {
    count: u32,
    /// Which was used longest ago, and which last.
    ends: [Option<Slot>; 2],
}

/// Towards the value used longest ago, and towards the one used last.
const OLDER: usize = 0;
const NEWER: usize = 1;

/// Milliseconds since the first time the clock was told the time, and one.
#[derive(Debug, Default)]
struct Clock(Option<(Instant, u64)>);

impl Clock {
    /// When it shows `millis`.
    fn instant(&self, millis: u64) -> Option<Instant> {
        let (told, shown) = self.0?;
        Some(Instant::from_millis(told.millis().wrapping_add(millis.wrapping_sub(shown) as u32)))
    }

    fn advance(&mut self, now: Instant) -> u64 {
        let (told, millis) = self.0.unwrap_or((now, 1));
        let millis =
            if now.has_reached(told) { millis + u64::from(now.since(told).millis()) } else { millis };
        self.0 = Some((now, millis));
        millis
    }
}

impl<K, V> SlabTable<K, V> {
    fn entry(&mut self, slot: Slot) -> Option<&mut Entry<K, V>> {
        self.entries.get_mut(slot as usize)?.as_mut()
    }

    /// Adds a value at `slot` that was `used` then, and after all others. Its key, if it has one, has to be one that no other value has. Nothing if there is
    /// a value already, or never can be.
    pub(crate) fn insert_at(&mut self, slot: Slot, key: Option<K>, value: V, used: Instant) -> Option<Slot>
    where
        K: Ord + Copy,
    {
        let end = self.entries.len() as Slot;
        if slot >= self.limit || slot < end && !self.free.remove(&slot) {
            return None;
        }
        self.free.extend(end..slot);
        if slot >= end {
            self.entries.resize_with(slot as usize + 1, || None);
        }
        let neighbours = [None; 2];
        let entry = Entry { key, value, used, neighbours, deadline: None, marks: [false; 2] };
        *self.entries.get_mut(slot as usize)? = Some(entry);
        if let Some(key) = key {
            self.keys.insert(key, slot);
        }
        self.uses.count += 1;
        self.link(slot);
        Some(slot)
    }

    /// How long ago the value at `slot` was used.
    pub(crate) fn idle(&self, slot: Slot, now: Instant) -> Option<Duration> {
        Some(now.since(self.entries.get(slot as usize)?.as_ref()?.used))
    }

    /// Where the values are, the one used longest ago first.
    pub(crate) fn by_use(&self) -> impl Iterator<Item = Slot> {
        let newer = |slot: &Slot| self.entries.get(*slot as usize)?.as_ref()?.neighbours[NEWER];
        core::iter::successors(self.uses.ends[OLDER], newer)
    }

    /// Puts the value at `slot` at the end of the chain, where the one used last is.
    fn link(&mut self, slot: Slot) {
        let last = self.uses.ends[NEWER].replace(slot);
        match last.and_then(|last| self.entry(last)) {
            Some(last) => last.neighbours[NEWER] = Some(slot),
            None => self.uses.ends[OLDER] = Some(slot),
        }
        if let Some(entry) = self.entry(slot) {
            entry.neighbours = [last, None];
        }
    }

    /// Takes a value with these neighbours out of the chain.
    fn unlink(&mut self, neighbours: [Option<Slot>; 2]) {
        for (side, other) in [(OLDER, NEWER), (NEWER, OLDER)] {
            match neighbours[side].and_then(|slot| self.entry(slot)) {
                Some(neighbour) => neighbour.neighbours[other] = neighbours[other],
                None => self.uses.ends[side] = neighbours[other],
            }
        }
    }
}

impl<K: Ord + Copy, V> Table<K, V> for SlabTable<K, V> {
    fn with_limit(limit: u32) -> Self {
        Self {
            entries: Vec::new(),
            free: BTreeSet::new(),
            limit,
            keys: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            clock: Clock::default(),
            uses: Uses::default(),
            marked: Default::default(),
        }
    }

    fn vacant(&self) -> Option<Slot> {
        let room = self.uses.count < self.limit;
        room.then(|| self.free.first().copied().unwrap_or(self.entries.len() as Slot))
    }

    fn find(&self, key: &K) -> Option<Slot> {
        self.keys.get(key).copied()
    }

    fn get(&self, slot: Slot) -> Option<&V> {
        Some(&self.entries.get(slot as usize)?.as_ref()?.value)
    }

    fn values<'t>(&'t self) -> impl Iterator<Item = &'t V>
    where
        V: 't,
    {
        self.entries.iter().flatten().map(|entry| &entry.value)
    }

    fn get_mut(&mut self, slot: Slot) -> Option<&mut V> {
        Some(&mut self.entry(slot)?.value)
    }

    fn insert(&mut self, key: K, value: V, now: Instant) -> Option<Slot> {
        let slot = self.vacant()?;
        self.insert_at(slot, Some(key), value, now)
    }

    fn rename(&mut self, slot: Slot, key: Option<K>) {
        let Some(entry) = self.entry(slot) else { return };
        if let Some(old) = core::mem::replace(&mut entry.key, key) {
            self.keys.remove(&old);
        }
        if let Some(key) = key {
            self.keys.insert(key, slot);
        }
    }

    fn remove(&mut self, slot: Slot) -> Option<V> {
        let entry = self.entries.get_mut(slot as usize)?.take()?;
        if let Some(key) = entry.key {
            self.keys.remove(&key);
        }
        if let Some(deadline) = entry.deadline {
            self.deadlines.remove(&(deadline, slot));
        }
        self.unlink(entry.neighbours);
        self.uses.count -= 1;
        self.free.insert(slot);
        Some(entry.value)
    }

    fn touch(&mut self, slot: Slot, now: Instant) {
        let Some(entry) = self.entry(slot) else { return };
        entry.used = now;
        let neighbours = entry.neighbours;
        self.unlink(neighbours);
        self.link(slot);
    }

    fn least_recent(&self, now: Instant) -> Option<(Slot, Duration)> {
        let slot = self.uses.ends[OLDER]?;
        let entry = self.entries.get(slot as usize)?.as_ref()?;
        Some((slot, now.since(entry.used)))
    }

    fn set_deadline(&mut self, slot: Slot, deadline: Option<Instant>, now: Instant) {
        let clock = self.clock.advance(now);
        let deadline =
            deadline.and_then(|deadline| NonZeroU64::new(clock + u64::from(now.until(deadline).millis())));
        let Some(entry) = self.entry(slot) else { return };
        let old = core::mem::replace(&mut entry.deadline, deadline);
        if old == deadline {
            return;
        }
        if let Some(old) = old {
            self.deadlines.remove(&(old, slot));
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, slot));
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let &(deadline, _) = self.deadlines.first()?;
        self.clock.instant(deadline.get())
    }

    fn take_due(&mut self, now: Instant) -> Option<Slot> {
        let clock = self.clock.advance(now);
        let &(deadline, slot) = self.deadlines.first().filter(|(deadline, _)| deadline.get() <= clock)?;
        self.deadlines.remove(&(deadline, slot));
        self.entry(slot)?.deadline = None;
        Some(slot)
    }

    fn mark(&mut self, slot: Slot, queue: Queue) {
        let Some(entry) = self.entry(slot) else { return };
        if !core::mem::replace(&mut entry.marks[queue as usize], true) {
            self.marked[queue as usize].push_back(slot);
        }
    }

    fn take_marked(&mut self, queue: Queue) -> Option<Slot> {
        loop {
            let slot = self.marked[queue as usize].pop_front()?;
            if let Some(entry) = self.entry(slot)
                && core::mem::take(&mut entry.marks[queue as usize])
            {
                return Some(slot);
            }
        }
    }
}
