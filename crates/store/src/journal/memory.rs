//! The journal in memory: for tests, and to measure what is around a journal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_expression::{Expression, Point};
use sixlock_ingest::Reading;

use super::append::Append;
use super::commit::{Commit, Journal, Upkeep};
use super::computing::{Definition, Definitions, Run, Span, StoredPoints, WORK_PER_POST};
use super::receipts::Receipts;
use super::stream_rows::STREAMS_PER_RESOURCE;
use crate::changes::{Change, merge};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::{ResourceId, StreamId};
use crate::left_out::{self, LeftOutReason};

/// A journal that lasts as long as the process, of posts of any resource. All its streams are of numbers. When it has no room for a batch,
/// [`Error::DiskFull`].
pub struct Memory {
    points: MemoryPoints,
    /// How many points there may be.
    room: usize,
    receipts: Receipts,
    /// How many commits were made.
    commits: u64,
    computed: BTreeMap<StreamId, Definition>,
    definitions: Definitions,
    /// What of computed streams was put off.
    due: BTreeMap<StreamId, Span>,
    /// How much is computed at once.
    work: usize,
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
        Self {
            points: MemoryPoints::default(),
            room,
            receipts: Receipts::new(0),
            commits: 0,
            computed: BTreeMap::new(),
            definitions: Definitions::default(),
            due: BTreeMap::new(),
            work: WORK_PER_POST,
        }
    }

    /// Has `stream` of `resource` computed from these streams of that resource, none of which is computed from it. What is made of
    /// points that are there already is put off.
    pub fn define(&mut self, resource: ResourceId, stream: &str, expression: Expression, inputs: &[&str]) {
        let mut stored = self.points.stored();
        let inputs = inputs.iter().map(|input| stored.stream(resource, input)).collect();
        let stream = stored.stream(resource, stream);
        drop(stored);
        self.computed.insert(stream, Definition { expression: expression.into(), inputs, kept_from: 0 });
        let definitions = self.computed.iter();
        let definitions = definitions.map(|(stream, definition)| (*stream, Some(definition.clone())));
        self.definitions = Definitions::new(definitions);
        self.due.insert(stream, Span { from: i64::MIN, until: i64::MAX });
    }

    /// Returns its points.
    pub fn points(&self) -> MemoryPoints {
        self.points.clone()
    }

    fn commit(&mut self, batch: &[Append], commit: &mut Commit) -> Result<(), Error> {
        let Self { points, room, receipts, commits, definitions, due, work, .. } = self;
        let mut stored = points.stored();
        let before = stored.points.len();
        let mut changed: BTreeMap<StreamId, BTreeSet<i64>> = BTreeMap::new();
        for Append { resource, idempotency, readings } in batch {
            if !stored.has_streams_for(*resource, readings) {
                commit.results.push(Err(Error::Invalid("a resource has at most 64 streams")));
                continue;
            }
            if stored.is_any_computed(*resource, readings, definitions) {
                commit.results.push(Err(Error::Invalid("a stream that is computed takes no readings")));
                continue;
            }
            let mut outcome = left_out::Stored::default();
            let mut numbers = Vec::with_capacity(readings.len());
            for reading in readings {
                match reading.value.number() {
                    Some(value) => numbers.push((reading, value)),
                    None => outcome.leave_out(&reading.stream, LeftOutReason::NotANumber),
                }
            }
            if receipts.is_new(idempotency) {
                for (reading, value) in numbers {
                    let position = Cursor::from_journal((*commits + 1) << 16 | commit.points as u64);
                    let stream = stored.add(*resource, (reading, value), position);
                    commit.changes.push(Change { stream, first: position, last: position });
                    commit.points += 1;
                    if definitions.is_input(stream) {
                        changed.entry(stream).or_default().insert(reading.time);
                    }
                }
            }
            commit.results.push(Ok(outcome));
        }
        if stored.points.len() > *room {
            stored.points.truncate(before);
            return Err(Error::DiskFull("the journal in memory is full".into()));
        }
        let mut computing =
            Computing { stored: &mut stored, commit: *commits + 1, changes: &mut commit.changes, due };
        let mut run = Run::new(definitions, &mut computing, *work);
        for (stream, times) in &changed {
            run.changed(*stream, times)?;
        }
        run.run()
    }

    /// The points of `commit` are stored: puts them in the order of their streams.
    fn stored(&mut self, commit: &mut Commit) {
        self.commits += 1;
        commit.end = commit.changes.last().map(|change| change.last);
        commit.changes.sort_unstable_by_key(|change| (change.stream, change.first.for_journal()));
        merge(&mut commit.changes);
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
        self.stored(commit);
        Ok(())
    }

    /// What was put off is computing points.
    fn upkeep(&self) -> Upkeep {
        if self.due.is_empty() { Upkeep::None } else { Upkeep::Due }
    }

    fn keep_up(&mut self, _: bool, _: i64, commit: &mut Commit) -> Result<(), Error> {
        let Self { points, commits, definitions, due, work, .. } = self;
        let Some((stream, span)) = due.pop_first() else { return Ok(()) };
        let mut stored = points.stored();
        let changes = &mut commit.changes;
        let mut computing = Computing { stored: &mut stored, commit: *commits + 1, changes, due };
        let mut run = Run::new(definitions, &mut computing, *work);
        run.compute(stream, span);
        run.run()?;
        drop(stored);
        self.stored(commit);
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

    /// Returns whether any of these readings is for a stream that is computed.
    fn is_any_computed(&self, resource: ResourceId, readings: &[Reading], definitions: &Definitions) -> bool {
        let Some(streams) = self.streams.get(&resource) else { return false };
        let mut known = readings.iter().filter_map(|reading| streams.get(&reading.stream));
        known.any(|stream| definitions.is_computed(*stream))
    }

    /// Returns a stream, which is made if it is new.
    fn stream(&mut self, resource: ResourceId, label: &str) -> StreamId {
        let Self { streams, count, .. } = self;
        let of_resource = streams.entry(resource).or_default();
        *of_resource.entry(label.to_owned()).or_insert_with(|| {
            *count += 1;
            StreamId(*count)
        })
    }

    /// Adds a point, and its stream if that is new.
    fn add(&mut self, resource: ResourceId, (reading, value): (&Reading, f64), position: Cursor) -> StreamId {
        let stream = self.stream(resource, &reading.stream);
        self.points.push(StoredPoint { stream, position, time: reading.time, value });
        stream
    }

    /// The points of `stream` in `span`, in their order.
    fn sorted(&self, stream: StreamId, span: Span) -> Vec<Point> {
        let of_stream =
            self.points.iter().filter(|point| point.stream == stream && span.contains(point.time));
        let mut points: Vec<Point> =
            of_stream.map(|point| Point { time: point.time, value: point.value }).collect();
        Point::sort(&mut points);
        points
    }
}

