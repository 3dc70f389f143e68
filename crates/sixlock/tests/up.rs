//! `sixlock up` as a person starts it: every mode delivers every node's readings, and libcoap's
//! clients can post beside them.

mod support;

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Http, Up, coap_answer, coap_client};

/// How long all charts may take to grow.
const PATIENCE: Duration = Duration::from_secs(240);

fn every_node_reports(mode: &str) {
    let up = Up::start(&["--security", mode]);
    let started = Instant::now();
    loop {
        let network = up.http().get("/api/v1/network");
        let nodes = network["nodes"].as_array().expect("the network has nodes").clone();
        let reporting = nodes.iter().filter(|node| node["points"].as_u64() >= Some(15)).count();
        if nodes.len() == 6 && reporting == 6 {
            check_nodes(mode, &nodes);
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{mode}: not every node has 5 readings of 3 points: {network}");
        std::thread::sleep(Duration::from_millis(500));
    }
    check_streams(&up.http());
}

/// Each node is where the chain puts it, and pays for its security.
fn check_nodes(mode: &str, nodes: &[Value]) {
    let modes = [
        "none",
        "llsec:ccm-64",
        "dtls-psk",
        "dtls-rpk",
        "dtls-x509",
        "llsec:ccm-64+dtls-psk",
        "ah:xcbc",
        "llsec:ccm-64+esp:ctr-xcbc",
    ];
    for (n, node) in nodes.iter().enumerate() {
        assert_eq!((node["id"].as_u64(), node["parent"].as_u64()), (Some(n as u64 + 1), Some(n as u64)));
        assert_eq!(node["hops"], n as u64 + 1);
        assert!(modes.contains(&node["security"].as_str().unwrap()), "{node}");
        assert!(node["rank"].as_u64() >= Some((n as u64 + 1) * 128), "{node}");
        assert!(node["joined_s"].as_f64() > Some(0.0) && node["control_bytes"].as_u64() > Some(0), "{node}");
        assert_eq!(node["security_bytes"].as_i64() > Some(0), mode != "none", "{mode}: {node}");
        assert!(node["bytes"].as_i64() > node["security_bytes"].as_i64(), "{node}");
        assert_eq!(node["handshakes"].as_u64() >= Some(1), mode.contains("dtls"), "{mode}: {node}");
    }
}

/// What a node posted stands in its streams, oldest first.
fn check_streams(http: &Http) {
    let streams = http.get("/api/v1/users/admin/resources/node-6/streams");
    let labels: Vec<_> = streams.as_array().unwrap().iter().map(|stream| &stream["label"]).collect();
    assert_eq!(labels, ["temperature", "humidity", "light"]);
    let points = http.get("/api/v1/users/admin/resources/node-6/streams/temperature/data?limit=5");
    let times: Vec<_> =
        points.as_array().unwrap().iter().map(|point| point["time"].as_i64().unwrap()).collect();
    assert_eq!(times.len(), 5);
    assert!(times.is_sorted());
}

/// All that the network says is described, and without RPL nothing is said of it.
#[test]
fn by_static_routes_and_as_the_api_describes_it() {
    let up = Up::start(&["--security", "none", "--nodes", "2", "--routing", "static"]);
    let (network, api) = (up.http().get("/api/v1/network"), up.http().get("/api/v1/openapi.json"));
    assert_eq!((&network["routing"], &network["nodes"][1]["parent"]), (&"static".into(), &1.into()));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let described = &api["components"]["schemas"]["Network"]["properties"];
    assert_eq!(keys(&network), keys(described));
    let (node, described) = (keys(&network["nodes"][0]), keys(&described["nodes"]["items"]["properties"]));
    assert!(node.is_subset(&described), "{node:?} {described:?}");
    let of_rpl: Vec<_> = described.difference(&node).collect();
    assert_eq!(of_rpl, ["control_bytes", "joined_s", "parent_changes", "rank"]);
}

#[test]
fn with_ipsec_between_nodes_and_border_router() {
    every_node_reports("ah");
}

#[test]
fn with_ipsec_over_secured_links() {
    every_node_reports("llsec+esp");
}

#[test]
fn without_security() {
    every_node_reports("none");
}

#[test]
fn with_link_security() {
    every_node_reports("llsec");
}

#[test]
fn with_dtls() {
    every_node_reports("dtls-psk");
}

#[test]
fn with_dtls_and_raw_public_keys() {
    every_node_reports("dtls-rpk");
}

#[test]
fn with_dtls_and_certificates() {
    every_node_reports("dtls-x509");
}

#[test]
fn with_both() {
    every_node_reports("llsec+dtls-psk");
}

#[test]
fn libcoap_clients_post_over_psk_and_plain() {
    let up = Up::start(&["--nodes", "1"]);
    let http = up.http();
    let device = http.post("/api/v1/users/admin/resources", r#"{"label":"greenhouse","mode":"dtls-psk"}"#);
    let key = device["key"].as_str().unwrap();
    let uri = format!("coaps://{}/resources/data", up.coaps);
    for (n, client) in ["coap-client-openssl", "coap-client-gnutls"].into_iter().enumerate() {
        let pack = format!(r#"[{{"n":"temperature","u":"Cel","v":2{n}.5}}]"#);
        coap_client(client, &["-u", "greenhouse", "-k", key, "-m", "post", "-t", "110", "-e", &pack, &uri]);
    }
    let plain = http.post("/api/v1/users/admin/resources", r#"{"label":"shed","mode":"none"}"#);
    let (id, key) = (&plain["id"], plain["key"].as_str().unwrap());
    let uri = format!("coap://{}/resources/data?id={id}&key={key}", up.coap);
    let pack = r#"[{"n":"temperature","u":"Cel","v":19.5}]"#;
    coap_client("coap-client-notls", &["-m", "post", "-t", "110", "-e", pack, &uri]);

    let values = |resource: &str| -> Vec<f64> {
        let points = http.get(&format!("/api/v1/users/admin/resources/{resource}/streams/temperature/data"));
        points.as_array().unwrap().iter().map(|point| point["value"].as_f64().unwrap()).collect()
    };
    assert_eq!(values("greenhouse"), [20.5, 21.5]);
    assert_eq!(values("shed"), [19.5]);
}

/// The last node of two posts a reading a minute. The cloud asks it for the latest again and again, end to end through the border router,
/// and both prove themselves by what the node is enrolled with.
fn the_cloud_asks(mode: &str) {
    let up = Up::start(&["--security", mode, "--nodes", "2", "--period", "60s"]);
    let node = up.endpoints()["nodes"][1].clone();
    let services: Vec<_> = node.as_object().unwrap().keys().collect();
    assert_eq!(services, ["address", "device_coaps", "id"], "nothing is published in the clear");
    let (http, resource) = (up.http(), "/api/v1/users/admin/resources/node-2");
    let url = format!("coaps://{}/sensors", node["device_coaps"].as_str().unwrap());
    let points = || {
        let path = format!("{resource}/streams/temperature/data");
        http.try_get(&path).map_or(0, |points| points.as_array().unwrap().len())
    };
    let wait_for = |most: usize| {
        let started = Instant::now();
        while points() < most {
            assert!(started.elapsed() < PATIENCE, "{mode}: {}", http.get(&format!("{resource}/poller")));
            std::thread::sleep(Duration::from_millis(500));
        }
    };
    wait_for(1);
    let before = points();
    http.put(&format!("{resource}/poller"), &format!(r#"{{"url":"{url}","period":5}}"#));
    wait_for(before + 6);
    let poller = http.get(&format!("{resource}/poller"));
    assert_eq!((&poller["last_error"], &poller["failures"]), (&Value::Null, &0.into()), "{poller}");
    let network = http.get("/api/v1/network");
    assert_eq!(network["nodes"][1]["handshakes"], 2, "its own and, for all polls, that of the cloud");
    // Polled seldom and not heard for a minute, it is set all the same.
    http.put(&format!("{resource}/poller"), &format!(r#"{{"url":"{url}","period":3600}}"#));
    let command = http.post(&format!("{resource}/commands"), r#"{"actuator":"valve","value":40}"#);
    let command = http.get(&format!("{resource}/commands/{}?wait=60", command["id"]));
    assert_eq!((&command["state"], &command["code"]), (&"done".into(), &"2.04".into()), "{mode}: {command}");
}

/// The last node of two is reached from nowhere but in the session in which it posts its readings.
#[test]
fn a_node_is_set_when_it_is_heard_and_tells_it() {
    let up = Up::start(&["--security", "dtls-psk", "--nodes", "2", "--period", "5s"]);
    let (http, resource) = (up.http(), "/api/v1/users/admin/resources/node-2");
    let set = |command: &str| {
        let command = http.post(&format!("{resource}/commands"), command);
        let path = format!("{resource}/commands/{}?wait=60", command["id"]);
        let ended = http.get(&path);
        [&ended["state"], &ended["code"], &ended["author"]]
            .map(|value| value.as_str().unwrap_or("none").to_owned())
    };
    assert_eq!(set(r#"{"actuator":"led","value":true}"#), ["done", "2.04", "admin"]);
    assert_eq!(set(r#"{"actuator":"led","value":7}"#), ["refused", "4.00", "admin"]);
    assert_eq!(set(r#"{"actuator":"engine","value":1}"#), ["refused", "4.04", "admin"]);
    let started = Instant::now();
    let path = format!("{resource}/streams/led");
    while http.try_get(&path).is_none_or(|led| led["latest"]["value"] != 1.0) {
        assert!(started.elapsed() < PATIENCE, "{}", http.get(&format!("{resource}/streams")));
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// All but one of the points that the node did not post itself come from notifications: the cloud asks once in the test's time.
#[test]
fn a_node_that_is_observed_tells_the_cloud() {
    let up = Up::start(&["--security", "llsec+dtls-psk", "--nodes", "2", "--period", "5s"]);
    let (http, node) = (up.http(), up.endpoints()["nodes"][1].clone());
    let resource = "/api/v1/users/admin/resources/node-2";
    let started = Instant::now();
    let path = format!("{resource}/streams/light/data?limit=1000");
    while http.try_get(&path).is_none() {
        assert!(started.elapsed() < PATIENCE, "{}", http.get("/api/v1/network"));
        std::thread::sleep(Duration::from_millis(500));
    }
    let url = format!("coaps://{}/sensors", node["device_coaps"].as_str().unwrap());
    http.put(&format!("{resource}/poller"), &format!(r#"{{"url":"{url}","period":3600,"observe":true}}"#));
    loop {
        // What is posted meanwhile is counted on the safe side.
        let points = http.get(&path).as_array().unwrap().len();
        let posted = http.get("/api/v1/network")["nodes"][1]["points"].as_u64().unwrap() as usize / 3;
        if points >= posted + 4 {
            break;
        }
        let poller = http.get(&format!("{resource}/poller"));
        assert!(started.elapsed() < PATIENCE, "{points} points, {posted} posted: {poller}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn the_cloud_asks_by_a_pre_shared_key() {
    the_cloud_asks("dtls-psk");
}

#[test]
fn the_cloud_asks_by_raw_public_keys() {
    the_cloud_asks("dtls-rpk");
}

#[test]
fn the_cloud_asks_by_certificates() {
    the_cloud_asks("dtls-x509");
}

/// Sends `payload` to `address` again and again until it comes back.
fn echoes(address: &str, payload: &[u8]) -> bool {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut buffer = [0; 2048];
    (0..12).any(|_| {
        socket.send(payload).unwrap();
        socket.recv(&mut buffer).is_ok_and(|length| &buffer[..length] == payload)
    })
}

#[test]
fn every_service_of_a_node_is_published_at_a_loopback_port() {
    let up = Up::start(&["--security", "llsec", "--nodes", "3", "--period", "1s"]);
    let endpoints = up.endpoints();
    assert_eq!(endpoints["coaps"], up.coaps, "what the cloud wrote is still there");
    let nodes = endpoints["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3);
    for (id, node) in (1..).zip(nodes) {
        assert_eq!(node["id"], id);
        assert_eq!(node["address"], format!("fd00::12:7400:0:{id}"));
        assert!(echoes(node["echo"].as_str().unwrap(), format!("to node {id}").as_bytes()));
        let uri = |path| format!("coap://{}{path}", node["coap"].as_str().unwrap());
        assert_eq!(coap_answer("coap-client-notls", &[&uri("/.well-known/core")]), "</sensors>;ct=110;obs");
        let started = Instant::now();
        let reading = loop {
            let reading = coap_answer("coap-client-notls", &[&uri("/sensors")]);
            if reading.starts_with('[') || started.elapsed() > PATIENCE {
                break reading;
            }
            std::thread::sleep(Duration::from_millis(500));
        };
        let pack: Value = serde_json::from_str(&reading).unwrap_or_else(|error| panic!("{error}: {reading}"));
        assert_eq!(pack[0]["bn"], format!("urn:dev:mac:021274000000000{id}:"));
        assert_eq!(pack[2]["n"], "light");
    }
    // The reading that there is, and one after three seconds each.
    let observed = coap_answer(
        "coap-client-notls",
        &["-s", "20", "-B", "20", &format!("coap://{}/sensors", nodes[2]["coap"].as_str().unwrap())],
    );
    assert!(observed.matches("urn:dev:mac:0212740000000003:").count() >= 3, "{observed}");
    // A datagram of many fragments.
    let echo = nodes[2]["echo"].as_str().unwrap();
    assert!(echoes(echo, &[7; 1000]));
}
