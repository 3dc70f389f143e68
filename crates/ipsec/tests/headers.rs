//! Extension headers in any order: where AH and ESP stand, and what AH covers.

use proptest::prelude::*;
use sixlock_base::Counter;
use sixlock_ipsec::{Action, InboundError, OutboundError};
use sixlock_ipv6::next_header::{AH, DESTINATION, ESP, FRAGMENT, HOP_BY_HOP, ICMPV6, ROUTING, UDP};
use sixlock_testing::ipsec::{self, *};

/// RPL's option in a hop-by-hop header: its type says that it changes on the way (RFC 6553).
fn hop_by_hop(next_header: u8) -> Vec<u8> {
    vec![next_header, 0, 0x63, 4, 0x80, 0, 0x01, 0x00]
}

fn destination(next_header: u8, units: u8) -> Vec<u8> {
    let mut header = vec![next_header, units, 0x1e, 4 + 8 * units];
    header.extend(1..5 + 8 * units);
    header
}

/// A source route that is at its end.
fn finished_route(next_header: u8) -> Vec<u8> {
    let mut header = vec![next_header, 2, 3, 0, 0, 0, 0, 0];
    header.extend(alice().octets());
    header
}

fn fragment(next_header: u8) -> Vec<u8> {
    vec![next_header, 0, 0, 0, 9, 9, 9, 9]
}

fn header(kind: u8, next_header: u8) -> Vec<u8> {
    match kind {
        HOP_BY_HOP => hop_by_hop(next_header),
        DESTINATION => destination(next_header, 1),
        ROUTING => finished_route(next_header),
        FRAGMENT => fragment(next_header),
        _ => panic!("{kind}"),
    }
}

/// A packet with these extension headers before a UDP datagram.
fn with_headers(kinds: &[u8]) -> Vec<u8> {
    let next = |n: usize| kinds.get(n).copied().unwrap_or(UDP);
    let chain: Vec<u8> = kinds.iter().enumerate().flat_map(|(n, &kind)| header(kind, next(n + 1))).collect();
    packet(alice(), bob(), next(0), &chain, &datagram(alice(), bob(), b"reading"))
}

/// The kinds of headers in a packet, up to ESP or what is no extension header.
fn kinds(packet: &[u8]) -> Vec<u8> {
    let (mut kinds, mut at) = (vec![packet[6]], 40);
    while let kind @ (HOP_BY_HOP | DESTINATION | ROUTING | FRAGMENT | AH) = *kinds.last().unwrap() {
        kinds.push(packet[at]);
        at += match kind {
            FRAGMENT => 8,
            AH => (packet[at + 1] as usize + 2) * 4,
            _ => (packet[at + 1] as usize + 1) * 8,
        };
    }
    kinds
}

#[test]
fn a_header_goes_behind_those_of_the_way_and_before_destination_options_of_the_end() {
    for (before, after) in [
        (vec![], vec![]),
        (vec![HOP_BY_HOP], vec![]),
        (vec![], vec![DESTINATION]),
        (vec![HOP_BY_HOP], vec![DESTINATION]),
        (vec![HOP_BY_HOP, DESTINATION, ROUTING], vec![DESTINATION]),
        (vec![HOP_BY_HOP, DESTINATION, ROUTING, FRAGMENT], vec![DESTINATION, DESTINATION]),
    ] {
        let plain = with_headers(&[&before[..], &after].concat());
        for (suite, protocol) in [("ah:xcbc", AH), ("esp:ctr-xcbc", ESP)] {
            let (mut alice, mut bob): (Host, Host) = pair(suite, ModeKind::Transport, false);
            let protected = alice.send(&plain).unwrap();
            let mut expected = [&before[..], &[protocol]].concat();
            if protocol == AH {
                expected.extend([&after[..], &[UDP]].concat());
            }
            assert_eq!(kinds(&protected), expected);
            assert_eq!(bob.receive(&protected), Ok(plain.clone()));
        }
    }
}

