//! Computed streams in the database: whatever the order of posts, their points are what a recomputation gives.

mod killed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use killed::post_and_kill;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sixlock_expression::Expression;
use sixlock_store::{
    Append, Computation, ComputedStream, Device, Error, Idempotency, InputReference, LONGEST_PAGE, Page,
    Reading, ResourceId, Store, StreamId, Transmission, UserId, ValueType, Writer,
};

const ALL: Page = Page { limit: LONGEST_PAGE, from: Some(0), until: None };
/// Ten seconds before a day ends in Stockholm.
const BEGIN: i64 = 1_700_002_790_000;

async fn open(directory: &Path) -> (Store, Writer) {
    Store::open(directory).await.unwrap()
}

/// A store with a user and the user's resource.
async fn begin(directory: &Path) -> (Store, Writer, (UserId, ResourceId)) {
    let (store, writer) = open(directory).await;
    let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap().id;
    let resource = enrol(&store, user, "node").await;
    (store, writer, (user, resource))
}

async fn enrol(store: &Store, user: UserId, label: &str) -> ResourceId {
    store.enrol(user, Device::named(label)).await.unwrap().resource.id
}

fn append(resource: ResourceId, readings: &[(&str, i64, f64)]) -> Append {
    let reading = |&(stream, time, value): &(&str, i64, f64)| Reading {
        stream: stream.into(),
        unit: None,
        time: BEGIN + time,
        value: value.into(),
    };
    let readings = readings.iter().map(reading).collect();
    Append { resource, idempotency: Idempotency::unique().unwrap(), readings }
}

async fn post(store: &Store, resource: ResourceId, readings: &[(&str, i64, f64)]) {
    store.append(append(resource, readings)).await.unwrap();
}

/// Over streams of the same resource, whose labels are the names in the expression.
fn computation(expression: &str, inputs: &[&str]) -> Computation {
    let reference =
        |input: &&str| (input.to_string(), InputReference { resource: None, stream: input.to_string() });
    let inputs = inputs.iter().map(reference).collect();
    Computation { expression: expression.into(), time_zone: "Europe/Stockholm".into(), inputs }
}

async fn compute(
    store: &Store,
    owned: (UserId, ResourceId),
    label: &str,
    expression: &str,
    inputs: &[&str],
) -> StreamId {
    let computation = computation(expression, inputs);
    store.add_computed_stream(owned, (label, None, ""), &computation).await.unwrap().stream.id
}

async fn id(store: &Store, resource: ResourceId, stream: &str) -> StreamId {
    store.stream(resource, stream).await.unwrap().unwrap().id
}

/// The points of a stream, those of a millisecond by value: the time since [`BEGIN`] and the value.
async fn points(store: &Store, resource: ResourceId, stream: &str) -> Vec<(i64, f64)> {
    let Some(stream) = store.stream(resource, stream).await.unwrap() else { return Vec::new() };
    let points = store.points(stream.id, ALL).await.unwrap();
    let mut points: Vec<(i64, f64)> =
        points.into_iter().map(|point| (point.time - BEGIN, point.value.number().unwrap())).collect();
    points.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points
}

