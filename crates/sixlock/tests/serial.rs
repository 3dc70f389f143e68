//! `sixlock router --serial`: nodes behind a bridge at a pseudo-terminal, which runs the code of the image.

mod bridge;
mod support;

use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

use bridge::native::{Listed, Native};
use bridge::terminal::Terminal;
use bridge::{Bridge, link_key, spi};
use support::namespace::{inside, run};
use support::part::{Part, enrol, said, sixlock};

/// A cloud with these devices, and where it takes CoAP over DTLS.
fn cloud(directory: &Path, mode: &str, devices: &[&str]) -> (Part, String) {
    let cloud = Part::start(
        directory,
        &["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"],
    );
    let coaps = cloud.says("coaps=");
    enrol(directory, mode, devices);
    (cloud, coaps)
}

/// A bridge with so many nodes beside it.
fn native(directory: &Path, nodes: u32) -> impl FnOnce() -> Native<Listed> + Send + 'static {
    begun_before(directory, nodes, 0)
}

/// The same, whose frames go on at this counter.
fn begun_before(
    directory: &Path,
    nodes: u32,
    frame_counter: u32,
) -> impl FnOnce() -> Native<Listed> + Send + 'static {
    let (key, spi) = (link_key(directory), spi(directory));
    move || Native::new(key, nodes, spi, frame_counter)
}

#[test]
fn readings_reach_the_cloud_through_a_bridge_that_is_unplugged_and_comes_again() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_cloud, coaps) = cloud(directory, "llsec+dtls-psk", &["first", "second"]);
    let device = directory.join("bridge");
    let path = device.to_str().unwrap();
    let arguments = ["router", "network.toml", "--serial", path, "--coaps", &coaps];
    let output = sixlock(directory, &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("bridge: plug the bridge in"), "{}", said(&output));

    let bridge = Bridge::plug(&device, native(directory, 2));
    let router = Part::start(directory, &arguments);
    router.says_all(["ready serial=", " answers"]);
    let again = sixlock(directory, &[&arguments[..], &["--counters", "other"]].concat()).output().unwrap();
    assert!(said(&again).contains("another sixlock router has "), "{}", said(&again));

    let node = |file: &str, bridge: &Bridge| {
        let air = bridge.air.to_string();
        Part::start(directory, &["node", file, "--air", &air, "--period", "1s", "--routing", "static"])
    };
    let nodes = ["first.toml", "second.toml"].map(|file| node(file, &bridge));
    for node in &nodes {
        node.says("DTLS session opened");
        node.says("the cloud has the reading");
    }
    drop((nodes, bridge));
    router.says("the serial line is gone");

    let bridge = Bridge::plug(&device, begun_before(directory, 2, 1 << 20));
    router.says(" is there again");
    let node = node("first.toml", &bridge);
    node.says("the cloud has the reading");
}

/// The board is the root: what the router has of the mesh is the line.
#[test]
fn readings_reach_the_cloud_through_a_bridge_whose_nodes_speak_rpl() {
    for mode in ["llsec+dtls-psk", "esp+dtls-psk"] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let (_cloud, coaps) = cloud(directory, mode, &["first", "second"]);
        let device = directory.join("bridge");
        let (key, spi) = (link_key(directory), spi(directory));
        let bridge = Bridge::plug(&device, move || Native::root(key, spi));
        let arguments = ["router", "network.toml", "--serial", device.to_str().unwrap(), "--coaps", &coaps];
        let router = Part::start(directory, &arguments);
        router.says(" answers");
        let air = bridge.air.to_string();
        let nodes = ["first.toml", "second.toml"]
            .map(|file| Part::start(directory, &["node", file, "--air", &air, "--period", "1s"]));
        for node in &nodes {
            node.says("the cloud has the reading");
        }
    }
}