#[test]
fn ah_around_esp_stands_before_it_and_both_are_opened() {
    for outer in ["ah:xcbc", "ah:hmac-sha256"] {
        for way in ModeKind::BOTH {
            let [mut alice, mut bob] = [true, false].map(|is_alice| {
                let mut host = Host::new();
                let inner = protect(&mut host, "esp:cbc-hmac-sha1", is_alice, way, false);
                let outer = protect(&mut host, outer, is_alice, ModeKind::Transport, true);
                let both = inner.within(outer.outbound[0].unwrap(), outer.inbound[0].unwrap());
                host.ipsec.add_policy(policy(Action::Protect(both))).unwrap();
                host
            });
            let plain = with_headers(&[HOP_BY_HOP, DESTINATION]);
            let protected = alice.send(&plain).unwrap();
            let expected = if way == ModeKind::Transport { vec![HOP_BY_HOP, AH, ESP] } else { vec![AH, ESP] };
            assert_eq!(kinds(&protected), expected);
            assert_eq!(bob.receive(&protected), Ok(plain.clone()));
            // What is inside, without what is to be around it.
            let esp = [&protected[..40], &protected[protected.len() - 60..]].concat();
            assert!(bob.receive(&esp).is_err());
        }
    }
}

#[test]
fn the_inner_protection_alone_is_not_enough() {
    let mut alice = Host::new();
    let inner = protect(&mut alice, "esp:cbc-hmac-sha1", true, ModeKind::Transport, false);
    alice.ipsec.add_policy(policy(Action::Protect(inner))).unwrap();
    let mut bob = Host::new();
    let inner = protect(&mut bob, "esp:cbc-hmac-sha1", false, ModeKind::Transport, false);
    let outer = protect(&mut bob, "ah:xcbc", false, ModeKind::Transport, false);
    let both = inner.within(outer.outbound[0].unwrap(), outer.inbound[0].unwrap());
    bob.ipsec.add_policy(policy(Action::Protect(both))).unwrap();
    let protected = alice.send(&udp_packet(b"reading")).unwrap();
    assert_eq!(bob.receive(&protected), Err(InboundError::WrongAssociation));
}

#[test]
fn what_changes_on_the_way_does_not_break_ah_and_what_does_not_does() {
    let (mut alice, mut bob): (Host, Host) = pair("ah:hmac-sha256", ModeKind::Transport, false);
    let protected = alice.send(&with_headers(&[HOP_BY_HOP, DESTINATION, ROUTING])).unwrap();
    // The RPL option's type and length, the destination options, the finished route.
    for at in [40, 42, 43, 50, 53, 60, 70] {
        let mut altered = protected.clone();
        altered[at] ^= 1;
        assert!(bob.receive(&altered).is_err(), "{at}");
    }
    // Where the first header is renamed, no AH is found.
    assert_eq!(bob.count(Counter::IpsecPolicyViolated), 1);
    assert_eq!(bob.count(Counter::IpsecBadIcv) + bob.count(Counter::IpsecMalformed), 6);
    let mut routed = protected.clone();
    routed[0] = 0x6f; // Traffic class and flow label.
    routed[1..4].fill(0xff);
    routed[7] = 3; // The hop limit.
    routed[44..48].fill(0xee); // RPL's rank and flags.
    assert!(bob.receive(&routed).is_ok());
}

/// A routing header of type 0 or of RPL, with `left` of these addresses to go, and the last bytes of them.
fn route(kind: u8, left: u8, addresses: &[[u8; 16]], elided: [u8; 2]) -> Vec<u8> {
    let mut header = vec![AH, 0, kind, left, elided[0] << 4 | elided[1], 0, 0, 0];
    for (n, address) in addresses.iter().enumerate() {
        let elided = elided[usize::from(n + 1 == addresses.len())];
        header.extend(&address[elided.into()..]);
    }
    let padding = (8 - header.len() % 8) % 8;
    header.resize(header.len() + padding, 0);
    header[1] = (header.len() / 8 - 1) as u8;
    header[5] = (padding as u8) << 4;
    header
}

