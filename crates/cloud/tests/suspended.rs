//! Sessions go on with the next cloud, as if there had been one all the time: real datagrams, the DTLS client that devices run, a real
//! cloud.

#[allow(dead_code, reason = "of what a device can do, these do little")]
mod client;

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::Path;

use client::{Client, metric};
use sixlock_base::Security;
use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::{Config, Device, Enrolled, ResourceId, Rotation, Running, Secret};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Type};
use sixlock_testing::crash::copy;
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";
/// Where the sessions are in between.
const FILE: &str = "open-sessions";

/// A cloud with so many shards, at an address of its own from the first on.
async fn start(directory: &Path, shards: u16, coaps: Option<SocketAddr>) -> Running {
    let coaps = coaps.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
    let config = Config { shards: NonZeroU16::new(shards), coaps, ..Config::on_loopback(directory) };
    sixlock_cloud::start(config, None).await.unwrap()
}

async fn enrol(cloud: &Running, label: &str, mode: &str, key: &[u8]) -> ResourceId {
    enrol_certified(cloud, label, mode, key).await.resource.id
}

async fn enrol_certified(cloud: &Running, label: &str, mode: &str, key: &[u8]) -> Enrolled {
    let device = Device {
        mode: mode.parse().unwrap_or(Security::default()),
        key: Some(Secret::new(key.to_vec())),
        ..Device::named(label)
    };
    cloud.enrol(device).await.unwrap()
}