/// The stored points in a commit that is being made.
struct Computing<'a> {
    stored: &'a mut Stored,
    /// The number of the commit.
    commit: u64,
    changes: &'a mut Vec<Change>,
    due: &'a mut BTreeMap<StreamId, Span>,
}

impl StoredPoints for Computing<'_> {
    fn times(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<i64>, Error> {
        let mut times: Vec<i64> = self.stored.sorted(stream, span).iter().map(|point| point.time).collect();
        times.dedup();
        times.truncate(limit);
        Ok(times)
    }

    fn first(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<Point>, Error> {
        let mut points = self.stored.sorted(stream, span);
        points.truncate(limit);
        Ok(points)
    }

    fn last(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<Point>, Error> {
        let mut points = self.stored.sorted(stream, span);
        points.drain(..points.len().saturating_sub(limit));
        Ok(points)
    }

    fn time_behind(&mut self, stream: StreamId, time: i64, number: usize) -> Result<Option<i64>, Error> {
        let later = self.stored.sorted(stream, Span { from: time.saturating_add(1), until: i64::MAX });
        Ok(later.get(number.saturating_sub(1)).map(|point| point.time))
    }

    fn newest(&mut self, stream: StreamId) -> Result<Option<i64>, Error> {
        let of_stream = self.stored.points.iter().filter(|point| point.stream == stream);
        Ok(of_stream.map(|point| point.time).max())
    }

    fn add(&mut self, stream: StreamId, point: Point) -> Result<(), Error> {
        let position = Cursor::from_journal(self.commit << 16 | self.changes.len() as u64);
        let Point { time, value } = point;
        self.stored.points.push(StoredPoint { stream, position, time, value });
        self.changes.push(Change { stream, first: position, last: position });
        Ok(())
    }

    fn remove(&mut self, stream: StreamId, time: i64) -> Result<(), Error> {
        self.stored.points.retain(|point| point.stream != stream || point.time != time);
        Ok(())
    }

    fn put_off(&mut self, stream: StreamId, span: Span) -> Result<(), Error> {
        let due = self.due.entry(stream).or_insert(span);
        *due = Span { from: due.from.min(span.from), until: due.until.max(span.until) };
        Ok(())
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
    use proptest::prelude::*;

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

    /// Ten seconds before a day ends in Stockholm.
    const BEGIN: i64 = 1_800_053_990_000;

    /// Streams that are computed, in the order of their definitions: the expression and its inputs.
    const COMPUTED: [(&str, &str, &[&str]); 9] = [
        ("latest", "t + u", &["t", "u"]),
        ("mean", "mean(t, '3s')", &["t"]),
        ("few", "median(t, '3 points')", &["t"]),
        ("delta", "delta(t) + 0 * u", &["t", "u"]),
        ("smooth", "smooth(u, '4 points')", &["u"]),
        ("day", "count(u, 'day')", &["u"]),
        ("some", "if(t > 0, t, 1 / 0)", &["t"]),
        // Of computed streams, one of which has gaps.
        ("above", "sum(some, '2s') - mean", &["some", "mean"]),
        ("top", "coalesce(rate(above), 0) + max(mean, day, '4s')", &["above", "mean", "day"]),
    ];

    fn define(journal: &mut Memory) {
        for (stream, source, inputs) in COMPUTED {
            let expression = Expression::new(source, inputs, "Europe/Stockholm").unwrap();
            journal.define(ResourceId(7), stream, expression, inputs);
        }
    }

    /// The points of a stream, in their order.
    fn points(journal: &Memory, stream: &str) -> Vec<(i64, f64)> {
        let points = journal.points.of(ResourceId(7), stream);
        let mut points: Vec<(i64, f64)> = points.into_iter().map(|(_, time, value)| (time, value)).collect();
        points.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        points
    }

    /// What the points of the computed streams are by their definition alone: at each time of an input the expression, over all points.
    fn recomputed(journal: &Memory) -> BTreeMap<&'static str, Vec<(i64, f64)>> {
        let mut all: BTreeMap<&str, Vec<(i64, f64)>> = BTreeMap::new();
        all.extend(["t", "u"].map(|stream| (stream, points(journal, stream))));
        for (stream, source, inputs) in COMPUTED {
            let expression = Expression::new(source, inputs, "Europe/Stockholm").unwrap();
            let of = |input: &&str| all[input].iter().map(|&(time, value)| Point { time, value }).collect();
            let histories: Vec<Vec<Point>> = inputs.iter().map(of).collect();
            let times: BTreeSet<i64> = histories.iter().flatten().map(|point| point.time).collect();
            let histories: Vec<&[Point]> = histories.iter().map(Vec::as_slice).collect();
            let value = |time| Some((time, expression.evaluate(time, &histories).value?));
            all.insert(stream, times.into_iter().filter_map(value).collect());
        }
        all
    }

    fn check(journal: &Memory) -> Result<(), TestCaseError> {
        for (stream, expected) in recomputed(journal) {
            prop_assert_eq!(points(journal, stream), expected, "{}", stream);
        }
        Ok(())
    }

    /// Does so many parts of what was put off, or all.
    fn keep_up(journal: &mut Memory, rounds: usize) -> Result<(), TestCaseError> {
        for round in 0..rounds {
            if journal.upkeep() == Upkeep::None {
                break;
            }
            prop_assert!(round < 10_000, "it never ends");
            journal.keep_up(true, 0, &mut Commit::default()).unwrap();
        }
        Ok(())
    }

    /// Posts of one or more readings each: late ones, and ones of the same millisecond.
    fn posts() -> impl Strategy<Value = Vec<Vec<(bool, i64, i32)>>> {
        let reading = (any::<bool>(), 0..40i64, -3..9i32);
        prop::collection::vec(prop::collection::vec(reading, 1..6), 1..25)
    }

    fn append(number: usize, readings: &[(bool, i64, i32)]) -> Append {
        let reading = |&(is_t, time, value): &(bool, i64, i32)| Reading {
            stream: if is_t { "t" } else { "u" }.into(),
            unit: None,
            time: BEGIN + time * 500,
            value: f64::from(value).into(),
        };
        let Append { resource, idempotency, .. } = laws::post(ResourceId(7), number as u16, &[]);
        Append { resource, idempotency, readings: readings.iter().map(reading).collect() }
    }

    proptest! {
        /// In whatever order posts come, in however many commits, sent twice or not, and however little is computed at once.
        #[test]
        fn computed_points_are_what_a_recomputation_from_the_posted_ones_gives(
            posts in posts(),
            order in any::<prop::sample::Index>(),
            batch in 1..5usize,
            work in prop_oneof![Just(WORK_PER_POST), 1..60usize],
            defined_after in any::<prop::sample::Index>(),
            rounds in prop_oneof![Just(0), 1..20usize, Just(usize::MAX)],
        ) {
            let mut journal = Memory { work, ..Memory::new(10_000) };
            let mut appends: Vec<Append> =
                posts.iter().enumerate().map(|(number, readings)| append(number, readings)).collect();
            let again = appends.clone();
            appends.rotate_left(order.index(posts.len()));
            appends.extend(again.into_iter().step_by(2));
            let defined_after = defined_after.index(appends.len());
            let (before, after) = appends.split_at(defined_after);
            for batch in before.chunks(batch) {
                journal.append(batch, 0, &mut Commit::default()).unwrap();
            }
            define(&mut journal);
            for batch in after.chunks(batch) {
                keep_up(&mut journal, rounds)?;
                journal.append(batch, 0, &mut Commit::default()).unwrap();
            }
            keep_up(&mut journal, usize::MAX)?;
            check(&journal)?;
        }
    }

    #[test]
    fn what_is_computed_is_there_with_the_commit_of_the_post_and_told_once() {
        let mut journal = Memory::new(10_000);
        define(&mut journal);
        while journal.upkeep() != Upkeep::None {
            journal.keep_up(true, 0, &mut Commit::default()).unwrap();
        }
        for number in 0..5 {
            let mut commit = Commit::default();
            let post = append(number, &[(true, number as i64, 2), (false, number as i64, 3)]);
            journal.append(std::slice::from_ref(&post), 0, &mut commit).unwrap();
            check(&journal).unwrap();
            // Both readings of the post matter to `latest`, which is computed once nevertheless.
            assert_eq!((commit.points, points(&journal, "latest").len()), (2, number + 1));
            let all = ["t", "u"].into_iter().chain(COMPUTED.map(|(stream, ..)| stream));
            let new = all.filter(|stream| {
                points(&journal, stream).last().is_some_and(|last| last.0 == BEGIN + number as i64 * 500)
            });
            let once = commit.changes.iter().filter(|change| change.first == change.last).count();
            let new = new.count();
            assert_eq!((commit.changes.len(), once, journal.upkeep()), (new, new, Upkeep::None));
            let mut again = Commit::default();
            journal.append(&[post], 0, &mut again).unwrap();
            assert_eq!((again.points, again.changes.len()), (0, 0), "a duplicate computes nothing");
        }
        // A late post changes what its windows touch, and nothing else.
        let mut commit = Commit::default();
        journal.append(&[append(9, &[(true, 1, 5)])], 0, &mut commit).unwrap();
        check(&journal).unwrap();
        let untouched = points(&journal, "smooth").len();
        assert_eq!(untouched, 5);
        let refused = Append {
            readings: vec![Reading { stream: "mean".into(), unit: None, time: 0, value: 0.0.into() }],
            ..append(10, &[])
        };
        let mut commit = Commit::default();
        journal.append(&[refused], 0, &mut commit).unwrap();
        assert!(matches!(commit.results[..], [Err(Error::Invalid(_))]));
    }
}