#[test]
fn a_source_route_is_authenticated_as_it_is_at_its_end() {
    let address = |n: u8| {
        let mut address = bob().octets();
        (address[13], address[15]) = (n, n);
        address
    };
    for (kind, elided) in [(0, [0, 0]), (3, [0, 0]), (3, [13, 13]), (3, [13, 8]), (3, [8, 13])] {
        for way_to_go in 1..=3u8 {
            let (mut alice, mut bob): (Host, Host) = pair("ah:xcbc", ModeKind::Transport, false);
            // From Alice by address 1, then 2 and 3, to 4.
            let mut visits = vec![address(2), address(3), address(4)];
            let left = way_to_go;
            // Of a route partly visited, the addresses behind are whatever they are.
            let mut chain = route(kind, left, &visits, elided);
            chain[0] = UDP;
            let plain = packet(
                alice_address(),
                address(1).into(),
                ROUTING,
                &chain,
                &datagram(alice_address(), address(4).into(), b"x"),
            );
            let mut protected = alice.send(&plain).unwrap();
            // Each hop swaps the destination with the next address.
            let mut destination = address(1);
            for next in &mut visits[3 - usize::from(left)..] {
                std::mem::swap(&mut destination, next);
            }
            let mut arrived = route(kind, 0, &visits, elided);
            let chain_length = arrived.len();
            arrived[0] = AH;
            protected[24..40].copy_from_slice(&destination);
            protected[40..40 + chain_length].copy_from_slice(&arrived);
            assert_eq!(destination, address(4));
            assert!(bob.receive(&protected).is_ok(), "{kind} {elided:?} {left}");
            protected[40 + 8] ^= 1;
            assert!(bob.receive(&protected).is_err());
        }
    }
}

fn alice_address() -> std::net::Ipv6Addr {
    alice()
}

#[test]
fn a_route_that_nobody_can_predict_is_not_signed_and_one_not_at_its_end_not_opened() {
    let (mut alice, mut bob): (Host, Host) = pair("ah:xcbc", ModeKind::Transport, false);
    let mut chain = route(4, 1, &[ipsec::bob().octets()], [0, 0]);
    chain[0] = UDP;
    let upper = datagram(ipsec::alice(), ipsec::bob(), b"x");
    let unknown = packet(ipsec::alice(), ipsec::bob(), ROUTING, &chain, &upper);
    assert_eq!(alice.send(&unknown), Err(OutboundError::Routing));
    chain[2] = 0;
    let known = packet(ipsec::alice(), ipsec::bob(), ROUTING, &chain, &upper);
    let protected = alice.send(&known).unwrap();
    assert_eq!(bob.receive(&protected), Err(InboundError::Routing));
    for wrong in [2, 200] {
        chain[3] = wrong;
        let longer = packet(ipsec::alice(), ipsec::bob(), ROUTING, &chain, &upper);
        assert_eq!(alice.send(&longer), Err(OutboundError::Routing), "more to go than there is");
    }
}

#[test]
fn a_fragment_header_around_a_whole_packet_may_be_gone_when_it_is_checked() {
    let (mut alice, mut bob): (Host, Host) = pair("ah:cmac", ModeKind::Transport, false);
    let mut protected = alice.send(&with_headers(&[HOP_BY_HOP, FRAGMENT, DESTINATION])).unwrap();
    assert!(bob.receive(&protected).is_ok());
    let mut again = alice.send(&with_headers(&[HOP_BY_HOP, FRAGMENT, DESTINATION])).unwrap();
    again[40] = again[48];
    again.drain(48..56);
    let length = (again.len() - 40) as u16;
    again[4..6].copy_from_slice(&length.to_be_bytes());
    let received = bob.receive(&again).unwrap();
    assert_eq!(kinds(&received), [HOP_BY_HOP, DESTINATION, UDP]);
    protected[51] = 1;
    assert!(bob.receive(&protected).is_err(), "a fragment of several");
}

#[test]
fn fragments_are_not_protected() {
    let (mut alice, _): (Host, Host) = pair("esp:ctr-xcbc", ModeKind::Transport, false);
    for low in [1, 8] {
        let mut plain = with_headers(&[FRAGMENT]);
        plain[43] = low;
        assert_eq!(alice.send(&plain), Err(OutboundError::Fragment));
    }
    assert_eq!(alice.count(Counter::IpsecNotProtected), 2);
}

