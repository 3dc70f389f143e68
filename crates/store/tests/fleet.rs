//! Many devices: found, counted, and changed together.

use sixlock_store::{
    Append, Chosen, Condition, Device, DeviceOrder, DeviceState, Error, FleetChange, FleetChanged,
    FleetDevice, FleetQuery, Idempotency, NewPoller, NewRule, PollCredential, Reading, ResourceChange,
    ResourceId, RetentionChange, Selection, Severity, Store, UserId, Writer, now_ms,
};

const HOUR_MS: i64 = 3_600_000;

struct Bench {
    store: Store,
    ann: UserId,
    bob: UserId,
    _writer: Writer,
    _directory: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (store, writer) = Store::open(directory.path()).await.unwrap();
        let add = async |name: &str| store.add_user(name, "", "long enough".into(), false).await.unwrap().id;
        let (ann, bob) = (add("ann").await, add("bob").await);
        Self { store, ann, bob, _writer: writer, _directory: directory }
    }

    async fn device(&self, owner: UserId, label: &str, tags: &[&str], folder: &str) -> ResourceId {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let device = Device { tags, folder: folder.into(), ..Device::named(label) };
        self.store.add_resource(owner, device).await.unwrap().resource.id
    }

    async fn report(&self, resource: ResourceId, time: i64) {
        let reading = Reading { stream: "t".into(), unit: None, time, value: 1.5.into() };
        let idempotency = Idempotency::unique().unwrap();
        self.store.append(Append { resource, idempotency, readings: vec![reading] }).await.unwrap();
    }

    async fn devices(&self, owner: UserId, query: FleetQuery, now: i64) -> Vec<FleetDevice> {
        self.store.fleet(owner, query, now).await.unwrap().devices
    }

    async fn change(&self, chosen: Chosen, change: FleetChange) -> Result<FleetChanged, Error> {
        self.store.change_fleet(self.ann, (chosen, None), change, now_ms()).await
    }

    /// The labels and tags of ann's devices.
    async fn tags(&self) -> Vec<(String, Vec<String>)> {
        let devices = self.devices(self.ann, FleetQuery { limit: 100, ..Default::default() }, 0).await;
        devices.into_iter().map(|device| (device.resource.label, device.resource.tags)).collect()
    }
}

fn all() -> Chosen {
    Chosen::Matching(Selection::default())
}