/// Waits until nothing is put off any more.
async fn done(store: &Store, resource: ResourceId) -> Vec<ComputedStream> {
    loop {
        let computed = store.computed_streams(resource).await.unwrap();
        if computed.iter().all(|computed| computed.backfill.is_none()) {
            return computed;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

const COMPUTED: [(&str, &str, &[&str]); 7] = [
    ("latest", "t + u", &["t", "u"]),
    ("mean", "mean(t, '3s')", &["t"]),
    ("few", "median(t, '3 points')", &["t"]),
    ("delta", "delta(t) + 0 * u", &["t", "u"]),
    ("some", "if(t > 0, t, 1 / 0)", &["t"]),
    ("above", "sum(some, '2s') - mean", &["some", "mean"]),
    ("top", "coalesce(rate(above), 0) + count(mean, 'day')", &["above", "mean"]),
];

/// What all streams are by their definition alone, made of those that were posted.
async fn recomputed(store: &Store, resource: ResourceId) -> BTreeMap<&'static str, Vec<(i64, f64)>> {
    let mut all: BTreeMap<&str, Vec<(i64, f64)>> = BTreeMap::new();
    for stream in ["t", "u"] {
        all.insert(stream, points(store, resource, stream).await);
    }
    for (stream, source, inputs) in COMPUTED {
        let expression = Expression::new(source, inputs, "Europe/Stockholm").unwrap();
        let point = |&(time, value): &(i64, f64)| sixlock_expression::Point { time: time + BEGIN, value };
        let histories: Vec<Vec<_>> =
            inputs.iter().map(|input| all[input].iter().map(point).collect()).collect();
        let times: BTreeSet<i64> = histories.iter().flatten().map(|point| point.time).collect();
        let histories: Vec<&[_]> = histories.iter().map(Vec::as_slice).collect();
        let value = |time| Some((time - BEGIN, expression.evaluate(time, &histories).value?));
        all.insert(stream, times.into_iter().filter_map(value).collect());
    }
    all
}

async fn check(store: &Store, resource: ResourceId) {
    for (stream, expected) in recomputed(store, resource).await {
        assert_eq!(points(store, resource, stream).await, expected, "{stream}");
    }
}

/// What is done to a resource.
#[derive(Clone, Debug)]
enum Operation {
    /// A post, which is sent twice or not.
    Post(Vec<(bool, i64, i32)>, bool),
    /// The points of t or u from one time to another are deleted.
    Delete(bool, i64, i64),
    /// All are computed from now on.
    Define,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let reading = (any::<bool>(), 0..40i64, -3..9i32);
    let operation = prop_oneof![
        20 => (prop::collection::vec(reading, 1..40), any::<bool>()).prop_map(|(readings, again)| Operation::Post(readings, again)),
        1 => (any::<bool>(), 0..40i64, 0..40i64).prop_map(|(is_t, from, until)| Operation::Delete(is_t, from, until)),
    ];
    (prop::collection::vec(operation, 1..30), any::<prop::sample::Index>()).prop_map(
        |(mut operations, at)| {
            operations.insert(at.index(operations.len() + 1), Operation::Define);
            operations
        },
    )
}

#[test]
fn computed_points_are_what_a_recomputation_from_the_posted_ones_gives() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, (user, _)) = runtime.block_on(begin(directory.path()));
    let number = std::cell::Cell::new(0);
    // Few cases, each of many posts: they go to one database, whose points are sorted meanwhile.
    let config = Config { cases: 24, failure_persistence: None, max_shrink_iters: 40, ..Config::default() };
    let run = TestRunner::new(config).run(&operations(), |operations| {
        number.set(number.get() + 1);
        runtime.block_on(async {
            let resource = enrol(&store, user, &format!("node-{}", number.get())).await;
            for stream in ["t", "u"] {
                store.add_stream(resource, (stream, None, ""), ValueType::Number).await.unwrap();
            }
            for operation in operations {
                match operation {
                    Operation::Post(readings, again) => {
                        let reading = |&(is_t, time, value): &(bool, i64, i32)| {
                            (if is_t { "t" } else { "u" }, time * 500, f64::from(value))
                        };
                        let append = append(resource, &readings.iter().map(reading).collect::<Vec<_>>());
                        if again {
                            // At the same time, so that both may be in one commit.
                            let (one, other) =
                                tokio::join!(store.append(append.clone()), store.append(append));
                            one.and(other).unwrap();
                        } else {
                            store.append(append).await.unwrap();
                        }
                    }
                    Operation::Delete(is_t, from, until) => {
                        let stream = id(&store, resource, if is_t { "t" } else { "u" }).await;
                        let (from, until) = (BEGIN + from * 500, BEGIN + until * 500);
                        store.delete_points(stream, Some(from), Some(until)).await.unwrap();
                    }
                    Operation::Define => {
                        for (stream, source, inputs) in COMPUTED {
                            compute(&store, (user, resource), stream, source, inputs).await;
                        }
                    }
                }
            }
            done(&store, resource).await;
            check(&store, resource).await;
        });
        Ok(())
    });
    run.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_computed_is_there_when_the_post_is_acknowledged_and_takes_no_readings_itself() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, owned) = begin(directory.path()).await;
    let resource = owned.1;
    post(&store, resource, &[("t", 0, 20.0), ("outside", 0, 5.0)]).await;
    compute(&store, owned, "difference", "t - outside", &["t", "outside"]).await;
    done(&store, resource).await;
    let difference = id(&store, resource, "difference").await;
    for n in 1..20 {
        let before = store.changes().end();
        post(&store, resource, &[("t", n * 1_000, 20.0 + n as f64), ("outside", n * 1_000, 5.0)]).await;
        let points = points(&store, resource, "difference").await;
        assert_eq!(points.last(), Some(&(n * 1_000, 15.0 + n as f64)));
        assert_eq!(points.len() as i64, n + 1, "one post computes one point, though it has two readings");
        // Who follows points is told of it with those that it was computed from.
        let told = store.changes().since(before).unwrap().streams;
        assert_eq!(told.len(), 3);
        assert!(told.iter().any(|change| change.stream == difference && change.first == change.last));
    }
    let refused = store.append(append(resource, &[("new", 0, 1.0), ("difference", 0, 1.0)])).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    assert!(store.stream(resource, "new").await.unwrap().is_none());
    assert!(matches!(store.delete_points(difference, None, None).await, Err(Error::Computed)));
    assert_eq!(points(&store, resource, "difference").await.len(), 20);
    // With all points of the device, these go, too.
    store.delete_points_of(resource, None, None).await.unwrap();
    done(&store, resource).await;
    assert_eq!(points(&store, resource, "difference").await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_points_are_computed_after_a_definition_also_by_the_next_cloud_and_progress_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer, owned) = begin(directory.path()).await;
    let resource = owned.1;
    const POINTS: i64 = 20_000;
    for first in (0..POINTS).step_by(250) {
        let readings: Vec<_> = (first..first + 250).map(|n| ("t", n * 1_000, n as f64)).collect();
        post(&store, resource, &readings).await;
    }
    let stream = compute(&store, owned, "mean", "mean(t, '1h')", &["t"]).await;
    let before = store.computed_stream(stream).await.unwrap().unwrap();
    store.close().await;
    writer.ended().await.unwrap();
    drop(store);

    let (store, _writer) = open(directory.path()).await;
    let mut seen = Vec::new();
    let last = loop {
        let computed = store.computed_stream(stream).await.unwrap().unwrap();
        let Some(backfill) = computed.backfill else { break computed };
        assert!(backfill.since <= backfill.at && backfill.at < backfill.until && backfill.done < 1.0);
        seen.push(backfill.done);
        // What is posted meanwhile is computed at once.
        let time = POINTS * 1_000 + seen.len() as i64 * 1_000;
        post(&store, resource, &[("t", time, 1.0)]).await;
        assert_eq!(points_at(&store, stream, time).await.len(), 1);
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(before.backfill.is_some_and(|before| before.since == BEGIN));
    assert!(seen.is_sorted() && seen.len() > 1, "{seen:?}");
    assert_eq!(last.backfill, None);
    for n in [0, 1, 3_599, 3_600, POINTS - 1] {
        let first = (n - 3_599).max(0);
        let mean = (first + n) as f64 / 2.0;
        assert_eq!(points_at(&store, stream, n * 1_000).await, [mean], "{n}");
    }
}

