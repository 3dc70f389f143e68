use core::array;

use sixlock_base::{Duration, Instant};

use super::{Queue, Slot, Table};

/// A table of at most `N` values, in place, searched from end to end.
#[derive(Debug)]
pub struct FixedTable<K, V, const N: usize> {
    entries: [Option<Entry<K, V>>; N],
    limit: u32,
    /// Where the search for marks goes on, so that every value gets its turn.
    turn: u32,
}

#[derive(Debug)]
struct Entry<K, V> {
    key: Option<K>,
    value: V,
    used: Instant,
    deadline: Option<Instant>,
    marks: [bool; 2],
}

impl<K, V, const N: usize> FixedTable<K, V, N> {
    fn entry(&mut self, slot: Slot) -> Option<&mut Entry<K, V>> {
        self.entries.get_mut(slot as usize)?.as_mut()
    }

    fn occupied(&self) -> impl Iterator<Item = (Slot, &Entry<K, V>)> {
        (0..).zip(&self.entries).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }
}

impl<K: Ord, V, const N: usize> Table<K, V> for FixedTable<K, V, N> {
    fn with_limit(limit: u32) -> Self {
        Self { entries: array::from_fn(|_| None), limit: limit.min(N as u32), turn: 0 }
    }

    fn vacant(&self) -> Option<Slot> {
        let room = self.occupied().count() < self.limit as usize;
        (0..).zip(&self.entries).find(|(_, place)| room && place.is_none()).map(|(slot, _)| slot)
    }

    fn find(&self, key: &K) -> Option<Slot> {
        self.occupied().find(|(_, entry)| entry.key.as_ref() == Some(key)).map(|(slot, _)| slot)
    }

    fn get(&self, slot: Slot) -> Option<&V> {
        Some(&self.entries.get(slot as usize)?.as_ref()?.value)
    }

    fn values<'t>(&'t self) -> impl Iterator<Item = &'t V>
    where
        V: 't,
    {
        self.occupied().map(|(_, entry)| &entry.value)
    }

    fn get_mut(&mut self, slot: Slot) -> Option<&mut V> {
        Some(&mut self.entry(slot)?.value)
    }

    fn insert(&mut self, key: K, value: V, now: Instant) -> Option<Slot> {
        let slot = self.vacant()?;
        *self.entries.get_mut(slot as usize)? =
            Some(Entry { key: Some(key), value, used: now, deadline: None, marks: [false; 2] });
        Some(slot)
    }

    fn rename(&mut self, slot: Slot, key: Option<K>) {
        if let Some(entry) = self.entry(slot) {
            entry.key = key;
        }
    }

    fn remove(&mut self, slot: Slot) -> Option<V> {
        self.entries.get_mut(slot as usize)?.take().map(|entry| entry.value)
    }

    fn touch(&mut self, slot: Slot, now: Instant) {
        if let Some(entry) = self.entry(slot) {
            entry.used = now;
        }
    }

    fn least_recent(&self, now: Instant) -> Option<(Slot, Duration)> {
        self.occupied().map(|(slot, entry)| (slot, now.since(entry.used))).max_by_key(|(_, idle)| *idle)
    }

    fn set_deadline(&mut self, slot: Slot, deadline: Option<Instant>, _now: Instant) {
        if let Some(entry) = self.entry(slot) {
            entry.deadline = deadline;
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.occupied().fold(None, |earliest, (_, entry)| Instant::earliest(earliest, entry.deadline))
    }

    fn take_due(&mut self, now: Instant) -> Option<Slot> {
        let is_due = |entry: &Entry<K, V>| entry.deadline.is_some_and(|deadline| now.has_reached(deadline));
        let (slot, _) = self.occupied().find(|(_, entry)| is_due(entry))?;
        self.entry(slot)?.deadline = None;
        Some(slot)
    }

    fn mark(&mut self, slot: Slot, queue: Queue) {
        if let Some(entry) = self.entry(slot) {
            entry.marks[queue as usize] = true;
        }
    }

    fn take_marked(&mut self, queue: Queue) -> Option<Slot> {
        let turn = self.turn;
        let marked = |(_, entry): &(Slot, &Entry<K, V>)| entry.marks[queue as usize];
        let (slot, _) = self.occupied().filter(marked).min_by_key(|(slot, _)| (*slot < turn, *slot))?;
        self.entry(slot)?.marks[queue as usize] = false;
        self.turn = slot + 1;
        Some(slot)
    }
}
