//! IPsec with scapy on the other side: each takes what the other has protected, and refuses what was altered.

use std::net::Ipv6Addr;

use sixlock_interop::{Scapy, from_hex, to_hex};
use sixlock_testing::ipsec::*;

const PEER: &str = "peer.py";

/// The suites of which scapy has the parts; AES-XCBC-MAC is added to it, by eight lines over its AES.
fn common() -> impl Iterator<Item = String> {
    suites().into_iter().filter(|suite| !suite.ends_with("implicit"))
}

/// What scapy makes of `packet`, unless it refuses it.
fn ask(
    scapy: &mut Scapy,
    verb: &str,
    suite: &str,
    way: ModeKind,
    number: u64,
    packet: &[u8],
) -> Option<Vec<u8>> {
    let mode = if way == ModeKind::Transport { "transport" } else { "tunnel" };
    let extended = if number >> 32 == 0 { "short" } else { "extended" };
    let answer = scapy.ask(&format!("{verb} {suite} {mode} {extended} {number} {}", to_hex(packet)));
    if answer.starts_with("refused") {
        return None;
    }
    Some(from_hex(&answer).unwrap_or_else(|| panic!("{answer}")))
}

/// A packet from Bob to Alice, with a traffic class of zero, which scapy keeps.
fn answer(payload: &[u8]) -> Vec<u8> {
    packet(bob(), alice(), 17, &[], &datagram(bob(), alice(), payload))
}

/// A packet whose hop-by-hop option changes on the way and whose destination options do not.
fn with_options(source: Ipv6Addr, destination: Ipv6Addr) -> Vec<u8> {
    // An option of no name: of those that it knows, scapy does not zero the data.
    let mut chain = vec![60, 0, 0x3e, 4, 0x80, 0, 1, 0];
    chain.extend([17, 1, 0x1e, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    packet(source, destination, 0, &chain, &datagram(source, destination, b"options"))
}

/// A packet with a source route of two more hops.
fn with_route() -> Vec<u8> {
    let mut chain = vec![17, 4, 0, 2, 0, 0, 0, 0];
    chain.extend(outer_alice().octets());
    chain.extend(bob().octets());
    packet(alice(), outer_bob(), 43, &chain, &datagram(alice(), bob(), b"a route"))
}

#[test]
fn the_same_of_a_packet_with_options_is_authenticated() {
    let mut scapy = Scapy::start(PEER);
    for suite in ["ah:xcbc", "ah:hmac-sha256", "esp:ctr-xcbc"] {
        let (mut near, _): (Host, Host) = pair(suite, ModeKind::Transport, false);
        let plain = with_options(alice(), bob());
        let mut protected = near.send(&plain).unwrap();
        protected[44..48].fill(0xee);
        let opened = ask(&mut scapy, "open", suite, ModeKind::Transport, 1, &protected).unwrap();
        assert_eq!(opened[40..44], plain[40..44]);
        assert_eq!(opened[48..], plain[48..], "{suite}");
        protected[50] ^= 1;
        if suite.starts_with("ah") {
            assert_eq!(ask(&mut scapy, "open", suite, ModeKind::Transport, 1, &protected), None);
        }

        let plain = with_options(bob(), alice());
        let protected = ask(&mut scapy, "seal", suite, ModeKind::Transport, 1, &plain).unwrap();
        assert_eq!(near.receive(&protected), Ok(plain), "{suite}");
    }
}

#[test]
fn scapy_predicts_the_end_of_a_source_route_as_we_do() {
    let mut scapy = Scapy::start(PEER);
    let (mut near, _): (Host, Host) = pair("ah:hmac-sha1", ModeKind::Transport, false);
    let mut protected = near.send(&with_route()).unwrap();
    // Both hops swap the destination with the next address.
    protected[24..40].copy_from_slice(&bob().octets());
    protected[48..64].copy_from_slice(&outer_bob().octets());
    protected[64..80].copy_from_slice(&outer_alice().octets());
    protected[43] = 0;
    let opened = ask(&mut scapy, "open", "ah:hmac-sha1", ModeKind::Transport, 1, &protected).unwrap();
    assert!(opened.ends_with(b"a route"));
}

#[test]
fn extended_sequence_numbers_are_authenticated_alike() {
    let mut scapy = Scapy::start(PEER);
    for suite in ["ah:hmac-sha1", "esp:cbc-hmac-sha256", "esp:gcm", "esp:ccm-8"] {
        let (mut near, _): (Host, Host) = pair(suite, ModeKind::Transport, true);
        // The first number beyond 32 bits.
        near.skip_to(1 << 22);
        let plain = udp_packet(b"reading");
        let protected = near.send(&plain).unwrap();
        assert_eq!(
            ask(&mut scapy, "open", suite, ModeKind::Transport, 1 << 32, &protected),
            Some(plain),
            "{suite}"
        );
        assert_eq!(ask(&mut scapy, "open", suite, ModeKind::Transport, 2 << 32, &protected), None, "{suite}");
    }
}

#[test]
fn scapy_opens_what_we_protect_and_refuses_a_flipped_bit() {
    let mut scapy = Scapy::start(PEER);
    for suite in common() {
        for way in ModeKind::BOTH {
            let (mut alice, _): (Host, Host) = pair(&suite, way, false);
            for (number, length) in [0, 1, 17, 64, 1000].into_iter().enumerate() {
                let plain = udp_packet(&vec![length as u8; length]);
                let mut protected = alice.send(&plain).unwrap();
                let number = number as u64 + 1;
                let opened = ask(&mut scapy, "open", &suite, way, number, &protected);
                assert_eq!(opened.as_ref(), Some(&plain), "{suite} {way:?} {length}");
                *protected.last_mut().unwrap() ^= 1;
                assert_eq!(ask(&mut scapy, "open", &suite, way, number, &protected), None, "{suite} {way:?}");
            }
        }
    }
}

#[test]
fn we_open_what_scapy_protects_and_refuse_a_flipped_bit() {
    let mut scapy = Scapy::start(PEER);
    for suite in common() {
        for way in ModeKind::BOTH {
            let (mut alice, _): (Host, Host) = pair(&suite, way, false);
            for (number, length) in [0, 1, 17, 64, 1000].into_iter().enumerate() {
                let plain = answer(&vec![length as u8; length]);
                let protected = ask(&mut scapy, "seal", &suite, way, number as u64 + 1, &plain).unwrap();
                let mut flipped = protected.clone();
                *flipped.last_mut().unwrap() ^= 1;
                assert!(alice.receive(&flipped).is_err(), "{suite} {way:?}");
                assert_eq!(alice.receive(&protected), Ok(plain), "{suite} {way:?} {length}");
                assert!(alice.receive(&protected).is_err(), "a replay: {suite} {way:?}");
            }
        }
    }
}
