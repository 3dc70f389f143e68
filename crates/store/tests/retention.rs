//! How long points are kept: what is not kept goes, a part at a time, and nothing else.

use std::path::Path;
use std::time::{Duration, Instant};

use sixlock_store::{
    Append, Computation, Device, Error, Idempotency, InputReference, LONGEST_PAGE, LeftOut, LeftOutReason,
    Page, Point, Reading, ResourceId, Retention, RetentionChange, Store, Stored, StreamId, Summary, UserId,
    ValueType, Width, Windows, Writer, now_ms,
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

async fn begin(directory: &Path) -> (Store, Writer, (UserId, ResourceId)) {
    let (store, writer) = Store::open(directory).await.unwrap();
    let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap().id;
    let resource = store.enrol(user, Device::named("node")).await.unwrap().resource.id;
    (store, writer, (user, resource))
}

async fn reopen(directory: &Path, (store, writer): (Store, Writer)) -> (Store, Writer) {
    store.close().await;
    writer.ended().await.unwrap();
    drop(store);
    Store::open(directory).await.unwrap()
}

fn append(resource: ResourceId, readings: &[(&str, i64, f64)]) -> Append {
    let reading = |&(stream, time, value): &(&str, i64, f64)| Reading {
        stream: stream.into(),
        unit: None,
        time,
        value: value.into(),
    };
    let readings = readings.iter().map(reading).collect();
    Append { resource, idempotency: Idempotency::unique().unwrap(), readings }
}

async fn post(store: &Store, resource: ResourceId, readings: &[(&str, i64, f64)]) {
    for readings in readings.chunks(256) {
        assert_eq!(store.append(append(resource, readings)).await.unwrap(), Stored::default());
    }
}

async fn id(store: &Store, resource: ResourceId, stream: &str) -> StreamId {
    store.stream(resource, stream).await.unwrap().unwrap().id
}

async fn points(store: &Store, stream: StreamId) -> Vec<Point> {
    let page = Page { limit: LONGEST_PAGE, from: Some(0), until: None };
    store.points(stream, page).await.unwrap()
}

async fn times(store: &Store, stream: StreamId) -> Vec<i64> {
    points(store, stream).await.into_iter().map(|point| point.time).collect()
}

async fn hours(store: &Store, stream: StreamId) -> Vec<Summary> {
    let windows = Windows { width: Width::Span(HOUR), limit: LONGEST_PAGE, from: Some(0), until: None };
    store.windows(stream, &windows).await.unwrap()
}

async fn retention(store: &Store, stream: StreamId) -> Retention {
    store.retention(stream).await.unwrap().unwrap()
}

/// Waits until something holds.
async fn until<F: Future<Output = bool>>(holds: impl Fn() -> F) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < Duration::from_secs(60), "it never holds");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

const DISCARD: RetentionChange = RetentionChange {
    keep_s: None,
    history_size: None,
    keep_rollups_s: None,
    is_frozen: None,
    discard: true,
};

