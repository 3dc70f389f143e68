//! Texts of points: they are as durable as these, and gone when these are.

use std::path::Path;
use std::time::{Duration, Instant};

use sixlock_store::{
    Append, Device, HOUR_MS, Idempotency, LONGEST_PAGE, Page, Point, Reading, ResourceId, RetentionChange,
    Store, StreamId, Summary, Value, Width, Windows, Writer, now_ms,
};
use sixlock_testing::crash::copy;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, SqliteConnection};

async fn begin(directory: &Path) -> (Store, Writer, ResourceId) {
    let (store, writer) = Store::open(directory).await.unwrap();
    let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap().id;
    let resource = store.enrol(user, Device::named("node")).await.unwrap().resource.id;
    (store, writer, resource)
}

/// Posts a text of the stream `t`, the number of its place, at each of these times, and as many numbers.
async fn post(store: &Store, resource: ResourceId, times: &[i64]) {
    let readings = times.iter().enumerate().flat_map(|(place, &time)| {
        let text = Value::Text(format!("text {place}"));
        [("t", text), ("n", Value::Number(place as f64))].map(|(stream, value)| Reading {
            stream: stream.into(),
            unit: None,
            time,
            value,
        })
    });
    let readings: Vec<Reading> = readings.collect();
    for readings in readings.chunks(256) {
        let (idempotency, readings) = (Idempotency::unique().unwrap(), readings.to_vec());
        store.append(Append { resource, idempotency, readings }).await.unwrap();
    }
}

async fn id(store: &Store, resource: ResourceId) -> StreamId {
    store.stream(resource, "t").await.unwrap().unwrap().id
}

async fn points(store: &Store, stream: StreamId) -> Vec<Point> {
    store.points(stream, Page { limit: LONGEST_PAGE, from: Some(0), until: None }).await.unwrap()
}

fn text(place: i64) -> Value {
    Value::Text(format!("text {place}"))
}

async fn hours(store: &Store, stream: StreamId) -> Vec<Summary> {
    let windows = Windows { width: Width::Span(HOUR_MS), limit: LONGEST_PAGE, from: Some(0), until: None };
    store.windows(stream, &windows).await.unwrap()
}

/// How many texts there are in the database, whosever they are.
async fn stored(directory: &Path) -> i64 {
    let options = SqliteConnectOptions::new().filename(directory.join("sixlock.db"));
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query_scalar("SELECT count(*) FROM texts").fetch_one(&mut connection).await.unwrap()
}

