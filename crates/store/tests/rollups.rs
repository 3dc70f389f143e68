//! Windows of points: whatever the order of posts, whatever is deleted, what is read of them is what a recomputation from the points gives.

mod killed;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use killed::post_and_kill;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sixlock_store::{
    Append, Computation, Device, Error, Idempotency, InputReference, LONGEST_PAGE, NumberSummary, Page,
    Reading, ResourceId, Store, StreamId, Summary, UserId, ValueType, Width, Windows, Writer, Zone, now_ms,
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// The evening before clocks were put back in Stockholm.
const BEGIN: i64 = 1_698_516_000_000;

async fn begin(directory: &Path) -> (Store, Writer, (UserId, ResourceId)) {
    let (store, writer) = Store::open(directory).await.unwrap();
    let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap().id;
    let resource = enrol(&store, user, "node").await;
    (store, writer, (user, resource))
}

async fn enrol(store: &Store, user: UserId, label: &str) -> ResourceId {
    store.enrol(user, Device::named(label)).await.unwrap().resource.id
}

/// The next cloud on the same data.
async fn reopen(directory: &Path, (store, writer): (Store, Writer)) -> (Store, Writer) {
    store.close().await;
    writer.ended().await.unwrap();
    drop(store);
    Store::open(directory).await.unwrap()
}

async fn post(store: &Store, resource: ResourceId, readings: &[(i64, f64)]) {
    for readings in readings.chunks(256) {
        let reading = |&(time, value): &(i64, f64)| Reading {
            stream: "t".into(),
            unit: None,
            time,
            value: value.into(),
        };
        let readings = readings.iter().map(reading).collect();
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource, idempotency, readings }).await.unwrap();
    }
}

async fn id(store: &Store, resource: ResourceId, stream: &str) -> StreamId {
    store.stream(resource, stream).await.unwrap().unwrap().id
}

