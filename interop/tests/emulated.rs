//! Firmware in an emulator, with OpenSSL at the other end. Left out unless it is asked for (`-- --ignored`): `./test`
//! sees to emulators and images.

use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

use sixlock_interop::{PATIENCE, Process};
use sixlock_sim::{Device, EmulatedNode, FarEnd, Options, Platform, Scenario, Simulation, Span, Topology};

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
const KEY_HEX: &str = "3031323334353637383961626364656630313233343536373839616263646566";

/// How long an answer may take on this machine. Virtual time stands still meanwhile.
const ANSWER: Duration = Duration::from_millis(500);

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_makes_its_handshake_with_openssl_and_posts_to_it() {
    let arguments = ["s_server", "-dtls1_2", "-nocert", "-accept", "127.0.0.1:0", "-listen", "-mtu", "256"];
    let key = ["-cipher", "PSK-AES128-CCM8", "-psk_identity", IDENTITY, "-psk", KEY_HEX];
    let server = Process::start("openssl", "openssl", &[&arguments[..], &key].concat());
    let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    socket.set_read_timeout(Some(ANSWER)).unwrap();

    let topology = Topology::Chain { nodes: 1, spacing: 40_000 };
    let mut scenario = Scenario { topology, ..Scenario::default() };
    scenario.traffic.period = Span::from_secs(5);
    // Tests run in the package's folder, images are built in the workspace's.
    let built = Platform::OpenMote.built_image(&scenario).unwrap();
    let image = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(built));
    scenario.emulated.insert(1, EmulatedNode { platform: Platform::OpenMote, image });
    let device = Device { resource: "1".into(), identity: IDENTITY.into(), key: KEY.into() };
    let options = Options { far_end: FarEnd::Outside, devices: Some(vec![device]), ..Options::default() };
    let mut simulation = Simulation::new(&scenario, options).unwrap_or_else(|error| panic!("{error}"));

    // What the node posts, as the server prints it.
    let reading = "[{\"bn\":\"urn:dev:mac:0212740000000001:\",\"n\":\"temperature\",\"u\":\"Cel\",";
    while !server.output().contains(reading) {
        assert!(simulation.now().micros() < 60_000_000, "no reading in a minute: {}", server.output());
        simulation.step_until(simulation.now() + Span::from_millis(20));
        simulation.flush().unwrap_or_else(|error| panic!("{error}"));
        while let Some(datagram) = simulation.poll_upstream() {
            socket.send(&datagram.payload).unwrap();
            let mut answer = [0; 1500];
            // A server that has nothing to say yet is waited for in vain.
            while let Ok(len) = socket.recv(&mut answer) {
                simulation.handle_upstream(datagram.flow, &answer[..len]).unwrap();
            }
        }
    }
    assert_eq!(simulation.report().nodes[0].handshakes, 1);
}
