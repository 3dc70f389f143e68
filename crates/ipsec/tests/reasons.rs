//! Why packets are refused: a packet for each reason.

use sixlock_base::{Counter, EspSuite, Instant};
use sixlock_crypto::Soft;
use sixlock_ipsec::suite::{AnyEsp, EspAlgorithm, EspPacket};
use sixlock_ipsec::{
    Action, Automated, Event, InboundError, Lifetime, Limits, OutboundError, Policy, Protection, Refusal,
    Selector, SequenceNumber,
};
use sixlock_ipv6::next_header::{DESTINATION, FRAGMENT, IPV6, NONE, ROUTING, UDP};
use sixlock_testing::Ranges;
use sixlock_testing::ipsec::*;

const MODE: &str = "esp:gcm";

fn reading() -> Vec<u8> {
    udp_packet(b"reading")
}

/// A packet of which the header after IPv6's is this one.
fn with(kind: u8, header: &[u8]) -> Vec<u8> {
    packet(alice(), bob(), kind, header, &datagram(alice(), bob(), b"reading"))
}

/// A destination header that is longer than the packet.
fn endless() -> Vec<u8> {
    packet(alice(), bob(), DESTINATION, &[UDP, 200, 1, 4, 0, 0, 0, 0], &[])
}

/// A routing header with a way still to go, of a type that nobody knows.
fn routed() -> Vec<u8> {
    with(ROUTING, &[UDP, 0, 200, 1, 0, 0, 0, 0])
}

fn protecting(mode: &str) -> Host {
    pair::<8>(mode, ModeKind::Transport, false).0
}

/// A host whose policy, for all packets, this is.
fn with_policy(action: Action) -> Machine<8, Automated<0>> {
    let mut host = Machine::new();
    host.ipsec.add_policy(policy(action)).unwrap();
    host
}

/// A host that may send and receive nothing more.
fn expired() -> Machine<8, Automated<0>> {
    let mut host = Machine::new();
    let hard = Limits { at: Some(Instant::from_millis(0)), ..Limits::default() };
    let ended = |spi, seed| {
        let association =
            association(spi, ModeKind::Transport.mode(alice(), bob()), false, transform(MODE, seed));
        sixlock_ipsec::Association { lifetime: Lifetime { hard, ..Lifetime::default() }, ..association }
    };
    let outbound = host.ipsec.add_outbound(ended(0x1001, 1)).unwrap();
    let inbound = host.ipsec.add_inbound(ended(0x2002, 2)).unwrap();
    host.ipsec.add_policy(policy(Action::Protect(Protection::by(outbound, inbound)))).unwrap();
    host
}

/// What a host says to a packet that it cannot store a number for.
fn without_storage() -> OutboundError {
    let mut host = protecting(MODE);
    host.rig.nv = Ranges::failed();
    let (ipsec, mut cx) = host.cx();
    let mut buffer = [reading(), vec![0; 64]].concat();
    ipsec.outbound_in(&mut cx, &mut buffer, reading().len()).unwrap_err()
}

fn without_room() -> OutboundError {
    let mut host = protecting(MODE);
    let (ipsec, mut cx) = host.cx();
    ipsec.outbound_in(&mut cx, &mut reading(), reading().len()).unwrap_err()
}

fn without_numbers() -> OutboundError {
    let mut host = protecting(MODE);
    host.skip_to(u32::MAX);
    host.send(&reading()).unwrap_err()
}

#[test]
fn each_reason_for_a_packet_not_to_go_out_is_told() {
    let length = &reading()[..40];
    let fragment = with(FRAGMENT, &[UDP, 0, 0, 1, 0, 0, 0, 0]);
    let said = [
        with_policy(Action::Discard).send(&reading()).unwrap_err(),
        Host::new().send(&reading()).unwrap_err(),
        with_policy(Action::Acquire).send(&reading()).unwrap_err(),
        protecting(MODE).send(length).unwrap_err(),
        protecting(MODE).send(&endless()).unwrap_err(),
        protecting(MODE).send(&fragment).unwrap_err(),
        protecting("ah:xcbc").send(&routed()).unwrap_err(),
        without_room(),
        without_numbers(),
        without_storage(),
        expired().send(&reading()).unwrap_err(),
    ];
    assert_eq!(said, OutboundError::ALL);
}

