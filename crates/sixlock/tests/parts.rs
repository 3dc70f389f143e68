//! Cloud, border router and nodes, each a process of its own, as a person starts them.

mod support;

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use sixlock_base::Eui64;
use sixlock_router::{Air, Inbound};
use support::Http;
use support::part::{PATIENCE, Part, enrol, enrol_with, said, sixlock};

/// The cloud's address, and that of the channel.
fn cloud_and_router(directory: &Path, mode: &str, devices: &[&str], options: &[&str]) -> ([Part; 2], String) {
    let cloud = Part::start(
        directory,
        &["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"],
    );
    let coaps = cloud.says("coaps=");
    enrol(directory, mode, devices);
    let arguments = ["router", "network.toml", "--air", "127.0.0.1:0", "--coaps", &coaps];
    let router = Part::start(directory, &[&arguments, options].concat());
    let air = router.says("ready air=");
    ([cloud, router], air)
}

#[test]
fn threads_that_serve_devices_come_before_those_of_http() {
    let directory = tempfile::tempdir().unwrap();
    let cloud = Part::start(
        directory.path(),
        &["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"],
    );
    cloud.says("coaps=");
    let threads = cloud.threads();
    let of = |name: &str| {
        let nice = threads.iter().filter(|(own, _)| own.starts_with(name)).map(|(_, nice)| *nice);
        let nice: Vec<i64> = nice.collect();
        assert!(!nice.is_empty(), "no thread {name}: {threads:?}");
        nice
    };
    let http = of("tokio");
    for first in [of("coap-"), of("writer")] {
        assert!(first.iter().max() < http.iter().min(), "{threads:?}");
    }
}

#[test]
fn nodes_join_a_border_router_and_the_cloud_has_their_readings() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_parts, air) =
        cloud_and_router(directory, "llsec+esp+dtls-psk", &["first", "second", "stranger"], &[]);
    // A node that has the link's key, and another's of IPsec.
    let stranger = std::fs::read_to_string(directory.join("stranger.toml")).unwrap();
    let first = std::fs::read_to_string(directory.join("first.toml")).unwrap();
    let (own, _) = stranger.split_once("[ipsec]").unwrap();
    let (_, keys) = first.split_once("[ipsec]").unwrap();
    std::fs::write(directory.join("stranger.toml"), format!("{own}[ipsec]{keys}")).unwrap();

    std::fs::write(directory.join("sensors"), "-3.5 43.1 310\n").unwrap();
    let node = |file: &str| {
        Part::start(directory, &["node", file, "--air", &air, "--period", "1s", "--sensors", "sensors"])
    };
    let stranger = node("stranger.toml");
    assert_eq!(stranger.says("reading: "), "-3.5 °C, 43.1 %RH, 310 lx");
    let nodes = [node("first.toml"), node("second.toml")];
    for node in &nodes {
        node.says("DTLS session opened");
        for _ in 0..3 {
            node.says("the cloud has the reading");
        }
    }
    assert!(!stranger.has_said("DTLS session opened"));
    // A node that starts anew is heard again: its counters go on.
    let [first, second] = nodes;
    drop(first);
    let first = node("first.toml");
    first.says("the cloud has the reading");
    second.says("the cloud has the reading");
}

/// Files of earlier versions do not say how the network routes.
#[test]
fn a_network_whose_files_say_nothing_of_routing_has_static_routes() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cloud = ["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"];
    let cloud = Part::start(directory, &cloud);
    cloud.says("coaps=");
    enrol(directory, "llsec+dtls-psk", &["only"]);
    for file in ["network.toml", "only.toml"] {
        let path = directory.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let old = text.replace("routing = \"rpl\"\n", "");
        assert_ne!(text, old, "{text}");
        std::fs::write(path, old).unwrap();
    }
    let router = Part::start(directory, &["router", "network.toml", "--air", "127.0.0.1:0"]);
    let air = router.says("ready air=");
    let recorder = Recorder::join(&air);
    let node = Part::start(directory, &["node", "only.toml", "--air", &air, "--period", "1s"]);
    node.says("the cloud has the reading");
    let frames: Vec<_> = recorder.frames.try_iter().collect();
    // RPL begins with messages to all, whose destinations are short addresses.
    let is_to_all = |inbound: &Inbound| matches!(inbound, Inbound::Frame(frame) if frame[1] & 0x0c == 0x08);
    assert!(frames.len() > 3 && !frames.iter().any(is_to_all));
}

#[test]
fn a_border_router_that_starts_anew_has_its_nodes_again_by_rpl() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let ([_cloud, router], air) = cloud_and_router(directory, "esp+dtls-psk", &["first", "second"], &[]);
    let nodes = ["first.toml", "second.toml"]
        .map(|file| Part::start(directory, &["node", file, "--air", &air, "--period", "1s"]));
    for node in &nodes {
        node.says("the cloud has the reading");
    }
    drop(router);
    let coaps = std::fs::read(directory.join("data/endpoints.json")).unwrap();
    let coaps = serde_json::from_slice::<serde_json::Value>(&coaps).unwrap()["coaps"].clone();
    let args = ["router", "network.toml", "--air", &air, "--coaps", coaps.as_str().unwrap()];
    let router = Part::start(directory, &args);
    router.says("ready air=");
    for node in &nodes {
        while node.has_said("the cloud has the reading") {}
        node.says("the cloud has the reading");
    }
    // Its version is another: durable, and one further.
    let counters = std::fs::read_to_string(directory.join("network.counters")).unwrap();
    assert!(counters.contains("rpl_sequence = 2"), "{counters}");
}

