//! A host finds a border router, takes the prefix that it is given, registers, and is reached; over frames.

use std::net::Ipv6Addr;

use sixlock_base::{
    Counter, Cx, Duration, Eui64, Instant, LINK_LOCAL_PREFIX, MESH_PREFIX, Packet, Slot, Symbols,
};
use sixlock_crypto::Soft;
use sixlock_ieee802154::{Address, Header as FrameHeader};
use sixlock_interface::{
    Arrival, Config, Csma, Datagrams, Interface, Layers, Link, MacConfig, PayloadCompression, RadioCommand,
    Route, Routes, SendError, Stack, Uplink,
};
use sixlock_ipv6::nd::{
    ALL_ROUTERS, AddressRegistration, BorderRouter, Builder, Capabilities, Context, HOP_LIMIT,
    LinkLayerAddress, Message, NdOption, Prefix, PrefixInformation, Rovr, Status, solicited_node,
};
use sixlock_ipv6::{Header, icmpv6};
use sixlock_net::neighbour_discovery::{
    DefaultRouter, Host, LearntContext, Network, Registrar, Registration, Settings,
};
use sixlock_sixlowpan::{FragmentHeader, LinkAddresses, decompress};
use sixlock_testing::{Random, Ranges, Rig};

const PREFIX: [u8; 8] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 7];
const ROUTER: u32 = 1;
const HOST: u32 = 2;
const OUTSIDE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xff, 0, 0, 0, 0, 1);
const SYMBOLS_PER_MILLISECOND: u32 = 62;

type HostDiscovery = Host<[Slot<DefaultRouter>; 2], [Slot<LearntContext>; 2]>;
type RouterDiscovery = Registrar<[Slot<Registration>; 4], [Slot<Context>; 2]>;
type LayersWith<D> =
    Stack<Link<false, 4, 2>, Datagrams<1280, 4>, Routes<[Route; 1]>, (), Option<PayloadCompression>, (), D>;

struct Station<L: Layers<Soft>> {
    interface: Box<Interface<Soft, L>>,
    rig: Rig,
}

impl<L: Layers<Soft>> Station<L> {
    fn new(id: u32, uplink: Uplink) -> Self {
        let mut station = Self { interface: Box::new(Interface::new()), rig: Rig::seeded(id) };
        let csma = Csma { min_be: 0, max_be: 3, max_backoffs: 4, max_retries: 3 };
        let mac = MacConfig { address: Eui64::of_node(id), pan_id: 1, csma, ack: false, security: None };
        station.lend(0, |interface, cx| interface.start(cx, &Config { mac, uplink }));
        station
    }

    fn lend<T>(
        &mut self,
        now: u32,
        act: impl FnOnce(&mut Interface<Soft, L>, &mut Cx<'_, Soft, Random, Ranges>) -> T,
    ) -> T {
        act(&mut self.interface, &mut self.rig.at(Instant::from_millis(now)))
    }

    /// Does what is due, and returns the frames that it sends.
    fn work(&mut self, now: u32) -> Vec<Vec<u8>> {
        let (at, mut frames) = (Symbols::new(now * SYMBOLS_PER_MILLISECOND), Vec::new());
        self.lend(now, |interface, cx| {
            if interface.poll_timeout().is_some_and(|due| cx.now.has_reached(due)) {
                interface.handle_timeout(cx, at);
            }
            for _ in 0..10 {
                if interface.poll_radio_timeout().is_some_and(|due| at.has_reached(due)) {
                    interface.handle_radio_timeout(cx, at);
                }
                while let Some(RadioCommand::Send { .. }) = interface.poll_radio_due() {
                    frames.push(interface.transmit_frame().to_vec());
                    interface.handle_transmitted(cx, at);
                }
            }
        });
        frames
    }

    /// Takes in frames; what came of them.
    fn hear(&mut self, now: u32, frames: &[Vec<u8>]) -> Vec<Heard> {
        let at = Symbols::new(now * SYMBOLS_PER_MILLISECOND);
        self.lend(now, |interface, cx| {
            let mut heard = Vec::new();
            for frame in frames {
                match interface.handle_frame(cx, at, &mut frame.clone()) {
                    Some(Arrival::Datagram(delivered)) => {
                        let datagram = interface.datagram(&delivered);
                        heard.push(Heard::Datagram(datagram.source, datagram.destination));
                        interface.release(delivered);
                    }
                    Some(Arrival::External(external)) => {
                        let packet = interface.packet(&external);
                        let [source, destination] =
                            [8, 24].map(|at| Ipv6Addr::from(*packet[at..].first_chunk::<16>().unwrap()));
                        heard.push(Heard::External(source, destination));
                        interface.release_packet(external);
                    }
                    None => {}
                }
            }
            heard
        })
    }

    fn send(&mut self, now: u32, to: Ipv6Addr) -> Result<(), SendError> {
        let mut packet = Packet::<[u8; 128]>::new();
        packet.reset(self.interface.front());
        packet.extend(&b"reading ".repeat(6)).unwrap();
        let at = Symbols::new(now * SYMBOLS_PER_MILLISECOND);
        self.lend(now, |interface, cx| interface.send(cx, at, &mut packet, 5683, to, 5683))
    }
}

/// The ends of a packet that came in for a station, or that a border router sends out of the mesh.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Datagram(Ipv6Addr, Ipv6Addr),
    External(Ipv6Addr, Ipv6Addr),
}

