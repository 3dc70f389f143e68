//! Protects an IPv6 packet by ESP with AES-GCM in transport mode, prints both, and opens it at the other end. The Linux kernel opens it as well, and
//! so does scapy:
//! `SecurityAssociation(ESP, spi=0x2002, crypt_algo="AES-GCM", crypt_key=bytes(range(62, 82))).decrypt(IPv6(sealed))`.
//!
//! `cargo run -p sixlock-ipsec --example esp_round_trip -- "21.5 Cel"`

use std::net::Ipv6Addr;

use sixlock_base::{Environment, EspSuite, Instant, Packet, VolatileCounters, entropy_from};
use sixlock_crypto::Soft;
use sixlock_ipsec::{Action, AnyTransform, Association, Ipsec, Mode, Policy, Protection, Selector};
use sixlock_ipv6::udp;

/// At most two policies, two associations in each direction, and windows of 64 packets.
type Host = Ipsec<Soft, AnyTransform<Soft>, 2, 2, 8>;

/// The association by index `spi`, under keys of its own. Real ones are random, and never used again: the counters below begin at zero.
fn association(spi: u32, first: u8) -> Result<Association<AnyTransform<Soft>>, Box<dyn std::error::Error>> {
    let key: [u8; 20] = std::array::from_fn(|n| first + n as u8);
    let transform = AnyTransform::esp(&mut Soft, EspSuite::Gcm, &key)?;
    Ok(Association { spi, mode: Mode::Transport, extended: false, lifetime: (), address: None, transform })
}

/// A host that sends by one association and receives by the other, and lets nothing else in or out.
fn host(outbound: (u32, u8), inbound: (u32, u8)) -> Result<Host, Box<dyn std::error::Error>> {
    let mut host = Host::new();
    let outbound = host.add_outbound(association(outbound.0, outbound.1)?)?;
    let inbound = host.add_inbound(association(inbound.0, inbound.1)?)?;
    let action = Action::Protect(Protection::by(outbound, inbound));
    host.add_policy(Policy { selector: Selector::ANY, action })?;
    Ok(host)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let payload = std::env::args().nth(1).ok_or("usage: esp_round_trip TEXT")?;
    let entropy =
        entropy_from(|bytes: &mut [u8]| getrandom::fill(bytes).expect("the system gives random bytes"));
    let mut environment = Environment::new(Soft, entropy, VolatileCounters::default());
    let mut cx = environment.cx(Instant::from_millis(0));
    let (alice, bob): (Ipv6Addr, Ipv6Addr) = ("2001:db8::a".parse()?, "2001:db8::b".parse()?);
    let mut near = host((0x2002, 62), (0x1001, 31))?;
    let mut far = host((0x1001, 31), (0x2002, 62))?;

    let mut plain = [&[0; 48], payload.as_bytes()].concat();
    let ports = udp::Header { source_port: 1000, destination_port: 7 };
    udp::emit_packet(&mut plain, (alice, bob), ports, 64)?;
    let mut packet = Packet::<[u8; 2048]>::new();
    packet.reset(64);
    packet.extend(&plain)?;
    near.outbound(&mut cx, &mut packet)?;
    println!("plain {} {}", plain.len(), hex(&plain));
    println!("sealed {} {}", packet.len(), hex(packet.bytes()));

    let mut received = packet.bytes().to_vec();
    let length = received.len();
    let length = far.inbound(&mut cx, &mut received, length)?;
    println!("opened {} {}", length, hex(&received[..length]));
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
