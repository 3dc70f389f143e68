//! `sixlock router --gateway` and `sixlock node`, each a process of its own, and a host of the Internet that is this test: what
//! passes, and what is refused and counted.

mod support;

use std::io::Read;
use std::net::{Ipv6Addr, SocketAddrV6};
use std::path::Path;
use std::time::{Duration, Instant};

use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_ipv6::{Header, extension, next_header};
use sixlock_sim::{InternetHost, InternetSide, Prefix};
use sixlock_testing::ipsec::{Host, Transform};
use sixlock_testing::packets;
use socket2::{Domain, Protocol, Socket, Type};

use support::namespace::{inside, run};
use support::part::{Part, enrol, said, sixlock};

/// How long anything may take that they do by themselves.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long an answer may take before its question is repeated.
const ANSWER: Duration = Duration::from_secs(5);
/// This machine, and the gateway's end of its tunnel.
const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
const GATEWAY: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 2);
/// The cloud, where border routers look for it.
const CLOUD: [&str; 7] = ["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:5684"];
const CHANNEL: &str = "127.0.0.1:17754";

fn address(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// This machine at the other end of the gateway's tunnel, without the help of its kernel.
struct Peer {
    ipsec: Host,
    socket: Socket,
    asked: u16,
    /// What pings carry.
    data: &'static [u8],
    /// The index and the number of the last packet that has come.
    heard: (u32, u32),
}

impl Peer {
    /// With the keys in the gateway's file.
    fn new(file: &Path) -> Self {
        let file: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
        let host = &file["host"][0];
        let key = |name: &str| {
            let digits = host[name].as_str().unwrap().as_bytes().chunks(2);
            let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            digits.map(byte).collect::<Vec<u8>>()
        };
        let suite = file["internet"]["security"].as_str().unwrap().parse::<sixlock_base::Security>();
        let host = InternetHost {
            address: HOST,
            network: Prefix::one(HOST),
            suite: suite.unwrap().network.unwrap(),
            spi: host["index"].as_integer().unwrap() as u32,
            from_gateway: key("key_to_host_hex"),
            from_host: key("key_from_host_hex"),
        };
        let side = InternetSide { address: GATEWAY, hosts: vec![host] };
        let mut ipsec = Host::new();
        for peering in side.peerings() {
            let transform = |suite, key: &[u8]| Transform::new(&mut sixlock_crypto::Soft, suite, key).ok();
            // Its end is the one that is not the gateway's.
            peering.share(&mut ipsec.ipsec, peering.id + 1, false, transform).unwrap();
        }
        let protocol = Protocol::from(i32::from(next_header::ESP));
        let socket = Socket::new(Domain::IPV6, Type::RAW, Some(protocol)).unwrap();
        Self { ipsec, socket, asked: 0, data: b"who is there", heard: (0, 0) }
    }

    /// The next ping to a node, protected.
    fn question(&mut self, node: u32) -> Vec<u8> {
        self.asked += 1;
        let echo = Echo { identifier: 7, sequence: self.asked };
        let ping = packets::icmpv6(HOST, address(node), 64, Message::EchoRequest(echo), self.data);
        self.ipsec.send(&ping).unwrap()
    }

    /// Sends a protected packet, whose header the system makes.
    fn send(&self, packet: &[u8]) {
        self.socket.send_to(&packet[Header::LEN..], &SocketAddrV6::new(GATEWAY, 0, 0, 0).into()).unwrap();
    }

    /// The node that answers, and which question; none if that takes too long.
    fn answer(&mut self) -> Option<(Ipv6Addr, u16)> {
        let end = Instant::now() + ANSWER;
        let mut buffer = [0; 2048];
        loop {
            let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            self.socket.set_read_timeout(Some(left)).unwrap();
            let len = (&self.socket).read(&mut buffer).ok()?;
            let packet = packets::packet(GATEWAY, HOST, 64, next_header::ESP, &buffer[..len]);
            let Ok(answer) = self.ipsec.receive(&packet) else { continue };
            let [index, number] = [0, 4].map(|at| buffer[at..].first_chunk().copied().unwrap());
            self.heard = (u32::from_be_bytes(index), u32::from_be_bytes(number));
            let (header, _) = Header::parse(&answer).unwrap();
            // RPL's option is before it.
            let at = extension::skip(&answer).unwrap().at;
            let message = Message::parse(header.source, header.destination, &answer[at..]);
            match message {
                Ok((Message::EchoReply(echo), data)) if data == self.data => {
                    return Some((header.source, echo.sequence));
                }
                _ => {}
            }
        }
    }

    /// Asks a node until it answers; the packet that it answered.
    fn ask(&mut self, node: u32) -> Vec<u8> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let question = self.question(node);
            self.send(&question);
            // Those to questions before come late.
            while let Some(answer) = self.answer() {
                if answer == (address(node), self.asked) {
                    return question;
                }
            }
        }
        panic!("node {node} does not answer");
    }
}

