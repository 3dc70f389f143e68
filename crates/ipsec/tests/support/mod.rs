//! Two hosts with one association in each direction, for every suite.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::net::Ipv6Addr;

use sixlock_base::{AhSuite, Counter, Counters, Cx, Entropy, EspSuite, Instant, Nv, NvError, NvSlot, Packet};
use sixlock_crypto::Soft;
use sixlock_ipsec::*;
use sixlock_ipv6::{Header, next_header, udp};

pub(crate) type Transform = AnyTransform<Soft>;
pub(crate) type Host = Machine<8>;

/// Random bytes that are not.
pub(crate) struct Counting(u8);

impl Entropy for Counting {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 = self.0.wrapping_mul(5).wrapping_add(113);
            *byte = self.0;
        }
    }
}

/// Counters that outlast a reboot.
pub(crate) struct Durable(pub(crate) u32);

impl Nv for Durable {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        assert_eq!(slot, NvSlot::IpsecSequence);
        let first = self.0;
        self.0 = first.checked_add(count).ok_or(NvError::Exhausted)?;
        Ok(first)
    }
}

/// A host with a replay window of `WINDOW` × 8 packets.
pub(crate) struct Machine<const WINDOW: usize, K: Keying = Manual> {
    pub(crate) ipsec: Ipsec<Soft, Transform, 4, 4, WINDOW, K>,
    pub(crate) now: Instant,
    pub(crate) nv: Durable,
    pub(crate) counters: Counters,
    crypto: Soft,
    entropy: Counting,
}

impl<const WINDOW: usize, K: Keying> Machine<WINDOW, K> {
    pub(crate) fn new() -> Self {
        Self {
            ipsec: Ipsec::new(),
            now: Instant::from_millis(0),
            nv: Durable(0),
            counters: Counters::new(),
            crypto: Soft,
            entropy: Counting(7),
        }
    }

    pub(crate) fn send(&mut self, packet: &[u8]) -> Result<Vec<u8>, OutboundError> {
        // Room for the longest tunnel header, and for the longest trailer.
        let mut buffer = Packet::<[u8; 2048]>::new();
        buffer.reset(96);
        buffer.extend(packet).unwrap();
        let (ipsec, mut cx) = self.cx();
        ipsec.outbound(&mut cx, &mut buffer)?;
        Ok(buffer.bytes().to_vec())
    }

    pub(crate) fn receive(&mut self, packet: &[u8]) -> Result<Vec<u8>, InboundError> {
        let mut buffer = packet.to_vec();
        let (ipsec, mut cx) = self.cx();
        let len = ipsec.inbound(&mut cx, &mut buffer, packet.len())?;
        buffer.truncate(len);
        Ok(buffer)
    }

    pub(crate) fn count(&self, counter: Counter) -> u32 {
        self.counters.get(counter)
    }

    pub(crate) fn cx(
        &mut self,
    ) -> (&mut Ipsec<Soft, Transform, 4, 4, WINDOW, K>, Cx<'_, Soft, Counting, Durable>) {
        let cx = Cx {
            now: self.now,
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        };
        (&mut self.ipsec, cx)
    }
}

fn key<const N: usize>(seed: u8) -> [u8; N] {
    std::array::from_fn(|n| seed.wrapping_mul(31).wrapping_add(n as u8))
}

/// Keying material for a mode such as `ah:xcbc` or `esp:ctr-xcbc`, which follows from `seed`.
pub(crate) fn keys(mode: &str, seed: u8) -> Vec<u8> {
    let (protocol, suite) = mode.split_once(':').unwrap();
    let code_key = |name: &str, seed| match name {
        "xcbc" | "cmac" => key::<16>(seed).to_vec(),
        "hmac-sha1" => key::<20>(seed).to_vec(),
        "hmac-sha256" => key::<32>(seed).to_vec(),
        _ => panic!("{name}"),
    };
    if protocol == "ah" {
        return code_key(suite, seed);
    }
    let (cipher, code) = suite.split_once('-').unwrap_or((suite, ""));
    let mut keys = match cipher {
        "ctr" | "gcm" => key::<20>(seed).to_vec(),
        "cbc" => key::<16>(seed).to_vec(),
        "ccm" => key::<19>(seed).to_vec(),
        "null" => Vec::new(),
        _ => panic!("{cipher}"),
    };
    if let ("ctr" | "cbc" | "null", 1..) = (cipher, code.len()) {
        keys.extend(code_key(code, seed.wrapping_add(100)));
    }
    keys
}