/// Waits until all is rolled up that is so old.
async fn rolled_up(store: &Store, stream: StreamId, until: i64) {
    let began = Instant::now();
    while store.rolled_up(stream).await.unwrap() < Some(until) {
        assert!(began.elapsed() < Duration::from_secs(60), "{stream:?} is not rolled up");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn all(store: &Store, stream: StreamId, width: Width) -> Vec<Summary> {
    let windows = Windows { width, limit: LONGEST_PAGE, from: Some(0), until: None };
    store.windows(stream, &windows).await.unwrap()
}

/// What the points of `stream` amount to, from the points alone.
async fn recomputed(store: &Store, stream: StreamId, width: &Width) -> Vec<Summary> {
    let page = Page { limit: LONGEST_PAGE, from: Some(0), until: None };
    let points = store.points(stream, page).await.unwrap();
    assert!((points.len() as i64) < LONGEST_PAGE);
    let mut windows: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for point in points {
        let start = match width {
            Width::Span(width) => point.time / width * width,
            Width::Day(zone) => zone.day_began(point.time).unwrap(),
        };
        windows.entry(start).or_default().push(point.value.number().unwrap());
    }
    let summary = |(time, values): (i64, Vec<f64>)| {
        let sum: f64 = values.iter().sum();
        Summary {
            time,
            count: values.len() as i64,
            numbers: Some(NumberSummary {
                min: values.iter().copied().fold(f64::INFINITY, f64::min),
                max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                mean: sum / values.len() as f64,
                sum,
            }),
            first: values[0].into(),
            last: values[values.len() - 1].into(),
        }
    };
    windows.into_iter().map(summary).collect()
}

fn widths() -> Vec<Width> {
    let zone = |name| Width::Day(Zone::new(name).unwrap());
    let spans = [7 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, DAY].map(Width::Span);
    let days = ["UTC", "Europe/Stockholm", "-05:30", "+05:45"].map(zone);
    spans.into_iter().chain(days).collect()
}

fn numbers(summary: &Summary) -> NumberSummary {
    summary.numbers.unwrap()
}

/// Sums may differ in their last digits: meanwhile, points are rolled up.
fn assert_same(read: &[Summary], expected: &[Summary], width: &Width) {
    assert_eq!(read.len(), expected.len(), "{width:?}");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
    for (read, expected) in read.iter().zip(expected) {
        let (numbers, known) = (numbers(read), numbers(expected));
        let is_near = near(numbers.sum, known.sum) && near(numbers.mean, known.mean);
        assert!(is_near, "{width:?} {read:?} {expected:?}");
        let numbers = Some(NumberSummary { sum: known.sum, mean: known.mean, ..numbers });
        assert_eq!(Summary { numbers, ..read.clone() }, *expected, "{width:?}");
    }
}

async fn check(store: &Store, stream: StreamId) {
    for width in widths() {
        let (read, expected) =
            (all(store, stream, width.clone()).await, recomputed(store, stream, &width).await);
        assert_same(&read, &expected, &width);
        // Pages from either end are parts of it.
        for limit in [1, 3] {
            let page = Windows { width: width.clone(), limit, from: Some(0), until: None };
            let count = read.len().min(limit as usize);
            assert_same(&store.windows(stream, &page).await.unwrap(), &read[..count], &width);
            let page = Windows { from: None, ..page };
            assert_same(&store.windows(stream, &page).await.unwrap(), &read[read.len() - count..], &width);
        }
    }
}

/// What is done to a stream.
#[derive(Clone, Debug)]
enum Operation {
    /// A post, which is sent twice or not: the minutes, and the values.
    Post(Vec<(i64, i32)>, bool),
    /// The points from one minute to another are deleted.
    Delete(i64, i64),
    /// All that there is is rolled up.
    RollUp,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    const MINUTES: i64 = 3 * 24 * 60;
    let reading = (0..MINUTES, -300..900i32);
    let near = (0..MINUTES, -300..900i32, 1..40i64).prop_map(|(first, value, count)| {
        (0..count).map(|n| (first + n / 2, value + n as i32)).collect::<Vec<_>>()
    });
    let operation = prop_oneof![
        6 => (prop_oneof![prop::collection::vec(reading, 1..40), near], any::<bool>())
            .prop_map(|(readings, again)| Operation::Post(readings, again)),
        2 => (0..MINUTES, 0..400i64).prop_map(|(from, length)| Operation::Delete(from, from + length)),
        1 => Just(Operation::RollUp),
    ];
    prop::collection::vec(operation, 1..24)
}

#[test]
fn windows_are_what_a_recomputation_from_the_points_gives() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, (user, _)) = runtime.block_on(begin(directory.path()));
    let cloud = std::cell::RefCell::new(Some((store, writer)));
    let number = std::cell::Cell::new(0);
    let config = Config { cases: 16, failure_persistence: None, max_shrink_iters: 20, ..Config::default() };
    let run = TestRunner::new(config).run(&operations(), |operations| {
        number.set(number.get() + 1);
        runtime.block_on(async {
            let (mut store, mut writer) = cloud.take().unwrap();
            let resource = enrol(&store, user, &format!("node-{}", number.get())).await;
            store.add_stream(resource, ("t", None, ""), ValueType::Number).await.unwrap();
            let t = InputReference { resource: None, stream: "t".into() };
            let (expression, time_zone) = ("mean(t, '20m')".into(), "UTC".into());
            let computation = Computation { expression, time_zone, inputs: [("t".into(), t)].into() };
            let computed = store.add_computed_stream((user, resource), ("mean", None, ""), &computation);
            let streams = [id(&store, resource, "t").await, computed.await.unwrap().stream.id];
            for operation in operations {
                match operation {
                    Operation::Post(readings, again) => {
                        let reading = |&(minute, value): &(i64, i32)| Reading {
                            stream: "t".into(),
                            unit: None,
                            time: BEGIN + minute * MINUTE,
                            value: (f64::from(value) / 7.0).into(),
                        };
                        let readings = readings.iter().map(reading).collect();
                        let idempotency = Idempotency::unique().unwrap();
                        let append = Append { resource, idempotency, readings };
                        store.append(append.clone()).await.unwrap();
                        if again {
                            store.append(append).await.unwrap();
                        }
                    }
                    Operation::Delete(from, until) => {
                        // Not at the beginnings of minutes.
                        let (from, until) = (BEGIN + from * MINUTE + 1, BEGIN + until * MINUTE + 1);
                        store.delete_points(streams[0], Some(from), Some(until)).await.unwrap();
                    }
                    Operation::RollUp => {
                        (store, writer) = reopen(directory.path(), (store, writer)).await;
                        let page = Page { limit: 1, from: Some(0), until: None };
                        if !store.points(streams[0], page).await.unwrap().is_empty() {
                            rolled_up(&store, streams[0], BEGIN).await;
                        }
                        check(&store, streams[0]).await;
                    }
                }
            }
            while store.computed_stream(streams[1]).await.unwrap().unwrap().backfill.is_some() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            for stream in streams {
                check(&store, stream).await;
            }
            cloud.replace(Some((store, writer)));
        });
        Ok(())
    });
    run.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn old_points_are_rolled_up_a_part_at_a_time_and_posts_are_served_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, (_, resource)) = begin(directory.path()).await;
    const POINTS: i64 = 40_000;
    let readings: Vec<(i64, f64)> = (0..POINTS).map(|n| (BEGIN + n * 1_000, n as f64)).collect();
    post(&store, resource, &readings).await;
    let stream = id(&store, resource, "t").await;
    let before = all(&store, stream, Width::Span(HOUR)).await;
    let (store, _writer) = reopen(directory.path(), (store, writer)).await;
    let mut seen = Vec::new();
    while store.rolled_up(stream).await.unwrap() < Some(BEGIN + POINTS * 1_000) {
        // What is read of old points does not change with it, and new ones are there at once.
        let time = BEGIN + 2 * DAY + seen.len() as i64 * HOUR;
        post(&store, resource, &[(time, 1.0)]).await;
        let read = all(&store, stream, Width::Span(HOUR)).await;
        assert_eq!(read[..before.len()], before);
        seen.push(store.rolled_up(stream).await.unwrap());
        assert_eq!((read.last().unwrap().count, read.len()), (1, before.len() + seen.len()));
    }
    assert!(seen.is_sorted(), "{seen:?}");
    check_hours(&before, POINTS);
    // Rolled up, or not: what came late is in it.
    post(&store, resource, &[(BEGIN + 1, 50_000.0)]).await;
    let read = all(&store, stream, Width::Span(HOUR)).await;
    assert_eq!((read[0].count, numbers(&read[0]).max), (3_601, 50_000.0));
    store.delete_points(stream, Some(BEGIN + 1), Some(BEGIN + 2)).await.unwrap();
    assert_eq!(all(&store, stream, Width::Span(HOUR)).await[0], before[0]);
}

