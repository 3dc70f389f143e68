//! `sixlock up` with a microcontroller in an emulator among its nodes, `sixlock router` at the serial port of one, and `sixlock eval` with what one has
//! measured. Left out unless it is asked for (`-- --ignored`):
//! `./test` sees to emulators and images.

mod bridge;
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bridge::emulated::Emulated;
use bridge::{Bridge, link_key};
use support::Up;
use support::namespace::{inside, run};
use support::part::{Part, enrol};

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

/// The scenario of the guide to measurements of one's own.
fn of_the_guide() -> &'static str {
    let guide = include_str!("../../../docs/evaluation.md");
    let (_, after) = guide.split_once("```toml\n").unwrap();
    after.split_once("```").unwrap().0
}

#[test]
#[ignore = "needs QEMU and the image"]
fn what_a_node_has_measured_stands_in_the_third_column_of_eval() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (scenario, serial) = (file("measured.toml"), file("serial.log"));
    std::fs::write(&scenario, of_the_guide()).unwrap();
    let sixlock = |arguments: &[&str]| {
        let mut sixlock = Command::new(env!("CARGO_BIN_EXE_sixlock"));
        // Images are where the workspace is built.
        sixlock.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let output = sixlock.args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    sixlock(&["sim", &scenario, "--serial", &serial]);
    let report = std::fs::read_to_string(&serial).unwrap();
    // A terminal program that was there before a board started has more.
    std::fs::write(&serial, [b"\xff\x00boot\r\n", report.replace('\n', "\r\n").as_bytes()].concat()).unwrap();
    let said = sixlock(&["eval", "validation", "--runs", "2", "--measured", &serial]);
    println!("{said}");
    for bytes in ["16", "64", "512"] {
        let begin = format!("echo,1,none,csma,{bytes},100,100,");
        let echo = report.lines().find_map(|line| line.strip_prefix(&begin)).expect(&begin);
        let mean: f64 = echo.split(',').next().unwrap().parse().unwrap();
        let rows = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = rows.into_iter().find(|words| words.starts_with(&["1", "hop", bytes])).expect(bytes);
        let shown = row[row.len() - 3];
        let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        assert!(decimals >= 2, "{said}");
        assert_eq!(shown, format!("{:.decimals$}", mean / 1000.0), "{said}");
    }
    let far = said.lines().find(|line| line.trim_start().starts_with("3 hops")).unwrap();
    assert!(far.ends_with("- ms    estimate"), "it was not measured: {far}");
}

/// Where a build leaves the image `name`.
fn image(target: &str, name: &str) -> PathBuf {
    let built = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    // Tests run in the package's folder, images are built in the workspace's.
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(built);
    built.join("firmware").join(target).join("release").join(name)
}

#[test]
#[ignore = "needs QEMU, mspdebug and the images"]
fn a_router_at_the_serial_port_of_an_emulated_bridge_carries_readings_and_pings() {
    if !inside("a_router_at_the_serial_port_of_an_emulated_bridge_carries_readings_and_pings") {
        return;
    }
    // The root of RPL is told no routes.
    for (target, name, routes, routing) in [
        ("thumbv7m-none-eabi", "bridge-llsec", 1, "static"),
        ("msp430-none-elf", "bridge-llsec", 1, "static"),
        ("thumbv7m-none-eabi", "bridge-llsec-rpl", 0, "rpl"),
        ("msp430-none-elf", "bridge-llsec-rpl", 0, "rpl"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let cloud = ["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"];
        let cloud = Part::start(directory, &cloud);
        let coaps = cloud.says("coaps=");
        enrol(directory, "llsec+dtls-psk", &["only"]);
        let device = directory.join("bridge");
        let (image, key) = (image(target, name), link_key(directory));
        let bridge = Bridge::plug(&device, move || Emulated::new(&image, key, routes));
        let path = device.to_str().unwrap();
        let arguments = ["router", "network.toml", "--serial", path, "--coaps", &coaps, "--tun"];
        let router = Part::start(directory, &arguments);
        router.says(" answers");
        let air = bridge.air.to_string();
        let node = Part::start(
            directory,
            &["node", "only.toml", "--air", &air, "--period", "1s", "--routing", routing],
        );
        node.says("DTLS session opened");
        node.says("the cloud has the reading");
        for bytes in ["56", "1200"] {
            let arguments = ["-6", "-c", "1", "-W", "60", "-s", bytes, "fd00::12:7400:0:1"];
            let (ok, said) = run("ping", "iputils-ping", &arguments);
            assert!(ok, "{name} for {target}, {bytes} bytes: {said}");
        }
    }
}
