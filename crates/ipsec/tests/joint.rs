//! Joint mode: the header of UDP, compressed under ESP.

use proptest::prelude::*;
use sixlock_base::Counter;
use sixlock_ipsec::{Action, InboundError, OutboundError, Protection};
use sixlock_ipv6::next_header::{DESTINATION, TCP, UDP};
use sixlock_ipv6::udp;
use sixlock_testing::ipsec::*;

const SUITES: [&str; 6] =
    ["esp:ctr-xcbc", "esp:cbc-hmac-sha1", "esp:null-xcbc", "esp:gcm-implicit", "esp:ccm-8", "esp:ctr"];

fn host(suite: &str, is_alice: bool, way: ModeKind, joint: bool) -> Host {
    let (near, far) = if is_alice { (outer_alice(), outer_bob()) } else { (outer_bob(), outer_alice()) };
    let (inbound, outbound) = if is_alice { (1, 2) } else { (2, 1) };
    let association = |seed: u8| {
        let transform = transform(suite, seed);
        let transform = if joint { transform.joint() } else { transform };
        association(0x1000 + u32::from(seed), way.mode(near, far), false, transform)
    };
    let mut host = Host::new();
    let protection = Protection {
        unauthenticated: true,
        ..Protection::by(
            host.ipsec.add_outbound(association(outbound)).unwrap(),
            host.ipsec.add_inbound(association(inbound)).unwrap(),
        )
    };
    host.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
    host
}

fn hosts(suite: &str, way: ModeKind, joint: bool) -> (Host, Host) {
    (host(suite, true, way, joint), host(suite, false, way, joint))
}

fn between(ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0; udp::Header::LEN];
    datagram.extend(payload);
    let header = udp::Header { source_port: ports.0, destination_port: ports.1 };
    header.emit(alice(), bob(), &mut datagram).unwrap();
    packet(alice(), bob(), UDP, &[], &datagram)
}

/// What is sent of packets with these ports and 0 to 15 bytes, so that padding counts the same, in all.
fn sent(suite: &str, joint: bool, ports: (u16, u16)) -> usize {
    let (mut near, mut far) = hosts(suite, ModeKind::Transport, joint);
    let lengths = (0..16).map(|n| {
        let plain = between(ports, &[7; 16][..n]);
        let protected = near.send(&plain).unwrap();
        assert_eq!(far.receive(&protected), Ok(plain));
        protected.len()
    });
    lengths.sum()
}

#[test]
fn a_datagram_is_shorter_by_what_its_header_is() {
    for suite in SUITES {
        // Without an ICV the checksum stays.
        let checksum = if suite == "esp:ctr" { 2 } else { 0 };
        for (ports, header) in
            [((5683, 5683), 5), ((5683, 0xf012), 4), ((0xf0b7, 5683), 4), ((0xf0b1, 0xf0b2), 2)]
        {
            let saved = sent(suite, false, ports) - sent(suite, true, ports);
            assert_eq!(saved, 16 * (8 - header - checksum), "{suite} {ports:?}");
        }
    }
}

#[test]
fn a_packet_that_begins_with_its_buffer_is_protected_alike() {
    for suite in SUITES {
        let plain = between((5683, 5683), b"reading");
        let expected = hosts(suite, ModeKind::Transport, true).0.send(&plain).unwrap();
        let (mut near, _) = hosts(suite, ModeKind::Transport, true);
        let mut buffer = [&plain[..], &[0; 64]].concat();
        let (ipsec, mut cx) = near.cx();
        let len = ipsec.outbound_in(&mut cx, &mut buffer, plain.len()).unwrap();
        assert_eq!(buffer[..len], expected, "{suite}");
    }
}

#[test]
fn headers_before_the_datagram_stay() {
    let chain = [0, 0, 0x63, 4, 0x80, 0, 1, 0];
    let upper = datagram(alice(), bob(), b"reading");
    let plain = packet(alice(), bob(), 0, &[&[UDP], &chain[1..]].concat(), &upper);
    let (mut near, mut far) = hosts("esp:ctr-xcbc", ModeKind::Transport, true);
    let protected = near.send(&plain).unwrap();
    assert_eq!(protected[41..48], chain[1..]);
    assert_eq!(far.receive(&protected), Ok(plain));
}