async fn points_at(store: &Store, stream: StreamId, time: i64) -> Vec<f64> {
    let page = Page { limit: 10, from: Some(BEGIN + time), until: Some(BEGIN + time + 1) };
    store.points(stream, page).await.unwrap().into_iter().map(|point| point.value.number().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn cycles_unknown_streams_and_what_would_be_too_much_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, owned) = begin(directory.path()).await;
    post(&store, owned.1, &[("t", 0, 1.0)]).await;
    let add = async |label: &str, expression: &str, inputs: &[&str]| {
        store.add_computed_stream(owned, (label, None, ""), &computation(expression, inputs)).await
    };
    assert!(matches!(add("a", "t + x", &["t", "x"]).await, Err(Error::UnknownInput { .. })));
    assert!(
        matches!(add("a", "a + t", &["t", "a"]).await, Err(Error::UnknownInput { .. })),
        "it is not there yet"
    );
    assert!(matches!(add("a", "t +", &["t"]).await, Err(Error::Expression(_))));
    assert!(matches!(add("t", "t + 1", &["t"]).await, Err(Error::Taken(_))));
    assert!(matches!(add("a\u{202e}", "t + 1", &["t"]).await, Err(Error::Invalid(_))));
    assert_eq!(store.streams(owned.1).await.unwrap().len(), 1, "what is refused makes no stream");
    let a = add("a", "t + 1", &["t"]).await.unwrap().stream.id;
    let b = add("b", "a + t", &["a", "t"]).await.unwrap().stream.id;
    let replace = async |stream, expression: &str, inputs: &[&str]| {
        store.replace_computation(owned, stream, &computation(expression, inputs)).await
    };
    for (expression, inputs) in [("a + 1", &["a"][..]), ("b + 1", &["b"]), ("b + t", &["b", "t"])] {
        assert!(matches!(replace(a, expression, inputs).await, Err(Error::Cycle)), "{expression}");
    }
    let unchanged = store.computed_stream(a).await.unwrap().unwrap();
    assert_eq!((&*unchanged.expression, unchanged.inputs.len()), ("t + 1", 1));
    let plain = id(&store, owned.1, "t").await;
    assert!(matches!(replace(plain, "a + 1", &["a"]).await, Err(Error::Unknown(_))));
    assert_eq!(store.computed_stream(plain).await.unwrap(), None);
    replace(b, "t * 2", &["t"]).await.unwrap();
    replace(a, "b + 1", &["b"]).await.unwrap();
    // Each of two resources holds 64 streams, so that more than 64 could be computed from one.
    for n in 0..61 {
        add(&format!("c{n}"), "t + 1", &["t"]).await.unwrap();
    }
    let other = enrol(&store, owned.0, "other").await;
    let t = InputReference { resource: Some("node".into()), stream: "t".into() };
    let of_t = Computation { inputs: [("t".to_owned(), t)].into(), ..computation("t + 1", &[]) };
    let add = async |label: &str| store.add_computed_stream((owned.0, other), (label, None, ""), &of_t).await;
    add("d").await.unwrap();
    assert!(matches!(add("e").await, Err(Error::Full(_))));
    // Nor is one computed from more than 64, when it is another below it that would change.
    let (deep, chain) = (enrol(&store, owned.0, "deep").await, enrol(&store, owned.0, "chain").await);
    for n in 0..60 {
        store.add_stream(deep, (&format!("r{n}"), None, ""), ValueType::Number).await.unwrap();
    }
    store.add_stream(chain, ("extra", None, ""), ValueType::Number).await.unwrap();
    let over = |plain: std::ops::Range<usize>, own: Option<&str>| {
        let of_deep = |n| {
            let stream = format!("r{n}");
            (stream.clone(), InputReference { resource: Some("deep".into()), stream })
        };
        let own = own.map(|own| (own.to_owned(), InputReference { resource: None, stream: own.into() }));
        let inputs: BTreeMap<_, _> = plain.map(of_deep).chain(own).collect();
        let expression = inputs.keys().cloned().collect::<Vec<_>>().join("+");
        Computation { inputs, ..computation(&expression, &[]) }
    };
    let mut lowest = None;
    for (label, plain, own) in [
        ("k0", 0..1, None),
        ("k1", 1..16, Some("k0")),
        ("k2", 16..31, Some("k1")),
        ("k3", 31..46, Some("k2")),
        ("k4", 46..60, Some("k3")),
    ] {
        let labels = (label, None, "");
        let added = store.add_computed_stream((owned.0, chain), labels, &over(plain, own)).await.unwrap();
        lowest.get_or_insert(added.stream.id);
    }
    let refused =
        store.replace_computation((owned.0, chain), lowest.unwrap(), &over(0..1, Some("extra"))).await;
    assert!(matches!(refused, Err(Error::Full(_))), "{refused:?}");
    // Another's streams are not found by any name.
    let bob = store.add_user("bob", "", "a long password".into(), false).await.unwrap().id;
    let of_bob = enrol(&store, bob, "bobs").await;
    let refused = store.add_computed_stream((bob, of_bob), ("f", None, ""), &of_t).await;
    assert!(matches!(refused, Err(Error::UnknownInput { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_input_nothing_is_computed_until_there_is_another() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, owned) = begin(directory.path()).await;
    let other = enrol(&store, owned.0, "other").await;
    for (resource, value) in [(owned.1, 1.0), (other, 2.0)] {
        post(&store, resource, &[("t", 0, value)]).await;
    }
    let reference = |resource: &str| InputReference { resource: Some(resource.into()), stream: "t".into() };
    let inputs = [("own".to_owned(), reference("node")), ("other".to_owned(), reference("other"))];
    let both = Computation { inputs: inputs.into(), ..computation("own + other", &[]) };
    let sum = store.add_computed_stream(owned, ("sum", Some("Cel"), "both"), &both).await.unwrap().stream.id;
    done(&store, owned.1).await;
    post(&store, other, &[("t", 1_000, 5.0)]).await;
    assert_eq!(points(&store, owned.1, "sum").await, [(0, 3.0), (1_000, 6.0)]);
    store.delete_resource(other).await.unwrap();
    post(&store, owned.1, &[("t", 2_000, 9.0)]).await;
    let left = store.computed_stream(sum).await.unwrap().unwrap();
    assert_eq!((left.inputs["other"].stream, left.inputs["own"].label.as_deref()), (None, Some("t")));
    assert_eq!(points(&store, owned.1, "sum").await.len(), 2, "what was computed stays");
    store.replace_computation(owned, sum, &computation("t * 2", &["t"])).await.unwrap();
    done(&store, owned.1).await;
    assert_eq!(points(&store, owned.1, "sum").await, [(0, 2.0), (2_000, 18.0)]);
    store.delete_stream(sum).await.unwrap();
    post(&store, owned.1, &[("t", 3_000, 1.0), ("sum", 0, 7.0)]).await;
    assert_eq!(points(&store, owned.1, "sum").await, [(0, 7.0)], "it is a stream as any other");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_of_too_many_points_has_no_value_and_of_one_millisecond_the_greatest_are_the_latest() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer, owned) = begin(directory.path()).await;
    let resource = owned.1;
    store.add_stream(resource, ("t", None, ""), ValueType::Number).await.unwrap();
    for (label, expression) in [
        ("whole", "count(t, '1h')"),
        ("three", "mean(t, '3 points')"),
        ("latest", "t"),
        ("change", "delta(t, '10000 points')"),
    ] {
        compute(&store, owned, label, expression, &["t"]).await;
    }
    // 10,250 points of one millisecond, the greatest in the middle.
    for first in (0..10_250).step_by(250) {
        let readings: Vec<_> =
            (first..first + 250).map(|n| ("t", 0, f64::from((n + 5_000) % 10_250))).collect();
        post(&store, resource, &readings).await;
    }
    for time in [1, 3_599_999, 3_600_000, 3_600_001] {
        post(&store, resource, &[("t", time, 1.0)]).await;
    }
    done(&store, resource).await;
    let is = async |label: &str| points(&store, resource, label).await;
    assert_eq!(is("whole").await, [(3_600_000, 3.0), (3_600_001, 3.0)]);
    assert_eq!(is("three").await[..2], [(0, 10_248.0), (1, (10_249.0 + 10_248.0 + 1.0) / 3.0)]);
    assert_eq!(is("latest").await[..2], [(0, 10_249.0), (1, 1.0)]);
    // The first of the latest 10,000 is the 251st, and then the 252nd.
    assert_eq!(is("change").await[..2], [(0, 9_999.0), (1, 1.0 - 251.0)]);
}

/// The folder of the store, the resource and the first post, for the process that is killed.
const KILLED: [&str; 3] = ["SIXLOCK_KILLED_FOLDER", "SIXLOCK_KILLED_RESOURCE", "SIXLOCK_KILLED_FIRST"];

/// The readings of post `number`: some late, and some of one millisecond.
fn readings(number: i64) -> [(&'static str, i64, f64); 4] {
    let late = number * 7 % 5 * 1_500;
    let (time, value) = (number * 500 - late, (number * 31 % 13 - 4) as f64);
    [("t", time, value), ("t", time, value + 1.0), ("u", time + 250, value), ("u", number * 500, -value)]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test runs it in a process, and kills that"]
async fn posts_until_it_is_killed() {
    let [folder, resource, first] = KILLED.map(|name| std::env::var(name).unwrap());
    let (store, _writer) = open(Path::new(&folder)).await;
    let resource = ResourceId(resource.parse().unwrap());
    for number in first.parse::<i64>().unwrap().. {
        // What was not acknowledged is sent again: nobody knows whether it was stored.
        let token = number.to_be_bytes();
        let transmission = Transmission { association: b"", message_id: number as u16, token: &token };
        let idempotency = Idempotency::of(resource, transmission, b"");
        store.append(Append { idempotency, ..append(resource, &readings(number)) }).await.unwrap();
        println!("\nstored {number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_it_was_killed_each_computed_point_of_what_was_acknowledged_is_there_once() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, mut writer, (user, resource)) = begin(directory.path()).await;
    for stream in ["t", "u"] {
        store.add_stream(resource, (stream, None, ""), ValueType::Number).await.unwrap();
    }
    for (stream, source, inputs) in COMPUTED {
        compute(&store, (user, resource), stream, source, inputs).await;
    }
    let mut acknowledged = 0;
    for round in 0..12 {
        store.close().await;
        writer.ended().await.unwrap();
        drop(store);
        let folder = directory.path().to_str().unwrap().to_owned();
        let values = [folder, resource.0.to_string(), acknowledged.to_string()];
        acknowledged = post_and_kill(KILLED.into_iter().zip(values), acknowledged, 1 + round * 5 % 37);

        (store, writer) = open(directory.path()).await;
        let computed = store.computed_streams(resource).await.unwrap();
        assert!(computed.iter().all(|computed| computed.backfill.is_none()), "nothing was put off");
        check(&store, resource).await;
        let stored = [points(&store, resource, "t").await, points(&store, resource, "u").await];
        let posted = |posts: i64| {
            ["t", "u"].map(|stream| {
                let all = (0..posts).flat_map(readings).filter(|(of, ..)| *of == stream);
                let mut all: Vec<(i64, f64)> = all.map(|(_, time, value)| (time, value)).collect();
                all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
                all
            })
        };
        // The last one may have been stored, and not acknowledged.
        assert!([posted(acknowledged), posted(acknowledged + 1)].contains(&stored), "round {round}");
    }
}
