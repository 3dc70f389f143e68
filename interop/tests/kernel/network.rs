//! The kernel and the nodes of a network behind a border router: what is compressed on the air leaves as the standard says.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::time::{Duration, Instant};

use sixlock_base::{Counter, Eui64, MESH_PREFIX};
use sixlock_ipv6::next_header;
use sixlock_sim::{FarEnd, Host, Options, Scenario, Simulation, Span, Time, xfrm};
use smoltcp::time::Instant as TcpInstant;

use crate::pair::common;
use crate::peer::{ANSWER, ASK, Kernel, PATIENCE, RUN, is_to, observer, outside};
use crate::tcp::{self, PathToKernel};
use crate::{bytes, lengths, number_at};
use sixlock_testing::ipsec::{datagram, packet};

/// The way to the mesh, whose links carry what all of IPv6 do at least.
const MESH: &str = "route add fd00::/64 via fe80::1 dev eth0 mtu 1280\n";
/// The node that is spoken to, which is two hops away.
pub(crate) const NODE: u32 = 2;
/// The variable that says how many lengths are tried.
const LENGTHS: &str = "SIXLOCK_NETWORK_LENGTHS";
/// How long a network takes to form by RPL, at most.
const FORMED: Span = Span::from_secs(60);
/// How much virtual time passes at once.
const STEP: Span = Span::from_millis(50);
/// The most that an echo carries: more than goes in one packet.
const LONGEST: usize = 1280;

/// A chain of nodes with this mode, each of which shares associations with the kernel. Their MAC is as patient as the standard
/// lets it be: fragments of packets follow each other, and forwarders are in the way of those behind.
fn network(security: &str, routing: &str, tunnel: bool, seed: u64) -> Simulation {
    let text = format!(
        "security = \"{security}\"\nseed = {seed}\n[topology]\nkind = \"chain\"\nnodes = {NODE}\n\
         [routing]\n{routing}\n\
         [mac]\nkind = \"csma\"\nmax_be = 8\nmax_backoffs = 5\nmax_retries = 7\n[traffic]\nperiod = \"3600s\""
    );
    let scenario = Scenario::parse("chain", &text).unwrap();
    let host = Some(Host { address: outside(), tunnel });
    let options = Options { far_end: FarEnd::Outside, packets: true, host, ..Options::default() };
    Simulation::new(&scenario, options).unwrap()
}

/// The kernel and a network, and what has gone from one to the other.
pub(crate) struct Path<'a> {
    kernel: &'a Kernel,
    pub(crate) network: Simulation,
    pub(crate) to_kernel: Vec<Vec<u8>>,
    pub(crate) to_network: Vec<Vec<u8>>,
}

impl<'a> Path<'a> {
    fn new(kernel: &'a Kernel, security: &str, tunnel: bool, seed: u64) -> Self {
        Self::to(kernel, network(security, "", tunnel, seed))
    }

    /// The way to `network`, of which the kernel is told all that it is to know.
    pub(crate) fn to(kernel: &'a Kernel, network: Simulation) -> Self {
        // While a policy is left, what the kernel still sends for connections of before wants an association.
        kernel.configure("xfrm policy flush\nxfrm state flush");
        kernel.configure(&xfrm(network.peerings(), outside()).unwrap());
        Self { kernel, network, to_kernel: Vec::new(), to_network: Vec::new() }
    }

    /// Lets packets go for a while; the answer of the program beside the kernel, if it gives one.
    fn step(&mut self) -> Option<Vec<u8>> {
        let now: Time = self.network.now() + STEP;
        self.network.step_until(now);
        while let Some(packet) = self.network.poll_packet() {
            self.kernel.send(&packet);
            self.to_kernel.push(packet);
        }
        while let Some(packet) = self.kernel.next(Duration::from_millis(1)) {
            if is_to(observer(), &packet) {
                return Some(packet[ANSWER..].to_vec());
            }
            if packet[24..32] == MESH_PREFIX || is_to(gateway(), &packet) {
                self.network.handle_packet(&packet);
                self.to_network.push(packet);
            }
        }
        None
    }