#[test]
fn what_could_not_be_restored_is_not_sent() {
    let (mut near, _) = hosts("esp:ctr-xcbc", ModeKind::Transport, true);
    let mut longer = between((5683, 5683), b"reading");
    longer[45] += 1;
    let short = packet(alice(), bob(), UDP, &[], &[0; 7]);
    for wrong in [longer, short] {
        assert_eq!(near.send(&wrong), Err(OutboundError::HeaderChain));
    }
}

#[test]
fn who_is_not_in_joint_mode_is_not_understood() {
    let (mut near, _) = hosts("esp:ctr-xcbc", ModeKind::Transport, false);
    let (_, mut far) = hosts("esp:ctr-xcbc", ModeKind::Transport, true);
    let protected = near.send(&between((5683, 5683), b"reading")).unwrap();
    assert_eq!(far.receive(&protected), Err(InboundError::CompressedUdp));
    assert_eq!(far.count(Counter::IpsecMalformed), 1);
}

proptest! {
    #[test]
    fn any_datagram_arrives_as_it_was(
        suite in prop::sample::select(SUITES.to_vec()), ports in prop_oneof![any::<(u16, u16)>(), (0xf0a0..0xf0d0u16, 0xf0a0..0xf0d0u16)],
        payload in prop::collection::vec(any::<u8>(), 0..200), sum in prop_oneof![3 => Just(0u16), 1 => any::<u16>()],
    ) {
        let (mut near, mut far) = hosts(suite, ModeKind::Transport, true);
        let mut plain = between(ports, &payload);
        // Whether its checksum is right or not.
        plain[46] ^= (sum >> 8) as u8;
        plain[47] ^= sum as u8;
        let protected = near.send(&plain).unwrap();
        prop_assert_eq!(far.receive(&protected), Ok(plain));
        if suite != "esp:ctr" {
            let mut flipped = near.send(&between(ports, &payload)).unwrap();
            *flipped.last_mut().unwrap() ^= 1;
            prop_assert!(far.receive(&flipped).is_err());
        }
    }

    #[test]
    fn what_is_no_datagram_and_what_goes_through_a_tunnel_is_carried_as_without(
        suite in prop::sample::select(SUITES.to_vec()), payload in prop::collection::vec(any::<u8>(), 0..100),
        kind in prop::sample::select(vec![TCP, DESTINATION]), is_tunnel: bool,
    ) {
        let upper = datagram(alice(), bob(), &payload);
        let plain = match (is_tunnel, kind) {
            (true, _) => packet(alice(), bob(), UDP, &[], &upper),
            (_, DESTINATION) => packet(alice(), bob(), DESTINATION, &[UDP, 0, 1, 4, 0, 0, 0, 0], &upper),
            _ => packet(alice(), bob(), TCP, &[], &payload),
        };
        let way = if is_tunnel { ModeKind::Tunnel } else { ModeKind::Transport };
        let (mut near, mut far) = hosts(suite, way, true);
        let protected = near.send(&plain).unwrap();
        prop_assert_eq!(protected.len(), hosts(suite, way, false).0.send(&plain).unwrap().len());
        prop_assert_eq!(far.receive(&protected), Ok(plain));
    }

    #[test]
    fn any_bytes_under_esp_are_restored_or_refused(payload in prop::collection::vec(any::<u8>(), 0..40), compressed: bool) {
        let (mut near, _) = hosts("esp:ctr-xcbc", ModeKind::Transport, false);
        let (_, mut far) = hosts("esp:ctr-xcbc", ModeKind::Transport, true);
        let mut upper = payload;
        if let (true, Some(first)) = (compressed, upper.first_mut()) {
            *first |= 0xf0;
            *first &= 0xf7;
        }
        let protected = near.send(&packet(alice(), bob(), UDP, &[], &upper)).unwrap();
        if let Ok(restored) = far.receive(&protected) {
            prop_assert_eq!(usize::from(u16::from_be_bytes([restored[44], restored[45]])), restored.len() - 40);
        }
    }
}
