//! `sixlock up` with a microcontroller in an emulator among its nodes. Left out unless it is asked for (`-- --ignored`):
//! `./test` sees to emulators and images.

mod support;

use std::time::{Duration, Instant};

use support::Up;

/// How long the readings may take.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
#[ignore = "needs QEMU and the image"]
fn an_emulated_node_s_readings_reach_the_cloud_through_dtls() {
    // Images are where the workspace is built.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    let up = Up::start(&["--nodes", "3", "--security", "dtls-psk", "--emulate", "2=openmote"]);
    let started = Instant::now();
    let network = loop {
        let network = up.http().get("/api/v1/network");
        let nodes = network["nodes"].as_array().unwrap();
        // Two readings of three points each, also from the node behind the emulated one.
        if nodes.len() == 3 && nodes.iter().all(|node| node["points"].as_u64() >= Some(6)) {
            break network;
        }
        assert!(started.elapsed() < PATIENCE, "not every node has two readings: {network}");
        std::thread::sleep(Duration::from_millis(500));
    };
    assert!(network["nodes"][1]["handshakes"].as_u64() >= Some(1), "{network}");
    let points = up.http().get("/api/v1/users/admin/resources/node-2/streams/temperature/data?limit=2");
    let values: Vec<_> = points.as_array().unwrap().iter().map(|point| point["value"].as_f64()).collect();
    assert_eq!(values.len(), 2);
    assert!(values.iter().all(|value| (Some(16.0)..Some(27.0)).contains(value)), "{values:?}");
}