/// A post of a reading.
fn post(id: u16) -> Vec<u8> {
    let mut datagram = [0; 128];
    let mut builder =
        Builder::new(&mut datagram, Type::Confirmable, Code::POST, id, &id.to_be_bytes()).unwrap();
    builder.path(&["resources", "data"]).unwrap();
    builder.content_format(ContentFormat::SENML_JSON).unwrap();
    let len = builder.finish_with(format!(r#"[{{"n":"t","u":"Cel","v":{id}}}]"#).as_bytes()).unwrap();
    datagram[..len].to_vec()
}

/// Posts of all clients are answered, and none of them has made a handshake.
async fn go_on(cloud: &Running, mut clients: Vec<Client>, id: u16) -> Vec<Client> {
    let http = cloud.http;
    let posts = move || {
        assert_eq!(metric(http, "sixlock_sessions "), Some(clients.len() as u64));
        for (n, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.ask(&post(id)), Some(Code::CHANGED), "client {n}");
        }
        assert_eq!(metric(http, "sixlock_dtls_handshakes_total "), Some(0));
        clients
    };
    spawn_blocking(posts).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_go_on_after_each_restart_whatever_proves_them_and_however_many_threads_there_are() {
    let directory = tempfile::tempdir().unwrap();
    let mut cloud = start(directory.path(), 2, None).await;
    enrol(&cloud, "node", "dtls-psk", KEY).await;
    let pairs: [KeyPair; 2] = std::array::from_fn(|_| KeyPair::random().unwrap());
    let [raw, certified] = pairs.each_ref().map(|pair| pem::public_key(&pair.point));
    enrol(&cloud, "raw", "dtls-rpk", raw.as_bytes()).await;
    let certificate =
        enrol_certified(&cloud, "certified", "dtls-x509", certified.as_bytes()).await.certificate;
    let own = cloud.store.own_keys();
    let coaps = cloud.coaps;
    // Addresses enough for each of a few threads to hear some.
    let connect = move || {
        let mut clients: Vec<_> = (0..10).map(|_| Client::connect(coaps, "node", KEY).unwrap()).collect();
        clients.extend((0..3).map(|_| Client::roam(coaps, "node", KEY).unwrap()));
        for (pair, certificate) in pairs.iter().zip([None, certificate.as_deref()]) {
            clients.extend((0..3).map(|_| Client::with_key(coaps, pair, certificate, &own).unwrap()));
        }
        clients
    };
    let mut clients = spawn_blocking(connect).await.unwrap();
    for (shards, id) in [2, 3, 1, 4].into_iter().zip(1..) {
        cloud.stop().await.unwrap();
        assert!(directory.path().join(FILE).exists());
        cloud = start(directory.path(), shards, Some(coaps)).await;
        assert!(!directory.path().join(FILE).exists());
        clients = go_on(&cloud, clients, id).await;
        // Some of them from elsewhere.
        clients[10..13].iter_mut().for_each(Client::moves);
        clients = go_on(&cloud, clients, 100 + id).await;
    }
    cloud.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_before_is_refused_after_and_a_post_sent_again_is_stored_once() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path(), 1, None).await;
    let node = enrol(&cloud, "node", "dtls-psk", KEY).await;
    let coaps = cloud.coaps;
    let says = move || {
        let mut client = Client::connect(coaps, "node", KEY).unwrap();
        let record = client.seal(&post(1)).unwrap();
        client.send(&record);
        assert_eq!(client.ask(&post(2)), Some(Code::CHANGED));
        (client, record)
    };
    let (mut client, record) = spawn_blocking(says).await.unwrap();
    cloud.stop().await.unwrap();
    let cloud = start(directory.path(), 1, Some(coaps)).await;
    let http = cloud.http;
    let again = move || {
        client.send(&record);
        // Its answer was lost: it says so again, in another record.
        assert_eq!(client.ask(&post(1)), Some(Code::CHANGED));
        assert_eq!(client.ask(&post(3)), Some(Code::CHANGED));
        assert_eq!(metric(http, "sixlock_dtls_replayed_total "), Some(1));
    };
    spawn_blocking(again).await.unwrap();
    let stream = cloud.store.stream(node, "t").await.unwrap().unwrap();
    let page = sixlock_cloud::Page { limit: 10, from: None, until: None };
    let mut values: Vec<f64> = cloud
        .store
        .points(stream.id, page)
        .await
        .unwrap()
        .iter()
        .map(|point| point.value.number().unwrap())
        .collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [1.0, 2.0, 3.0]);
    cloud.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_credential_has_ended_meanwhile_does_not_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path(), 1, None).await;
    let coaps = cloud.coaps;
    let mut nodes = Vec::new();
    for label in ["kept", "rotated", "removed"] {
        nodes.push(enrol(&cloud, label, "dtls-psk", KEY).await);
    }
    let connect =
        move || ["kept", "rotated", "removed"].map(|label| Client::connect(coaps, label, KEY).unwrap());
    let [kept, mut rotated, mut removed] = spawn_blocking(connect).await.unwrap();
    cloud.stop().await.unwrap();
    let offline = sixlock_cloud::Offline::open(directory.path()).await.unwrap();
    offline.store.rotate(nodes[1], Rotation::until(0), 0).await.unwrap();
    offline.store.remove_credentials(nodes[2], None).await.unwrap();
    offline.close().await.unwrap();
    let cloud = start(directory.path(), 1, Some(coaps)).await;
    go_on(&cloud, vec![kept], 1).await;
    let http = cloud.http;
    let refused = move || {
        for client in [&mut rotated, &mut removed] {
            let record = client.seal(&post(1)).unwrap();
            client.send(&record);
        }
        while metric(http, "sixlock_dtls_no_session_total ") != Some(2) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    spawn_blocking(refused).await.unwrap();
    cloud.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_copy_of_the_file_is_gone_on_with_neither_in_its_place_nor_with_a_copy_of_all_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    let (copied, old) = (tempfile::tempdir().unwrap(), directory.path().join("a copy"));
    let cloud = start(directory.path(), 1, None).await;
    enrol(&cloud, "node", "dtls-psk", KEY).await;
    let coaps = cloud.coaps;
    let client = spawn_blocking(move || Client::connect(coaps, "node", KEY).unwrap()).await.unwrap();
    cloud.stop().await.unwrap();
    let file = directory.path().join(FILE);
    copy(directory.path(), copied.path());
    std::fs::copy(&file, &old).unwrap();

    // The very file is good, and its session goes on a little.
    let cloud = start(directory.path(), 1, Some(coaps)).await;
    let clients = go_on(&cloud, vec![client], 1).await;
    cloud.stop().await.unwrap();
    // The old one in its place is not, although one is expected; nor is what was expected then.
    let newer = directory.path().join("newer");
    std::fs::rename(&file, &newer).unwrap();
    std::fs::copy(&old, &file).unwrap();
    let none = |cloud: &Running| {
        let http = cloud.http;
        spawn_blocking(move || metric(http, "sixlock_sessions "))
    };
    for (data, back) in [(directory.path(), Some(&newer)), (directory.path(), None), (copied.path(), None)] {
        let cloud = start(data, 1, Some(coaps)).await;
        assert_eq!(none(&cloud).await.unwrap(), Some(0));
        assert!(!data.join(FILE).exists());
        cloud.stop().await.unwrap();
        if let Some(back) = back {
            std::fs::rename(back, data.join(FILE)).unwrap();
        }
    }
    drop(clients);
}