#[test]
fn a_bridge_that_is_silent_is_told_of_and_garbage_on_the_line_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_cloud, coaps) = cloud(directory, "llsec+dtls-psk", &["only"]);
    let device = directory.join("bridge");
    let arguments = ["router", "network.toml", "--serial", device.to_str().unwrap(), "--coaps", &coaps];
    let mut terminal = Terminal::new(&device);
    let router = Part::start(directory, &arguments);
    router.says(" does not answer: is it on");
    terminal.write(b"U-Boot 1.0\r\n\xc0\xdb\xdb\xc0");
    terminal.write(&[0x60; 4000]);
    terminal.write(&[0xc0]);
    refused(&router, "ipv6_malformed=1");
    drop(terminal);
    let _bridge = Bridge::plug(&device, native(directory, 1));
    router.says(" is there again");
    router.says(" answers");

    let not_a_line = ["router", "network.toml", "--serial", "network.toml", "--counters", "other"];
    let output = sixlock(directory, &not_a_line).output().unwrap();
    assert!(said(&output).contains("network.toml is no serial line"), "{}", said(&output));
    let wrong = sixlock(directory, &[&arguments[..], &["--baud", "110"]].concat()).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("a serial line has one of these speeds: 9600,"), "{}", said(&wrong));
}

/// What the router says that was refused, when `what` is in it; earlier lines tell of less.
fn refused(router: &Part, what: &str) -> String {
    loop {
        let told = router.says("refused so far:");
        if told.contains(what) {
            return told;
        }
    }
}

#[test]
fn ipsec_of_a_node_ends_at_the_router_behind_the_bridge_in_transport_mode() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_cloud, coaps) = cloud(directory, "llsec+esp+dtls-psk", &["only"]);
    let device = directory.join("bridge");
    let bridge = Bridge::plug(&device, native(directory, 1));
    let path = device.to_str().unwrap();
    // The datagrams of nodes to the cloud are seen as what they are, not as ESP.
    let rule = "[default]\nout = \"deny\"\n[[rule]]\nname = \"readings\"\ndirection = \"out\"\nverdict = \"allow\"\n\
        host = \"fd00:c::1\"\nprotocol = \"udp\"\nhost_port = 5684\n";
    std::fs::write(directory.join("firewall.toml"), rule).unwrap();
    let arguments =
        ["router", "network.toml", "--serial", path, "--coaps", &coaps, "--firewall", "firewall.toml"];
    let router = Part::start(directory, &arguments);
    router.says(" answers");
    let air = bridge.air.to_string();
    let node = Part::start(
        directory,
        &["node", "only.toml", "--air", &air, "--period", "1s", "--routing", "static"],
    );
    assert!(node.says("protected by ").contains("esp"));
    node.says("the cloud has the reading");
    drop((node, router));

    // The file that is made for such nodes has tunnels with them.
    let with_gateway = [&arguments[..], &["--gateway", "gateway.toml"]].concat();
    let output = sixlock(directory, &with_gateway).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("set [nodes] security = \"link\""), "{}", said(&output));
}

/// Says something to a node's port; what comes back, if something does within a while.
fn asked(from: &UdpSocket, port: u16) -> Option<Vec<u8>> {
    let mut buffer = [0; 2000];
    from.send_to(b"are you there?", ("fd00::12:7400:0:1", port)).unwrap();
    let (len, _) = from.recv_from(&mut buffer).ok()?;
    Some(buffer[..len].to_vec())
}

