//! Two hosts with one association in each direction, for every suite.
use std::net::Ipv6Addr;

use sixlock_base::{AhSuite, Counter, Cx, EspSuite, NvSlot, Packet};
use sixlock_crypto::Soft;
use sixlock_ipsec::*;
use sixlock_ipv6::{Header, next_header, udp};

use crate::{Random, Ranges, Rig};

/// What an association does to packets.
pub type Transform = AnyTransform<Soft>;
/// A host with a replay window of 64 packets.
pub type Host = Machine<8>;

/// A host with a replay window of `WINDOW` × 8 packets.
pub struct Machine<const WINDOW: usize, K: Keying = Manual> {
    /// Its associations and policies.
    pub ipsec: Ipsec<Soft, Transform, 4, 4, WINDOW, K>,
    /// What it is lent.
    pub rig: Rig,
}

impl<const WINDOW: usize, K: Keying> Machine<WINDOW, K> {
    /// A host without associations and policies.
    #[allow(clippy::new_without_default, reason = "tests call it new")]
    pub fn new() -> Self {
        Self { ipsec: Ipsec::new(), rig: Rig::seeded(7) }
    }

    /// What goes out of a packet.
    pub fn send(&mut self, packet: &[u8]) -> Result<Vec<u8>, OutboundError> {
        // Room for the longest tunnel header, and for the longest trailer.
        let mut buffer = Packet::<[u8; 2048]>::new();
        buffer.reset(96);
        buffer.extend(packet).unwrap();
        self.ipsec.outbound(&mut self.rig.cx(), &mut buffer)?;
        Ok(buffer.bytes().to_vec())
    }

    /// What is let in of a packet.
    pub fn receive(&mut self, packet: &[u8]) -> Result<Vec<u8>, InboundError> {
        let mut buffer = packet.to_vec();
        let len = self.ipsec.inbound(&mut self.rig.cx(), &mut buffer, packet.len())?;
        buffer.truncate(len);
        Ok(buffer)
    }

    /// Its associations, and what they are lent.
    pub fn cx(&mut self) -> (&mut Ipsec<Soft, Transform, 4, 4, WINDOW, K>, Cx<'_, Soft, Random, Ranges>) {
        (&mut self.ipsec, self.rig.cx())
    }

    /// What `counter` stands at.
    pub fn count(&self, counter: Counter) -> u32 {
        self.rig.count(counter)
    }

    /// Lets the next block of its sequence numbers be that with this number.
    pub fn skip_to(&mut self, block: u32) {
        self.rig.nv = Ranges::starting_at(NvSlot::IpsecSequence, block);
    }
}

fn key<const N: usize>(seed: u8) -> [u8; N] {
    std::array::from_fn(|n| seed.wrapping_mul(31).wrapping_add(n as u8))
}

/// Keying material for a mode such as `ah:xcbc` or `esp:ctr-xcbc`, which follows from `seed`.
pub fn keys(mode: &str, seed: u8) -> Vec<u8> {
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
pub fn transform(mode: &str, seed: u8) -> Transform {
    let (protocol, suite) = mode.split_once(':').unwrap();
    let keys = keys(mode, seed);
    if protocol == "ah" {
        return Transform::ah(&mut Soft, AhSuite::by_name(suite).unwrap(), &keys).unwrap();
    }
    Transform::esp(&mut Soft, EspSuite::by_name(suite).unwrap(), &keys).unwrap()
}

/// The modes of every suite that authenticates.
pub fn suites() -> Vec<String> {
    let ah = AhSuite::ALL.iter().map(|suite| format!("ah:{}", suite.name()));
    let esp = EspSuite::ALL.iter().filter(|suite| !matches!(suite, EspSuite::Ctr | EspSuite::Cbc));
    ah.chain(esp.map(|suite| format!("esp:{}", suite.name()))).collect()
}

/// The address of one host, in the mesh.
pub fn alice() -> Ipv6Addr {
    "fd00::212:7400:0:1".parse().unwrap()
}

/// The address of the other, outside.
pub fn bob() -> Ipv6Addr {
    "fd00:c::1".parse().unwrap()
}

/// Where Alice's tunnels end.
pub fn outer_alice() -> Ipv6Addr {
    "fd00::a".parse().unwrap()
}

/// Where Bob's tunnels end.
pub fn outer_bob() -> Ipv6Addr {
    "fd00::b".parse().unwrap()
}

/// Transport mode, or tunnel mode from one end or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeKind {
    /// From end to end.
    Transport,
    /// In a packet of its own.
    Tunnel,
}

impl ModeKind {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Transport, Self::Tunnel];

    /// The mode, of an end of a tunnel that is local.
    pub fn mode(self, local: Ipv6Addr, remote: Ipv6Addr) -> Mode {
        match self {
            Self::Transport => Mode::Transport,
            Self::Tunnel => Mode::Tunnel { local, remote },
        }
    }
}

/// An association that lasts for ever.
pub fn association<L: Default>(
    spi: u32,
    mode: Mode,
    extended: bool,
    transform: Transform,
) -> Association<Transform, L> {
    Association { spi, mode, extended, lifetime: L::default(), address: None, transform }
}

/// Protects all that `host` says to the other, and hears from it, with `suite`; adds to what protected it before.
pub fn protect<const WINDOW: usize>(
    host: &mut Machine<WINDOW>,
    suite: &str,
    is_alice: bool,
    way: ModeKind,
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

/// What is done with all packets.
pub fn policy(action: Action) -> Policy {
    Policy { selector: Selector::ANY, action }
}

/// Two hosts that protect everything with `suite`.
pub fn pair<const WINDOW: usize>(
    suite: &str,
    way: ModeKind,
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
pub fn packet(source: Ipv6Addr, destination: Ipv6Addr, first: u8, chain: &[u8], upper: &[u8]) -> Vec<u8> {
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

/// A UDP datagram without its IPv6 header.
pub fn datagram(source: Ipv6Addr, destination: Ipv6Addr, payload: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0; udp::Header::LEN];
    datagram.extend(payload);
    udp::Header { source_port: 1000, destination_port: 2000 }
        .emit(source, destination, &mut datagram)
        .unwrap();
    datagram
}

/// A UDP datagram from Alice to Bob.
pub fn udp_packet(payload: &[u8]) -> Vec<u8> {
    packet(alice(), bob(), next_header::UDP, &[], &datagram(alice(), bob(), payload))
}