#[test]
fn nodes_do_without_ipsec_as_well_on_a_channel_of_this_machine_alone() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_parts, air) = cloud_and_router(directory, "dtls-psk", &["only"], &[]);
    let node = Part::start(directory, &["node", "only.toml", "--air", &air, "--period", "1s"]);
    node.says("the cloud has the reading");
    let output = sixlock(directory, &["node", "only.toml", "--air", &air]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("only.counters: another process is this device already"),
        "{}",
        said(&output)
    );
    drop(node);
    let output = sixlock(directory, &["node", "only.toml", "--air", "192.0.2.1:17754"]).output().unwrap();
    assert!(said(&output).contains("frames would go to 192.0.2.1:17754 in the clear"), "{}", said(&output));
}

#[test]
fn nodes_prove_by_public_keys_who_they_are_and_links_compress_what_they_say() {
    for (mode, how) in [("llsec+dtls-rpk", "lithe"), ("llsec+dtls-x509", "ghc")] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let options = ["--compression", how];
        let (_parts, air) = cloud_and_router(directory, mode, &["only"], &options);
        let node = Part::start(
            directory,
            &[&["node", "only.toml", "--air", &air, "--period", "1s"], &options[..]].concat(),
        );
        node.says("DTLS session opened");
        node.says("the cloud has the reading");
    }
}

/// The cloud asks a node through the border router's port, and both prove themselves by what the node is enrolled with.
#[test]
fn the_cloud_asks_a_node_of_a_border_router() {
    for mode in ["llsec+dtls-psk", "llsec+dtls-rpk", "llsec+dtls-x509"] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        // Nobody has the port while the router does not.
        let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let cloud = ["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"];
        let cloud = Part::start(directory, &[&cloud[..], &["--poll-allow", &free.to_string()]].concat());
        let ready = cloud.says("ready http=");
        let (http, coaps) = (ready.split(' ').next().unwrap(), ready.rsplit('=').next().unwrap());
        let http = Http::of(http, &directory.join("data"));
        let server: &[_] = if mode.ends_with("x509") { &["--server"] } else { &[] };
        enrol_with(directory, mode, &["only"], server);
        let (air, ports) =
            (["--air", "127.0.0.1:0", "--coaps", coaps], ["--ports", &free.port().to_string()]);
        let router = Part::start(directory, &[&["router", "network.toml"], &air[..], &ports[..]].concat());
        let air = router.says("ready air=");
        assert_eq!(
            router.says("node 1 is reached at device_coaps=").split(';').next(),
            Some(&*free.to_string())
        );
        let node = Part::start(directory, &["node", "only.toml", "--air", &air, "--period", "1s"]);
        node.says("the cloud has the reading");
        let path = "/api/v1/users/admin/resources/only/poller";
        http.put(path, &format!(r#"{{"url":"coaps://{free}/sensors","period":5}}"#));
        let end = Instant::now() + PATIENCE;
        loop {
            let poller = http.get(path);
            if !poller["last_polled"].is_null() {
                assert_eq!(poller["last_error"], serde_json::Value::Null, "{mode}: {poller}");
                break;
            }
            assert!(Instant::now() < end, "{mode}: {poller}");
            std::thread::sleep(Duration::from_millis(200));
        }
        node.says("the cloud has the reading");
    }
}

#[test]
fn a_node_says_that_nobody_answers_and_its_border_router_finds_the_cloud_by_the_networks_file() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cloud = ["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"];
    let cloud = Part::start(directory, &cloud);
    let coaps = cloud.says("coaps=");
    enrol(directory, "dtls-psk", &["only"]);
    // Nobody has the port while the router does not.
    let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let node = Part::start(directory, &["node", "only.toml", "--air", &free, "--period", "1s"]);
    let advice = node.says(&format!("no answer from {free} yet"));
    assert!(advice.contains("sixlock router"), "{advice}");
    let router = Part::start(directory, &["router", "network.toml", "--air", &free]);
    assert_eq!(router.says("goes to "), coaps);
    node.says(&format!("{free} answers now"));
    node.says("the cloud has the reading");
}

