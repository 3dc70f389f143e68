//! The store: what was acknowledged is there after reopening, once.

use std::path::Path;
use std::sync::Arc;

use sixlock_store::{
    Append, AuthenticationMethod, Device, Error, Holder, Idempotency, LONGEST_PAGE, Page, Reading,
    ResourceId, Rotation, STREAMS_PER_RESOURCE, Secret, Store, Transmission, Writer,
};
use sixlock_testing::crash::copy;

const NOW: i64 = 1_000_000;
const ALL: Page = Page { limit: LONGEST_PAGE, from: None, until: None };

async fn open(directory: &Path) -> (Store, Writer) {
    Store::open(directory).await.unwrap()
}

fn device(label: &str) -> Device {
    Device { key: Some(Secret::new(b"0123456789abcdef".to_vec())), ..Device::named(label) }
}

async fn resource(store: &Store) -> ResourceId {
    let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
    store.enrol(user.id, device("node-1")).await.unwrap().resource.id
}

fn post(resource: ResourceId, message_id: u32, value: f64) -> Append {
    let transmission = Transmission { association: b"session", message_id: message_id as u16, token: b"" };
    Append {
        resource,
        idempotency: Idempotency::of(resource, transmission, &value.to_be_bytes()),
        readings: vec![Reading {
            stream: "temperature".into(),
            unit: Some("Cel".into()),
            time: 1_000,
            value: value.into(),
        }],
    }
}

