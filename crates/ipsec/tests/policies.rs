//! What policy lets out and in.

use sixlock_base::{AhSuite, Counter, EspSuite};
use sixlock_crypto::Soft;
use sixlock_ipsec::suite::Xcbc96;
use sixlock_ipsec::{
    Action, Addresses, Ah, Association, Basic, ConfigError, InboundError, Ipsec, Mode, OutboundError, Policy,
    Ports, Protection, Selector,
};
use sixlock_ipv6::next_header::{ICMPV6, ROUTING, UDP};
use sixlock_testing::ipsec::{self, *};

fn bypass(protocol: u8, ports: Ports) -> Policy {
    let selector = Selector { protocol: Some(protocol), local_ports: ports, ..Selector::ANY };
    Policy { selector, action: Action::Bypass }
}

#[test]
fn without_a_policy_nothing_goes_out_or_comes_in() {
    let mut host = Host::new();
    let packet = udp_packet(b"reading");
    assert_eq!(host.send(&packet), Err(OutboundError::NoPolicy));
    assert_eq!(host.receive(&packet), Err(InboundError::NoPolicy));
    assert_eq!(host.count(Counter::IpsecDiscarded), 1);
    assert_eq!(host.count(Counter::IpsecPolicyViolated), 1);
}

#[test]
fn cleartext_comes_in_only_where_policy_lets_it_by() {
    let (_, mut bob): (Host, Host) = pair("esp:gcm", ModeKind::Transport, false);
    assert_eq!(bob.receive(&udp_packet(b"reading")), Err(InboundError::Unprotected));

    let mut bob = Host::new();
    bob.ipsec.add_policy(bypass(ICMPV6, Ports::icmpv6(133, 137))).unwrap();
    let protection = protect(&mut bob, "esp:gcm", false, ModeKind::Transport, false);
    bob.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
    let message = |kind: u8| packet(alice(), bob_address(), ICMPV6, &[], &[kind, 0, 0, 0]);
    assert_eq!(bob.receive(&message(135)), Ok(message(135)));
    assert_eq!(bob.receive(&message(128)), Err(InboundError::Unprotected));
}

fn bob_address() -> std::net::Ipv6Addr {
    bob()
}

#[test]
fn what_is_let_by_must_not_come_protected() {
    let (mut alice, _): (Host, Host) = pair("esp:gcm", ModeKind::Transport, false);
    let mut bob = Host::new();
    protect(&mut bob, "esp:gcm", false, ModeKind::Transport, false);
    bob.ipsec.add_policy(bypass(UDP, Ports::ANY)).unwrap();
    let protected = alice.send(&udp_packet(b"reading")).unwrap();
    assert_eq!(bob.receive(&protected), Err(InboundError::WrongAssociation));
}

#[test]
fn an_association_opens_only_what_its_policy_gives_it() {
    // Alice may speak to port 2000 under the one association, and to others under the other.
    let port_2000 = Selector { protocol: Some(UDP), local_ports: Ports::one(2000), ..Selector::ANY };
    let mut bob = Host::new();
    let weak = protect(&mut bob, "esp:ctr-xcbc", false, ModeKind::Tunnel, false);
    let mode = Mode::Transport;
    let strong_inbound = association(0x3003, mode, false, transform("esp:gcm", 3));
    let strong_outbound = association(0x4004, mode, false, transform("esp:gcm", 4));
    let strong = Protection::by(
        bob.ipsec.add_outbound(strong_outbound).unwrap(),
        bob.ipsec.add_inbound(strong_inbound).unwrap(),
    );
    bob.ipsec.add_policy(Policy { selector: port_2000, action: Action::Protect(strong) }).unwrap();
    bob.ipsec.add_policy(policy(Action::Protect(weak))).unwrap();

    let (mut alice, _): (Host, Host) = pair("esp:ctr-xcbc", ModeKind::Tunnel, false);
    let protected = alice.send(&udp_packet(b"to port 2000")).unwrap();
    assert_eq!(bob.receive(&protected), Err(InboundError::WrongAssociation));
    let mut other = datagram(ipsec::alice(), ipsec::bob(), b"to port 2001");
    other[3] ^= 1;
    let other = packet(ipsec::alice(), ipsec::bob(), UDP, &[], &other);
    assert_eq!(bob.receive(&alice.send(&other).unwrap()), Ok(other));
}