/// A border router, and a host that knows nothing of it.
struct Pair {
    router: Station<LayersWith<RouterDiscovery>>,
    host: Station<LayersWith<HostDiscovery>>,
    now: u32,
    at_router: Vec<Heard>,
    at_host: Vec<Heard>,
    /// The bytes of what each has sent.
    sent: [usize; 2],
}

impl Pair {
    fn new() -> Self {
        Self::reading([false, false])
    }

    /// The host and the router read payloads that are compressed by GHC, or do not.
    fn reading([host_reads, router_reads]: [bool; 2]) -> Self {
        let reads = |reads: bool| reads.then_some(PayloadCompression::Ghc);
        let (mut router, mut host) =
            (Station::new(ROUTER, Uplink::External), Station::new(HOST, Uplink::None));
        *router.interface.compression() = reads(router_reads);
        *host.interface.compression() = reads(host_reads);
        let discovery: &mut RouterDiscovery = router.interface.discovery();
        discovery.start(Eui64::of_node(ROUTER));
        let prefix = Prefix::of_64_bits(PREFIX);
        discovery.configure(Network {
            router_lifetime: 1_800,
            prefix: Some(PrefixInformation {
                length: 64,
                on_link: false,
                autonomous: true,
                is_router_address: false,
                valid: 86_400,
                preferred: 86_400,
                address: prefix.address(),
            }),
            border_router: BorderRouter { version: 1, lifetime: 0, address: global(ROUTER) },
            is_border_router: true,
            reads_extended: true,
            is_routing_registrar: false,
            generic_compression: router_reads,
        });
        assert!(discovery.add_context(Context { id: 1, compresses: true, lifetime: 100, prefix }));
        let capabilities = Capabilities { generic_compression: host_reads, ..Capabilities::NONE };
        let rovr = Rovr(Eui64::of_node(HOST).0);
        let settings = Settings { lifetime: 60, wants_reachability: false, capabilities, rovr };
        host.lend(0, |interface, cx| {
            let discovery: &mut HostDiscovery = interface.discovery();
            discovery.start(cx, Eui64::of_node(HOST), &settings);
        });
        Self { router, host, now: 0, at_router: Vec::new(), at_host: Vec::new(), sent: [0; 2] }
    }

    fn run(&mut self, time: Duration) {
        for _ in 0..time.millis() {
            self.now += 1;
            let frames = self.host.work(self.now);
            self.sent[0] += frames.concat().len();
            self.at_router.extend(self.router.hear(self.now, &frames));
            let frames = self.router.work(self.now);
            self.sent[1] += frames.concat().len();
            self.at_host.extend(self.host.hear(self.now, &frames));
        }
    }

    fn address(&mut self) -> Option<Ipv6Addr> {
        self.host.interface.discovery().address()
    }
}

fn global(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(PREFIX)
}

