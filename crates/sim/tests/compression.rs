//! Headers of DTLS compressed over the links of a network, by Lithe and by generic header compression.

use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks};
use sixlock_testing::Recording;

const COMPRESSIONS: [&str; 3] = ["none", "lithe", "ghc"];

/// A network that is simulated for this many seconds.
fn scenario(security: &str, compression: &str, seconds: u32, rest: &str) -> Scenario {
    let text = format!(
        "security = \"{security}\"\nduration = \"{seconds}s\"\n[lowpan]\ncompression = \"{compression}\"\n{rest}"
    );
    Scenario::parse("compressed", &text).unwrap()
}

/// What a run reports, and the lengths of its data frames.
fn run(scenario: &Scenario) -> (Report, Vec<usize>) {
    let capture = Recording::default();
    let sinks = Sinks { pcap: Some(capture.sink()), ..Sinks::default() };
    let report = Simulation::new(scenario, Options { sinks, ..Options::default() }).unwrap().run().unwrap();
    let frames = capture.frames();
    (report, frames.iter().filter(|frame| frame[0] & 7 == 1).map(Vec::len).collect())
}

/// A node one hop away echoes 22 bytes each second; the records' numbers stay below 256.
const ECHOES: &str =
    "[topology]\nkind = \"chain\"\nnodes = 1\n[traffic]\nkind = \"echo\"\npayload = \"22B\"\nperiod = \"1s\"";

#[test]
fn a_record_costs_29_bytes_on_the_air_by_lithe_13_by_ghc_16_and_a_handshake_less_too() {
    let with = |security, compression| {
        let scenario = scenario(security, compression, 100, ECHOES);
        let (report, lengths) = run(&scenario);
        assert!(report.nodes.iter().all(|node| node.sent > 90 && node.delivered == node.sent), "{report:?}");
        // Each echo is a frame there and one back; what comes before is the handshake.
        let echoes = 2 * report.nodes[0].sent as usize;
        let (handshake, echoes) = lengths.split_at(lengths.len() - echoes);
        (handshake.iter().sum::<usize>(), echoes.to_vec())
    };
    let (_, bare) = with("none", "none");
    let [plain, lithe, ghc] = COMPRESSIONS.map(|compression| {
        let (handshake, echoes) = with("dtls-psk", compression);
        let times = |length: &usize| echoes.iter().filter(|&other| other == length).count();
        let record = *echoes.iter().max_by_key(|length| times(length)).unwrap();
        // Here and there one has a few bytes that GHC finds again elsewhere.
        assert!(times(&record) > 180, "{echoes:?}");
        let overhead = record - bare[0];
        println!("{compression}: {overhead} bytes a record, {handshake} bytes of frames a handshake");
        (overhead, handshake)
    });
    assert_eq!([plain.0, lithe.0, ghc.0], [29, 13, 16]);
    assert!(lithe.1 < plain.1 && ghc.1 < plain.1, "{plain:?} {lithe:?} {ghc:?}");
}

#[test]
fn networks_that_lose_frames_deliver_with_each_compression() {
    let rest = "[radio]\nloss = 0.1\n[topology]\nkind = \"chain\"\nnodes = 4\n[traffic]\nperiod = \"20s\"";
    for security in ["llsec+dtls-psk", "dtls-rpk", "ah+dtls-psk", "none"] {
        let bytes = COMPRESSIONS.map(|compression| {
            let scenario = scenario(security, compression, 200, rest);
            let (report, _) = run(&scenario);
            for node in &report.nodes {
                assert!(
                    node.delivered + 1 >= node.sent && node.sent > 0,
                    "{security} {compression}: {node:?}"
                );
            }
            report.nodes.iter().map(|node| node.bytes).sum::<u32>()
        });
        println!("{security}: {bytes:?} bytes");
        let [plain, lithe, ghc] = bytes;
        assert_eq!(security.contains("dtls"), lithe < plain && ghc < plain);
    }
}

#[test]
fn no_board_compresses() {
    let text = "[lowpan]\ncompression = \"ghc\"\n[platform]\nprofile = \"tmote-sky\"";
    let error = Scenario::parse("s", text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s:2: no firmware compresses payloads: leave [lowpan] compression out, or platforms"
    );
    let error = Scenario::parse("s", "[lowpan]\ncompression = \"lith\"").unwrap_err();
    assert!(error.to_string().contains("\"lithe\""), "{error}");
}

/// The lengths of the frames in which a node one hop away echoes this many bytes, on links that compress packets from a length on.
fn echoed(platform: &str, payload: u32, compress_from: u32) -> Vec<usize> {
    let text = format!(
        "duration = \"20s\"\nsecurity = \"none\"\n{platform}\n[lowpan]\ncompress_from = \"{compress_from}B\"\n\
        [topology]\nkind = \"chain\"\nnodes = 1\n[traffic]\nkind = \"echo\"\npayload = \"{payload}B\"\nperiod = \"1s\""
    );
    let (report, lengths) = run(&Scenario::parse("short", &text).unwrap());
    assert!(report.nodes.iter().all(|node| node.sent > 15 && node.delivered == node.sent), "{report:?}");
    lengths
}

#[test]
fn packets_shorter_than_the_threshold_are_not_compressed_on_hosts_and_on_boards() {
    for platform in ["", "[platform]\nprofile = \"mb851\""] {
        // Headers of IPv6 and UDP are 48 bytes, those of the frame and its FCS 23, and a byte says that nothing is compressed.
        let short = echoed(platform, 14, 63);
        assert!(short.iter().all(|&length| length == 23 + 1 + 48 + 14), "{short:?}");
        let compressed = echoed(platform, 14, 62);
        assert!(compressed.iter().all(|&length| length < 70), "{compressed:?}");
        assert_eq!(echoed(platform, 14, 0), compressed);
    }
}

#[test]
fn no_image_is_told_from_which_length_on_to_compress() {
    let error = |text: &str| Scenario::parse("s", text).unwrap_err().to_string();
    let emulated = "[lowpan]\ncompress_from = \"63B\"\n[topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"10m\"\ny = \"0m\"\nkind = \"emulated\"\nplatform = \"tmote-sky\"";
    assert!(
        error(emulated).starts_with("s:2: node 1 is emulated, and its firmware compresses"),
        "{}",
        error(emulated)
    );
    let expected = "s:2: compress_from: packets are compressed from \"0B\" to \"1280B\" on";
    assert_eq!(error("[lowpan]\ncompress_from = \"1281B\""), expected);
}
