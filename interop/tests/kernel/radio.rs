//! The kernel's own IEEE 802.15.4 and 6LoWPAN beside nodes of ours, over a simulated radio of the kernel's whose frames come here.

use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use sixlock_base::{
    Counter, Eui64, Instant as Moment, LINK_LOCAL_PREFIX, LinkSuite, MESH_PREFIX, Packet, Symbols,
};
use sixlock_crypto::Soft;
use sixlock_ieee802154::{FCS, fcs};
use sixlock_interface::{
    Arrival, Config as InterfaceConfig, Csma, Datagrams, Interface, Link, LinkSecurity, MacConfig, Occupied,
    RadioCommand, RadioMachine, Route, Routes, Stack, Stateless, Uplink,
};
use sixlock_ipv6::icmpv6::{Echo as Echoed, Message};
use sixlock_ipv6::rpl::source_route;
use sixlock_ipv6::{Header, next_header, udp};
use sixlock_node::{Config, ECHO_PORT, Node};
use sixlock_testing::{Rig, packets};
use sixlock_vm::Cable;

use crate::lengths;
use crate::peer::{ANSWER, ASK, Equipment, Kernel, PATIENCE, RUN, observer};

/// The kernel, and a node and a border router of ours.
const KERNEL: u32 = 2;
const NODE: u32 = 1;
const ROUTER: u32 = 3;

const PAN: u16 = 0xabcd;
const KEY: [u8; 16] = *b"of the whole PAN";

/// What a datagram carries at most in a packet that every link carries.
const LONGEST: usize = 1280 - Header::LEN - udp::Header::LEN;
/// The variable that says how many lengths are tried with each suite.
const LENGTHS: &str = "SIXLOCK_LOWPAN_LENGTHS";

const MODULES: &[&str] = &["mac802154_hwsim", "ieee802154_6lowpan", "nhc_udp", "ccm", "ctr"];

