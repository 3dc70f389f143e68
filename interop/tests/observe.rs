//! Clients of libcoap and aiocoap observe the readings of a node, by CoAP and by CoAP over DTLS that ends at the node. What the node
//! does takes virtual time, which goes on with that of the client.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use sixlock_interop::{PATIENCE, Process};
use sixlock_node::{COAP_PORT, COAPS_PORT};
use sixlock_sim::{Destination, Device, FarEnd, Options, Scenario, Simulation, Span, Topology};

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
/// With aiocoap.
const PYTHON: &str = "DTLSSocket-python3";
/// Whose reading it is.
const READING: &str = "urn:dev:mac:0212740000000001:";
/// How long what a client says is waited for at a time.
const STEP: Duration = Duration::from_millis(20);

/// A node beside a border router, which has a reading every second, and either posts it and tells it by CoAP, or tells it by
/// CoAP over DTLS.
struct Node {
    simulation: Simulation,
    port: u16,
    /// Where it is reached.
    socket: UdpSocket,
}

impl Node {
    fn new(secure: bool) -> Self {
        let topology = Topology::Chain { nodes: 1, spacing: 40_000 };
        let (security, to) = match secure {
            true => ("dtls-psk", Destination::Node(1)),
            false => ("llsec", Destination::Cloud),
        };
        let builder = Scenario::builder().topology(topology).security(security.parse().unwrap());
        let scenario = builder.period(Span::from_secs(1)).destination(to).build().unwrap();
        let device = Device { resource: "1".into(), identity: IDENTITY.into(), key: KEY.into(), keys: None };
        let options = Options { far_end: FarEnd::Outside, devices: Some(vec![device]), ..Options::default() };
        let mut simulation = Simulation::new(&scenario, options).unwrap_or_else(|error| panic!("{error}"));
        simulation.step_until(simulation.now() + Span::from_secs(6));
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(STEP)).unwrap();
        Self { simulation, port: if secure { COAPS_PORT } else { COAP_PORT }, socket }
    }

    fn uri(&self) -> String {
        let scheme = if self.port == COAPS_PORT { "coaps" } else { "coap" };
        format!("{scheme}://{}/sensors", self.socket.local_addr().unwrap())
    }

    /// Carries what `client` and the node say, until `done`.
    fn carry(&mut self, client: &mut Process, mut done: impl FnMut(&mut Process) -> bool) {
        let flow = self.simulation.open_flow(1, self.port).unwrap();
        let (mut peer, begun, start) = (None, Instant::now(), self.simulation.now());
        while !done(client) {
            assert!(begun.elapsed() < PATIENCE, "{}", client.output());
            let mut datagram = [0; 1500];
            if let Ok((length, from)) = self.socket.recv_from(&mut datagram) {
                peer = Some(from);
                self.simulation.handle_upstream(flow, &datagram[..length]).unwrap();
            }
            self.simulation.step_until(start + Span::from_millis(begun.elapsed().as_millis() as u64));
            while let Some(answer) = self.simulation.poll_upstream() {
                if answer.flow == flow {
                    self.socket.send_to(&answer.payload, peer.expect("it has asked")).unwrap();
                }
            }
        }
    }

    /// It tells its readings to libcoap's client, which observes it for fifteen seconds, and then says that it does so no more.
    fn tells(mut self, program: &str, who: &[&str]) {
        let uri = self.uri();
        let arguments = [who, &["-s", "15", "-B", "90", "-v", "7", &uri]].concat();
        let mut client = Process::start(program, "libcoap3-bin", &arguments);
        self.carry(&mut client, |client| !client.is_running());
        assert!(client.succeeds(PATIENCE), "{}", client.output());
        let output = client.output();
        // Its payloads, and how it shows options: what it has registered, what it was told, and that it has deregistered.
        assert!(output.matches(READING).count() >= 3, "{output}");
        for shown in ["Observe:0, C", "Observe:1, C", "Observe:2, C", "c:0.00"] {
            assert!(output.contains(shown), "{shown}: {output}");
        }
        assert!(output.contains("t:CON c:2.05"), "one is acknowledged: {output}");
    }
}

#[test]
fn libcoap_observes_a_node_by_coap() {
    Node::new(false).tells("coap-client-notls", &[]);
}

#[test]
fn libcoap_observes_a_node_in_a_session_with_it() {
    for program in ["coap-client-openssl", "coap-client-gnutls"] {
        Node::new(true).tells(program, &["-u", IDENTITY, "-k", KEY]);
    }
}

#[test]
fn aiocoap_observes_a_node() {
    const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/aiocoap/observe.py");
    let mut node = Node::new(false);
    let arguments = ["-u", CLIENT, &node.uri(), "3"];
    // It is no package of Debian's: ./test puts it in place.
    let mut client = Process::start(PYTHON, "python3-venv, and run ./test", &arguments);
    node.carry(&mut client, |client| !client.is_running());
    assert!(client.succeeds(PATIENCE), "{}", client.output());
    let output = client.output();
    for line in [&format!("observes {READING}"), "notified 3 temperature", "done"] {
        assert!(output.contains(line), "{line}: {output}");
    }
}

#[test]
fn a_client_that_is_gone_is_told_no_more() {
    let mut node = Node::new(false);
    let arguments = ["-s", "60", "-B", "60", "-v", "7", &node.uri()];
    let mut client = Process::start("coap-client-notls", "libcoap3-bin", &arguments);
    node.carry(&mut client, |client| client.output().matches(READING).count() >= 2);
    drop(client);
    // Its host rejects what comes by ICMP, which no mesh hears of: the node finds out by itself, when nobody acknowledges.
    let mut told = 0;
    for seconds in 0..300 {
        node.simulation.step_until(node.simulation.now() + Span::from_secs(1));
        while let Some(answer) = node.simulation.poll_upstream() {
            if answer.payload.windows(READING.len()).any(|window| window == READING.as_bytes())
                && answer.payload[1] == 0x45
            {
                told = seconds;
            }
        }
    }
    assert!(told < 200, "{told}");
}
