//! How a cloud waits for a device's handshake: real datagrams, the DTLS client that devices run, a real cloud.

#[allow(dead_code, reason = "one that falls silent does little")]
mod client;

use std::time::Duration;

use client::{Client, metric};
use sixlock_cloud::Config;
use tokio::task::spawn_blocking;

#[tokio::test(flavor = "multi_thread")]
async fn a_flight_is_sent_again_as_often_as_the_operator_says() {
    const FAILED: &str = r#"sixlock_handshakes_total{outcome="failed"}"#;
    for retransmissions in [0, 2] {
        let directory = tempfile::tempdir().unwrap();
        let config = Config {
            dtls_timeout: Duration::from_millis(100),
            dtls_retransmissions: retransmissions,
            ..Config::on_loopback(directory.path())
        };
        let cloud = sixlock_cloud::start(config, None).await.unwrap();
        let (coaps, http) = (cloud.coaps, cloud.http);
        let falls_silent = move || {
            let _socket = Client::falls_silent(coaps);
            while metric(http, FAILED).is_none() {
                std::thread::sleep(Duration::from_millis(20));
            }
            metric(http, "sixlock_dtls_retransmissions_total")
        };
        assert_eq!(spawn_blocking(falls_silent).await.unwrap(), Some(retransmissions.into()));
        cloud.stop().await.unwrap();
    }
}