/// Each with an option of its own, whatever the files say.
#[test]
fn a_node_says_which_option_mends_it_when_it_and_its_border_router_route_differently() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cloud = ["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"];
    let cloud = Part::start(directory, &cloud);
    let coaps = cloud.says("coaps=");
    enrol(directory, "llsec+esp+dtls-psk", &["first", "second"]);
    for (of_router, of_nodes, mends, why) in [
        ("rpl", "static", "start this node with --routing rpl", "the border router routes by RPL"),
        (
            "static",
            "rpl",
            "start this node with --routing static",
            "no DIO of RPL has come that this node can use",
        ),
    ] {
        let arguments =
            ["router", "network.toml", "--air", "127.0.0.1:0", "--coaps", &coaps, "--routing", of_router];
        let router = Part::start(directory, &arguments);
        let air = router.says("ready air=");
        let node = |file: &str, routing: &str| {
            Part::start(directory, &["node", file, "--air", &air, "--period", "1s", "--routing", routing])
        };
        let nodes = ["first.toml", "second.toml"].map(|file| node(file, of_nodes));
        for node in &nodes {
            let trouble = node.says(&format!("no answer from {air} yet: "));
            assert!(
                trouble.starts_with(why) && trouble.contains(mends),
                "{of_router}, {of_nodes}: {trouble}"
            );
        }
        let [first, second] = nodes;
        drop(first);
        let mended = node("first.toml", of_router);
        mended.says("the cloud has the reading");
        drop(second);
    }
}

/// What listens at a channel, and keeps the frames.
struct Recorder {
    air: Air,
    frames: Receiver<Inbound>,
}

impl Recorder {
    fn join(air: &str) -> Self {
        let air = Air::join(air.parse().unwrap(), 26, 99).unwrap();
        let (sender, frames) = sync_channel(4096);
        air.read(sender).unwrap();
        Self { air, frames }
    }

    /// The frames that node 1 has sent so far.
    fn of_node_1(&self) -> Vec<Vec<u8>> {
        let mut source = Eui64::of_node(1).0;
        source.reverse();
        let frames = self.frames.try_iter().filter_map(|inbound| match inbound {
            // Behind the frame control, the sequence number, the PAN and the destination.
            Inbound::Frame(frame) if frame.get(13..21) == Some(&source) => Some(frame),
            _ => None,
        });
        frames.collect()
    }
}

#[test]
fn frames_recorded_before_a_restart_of_the_border_router_are_refused_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let ([_cloud, router], air) = cloud_and_router(directory, "llsec+dtls-psk", &["only"], &[]);
    let recorder = Recorder::join(&air);
    let node = Part::start(directory, &["node", "only.toml", "--air", &air, "--period", "1s"]);
    for _ in 0..3 {
        node.says("the cloud has the reading");
    }
    let recorded = recorder.of_node_1();
    assert!(recorded.len() >= 3, "{}", recorded.len());
    drop(node);
    // It is killed: it has no time to write anything down.
    drop(router);
    let router = Part::start(directory, &["router", "network.toml", "--air", "127.0.0.1:0"]);
    let air = router.says("ready air=");
    let mut recorder = Recorder::join(&air);
    for frame in &recorded {
        recorder.air.send(frame);
    }
    // The last one may count as a duplicate.
    while router.says("mac_replayed=").split(' ').next().unwrap().parse::<usize>().unwrap() + 1
        < recorded.len()
    {}
    // The node itself goes on, and is heard.
    drop(router);
    let coaps = serde_json::from_slice::<serde_json::Value>(
        &std::fs::read(directory.join("data/endpoints.json")).unwrap(),
    );
    let coaps = coaps.unwrap()["coaps"].as_str().unwrap().to_owned();
    let args = ["router", "network.toml", "--air", "127.0.0.1:0", "--coaps", &coaps];
    let router = Part::start(directory, &args);
    let air = router.says("ready air=");
    let node = Part::start(directory, &["node", "only.toml", "--air", &air, "--period", "1s"]);
    node.says("the cloud has the reading");
    assert!(!router.has_said("mac_replayed"));
}

#[test]
fn a_node_that_is_to_tell_readings_without_any_protection_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_parts, air) = cloud_and_router(directory, "dtls-psk", &["only"], &[]);
    let output = sixlock(directory, &["node", "only.toml", "--air", &air, "--serve"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("its mode is to have llsec, ah or esp, too"), "{}", said(&output));
}

#[test]
fn keys_of_ipsec_are_made_for_a_node_and_its_border_router_only() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let args = [
        "keys",
        "psk",
        "--data",
        "data",
        "--coaps",
        "127.0.0.1:5684",
        "--mode",
        "ah+dtls-psk",
        "--resource",
        "a",
    ];
    let output = sixlock(directory, &args).output().unwrap();
    assert!(said(&output).contains("name its file with --network"), "{}", said(&output));
    assert!(!directory.join("a.toml").exists());
}

#[test]
fn who_is_cut_off_is_told_at_the_start_where_ipsec_is_enforced() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let up = ["up", "--nodes", "2", "--listen", "127.0.0.1:0", "--coap", "127.0.0.1:0"];
    let rest = ["--coaps", "127.0.0.1:0", "--data", "data", "--security", "llsec", "--enforce", "ipsec"];
    let up = Part::start(directory, &[&up[..], &rest].concat());
    let [warned, _] = up.says_all(["IPsec is enforced, and no node has it", "ready "]);
    assert!(warned.contains("llsec+esp"), "{warned}");
    enrol(directory, "dtls-psk", &["only"]);
    let args = ["router", "network.toml", "--air", "127.0.0.1:0", "--enforce", "ipsec"];
    Part::start(directory, &args).says("IPsec is enforced, and no node has it");
}
