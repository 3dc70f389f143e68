//! The Internet's side of a security gateway, and a host at the other end of a tunnel.

use std::net::Ipv6Addr;

use sixlock_base::Counter;
use sixlock_crypto::Soft;
use sixlock_gateway::{Internet, Tunnels};
use sixlock_ipsec::{Action, Addresses, Association, Mode, Policy, Protection, Selector};
use sixlock_ipv6::{Header, next_header};

use sixlock_testing::ipsec::*;

const MODE: &str = "esp:ctr-xcbc";

/// A security gateway, and what its side of the Internet is lent.
struct Gateway {
    tunnels: Tunnels<Soft, Transform, 2>,
    place: Host,
}

impl Gateway {
    fn new() -> Self {
        Self { tunnels: Internet::<Soft>::NEW, place: Host::new() }
    }

    /// With a tunnel to Bob, under the keys that follow from these.
    fn with_bob(ours: u8, his: u8) -> Self {
        let mut gateway = Self::new();
        let mode = Mode::Tunnel { local: outer_alice(), remote: outer_bob() };
        let ipsec = gateway.tunnels.start(outer_alice());
        let association = |seed, address| Association {
            spi: 0x1000,
            mode,
            extended: true,
            lifetime: (),
            address,
            transform: transform(MODE, seed),
        };
        let outbound = ipsec.add_outbound(association(ours, None)).unwrap();
        let inbound = ipsec.add_inbound(association(his, Some(outer_bob()))).unwrap();
        let selector = Selector {
            local: Addresses::prefix(alice(), 64),
            remote: Addresses::one(bob()),
            ..Selector::ANY
        };
        let action = Action::Protect(Protection::by(outbound, inbound));
        ipsec.add_policy(Policy { selector, action }).unwrap();
        gateway
    }

    /// What it lets in of a packet.
    fn inbound(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = packet.to_vec();
        let len = self.tunnels.inbound(&mut self.place.cx().1, &mut buffer, packet.len())?;
        Some(buffer[..len].to_vec())
    }

    /// What it sends for a packet.
    fn outbound(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        self.tunnels.outbound(&mut self.place.cx().1, packet).map(<[u8]>::to_vec)
    }

    /// The counters that are not zero.
    fn counts(&self) -> Vec<(Counter, u32)> {
        self.place.rig.counters.iter().filter(|&(_, count)| count > 0).collect()
    }
}

/// Bob, who says everything through a tunnel.
fn bob_himself(ours: u8, his: u8) -> Host {
    let mut host = Host::new();
    let mode = Mode::Tunnel { local: outer_bob(), remote: outer_alice() };
    let outbound = host.ipsec.add_outbound(association(0x1000, mode, true, transform(MODE, his))).unwrap();
    let inbound = host.ipsec.add_inbound(association(0x1000, mode, true, transform(MODE, ours))).unwrap();
    host.ipsec.add_policy(policy(Action::Protect(Protection::by(outbound, inbound)))).unwrap();
    host
}

fn to(source: Ipv6Addr, destination: Ipv6Addr, payload: &[u8]) -> Vec<u8> {
    packet(source, destination, next_header::UDP, &[], &datagram(source, destination, payload))
}

#[test]
fn before_it_is_started_packets_go_as_they_are() {
    let mut gateway = Gateway::new();
    let question = to(bob(), alice(), b"question");
    assert_eq!(gateway.inbound(&question), Some(question.clone()));
    assert_eq!(gateway.outbound(&question), Some(question));
    assert_eq!(gateway.counts(), []);
}

#[test]
fn packets_of_every_length_that_the_mesh_carries_go_through_a_tunnel_and_no_longer_ones() {
    let (mut gateway, mut bob_himself) = (Gateway::with_bob(1, 2), bob_himself(1, 2));
    for length in [0, 1, 500, 1280 - 48] {
        let question = to(bob(), alice(), &vec![7; length]);
        let protected = bob_himself.send(&question).unwrap();
        assert_eq!(gateway.inbound(&protected), Some(question), "{length}");
        let answer = to(alice(), bob(), &vec![8; length]);
        let protected = gateway.outbound(&answer).unwrap();
        let (outer, _) = Header::parse(&protected).unwrap();
        assert_eq!((outer.source, outer.destination), (outer_alice(), outer_bob()));
        assert_eq!(bob_himself.receive(&protected), Ok(answer), "{length}");
    }
    assert_eq!(gateway.counts(), []);
    assert_eq!(gateway.outbound(&to(alice(), bob(), &[8; 1280])), None);
}

#[test]
fn cleartext_replays_altered_packets_and_other_keys_are_refused_and_counted() {
    let (mut gateway, mut bob_himself) = (Gateway::with_bob(1, 2), bob_himself(1, 2));
    let question = to(bob(), alice(), b"question");
    let protected = bob_himself.send(&question).unwrap();
    assert!(gateway.inbound(&protected).is_some());
    assert_eq!(gateway.inbound(&protected), None);
    assert_eq!(gateway.inbound(&question), None);
    assert_eq!(gateway.inbound(&to(bob(), outer_alice(), b"for the gateway")), None);
    let mut altered = bob_himself.send(&question).unwrap();
    *altered.last_mut().unwrap() ^= 1;
    assert_eq!(gateway.inbound(&altered), None);
    let mut stranger = self::bob_himself(1, 3);
    // Its numbers are beyond those that were used.
    stranger.skip_to(1);
    assert_eq!(gateway.inbound(&stranger.send(&question).unwrap()), None);
    assert_eq!(gateway.inbound(b"no packet"), None);
    let expected = [
        (Counter::IpsecMalformed, 1),
        (Counter::IpsecBadIcv, 2),
        (Counter::IpsecReplayed, 1),
        (Counter::IpsecPolicyViolated, 2),
    ];
    assert_eq!(gateway.counts(), expected);
}

#[test]
fn what_no_tunnel_is_for_is_refused_both_ways_and_so_is_a_host_that_speaks_for_another() {
    let (mut gateway, mut bob_himself) = (Gateway::with_bob(1, 2), bob_himself(1, 2));
    let carol: Ipv6Addr = "fd00:c::3".parse().unwrap();
    assert_eq!(gateway.inbound(&to(carol, alice(), b"in the clear")), None);
    let anothers = bob_himself.send(&to(carol, alice(), b"in Bob's tunnel")).unwrap();
    assert_eq!(gateway.inbound(&anothers), None);
    let elsewhere = bob_himself.send(&to(bob(), carol, b"not for the mesh")).unwrap();
    assert_eq!(gateway.inbound(&elsewhere), None);
    assert_eq!(gateway.outbound(&to(alice(), carol, b"an answer")), None);
    // Neither the tunnel's inside nor its outside is a way for what is protected between other ends.
    let between_ends = packet(bob(), alice(), next_header::ESP, &[], &[0; 40]);
    assert_eq!(gateway.inbound(&between_ends), None);
    assert_eq!(gateway.counts(), [(Counter::IpsecDiscarded, 1), (Counter::IpsecPolicyViolated, 4)]);
}

#[test]
fn when_sequence_numbers_are_used_up_nothing_leaves() {
    let mut gateway = Gateway::with_bob(1, 2);
    gateway.place.skip_to(u32::MAX);
    let answer = to(alice(), bob(), b"answer");
    assert_eq!(gateway.outbound(&answer), None);
    assert_eq!(gateway.counts(), [(Counter::IpsecNotProtected, 1)]);
}