/// A program of `interop/c`.
fn program(name: &str) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Another test may run the compiler for it at the same time.
    let made = program.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    let output = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&made)
        .arg(format!("{}/c/{name}.c", env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap_or_else(|error| panic!("cannot start cc ({error}): apt-get install gcc"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&made, &program).unwrap();
    program
}

/// A host behind the border router.
fn host() -> Ipv6Addr {
    "fd0e::1".parse().unwrap()
}

fn address(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// The EUI-64 of a node, as iproute2 reads it.
fn lladdr(id: u32) -> String {
    Eui64::of_node(id).0.map(|byte| format!("{byte:02x}")).join(":")
}

/// Boots a kernel that has its end of `air`, an address there, and the key of the PAN.
fn boot(air: &Cable) -> Kernel {
    let key: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut script = format!(
        "/bin/iwpan dev wpan0 set pan_id {PAN:#x}\n\
         /bin/iwpan dev wpan1 del\n\
         /bin/iwpan phy phy1 interface add mon0 type monitor\n\
         /bin/ip link set wpan0 address {}\n\
         echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad\n\
         /bin/ip link add link wpan0 name lowpan0 type lowpan\n\
         /bin/llsec wpan0 key {PAN:x} {key} {}\n\
         for one in eth1 mon0 wpan0 lowpan0; do /bin/ip link set $one up; done\n\
         /bin/ip address add {}/64 dev lowpan0 nodad\n\
         for one in all lowpan0; do\n\
         echo 1 > /proc/sys/net/ipv6/conf/$one/rpl_seg_enabled\n\
         echo 1 > /proc/sys/net/ipv6/conf/$one/forwarding\n\
         done\n\
         /bin/air mon0 eth1 &\n",
        lladdr(KERNEL),
        [NODE, ROUTER].map(|id| lladdr(id).replace(':', "")).join(" "),
        address(KERNEL),
    );
    for id in [NODE, ROUTER] {
        for prefix in [LINK_LOCAL_PREFIX, MESH_PREFIX] {
            script += &format!(
                "/bin/ip neighbour replace {} lladdr {} dev lowpan0 nud permanent\n",
                Eui64::of_node(id).with_prefix(prefix),
                lladdr(id)
            );
        }
    }
    let router = Eui64::of_node(ROUTER).with_prefix(LINK_LOCAL_PREFIX);
    script += &format!("/bin/ip route add {}/128 via {router} dev lowpan0\n", host());
    Kernel::equipped(&Equipment {
        modules: MODULES,
        programs: &[program("air"), program("llsec")],
        installed: &[("iwpan", "wpan-tools")],
        air: Some(air),
        script: &script,
        addresses: &[address(KERNEL)],
        ..Equipment::default()
    })
}

type Layers = Stack<Link<true, 4, 2>, Datagrams<1280, 4>, Routes<[Route; 4]>, (), Stateless>;

/// A node that echoes.
type Echo = Node<Soft, (), Layers>;

/// A border router's interface, and the packets for outside that have come to it.
struct Border {
    interface: Box<Interface<Soft, Layers>>,
    outside: Vec<Vec<u8>>,
    /// What datagrams for itself brought.
    datagrams: Vec<Vec<u8>>,
}

impl RadioMachine for Border {
    type Crypto = Soft;
    type Layers = Layers;

    fn interface(&mut self) -> &mut Interface<Soft, Layers> {
        &mut self.interface
    }
}

impl Border {
    fn new(rig: &mut Rig, suite: Option<LinkSuite>) -> Self {
        let mut interface: Box<Interface<Soft, Layers>> = Box::new(Interface::new());
        interface.start(&mut rig.cx(), &config(ROUTER, Uplink::External, suite));
        for id in [KERNEL, NODE] {
            interface.routing().add(Eui64::of_node(id), Eui64::of_node(id)).unwrap();
        }
        Self { interface, outside: Vec::new(), datagrams: Vec::new() }
    }

    fn handle_frame(&mut self, rig: &mut Rig, at: Symbols, frame: &mut [u8]) {
        match self.interface.handle_frame(&mut rig.cx(), at, frame) {
            Some(Arrival::External(external)) => {
                self.outside.push(self.interface.packet(&external).to_vec());
                self.interface.release_packet(external);
            }
            Some(Arrival::Datagram(delivered)) => {
                self.datagrams.push(self.interface.datagram(&delivered).payload.to_vec());
                self.interface.release(delivered);
            }
            None => {}
        }
    }
}

fn config(id: u32, uplink: Uplink, suite: Option<LinkSuite>) -> InterfaceConfig {
    let mac = MacConfig {
        address: Eui64::of_node(id),
        pan_id: PAN,
        csma: Csma::NONE,
        // The kernel's simulated radio sends no acknowledgements.
        ack: false,
        security: suite.map(|suite| LinkSecurity { suite, key: KEY, key_index: 1 }),
    };
    InterfaceConfig { mac, uplink }
}

/// The frames that `machine` sends now.
fn frames(machine: &mut impl RadioMachine<Crypto = Soft>, rig: &mut Rig, at: Symbols) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    if machine.poll_radio_timeout().is_some_and(|due| at.has_reached(due)) {
        machine.handle_radio_timeout(&mut rig.cx(), at);
    }
    if machine.poll_timeout().is_some_and(|due| rig.now.has_reached(due)) {
        machine.handle_timeout(&mut rig.cx(), at);
    }
    while let Some(command) = machine.poll_radio_due() {
        match command {
            RadioCommand::Listen { .. } | RadioCommand::Off { .. } => {}
            RadioCommand::Assess { .. } => machine.handle_cca(&mut rig.cx(), at, true),
            RadioCommand::Send { .. } => {
                frames.push(machine.transmit_frame().to_vec());
                machine.handle_transmitted(&mut rig.cx(), at);
            }
        }
    }
    frames
}

/// The kernel, a node and a border router, which hear each other.
struct Air<'a> {
    kernel: &'a Kernel,
    cable: &'a Cable,
    node: Box<Echo>,
    border: Border,
    /// What the node and the border router are lent.
    rigs: [Rig; 2],
    /// What the kernel hears of a frame of the border router, and the border router of the kernel's.
    heard: [Heard; 2],
    begin: Instant,
}

impl<'a> Air<'a> {
    fn new(kernel: &'a Kernel, cable: &'a Cable) -> Self {
        let mut rigs = [NODE, ROUTER].map(Rig::seeded);
        let border = Border::new(&mut rigs[1], None);
        let (node, begin) = (Box::new(Echo::new()), Instant::now());
        let mut air = Self { kernel, cable, node, border, rigs, heard: [once; 2], begin };
        air.start(None);
        air
    }

    /// Starts the node and the border router anew, with this suite; their frame counters go on.
    fn start(&mut self, suite: Option<LinkSuite>) {
        let interface = config(NODE, Uplink::NextHop(Eui64::of_node(KERNEL)), suite);
        let config = Config { interface, cloud: None, serves: false, echoes: true };
        *self.node = Echo::new();
        self.node.start(&mut self.rigs[0].cx(), &config).unwrap();
        self.border = Border::new(&mut self.rigs[1], suite);
    }

    /// The same with the kernel.
    fn secure(&mut self, suite: LinkSuite) {
        self.start(Some(suite));
        assert_eq!(self.run(&format!("/bin/llsec wpan0 level {}", suite.level())), "");
    }

    fn now(&mut self) -> Symbols {
        let elapsed = self.begin.elapsed();
        for rig in &mut self.rigs {
            rig.now = Moment::from_millis(elapsed.as_millis() as u32);
        }
        Symbols::new((elapsed.as_micros() / 16) as u32)
    }

    /// Lets all do what is due, and hear what comes within a millisecond.
    fn pass(&mut self) {
        let at = self.now();
        let [of_node, of_border] = &mut self.rigs;
        for frame in frames(&mut *self.node, of_node, at) {
            self.cable.send(&with_length(&frame)).unwrap();
            self.border.handle_frame(of_border, at, &mut frame.clone());
        }
        for frame in frames(&mut self.border, of_border, at) {
            for frame in self.heard[0](&frame) {
                self.cable.send(&with_length(&frame)).unwrap();
            }
            self.node.handle_frame(&mut of_node.cx(), at, &mut frame.clone());
        }
        if let Some(frame) = self.cable.receive(Duration::from_millis(1)).unwrap() {
            let frame = &frame[1..=usize::from(frame[0])];
            let at = self.now();
            let [of_node, of_border] = &mut self.rigs;
            self.node.handle_frame(&mut of_node.cx(), at, &mut frame.to_vec());
            for mut frame in self.heard[1](frame) {
                self.border.handle_frame(of_border, at, &mut frame);
            }
        }
    }

    /// Lets time pass until `found` has found something.
    fn until<T>(&mut self, what: &str, mut found: impl FnMut(&mut Self) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            self.pass();
            if let Some(found) = found(self) {
                return found;
            }
            assert!(Instant::now() < end, "{what}: {}", self.run("/bin/ip -s link show"));
        }
    }

    /// What the program beside the kernel answers.
    fn answer(&mut self, port: u16, question: &[u8]) -> Vec<u8> {
        self.kernel.ask(port, question);
        let packet = self.until("the kernel runs", |air| air.kernel.hear_within(observer(), Duration::ZERO));
        packet[ANSWER..].to_vec()
    }

    /// What a program prints that runs beside the kernel.
    fn run(&mut self, command: &str) -> String {
        String::from_utf8_lossy(&self.answer(RUN, format!("{command}\n").as_bytes())).into_owned()
    }

    /// The kernel asks the node for an echo of a datagram.
    fn kernel_asks(&mut self, payload: &[u8]) {
        let question = [format!("{}\n", address(NODE)).as_bytes(), payload].concat();
        assert!(self.answer(ASK, &question) == payload, "{} bytes", payload.len());
    }

    /// The kernel pings the node, at this address, with so much payload.
    fn kernel_pings(&mut self, address: &str, length: usize) {
        let said = self.run(&format!("/bin/ping -6 -c 1 -W 100 -s {length} {address}"));
        assert!(said.contains("1 packets received"), "{length} bytes: {said}");
    }

    /// A packet of a host outside comes to the border router.
    fn host_sends(&mut self, packet: &[u8]) {
        let mut buffer = [packet, &[0; 64]].concat();
        let at = self.now();
        let Self { border, rigs, .. } = self;
        let refused = border.interface.handle_external(&mut rigs[1].cx(), at, &mut buffer, packet.len());
        assert_eq!(refused, None);
    }

    /// The next packet for outside.
    fn host_hears(&mut self) -> Vec<u8> {
        self.until("the kernel answers", |air| {
            (!air.border.outside.is_empty()).then(|| air.border.outside.remove(0))
        })
    }

    /// A host outside asks the kernel for an echo of a datagram.
    fn host_asks(&mut self, payload: &[u8]) {
        self.host_sends(&question(payload));
        let answer = self.host_hears();
        let (header, datagram) = Header::parse(&answer).unwrap();
        assert_eq!((header.source, header.destination), (address(KERNEL), host()));
        let back = udp::Header { source_port: ECHO_PORT, destination_port: 1000 };
        let read = udp::Header::parse(header.source, header.destination, datagram).unwrap();
        assert!(read == (back, payload), "{} bytes", payload.len());
    }

    /// A host outside pings the kernel.
    fn host_pings(&mut self, payload: &[u8]) {
        let echo = Echoed { identifier: 1, sequence: payload.len() as u16 };
        let request = Message::EchoRequest(echo);
        self.host_sends(&packets::icmpv6(host(), address(KERNEL), 64, request, payload));
        let answer = self.host_hears();
        let (header, message) = Header::parse(&answer).unwrap();
        let read = Message::parse(header.source, header.destination, message).unwrap();
        assert!(read == (Message::EchoReply(echo), payload), "{} bytes", payload.len());
    }

    /// Neither end takes what comes again, nor what is altered.
    fn refuses(&mut self) {
        self.heard = [twice; 2];
        let before = self.count(Counter::MacDuplicate);
        self.host_asks(&payload(200));
        assert!(before < self.count(Counter::MacDuplicate));

        self.heard = [once, altered];
        let before = self.count(Counter::MacBadMic);
        self.host_sends(&question(b"its answer is altered"));
        self.until("the kernel answers", |air| (before < air.count(Counter::MacBadMic)).then_some(()));

        // The kernel notes the frame counter before it looks at the MIC, so that the frame itself would come too late.
        self.heard = [altered, once];
        self.host_sends(&question(b"altered"));
        self.until("the border router sends", |air| {
            (air.border.interface.occupied() == Occupied::default()).then_some(())
        });

        // Had either taken one, the next answer would not be this one.
        self.heard = [once; 2];
        self.host_asks(b"again");
    }

    /// What the border router has counted.
    fn count(&self, counter: Counter) -> u32 {
        self.rigs[1].count(counter)
    }
}