#[test]
fn a_host_registers_an_address_of_the_prefix_that_it_is_given_and_is_reached() {
    let mut network = Pair::new();
    assert_eq!(network.host.send(0, OUTSIDE), Err(SendError::NoRoute), "it has no router yet");
    network.run(Duration::from_secs(30));
    assert_eq!(network.address(), Some(global(HOST)));
    assert_eq!(network.router.interface.discovery().registrations().count(), 2, "on the link, and global");
    assert_eq!(network.host.interface.discovery().contexts().count(), 1);

    network.host.send(network.now, OUTSIDE).unwrap();
    network.router.send(network.now, global(HOST)).unwrap();
    network.run(Duration::from_secs(1));
    assert_eq!(network.at_router, [Heard::External(global(HOST), OUTSIDE)]);
    assert_eq!(network.at_host, [Heard::Datagram(global(ROUTER), global(HOST))]);
    let unregistered = network.router.send(network.now, global(9));
    assert_eq!(unregistered, Err(SendError::NoRoute), "nobody has registered it");
    for station in [&network.host.rig, &network.router.rig] {
        assert_eq!([Counter::NdMalformed, Counter::NdRefused].map(|counter| station.count(counter)), [0, 0]);
    }
}

#[test]
fn a_prefix_that_was_not_given_is_none_of_the_mesh() {
    let mut network = Pair::new();
    network.run(Duration::from_secs(30));
    // What is compiled in where nothing is discovered.
    let compiled = Eui64::of_node(HOST).with_prefix(MESH_PREFIX);
    assert!(!network.host.interface.net().takes(compiled));
    network.router.send(network.now, compiled).unwrap_err();
}

#[test]
fn a_registration_from_the_routers_own_address_is_refused_and_not_passed_over() {
    let mut network = Pair::new();
    let [own, host] = [ROUTER, HOST].map(Eui64::of_node);
    let (source, router) = (own.with_prefix(LINK_LOCAL_PREFIX), own.with_prefix(LINK_LOCAL_PREFIX));
    let mut message = [0; 100];
    let solicitation = Message::NeighbourSolicitation { target: host.with_prefix(LINK_LOCAL_PREFIX) };
    let mut builder = Builder::new(&mut message, &solicitation).unwrap();
    builder.option(&NdOption::SourceLinkLayerAddress(LinkLayerAddress::Extended(host.0))).unwrap();
    let registration = AddressRegistration {
        status: Status::SUCCESS,
        opaque: 0,
        opaque_kind: 0,
        wants_reachability: false,
        transaction: Some(1),
        lifetime: 60,
        rovr: Rovr(host.0),
    };
    builder.option(&NdOption::AddressRegistration(registration)).unwrap();
    let length = builder.finish(source, router);
    let mut header = [0; Header::LEN];
    icmpv6::emit_packet_header(&mut header, length, HOP_LIMIT, (source, router)).unwrap();
    let mut packet = Packet::<[u8; 200]>::new();
    packet.reset(network.host.interface.front());
    packet.extend(&header).unwrap();
    packet.extend(&message[..length]).unwrap();
    network.host.lend(0, |interface, cx| interface.send_packet(cx, Symbols::new(0), &mut packet)).unwrap();
    // The border router's answer is not for this host; what counts is that the registrar has judged it.
    network.run(Duration::from_millis(100));
    assert_eq!(network.router.rig.count(Counter::NdRefused), 1);
    assert_eq!(network.router.rig.count(Counter::Ipv6BadAddress), 0);
    assert_eq!(network.router.interface.discovery().registrations().count(), 0);
}

#[test]
fn messages_of_neighbour_discovery_come_from_the_link_only() {
    let mut network = Pair::new();
    // A router solicitation from outside the mesh.
    let source = Eui64::of_node(HOST).with_prefix(LINK_LOCAL_PREFIX);
    let destination = Eui64::of_node(ROUTER).with_prefix(LINK_LOCAL_PREFIX);
    let mut packet = vec![0x60, 0, 0, 0, 0, 8, 58, 255];
    packet.extend(source.octets());
    packet.extend(destination.octets());
    packet.extend([133, 0, 0, 0, 0, 0, 0, 0]);
    let len = packet.len();
    let answer = network.router.lend(1, |interface, cx| {
        interface.handle_external(cx, Symbols::new(SYMBOLS_PER_MILLISECOND), &mut packet, len)
    });
    assert_eq!(answer, None);
    assert_eq!(network.router.rig.count(Counter::Ipv6BadAddress), 1);
    assert_eq!(network.router.rig.count(Counter::NdMalformed), 0, "it never came so far");
}