/// How often the border router has refused something for this reason, as soon as it is more often than `before`.
fn refused(router: &Part, reason: &str, before: u32) -> u32 {
    loop {
        let reasons = router.says("refused so far: ");
        let count = reasons.split(' ').find_map(|word| word.strip_prefix(reason)?.strip_prefix('='));
        match count.map(|count| count.parse().unwrap()) {
            Some(count) if count > before => return count,
            _ => {}
        }
    }
}

#[test]
fn a_gateway_protects_on_both_sides_and_refuses_and_counts_what_is_not_protected() {
    if !inside("a_gateway_protects_on_both_sides_and_refuses_and_counts_what_is_not_protected") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cloud = Part::start(directory, &CLOUD);
    cloud.says("ready ");
    enrol(directory, "llsec+esp+dtls-psk", &["tunnelled"]);
    enrol(directory, "llsec+dtls-psk", &["plain"]);
    let node = |args: &[&str]| Part::start(directory, &[&["node", "--period", "1s"], args].concat());
    let start_router = |enforce: &[&str]| {
        let args = ["router", "network.toml", "--air", CHANNEL, "--tun", "--gateway", "gateway.toml"];
        let router = Part::start(directory, &[&args, enforce].concat());
        router.says("ready air=");
        router
    };

    let router = start_router(&[]);
    assert_eq!(router.says("sudo ip -batch "), "network.xfrm");
    let nodes = [node(&["tunnelled.toml", "--tunnel"]), node(&["plain.toml"])];
    for node in &nodes {
        node.says("the cloud has the reading");
    }
    let mut peer = Peer::new(&directory.join("gateway.toml"));
    peer.ask(2);
    let answered = peer.ask(1);
    // Once more, and with one bit flipped; the next answer is to the question after them.
    peer.send(&answered);
    let mut altered = peer.question(1);
    *altered.last_mut().unwrap() ^= 1;
    peer.send(&altered);
    peer.ask(1);
    router.says("ipsec_bad_icv=1 ipsec_replayed=1");
    // With the tunnel's headers longer than the mesh carries: both ways in fragments.
    peer.data = &[7; 1280 - Header::LEN - 8];
    peer.ask(1);
    // The system itself says something in the clear now and then, but not so much.
    let ping = ["-6", "-c", "30", "-i", "0.2", "-W", "1", &address(2).to_string()];
    assert!(!run("ping", "iputils-ping", &ping).0, "nobody answers what comes past the tunnel");
    refused(&router, "in/unprotected", 20);
    drop((router, nodes));

    let router = start_router(&["--enforce", "ipsec"]);
    let nodes = [node(&["tunnelled.toml", "--tunnel"]), node(&["plain.toml"])];
    let mut count = 0;
    for _ in 0..3 {
        count = refused(&router, "ipsec_policy_violated", count);
        nodes[0].says("the cloud has the reading");
    }
    let question = peer.question(2);
    peer.send(&question);
    peer.ask(1);
    refused(&router, "ipsec_discarded", 0);
    assert!(!nodes[1].has_said("DTLS session opened"));
}

/// Another key of as many bytes.
fn other_key(digits: &str) -> String {
    digits.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect()
}