fn labels(devices: &[FleetDevice]) -> Vec<&str> {
    devices.iter().map(|device| &*device.resource.label).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_is_counted_and_comes_a_page_at_a_time_in_the_order_that_is_asked_for() {
    let bench = Bench::new().await;
    let ten = bench.device(bench.ann, "sensor10", &["roof"], "house/attic").await;
    let two = bench.device(bench.ann, "sensor2", &["roof", "pump"], "house").await;
    bench.device(bench.ann, "unheard", &[], "").await;
    bench.device(bench.bob, "of bob", &["roof"], "house").await;
    bench.report(two, 1_000).await;
    bench.report(ten, 2_000).await;
    let rule = NewRule {
        label: "warm".into(),
        severity: Severity::Warning,
        resource: "sensor10".into(),
        stream: Some("t".into()),
        condition: Condition::Change { by: Some(0.5) },
        channels: vec![],
        payload: None,
        paused: false,
    };
    bench.store.add_rule(bench.ann, &rule).await.unwrap();
    for value in [2.0, 9.0] {
        let reading =
            Reading { stream: "t".into(), unit: None, time: 3_000 + value as i64, value: value.into() };
        let idempotency = Idempotency::unique().unwrap();
        bench.store.append(Append { resource: ten, idempotency, readings: vec![reading] }).await.unwrap();
    }
    let url = "coap://192.0.2.1/".to_owned();
    let poller = NewPoller { url, period: 7_200, observe: false, credential: PollCredential::None };
    bench.store.put_poller(two, poller).await.unwrap();

    let query = |order, offset, limit| FleetQuery { order, offset, limit, ..Default::default() };
    let now = now_ms();
    let fleet = bench.store.fleet(bench.ann, query(DeviceOrder::Name, 0, 2), now).await.unwrap();
    assert_eq!((labels(&fleet.devices), fleet.found), (vec!["sensor2", "sensor10"], 3));
    let counts = &fleet.summary.counts;
    assert_eq!((counts.devices, counts.reporting, counts.unheard, counts.with_alerts), (3, 2, 1, 1));
    let tags: Vec<_> = fleet.summary.tags.iter().map(|tag| (&*tag.name, tag.counts.devices)).collect();
    assert_eq!(tags, [("pump", 1), ("roof", 2)]);
    assert_eq!((fleet.folders.len(), &*fleet.folders[0].name), (1, "house"));
    assert_eq!(labels(&bench.devices(bench.ann, query(DeviceOrder::Name, 2, 2), now).await), ["unheard"]);
    assert_eq!(bench.devices(bench.ann, query(DeviceOrder::Name, 3, 2), now).await, []);
    // An hour later the one whose period nobody knows is silent; the one that is polled each two hours is not.
    let later = now + 2 * HOUR_MS;
    let sorted = bench.devices(bench.ann, query(DeviceOrder::Silence, 0, 9), later).await;
    assert_eq!(labels(&sorted), ["sensor10", "sensor2", "unheard"]);
    assert_eq!(
        sorted.iter().map(|device| device.state).collect::<Vec<_>>(),
        [DeviceState::Silent, DeviceState::Reporting, DeviceState::Unheard]
    );
    assert_eq!((sorted[0].alerts, sorted[1].polls_paused), (1, Some(false)));
    assert_eq!(labels(&bench.devices(bench.bob, query(DeviceOrder::Name, 0, 9), now).await), ["of bob"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_are_changed_of_all_that_are_chosen_or_of_none() {
    let bench = Bench::new().await;
    let first = bench.device(bench.ann, "a", &["old"], "").await;
    bench.device(bench.ann, "b", &[], "").await;
    let others = bench.device(bench.bob, "c", &[], "").await;
    let tag = |tags: &[&str]| FleetChange::Tag(tags.iter().map(|tag| (*tag).to_owned()).collect());
    let changed = bench.change(all(), tag(&["New", "old"])).await.unwrap();
    assert_eq!(changed, FleetChanged { matched: 2, changed: 2 });
    assert_eq!(bench.change(all(), tag(&["new"])).await.unwrap().changed, 0);
    let expected = vec!["new".to_owned(), "old".to_owned()];
    assert_eq!(bench.tags().await, [("a".into(), expected.clone()), ("b".into(), expected.clone())]);
    // One device has no room for them, so no device gets them.
    let many: Vec<String> = (0..14).map(|n| n.to_string()).collect();
    let change = ResourceChange { tags: Some(&many), ..Default::default() };
    bench.store.change_resource(first, change, None).await.unwrap();
    let refused = bench.change(all(), tag(&["x", "y", "z"])).await;
    assert!(matches!(refused, Err(Error::Full(_))));
    assert_eq!(bench.tags().await[1].1, expected);
    // What is another's is not among the chosen, whoever names it.
    let chosen = Chosen::Devices(vec![first, others, first, ResourceId(4711)]);
    assert_eq!(bench.change(chosen, tag(&["x"])).await.unwrap(), FleetChanged { matched: 1, changed: 1 });
    let of_bob = bench.devices(bench.bob, FleetQuery { limit: 9, ..Default::default() }, 0).await;
    assert!(of_bob[0].resource.tags.is_empty());
    let untagged = bench.change(all(), FleetChange::Untag(vec!["NEW".into()])).await.unwrap();
    assert_eq!((untagged.changed, &bench.tags().await[1].1), (1, &vec!["old".to_owned()]));
    for bad in [tag(&["a,b"]), FleetChange::Move("a//b".into())] {
        assert!(matches!(bench.change(all(), bad).await, Err(Error::Invalid(_))));
    }
    let moved = bench.change(all(), FleetChange::Move("barn".into())).await.unwrap();
    assert_eq!(
        (moved.changed, bench.change(all(), FleetChange::Move("barn".into())).await.unwrap().changed),
        (2, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_no_device_is_checked_as_one_of_some() {
    let bench = Bench::new().await;
    let tag = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    for bad in [
        FleetChange::Tag(tag(&["a,b"])),
        FleetChange::Untag(tag(&[""])),
        FleetChange::Move("a//b".into()),
        FleetChange::Keep { keep_s: Some(60), discard: false },
    ] {
        let refused = bench.change(all(), bad.clone()).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{bad:?}");
    }
    for good in [
        FleetChange::Tag(tag(&["a"])),
        FleetChange::Move("a/b".into()),
        FleetChange::PausePolls(true),
        FleetChange::Keep { keep_s: Some(86_400), discard: false },
        FleetChange::Delete,
    ] {
        let none = FleetChanged { matched: 0, changed: 0 };
        assert_eq!(bench.change(all(), good.clone()).await.unwrap(), none, "{good:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_says_which_device_is_too_much_and_makes_so_many_streams_and_parsers() {
    let bench = Bench::new().await;
    let many = |prefix: &str, count: usize| (0..count).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>();
    let streams = many("s", 60).into_iter().map(|label| serde_json::json!({ "label": label }));
    let parsers = many("s", 4).into_iter().map(
        |stream| serde_json::json!({ "kind": "json-path", "expression": "$.r", "stream": stream, "label": stream }),
    );
    let profile = serde_json::json!({
        "tags": many("p", 16), "streams": streams.collect::<Vec<_>>(), "parsers": parsers.collect::<Vec<_>>(),
    });
    bench.store.put_profile(bench.ann, "big", &serde_json::from_value(profile).unwrap()).await.unwrap();
    let of_profile = |label: &str| Device { profile: Some("big".into()), ..Device::named(label) };
    let import = async |devices| bench.store.import(bench.ann, devices, true).await;

    let devices = vec![
        Device { tags: many("t", 17), ..Device::named("a") },
        Device::named("b"),
        Device { tags: many("t", 1), ..of_profile("c") },
    ];
    let Err(Error::Devices(bad)) = import(devices).await else { panic!("it has devices with 17 tags") };
    assert_eq!(bad.iter().map(|bad| bad.device).collect::<Vec<_>>(), [0, 2]);
    assert!(bad.iter().all(|bad| bad.why.contains("16 tags")), "{bad:?}");

    let devices = |count| many("d", count).iter().map(|label| of_profile(label)).collect();
    let Err(Error::Invalid(why)) = import(devices(79)).await else { panic!("these are 5056") };
    assert!(why.contains("5000 streams and parsers") && why.contains("fewer devices"), "{why}");
    assert_eq!(import(devices(78)).await.unwrap().len(), 78);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_delete_others_than_were_meant_deletes_none() {
    let bench = Bench::new().await;
    for label in ["a", "b", "c"] {
        bench.device(bench.ann, label, &[], "").await;
    }
    let delete = async |count| {
        let chosen = Chosen::Matching(Selection { search: "a".into(), ..Default::default() });
        bench.store.change_fleet(bench.ann, (chosen, Some(count)), FleetChange::Delete, now_ms()).await
    };
    assert!(matches!(delete(3).await, Err(Error::Count { expected: 3, found: 1 })));
    assert_eq!(bench.tags().await.len(), 3);
    assert_eq!(delete(1).await.unwrap(), FleetChanged { matched: 1, changed: 1 });
    assert_eq!(delete(0).await.unwrap(), FleetChanged { matched: 0, changed: 0 });
    let left: Vec<String> = bench.tags().await.into_iter().map(|(label, _)| label).collect();
    assert_eq!(left, ["b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn polls_are_paused_and_points_kept_of_many_devices_at_once() {
    let bench = Bench::new().await;
    let polled = bench.device(bench.ann, "polled", &[], "").await;
    let posts = bench.device(bench.ann, "posts", &[], "").await;
    let url = "coap://192.0.2.1/".to_owned();
    let poller = NewPoller { url, period: 60, observe: false, credential: PollCredential::None };
    bench.store.put_poller(polled, poller.clone()).await.unwrap();
    let paused = bench.change(all(), FleetChange::PausePolls(true)).await.unwrap();
    assert_eq!(paused, FleetChanged { matched: 2, changed: 1 });
    assert!(bench.store.turns(None).await.unwrap().is_empty());
    // New settings do not begin again what was paused.
    assert!(bench.store.put_poller(polled, poller).await.unwrap().0.paused);
    assert_eq!(bench.change(all(), FleetChange::PausePolls(false)).await.unwrap().changed, 1);
    assert_eq!(bench.store.turns(None).await.unwrap().len(), 1);

    let now = now_ms();
    for (resource, age) in [(posts, 50), (polled, 0)] {
        bench.report(resource, now - age * HOUR_MS).await;
    }
    let keep = |discard| FleetChange::Keep { keep_s: Some(86_400), discard };
    assert!(matches!(bench.change(all(), keep(false)).await, Err(Error::DiscardsOfStreams(1))));
    let kept = async |resource| bench.store.retention_of(resource).await.unwrap()[0].keep_s;
    assert_eq!((kept(posts).await, kept(polled).await), (None, None));
    assert_eq!(bench.change(all(), keep(true)).await.unwrap().changed, 2);
    assert_eq!((kept(posts).await, kept(polled).await), (Some(86_400), Some(86_400)));
    let for_ever = FleetChange::Keep { keep_s: None, discard: false };
    assert_eq!(bench.change(all(), for_ever).await.unwrap().changed, 2);
    let short = FleetChange::Keep { keep_s: Some(60), discard: true };
    assert!(matches!(bench.change(all(), short).await, Err(Error::Invalid(_))));
    assert_eq!(kept(posts).await, None);
    // As it is when one stream is changed.
    let change = RetentionChange { keep_s: Some(Some(60)), ..Default::default() };
    let stream = bench.store.stream(posts, "t").await.unwrap().unwrap().id;
    assert!(matches!(bench.store.change_retention(stream, change, now).await, Err(Error::Invalid(_))));
}