    /// What the program beside the kernel answers.
    pub(crate) fn ask(&mut self, port: u16, question: &[u8]) -> Vec<u8> {
        self.kernel.ask(port, question);
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.step() {
                return answer;
            }
            assert!(Instant::now() < end, "no answer: {:?}", self.kernel.counts());
        }
    }

    /// The node's echo, as the kernel gets it. Of many frames one may be lost on the air, so a long question is put again soon.
    pub(crate) fn echo(&mut self, payload: &[u8]) -> Vec<u8> {
        let patience = if payload.len() > 1000 { 2_000 } else { 20_000 };
        self.ask(ASK, &[format!("{} {patience}\n", node()).as_bytes(), payload].concat())
    }

    /// An echo of the node's ICMPv6. What is lost on the air is asked for again.
    fn ping(&mut self, length: usize) {
        let command = format!("/bin/ping -c 1 -W 3 -s {length} {}", node());
        let mut said = String::new();
        for _ in 0..10 {
            said = String::from_utf8_lossy(&self.ask(RUN, command.as_bytes())).into_owned();
            if said.contains(" 0% packet loss") {
                return;
            }
        }
        panic!("{length} bytes: {said}");
    }

    fn count(&self, counter: Counter) -> u32 {
        self.network.counters(NODE).unwrap().get(counter)
    }
}

/// TCP above the IPsec of the node, with the network between.
impl PathToKernel for Path<'_> {
    const MTU: usize = 1280;
    /// No more than a packet: frames of the two directions meet at the node between, and a packet that lost one is lost.
    const WINDOW: usize = 1000;

    fn ends(&self) -> (Ipv6Addr, Ipv6Addr) {
        (node(), outside())
    }

    fn now(&self) -> TcpInstant {
        TcpInstant::from_micros(self.network.now().micros() as i64)
    }

    fn send(&mut self, packet: &[u8]) {
        // What the node has no room for is lost, and sent again.
        let _ = self.network.send_segment(NODE, packet);
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        self.step();
        self.network.poll_segment(NODE)
    }

    fn kernel(&self) -> &Kernel {
        self.kernel
    }
}

pub(crate) fn node() -> Ipv6Addr {
    Eui64::of_node(NODE).with_prefix(MESH_PREFIX)
}

#[test]
fn every_suite_that_the_kernel_has_goes_through_a_border_router_that_has_no_keys() {
    let kernel = Kernel::boot(MESH);
    let modes = common().chain(["llsec+ah:xcbc", "llsec+esp:ctr-xcbc"].map(String::from));
    let mut answers = 0;
    let cases = modes.flat_map(|mode| [false, true].map(|tunnel| (mode.clone(), tunnel)));
    for ((mode, tunnel), seed) in cases.zip(1..) {
        let mut path = Path::new(&kernel, &mode, tunnel, seed);
        for length in lengths(LONGEST, LENGTHS, 2) {
            let payload = vec![length as u8; length];
            assert!(path.echo(&payload) == payload, "{mode}, {length} bytes");
            path.ping(length);
            answers += 2;
        }
    }
    assert_eq!(kernel.counts(), BTreeMap::new());
    println!("through a network, {answers} answers");
}

