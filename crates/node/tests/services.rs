//! What a node serves in the clear, and when it does not.

use core::net::Ipv6Addr;

use sixlock_base::{Counter, Cx, Duration, Eui64, MESH_PREFIX, Packet, Symbols};
use sixlock_crypto::Soft;
use sixlock_node::{
    Access, AnyChannel, Application, COAP_PORT, Cloud, Config, Csma, Datagrams, DtlsPsk, ECHO_PORT,
    EchoServer, Identity, InterfaceConfig, Link, MacConfig, Node, PreShared, RadioCommand, RadioMachine,
    Readings, Resource, Route, Routes, Sensor, Server, Stack, StartError, Uplink,
};
use sixlock_testing::{Random, Ranges, Rig};

fn address(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// Node `id`, whose only neighbour is `other`.
fn interface(id: u32, other: u32) -> InterfaceConfig {
    InterfaceConfig {
        mac: MacConfig {
            address: Eui64::of_node(id),
            pan_id: 1,
            csma: Csma::NONE,
            ack: false,
            security: None,
        },
        uplink: Uplink::NextHop(Eui64::of_node(other)),
    }
}

type Forwarder = Node<Soft, (), Stack<Link<false, 4, 2>, Datagrams<1280, 4>, Routes<[Route; 4]>>>;

/// A node that only forwards and echoes, and what it is lent.
struct Station {
    node: Box<Forwarder>,
    rig: Rig,
}

impl Station {
    fn new(id: u32, other: u32, echoes: bool) -> Self {
        let mut station = Self { node: Box::new(Node::new()), rig: Rig::without_ranges(1) };
        let config = Config { interface: interface(id, other), cloud: None, serves: false, echoes };
        station.with(|node, cx| node.start(cx, &config)).unwrap();
        station
    }

    fn with<T>(&mut self, call: impl FnOnce(&mut Forwarder, &mut Cx<'_, Soft, Random, Ranges>) -> T) -> T {
        call(&mut self.node, &mut self.rig.cx())
    }

    /// Sends a datagram.
    fn send(&mut self, from: u16, to: u32, port: u16) {
        self.with(|node, cx| {
            let mut packet = Packet::<[u8; 1280]>::new();
            packet.reset(node.interface().front());
            packet.extend(b"again").unwrap();
            node.interface().send(cx, Symbols::new(0), &mut packet, from, address(to), port).unwrap();
        });
    }

    /// The frames that it sends now.
    fn frames(&mut self, at: Symbols) -> Vec<Vec<u8>> {
        self.with(|node, cx| {
            let mut frames = Vec::new();
            if node.poll_radio_timeout().is_some_and(|due| at.has_reached(due)) {
                node.handle_radio_timeout(cx, at);
            }
            while let Some(RadioCommand::Send { .. }) = node.poll_radio_due() {
                frames.push(node.transmit_frame().to_vec());
                node.handle_transmitted(cx, at);
            }
            frames
        })
    }

    fn count(&self, counter: Counter) -> u32 {
        self.rig.count(counter)
    }
}

/// Lets nodes 1 and 2 and the stranger hear each other for a second; how many frames the two send.
fn hear([one, two, stranger]: &mut [Station; 3]) -> usize {
    let mut sent = 0;
    for symbols in (0..62_500).step_by(20) {
        let at = Symbols::new(symbols);
        let mut frames = stranger.frames(at);
        for station in [&mut *one, &mut *two] {
            let own = station.frames(at);
            sent += own.len();
            frames.extend(own);
        }
        for mut frame in frames {
            for station in [&mut *one, &mut *two, &mut *stranger] {
                station.with(|node, cx| node.handle_frame(cx, at, &mut frame.clone()));
            }
            frame.clear();
        }
    }
    sent
}

fn stations(echoes: bool) -> [Station; 3] {
    // The stranger says that it is node 2.
    [Station::new(1, 2, echoes), Station::new(2, 1, echoes), Station::new(2, 1, false)]
}

#[test]
fn a_datagram_that_says_to_be_of_another_s_echo_makes_no_traffic() {
    let mut stations = stations(true);
    stations[2].send(ECHO_PORT, 1, ECHO_PORT);
    assert_eq!(hear(&mut stations), 0);
    assert_eq!(stations[0].count(Counter::UdpNoPort), 1);
}

#[test]
fn the_echo_answers_ports_of_clients_alone() {
    for (port, answers) in [(0, 0), (53, 0), (1023, 0), (1024, 1), (COAP_PORT, 1), (49_152, 1)] {
        let mut stations = stations(true);
        stations[1].send(port, 1, ECHO_PORT);
        // The datagram and, if it is echoed, its way back, to a port that nobody listens at, which is told.
        assert_eq!(hear(&mut stations), 1 + 2 * answers, "{port}");
    }
}

#[test]
fn a_node_that_is_to_echo_nothing_listens_at_no_such_port() {
    let mut stations = stations(false);
    stations[1].send(49_152, 1, ECHO_PORT);
    hear(&mut stations);
    assert_eq!(stations[0].count(Counter::UdpNoPort), 1);
    assert_eq!(stations[1].count(Counter::UdpNoPort), 0, "nothing came back");
}

/// What comes of starting a node with this application, to serve its readings and to echo or not.
fn starts<A: Application<Soft>>(access: A::Access<'_>, serves: bool, echoes: bool) -> Result<(), StartError> {
    let period = Duration::from_secs(1);
    let cloud = Cloud { address: address(3), port: 5684, access, period, first: period };
    let config = Config { interface: interface(1, 2), cloud: Some(cloud), serves, echoes };
    let mut node = Box::new(Node::<
        Soft,
        A,
        Stack<Link<false, 4, 2>, Datagrams<320, 4>, Routes<[Route; 4]>>,
        Readings<3>,
    >::new());
    node.start(&mut Rig::without_ranges(1).cx(), &config)
}

/// What comes of it for each combination of the two.
fn all<'a, A: Application<Soft>>(access: impl Fn() -> A::Access<'a>) -> [Result<(), StartError>; 4] {
    [(false, false), (true, false), (false, true), (true, true)]
        .map(|(serves, echoes)| starts::<A>(access(), serves, echoes))
}

#[test]
fn a_node_that_speaks_dtls_does_not_start_with_services_in_the_clear() {
    let identity = Identity { name: b"device", key: b"a key of sixteen" };
    let refused = Err(StartError::InTheClear);
    let secured = [Ok(()), refused, refused, refused];
    assert_eq!(all::<Sensor<Soft, DtlsPsk<Soft>>>(|| identity), secured);
    assert_eq!(all::<Server<Soft, PreShared, 1, 3>>(|| identity), secured);
    assert_eq!(all::<EchoServer<Soft, PreShared, 1>>(|| identity), secured);
    type Any = Sensor<Soft, AnyChannel<Soft>>;
    assert_eq!(all::<Any>(|| Access::DtlsPsk(identity)), secured);
    let resource = Resource { id: b"1", key: b"key" };
    assert_eq!(all::<Any>(|| Access::Plain(resource)), [Ok(()); 4]);
    let long = Resource { id: &[b'1'; 65], key: b"key" };
    assert_eq!(all::<Any>(|| Access::Plain(long)), [Err(StartError::TooLong); 4]);
}
