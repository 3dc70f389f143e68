//! Cloud, border router and nodes, each a process of its own, as a person starts them.

mod support;

use std::path::Path;

use support::part::{Part, enrol, said, sixlock};

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