async fn values(store: &Store, resource: ResourceId) -> Vec<f64> {
    let stream = store.stream(resource, "temperature").await.unwrap().unwrap();
    store
        .points(stream.id, ALL)
        .await
        .unwrap()
        .into_iter()
        .map(|point| point.value.number().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_a_crash_and_a_retransmission_is_not_stored_again() {
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, _writer) = open(before.path()).await;
    let resource = resource(&store).await;
    for n in 0..20u32 {
        store.append(post(resource, n, f64::from(n))).await.unwrap();
    }
    copy(before.path(), after.path());

    let (store, _writer) = open(after.path()).await;
    let expected: Vec<f64> = (0..20).map(f64::from).collect();
    assert_eq!(values(&store, resource).await, expected);
    store.append(post(resource, 19, 19.0)).await.unwrap();
    assert_eq!(values(&store, resource).await, expected, "the retransmission was stored twice");
    store.append(post(resource, 20, 19.0)).await.unwrap();
    assert_eq!(
        values(&store, resource).await.len(),
        21,
        "the same value in another message is another reading"
    );
    assert_eq!(
        store.known(AuthenticationMethod::PreSharedKey, "node-1", NOW).await.unwrap().unwrap().key.bytes(),
        b"0123456789abcdef"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_known_again_in_another_session_by_its_token() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = open(directory.path()).await;
    let resource = resource(&store).await;
    let mut stored = 0;
    for (association, message_id, token, value, is_new) in [
        ("first", 1, "token-a", 21.0, true),
        ("first", 1, "token-a", 21.0, false),
        // The session was lost: the request comes again in the next, as another message.
        ("second", 9, "token-a", 21.0, false),
        ("second", 10, "token-b", 21.0, true),
        ("second", 11, "token-a", 22.0, true),
        // One token for all posts: in one session, another message is another reading.
        ("third", 1, "the-one", 21.0, true),
        ("third", 2, "the-one", 21.0, true),
        ("third", 2, "the-one", 21.0, false),
        ("fourth", 3, "the-one", 21.0, false),
        // Without a token that names the request, the message id does.
        ("plain", 1, "", 21.0, true),
        ("plain again", 1, "", 21.0, false),
        ("plain again", 2, "", 21.0, true),
    ] {
        let transmission =
            Transmission { association: association.as_bytes(), message_id, token: token.as_bytes() };
        let idempotency = Idempotency::of(resource, transmission, &f64::to_be_bytes(value));
        store.append(Append { idempotency, ..post(resource, 0, value) }).await.unwrap();
        stored += usize::from(is_new);
        assert_eq!(
            values(&store, resource).await.len(),
            stored,
            "{association} {message_id} {token} {value}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_posts_are_each_stored_once_however_often_they_are_sent() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer) = open(directory.path()).await;
    let resource = resource(&store).await;
    let store = Arc::new(store);
    let mut posts = tokio::task::JoinSet::new();
    for n in 0..600u32 {
        for _ in 0..3 {
            let store = store.clone();
            posts.spawn(async move { store.append(post(resource, n, f64::from(n))).await });
        }
    }
    while let Some(result) = posts.join_next().await {
        result.unwrap().unwrap();
    }
    let mut stored = values(&store, resource).await;
    stored.sort_by(f64::total_cmp);
    assert_eq!(stored, (0..600).map(f64::from).collect::<Vec<_>>());
    assert_eq!(store.changes().end().to_string(), "600");
    drop(store);
    writer.ended().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_when_the_store_is_dropped_is_stored_still() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer) = open(directory.path()).await;
    let resource = resource(&store).await;
    let mut appends = tokio::task::JoinSet::new();
    for n in 0..300u32 {
        let store = store.clone();
        appends.spawn(async move { store.append(post(resource, n, f64::from(n))).await });
    }
    drop(store);
    while let Some(result) = appends.join_next().await {
        result.unwrap().unwrap();
    }
    writer.ended().await.unwrap();
    let (store, _writer) = open(directory.path()).await;
    assert_eq!(values(&store, resource).await.len(), 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_that_cannot_be_stored_does_not_take_others_with_it_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = open(directory.path()).await;
    let resource = resource(&store).await;
    let nobody = ResourceId(4711);
    let mut posts = tokio::task::JoinSet::new();
    for n in 0..100u32 {
        let (store, whose) = (store.clone(), if n == 50 { nobody } else { resource });
        posts.spawn(async move { (n, store.append(post(whose, n, f64::from(n))).await.is_ok()) });
    }
    while let Some(result) = posts.join_next().await {
        let (n, stored) = result.unwrap();
        assert_eq!(stored, n != 50, "post {n}");
    }
    assert_eq!(values(&store, resource).await.len(), 99);

    // All readings of a post, or none: the stream beyond the limit spoils those before it.
    let readings: Vec<Reading> = (0..=STREAMS_PER_RESOURCE)
        .map(|n| Reading { stream: format!("s{n}"), unit: None, time: 1, value: 1.0.into() })
        .collect();
    let append = Append { readings, ..post(resource, 1_000, 0.0) };
    assert!(matches!(store.append(append.clone()).await, Err(Error::Invalid(_))));
    assert_eq!(store.streams(resource).await.unwrap().len(), 1);
    // It left no receipt either: sent again with fewer streams, it is stored.
    let fewer = Append { readings: append.readings[..10].to_vec(), ..append };
    store.append(fewer).await.unwrap();
    assert_eq!(store.streams(resource).await.unwrap().len(), 11);
}

#[tokio::test(flavor = "multi_thread")]
async fn enrolling_again_brings_the_device_up_to_date_and_an_identity_has_one_owner() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = open(directory.path()).await;
    let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
    let bob = store.add_user("bob", "", "a long password".into(), false).await.unwrap();
    let first = store.enrol(ann.id, device("node-1")).await.unwrap().resource;
    let rekeyed = Device { key: Some(Secret::new(b"fedcba9876543210".to_vec())), ..device("node-1") };
    assert_eq!(store.enrol(ann.id, rekeyed).await.unwrap().resource, first);
    assert_eq!(
        store.known(AuthenticationMethod::PreSharedKey, "node-1", NOW).await.unwrap().unwrap().key.bytes(),
        b"fedcba9876543210"
    );
    assert!(matches!(store.enrol(bob.id, device("node-1")).await, Err(Error::Taken(_))));
    let other_label = Device { identity: Some("node-1".into()), ..device("node-2") };
    assert!(matches!(store.enrol(ann.id, other_label.clone()).await, Err(Error::Taken(_))));
    store.enrol(ann.id, device("node-2")).await.unwrap();
    assert!(matches!(store.enrol(ann.id, other_label).await, Err(Error::Taken(_))));
    assert_eq!(
        store.known(AuthenticationMethod::PreSharedKey, "node-1", NOW).await.unwrap().unwrap().holder,
        Holder::Device(first.id)
    );
    assert!(store.known(AuthenticationMethod::PreSharedKey, "node-3", NOW).await.unwrap().is_none());
    assert!(matches!(store.add_user("ann", "", "a long password".into(), false).await, Err(Error::Taken(_))));
    for label in ["", "7", "a/b", " a", ".", "a\nb"] {
        assert!(matches!(store.enrol(ann.id, device(label)).await, Err(Error::Invalid(_))), "{label:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_keys_nor_passwords_stand_in_the_database() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = open(directory.path()).await;
    resource(&store).await;
    for file in ["sixlock.db", "sixlock.db-wal"] {
        let bytes = std::fs::read(directory.path().join(file)).unwrap();
        for secret in [&b"0123456789abcdef"[..], b"a long password"] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{file}");
        }
    }
}

async fn key(store: &Store, identity: &str, now: i64) -> Option<Vec<u8>> {
    store
        .known(AuthenticationMethod::PreSharedKey, identity, now)
        .await
        .unwrap()
        .map(|psk| psk.key.bytes().to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_key_is_good_until_the_overlap_ends_and_not_after() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = open(directory.path()).await;
    let resource = resource(&store).await;
    let rotated = store.rotate(resource, Rotation::until(NOW + 100), NOW).await.unwrap();
    assert_eq!(rotated.identity, "node-1#2");
    let rotated_key = rotated.key.unwrap();
    assert_eq!(rotated_key.bytes().len(), 32);
    let old = Some(b"0123456789abcdef".to_vec());
    for (now, expected) in [(NOW, &old), (NOW + 99, &old), (NOW + 100, &None)] {
        assert_eq!(key(&store, "node-1", now).await, *expected, "at {now}");
        assert_eq!(key(&store, "node-1#2", now).await.unwrap(), rotated_key.bytes(), "at {now}");
    }
    let known = store.credentials(resource, NOW).await.unwrap();
    let known: Vec<_> = known.iter().map(|known| (known.identity.as_str(), known.expires)).collect();
    assert_eq!(known, [("node-1#2", None), ("node-1", Some(NOW + 100))]);
    assert_eq!(store.credentials(resource, NOW + 100).await.unwrap().len(), 1);

    assert_eq!(store.expire_credentials(NOW + 99).await.unwrap(), Some(NOW + 100));
    assert_eq!(store.expire_credentials(NOW + 100).await.unwrap(), None);
    assert_eq!(key(&store, "node-1", NOW).await, None, "it is gone for good");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_rotation_ends_the_oldest_key_and_one_without_overlap_all_old_ones() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = open(directory.path()).await;
    let resource = resource(&store).await;
    store.rotate(resource, Rotation::until(NOW + 100), NOW).await.unwrap();
    let third = store.rotate(resource, Rotation::until(NOW + 100), NOW).await.unwrap();
    assert_eq!(third.identity, "node-1#3");
    assert_eq!(third.replaced.unwrap().identity, "node-1#2");
    assert_eq!(key(&store, "node-1", NOW).await, None);
    assert!(key(&store, "node-1#2", NOW).await.is_some());
    let fourth = store.rotate(resource, Rotation::until(NOW), NOW).await.unwrap();
    assert_eq!((fourth.identity.as_str(), fourth.replaced), ("node-1#4", None));
    assert_eq!(key(&store, "node-1#2", NOW).await, None);
    assert_eq!(key(&store, "node-1#3", NOW).await, None);

    // Given again, a name belongs to whoever has it now.
    let ann = store.user("ann").await.unwrap().unwrap();
    let other = store.enrol(ann.id, device("node-1#5")).await.unwrap().resource;
    assert_eq!(store.rotate(resource, Rotation::until(NOW), NOW).await.unwrap().identity, "node-1#6");
    assert_eq!(
        store.known(AuthenticationMethod::PreSharedKey, "node-1#5", NOW).await.unwrap().unwrap().holder,
        Holder::Device(other.id)
    );
    let theirs = Rotation { identity: Some("node-1#5".into()), ..Rotation::until(NOW + 100) };
    assert!(matches!(store.rotate(resource, theirs, NOW).await, Err(Error::Taken(_))));
    assert!(key(&store, "node-1#6", NOW + 200).await.is_some(), "a rotation that fails changes nothing");
    assert!(matches!(
        store.rotate(ResourceId(4711), Rotation::until(NOW), NOW).await,
        Err(Error::Unknown(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_credential_is_gone_and_a_resource_without_one_can_get_one_again() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = open(directory.path()).await;
    let resource = resource(&store).await;
    let ann = store.user("ann").await.unwrap().unwrap();
    store.enrol(ann.id, device("node-2")).await.unwrap();
    let remove = |identity: Option<&str>| store.remove_credentials(resource, identity.map(str::to_owned));
    assert!(matches!(remove(Some("node-2")).await, Err(Error::Unknown(_))), "it is another's");
    remove(Some("node-1")).await.unwrap();
    assert_eq!(key(&store, "node-1", NOW).await, None);
    assert!(key(&store, "node-2", NOW).await.is_some());
    assert_eq!(store.resource(ann.id, "node-1").await.unwrap().unwrap().identity, None);
    assert!(matches!(remove(None).await, Err(Error::Unknown(_))));
    assert_eq!(store.rotate(resource, Rotation::until(NOW + 100), NOW).await.unwrap().identity, "node-1");
    store.rotate(resource, Rotation::until(NOW + 100), NOW).await.unwrap();
    remove(None).await.unwrap();
    assert_eq!(store.credentials(resource, NOW).await.unwrap(), []);
}