#[test]
fn the_machine_s_programs_reach_a_node_as_far_as_the_firewall_lets_them() {
    if !inside("the_machine_s_programs_reach_a_node_as_far_as_the_firewall_lets_them") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_cloud, coaps) = cloud(directory, "llsec+dtls-psk", &["only"]);
    let device = directory.join("bridge");
    let bridge = Bridge::plug(&device, native(directory, 1));
    let air = bridge.air.to_string();
    let node = Part::start(
        directory,
        &["node", "only.toml", "--air", &air, "--period", "1s", "--serve", "--routing", "static"],
    );
    let start = |rules: &str| {
        std::fs::write(directory.join("firewall.toml"), rules).unwrap();
        let path = device.to_str().unwrap();
        let arguments = [
            "router",
            "network.toml",
            "--serial",
            path,
            "--coaps",
            &coaps,
            "--tun",
            "--firewall",
            "firewall.toml",
        ];
        let router = Part::start(directory, &arguments);
        router.says(" answers");
        router
    };
    let ping = |bytes| {
        let arguments = ["-6", "-c", "1", "-W", "20", "-s", bytes, "fd00::12:7400:0:1"];
        run("ping", "iputils-ping", &arguments).0
    };
    let blocked = || !run("ping", "iputils-ping", &["-6", "-c", "1", "-W", "2", "fd00::12:7400:0:1"]).0;

    let router = start("");
    node.says("the cloud has the reading");
    assert!(ping("56") && ping("1200"), "without rules all may pass");
    drop(router);

    let router = start("[default]\nin = \"deny\"\nout = \"deny\"\n");
    assert!(blocked());
    refused(&router, "firewall/default-in=1");
    drop(router);

    let rules = "[default]\nin = \"deny\"\nout = \"deny\"\n\
        [[rule]]\nname = \"readings\"\ndirection = \"out\"\nverdict = \"allow\"\nhost = \"fd00:c::1\"\nprotocol = \"udp\"\nhost_port = 5684\n\
        [[rule]]\nname = \"ping\"\ndirection = \"in\"\nverdict = \"allow\"\nprotocol = \"icmpv6\"\nicmpv6_type = 128\n\
        [[rule]]\nname = \"ask\"\ndirection = \"in\"\nverdict = \"allow\"\nprotocol = \"udp\"\nnode_port = \"5683\"\n";
    let router = start(rules);
    node.says("the cloud has the reading");
    assert!(ping("56") && ping("1200"));
    let socket = UdpSocket::bind("[::]:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // No CoAP at the port of CoAP: the node answers, or is silent; at another port the firewall is.
    let get = [0x40, 1, 0, 7, 0xb7, b's', b'e', b'n', b's', b'o', b'r', b's'];
    socket.send_to(&get, ("fd00::12:7400:0:1", 5683)).unwrap();
    let mut buffer = [0; 2000];
    let (len, _) = socket.recv_from(&mut buffer).expect("an answer to an allowed question");
    assert_eq!(buffer[2..4], [0, 7], "{:02x?}", &buffer[..len]);
    socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    assert_eq!(asked(&socket, 7), None);
    let told = refused(&router, "firewall/default-in=");
    let (denied, allowed) = told.split_once("; allowed so far:").unwrap();
    assert!(allowed.contains("firewall/ping=4") && allowed.contains("firewall/ask=2"), "{told}");
    assert!(allowed.contains("firewall/readings="), "{told}");
    let denied: Vec<_> = denied.split_whitespace().map(|count| count.split('=').next().unwrap()).collect();
    assert_eq!(
        denied,
        ["firewall/default-in"],
        "the system's own messages on the interface are none: {told}"
    );

    // The same process follows its file.
    let reread = |rules: &str| {
        std::fs::write(directory.join("firewall.toml"), rules).unwrap();
        router.signal("HUP");
    };
    reread(&rules.replace("icmpv6_type = 128", "icmpv6_type = 300"));
    router.says("icmpv6_type 300: types go from 0 to 255: the firewall stays as it was");
    assert!(ping("56"));
    reread(&rules.replacen("in = \"deny\"", "in = \"allow\"", 1).replacen(
        "name = \"ping\"\ndirection = \"in\"\nverdict = \"allow\"",
        "name = \"no-ping\"\ndirection = \"in\"\nverdict = \"deny\"",
        1,
    ));
    router.says("firewall.toml read anew, rules: 3");
    assert!(blocked());
    refused(&router, "firewall/no-ping=1");
    reread(rules);
    router.says("firewall.toml read anew, rules: 3");
    assert!(ping("56"));
    node.says("the cloud has the reading");
}
