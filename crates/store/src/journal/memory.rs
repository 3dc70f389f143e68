//! The journal in memory: for tests, and to measure what is around a journal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_ingest::Reading;

use super::append::Append;
use super::commit::{Commit, Journal};
use super::receipts::Receipts;
use super::stream_rows::STREAMS_PER_RESOURCE;
use crate::changes::{Change, merge};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::{ResourceId, StreamId};

/// A journal that lasts as long as the process, of posts of any resource. When it has no room for a batch,
/// [`Error::DiskFull`].
pub struct Memory {
    points: MemoryPoints,
    /// How many points there may be.
    room: usize,
    receipts: Receipts,
    /// How many commits were made.
    commits: u64,
}

/// The points of a [`Memory`]. Clones read the same.
#[derive(Clone, Default)]
pub struct MemoryPoints(Arc<Mutex<Stored>>);

type Streams = BTreeMap<ResourceId, BTreeMap<String, StreamId>>;

#[derive(Default)]
struct Stored {
    streams: Streams,
    /// How many streams there are.
    count: i64,
    points: Vec<StoredPoint>,
}

/// A point, and the position behind it.
struct StoredPoint {
    stream: StreamId,
    position: Cursor,
    time: i64,
    value: f64,
}

impl Memory {
    /// An empty journal with room for so many points.
    pub fn new(room: usize) -> Self {
        Self { points: MemoryPoints::default(), room, receipts: Receipts::new(0), commits: 0 }
    }

    /// Returns its points.
    pub fn points(&self) -> MemoryPoints {
        self.points.clone()
    }

    fn commit(&mut self, batch: &[Append], commit: &mut Commit) -> Result<(), Error> {
        let Self { points, room, receipts, commits } = self;
        let mut stored = points.stored();
        let before = stored.points.len();
        for Append { resource, idempotency, readings } in batch {
            if !stored.has_streams_for(*resource, readings) {
                commit.results.push(Err(Error::Invalid("a resource has at most 64 streams")));
                continue;
            }
            if receipts.is_new(idempotency) {
                for reading in readings {
                    let position = Cursor::from_journal((*commits + 1) << 16 | commit.points as u64);
                    let stream = stored.add(*resource, reading, position);
                    commit.changes.push(Change { stream, first: position, last: position });
                    commit.points += 1;
                }
            }
            commit.results.push(Ok(()));
        }
        if stored.points.len() > *room {
            stored.points.truncate(before);
            return Err(Error::DiskFull("the journal in memory is full".into()));
        }
        Ok(())
    }
}

impl Journal for Memory {
    fn end(&mut self) -> Result<Cursor, Error> {
        Ok(self.points.stored().points.last().map_or(Cursor::START, |point| point.position))
    }

    fn append(&mut self, batch: &[Append], now: i64, commit: &mut Commit) -> Result<(), Error> {
        if self.receipts.is_aged(now) {
            self.receipts.age(now);
        }
        if let Err(error) = self.commit(batch, commit) {
            self.receipts.discard();
            return Err(error);
        }
        self.receipts.keep();
        self.commits += 1;
        commit.end = commit.changes.last().map(|change| change.last);
        commit.changes.sort_unstable_by_key(|change| (change.stream, change.first.for_journal()));
        merge(&mut commit.changes);
        Ok(())
    }
}

impl Stored {
    /// Returns whether there is room for the streams of these readings.
    fn has_streams_for(&self, resource: ResourceId, readings: &[Reading]) -> bool {
        let known = self.streams.get(&resource);
        let is_known = |label: &String| known.is_some_and(|known| known.contains_key(label));
        let mut new: Vec<&String> =
            readings.iter().map(|reading| &reading.stream).filter(|label| !is_known(label)).collect();
        new.sort_unstable();
        new.dedup();
        (known.map_or(0, BTreeMap::len) + new.len()) as i64 <= STREAMS_PER_RESOURCE
    }

    /// Adds a point, and its stream if that is new.
    fn add(&mut self, resource: ResourceId, reading: &Reading, position: Cursor) -> StreamId {
        let Self { streams, count, points } = self;
        let of_resource = streams.entry(resource).or_default();
        let stream = *of_resource.entry(reading.stream.clone()).or_insert_with(|| {
            *count += 1;
            StreamId(*count)
        });
        points.push(StoredPoint { stream, position, time: reading.time, value: reading.value });
        stream
    }
}

impl MemoryPoints {
    /// Returns the points of a stream in the order in which they were stored: the position behind each, its time and its value.
    pub fn of(&self, resource: ResourceId, stream: &str) -> Vec<(Cursor, i64, f64)> {
        let stored = self.stored();
        let Some(stream) = stored.streams.get(&resource).and_then(|streams| streams.get(stream)) else {
            return Vec::new();
        };
        let of_stream = stored.points.iter().filter(|point| point.stream == *stream);
        of_stream.map(|point| (point.position, point.time, point.value)).collect()
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::{self, Readable};
    use super::*;

    impl Readable for Memory {
        fn read(&self, resource: ResourceId, stream: &str) -> Vec<(Cursor, f64)> {
            self.points
                .of(resource, stream)
                .into_iter()
                .map(|(position, _, value)| (position, value))
                .collect()
        }
    }

    #[test]
    fn it_keeps_the_laws_of_journals() {
        laws::check(|| (Memory::new(10_000), ResourceId(7)));
    }

    #[test]
    fn a_batch_that_has_no_room_leaves_nothing() {
        let mut journal = Memory::new(3);
        let mut commit = Commit::default();
        let batch = [laws::post(ResourceId(1), 1, &["a", "b"]), laws::post(ResourceId(1), 2, &["a", "b"])];
        assert!(matches!(journal.append(&batch, 0, &mut commit), Err(Error::DiskFull(_))));
        assert_eq!(journal.read(ResourceId(1), "a"), []);
        commit.clear();
        journal.append(&batch[..1], 0, &mut commit).unwrap();
        assert_eq!(commit.points, 2, "it is no retransmission of what was not stored");
    }
}
