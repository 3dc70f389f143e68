//! Both tables do the same.

#![cfg(feature = "alloc")]

use proptest::prelude::*;
use sixlock_base::{Duration, Instant};
use sixlock_endpoint::{FixedTable, Queue, SlabTable, Slot, Table};

const LIMIT: u32 = 5;
/// A quarter of the time there is before it wraps: the tests see it wrap.
const STEP: u32 = 1 << 30;

#[derive(Clone, Debug)]
enum Call {
    Insert(u8),
    Remove(u8),
    Rename(u8, u8),
    Touch(u8),
    Deadline(u8, Option<u32>),
    Mark(u8, bool),
    TakeMarked(bool),
    Pass(u32),
}

fn call() -> impl Strategy<Value = Call> {
    let key = 0..8u8;
    prop_oneof![
        4 => key.clone().prop_map(Call::Insert),
        1 => key.clone().prop_map(Call::Remove),
        1 => (key.clone(), key.clone()).prop_map(|(old, new)| Call::Rename(old, new)),
        2 => key.clone().prop_map(Call::Touch),
        4 => (key.clone(), prop::option::of(0..STEP)).prop_map(|(key, deadline)| Call::Deadline(key, deadline)),
        2 => (key, any::<bool>()).prop_map(|(key, queue)| Call::Mark(key, queue)),
        1 => any::<bool>().prop_map(Call::TakeMarked),
        2 => (0..STEP / 4).prop_map(Call::Pass),
    ]
}

const fn queue(transmit: bool) -> Queue {
    if transmit { Queue::Transmit } else { Queue::Event }
}

/// The keys of what `next` names until it names no more, sorted: the order is a table's own.
fn all<T: Table<u8, u8>>(table: &mut T, next: impl Fn(&mut T) -> Option<Slot>) -> Vec<u8> {
    let mut values: Vec<u8> =
        std::iter::from_fn(|| next(table).map(|slot| *table.get(slot).unwrap())).collect();
    values.sort_unstable();
    values
}

/// Does `calls`, and tells all there is to see. Values are the keys they were inserted with.
fn observe<T: Table<u8, u8>>(calls: &[Call]) -> Vec<String> {
    let mut table = T::with_limit(LIMIT);
    let mut now = Instant::from_millis(u32::MAX - 1_000);
    calls
        .iter()
        .map(|call| {
            // No two calls at one time, so that "longest ago" is one of them.
            now = now + Duration::from_millis(1);
            let slot = |table: &T, key: &u8| table.find(key).unwrap_or(99);
            let mut seen = String::new();
            match call {
                Call::Insert(key) if table.find(key).is_none() => {
                    seen = format!("{:?}", table.insert(*key, *key, now).is_some());
                }
                Call::Insert(_) => {}
                Call::Remove(key) => {
                    let slot = slot(&table, key);
                    seen = format!("{:?}", table.remove(slot));
                }
                Call::Rename(old, new) if table.find(new).is_none() => {
                    let slot = slot(&table, old);
                    table.rename(slot, Some(*new));
                }
                Call::Rename(old, _) => {
                    let slot = slot(&table, old);
                    table.rename(slot, None);
                }
                Call::Touch(key) => {
                    let slot = slot(&table, key);
                    table.touch(slot, now);
                }
                Call::Deadline(key, deadline) => {
                    let slot = slot(&table, key);
                    table.set_deadline(slot, deadline.map(|span| now + Duration::from_millis(span)), now);
                }
                Call::Mark(key, transmit) => {
                    let slot = slot(&table, key);
                    table.mark(slot, queue(*transmit));
                }
                Call::TakeMarked(transmit) => {
                    seen = format!("{:?}", all(&mut table, |table| table.take_marked(queue(*transmit))));
                }
                Call::Pass(span) => {
                    now = now + Duration::from_millis(*span);
                    seen = format!("{:?}", all(&mut table, |table| table.take_due(now)));
                }
            }
            let found: Vec<_> =
                (0..8).map(|key| table.find(&key).map(|slot| *table.get(slot).unwrap())).collect();
            let oldest = table.least_recent(now).map(|(slot, idle)| (*table.get(slot).unwrap(), idle));
            format!("{call:?}: {seen} {found:?} {oldest:?} {:?} {}", table.next_deadline(), table.is_full())
        })
        .collect()
}

proptest! {
    #[test]
    fn a_table_in_place_and_one_on_the_heap_do_the_same(calls in prop::collection::vec(call(), 0..60)) {
        prop_assert_eq!(observe::<FixedTable<u8, u8, 5>>(&calls), observe::<SlabTable<u8, u8>>(&calls));
    }
}