/// The transform of `mode` under its [`keys`].
pub(crate) fn transform(mode: &str, seed: u8) -> Transform {
    let (protocol, suite) = mode.split_once(':').unwrap();
    let keys = keys(mode, seed);
    if protocol == "ah" {
        return Transform::ah(&mut Soft, AhSuite::by_name(suite).unwrap(), &keys).unwrap();
    }
    Transform::esp(&mut Soft, EspSuite::by_name(suite).unwrap(), &keys).unwrap()
}

/// The modes of every suite that authenticates.
pub(crate) fn suites() -> Vec<String> {
    let ah = AhSuite::ALL.iter().map(|suite| format!("ah:{}", suite.name()));
    let esp = EspSuite::ALL.iter().filter(|suite| !matches!(suite, EspSuite::Ctr | EspSuite::Cbc));
    ah.chain(esp.map(|suite| format!("esp:{}", suite.name()))).collect()
}

pub(crate) fn alice() -> Ipv6Addr {
    "fd00::212:7400:0:1".parse().unwrap()
}

pub(crate) fn bob() -> Ipv6Addr {
    "fd00:c::1".parse().unwrap()
}

pub(crate) fn outer_alice() -> Ipv6Addr {
    "fd00::a".parse().unwrap()
}

pub(crate) fn outer_bob() -> Ipv6Addr {
    "fd00::b".parse().unwrap()
}

/// Transport mode, or tunnel mode from one end or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Transport,
    Tunnel,
}

impl Way {
    pub(crate) const BOTH: [Self; 2] = [Self::Transport, Self::Tunnel];

    pub(crate) fn mode(self, local: Ipv6Addr, remote: Ipv6Addr) -> Mode {
        match self {
            Self::Transport => Mode::Transport,
            Self::Tunnel => Mode::Tunnel { local, remote },
        }
    }
}

pub(crate) fn association<L: Default>(
    spi: u32,
    mode: Mode,
    extended: bool,
    transform: Transform,
) -> Association<Transform, L> {
    Association { spi, mode, extended, lifetime: L::default(), address: None, transform }
}

/// Protects all that `host` says to the other, and hears from it, with `suite`; adds to what protected it before.
pub(crate) fn protect<const WINDOW: usize>(
    host: &mut Machine<WINDOW>,
    suite: &str,
    is_alice: bool,
    way: Way,
    extended: bool,
) -> Protection {
    let (near, far) = if is_alice { (outer_alice(), outer_bob()) } else { (outer_bob(), outer_alice()) };
    let (to_alice, to_bob) = ((0x1001, 1), (0x2002, 2));
    let ((inbound, in_seed), (outbound, out_seed)) =
        if is_alice { (to_alice, to_bob) } else { (to_bob, to_alice) };
    let mode = way.mode(near, far);
    let outbound = host.ipsec.add_outbound(association(outbound, mode, extended, transform(suite, out_seed)));
    let inbound = host.ipsec.add_inbound(association(inbound, mode, extended, transform(suite, in_seed)));
    Protection::by(outbound.unwrap(), inbound.unwrap())
}

pub(crate) fn policy(action: Action) -> Policy {
    Policy { selector: Selector::ANY, action }
}

/// Two hosts that protect everything with `suite`.
pub(crate) fn pair<const WINDOW: usize>(
    suite: &str,
    way: Way,
    extended: bool,
) -> (Machine<WINDOW>, Machine<WINDOW>) {
    let [alice, bob] = [true, false].map(|is_alice| {
        let mut host = Machine::new();
        let protection = protect(&mut host, suite, is_alice, way, extended);
        host.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
        host
    });
    (alice, bob)
}

/// A packet with the extension headers `chain`, each of which names the next in its first byte, and `upper`.
pub(crate) fn packet(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    first: u8,
    chain: &[u8],
    upper: &[u8],
) -> Vec<u8> {
    let payload_length = (chain.len() + upper.len()) as u16;
    let header = Header {
        traffic_class: 0xb9,
        flow_label: 0x12345,
        payload_length,
        next_header: first,
        hop_limit: 64,
        source,
        destination,
    };
    let mut packet = vec![0; Header::LEN];
    header.emit(&mut packet).unwrap();
    packet.extend(chain);
    packet.extend(upper);
    packet
}

pub(crate) fn datagram(source: Ipv6Addr, destination: Ipv6Addr, payload: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0; udp::Header::LEN];
    datagram.extend(payload);
    udp::Header { source_port: 1000, destination_port: 2000 }
        .emit(source, destination, &mut datagram)
        .unwrap();
    datagram
}

/// A UDP datagram from Alice to Bob.
pub(crate) fn udp_packet(payload: &[u8]) -> Vec<u8> {
    packet(alice(), bob(), next_header::UDP, &[], &datagram(alice(), bob(), payload))
}