#[test]
fn a_gateway_follows_its_file_when_told_to() {
    if !inside("a_gateway_follows_its_file_when_told_to") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cloud = Part::start(directory, &CLOUD);
    cloud.says("ready ");
    enrol(directory, "llsec+dtls-psk", &["only"]);
    let args = ["router", "network.toml", "--air", CHANNEL, "--tun", "--gateway", "gateway.toml"];
    let router = Part::start(directory, &args);
    router.says("ready air=");
    let node = Part::start(directory, &["node", "only.toml", "--period", "1s"]);
    node.says("the cloud has the reading");
    let file = directory.join("gateway.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let reread = |text: &str| {
        std::fs::write(&file, text).unwrap();
        router.signal("HUP");
    };
    let changed = |wanted: &str| assert_eq!(router.says("gateway.toml read anew, tunnels: "), wanted);
    let mut peer = Peer::new(&file);
    peer.ask(1);
    let (index, first) = peer.heard;

    // What cannot be is refused, and nothing is changed.
    let key = text.lines().find_map(|line| line.strip_prefix("key_to_host_hex = ")).unwrap();
    let key = key.trim_matches('"').to_owned();
    let keys_under_the_old_index = text.replace(&key, &other_key(&key));
    for (text, why) in [
        (&*text.replace("[nodes]", "[node]"), "unknown field `node`"),
        (&keys_under_the_old_index, "index 4096 belongs to the keys that it has now"),
        (&text.replace("link_only = []", "link_only = [3]"), "there is no node 3"),
        (
            &text.replace("[nodes]", "[[client]]\nidentity = \"a\"\nkey = \"0123456789abcdef\"\n[nodes]"),
            "by a restart only",
        ),
    ] {
        reread(text);
        let said = router.says(why);
        assert!(said.ends_with("everything stays as it was"), "{said}");
        peer.ask(1);
    }

    // Another tunnel joins; this one goes on with its numbers.
    let start = text.find("[[host]]").unwrap();
    let end = text.find("[nodes]").unwrap();
    let second = text[start..end].replace(&HOST.to_string(), "fd00:0:0:1::9").replace(&key, &other_key(&key));
    reread(&text.replace("[nodes]", &format!("{second}[nodes]")));
    changed("1 added, 0 removed, 0 with new keys, 1 unchanged");
    peer.ask(1);
    assert_eq!(peer.heard.0, index);
    assert!(peer.heard.1 > first, "{} after {first}", peer.heard.1);
    reread(&text);
    changed("0 added, 1 removed, 0 with new keys, 1 unchanged");
    peer.ask(1);
    let last = peer.heard.1;

    // New keys: the answer to a question under the old ones comes under the new ones.
    let with_new_keys = keys_under_the_old_index.replace("index = 4096", "index = 4097");
    reread(&with_new_keys);
    changed("0 added, 0 removed, 1 with new keys, 0 unchanged");
    let mut with_keys = Peer::new(&file);
    with_keys.asked = peer.asked;
    let under_old_keys = peer.question(1);
    with_keys.send(&under_old_keys);
    let started = Instant::now();
    while with_keys.answer() != Some((address(1), peer.asked)) {
        assert!(started.elapsed() < PATIENCE, "packets under the old keys are not taken");
        with_keys.send(&peer.question(1));
    }
    with_keys.asked = peer.asked;
    assert_eq!(with_keys.heard.0, 4097);
    assert!(with_keys.heard.1 > last, "no number comes again, whatever the key");
    with_keys.ask(1);
}

#[test]
fn a_gateway_for_nodes_that_are_none_or_have_no_keys_is_refused() {
    if !inside("a_gateway_for_nodes_that_are_none_or_have_no_keys_is_refused") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cloud = Part::start(directory, &CLOUD);
    cloud.says("ready ");
    enrol(directory, "llsec+dtls-psk", &["only"]);
    drop(cloud);
    let args = ["router", "network.toml", "--air", "127.0.0.1:0", "--tun", "--gateway", "gateway.toml"];
    let router = Part::start(directory, &args);
    router.says("ready air=");
    drop(router);
    let file = directory.join("gateway.toml");
    let made = std::fs::read_to_string(&file).unwrap();
    assert!(made.contains("security = \"link\""), "{made}");
    for (from, to, why) in [
        ("\"link\"", "\"tunnel\"", "tunnels to nodes need keys that have ah or esp in their mode"),
        ("link_only = []", "link_only = [3]", "there is no node 3"),
    ] {
        std::fs::write(&file, made.replace(from, to)).unwrap();
        let output = sixlock(directory, &args).output().unwrap();
        assert!(said(&output).contains(why), "{}", said(&output));
    }
    let output = sixlock(directory, &["node", "only.toml", "--tunnel"]).output().unwrap();
    assert!(said(&output).contains("only.toml: a tunnel needs ah or esp in its mode"), "{}", said(&output));
}

