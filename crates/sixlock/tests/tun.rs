//! `sixlock up --tun`: what any program of the machine sees of the mesh, in a network namespace of the test's own.

mod support;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::namespace::{inside, run};
use support::{Up, coap_answer};

/// How long anything may take that the network does by itself.
const PATIENCE: Duration = Duration::from_secs(240);
/// Six hops away.
const LAST: &str = "fd00::12:7400:0:6";
const SIXLOCK: &str = env!("CARGO_BIN_EXE_sixlock");

/// Sends one echo request after another, of `bytes` data bytes to node `LAST`, until `wanted` were answered. A long
/// packet is many frames, and the nodes' own reports are in their way: now and then one is lost. The next one then
/// meets the nodes at another point of their period.
fn answered(bytes: &str, wanted: u32) -> bool {
    let started = Instant::now();
    let mut count = 0;
    while count < wanted && started.elapsed() < PATIENCE {
        let (ok, said) = run("ping", "iputils-ping", &["-6", "-c", "1", "-W", "13", "-s", bytes, LAST]);
        // Six nodes have taken one from the 64 that the answer began with.
        assert!(!ok || said.contains("ttl=58"), "{said}");
        count += u32::from(ok);
    }
    count == wanted
}

/// What ping says about `destination` at the hop limit `hops`, once it says `expected`.
fn ping_says(destination: &str, hops: &str, expected: &str) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        let (ok, said) = run("ping", "iputils-ping", &["-6", "-c", "1", "-W", "10", "-t", hops, destination]);
        assert!(!ok, "{said}");
        if said.contains(expected) {
            return true;
        }
    }
    false
}

/// The points that the cloud has of each node, and the simulation's time and lag.
fn network(up: &Up) -> (Vec<u64>, f64, f64) {
    let network = up.http().get("/api/v1/network");
    let points = network["nodes"].as_array().unwrap().iter().map(|node| node["points"].as_u64().unwrap());
    (points.collect(), network["time_s"].as_f64().unwrap(), network["lag_s"].as_f64().unwrap())
}

#[test]
fn any_program_reaches_any_node() {
    if !inside("any_program_reaches_any_node") {
        return;
    }
    // By RPL the hops of a source route are in a header of their own, whose hop limit is not that of the packet in it.
    let up = Up::start(&["--security", "llsec", "--period", "15s", "--routing", "static", "--tun"]);
    let before = network(&up);
    let (second, said) = attempt(SIXLOCK, &[], "sixlock0");
    assert!(!second && said.contains("choose another name"), "{said}");

    assert!(answered("56", 5), "node 6 answers pings");
    assert!(answered("1200", 1), "node 6 answers pings of many fragments");
    let exceeded = "From fd00::12:7400:0:2 icmp_seq=1 Time exceeded: Hop limit";
    assert!(ping_says(LAST, "3", exceeded), "the third hop is node 2");
    let no_route = "From fd00::12:7400:0:0 icmp_seq=1 Destination unreachable: No route";
    assert!(ping_says("fd00::12:7400:0:99", "64", no_route), "there is no node 99");

    let started = Instant::now();
    let reading = loop {
        let reading = coap_answer("coap-client-notls", &["-m", "get", &format!("coap://[{LAST}]/sensors")]);
        // Before its first reading, the node says so by a code of its own.
        if reading.starts_with('[') {
            break reading;
        }
        assert!(started.elapsed() < PATIENCE, "{reading}");
        std::thread::sleep(Duration::from_millis(500));
    };
    let pack: Value = serde_json::from_str(&reading).unwrap_or_else(|error| panic!("{error}: {reading}"));
    assert_eq!(pack[0]["bn"], "urn:dev:mac:0212740000000006:");
    echo();

    // All that was beside what the nodes are there for.
    let started = Instant::now();
    loop {
        let (points, time, lag) = network(&up);
        if time > before.1 && points.iter().zip(&before.0).all(|(now, before)| *now >= before + 3) {
            assert!(lag >= 0.0);
            break;
        }
        assert!(started.elapsed() < PATIENCE, "before {:?}, now {points:?}", before.0);
        std::thread::sleep(Duration::from_millis(500));
    }

    drop(up);
    let (exists, said) = run("ip", "iproute2", &["link", "show", "sixlock0"]);
    assert!(!exists, "the interface goes with the process: {said}");
}

/// A socket like any other: its datagrams come back from node 1's echo port, by the address they were sent to.
fn echo() {
    let socket = UdpSocket::bind("[::]:0").unwrap();
    socket.connect("[fd00::12:7400:0:1]:7").unwrap();
    assert_eq!(socket.local_addr().unwrap().ip().to_string(), "fd00:0:0:1::1");
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut buffer = [0; 64];
    let echoed = (0..12).any(|_| {
        socket.send(b"to and fro").unwrap();
        socket.recv(&mut buffer).is_ok_and(|length| &buffer[..length] == b"to and fro")
    });
    assert!(echoed);
}

