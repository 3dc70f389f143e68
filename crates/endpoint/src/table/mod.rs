//! Tables of peers: found by key, ordered by deadline and by last use.

mod fixed;
#[cfg(feature = "alloc")]
mod slab;

pub use fixed::FixedTable;
#[cfg(feature = "alloc")]
pub use slab::SlabTable;

use sixlock_base::{Duration, Instant};

/// The place of a value in a table, as long as the value is in there.
pub type Slot = u32;

/// What a value can be marked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// It may have something to send.
    Transmit,
    /// It may have something to tell.
    Event,
}

/// Values of which each has a key, perhaps a deadline, and marks.
pub trait Table<K, V> {
    /// A table of at most `limit` values.
    fn with_limit(limit: u32) -> Self;

    /// Whether there is no place for another value.
    fn is_full(&self) -> bool {
        self.vacant().is_none()
    }

    /// Where the value of `key` is.
    fn find(&self, key: &K) -> Option<Slot>;

    /// The value at `slot`.
    fn get(&self, slot: Slot) -> Option<&V>;

    /// The value at `slot`, to be changed.
    fn get_mut(&mut self, slot: Slot) -> Option<&mut V>;

    /// All values.
    fn values<'t>(&'t self) -> impl Iterator<Item = &'t V>
    where
        V: 't;

    /// Where the next value that is added goes; nothing if the table is full.
    fn vacant(&self) -> Option<Slot>;

    /// Adds a value that is used now. Its key has to be one that no other value has. Nothing if the table is full.
    fn insert(&mut self, key: K, value: V, now: Instant) -> Option<Slot>;

    /// Gives the value at `slot` another key, or none. The key has to be one that no other value has.
    fn rename(&mut self, slot: Slot, key: Option<K>);

    /// Removes the value at `slot`.
    fn remove(&mut self, slot: Slot) -> Option<V>;

    /// The value at `slot` is used now.
    fn touch(&mut self, slot: Slot, now: Instant);

    /// The value used longest ago, and how long ago that was.
    fn least_recent(&self, now: Instant) -> Option<(Slot, Duration)>;

    /// Sets or clears the deadline of the value at `slot`.
    fn set_deadline(&mut self, slot: Slot, deadline: Option<Instant>, now: Instant);

    /// The earliest deadline.
    fn next_deadline(&self) -> Option<Instant>;

    /// A value whose deadline is reached; the deadline is cleared.
    fn take_due(&mut self, now: Instant) -> Option<Slot>;

    /// Marks the value at `slot`.
    fn mark(&mut self, slot: Slot, queue: Queue);

    /// A marked value, each in its turn; the mark is taken away.
    fn take_marked(&mut self, queue: Queue) -> Option<Slot>;
}