#[test]
fn a_tunnel_packet_under_a_transport_association_is_not_let_in_nor_the_reverse() {
    for (sent, expected) in [(ModeKind::Tunnel, ModeKind::Transport), (ModeKind::Transport, ModeKind::Tunnel)]
    {
        let (mut alice, _): (Host, Host) = pair("esp:gcm", sent, false);
        let (_, mut bob): (Host, Host) = pair("esp:gcm", expected, false);
        let protected = alice.send(&udp_packet(b"reading")).unwrap();
        let received = bob.receive(&protected);
        // Under a transport association it is a packet in a packet, and that is what policy is asked about.
        match sent {
            ModeKind::Tunnel => assert_eq!(received.unwrap()[6], 41),
            ModeKind::Transport => assert_eq!(received, Err(InboundError::NotTunnelled)),
        }
    }
}

#[test]
fn inside_a_tunnel_to_a_gateway_another_hosts_protection_stays() {
    let (mut alice, _): (Host, Host) = pair("esp:gcm", ModeKind::Transport, false);
    let end_to_end = alice.send(&udp_packet(b"reading")).unwrap();
    let (mut near, mut far): (Host, Host) = pair("esp:ctr-xcbc", ModeKind::Tunnel, false);
    let through = near.send(&end_to_end).unwrap();
    assert_eq!(far.receive(&through), Ok(end_to_end));
}

#[test]
fn many_receivers_of_a_group_have_an_association_of_its_own() {
    let group = "ff05::1234".parse().unwrap();
    let mut alice = Host::new();
    let to_group = association(0x2002, Mode::Transport, false, transform("ah:hmac-sha1", 5));
    let outbound = alice.ipsec.add_outbound(to_group).unwrap();
    let protection =
        Protection { outbound: [Some(outbound), None], inbound: [None; 2], unauthenticated: false };
    alice.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
    let mut bob = Host::new();
    protect(&mut bob, "ah:xcbc", false, ModeKind::Transport, false);
    let from_group = Association {
        address: Some(group),
        ..association(0x2002, Mode::Transport, false, transform("ah:hmac-sha1", 5))
    };
    let from_group = bob.ipsec.add_inbound(from_group).unwrap();
    let reply = protect_outbound(&mut bob);
    bob.ipsec.add_policy(policy(Action::Protect(Protection::by(reply, from_group)))).unwrap();
    let plain = packet(ipsec::alice(), group, UDP, &[], &datagram(ipsec::alice(), group, b"all"));
    let protected = alice.send(&plain).unwrap();
    assert_eq!(bob.receive(&protected), Ok(plain));
    let mut redirected = protected;
    redirected[24..40].copy_from_slice(&ipsec::bob().octets());
    assert_eq!(bob.receive(&redirected), Err(InboundError::BadIcv), "that is the other association");
}

#[test]
fn senders_with_the_same_index_are_told_apart_where_that_is_asked_for() {
    let mut cloud = Host::new();
    let from = |sender, seed| Association {
        address: sender,
        ..association(1, Mode::Transport, false, transform("ah:xcbc", seed))
    };
    let others = "fd00::99".parse().unwrap();
    cloud.ipsec.add_inbound(from(Some(others), 6)).unwrap();
    let inbound = cloud.ipsec.add_inbound(from(Some(alice()), 5)).unwrap();
    for taken in [None, Some(others)] {
        assert_eq!(cloud.ipsec.add_inbound(from(taken, 7)), Err(ConfigError::SpiTaken));
    }
    let reply = protect_outbound(&mut cloud);
    cloud.ipsec.add_policy(policy(Action::Protect(Protection::by(reply, inbound)))).unwrap();
    let mut alice = Host::new();
    let outbound = alice.ipsec.add_outbound(from(None, 5)).unwrap();
    let protection =
        Protection { outbound: [Some(outbound), None], inbound: [None; 2], unauthenticated: false };
    alice.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
    let plain = udp_packet(b"reading");
    assert_eq!(cloud.receive(&alice.send(&plain).unwrap()), Ok(plain));
}