/// What a host outside asks the kernel to send back.
fn question(payload: &[u8]) -> Vec<u8> {
    let ports = udp::Header { source_port: 1000, destination_port: ECHO_PORT };
    packets::udp(host(), address(KERNEL), 64, ports, payload)
}

/// What is heard of a frame.
type Heard = fn(&[u8]) -> Vec<Vec<u8>>;

fn once(frame: &[u8]) -> Vec<Vec<u8>> {
    vec![frame.to_vec()]
}

fn twice(frame: &[u8]) -> Vec<Vec<u8>> {
    vec![frame.to_vec(); 2]
}

/// The last bit before the FCS is turned.
fn altered(frame: &[u8]) -> Vec<Vec<u8>> {
    let mut altered = frame[..frame.len() - FCS].to_vec();
    *altered.last_mut().unwrap() ^= 1;
    altered.extend(fcs(&altered).to_le_bytes());
    vec![altered]
}

/// A frame as it goes over the cable.
fn with_length(frame: &[u8]) -> Vec<u8> {
    [&[frame.len() as u8], frame].concat()
}

/// So many bytes that are not alike.
fn payload(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n * 7 + n / 251) as u8).collect()
}

/// How many frames a datagram of this length takes.
fn count(suite: Option<LinkSuite>, length: usize) -> usize {
    let mut rig = Rig::seeded(ROUTER);
    let mut border = Border::new(&mut rig, suite);
    let mut packet = Packet::<[u8; 1280]>::new();
    packet.reset(border.interface.front());
    packet.extend(&payload(length)).unwrap();
    let begin = Symbols::new(0);
    border.interface.send(&mut rig.cx(), begin, &mut packet, 1000, address(KERNEL), ECHO_PORT).unwrap();
    let mut count = 0;
    for at in (0..).step_by(20) {
        rig.now = Moment::from_millis(at / 62);
        count += frames(&mut border, &mut rig, Symbols::new(at)).len();
        if border.interface.occupied() == Occupied::default() {
            break;
        }
    }
    count
}