/// Waits until something holds.
async fn until<F: Future<Output = bool>>(holds: impl Fn() -> F) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < Duration::from_secs(60), "it never holds");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_outlive_a_crash_and_go_with_their_points_their_stream_and_their_device() {
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, _writer, resource) = begin(before.path()).await;
    let times: Vec<i64> = (0..300).map(|n| n * 1_000).collect();
    post(&store, resource, &times).await;
    copy(before.path(), after.path());

    let (store, _writer) = Store::open(after.path()).await.unwrap();
    let stream = id(&store, resource).await;
    let expected: Vec<Point> =
        times.iter().zip(0..).map(|(&time, place)| Point { time, value: text(place) }).collect();
    assert_eq!(points(&store, stream).await, expected);
    assert_eq!(store.latest(resource).await.unwrap()[&stream].value, text(299));
    store.delete_points(stream, Some(100_000), Some(200_000)).await.unwrap();
    let left: Vec<Point> = [&expected[..100], &expected[200..]].concat();
    assert_eq!((points(&store, stream).await, stored(after.path()).await), (left, 200));
    store.delete_stream(stream).await.unwrap();
    assert_eq!(stored(after.path()).await, 0, "a stream that is deleted leaves texts");
    post(&store, resource, &times).await;
    let again = id(&store, resource).await;
    assert_eq!((points(&store, again).await, stored(after.path()).await), (expected, 300));
    store.delete_resource(resource).await.unwrap();
    assert_eq!(stored(after.path()).await, 0, "a device that is deleted leaves texts");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_texts_that_are_not_kept_the_ends_of_each_hour_stay_as_long_as_its_rollup() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, resource) = begin(directory.path()).await;
    let now = now_ms();
    let begin = now / HOUR_MS * HOUR_MS - 20 * HOUR_MS;
    // Six in each of 20 hours.
    let times: Vec<i64> = (0..120).map(|n| begin + n * HOUR_MS / 6).collect();
    post(&store, resource, &times).await;
    let stream = id(&store, resource).await;
    store.close().await;
    writer.ended().await.unwrap();
    drop(store);
    let (store, _writer) = Store::open(directory.path()).await.unwrap();
    until(async || store.rolled_up(stream).await.unwrap() >= Some(begin + 20 * HOUR_MS)).await;
    let before = hours(&store, stream).await;
    let ends = |hour: &Summary| (hour.count, hour.first.clone(), hour.last.clone());
    assert_eq!(
        before.iter().map(ends).collect::<Vec<_>>(),
        (0..20).map(|n| (6, text(6 * n), text(6 * n + 5))).collect::<Vec<_>>()
    );
    assert!(before.iter().all(|hour| hour.numbers.is_none()), "texts have no mean");

    let keep =
        RetentionChange { keep_s: Some(Some(10 * 3_600)), discard: true, ..RetentionChange::default() };
    store.change_retention(stream, keep, now).await.unwrap();
    until(async || points(&store, stream).await.len() == 60).await;
    assert_eq!(points(&store, stream).await[0], Point { time: times[60], value: text(60) });
    assert_eq!((hours(&store, stream).await, stored(directory.path()).await), (before.clone(), 60 + 2 * 10));

    // A span without width, or that ends before it begins, deletes nothing.
    for (from, until) in [(begin + HOUR_MS / 2, begin + HOUR_MS / 2), (begin + 2_000, begin + 1_000)] {
        assert_eq!(store.delete_points(stream, Some(from), Some(until)).await.unwrap(), 0);
        assert_eq!(
            (hours(&store, stream).await, stored(directory.path()).await),
            (before.clone(), 60 + 2 * 10)
        );
    }
    // What is deleted leaves no trace, also of hours whose points are not kept.
    store.delete_points(stream, Some(begin + HOUR_MS / 2), Some(begin + HOUR_MS)).await.unwrap();
    assert_eq!(
        (hours(&store, stream).await, stored(directory.path()).await),
        (before[1..].to_vec(), 60 + 2 * 9)
    );
    let keep = RetentionChange {
        keep_rollups_s: Some(Some(15 * 3_600)),
        discard: true,
        ..RetentionChange::default()
    };
    store.change_retention(stream, keep, now).await.unwrap();
    until(async || hours(&store, stream).await.len() == 15).await;
    assert_eq!(
        (hours(&store, stream).await, stored(directory.path()).await),
        (before[5..].to_vec(), 60 + 2 * 5)
    );
    store.delete_points(stream, None, None).await.unwrap();
    assert_eq!((hours(&store, stream).await, stored(directory.path()).await), (vec![], 0));
}

#[tokio::test]
async fn a_text_that_no_stream_takes_settles_the_type_of_none() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, resource) = begin(directory.path()).await;
    let post = async |value: Value| {
        let readings = vec![Reading { stream: "t".into(), unit: None, time: 1, value }];
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource, idempotency, readings }).await
    };
    for refused in ["x".repeat(161), "two\u{2028}lines".into(), "two\nlines".into()] {
        assert!(post(Value::Text(refused)).await.is_err());
        assert_eq!(store.stream(resource, "t").await.unwrap(), None);
    }
    post(Value::Number(7.0)).await.unwrap();
    let stream = id(&store, resource).await;
    assert_eq!(points(&store, stream).await, [Point { time: 1, value: Value::Number(7.0) }]);
    // Now there is one, which says why.
    assert!(post(Value::Text("warm".into())).await.is_err());
}
