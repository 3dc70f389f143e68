//! Devices come back after the cloud was started anew: real datagrams, the DTLS client that devices run, a real cloud.

#[allow(dead_code, reason = "of what a device can do, these do little")]
mod client;

use std::path::Path;

use client::Client;
use sixlock_cloud::{Config, Device, ResourceId, Rotation, Running, Secret};
use sixlock_dtls::SessionState;
use sixlock_testing::crash::copy;
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";

async fn start(directory: &Path) -> Running {
    sixlock_cloud::start(Config::on_loopback(directory), None).await.unwrap()
}

/// Adds two devices, and says which resource the first is.
async fn enrol(cloud: &Running) -> ResourceId {
    let [first, second] = ["node-1", "node-2"].map(|label| {
        let device = Device { key: Some(Secret::new(KEY.to_vec())), ..Device::named(label) };
        cloud.enrol(device)
    });
    second.await.unwrap();
    first.await.unwrap().resource.id
}

/// `identity` connects, and resumes what is `left` of a session of another client's.
async fn connect(cloud: &Running, identity: &'static str, left: Option<Client>) -> Client {
    let address = cloud.coaps;
    let connect = move || {
        let left = left.as_ref().and_then(|client| client.left.as_ref());
        Client::resume(address, identity, KEY, left).unwrap()
    };
    spawn_blocking(connect).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_resumed_after_each_restart() {
    let directory = tempfile::tempdir().unwrap();
    let mut cloud = start(directory.path()).await;
    enrol(&cloud).await;
    let mut nodes = [connect(&cloud, "node-1", None).await, connect(&cloud, "node-2", None).await].map(Some);
    for _ in 0..3 {
        cloud.stop().await.unwrap();
        cloud = start(directory.path()).await;
        for (identity, node) in ["node-1", "node-2"].into_iter().zip(&mut nodes) {
            let resumed = connect(&cloud, identity, node.take()).await;
            assert!(resumed.has_resumed());
            *node = Some(resumed);
        }
    }
    cloud.stop().await.unwrap();
}

/// Until the disk has it, a crash takes what is left of a session with it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_on_the_disk_when_the_cloud_is_killed_is_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path()).await;
    enrol(&cloud).await;
    let file = directory.path().join("sessions");
    let length = || std::fs::metadata(&file).unwrap().len();
    let before = length();
    let node = connect(&cloud, "node-1", None).await;
    while length() == before {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let left = tempfile::tempdir().unwrap();
    copy(directory.path(), left.path());
    cloud.stop().await.unwrap();
    let cloud = start(left.path()).await;
    assert!(connect(&cloud, "node-1", Some(node)).await.has_resumed());
    cloud.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_a_replaced_key_nor_a_damaged_file_resumes_anything_and_both_clouds_start() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path()).await;
    let node_1 = enrol(&cloud).await;
    let nodes = [connect(&cloud, "node-1", None).await, connect(&cloud, "node-2", None).await];
    cloud.stop().await.unwrap();

    let cloud = start(directory.path()).await;
    cloud.store.rotate(node_1, Rotation::until(0), 0).await.unwrap();
    cloud.stop().await.unwrap();

    let [node_1, node_2] = nodes;
    let cloud = start(directory.path()).await;
    let address = cloud.coaps;
    let refused = spawn_blocking(move || Client::resume(address, "node-1", KEY, node_1.left.as_ref()));
    assert!(refused.await.unwrap().is_err());
    cloud.stop().await.unwrap();

    std::fs::write(directory.path().join("sessions"), [0; 100]).unwrap();
    let cloud = start(directory.path()).await;
    let node_2 = connect(&cloud, "node-2", Some(node_2)).await;
    assert!(!node_2.has_resumed());
    cloud.stop().await.unwrap();
    let cloud = start(directory.path()).await;
    assert!(connect(&cloud, "node-2", Some(node_2)).await.has_resumed());
    cloud.stop().await.unwrap();
}

/// `node-1` connects, and resumes what is left of a session by its ticket.
async fn connect_by_ticket(cloud: &Running, left: Option<(SessionState, Vec<u8>)>) -> Option<Client> {
    let address = cloud.coaps;
    let connect = move || {
        let left = left.as_ref().map(|(left, ticket)| (left, &ticket[..]));
        Client::resume_by_ticket(address, "node-1", KEY, left).ok()
    };
    spawn_blocking(connect).await.unwrap()
}

/// Of a session with a ticket nothing has to come to the disk.
#[tokio::test(flavor = "multi_thread")]
async fn who_has_nothing_but_a_ticket_resumes_after_a_crash_until_its_key_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path()).await;
    let node_1 = enrol(&cloud).await;
    let before = std::fs::metadata(directory.path().join("sessions")).unwrap().len();
    let client = connect_by_ticket(&cloud, None).await.unwrap();
    let kept = (client.left.clone().unwrap(), client.ticket.clone().unwrap());
    assert!(kept.0.session_id().is_empty() && !client.has_resumed());
    let crashed = tempfile::tempdir().unwrap();
    copy(directory.path(), crashed.path());
    cloud.stop().await.unwrap();
    assert_eq!(std::fs::metadata(directory.path().join("sessions")).unwrap().len(), before);

    for directory in [crashed.path(), directory.path()] {
        for _ in 0..2 {
            let cloud = start(directory).await;
            assert!(connect_by_ticket(&cloud, Some(kept.clone())).await.unwrap().has_resumed());
            cloud.stop().await.unwrap();
        }
    }

    let cloud = start(directory.path()).await;
    cloud.store.rotate(node_1, Rotation::until(0), 0).await.unwrap();
    assert!(
        connect_by_ticket(&cloud, Some(kept)).await.is_none(),
        "its ticket is void, and its key is wrong"
    );
    cloud.stop().await.unwrap();
}