#[test]
fn payloads_are_compressed_only_where_both_ends_have_told_that_they_read_that() {
    let sent = |reads| {
        let mut network = Pair::reading(reads);
        network.run(Duration::from_secs(30));
        network.sent = [0; 2];
        network.host.send(network.now, global(ROUTER)).unwrap();
        network.router.send(network.now, global(HOST)).unwrap();
        network.run(Duration::from_secs(1));
        // What an end does not read does not come to it.
        assert_eq!(network.at_router, [Heard::Datagram(global(HOST), global(ROUTER))], "{reads:?}");
        assert_eq!(network.at_host, [Heard::Datagram(global(ROUTER), global(HOST))], "{reads:?}");
        network.sent
    };
    let whole = sent([false, false]);
    assert_eq!(sent([true, false]), whole);
    assert_eq!(sent([false, true]), whole);
    let compressed = sent([true, true]);
    for (compressed, whole) in compressed.into_iter().zip(whole) {
        assert!(compressed + 30 < whole, "{compressed} bytes of {whole}");
    }
}

/// To whom a frame with the beginning of an ICMPv6 message goes, and the message's type.
fn icmpv6_of(frame: &[u8]) -> Option<(Eui64, u8)> {
    let (header, at) = FrameHeader::parse(frame).unwrap();
    let [source, destination] =
        [header.source, header.destination].map(|end| match end.map(|end| end.address) {
            Some(Address::Extended(address)) => address,
            _ => panic!(),
        });
    let (fragment, rest) = FragmentHeader::parse(&frame[at..]).unwrap();
    if fragment.is_some_and(|fragment| fragment.offset > 0) {
        return None;
    }
    let (size, mut headers) = (fragment.map(|fragment| fragment.datagram_size), [0; 100]);
    let link = LinkAddresses { source, destination };
    let decompressed = decompress(rest, link, size, &mut headers).unwrap();
    Some((destination, rest[decompressed.consumed]))
}

#[test]
fn hosts_that_do_not_register_are_answered() {
    let mut network = Pair::new();
    let [plain, router] = [9, ROUTER].map(|id| Eui64::of_node(id).with_prefix(LINK_LOCAL_PREFIX));
    // As Linux asks: for a router, and for its neighbour's link-layer address.
    let mut kernel: Station<LayersWith<()>> = Station::new(9, Uplink::None);
    let messages = [
        (Message::RouterSolicitation, ALL_ROUTERS),
        (Message::NeighbourSolicitation { target: router }, solicited_node(router)),
        (Message::NeighbourSolicitation { target: global(ROUTER) }, solicited_node(router)),
    ];
    let mut answers = Vec::new();
    for (message, destination) in messages {
        let mut bytes = [0; 100];
        let mut builder = Builder::new(&mut bytes, &message).unwrap();
        let own = LinkLayerAddress::Extended(Eui64::of_node(9).0);
        builder.option(&NdOption::SourceLinkLayerAddress(own)).unwrap();
        let length = builder.finish(plain, destination);
        let mut header = [0; Header::LEN];
        icmpv6::emit_packet_header(&mut header, length, HOP_LIMIT, (plain, destination)).unwrap();
        let mut packet = Packet::<[u8; 200]>::new();
        packet.reset(kernel.interface.front());
        packet.extend(&header).unwrap();
        packet.extend(&bytes[..length]).unwrap();
        let now = network.now;
        kernel.lend(now, |interface, cx| interface.send_packet(cx, Symbols::new(0), &mut packet)).unwrap();
        let frames = kernel.work(now);
        assert!(network.router.hear(now, &frames).is_empty());
        // A solicitation of routers is answered within two seconds.
        for _ in 0..2_000 {
            network.now += 1;
            answers.extend(network.router.work(network.now));
        }
    }
    let answers: Vec<_> = answers.iter().filter_map(|frame| icmpv6_of(frame)).collect();
    assert_eq!(answers, [134, 136, 136].map(|kind| (Eui64::of_node(9), kind)));
    assert_eq!(network.router.interface.discovery().registrations().count(), 0, "nothing is registered");
}
