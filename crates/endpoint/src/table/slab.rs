use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use sixlock_base::{Duration, Instant};

use super::{Queue, Slot, Table};

/// A table on the heap whose operations take a time logarithmic in the number of values, and in an order that depends
/// on nothing but the calls.
#[derive(Debug)]
pub struct SlabTable<K, V> {
    entries: Vec<Option<Entry<K, V>>>,
    free: Vec<Slot>,
    limit: u32,
    keys: BTreeMap<K, Slot>,
    /// The deadlines, on a clock that does not wrap.
    deadlines: BTreeSet<(u64, Slot)>,
    clock: Clock,
    /// The uses, in their order.
    uses: BTreeMap<u64, Slot>,
    next_use: u64,
    /// May name values whose mark was taken away since.
    marked: [VecDeque<Slot>; 2],
}

#[derive(Debug)]
struct Entry<K, V> {
    key: Option<K>,
    value: V,
    used: Instant,
    use_number: u64,
    deadline: Option<(u64, Instant)>,
    marks: [bool; 2],
}

/// Milliseconds since the first time the clock was told the time.
#[derive(Debug, Default)]
struct Clock(Option<(Instant, u64)>);

impl Clock {
    fn advance(&mut self, now: Instant) -> u64 {
        let (told, millis) = self.0.unwrap_or((now, 0));
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
}

impl<K: Ord + Copy, V> Table<K, V> for SlabTable<K, V> {
    fn with_limit(limit: u32) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            limit,
            keys: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            clock: Clock::default(),
            uses: BTreeMap::new(),
            next_use: 0,
            marked: Default::default(),
        }
    }

    fn vacant(&self) -> Option<Slot> {
        let room = self.uses.len() < self.limit as usize;
        room.then(|| self.free.last().copied().unwrap_or(self.entries.len() as Slot))
    }

    fn find(&self, key: &K) -> Option<Slot> {
        self.keys.get(key).copied()
    }

    fn get(&self, slot: Slot) -> Option<&V> {
        Some(&self.entries.get(slot as usize)?.as_ref()?.value)
    }

    fn get_mut(&mut self, slot: Slot) -> Option<&mut V> {
        Some(&mut self.entry(slot)?.value)
    }

    fn insert(&mut self, key: K, value: V, now: Instant) -> Option<Slot> {
        let slot = self.vacant()?;
        self.free.pop();
        if slot as usize == self.entries.len() {
            self.entries.push(None);
        }
        let use_number = self.next_use;
        let entry = Entry { key: Some(key), value, used: now, use_number, deadline: None, marks: [false; 2] };
        *self.entries.get_mut(slot as usize)? = Some(entry);
        self.keys.insert(key, slot);
        self.uses.insert(use_number, slot);
        self.next_use += 1;
        Some(slot)
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
        if let Some((deadline, _)) = entry.deadline {
            self.deadlines.remove(&(deadline, slot));
        }
        self.uses.remove(&entry.use_number);
        self.free.push(slot);
        Some(entry.value)
    }

    fn touch(&mut self, slot: Slot, now: Instant) {
        let number = self.next_use;
        let Some(entry) = self.entry(slot) else { return };
        entry.used = now;
        let old = core::mem::replace(&mut entry.use_number, number);
        self.uses.remove(&old);
        self.uses.insert(number, slot);
        self.next_use += 1;
    }

    fn least_recent(&self, now: Instant) -> Option<(Slot, Duration)> {
        let (_, &slot) = self.uses.first_key_value()?;
        let entry = self.entries.get(slot as usize)?.as_ref()?;
        Some((slot, now.since(entry.used)))
    }

    fn set_deadline(&mut self, slot: Slot, deadline: Option<Instant>, now: Instant) {
        let clock = self.clock.advance(now);
        let deadline = deadline.map(|deadline| {
            let left = if now.has_reached(deadline) { 0 } else { deadline.since(now).millis() };
            (clock + u64::from(left), deadline)
        });
        let Some(entry) = self.entry(slot) else { return };
        let old = core::mem::replace(&mut entry.deadline, deadline);
        if old == deadline {
            return;
        }
        if let Some((old, _)) = old {
            self.deadlines.remove(&(old, slot));
        }
        if let Some((deadline, _)) = deadline {
            self.deadlines.insert((deadline, slot));
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let &(_, slot) = self.deadlines.first()?;
        self.entries.get(slot as usize)?.as_ref()?.deadline.map(|(_, deadline)| deadline)
    }

    fn take_due(&mut self, now: Instant) -> Option<Slot> {
        let clock = self.clock.advance(now);
        let &(deadline, slot) = self.deadlines.first().filter(|(deadline, _)| *deadline <= clock)?;
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
