//! Keys that cannot be looked up for a while, at a real cloud: its database is made to fail.

#[allow(dead_code, reason = "of what a device can do, this does little")]
mod client;

use std::path::Path;

use client::{Client, metric};
use sixlock_cloud::{Config, Device, Running, Secret};
use sixlock_dtls::SessionState;
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";

async fn start(directory: &Path) -> Running {
    sixlock_cloud::start(Config::on_loopback(directory), None).await.unwrap()
}

/// The device connects, and resumes what is `left` of a session if it can; nothing if it gives up.
async fn connect(cloud: &Running, left: Option<SessionState>) -> Option<Client> {
    let address = cloud.coaps;
    let connect = move || Client::resume(address, "node-1", KEY, left.as_ref()).ok();
    spawn_blocking(connect).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_resumed_after_a_time_in_which_no_key_could_be_looked_up() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = start(directory.path()).await;
    let device = Device { key: Some(Secret::new(KEY.to_vec())), ..Device::named("node-1") };
    cloud.enrol(device).await.unwrap();
    let left = connect(&cloud, None).await.unwrap().left;
    assert!(left.is_some());
    // The next cloud remembers no keys.
    cloud.stop().await.unwrap();
    let cloud = start(directory.path()).await;
    let database = rusqlite::Connection::open(directory.path().join("sixlock.db")).unwrap();
    database.execute_batch("ALTER TABLE credentials RENAME TO kept").unwrap();
    assert!(connect(&cloud, left.clone()).await.is_none());
    let http = cloud.http;
    let faults = spawn_blocking(move || metric(http, "sixlock_faults_total{at=\"look_up\"}"));
    assert!(faults.await.unwrap() > Some(0), "the look-ups failed");
    database.execute_batch("ALTER TABLE kept RENAME TO credentials").unwrap();
    assert!(connect(&cloud, left).await.unwrap().has_resumed());
    cloud.stop().await.unwrap();
}
