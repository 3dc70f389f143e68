//! A border router of two parts, with a serial line between them.

use sixlock_sim::{Options, Report, Scenario, Simulation};

fn run(text: &str) -> Report {
    let scenario = Scenario::parse("serial", text).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&scenario, Options::default()).unwrap().run().unwrap()
}

/// The mean round trip of echoes of 64 bytes to a neighbour, in milliseconds, over such a line.
fn round_trip(serial: &str) -> f64 {
    let report = run(&format!(
        "security = \"none\"\nduration = \"300s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
        [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"10s\"\n{serial}"
    ));
    let node = &report.nodes[0];
    assert_eq!(node.delivered, node.due, "{serial}");
    node.rtt_ms.unwrap().mean
}

#[test]
fn round_trips_take_the_time_of_their_bytes_longer_over_a_slower_line() {
    let [none, fast, slow] = ["", "[serial]\nbaud = 115200", "[serial]\nbaud = 9600"].map(round_trip);
    // There and back a packet of 112 bytes between two bytes END; some of it may be escaped.
    let bytes = [2.0 * 114.0, 2.0 * 118.0];
    let of_byte = |baud: f64| 10_000.0 / baud;
    for (longer, byte) in [
        (fast - none, of_byte(115_200.0)),
        (slow - none, of_byte(9600.0)),
        (slow - fast, of_byte(9600.0) - of_byte(115_200.0)),
    ] {
        let [least, most] = bytes.map(|bytes| bytes * byte);
        // Symbols of 16 us round a little.
        assert!(
            (least - 0.1..=most + 0.1).contains(&longer),
            "{least} {longer} {most}: {none} {fast} {slow}"
        );
    }
    let bytes = (slow - fast) / (of_byte(9600.0) - of_byte(115_200.0));
    let same = (fast - none) / of_byte(115_200.0);
    assert!((bytes - same).abs() < 2.0, "as many bytes over each line: {bytes} {same}");
}

#[test]
fn every_mode_delivers_over_a_serial_line_with_listed_ways_and_by_rpl() {
    for security in ["none", "llsec", "ah", "esp", "dtls-psk", "llsec+esp+dtls-psk"] {
        for routing in ["static", "rpl"] {
            for traffic in ["report", "echo"] {
                let report = run(&format!(
                    "security = \"{security}\"\nduration = \"356s\"\n[serial]\n[routing]\nkind = \"{routing}\"\n\
                    [topology]\nkind = \"chain\"\nnodes = 2\n[traffic]\nkind = \"{traffic}\"\nperiod = \"60s\"\n"
                ));
                for node in &report.nodes {
                    // By RPL the first is due before there is a way.
                    let delivered = node.delivered + u64::from(routing == "rpl");
                    assert!(delivered >= node.due - node.pending, "{security} {routing} {traffic}: {node:?}");
                }
            }
        }
    }
}

#[test]
fn a_security_gateway_has_no_serial_line() {
    let text = "security = \"esp\"\n[serial]\n[gateway]\nnodes = \"tunnel\"\n";
    let scenario = Scenario::parse("serial", text).unwrap();
    let error = Simulation::new(&scenario, Options::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("leave [serial] or the security gateway out"), "{error}");
}

#[test]
fn a_speed_that_no_line_has_is_refused() {
    let error = Scenario::parse("f", "[serial]\nbaud = 300").unwrap_err().to_string();
    assert!(error.contains("f:2") && error.contains("baud"), "{error}");
}