/// What a client with this key gets from a service behind DTLS; nothing without an answer.
fn coaps(key: &str, address: &str) -> String {
    let uri = format!("coaps://{address}/sensors");
    let args = ["-u", "client", "-k", key, "-B", "5", "-m", "get", &uri];
    run("coap-client-openssl", "libcoap3-bin", &args).1
}

/// The reading that a client of the gateway gets of this node, as soon as there is one.
fn reading(key: &str, address: &str, node: u32) {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if coaps(key, address).contains(&format!("urn:dev:mac:02127400{node:08x}:")) {
            return;
        }
    }
    panic!("nobody answers at {address}");
}

/// Where the services called `coaps` of all nodes are, as a file of endpoints has them.
fn published(file: &Path) -> Vec<String> {
    let file: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let nodes = file["nodes"].as_array().unwrap().iter();
    nodes.map(|node| node["coaps"].as_str().unwrap().to_owned()).collect()
}

/// The key of the client in the gateway's file.
fn client_key(file: &Path) -> String {
    let file: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    file["client"][0]["key"].as_str().unwrap().to_owned()
}

#[test]
fn dtls_of_a_client_ends_at_the_gateway_which_goes_on_by_ipsec_or_refuses_to() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let cloud = Part::start(
        directory,
        &["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"],
    );
    let to_cloud = cloud.says("coaps=");
    enrol(directory, "llsec+esp+dtls-psk", &["tunnelled"]);
    enrol(directory, "llsec+dtls-psk", &["plain"]);
    let args =
        ["--air", "127.0.0.1:0", "--coaps", &to_cloud, "--gateway", "gateway.toml", "--enforce", "ipsec"];
    let router = Part::start(directory, &[&["router", "network.toml"], &args[..]].concat());
    let air = router.says("ready air=");
    router.says("node 2 is reached at coaps=");
    let node = |args: &[&str]| {
        Part::start(directory, &[&["node", "--air", &air, "--period", "1s", "--serve"], args].concat())
    };
    let _nodes = [node(&["tunnelled.toml", "--tunnel"]), node(&["plain.toml"])];

    let key = client_key(&directory.join("gateway.toml"));
    let [tunnelled, plain] = &published(&directory.join("network.endpoints.json"))[..] else { panic!() };
    reading(&key, tunnelled, 1);
    // Observed, too: notifications are records of the client's session.
    let uri = format!("coaps://{tunnelled}/sensors");
    let args = ["-u", "client", "-k", &key, "-s", "7", "-B", "7", &uri];
    let observed = run("coap-client-openssl", "libcoap3-bin", &args).1;
    assert!(observed.matches("urn:dev:mac:0212740000000001:").count() >= 3, "{observed}");
    assert!(!coaps("another key than it has", tunnelled).contains("urn:dev"));
    let in_the_clear = format!("coap://{tunnelled}/sensors");
    let args = ["-B", "3", "-m", "get", &in_the_clear];
    assert!(!run("coap-client-notls", "libcoap3-bin", &args).1.contains("urn:dev"));
    assert!(!coaps(&key, plain).contains("urn:dev"));
    refused(&router, "ipsec_discarded", 0);
}

#[test]
fn dtls_of_a_client_ends_at_the_gateway_of_a_simulated_network_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.toml");
    let gateway = ["--nodes", "2", "--period", "2s", "--gateway", file.to_str().unwrap()];
    let up = support::Up::start(&[&gateway[..], &["--security", "llsec+esp"]].concat());
    let services = published(&up.data.join("endpoints.json"));
    let key = client_key(&file);
    reading(&key, &services[1], 2);
    assert!(!coaps("another key than it has", &services[1]).contains("urn:dev"));
}