/// What a host says to this packet, whose sender it shares associations of this mode with.
fn said(mode: &str, packet: &[u8]) -> InboundError {
    pair::<8>(mode, ModeKind::Transport, false).1.receive(packet).unwrap_err()
}

/// A packet as its sender protects it, of which bytes are changed, which make it longer or shorter.
fn changed(mode: &str, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut packet = protecting(mode).send(&reading()).unwrap();
    change(&mut packet);
    let payload = (packet.len() - 40) as u16;
    packet[4..6].copy_from_slice(&payload.to_be_bytes());
    packet
}

/// ESP whose padding is longer than what it is in, under the right key.
fn padded() -> Vec<u8> {
    let suite = AnyEsp::<Soft>::new(&mut Soft, EspSuite::Gcm, &keys(MODE, 2)).unwrap();
    let mut esp = [0x2002u32.to_be_bytes(), 1u32.to_be_bytes()].concat();
    esp.extend([0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 200, UDP]);
    esp.extend([0; 16]);
    let sealed = EspPacket::new(&suite, &mut esp, SequenceNumber::new(0, 1), false).unwrap();
    EspAlgorithm::<Soft>::seal(&suite, &mut Soft, sealed);
    packet(alice(), bob(), 50, &[], &esp)
}

/// What a host in joint mode says to a packet from one that is not.
fn not_joint() -> InboundError {
    let mut bob = Host::new();
    let association = |spi, seed| {
        association(spi, ModeKind::Transport.mode(alice(), bob_()), false, transform(MODE, seed).joint())
    };
    let inbound = bob.ipsec.add_inbound(association(0x2002, 2)).unwrap();
    let outbound = bob.ipsec.add_outbound(association(0x1001, 1)).unwrap();
    bob.ipsec.add_policy(policy(Action::Protect(Protection::by(outbound, inbound)))).unwrap();
    bob.receive(&protecting(MODE).send(&packet(alice(), bob_(), UDP, &[], &[0; 3])).unwrap()).unwrap_err()
}

fn bob_() -> std::net::Ipv6Addr {
    bob()
}

/// What the far end of a tunnel says when `inner` comes out of it, and to a tunnel that ends elsewhere.
fn through_a_tunnel() -> [InboundError; 3] {
    let (mut alice, mut far): (Host, Host) = pair(MODE, ModeKind::Tunnel, false);
    // A packet in transport mode that says that it is a tunnelled one.
    let tunnelled = |inner: &[u8]| packet(outer_alice(), outer_bob(), IPV6, &[], inner);
    let mut transport = protecting(MODE);
    let inner = far.receive(&transport.send(&tunnelled(&[0x60, 0, 0])).unwrap()).unwrap_err();
    let not_tunnelled = far.receive(&transport.send(&reading()).unwrap()).unwrap_err();
    let mut elsewhere = alice.send(&reading()).unwrap();
    elsewhere[39] ^= 1;
    // ESP does not cover the outer header, and nothing came under a higher number.
    far = pair(MODE, ModeKind::Tunnel, false).1;
    [inner, not_tunnelled, far.receive(&elsewhere).unwrap_err()]
}

/// What a host says to a packet that is protected once more than its policy demands.
fn nested() -> InboundError {
    let both = |is_alice, depth: usize| {
        let mut host = Host::new();
        let inner = protect(&mut host, "esp:cbc-hmac-sha1", is_alice, ModeKind::Transport, false);
        let outer = protect(&mut host, "ah:xcbc", is_alice, ModeKind::Transport, false);
        let both = inner.within(outer.outbound[0].unwrap(), outer.inbound[0].unwrap());
        host.ipsec.add_policy(policy(Action::Protect(if depth == 1 { outer } else { both }))).unwrap();
        host
    };
    let (mut once, mut twice, mut bob) = (both(true, 1), both(true, 2), both(false, 2));
    once.skip_to(1);
    let protected = twice.send(&once.send(&reading()).unwrap());
    bob.receive(&protected.unwrap()).unwrap_err()
}