/// The shortest and the longest payload of each number of frames.
fn boundaries(suite: Option<LinkSuite>) -> Vec<usize> {
    let (mut first, mut boundaries) = (1, Vec::new());
    while first <= LONGEST {
        let frames = count(suite, first);
        let (mut last, mut beyond) = (first, LONGEST + 1);
        while last + 1 < beyond {
            let middle = usize::midpoint(last, beyond);
            if count(suite, middle) == frames { last = middle } else { beyond = middle }
        }
        boundaries.extend([first, last]);
        first = beyond;
    }
    boundaries
}

#[test]
fn the_kernels_802_15_4_and_we_exchange_packets_of_all_lengths_with_and_without_link_security() {
    let cable = Cable::air().unwrap();
    let kernel = boot(&cable);
    let mut air = Air::new(&kernel, &cable);
    for suite in [None].into_iter().chain((1..=7).map(LinkSuite::of_level)) {
        if let Some(suite) = suite {
            air.secure(suite);
        }
        let lengths: Vec<usize> = match suite {
            None | Some(LinkSuite::Ccm64) => boundaries(suite),
            _ => lengths(LONGEST, LENGTHS, 3).collect(),
        };
        assert_eq!((lengths[0], lengths[lengths.len() - 1]), (1, LONGEST));
        for &length in &lengths {
            air.kernel_asks(&payload(length));
            air.host_asks(&payload(length));
        }
        for length in [1, LONGEST] {
            let on_link = Eui64::of_node(NODE).with_prefix(LINK_LOCAL_PREFIX);
            air.kernel_pings(&format!("{on_link}%lowpan0"), length);
            air.kernel_pings(&address(NODE).to_string(), length);
            air.host_pings(&payload(length));
        }
        if suite.is_some_and(LinkSuite::authenticates) {
            air.refuses();
        }
        println!("{suite:?}: {} lengths of datagrams", lengths.len());
    }
}