/// Starts `program` with `args` and the arguments of an `up` that makes an interface: whether it succeeded, and what it
/// said when it ended.
fn attempt(program: &str, args: &[&str], tun: &str) -> (bool, String) {
    let data = std::env::temp_dir().join(format!("sixlock-{}-refused", std::process::id()));
    let data = data.to_str().expect("the name is text");
    let up = ["up", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0", "--data", data, "--tun", tun];
    run(program, "util-linux", &[args, &up].concat())
}

#[test]
fn any_program_reaches_any_node_by_the_ways_that_rpl_finds() {
    if !inside("any_program_reaches_any_node_by_the_ways_that_rpl_finds") {
        return;
    }
    let _up = Up::start(&["--security", "llsec", "--period", "15s", "--tun"]);
    assert!(answered("56", 5), "node 6 answers pings");
    assert!(answered("1200", 1), "node 6 answers pings of many fragments, around which a source route goes");
    let no_route = "From fd00::12:7400:0:0 icmp_seq=1 Destination unreachable: No route";
    assert!(ping_says("fd00::12:7400:0:99", "64", no_route), "there is no node 99");
    echo();
}

#[test]
fn an_interface_that_cannot_be_made_is_explained() {
    if !inside("an_interface_that_cannot_be_made_is_explained") {
        return;
    }
    let without = ["--bounding-set", "-net_admin", "--inh-caps", "-net_admin", SIXLOCK];
    let (started, said) = attempt("setpriv", &without, "sixlock0");
    assert!(!started && said.contains("sudo setcap cap_net_admin+ep"), "{said}");
    let (started, said) = attempt(SIXLOCK, &[], "lo");
    assert!(!started && said.contains("the interface lo cannot be made"), "{said}");
    let (started, said) = attempt(SIXLOCK, &[], "a name with spaces");
    assert!(!started && said.contains("at most 15 letters"), "{said}");
}

/// Whether node 1 answers a ping in the clear within `seconds`.
fn is_reached(seconds: &str) -> bool {
    run("ping", "iputils-ping", &["-6", "-c", "1", "-W", seconds, "fd00::12:7400:0:1"]).0
}

/// Of a machine that does not take up its end of the tunnel: what it sends in the clear is refused.
#[test]
fn a_security_gateway_has_a_tunnel_for_this_machine_and_refuses_what_comes_past_it() {
    if !inside("a_security_gateway_has_a_tunnel_for_this_machine_and_refuses_what_comes_past_it") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.toml");
    let gateway = ["--nodes", "1", "--tun", "--gateway", file.to_str().unwrap()];
    let up = Up::start(&[&gateway[..], &["--security", "llsec+esp"]].concat());
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let from_host = text.split("key_from_host_hex = \"").nth(1).unwrap().split('"').next().unwrap();
    let lines = std::fs::read_to_string(up.data.join("xfrm")).unwrap();
    let state = "xfrm state add src fd00:0:0:1::1 dst fd00:0:0:1::2 proto esp spi 4096 mode tunnel";
    let policy = "xfrm policy add src fd00:0:0:1::1/128 dst fd00::/64 dir out \
                  tmpl src fd00:0:0:1::1 dst fd00:0:0:1::2 proto esp mode tunnel";
    let cipher = format!("enc rfc3686(ctr(aes)) 0x{}", &from_host[..40]);
    for expected in [state, policy, &cipher] {
        assert!(lines.contains(expected), "{expected} in {lines}");
    }
    assert_eq!(lines.lines().count(), 4, "{lines}");
    assert!(!is_reached("5"));
    let started = Instant::now();
    while !folder.path().join("gateway.counters").exists() {
        assert!(started.elapsed() < PATIENCE, "no number that the gateway has used is kept");
        std::thread::sleep(Duration::from_millis(500));
    }
    drop(up);

    let (internet, nodes) = (text.find("[internet]").unwrap(), text.find("[nodes]").unwrap());
    let open = "[internet]\nsecurity = \"none\"\n\n";
    std::fs::write(&file, [&text[..internet], open, &text[nodes..]].concat()).unwrap();
    let up = Up::start(&[&gateway[..], &["--security", "llsec+esp"]].concat());
    assert!(!up.data.join("xfrm").exists());
    let started = Instant::now();
    while !is_reached("5") {
        assert!(started.elapsed() < PATIENCE, "the node has a tunnel, and the machine needs none");
    }
    drop(up);

    let up = Up::start(&["--nodes", "1", "--tun", "--security", "llsec", "--enforce", "ipsec"]);
    assert!(!is_reached("5"));
    let started = Instant::now();
    let refused = |metrics: String| {
        let count =
            metrics.lines().find_map(|line| line.strip_prefix("sixlock_router_ipsec_discarded_total "));
        count.is_some_and(|count| count != "0")
    };
    // One from before the node has joined is not refused: there is no way to it yet, and the machine is told so.
    while !refused(up.http().text("/metrics")) {
        assert!(started.elapsed() < PATIENCE, "the metrics do not count what was refused");
        assert!(!is_reached("5"));
    }
    drop(up);
}