fn protect_outbound(host: &mut Host) -> sixlock_ipsec::OutboundId {
    host.ipsec.add_outbound(association(0x5005, Mode::Transport, false, transform("ah:xcbc", 9))).unwrap()
}

#[test]
fn what_cannot_be_kept_or_must_not_be_is_refused_by_its_reason() {
    let mut host = Host::new();
    let spare = |spi| association(spi, Mode::Transport, false, transform("ah:xcbc", 1));
    assert_eq!(host.ipsec.add_inbound(spare(0)), Err(ConfigError::ReservedSpi));
    assert_eq!(host.ipsec.add_outbound(spare(0)), Err(ConfigError::ReservedSpi));
    let inbound = host.ipsec.add_inbound(spare(1)).unwrap();
    assert_eq!(host.ipsec.add_inbound(spare(1)), Err(ConfigError::SpiTaken));
    let esp = association(1, Mode::Transport, false, transform("esp:ctr", 1));
    let unauthenticated = host.ipsec.add_inbound(esp).unwrap();
    for spi in 2..4 {
        host.ipsec.add_inbound(spare(spi)).unwrap();
    }
    assert_eq!(host.ipsec.add_inbound(spare(9)), Err(ConfigError::Full));
    let outbound = host.ipsec.add_outbound(spare(1)).unwrap();

    let mut other = Host::new();
    let action = Action::Protect(Protection::by(outbound, inbound));
    assert_eq!(other.ipsec.add_policy(policy(action)), Err(ConfigError::NoAssociation));
    let nothing = Protection { outbound: [None; 2], inbound: [None; 2], unauthenticated: true };
    assert_eq!(other.ipsec.add_policy(policy(Action::Protect(nothing))), Err(ConfigError::NoAssociation));

    let mut protection = Protection::by(outbound, unauthenticated);
    assert_eq!(host.ipsec.add_policy(policy(Action::Protect(protection))), Err(ConfigError::Unauthenticated));
    protection.unauthenticated = true;
    host.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
    for _ in 0..3 {
        host.ipsec.add_policy(policy(Action::Bypass)).unwrap();
    }
    assert_eq!(host.ipsec.add_policy(policy(Action::Bypass)), Err(ConfigError::Full));
    host.ipsec.clear();
    assert_eq!(host.send(&udp_packet(b"reading")), Err(OutboundError::NoPolicy));
}

#[test]
fn a_basic_transform_refuses_what_is_not_linked_with_it_and_understands_who_has_it_all() {
    type Xcbc = Basic<Ah<Xcbc96<Soft>, false>>;
    let mut device: Ipsec<Soft, Xcbc, 1, 2, 8> = Ipsec::new();
    let association = |spi, mode| {
        let transform = Basic(Ah(Xcbc96::new(&mut Soft, &keys("ah:xcbc", 1)).unwrap()));
        Association { spi, mode, extended: true, lifetime: (), address: None, transform }
    };
    let tunnel = Mode::Tunnel { local: outer_alice(), remote: outer_bob() };
    assert_eq!(device.add_inbound(association(1, tunnel)), Err(ConfigError::NotLinked));
    assert_eq!(device.add_policy(policy(Action::Acquire)), Err(ConfigError::NotLinked));
    let plain = |spi| association(spi, Mode::Transport);
    let outbound = [1, 2].map(|spi| device.add_outbound(plain(spi)).unwrap());
    let inbound = [1, 2].map(|spi| device.add_inbound(plain(spi)).unwrap());
    let one = Protection::by(outbound[0], inbound[0]);
    let nested = one.within(outbound[1], inbound[1]);
    assert_eq!(device.add_policy(policy(Action::Protect(nested))), Err(ConfigError::NotLinked));
    device.add_policy(policy(Action::Protect(one))).unwrap();

    let mut host = Host::new();
    let association = || ipsec::association(1, Mode::Transport, true, transform("ah:xcbc", 1));
    let outbound = host.ipsec.add_outbound(association()).unwrap();
    let inbound = host.ipsec.add_inbound(association()).unwrap();
    host.ipsec.add_policy(policy(Action::Protect(Protection::by(outbound, inbound)))).unwrap();
    let plain = udp_packet(b"reading");
    let mut buffer = [&plain[..], &[0; 24]].concat();
    for _ in 0..3 {
        let (host, mut cx) = host.cx();
        let len = device.outbound_in(&mut cx, &mut buffer, plain.len()).unwrap();
        let len = host.inbound(&mut cx, &mut buffer, len).unwrap();
        assert_eq!(buffer[..len], plain);
        let len = host.outbound_in(&mut cx, &mut buffer, len).unwrap();
        let len = device.inbound(&mut cx, &mut buffer, len).unwrap();
        assert_eq!(buffer[..len], plain);
    }
    // A source route with a way still to go.
    let route = [UDP, 2, 0, 1, 0, 0, 0, 0];
    let chain = [&route[..], &bob().octets()].concat();
    let mut routed = packet(alice(), bob(), ROUTING, &chain, &datagram(alice(), bob(), b"x"));
    let len = routed.len();
    routed.resize(len + 24, 0);
    let (_, mut cx) = host.cx();
    assert_eq!(device.outbound_in(&mut cx, &mut routed, len), Err(OutboundError::Routing));
}