fn check_hours(hours: &[Summary], points: i64) {
    for (n, hour) in (0..).zip(hours) {
        let (first, last) = (n * 3_600, ((n + 1) * 3_600).min(points) - 1);
        assert_eq!((hour.time, hour.count), (BEGIN + n * HOUR, last - first + 1));
        let NumberSummary { min, max, mean, .. } = numbers(hour);
        assert_eq!((hour.first.number(), hour.last.number()), (Some(first as f64), Some(last as f64)));
        assert_eq!((min, max), (first as f64, last as f64));
        assert!((mean - (first + last) as f64 / 2.0).abs() < 1e-6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_takes_its_rollups_with_it_and_what_is_yet_to_come_is_not_rolled_up() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, (_, resource)) = begin(directory.path()).await;
    let now = now_ms();
    post(&store, resource, &[(BEGIN, 1.0), (BEGIN, 2.0), (now + HOUR, 3.0)]).await;
    let stream = id(&store, resource, "t").await;
    let (store, _writer) = reopen(directory.path(), (store, writer)).await;
    rolled_up(&store, stream, BEGIN).await;
    assert!(store.rolled_up(stream).await.unwrap().unwrap() <= now + HOUR);
    let hours = all(&store, stream, Width::Span(HOUR)).await;
    assert_eq!(
        hours.iter().map(|hour| (hour.count, hour.first.number().unwrap())).collect::<Vec<_>>(),
        [(2, 1.0), (1, 3.0)]
    );
    store.delete_stream(stream).await.unwrap();
    assert_eq!(store.rolled_up(stream).await.unwrap(), None);
    post(&store, resource, &[(BEGIN + 1, 9.0)]).await;
    let again = id(&store, resource, "t").await;
    assert_eq!(all(&store, again, Width::Span(HOUR)).await.len(), 1);
    assert_eq!(all(&store, stream, Width::Span(HOUR)).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_that_are_far_apart_are_found_and_too_many_points_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, (_, resource)) = begin(directory.path()).await;
    let readings: Vec<(i64, f64)> = (0..200).map(|n| (n * n * DAY, n as f64)).collect();
    post(&store, resource, &readings).await;
    let stream = id(&store, resource, "t").await;
    let window =
        |width, limit, from| Windows { width: Width::Span(width), limit, from, until: Some(50_000 * DAY) };
    let firsts = async |windows: Windows| -> Vec<f64> {
        store
            .windows(stream, &windows)
            .await
            .unwrap()
            .iter()
            .map(|window| window.first.number().unwrap())
            .collect()
    };
    let numbers = |range: std::ops::Range<i32>| range.map(f64::from).collect::<Vec<_>>();
    for width in [1_000, MINUTE, HOUR] {
        assert_eq!(firsts(window(width, 150, Some(0))).await, numbers(0..150));
        assert_eq!(firsts(window(width, 150, None)).await, numbers(50..200));
        assert_eq!(firsts(window(width, 150, Some(100 * DAY))).await, numbers(10..160));
    }
    let until = Windows { until: Some(9 * DAY), ..window(HOUR, 150, Some(DAY + 1)) };
    assert_eq!(firsts(until).await, [1.0, 2.0], "the first window is whole, and the last one begins before");
}

/// How long a year's chart takes: `cargo test --release -p sixlock-store --test rollups -- --ignored --nocapture year`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: it stores a year of readings"]
async fn a_years_chart_of_a_reading_a_minute_is_read_from_rollups() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, (_, resource)) = begin(directory.path()).await;
    const POINTS: i64 = 365 * 24 * 60;
    let readings: Vec<(i64, f64)> = (0..POINTS).map(|n| (BEGIN + n * MINUTE, (n % 1440) as f64)).collect();
    let began = Instant::now();
    post(&store, resource, &readings).await;
    println!("{POINTS} points stored in {:?}", began.elapsed());
    let stream = id(&store, resource, "t").await;
    let (store, _writer) = reopen(directory.path(), (store, writer)).await;
    let began = Instant::now();
    rolled_up(&store, stream, BEGIN + POINTS * MINUTE).await;
    println!("rolled up in {:?}", began.elapsed());
    let stockholm = Width::Day(Zone::new("Europe/Stockholm").unwrap());
    for (name, width) in [
        ("6 hours", Width::Span(6 * HOUR)),
        ("1 hour", Width::Span(HOUR)),
        ("1 day", Width::Span(DAY)),
        ("day in Stockholm", stockholm),
        ("1 hour and a minute, from points", Width::Span(HOUR + MINUTE)),
    ] {
        for _ in 0..3 {
            let began = Instant::now();
            let windows = all(&store, stream, width.clone()).await;
            println!("a year by {name}: {} windows in {:?}", windows.len(), began.elapsed());
            assert_eq!(windows.iter().map(|window| window.count).sum::<i64>(), POINTS);
        }
    }
    let windows = Windows { width: Width::Span(MINUTE), limit: 10, from: Some(0), until: None };
    assert!(!matches!(store.windows(stream, &windows).await, Err(Error::Invalid(_))));
}

