//! A border router on a platform, whose work takes time.

use sixlock_sim::{Options, Report, Scenario, Simulation};

fn run(text: &str) -> Report {
    let scenario = Scenario::parse("router", text).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&scenario, Options::default()).unwrap().run().unwrap()
}

/// The mean round trip of echoes of 64 bytes to a neighbour, in milliseconds, by such a border router.
fn round_trip(security: &str, router: &str) -> f64 {
    let report = run(&format!(
        "security = \"{security}\"\nduration = \"300s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
        [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"10s\"\n{router}"
    ));
    let node = &report.nodes[0];
    assert_eq!(node.delivered, node.due, "{security} {router}");
    node.rtt_ms.unwrap().mean
}

const OPENMOTE: &str = "[router]\nprofile = \"openmote\"";
const SKY: &str = "[router]\nprofile = \"tmote-sky\"";

#[test]
fn round_trips_take_longer_by_a_slower_router_and_longer_yet_where_it_computes_more() {
    for serial in ["", "\n[serial]"] {
        let trips = |security| {
            ["[router]\nprofile = \"native\"", OPENMOTE, SKY]
                .map(|router| round_trip(security, &format!("{router}{serial}")))
        };
        let [native, openmote, sky] = trips("none");
        assert!(native + 0.1 < openmote && openmote + 1.0 < sky, "{native} {openmote} {sky}");
        let [native_secured, _, sky_secured] = trips("llsec");
        assert!(
            sky_secured - native_secured > sky - native + 1.0,
            "{sky_secured} {native_secured} {sky} {native}"
        );
    }
}

/// While a Tmote Sky opens a frame, its FIFO has room for the next: the frame is out of it.
#[test]
fn a_router_on_the_board_of_its_nodes_loses_no_more_than_they_do() {
    let text = "security = \"llsec\"\nduration = \"1200s\"\n[topology]\nnodes = 3\n[platform]\nprofile = \"tmote-sky\"\n";
    for router in ["", SKY] {
        let report = run(&format!("{text}{router}"));
        let (delivered, due) = (report.sum(|node| node.delivered), report.sum(|node| node.due));
        assert!(delivered + 1 >= due, "{router}: {delivered} of {due}");
    }
}

#[test]
fn nothing_changes_where_the_router_is_native_or_nothing_is_said_of_it() {
    let text = "security = \"llsec+dtls-psk\"\nduration = \"200s\"\n[topology]\nkind = \"grid\"\nnodes = 9\n";
    let reports = ["", "[router]\n", "[router]\nprofile = \"native\"\n"]
        .map(|router| serde_json::to_string(&run(&format!("{text}{router}"))).unwrap());
    assert!(reports.iter().all(|report| *report == reports[0]));
}

#[test]
fn every_mode_delivers_by_a_router_that_takes_time_with_listed_ways_and_by_rpl() {
    for security in ["none", "llsec", "ah", "esp", "dtls-psk", "llsec+esp+dtls-psk"] {
        for (routing, serial) in
            [("static", ""), ("rpl", ""), ("static", "[serial]\n"), ("rpl", "[serial]\n")]
        {
            for traffic in ["report", "echo"] {
                let report = run(&format!(
                    "security = \"{security}\"\nduration = \"356s\"\n{serial}{OPENMOTE}\n[routing]\nkind = \"{routing}\"\n\
                    [topology]\nkind = \"chain\"\nnodes = 2\n[traffic]\nkind = \"{traffic}\"\nperiod = \"60s\"\n"
                ));
                for node in &report.nodes {
                    // By RPL the first is due before there is a way.
                    let delivered = node.delivered + u64::from(routing == "rpl");
                    assert!(
                        delivered >= node.due - node.pending,
                        "{security} {routing} {traffic} {serial}: {node:?}"
                    );
                }
            }
        }
    }
}

/// What comes of this traffic of so many neighbours of the border router, which is more than a Tmote Sky can do.
fn much(nodes: u32, security: &str, traffic: &str, router: &str) -> Report {
    let places: String =
        (1..=nodes).map(|id| format!("[[node]]\nid = {id}\nx = \"{id}m\"\ny = \"10m\"\n")).collect();
    run(&format!(
        "security = \"{security}\"\nduration = \"60s\"\n[topology]\nkind = \"list\"\n[traffic]\n{traffic}\n{places}{router}"
    ))
}

fn drops(report: &Report, cause: &str) -> u32 {
    report.router.drops.get(cause).copied().unwrap_or(0)
}

fn delivered(report: &Report) -> u64 {
    report.sum(|node| node.delivered)
}

#[test]
fn a_router_that_is_too_slow_drops_frames_when_its_radio_is_full_and_counts_them() {
    let [native, sky] =
        ["", SKY].map(|router| much(8, "esp", "confirmable = false\nperiod = \"300ms\"", router));
    assert_eq!(drops(&native, "rxfifo"), 0);
    assert!(drops(&sky, "rxfifo") > 100, "{:?}", sky.router.drops);
    assert!((1..delivered(&native)).contains(&delivered(&sky)), "{} {}", delivered(&sky), delivered(&native));
}

#[test]
fn a_router_that_is_too_slow_drops_packets_from_outside_when_its_queue_is_full_and_counts_them() {
    for serial in ["", "\n[serial]\nbaud = 1000000"] {
        let echoes = "kind = \"echo\"\npayload = \"8B\"\nperiod = \"10ms\"";
        let [native, sky] = ["", SKY].map(|router| much(1, "none", echoes, &format!("{router}{serial}")));
        assert_eq!(drops(&native, "queue"), 0);
        assert!(drops(&sky, "queue") > 100, "{:?}", sky.router.drops);
        assert!(
            (1..delivered(&native)).contains(&delivered(&sky)),
            "{} {}",
            delivered(&sky),
            delivered(&native)
        );
    }
}

#[test]
fn what_a_router_cannot_run_on_is_refused() {
    for (text, why) in [
        ("[router]\nprofile = \"micaz\"", "f:1: a micaz has no memory for a border router"),
        ("[router]\nprofile = \"pc\"", "f:2: profile: \"pc\" is not \"native\" or"),
        ("[router]\nfile = \"none.toml\"", "f:2: there is no file none.toml"),
    ] {
        let error = Scenario::parse("f", text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