fn left_out(stream: &str, why: LeftOutReason, points: usize) -> LeftOut {
    LeftOut { stream: stream.into(), why, points }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_older_than_is_kept_goes_and_its_hours_stay_also_after_restarts() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, mut writer, (_, resource)) = begin(directory.path()).await;
    let now = now_ms();
    let begin = now / HOUR * HOUR - 40 * HOUR;
    // A reading each 5 s for 40 hours.
    let readings: Vec<(&str, i64, f64)> = (0..40 * 720).map(|n| ("t", begin + n * 5_000, n as f64)).collect();
    post(&store, resource, &readings).await;
    post(&store, resource, &[("other", begin, 1.0)]).await;
    let (stream, other) = (id(&store, resource, "t").await, id(&store, resource, "other").await);
    let before = hours(&store, stream).await;
    assert_eq!(before.len(), 40);

    let keep = RetentionChange { keep_s: Some(Some(10 * 3_600)), ..RetentionChange::default() };
    let refused = store.change_retention(stream, keep, now).await;
    let kept_from = (now - 10 * HOUR) / HOUR * HOUR;
    let discarded = (kept_from - begin) / 5_000;
    assert!(
        matches!(refused, Err(Error::Discards { points, rollups: 0 }) if points == discarded),
        "{refused:?}"
    );
    assert_eq!(retention(&store, stream).await.keep_s, None, "nothing was changed");
    let changed =
        store.change_retention(stream, RetentionChange { discard: true, ..keep }, now).await.unwrap();
    assert_eq!(changed.keep_s, Some(36_000));
    let left = Page { limit: 1, from: Some(0), until: Some(kept_from) };
    let mut restarts = 0;
    while !store.points(stream, left).await.unwrap().is_empty() {
        // What is read of hours is the same all the while, and posts are stored.
        assert_eq!(hours(&store, stream).await, before);
        post(&store, resource, &[("other", begin + restarts, 1.0)]).await;
        if restarts < 3 {
            (store, writer) = reopen(directory.path(), (store, writer)).await;
            restarts += 1;
        }
    }
    assert_eq!(hours(&store, stream).await, before);
    assert_eq!(times(&store, stream).await.first(), Some(&kept_from));
    assert_eq!(times(&store, stream).await.len() as i64, 40 * 720 - discarded);
    assert_eq!(retention(&store, stream).await.kept_from, Some(kept_from));
    assert_eq!(times(&store, other).await.first(), Some(&begin), "another stream keeps its own");

    // What comes late is left out, with the others stored; what is of the first hour that is kept is taken.
    let late = [("t", kept_from - 1, 1.0), ("t", kept_from, 2.0), ("t", begin, 3.0), ("other", begin, 4.0)];
    let stored = store.append(append(resource, &late)).await.unwrap();
    assert_eq!(stored.left_out, [left_out("t", LeftOutReason::TooOld, 2)]);
    assert_eq!(times(&store, stream).await[..2], [kept_from, kept_from]);
    let refused = store.append(append(resource, &[("t", begin, 1.0)])).await;
    assert!(
        matches!(&refused, Err(Error::LeftOut(all)) if *all == [left_out("t", LeftOutReason::TooOld, 1)]),
        "{refused:?}"
    );

    // What is not kept does not come back when more is kept.
    let for_ever = RetentionChange { keep_s: Some(None), ..RetentionChange::default() };
    assert_eq!(store.change_retention(stream, for_ever, now).await.unwrap().kept_from, Some(kept_from));
    assert!(store.append(append(resource, &[("t", begin, 1.0)])).await.is_err());

    // Deleting within an hour whose points are gone takes the hour along; one whose points are there is made anew.
    store.delete_points(stream, Some(begin + 1), Some(begin + 2)).await.unwrap();
    store.delete_points(stream, Some(kept_from), Some(kept_from + 30 * MINUTE)).await.unwrap();
    let after = hours(&store, stream).await;
    assert_eq!(after[0], before[1]);
    let thinned = after.iter().find(|hour| hour.time == kept_from).unwrap();
    assert_eq!(thinned.count, 360);

    // Rollups go by a time of their own.
    let keep_rollups =
        RetentionChange { keep_rollups_s: Some(Some(20 * 3_600)), ..RetentionChange::default() };
    let refused = store.change_retention(stream, keep_rollups, now).await;
    assert!(matches!(refused, Err(Error::Discards { points: 0, rollups: 19 })), "{refused:?}");
    store.change_retention(stream, RetentionChange { discard: true, ..keep_rollups }, now).await.unwrap();
    let first = (now - 20 * HOUR) / HOUR * HOUR;
    until(async || hours(&store, stream).await[0].time == first).await;
    // But not before the points that they are of.
    let short = RetentionChange { keep_rollups_s: Some(Some(3_600)), ..DISCARD };
    store.change_retention(stream, short, now).await.unwrap();
    until(async || hours(&store, stream).await[0].time == kept_from).await;
    drop(writer);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_points_are_kept_by_whole_hours() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, (_, resource)) = begin(directory.path()).await;
    let now = now_ms();
    let begin = now / HOUR * HOUR - 10 * HOUR;
    let readings: Vec<(&str, i64, f64)> = (0..100).map(|n| ("t", begin + n * 6 * MINUTE, n as f64)).collect();
    post(&store, resource, &readings).await;
    let stream = id(&store, resource, "t").await;
    for wrong in [0, 1_000_001] {
        let change = RetentionChange { history_size: Some(Some(wrong)), ..DISCARD };
        assert!(matches!(store.change_retention(stream, change, now).await, Err(Error::Invalid(_))));
    }
    for wrong in [0, 3_599, 4_000_000_000] {
        let change = RetentionChange { keep_s: Some(Some(wrong)), ..DISCARD };
        assert!(matches!(store.change_retention(stream, change, now).await, Err(Error::Invalid(_))));
    }
    // The oldest of 35 is the sixth of its hour.
    let change = RetentionChange { history_size: Some(Some(35)), ..RetentionChange::default() };
    let refused = store.change_retention(stream, change, now).await;
    assert!(matches!(refused, Err(Error::Discards { points: 60, rollups: 0 })), "{refused:?}");
    store.change_retention(stream, RetentionChange { discard: true, ..change }, now).await.unwrap();
    until(async || times(&store, stream).await.len() == 40).await;
    assert_eq!(times(&store, stream).await[0], begin + 6 * HOUR);
    assert_eq!(hours(&store, stream).await.len(), 10);
    // Asking for the same again discards nothing, and needs no leave.
    store.change_retention(stream, change, now).await.unwrap();
    let (store, _writer) = reopen(directory.path(), (store, writer)).await;
    assert_eq!(retention(&store, stream).await.history_size, Some(35));
    assert_eq!(times(&store, stream).await.len(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_was_heard_whose_points_are_all_gone_and_new_streams_keep_as_long_as_the_server_says() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, (user, resource)) = begin(directory.path()).await;
    let now = now_ms();
    post(&store, resource, &[("t", now - 30 * DAY, 1.0), ("t", now - 29 * DAY, 2.0)]).await;
    let heard = store.heard_of(user, resource).await.unwrap();
    let stream = id(&store, resource, "t").await;
    store.keep_of_new_streams(Some(7 * DAY)).await.unwrap();
    assert_eq!(retention(&store, stream).await.keep_s, None, "it was there before");
    let keep = RetentionChange { keep_s: Some(Some(7 * 86_400)), ..DISCARD };
    store.change_retention(stream, keep, now).await.unwrap();
    until(async || times(&store, stream).await.is_empty()).await;
    assert!(store.latest(resource).await.unwrap().is_empty());
    assert_eq!(store.heard_of(user, resource).await.unwrap(), heard);
    assert_eq!(hours(&store, stream).await.len(), 2);
    // The first reading of a name makes a stream, and so do people.
    post(&store, resource, &[("new", now, 1.0)]).await;
    let made = store.add_stream(resource, ("made", None, ""), ValueType::Number).await.unwrap();
    for stream in [id(&store, resource, "new").await, made.id] {
        assert_eq!(retention(&store, stream).await.keep_s, Some(7 * 86_400));
    }
    let stored = store.append(append(resource, &[("made", now - 8 * DAY, 1.0), ("made", now, 2.0)])).await;
    assert_eq!(stored.unwrap().left_out, [left_out("made", LeftOutReason::TooOld, 1)]);
    assert_eq!(store.retention_of(resource).await.unwrap().len(), 3);
    store.keep_of_new_streams(None).await.unwrap();
    let made = store.add_stream(resource, ("later", None, ""), ValueType::Number).await.unwrap();
    assert_eq!(retention(&store, made.id).await.keep_s, None);
}

