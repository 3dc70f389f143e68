//! Firmware in an emulator, with OpenSSL and libcoap at the other end. Left out unless it is asked for (`-- --ignored`): `./test`
//! sees to emulators and images.

use std::net::UdpSocket;
use std::path::Path;
use std::time::{Duration, Instant};

use sixlock_interop::{PATIENCE, Process};
use sixlock_node::COAPS_PORT;
use sixlock_sim::{
    Destination, Device, EmulatedNode, FarEnd, Options, Platform, Scenario, ScenarioBuilder, Simulation,
    Span, Topology, built_image,
};

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
const KEY_HEX: &str = "3031323334353637383961626364656630313233343536373839616263646566";

/// How long an answer may take on this machine. Virtual time stands still meanwhile.
const ANSWER: Duration = Duration::from_millis(500);

/// An emulated node beside a border router, which lets datagrams out and in. It posts its readings, or serves them.
fn simulation(platform: Platform, to: Destination) -> Simulation {
    let topology = Topology::Chain { nodes: 1, spacing: 40_000 };
    let builder = Scenario::builder().topology(topology).period(Span::from_secs(5)).destination(to);
    let scenario = builder.build().unwrap();
    // Tests run in the package's folder, images are built in the workspace's.
    let built = built_image(&platform, &scenario, 1).unwrap();
    let image = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(built));
    let node = EmulatedNode { platform, image };
    let scenario = ScenarioBuilder::from(scenario).emulated(1, node).build().unwrap();
    let device = Device { resource: "1".into(), identity: IDENTITY.into(), key: KEY.into(), keys: None };
    let options = Options { far_end: FarEnd::Outside, devices: Some(vec![device]), ..Options::default() };
    Simulation::new(&scenario, options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_makes_its_handshake_with_openssl_and_posts_to_it() {
    posts_to_openssl(Platform::openmote());
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn a_tmote_sky_makes_its_handshake_with_openssl_and_posts_to_it() {
    posts_to_openssl(Platform::tmote_sky());
}

fn posts_to_openssl(platform: Platform) {
    let arguments = ["s_server", "-dtls1_2", "-nocert", "-accept", "127.0.0.1:0", "-listen", "-mtu", "256"];
    let key = ["-cipher", "PSK-AES128-CCM8", "-psk_identity", IDENTITY, "-psk", KEY_HEX];
    let server = Process::start("openssl", "openssl", &[&arguments[..], &key].concat());
    let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    socket.set_read_timeout(Some(ANSWER)).unwrap();

    let mut simulation = simulation(platform, Destination::Cloud);

    // What the node posts, as the server prints it.
    let reading = "[{\"bn\":\"urn:dev:mac:0212740000000001:\",\"n\":\"temperature\",\"u\":\"Cel\",";
    let (mut flow, mut answer) = (None, [0; 1500]);
    while !server.output().contains(reading) {
        assert!(simulation.now().micros() < 60_000_000, "no reading in a minute: {}", server.output());
        simulation.step_until(simulation.now() + Span::from_millis(20));
        simulation.flush().unwrap_or_else(|error| panic!("{error}"));
        while let Some(datagram) = simulation.poll_upstream() {
            socket.send(&datagram.payload).unwrap();
            flow = Some(datagram.flow);
            // A server that has nothing to say yet is waited for in vain.
            while let Ok(len) = socket.recv(&mut answer) {
                simulation.handle_upstream(datagram.flow, &answer[..len]).unwrap();
            }
        }
        // What comes later than that.
        socket.set_nonblocking(true).unwrap();
        while let (Some(flow), Ok(len)) = (flow, socket.recv(&mut answer)) {
            simulation.handle_upstream(flow, &answer[..len]).unwrap();
        }
        socket.set_nonblocking(false).unwrap();
    }
    assert_eq!(simulation.report().nodes[0].handshakes(), 1);
}

/// What libcoap's client prints of the answer to a request for `path`.
fn ask(simulation: &mut Simulation, path: &str, more: &[&str]) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    // Virtual time goes on in steps of as much as is waited here.
    let step = Duration::from_millis(20);
    socket.set_read_timeout(Some(step)).unwrap();
    let uri = format!("coaps://{}/{path}", socket.local_addr().unwrap());
    let arguments = [&["-u", IDENTITY, "-k", KEY, "-B", "90"], more, &[&uri]].concat();
    let mut client = Process::start("coap-client-openssl", "libcoap3-bin", &arguments);
    let flow = simulation.open_flow(1, COAPS_PORT).unwrap();
    let mut peer = None;
    let begun = Instant::now();
    while client.is_running() {
        assert!(begun.elapsed() < PATIENCE, "no answer: {}", client.output());
        let mut datagram = [0; 1500];
        if let Ok((len, from)) = socket.recv_from(&mut datagram) {
            peer = Some(from);
            simulation.handle_upstream(flow, &datagram[..len]).unwrap();
        }
        simulation.step_until(simulation.now() + Span::from_millis(step.as_millis() as u64));
        simulation.flush().unwrap_or_else(|error| panic!("{error}"));
        while let Some(answer) = simulation.poll_upstream() {
            assert_eq!(answer.flow, flow);
            socket.send_to(&answer.payload, peer.expect("it has asked")).unwrap();
        }
    }
    assert!(client.succeeds(PATIENCE), "{}", client.output());
    client.output()
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_serves_its_readings_to_libcoap_and_takes_those_that_it_posts() {
    let mut simulation = simulation(Platform::openmote(), Destination::Node(1));
    simulation.step_until(simulation.now() + Span::from_secs(6));
    let own = ask(&mut simulation, "sensors", &[]);
    let reading = "[{\"bn\":\"urn:dev:mac:0212740000000001:\",\"n\":\"temperature\",\"u\":\"Cel\",";
    assert!(own.contains(reading), "{own}");
    let posted = "[{\"n\":\"temperature\",\"v\":21.4}]";
    ask(&mut simulation, "resources/data", &["-m", "post", "-t", "110", "-e", posted]);
    let told = ask(&mut simulation, "resources/data", &[]);
    assert!(told.contains(posted), "{told}");
}
