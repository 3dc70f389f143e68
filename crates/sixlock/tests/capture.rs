//! What `sixlock sim` writes: the same bytes for the same seed, and a capture that Wireshark's
//! dissectors read without complaint. What `sixlock decode` reads in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

struct Run {
    directory: PathBuf,
    json: Value,
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Run {
    fn new(name: &str, args: &[&str]) -> Self {
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/network1.toml");
        Self::of(name, &std::fs::read_to_string(scenario).unwrap(), args)
    }

    /// The run of a scenario in TOML.
    fn of(name: &str, text: &str, args: &[&str]) -> Self {
        let directory = std::env::temp_dir().join(format!("sixlock-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let scenario = directory.join("scenario.toml");
        std::fs::write(&scenario, text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .arg("sim")
            .arg(scenario)
            .args(["--json", "--pcap"])
            .arg(directory.join("air.pcap"))
            .arg("--keylog")
            .arg(directory.join("keys"))
            .arg("--events")
            .arg(directory.join("events"))
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { json: serde_json::from_slice(&output.stdout).unwrap(), directory }
    }

    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.directory.join(name)).unwrap()
    }

    fn sum(&self, field: &str) -> u64 {
        self.json["nodes"].as_array().unwrap().iter().map(|node| node[field].as_u64().unwrap()).sum()
    }

    /// The key of link security, which stands in the key log as a comment.
    fn link_key(&self) -> Option<String> {
        let log = String::from_utf8(self.file("keys")).unwrap();
        let key = log.lines().find_map(|line| line.strip_prefix("# IEEE 802.15.4 key, index 1: "));
        key.map(str::to_owned)
    }

    /// The lines that tshark prints for the packets that `filter` selects.
    fn tshark(&self, filter: &str) -> usize {
        let keys = format!("tls.keylog_file:{}", self.directory.join("keys").display());
        let mut command = Command::new("tshark");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wireshark/sixlock.lua");
        command.arg("-X").arg(format!("lua_script:{}", script.display()));
        command.arg("-r").arg(self.directory.join("air.pcap"));
        command.args(["-o", "6lowpan.context0:fd00::/64", "-o", &keys, "-Y", filter]);
        if let Some(key) = self.link_key() {
            command.args(["-o", &format!("uat:ieee802154_keys:\"{key}\",\"1\",\"No hash\"")]);
        }
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("tshark: {error}. Install it with: apt-get install tshark"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// What `sixlock decode` prints of the capture, as it is told by `args`, and what it says beside.
    fn decode(&self, args: &[&str]) -> (String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sixlock"));
        let output = command.arg("decode").arg(self.directory.join("air.pcap")).args(args).output().unwrap();
        let [out, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(output.status.success(), "{said}");
        (out, said)
    }

    /// The layers of all frames, opened with the keys of the run or not.
    fn layers(&self, opened: bool) -> Vec<Value> {
        let keys = self.directory.join("keys").display().to_string();
        let args = ["--json", "--keys", &keys];
        let (json, _) = self.decode(&args[..if opened { 3 } else { 1 }]);
        let frames: Vec<Value> = serde_json::from_str(&json).unwrap();
        frames.iter().flat_map(|frame| frame["layers"].as_array().unwrap().clone()).collect()
    }
}

/// How many of `layers` have these values.
fn count(layers: &[Value], fields: &[(&str, &str)]) -> usize {
    layers.iter().filter(|layer| fields.iter().all(|(field, value)| layer[*field] == *value)).count()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let run = |name, seed, threads| {
        let args = ["--duration", "90s", "--runs", "2", "--seed", seed, "--threads", threads];
        let run = Run::new(name, &args);
        (run.file("air.pcap"), run.file("events"), run.json.clone())
    };
    let first = run("first", "7", "1");
    assert!(first.0.len() > 10_000 && first.1.len() > 1000, "something was recorded");
    assert!(first == run("again", "7", "2"), "the same seed, in one thread and in two");
    let other = run("other", "8", "1");
    assert!(first.0 != other.0 && first.1 != other.1, "another seed");
}

#[test]
fn tshark_reads_every_frame() {
    for mode in ["none", "llsec", "dtls-psk", "llsec+dtls-psk", "ah", "llsec+ah"] {
        let run = Run::new(&format!("tshark-{mode}"), &["--duration", "300s", "--security", mode]);
        let sent = run.sum("sent");
        assert!(sent >= 20, "{mode}: {sent} readings sent");
        assert_eq!(run.sum("delivered"), sent, "{mode}: nothing is lost on a perfect radio");
        assert_eq!(run.tshark("_ws.malformed"), 0, "{mode}");
        let requests = run.tshark("coap.code == 2");
        assert!(requests as u64 >= sent, "{mode}: {requests} requests for {sent} readings");
        let layers = run.layers(true);
        assert_eq!(count(&layers, &[("layer", "unread")]), 0, "{mode}: decode opens everything");
        let decoded = count(&layers, &[("layer", "coap"), ("code", "POST")]);
        assert_eq!(decoded, requests, "{mode}: decode reads as many requests as tshark");
    }
}

#[test]
fn tshark_reads_neighbour_discovery_and_the_addresses_compressed_by_the_context_that_it_has_told() {
    let text = "duration = \"300s\"\n[network]\ndiscovery = \"nd\"\n[routing]\nkind = \"rpl\"\n\
        [topology]\nkind = \"chain\"\nnodes = 3\n";
    for mode in ["none", "llsec", "dtls-psk"] {
        let run = Run::of(&format!("nd-{mode}"), text, &["--security", mode]);
        assert_eq!(run.tshark("_ws.malformed"), 0, "{mode}");
        // Solicitations and advertisements, of routers and of neighbours, and what is asked of the border router and answered by it.
        for kind in [133, 134, 135, 136, 157, 158] {
            assert!(run.tshark(&format!("icmpv6.type == {kind}")) > 0, "{mode}: none of type {kind}");
        }
        let told = "icmpv6.opt.prefix == fd00:: && icmpv6.opt.6co.flag.cid == 0 && \
            icmpv6.opt.abro.6lbr_address && icmpv6.opt.6cio.flag_g";
        assert!(run.tshark(told) > 0, "{mode}: an advertisement with all that the network has");
        let layers = run.layers(true);
        assert_eq!(count(&layers, &[("layer", "unread")]), 0, "{mode}: decode reads everything");
    }
}

#[test]
fn decode_follows_the_prefix_of_the_network_wherever_nodes_have_it_from() {
    for discovery in ["given", "rpl", "nd"] {
        let text = format!(
            "security = \"none\"\nduration = \"180s\"\n[network]\ndiscovery = \"{discovery}\"\nprefix = \"2001:db8:7::/64\"\n\
             [routing]\nkind = \"rpl\"\n[topology]\nkind = \"chain\"\nnodes = 2\n"
        );
        let run = Run::of(&format!("prefix-{discovery}"), &text, &[]);
        let layers = run.layers(true);
        assert_eq!(count(&layers, &[("layer", "unread")]), 0, "{discovery}");
        let of_node = [("layer", "ipv6"), ("source", "2001:db8:7:0:12:7400:0:2")];
        assert!(count(&layers, &of_node) > 0, "{discovery}");
    }
}

#[test]
fn decode_opens_what_tshark_has_no_keys_for() {
    for mode in ["esp", "esp:joint-ctr-xcbc", "llsec+esp:gcm+dtls-psk"] {
        let run = Run::new(&format!("esp-{mode}"), &["--duration", "60s", "--security", mode]);
        let layers = run.layers(true);
        assert_eq!(count(&layers, &[("layer", "unread")]), 0, "{mode}");
        let requests = count(&layers, &[("layer", "coap"), ("code", "POST")]) as u64;
        assert!(requests >= run.sum("delivered") && requests > 0, "{mode}: {requests} requests");
    }
}

#[test]
fn tshark_reads_every_frame_of_a_network_that_rpl_forms() {
    for (routing, security) in
        [("storing", "none"), ("storing", "ah"), ("non-storing", "none"), ("non-storing", "llsec")]
    {
        let text = format!(
            "duration = \"60s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
             [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"10s\"\n\
             [routing]\nkind = \"rpl\"\nmode = \"{routing}\""
        );
        let run = Run::of(&format!("rpl-{routing}-{security}"), &text, &["--security", security]);
        assert_eq!(run.tshark("_ws.malformed || _ws.expert.severity >= error"), 0, "{routing}, {security}");
        // DIS, DIO, DAO and DAO-ACK.
        for code in 0..4 {
            let messages = run.tshark(&format!("icmpv6.type == 155 && icmpv6.code == {code}"));
            assert!(messages > 0, "{routing}, {security}: none of code {code}");
        }
        let source_routes = run.tshark("ipv6.routing.type == 3");
        assert_eq!(source_routes > 0, routing == "non-storing", "{security}: {source_routes}");
    }
}

#[test]
fn decode_takes_echoes_over_dtls_for_no_coap() {
    let text = "duration = \"60s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
        [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"10s\"\n[routing]\nkind = ";
    for (mode, routing) in
        [("dtls-psk", "static"), ("dtls-rpk", "static"), ("dtls-x509", "static"), ("ah+dtls-psk", "rpl")]
    {
        let run = Run::of(&format!("echo-{mode}"), &format!("{text}\"{routing}\""), &["--security", mode]);
        let layers = run.layers(true);
        let delivered = run.sum("delivered");
        assert!(delivered >= 8, "{mode}: {delivered} echoes came back");
        assert_eq!(count(&layers, &[("layer", "unread")]), 0, "{mode}: decode opens everything");
        assert_eq!(count(&layers, &[("layer", "coap")]), 0, "{mode}: nobody speaks CoAP");
        for message in ["RPL DIS", "RPL DIO version", "RPL DAO 1 target", "RPL DAO-ACK 1 accepted"] {
            let said = layers
                .iter()
                .any(|layer| layer["message"].as_str().is_some_and(|said| said.starts_with(message)));
            assert_eq!(said, routing == "rpl", "{mode}: {message}");
        }
        let data = layers.iter().filter(|layer| layer["layer"] == "data");
        assert!(data.clone().all(|layer| layer["bytes"] == 64), "{mode}");
        assert!(data.count() as u64 >= 2 * delivered, "{mode}: each goes there and back");
    }
}

#[test]
fn decode_reads_what_radios_that_sleep_send() {
    for (listen, kind, layer) in [("tsch", "csma", "elements"), ("contikimac", "contiki-csma", "contikimac")]
    {
        for mode in ["none", "llsec+dtls-psk"] {
            let text = format!(
                "duration = \"120s\"\nsecurity = \"{mode}\"\n[mac]\nkind = \"{kind}\"\nlisten = \"{listen}\"\n\
                 [routing]\nkind = \"rpl\"\n[topology]\nkind = \"chain\"\nnodes = 2\n[traffic]\nperiod = \"10s\"\n"
            );
            let run = Run::of(&format!("{listen}-{mode}"), &text, &[]);
            let layers = run.layers(true);
            assert_eq!(count(&layers, &[("layer", "unread")]), 0, "{listen}, {mode}");
            assert!(count(&layers, &[("layer", layer)]) > 0, "{listen}, {mode}");
            let requests = count(&layers, &[("layer", "coap"), ("code", "POST")]) as u64;
            assert!(
                requests >= run.sum("delivered") && requests > 0,
                "{listen}, {mode}: {requests} requests"
            );
        }
    }
}

#[test]
fn decode_says_what_it_could_not_open() {
    let run = Run::new("decode", &["--duration", "60s", "--security", "llsec+dtls-psk"]);
    let secured = count(&run.layers(true), &[("layer", "link-security")]);
    let closed = run.layers(false);
    assert!(secured > 100, "{secured} frames are secured");
    assert_eq!(count(&closed, &[("layer", "unread"), ("reason", "no-key")]), secured);
    assert_eq!(count(&closed, &[("layer", "coap")]), 0);
    let (_, said) = run.decode(&[]);
    assert_eq!(said.split_once("; ").unwrap().1.trim(), format!("not read: {secured}, no key"));

    let keys = run.directory.join("link-key");
    let log = String::from_utf8(run.file("keys")).unwrap();
    let only: String =
        log.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    std::fs::write(&keys, only).unwrap();
    let (lines, _) = run.decode(&["--keys", &keys.display().to_string()]);
    let random = log.lines().find_map(|line| line.strip_prefix("CLIENT_RANDOM ")?.split(' ').next()).unwrap();
    assert!(lines.contains(&format!("no CLIENT_RANDOM {random} in the keys")), "the first session is named");
    let (verbose, _) = run.decode(&["-v", "--keys", &keys.display().to_string()]);
    assert!(verbose.contains("psk identity: node-6"), "the handshake is shown in full");
}

#[test]
fn decode_refuses_what_is_no_capture() {
    let run = Run::new("no-capture", &["--duration", "10s"]);
    for (name, expected) in [("events", "it is no pcap file"), ("keys.pcap", "No such file")] {
        let path = run.directory.join(name);
        let output = Command::new(env!("CARGO_BIN_EXE_sixlock")).arg("decode").arg(&path).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(said.contains(&format!("{}: {expected}", path.display())), "{said}");
    }
}
