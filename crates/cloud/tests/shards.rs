//! Devices at a cloud that serves them with several threads: real datagrams, the DTLS client that devices run, a real cloud.

#[allow(dead_code, reason = "of what a device can do, these do little")]
mod client;

use std::num::NonZeroU16;
use std::path::Path;

use client::{Client, metric};
use sixlock_cloud::{Config, Device, ResourceId, Rotation, Running, Secret};
use sixlock_coap_msg::{Builder, Code, Type};
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";
const SHARDS: u16 = 4;
/// So many addresses are not all at one shard of four but by an accident that comes once in 10^12 runs.
const ADDRESSES: u16 = 20;

/// A cloud with one device.
async fn start(directory: &Path, shards: u16) -> (Running, ResourceId) {
    let config = Config { shards: NonZeroU16::new(shards), ..Config::on_loopback(directory) };
    let cloud = sixlock_cloud::start(config, None).await.unwrap();
    let device = Device { key: Some(Secret::new(KEY.to_vec())), ..Device::named("node") };
    let resource = cloud.enrol(device).await.unwrap().resource.id;
    (cloud, resource)
}

/// A request that a device may make.
fn get(id: u16) -> Vec<u8> {
    let mut datagram = [0; 64];
    let mut builder =
        Builder::new(&mut datagram, Type::Confirmable, Code::GET, id, &id.to_be_bytes()).unwrap();
    builder.path(&["resources"]).unwrap();
    let len = builder.finish();
    datagram[..len].to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_whichever_thread_hears_its_device_at_another_address() {
    let directory = tempfile::tempdir().unwrap();
    let (cloud, _) = start(directory.path(), SHARDS).await;
    let (coaps, http) = (cloud.coaps, cloud.http);
    let roams = move || {
        let mut client = Client::roam(coaps, "node", KEY).unwrap();
        for id in 1..=ADDRESSES {
            client.moves();
            assert_eq!(client.ask(&get(id)), Some(Code::CONTENT), "at address {id}");
        }
        let passed = metric(http, r#"sixlock_handed_over_total{outcome="passed"}"#);
        assert!(passed.is_some_and(|passed| passed > 0), "{passed:?} datagrams were handed over");
        assert_eq!(metric(http, "sixlock_dtls_handshakes_total"), Some(1));
        assert_eq!(
            metric(http, r#"sixlock_requests_total{scheme="coaps",status="205"}"#),
            Some(ADDRESSES.into())
        );
        assert_eq!(metric(http, "sixlock_sessions"), Some(1));
    };
    spawn_blocking(roams).await.unwrap();
    cloud.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_resumed_whichever_thread_hears_its_device_and_however_many_there_are_by_now() {
    let directory = tempfile::tempdir().unwrap();
    let mut left = None;
    for shards in [1, SHARDS, SHARDS, 3] {
        let (cloud, _) = start(directory.path(), shards).await;
        let coaps = cloud.coaps;
        let resumes = move || {
            let mut client = match left {
                None => Client::connect(coaps, "node", KEY).unwrap(),
                Some(left) => Client::resume(coaps, "node", KEY, Some(&left)).unwrap(),
            };
            for id in 1..=ADDRESSES {
                client = Client::resume(coaps, "node", KEY, client.left.as_ref()).unwrap();
                assert!(client.has_resumed(), "at address {id} of {shards} threads");
                assert_eq!(client.ask(&get(id)), Some(Code::CONTENT));
            }
            client.left
        };
        left = spawn_blocking(resumes).await.unwrap();
        cloud.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_a_key_is_revoked_every_thread_has_closed_its_sessions() {
    let directory = tempfile::tempdir().unwrap();
    let (cloud, resource) = start(directory.path(), SHARDS).await;
    let coaps = cloud.coaps;
    let connect =
        move || (0..ADDRESSES).map(|_| Client::connect(coaps, "node", KEY).unwrap()).collect::<Vec<_>>();
    let clients = spawn_blocking(connect).await.unwrap();
    cloud.store.rotate(resource, Rotation::until(0), 0).await.unwrap();
    let closed = move || {
        for (mut client, id) in clients.into_iter().zip(1..) {
            assert_eq!(client.ask(&get(id)), None);
            assert!(client.is_closed(), "session {id}");
        }
    };
    spawn_blocking(closed).await.unwrap();
    cloud.stop().await.unwrap();
}