/// A computed stream of the resource.
async fn compute(store: &Store, owned: (UserId, ResourceId), label: &str, expression: &str) -> StreamId {
    let computation = computation(expression);
    store.add_computed_stream(owned, (label, None, ""), &computation).await.unwrap().stream.id
}

fn computation(expression: &str) -> Computation {
    let t = InputReference { resource: None, stream: "t".into() };
    Computation { expression: expression.into(), time_zone: "UTC".into(), inputs: [("t".into(), t)].into() }
}

async fn is_computed(store: &Store, stream: StreamId) -> bool {
    store.computed_stream(stream).await.unwrap().unwrap().backfill.is_none()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_computed_stays_when_its_inputs_go() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, owned) = begin(directory.path()).await;
    let now = now_ms();
    let begin = now / HOUR * HOUR - 10 * HOUR;
    let readings: Vec<(&str, i64, f64)> = (0..60).map(|n| ("t", begin + n * 10 * MINUTE, n as f64)).collect();
    post(&store, owned.1, &readings).await;
    let twice = compute(&store, owned, "twice", "t * 2").await;
    until(async || is_computed(&store, twice).await).await;
    let stream = id(&store, owned.1, "t").await;
    let keep = RetentionChange { keep_s: Some(Some(5 * 3_600)), ..DISCARD };
    store.change_retention(stream, keep, now).await.unwrap();
    let kept_from = (now - 5 * HOUR) / HOUR * HOUR;
    until(async || times(&store, stream).await[0] == kept_from).await;
    let values = async || {
        points(&store, twice).await.iter().map(|point| point.value.number().unwrap()).collect::<Vec<_>>()
    };
    let doubled: Vec<f64> = (0..60).map(|n| f64::from(n) * 2.0).collect();
    assert_eq!(values().await, doubled);
    // Another expression is for what can still be computed.
    store.replace_computation(owned, twice, &computation("t * 3")).await.unwrap();
    until(async || is_computed(&store, twice).await).await;
    let gone = ((kept_from - begin) / (10 * MINUTE)) as usize;
    let tripled: Vec<f64> = (0..60).map(|n| f64::from(n) * if n < gone as i32 { 2.0 } else { 3.0 }).collect();
    assert_eq!(values().await, tripled);
    // A late reading computes as ever, and what is computed has a retention of its own.
    post(&store, owned.1, &[("t", kept_from + 1, 100.0)]).await;
    assert_eq!(values().await[gone + 1], 300.0);
    let own = RetentionChange { keep_s: Some(Some(3 * 3_600)), ..DISCARD };
    store.change_retention(twice, own, now).await.unwrap();
    let own_from = (now - 3 * HOUR) / HOUR * HOUR;
    until(async || times(&store, twice).await[0] == own_from).await;
    post(&store, owned.1, &[("t", kept_from + 2, 100.0), ("t", own_from + 1, 7.0)]).await;
    assert_eq!(times(&store, twice).await[..2], [own_from, own_from + 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_stream_takes_no_points_and_what_rests_on_it_rests() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, owned) = begin(directory.path()).await;
    let resource = owned.1;
    post(&store, resource, &[("t", 1_000, 1.0), ("u", 1_000, 1.0)]).await;
    let twice = compute(&store, owned, "twice", "t * 2").await;
    until(async || is_computed(&store, twice).await).await;
    let (t, u) = (id(&store, resource, "t").await, id(&store, resource, "u").await);
    let now = now_ms();
    let freeze = |is_frozen| RetentionChange { is_frozen: Some(is_frozen), ..RetentionChange::default() };
    let frozen = store.change_retention(t, freeze(true), now).await.unwrap();
    assert_eq!(frozen.frozen, Some(now));
    assert_eq!(
        store.change_retention(t, freeze(true), now + 1).await.unwrap().frozen,
        Some(now),
        "it is already"
    );

    let some = append(resource, &[("t", 2_000, 2.0), ("u", 2_000, 2.0), ("t", 3_000, 3.0)]);
    let stored = store.append(some.clone()).await.unwrap();
    assert_eq!(stored.left_out, [left_out("t", LeftOutReason::Frozen, 2)]);
    // Sent again, it is answered alike and stored once.
    assert_eq!(store.append(some).await.unwrap(), stored);
    let refused = store.append(append(resource, &[("t", 4_000, 4.0)])).await;
    assert!(matches!(refused, Err(Error::LeftOut(_))), "{refused:?}");
    assert_eq!((times(&store, t).await, times(&store, u).await), (vec![1_000], vec![1_000, 2_000]));
    assert_eq!(times(&store, twice).await, [1_000]);
    let (store, _writer) = reopen(directory.path(), (store, writer)).await;
    assert!(store.append(append(resource, &[("t", 4_000, 4.0)])).await.is_err(), "a restart thaws nothing");
    // A computed stream is computed for the time between, too.
    store.change_retention(twice, freeze(true), now).await.unwrap();
    store.change_retention(t, freeze(false), now).await.unwrap();
    post(&store, resource, &[("t", 5_000, 5.0)]).await;
    assert_eq!((times(&store, t).await, times(&store, twice).await), (vec![1_000, 5_000], vec![1_000]));
    store.change_retention(twice, freeze(false), now).await.unwrap();
    until(async || times(&store, twice).await == [1_000, 5_000]).await;
}