const KILLED: [&str; 3] =
    ["SIXLOCK_TEST_ROLLUPS_FOLDER", "SIXLOCK_TEST_ROLLUPS_RESOURCE", "SIXLOCK_TEST_ROLLUPS_FIRST"];

/// The readings of the post of this number by the process whose first one was `first`: some for a stream that all share, out of order, and
/// some for one of its own.
fn readings(number: i64, first: i64) -> Vec<Reading> {
    let reading = |n: i64| {
        let place = (number * 7_919 + n * 104_729).rem_euclid(200_000);
        let stream = if n % 2 == 0 { "t".to_owned() } else { format!("s{first}") };
        Reading {
            stream,
            unit: None,
            time: BEGIN + place * MINUTE / 2,
            value: ((place % 997) as f64 / 3.0).into(),
        }
    };
    (0..250).map(reading).collect()
}

/// Started by the test below, which kills it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "part of another test"]
async fn posts_until_it_is_killed() {
    let [Ok(folder), Ok(resource), Ok(first)] = KILLED.map(std::env::var) else { return };
    let (resource, first): (i64, i64) = (resource.parse().unwrap(), first.parse().unwrap());
    let (store, _writer) = Store::open(Path::new(&folder)).await.unwrap();
    for number in first.. {
        let idempotency = Idempotency::unique().unwrap();
        let readings = readings(number, first);
        store.append(Append { resource: ResourceId(resource), idempotency, readings }).await.unwrap();
        println!("stored {number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_it_was_killed_windows_are_what_a_recomputation_from_the_points_gives() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, mut writer, (_, resource)) = begin(directory.path()).await;
    let mut acknowledged = 0;
    for round in 0..8 {
        store.close().await;
        writer.ended().await.unwrap();
        drop(store);
        let folder = directory.path().to_str().unwrap().to_owned();
        let values = [folder, resource.0.to_string(), acknowledged.to_string()];
        acknowledged = post_and_kill(KILLED.into_iter().zip(values), acknowledged, 1 + round * 11 % 29);

        (store, writer) = Store::open(directory.path()).await.unwrap();
        let mut points = 0;
        for stream in store.streams(resource).await.unwrap() {
            let hours = all(&store, stream.id, Width::Span(HOUR)).await;
            points += hours.iter().map(|hour| hour.count).sum::<i64>();
            check_all(&store, stream.id, &hours).await;
            rolled_up(&store, stream.id, BEGIN + 1).await;
            check_all(&store, stream.id, &hours).await;
        }
        // The last one may have been stored, and not acknowledged.
        assert!([acknowledged * 250, acknowledged * 250 + 250].contains(&points), "round {round}: {points}");
        acknowledged = points / 250;
    }
}

/// Compares hours with what their points amount to, however many these are.
async fn check_all(store: &Store, stream: StreamId, hours: &[Summary]) {
    assert_eq!(all(store, stream, Width::Span(HOUR)).await.len(), hours.len());
    let mut points: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let (mut from, mut count) = (0, 0);
    loop {
        let page = Page { limit: LONGEST_PAGE, from: Some(from), until: Some(from + 10 * DAY) };
        let found = store.points(stream, page).await.unwrap();
        assert!((found.len() as i64) < LONGEST_PAGE);
        count += found.len() as i64;
        for point in &found {
            points.entry(point.time / HOUR * HOUR).or_default().push(point.value.number().unwrap());
        }
        from = if from == 0 { BEGIN } else { from + 10 * DAY };
        if from > BEGIN + 100_000 * MINUTE {
            break;
        }
    }
    assert_eq!(count, hours.iter().map(|hour| hour.count).sum::<i64>());
    for (hour, (time, values)) in hours.iter().zip(points) {
        assert_eq!((hour.time, hour.count), (time, values.len() as i64));
        assert_eq!((hour.first.number(), hour.last.number()), (Some(values[0]), values.last().copied()));
        assert!((numbers(hour).sum - values.iter().sum::<f64>()).abs() < 1e-6);
    }
}