#[test]
fn the_kernel_forwards_our_source_route() {
    let cable = Cable::air().unwrap();
    let kernel = boot(&cable);
    let mut air = Air::new(&kernel, &cable);
    for length in [1, 600] {
        let ports = udp::Header { source_port: 2000, destination_port: ECHO_PORT };
        let datagram = packets::udp(address(ROUTER), address(NODE), 64, ports, &payload(length));
        let mut route = [0; 64];
        let hops = [address(NODE)].into_iter();
        let route_len = source_route::emit(
            &mut route,
            next_header::UDP,
            address(KERNEL),
            hops,
            source_route::MOST_LEFT_OUT,
        )
        .unwrap();
        let behind = [&route[..route_len], &datagram[Header::LEN..]].concat();
        let routed = packets::packet(address(ROUTER), address(KERNEL), 64, next_header::ROUTING, &behind);
        let mut packet = Packet::<[u8; 1280]>::new();
        packet.extend(&routed).unwrap();
        let at = air.now();
        let Air { border, rigs, .. } = &mut air;
        border.interface.send_packet(&mut rigs[1].cx(), at, &mut packet).unwrap();
        let answer = air.until("the node answers", |air| air.border.datagrams.pop());
        assert!(answer == payload(length), "{length} bytes");
    }
}
