//! The examples of the crates, as programs, with other implementations on the other side and with each other.

use std::path::PathBuf;

use sixlock_interop::{LibcoapServer, PATIENCE, Process, Scapy};

const KEY: &str = "0102030405060708";
const SUITE: &str = "PSK-AES128-CCM8";

/// The example `name` of the crate `package`, started. It is built beside the tests, or stands in the folder `SIXLOCK_EXAMPLES`, such as
/// one that `scripts/packages.sh` has made.
fn example(package: &str, name: &str, arguments: &[&str]) -> Process {
    let beside = || std::env::current_exe().expect("a test knows its own path").with_file_name("../examples");
    let program = std::env::var_os("SIXLOCK_EXAMPLES").map_or_else(beside, PathBuf::from).join(name);
    assert!(
        program.is_file(),
        "{} is not there: cargo build -p {package} --examples, or cargo test --workspace",
        program.display()
    );
    Process::start(&program.display().to_string(), "nothing", arguments)
}

/// An example that serves, and its address.
fn server(package: &str, name: &str) -> (Process, String) {
    let process = example(package, name, &["127.0.0.1:0"]);
    let address = process.line("listening on ", PATIENCE).unwrap_or_else(|| panic!("{}", process.output()));
    (process, address)
}

/// What follows the length in the line that begins with `name`.
fn hex(process: &Process, name: &str) -> String {
    let line = process.line(&format!("{name} "), PATIENCE).unwrap_or_else(|| panic!("{}", process.output()));
    let (length, hex) = line.split_once(' ').expect("a length and bytes");
    assert_eq!(length.parse(), Ok(hex.len() / 2), "{line}");
    hex.to_owned()
}

#[test]
fn the_dtls_examples_speak_with_each_other() {
    let (server, address) = server("sixlock-dtls", "psk_server");
    for line in ["one", "another"] {
        let mut client = example("sixlock-dtls", "psk_client", &[&address, line]);
        assert!(client.succeeds(PATIENCE), "{} {}", client.output(), server.output());
        assert_eq!(client.output(), format!("{line}\n"));
    }
}

#[test]
fn the_dtls_client_speaks_with_openssl() {
    let arguments =
        ["s_server", "-dtls1_2", "-nocert", "-accept", "127.0.0.1:0", "-cipher", SUITE, "-psk", KEY];
    let mut server = Process::start("openssl", "openssl", &arguments);
    let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
    let mut client = example("sixlock-dtls", "psk_client", &[&format!("127.0.0.1:{port}"), "a question"]);
    assert!(server.prints("a question", PATIENCE), "{} {}", server.output(), client.output());
    server.write("an answer\n");
    assert!(client.succeeds(PATIENCE), "{}", client.output());
    assert!(client.output().contains("an answer"), "{}", client.output());
}

#[test]
fn openssl_speaks_with_the_dtls_server() {
    let (server, address) = server("sixlock-dtls", "psk_server");
    let arguments = ["s_client", "-dtls1_2", "-quiet", "-connect", &address, "-cipher", SUITE];
    let arguments = [&arguments[..], &["-psk_identity", "client", "-psk", KEY]].concat();
    let mut client = Process::start("openssl", "openssl", &arguments);
    client.write("a question\n");
    assert!(client.prints("a question", PATIENCE), "{} {}", client.output(), server.output());
}

#[test]
fn libcoap_gets_from_the_coaps_server() {
    let (server, address) = server("sixlock-endpoint", "coaps_psk_server");
    let url = format!("coaps://{address}/reading");
    let arguments = ["-u", "client", "-k", "secretPSK", "-B", "90", &url];
    let mut client = Process::start("coap-client-openssl", "libcoap3-bin", &arguments);
    assert!(client.prints("21.5 Cel", PATIENCE), "{} {}", client.output(), server.output());
    assert!(client.succeeds(PATIENCE), "{}", client.output());
}

#[test]
fn the_coap_client_gets_from_libcoap() {
    let server = LibcoapServer::start("coap-server-notls", &[]);
    let url = server.url(false);
    let address =
        url.strip_prefix("coap://").and_then(|rest| rest.strip_suffix("/reading")).expect("an address");
    let mut client = example("sixlock-coap", "get", &[address, "reading"]);
    assert!(client.succeeds(PATIENCE), "{} {}", client.output(), server.process().output());
    assert_eq!(client.output().trim(), LibcoapServer::READING);
}

#[test]
fn scapy_opens_what_the_esp_example_seals() {
    let mut process = example("sixlock-ipsec", "esp_round_trip", &["21.5 Cel"]);
    assert!(process.succeeds(PATIENCE), "{}", process.output());
    let (plain, sealed, opened) = (hex(&process, "plain"), hex(&process, "sealed"), hex(&process, "opened"));
    assert_eq!(plain, opened);
    let answer = Scapy::start("peer.py").ask(&format!("open esp:gcm transport short 1 {sealed}"));
    assert_eq!(answer, plain);
}

#[test]
fn scapy_restores_what_the_6lowpan_example_compresses() {
    let mut process = example("sixlock-sixlowpan", "compress", &[]);
    assert!(process.succeeds(PATIENCE), "{}", process.output());
    let (packet, compressed) = (hex(&process, "packet"), hex(&process, "compressed"));
    assert_eq!(packet, hex(&process, "restored"));
    assert!(compressed.len() + 2 * 40 < packet.len(), "{compressed}");
    let request = format!("{compressed} 0012740000000001 0012740000000002");
    assert_eq!(Scapy::start("compressed.py").ask(&request), packet);
}

#[test]
fn what_the_other_examples_seal_and_write_they_read_again() {
    let mut frame = example("sixlock-ieee802154", "secure_frame", &["21.5 Cel"]);
    assert!(frame.succeeds(PATIENCE), "{}", frame.output());
    assert_eq!(frame.line("opened ", PATIENCE).as_deref(), Some("21.5 Cel"));
    let mut dodag = example("sixlock-rpl", "dodag", &[]);
    assert!(dodag.succeeds(PATIENCE) && dodag.output().contains("the root reaches 1"), "{}", dodag.output());
    let mut readings = example("sixlock-senml", "readings", &[]);
    assert!(readings.succeeds(PATIENCE), "{}", readings.output());
    for format in ["json", "cbor"] {
        let line = format!("from {format}: urn:dev:mac:0212740000000001:temperature 21.5 Cel");
        assert!(readings.output().contains(&line), "{}", readings.output());
    }
}