#[test]
fn a_packet_for_which_there_is_no_room_is_not_sent() {
    let (mut alice, _): (Host, Host) = pair("esp:cbc-hmac-sha256", ModeKind::Transport, false);
    let plain = udp_packet(&[0; 22]);
    let protected = alice.send(&plain).unwrap().len();
    for room in plain.len()..protected + 1 {
        let mut buffer = vec![0; room];
        buffer[..plain.len()].copy_from_slice(&plain);
        let (ipsec, mut cx) = alice.cx();
        let sent = ipsec.outbound_in(&mut cx, &mut buffer, plain.len());
        assert_eq!(sent, if room < protected { Err(OutboundError::NoRoom) } else { Ok(protected) });
    }
}

#[test]
fn only_whole_packets_are_sent() {
    let (mut alice, _): (Host, Host) = pair("ah:xcbc", ModeKind::Transport, false);
    let plain = udp_packet(b"reading");
    for length in 0..plain.len() {
        assert_eq!(alice.send(&plain[..length]), Err(OutboundError::Malformed));
    }
    let longer = [&plain[..], &[0]].concat();
    assert_eq!(alice.send(&longer), Err(OutboundError::Malformed));
    assert_eq!(alice.count(Counter::IpsecNotProtected) as usize, plain.len() + 1);
}

#[test]
fn an_address_range_chooses_whose_traffic_is_protected() {
    let mut alice = Host::new();
    let protection = protect(&mut alice, "ah:xcbc", true, ModeKind::Transport, false);
    let cloud = Selector { remote: Addresses::prefix(bob(), 64), ..Selector::ANY };
    alice.ipsec.add_policy(Policy { selector: cloud, action: Action::Protect(protection) }).unwrap();
    alice.ipsec.add_policy(policy(Action::Bypass)).unwrap();
    assert_eq!(alice.send(&udp_packet(b"reading")).unwrap()[6], 51);
    let near = packet(ipsec::alice(), outer_bob(), UDP, &[], &datagram(ipsec::alice(), outer_bob(), b"x"));
    assert_eq!(alice.send(&near), Ok(near));
}

#[test]
fn a_key_that_is_too_long_or_too_short_is_refused() {
    for suite in EspSuite::ALL {
        let fits = |length: usize| Transform::esp(&mut Soft, *suite, &vec![1; length]).is_ok();
        assert_eq!((0..100).filter(|&length| fits(length)).count(), 1, "{}", suite.name());
    }
    for suite in AhSuite::ALL {
        let fits = |length: usize| Transform::ah(&mut Soft, *suite, &vec![1; length]).is_ok();
        assert_eq!((0..100).filter(|&length| fits(length)).count(), 1, "{}", suite.name());
    }
}