/// As RFC 9008 has it: the border router puts a header with a source route, or with RPL's option, around what comes from the kernel, which
/// the node takes off; what the node sends carries the option in its own headers, which AH covers.
#[test]
fn every_suite_goes_through_a_network_that_routes_by_rpl() {
    let kernel = Kernel::boot(MESH);
    let families = ["ah:xcbc", "ah:hmac-sha256", "esp:ctr-xcbc", "esp:cbc-hmac-sha1", "esp:gcm", "esp:ccm-8"];
    let modes: Vec<String> = match std::env::var_os(LENGTHS) {
        Some(_) => common().collect(),
        None => families.map(String::from).to_vec(),
    };
    let mut answers = 0;
    let cases = modes.iter().flat_map(|mode| [false, true].map(|tunnel| (mode, tunnel)));
    for ((mode, tunnel), seed) in cases.zip(1..) {
        let routing = ["mode = \"non-storing\"", "mode = \"storing\""][seed as usize % 2];
        let mut network = network(mode, &format!("kind = \"rpl\"\n{routing}"), tunnel, seed);
        network.step_until(Time::ZERO + FORMED);
        let mut path = Path::to(&kernel, network);
        for length in lengths(LONGEST, LENGTHS, 2) {
            let payload = vec![length as u8; length];
            assert!(path.echo(&payload) == payload, "{mode}, {length} bytes");
            path.ping(length);
            answers += 2;
        }
        assert!(path.to_kernel.iter().all(|packet| packet[40..48][2..4] == [0x23, 4]), "{mode}");
        // Only what policy lets in is let in from under the header.
        let clear = datagram(outside(), node(), b"in the clear");
        path.network.handle_packet(&packet(outside(), node(), next_header::UDP, &[], &clear));
        path.to_kernel.clear();
        assert_eq!(path.echo(b"again"), b"again");
        assert_eq!((path.to_kernel.len(), path.count(Counter::IpsecPolicyViolated)), (1, 1), "{mode}");
    }
    assert_eq!(kernel.counts(), BTreeMap::new());
    println!("by RPL, {answers} answers");
}

#[test]
fn through_the_network_cleartext_replays_and_altered_packets_are_refused_at_both_ends() {
    let kernel = Kernel::boot(MESH);
    let mut expected = BTreeMap::new();
    let modes = ["ah", "esp", "esp:gcm"].into_iter().flat_map(|mode| [(mode, false), (mode, true)]);
    for ((mode, tunnel), seed) in modes.zip(1..) {
        let mut path = Path::new(&kernel, mode, tunnel, seed);
        assert_eq!(path.echo(b"once"), b"once");
        let (question, answer) = (path.to_network.pop().unwrap(), path.to_kernel.pop().unwrap());

        let clear = datagram(outside(), node(), b"in the clear");
        let clear = packet(outside(), node(), next_header::UDP, &[], &clear);
        for refused in [&question, &altered(&question), &clear] {
            path.network.handle_packet(refused);
        }
        let clear = datagram(node(), outside(), b"in the clear");
        let clear = packet(node(), outside(), next_header::UDP, &[], &clear);
        for (refused, why) in [
            (&answer, "XfrmInStateSeqError"),
            (&altered(&answer), "XfrmInStateProtoError"),
            (&clear, "XfrmInTmplMismatch"),
        ] {
            kernel.send(refused);
            *expected.entry(why.to_owned()).or_insert(0) += 1;
        }
        assert_eq!(path.echo(b"again"), b"again");
        assert_eq!((path.to_network.len(), path.to_kernel.len()), (1, 1), "nothing else was answered");
        let counters = [Counter::IpsecReplayed, Counter::IpsecBadIcv, Counter::IpsecPolicyViolated];
        assert_eq!(counters.map(|counter| path.count(counter)), [1; 3], "{mode}");
    }
    assert_eq!(kernel.counts(), expected);
}

#[test]
fn through_the_network_tcp_above_a_nodes_ipsec_speaks_to_the_kernels() {
    let kernel = Kernel::boot(MESH);
    let data = bytes(10_000);
    let modes = ["ah:xcbc", "esp:ctr-xcbc", "esp:gcm"].into_iter();
    let cases = modes.flat_map(|mode| [false, true].map(|tunnel| (mode, tunnel)));
    for ((mode, tunnel), nth) in cases.zip(1..) {
        let mut path = Path::new(&kernel, mode, tunnel, nth.into());
        assert!(tcp::echo(&mut path, nth, &data) == data, "{mode}: not what was sent");
    }
    assert_eq!(kernel.counts(), BTreeMap::new());
}

/// Where a security gateway ends tunnels from outside.
pub(crate) fn gateway() -> Ipv6Addr {
    "fd02::1".parse().unwrap()
}

/// A packet with another number, which has not been seen, and a flipped bit behind it.
pub(crate) fn altered(packet: &[u8]) -> Vec<u8> {
    let mut altered = packet.to_vec();
    altered[number_at(packet) + 3] ^= 0x40;
    *altered.last_mut().unwrap() ^= 1;
    altered
}