#[test]
fn no_next_header_is_legal_in_ah_and_a_dummy_in_esp() {
    let plain = packet(alice(), bob(), 59, &[], &[]);
    let (mut sender, mut receiver): (Host, Host) = pair("ah:xcbc", ModeKind::Transport, false);
    assert_eq!(receiver.receive(&sender.send(&plain).unwrap()), Ok(plain.clone()));
    let (mut sender, mut receiver): (Host, Host) = pair("esp:gcm", ModeKind::Transport, false);
    assert_eq!(receiver.receive(&sender.send(&plain).unwrap()), Err(InboundError::Dummy));
    assert_eq!(receiver.count(Counter::IpsecDummies), 1);
}

#[test]
fn a_tunnel_carries_the_packet_untouched_and_link_padding_is_no_part_of_it() {
    for suite in ["ah:xcbc", "esp:cbc-xcbc"] {
        let (mut alice, mut bob): (Host, Host) = pair(suite, ModeKind::Tunnel, false);
        let plain = with_headers(&[HOP_BY_HOP, DESTINATION]);
        let mut protected = alice.send(&plain).unwrap();
        assert_eq!(protected[8..24], outer_alice().octets());
        assert_eq!(protected[24..40], outer_bob().octets());
        assert_eq!((protected[0], protected[1] >> 4), (plain[0], plain[1] >> 4), "the traffic class");
        protected.extend([0xff; 5]);
        assert_eq!(bob.receive(&protected), Ok(plain));
    }
}

#[test]
fn hop_by_hop_options_of_a_tunnel_s_own_end_are_where_those_on_the_way_look() {
    for (suite, protocol) in [("ah:xcbc", 51), ("esp:ctr-xcbc", 50), ("esp:gcm", 50)] {
        let (mut alice, mut bob): (Host, Host) = pair(suite, ModeKind::Tunnel, false);
        let (here, there) = (outer_alice(), outer_bob());
        let udp = datagram(here, there, b"to be routed");
        let mut protected = alice.send(&packet(here, there, 0, &[17, 0, 0x23, 4, 0, 0, 0, 0], &udp)).unwrap();
        assert_eq!((protected[6], &protected[40..44]), (0, &[protocol, 0, 0x23, 4][..]));
        // A router writes its rank.
        protected[46..48].copy_from_slice(&[1, 0]);
        assert_eq!(bob.receive(&protected), Ok(packet(here, there, 17, &[], &udp)), "{suite}");
    }
}

proptest! {
    #[test]
    fn headers_in_any_order_and_number_arrive(
        suite in prop::sample::select(suites()), way in prop::sample::select(ModeKind::BOTH.to_vec()), first: bool,
        rest in prop::collection::vec(prop::sample::select(vec![DESTINATION, ROUTING, FRAGMENT]), 0..6),
    ) {
        let order = if first { [&[HOP_BY_HOP], &rest[..]].concat() } else { rest };
        let (mut alice, mut bob): (Host, Host) = pair(&suite, way, false);
        let plain = with_headers(&order);
        let protected = alice.send(&plain).unwrap();
        prop_assert_eq!(bob.receive(&protected), Ok(plain));
    }

    #[test]
    fn any_chain_is_protected_or_refused(
        suite in prop::sample::select(suites()), first in prop::sample::select(vec![0u8, 43, 44, 51, 60, 17]),
        chain in prop::collection::vec(prop_oneof![Just(0u8), Just(43), Just(44), Just(51), Just(60), any::<u8>()], 0..100),
    ) {
        let (mut alice, mut bob): (Host, Host) = pair(&suite, ModeKind::Transport, false);
        if let Ok(protected) = alice.send(&packet(ipsec::alice(), ipsec::bob(), first, &chain, &[])) {
            // What is sent may have a routing header with a way to go, or an AH that is not ours.
            let _ = bob.receive(&protected);
        }
    }

    #[test]
    fn any_upper_protocol_is_carried(upper in prop::sample::select(vec![6u8, UDP, ICMPV6, 41, 132, 255]), payload in prop::collection::vec(any::<u8>(), 0..64)) {
        let (mut alice, mut bob): (Host, Host) = pair("esp:ctr-hmac-sha1", ModeKind::Transport, false);
        let plain = packet(ipsec::alice(), ipsec::bob(), upper, &[], &payload);
        prop_assert_eq!(bob.receive(&alice.send(&plain).unwrap()), Ok(plain));
    }
}