/// A cloud that is killed has no time for anything: what it leaves is a copy of its folder while it runs.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_a_session_is_resumed_and_the_one_before_the_restart_does_not_come_back() {
    let [directory, left] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let cloud = start(directory.path(), 1, None).await;
    enrol(&cloud, "node", "dtls-psk", KEY).await;
    let coaps = cloud.coaps;
    let client = spawn_blocking(move || Client::connect(coaps, "node", KEY).unwrap()).await.unwrap();
    cloud.stop().await.unwrap();
    let cloud = start(directory.path(), 1, Some(coaps)).await;
    let mut clients = go_on(&cloud, vec![client], 1).await;
    copy(directory.path(), left.path());
    cloud.stop().await.unwrap();
    let cloud = start(left.path(), 1, Some(coaps)).await;
    let http = cloud.http;
    let resumes = move || {
        assert_eq!(metric(http, "sixlock_sessions "), Some(0));
        let kept = clients.remove(0).left;
        let mut client = Client::resume(coaps, "node", KEY, kept.as_ref()).unwrap();
        assert!(client.has_resumed());
        assert_eq!(client.ask(&post(2)), Some(Code::CHANGED));
    };
    spawn_blocking(resumes).await.unwrap();
    cloud.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_of_the_file_is_left_out_and_the_cloud_starts() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path(), 1, None).await;
    enrol(&cloud, "node", "dtls-psk", KEY).await;
    let coaps = cloud.coaps;
    let mut client = spawn_blocking(move || Client::connect(coaps, "node", KEY).unwrap()).await.unwrap();
    cloud.stop().await.unwrap();
    let file = std::fs::File::options().append(true).open(directory.path().join(FILE)).unwrap();
    file.set_len(file.metadata().unwrap().len() - 1).unwrap();
    let cloud = start(directory.path(), 1, Some(coaps)).await;
    let again = move || {
        client = Client::resume(coaps, "node", KEY, client.left.as_ref()).unwrap();
        assert!(client.has_resumed());
        // Who resumes has the last word: when this is answered, it was heard.
        assert_eq!(client.ask(&post(1)), Some(Code::CHANGED));
        client
    };
    let clients = vec![spawn_blocking(again).await.unwrap()];
    cloud.stop().await.unwrap();
    let cloud = start(directory.path(), 1, Some(coaps)).await;
    go_on(&cloud, clients, 2).await;
    cloud.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_that_is_dropped_instead_of_stopped_suspends_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path(), 2, None).await;
    enrol(&cloud, "node", "dtls-psk", KEY).await;
    let coaps = cloud.coaps;
    let _client = spawn_blocking(move || Client::connect(coaps, "node", KEY).unwrap()).await.unwrap();
    drop(cloud);
    // Its threads have ended when nobody has their address any more.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while std::net::UdpSocket::bind(coaps).is_err() {
        assert!(std::time::Instant::now() < end, "a thread goes on");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(!directory.path().join(FILE).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_certificate_is_learnt_from_the_device_that_shows_it() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path(), 1, None).await;
    let pair = KeyPair::random().unwrap();
    let public = pem::public_key(&pair.point);
    let certified = enrol_certified(&cloud, "certified", "dtls-x509", public.as_bytes()).await;
    let (resource, certificate) = (certified.resource.id, certified.certificate);
    let end = async || cloud.store.credentials(resource, 0).await.unwrap()[0].certificate_expires;
    let known = end().await;
    assert!(known.is_some());
    // As a cloud of an earlier version has left it.
    let database = rusqlite::Connection::open(directory.path().join("sixlock.db")).unwrap();
    database.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    database.execute("UPDATE credentials SET certificate_expires = NULL", []).unwrap();
    assert_eq!(end().await, None);
    let (coaps, own) = (cloud.coaps, cloud.store.own_keys());
    let connect = move || Client::with_key(coaps, &pair, certificate.as_deref(), &own).unwrap();
    let _client = spawn_blocking(connect).await.unwrap();
    let learnt = async {
        while end().await.is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), learnt).await.expect("it is learnt");
    assert_eq!(end().await, known);
    cloud.stop().await.unwrap();
}