fn dummy() -> InboundError {
    let (mut alice, mut bob_): (Host, Host) = pair(MODE, ModeKind::Transport, false);
    bob_.receive(&alice.send(&packet(alice_(), bob(), NONE, &[], &[0; 8])).unwrap()).unwrap_err()
}

fn alice_() -> std::net::Ipv6Addr {
    alice()
}

fn replayed() -> InboundError {
    let (mut alice, mut bob): (Host, Host) = pair(MODE, ModeKind::Transport, false);
    let packet = alice.send(&reading()).unwrap();
    bob.receive(&packet).unwrap();
    bob.receive(&packet).unwrap_err()
}

/// What a host says to an authentic packet that its policy does not give to the association.
fn elsewhere() -> InboundError {
    let mut bob = Host::new();
    protect(&mut bob, MODE, false, ModeKind::Transport, false);
    bob.ipsec.add_policy(Policy { selector: Selector::ANY, action: Action::Bypass }).unwrap();
    bob.receive(&protecting(MODE).send(&reading()).unwrap()).unwrap_err()
}

#[test]
fn each_reason_for_a_packet_not_to_come_in_is_told() {
    let [inner_packet, not_tunnelled, tunnel_end] = through_a_tunnel();
    let longer_ah = changed("ah:xcbc", |packet| {
        packet[41] += 1;
        packet.splice(76..76, [0; 4]);
    });
    let said = [
        said(MODE, &reading()[..40]),
        said(MODE, &endless()),
        said(MODE, &routed()),
        said(MODE, &changed(MODE, |packet| packet.truncate(40 + 12))),
        said("ah:xcbc", &longer_ah),
        said("esp:cbc-xcbc", &changed("esp:cbc-xcbc", |packet| packet.push(0))),
        said(MODE, &padded()),
        not_joint(),
        inner_packet,
        said(MODE, &changed(MODE, |packet| packet[43] ^= 1)),
        said(MODE, &changed(MODE, |packet| packet[60] ^= 1)),
        replayed(),
        expired().receive(&protecting(MODE).send(&reading()).unwrap()).unwrap_err(),
        with_policy(Action::Discard).receive(&reading()).unwrap_err(),
        Host::new().receive(&reading()).unwrap_err(),
        said(MODE, &reading()),
        elsewhere(),
        nested(),
        not_tunnelled,
        tunnel_end,
        dummy(),
    ];
    assert_eq!(said, InboundError::ALL);
}

#[test]
fn the_first_refusal_since_the_last_event_is_told() {
    let mut host = with_policy(Action::Discard);
    assert_eq!(host.ipsec.poll_event(), None);
    let told = [
        (host.send(&reading()).is_err(), Refusal::Outbound(OutboundError::Discarded)),
        (host.receive(&endless()).is_err(), Refusal::Inbound(InboundError::HeaderChain)),
    ];
    assert!(told.iter().all(|(is_refused, _)| *is_refused));
    assert_eq!(host.ipsec.poll_event(), Some(Event::Refused(told[0].1)));
    assert_eq!(host.ipsec.poll_event(), None);
    let (ipsec, mut cx) = host.cx();
    assert!(!ipsec.admits(&mut cx, &reading()));
    assert_eq!(ipsec.poll_event(), Some(Event::Refused(Refusal::Inbound(InboundError::Discarded))));
}

#[test]
fn a_packet_that_its_buffer_does_not_hold_is_counted_and_told() {
    let mut host = with_policy(Action::Bypass);
    let (ipsec, mut cx) = host.cx();
    assert_eq!(ipsec.outbound_in(&mut cx, &mut reading(), 4000), Err(OutboundError::NoRoom));
    assert_eq!(ipsec.poll_event(), Some(Event::Refused(Refusal::Outbound(OutboundError::NoRoom))));
    assert_eq!(host.rig.counters.get(Counter::IpsecNotProtected), 1);
}

#[test]
fn reasons_have_names_of_their_own() {
    let outbound = OutboundError::ALL.iter().map(|reason| reason.name());
    let inbound = InboundError::ALL.iter().map(|reason| reason.name());
    for names in [outbound.collect::<Vec<_>>(), inbound.collect()] {
        for (n, name) in names.iter().enumerate() {
            assert!(!names[..n].contains(name), "{name}");
        }
    }
}
