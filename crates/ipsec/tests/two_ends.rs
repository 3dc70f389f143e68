//! Two ends against each other, with every suite.

use proptest::prelude::*;
use sixlock_base::{Counter, EspSuite, NetworkSuite, NvSlot};
use sixlock_crypto::Soft;
use sixlock_ipsec::suite::{AnyEsp, EspAlgorithm, EspPacket};
use sixlock_ipsec::{Action, InboundError, OutboundError, SequenceNumber};
use sixlock_testing::ipsec::*;

#[test]
fn what_one_end_protects_the_other_opens_with_every_suite_in_both_modes() {
    for suite in suites() {
        for way in ModeKind::BOTH {
            for extended in [false, true] {
                let (mut alice, mut bob): (Host, Host) = pair(&suite, way, extended);
                for length in (0..80).chain([500, 1000, 1232]) {
                    let plain = udp_packet(&vec![length as u8; length]);
                    let protected = alice.send(&plain).unwrap();
                    if !suite.starts_with("ah") && !suite.contains("null") && length > 15 {
                        assert!(!protected.windows(8).any(|bytes| bytes == [length as u8; 8]), "{suite}");
                    }
                    assert_eq!(bob.receive(&protected), Ok(plain.clone()), "{suite} {way:?} {length}");
                    assert_eq!(bob.receive(&protected), Err(InboundError::Replayed), "{suite}");
                }
                assert_eq!(bob.count(Counter::IpsecReplayed), 83);
            }
        }
    }
}

#[test]
fn what_is_refused_for_its_icv_is_not_left_in_the_clear() {
    for suite in
        [EspSuite::CtrXcbc, EspSuite::CtrCmac, EspSuite::CtrHmacSha1, EspSuite::CbcXcbc, EspSuite::Ccm8]
    {
        let key = vec![5; NetworkSuite::Esp(suite).key_len()];
        let suite_with_key = AnyEsp::<Soft>::new(&mut Soft, suite, &key).unwrap();
        let mut bytes = vec![9; 8 + EspAlgorithm::<Soft>::iv_len(&suite_with_key) + 96];
        let icv = bytes.len();
        bytes.resize(icv + EspAlgorithm::<Soft>::icv_len(&suite_with_key), 0);
        let number = SequenceNumber::new(0, 1);
        let packet = EspPacket::new(&suite_with_key, &mut bytes, number, true).unwrap();
        suite_with_key.seal(&mut Soft, packet);
        for (flip, opens) in [(0, true), (1, false)] {
            let mut received = bytes.clone();
            received[icv] ^= flip;
            let packet = EspPacket::new(&suite_with_key, &mut received, number, true).unwrap();
            assert_eq!(suite_with_key.open(&mut Soft, packet).is_ok(), opens, "{suite:?}");
            let payload = &received[icv - 96..icv];
            assert_eq!(payload.windows(4).any(|bytes| bytes == [9; 4]), opens, "{suite:?}");
        }
    }
}

#[test]
fn sizes_are_those_that_the_rfcs_compute_to() {
    for (suite, overhead) in [
        ("ah:xcbc", 24),
        ("ah:hmac-sha256", 32),
        // Header, initialization vector, pad length and next header; the ICV. 22 bytes and these two fill blocks of 4.
        ("esp:ctr", 18),
        ("esp:ctr-xcbc", 30),
        ("esp:null-xcbc", 22),
        ("esp:gcm", 34),
        ("esp:ccm-8", 26),
        ("esp:ccm-8-implicit", 18),
    ] {
        let (mut alice, _): (Host, Host) = unauthenticated_pair(suite);
        let plain = udp_packet(&[0; 14]);
        assert_eq!(alice.send(&plain).unwrap().len() - plain.len(), overhead, "{suite}");
    }
    // 8 + 22 bytes and two are two blocks of 16.
    for (suite, overhead) in [("esp:cbc", 26), ("esp:cbc-xcbc", 38)] {
        let (mut alice, _): (Host, Host) = unauthenticated_pair(suite);
        let plain = udp_packet(&[0; 22]);
        assert_eq!(alice.send(&plain).unwrap().len() - plain.len(), overhead, "{suite}");
    }
}

/// The same as `pair`, and suites without authentication are permitted.
fn unauthenticated_pair(suite: &str) -> (Host, Host) {
    let [alice, bob] = [true, false].map(|is_alice| {
        let mut host = Host::new();
        let mut protection = protect(&mut host, suite, is_alice, ModeKind::Transport, false);
        protection.unauthenticated = true;
        host.ipsec.add_policy(policy(Action::Protect(protection))).unwrap();
        host
    });
    (alice, bob)
}

#[test]
fn encryption_alone_accepts_what_it_cannot_tell_from_the_peer() {
    let (mut alice, mut bob) = unauthenticated_pair("esp:ctr");
    let plain = udp_packet(b"reading");
    let mut protected = alice.send(&plain).unwrap();
    assert_eq!(bob.receive(&protected), Ok(plain.clone()));
    assert_eq!(bob.receive(&protected), Ok(plain.clone()), "a replay");
    let at = plain.len() + 16 - 1;
    protected[at] ^= 1;
    let forged = bob.receive(&protected).unwrap();
    assert_eq!(forged.last(), Some(&(b'g' ^ 1)));
}

#[test]
fn every_flipped_bit_is_noticed_and_nothing_of_the_packet_is_let_in() {
    for suite in suites() {
        for way in ModeKind::BOTH {
            let (mut alice, mut bob): (Host, Host) = pair(&suite, way, true);
            let protected = alice.send(&udp_packet(b"23 degrees")).unwrap();
            // Of the outermost header, only what AH covers, and where the packet goes, is authenticated.
            let start = if suite.starts_with("ah") { 0 } else { 40 };
            for bit in start * 8..protected.len() * 8 {
                let (byte, mask) = (bit / 8, 0x80 >> (bit % 8));
                let changes_on_the_way = matches!((byte, mask), (0, ..0x10) | (1..4, _) | (7, _));
                if changes_on_the_way {
                    continue;
                }
                let mut flipped = protected.clone();
                flipped[byte] ^= mask;
                assert!(bob.receive(&flipped).is_err(), "{suite} {way:?}: bit {bit}");
            }
            for length in 0..protected.len() {
                assert!(bob.receive(&protected[..length]).is_err(), "{suite} {way:?}: {length} bytes");
                // Shorter, and honest about it.
                if let Some(payload) = length.checked_sub(40) {
                    let mut cut = protected[..length].to_vec();
                    cut[4..6].copy_from_slice(&(payload as u16).to_be_bytes());
                    assert!(bob.receive(&cut).is_err(), "{suite} {way:?}: {length} bytes, as it says");
                }
            }
            let dropped = [
                Counter::IpsecMalformed,
                Counter::IpsecNoAssociation,
                Counter::IpsecBadIcv,
                Counter::IpsecReplayed,
                Counter::IpsecPolicyViolated,
            ];
            let counted: u32 = dropped.map(|counter| bob.count(counter)).iter().sum();
            let skipped = if start == 0 { 4 + 24 + 8 } else { 0 };
            let tried = protected.len() * 8 - start * 8 - skipped + 2 * protected.len() - 40;
            assert_eq!(counted as usize, tried, "{suite} {way:?}: each was counted");
            assert!(bob.receive(&protected).is_ok(), "{suite} {way:?}: forgeries do not move the window");
        }
    }
}

#[test]
fn another_hosts_keys_do_not_fit() {
    for suite in suites() {
        let (mut alice, _): (Host, Host) = pair(&suite, ModeKind::Transport, false);
        let mut bob = Host::new();
        let inbound = association(0x2002, sixlock_ipsec::Mode::Transport, false, transform(&suite, 77));
        bob.ipsec.add_inbound(inbound).unwrap();
        let protected = alice.send(&udp_packet(b"reading")).unwrap();
        assert_eq!(bob.receive(&protected), Err(InboundError::BadIcv), "{suite}");
        assert_eq!(bob.count(Counter::IpsecBadIcv), 1);
    }
}

#[test]
fn two_directions_do_not_open_each_others_packets() {
    let (mut alice, _): (Host, Host) = pair("esp:ctr-xcbc", ModeKind::Transport, false);
    let protected = alice.send(&udp_packet(b"reading")).unwrap();
    assert_eq!(alice.receive(&protected), Err(InboundError::NoAssociation), "a reflection");
}

/// What the window lets in when all packets come, but in another order.
fn reordered<const WINDOW: usize>(extended: bool, start: u32, before: usize) {
    let (mut alice, mut bob) = pair::<WINDOW>("esp:ctr-hmac-sha1", ModeKind::Transport, extended);
    alice.skip_to(start);
    for _ in 0..before {
        bob.receive(&alice.send(&udp_packet(b"earlier")).unwrap()).unwrap();
    }
    let size = WINDOW * 8;
    let packets: Vec<_> = (0..2 * size).map(|n| alice.send(&udp_packet(&n.to_be_bytes())).unwrap()).collect();
    let (early, late) = packets.split_at(size);
    for packet in late.iter().rev() {
        assert!(bob.receive(packet).is_ok(), "in the window");
    }
    for packet in late {
        assert_eq!(bob.receive(packet), Err(InboundError::Replayed), "known");
    }
    // Of an extended number before the window, the high half is taken for the next.
    let expected = if extended { InboundError::BadIcv } else { InboundError::Replayed };
    for packet in early {
        assert_eq!(bob.receive(packet), Err(expected), "older than the window");
    }
}

#[test]
fn the_window_lets_reordered_packets_in_once_and_older_ones_never() {
    for extended in [false, true] {
        reordered::<8>(extended, 0, 0);
        reordered::<128>(extended, 0, 0);
    }
    // Half of the packets before 2^32, half of them after it.
    reordered::<8>(true, (1 << 22) - 1, 1024 - 64);
}

#[test]
fn numbers_cross_2_to_the_16_and_2_to_the_32_without_loss() {
    for suite in ["ah:xcbc", "esp:ctr-xcbc", "esp:gcm-implicit", "esp:cbc-hmac-sha256", "esp:ccm-8"] {
        for block in [63, (1 << 22) - 2] {
            let (mut alice, mut bob) = pair::<128>(suite, ModeKind::Transport, true);
            alice.skip_to(block);
            // The receiver has heard of the sender before.
            for n in 0..2500u32 {
                let plain = udp_packet(&n.to_be_bytes());
                let protected = alice.send(&plain).unwrap();
                assert_eq!(bob.receive(&protected), Ok(plain), "{suite} {block} {n}");
            }
        }
    }
}

#[test]
fn short_numbers_end_before_they_repeat() {
    let (mut alice, mut bob): (Host, Host) = pair("esp:gcm", ModeKind::Transport, false);
    alice.skip_to((1 << 22) - 1);
    let plain = udp_packet(b"reading");
    for _ in 0..1023 {
        bob.receive(&alice.send(&plain).unwrap()).unwrap();
    }
    assert_eq!(alice.send(&plain), Err(OutboundError::SequenceExhausted));
    assert_eq!(alice.count(Counter::IpsecNotProtected), 1);
}

#[test]
fn a_reboot_at_any_point_repeats_no_packet() {
    let mut seen = std::collections::BTreeSet::new();
    let mut nv = 0;
    for boot in 0..20 {
        let (mut alice, _): (Host, Host) = pair("esp:ctr-xcbc", ModeKind::Transport, false);
        alice.skip_to(nv);
        for _ in 0..boot * 97 {
            // The same packet, but for its number, under the same key.
            assert!(seen.insert(alice.send(&udp_packet(b"reading")).unwrap()));
        }
        nv = alice.rig.nv.next(NvSlot::IpsecSequence);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_refused_and_never_panic(
        suite in prop::sample::select(suites()), mut bytes in prop::collection::vec(any::<u8>(), 0..200), shaped: bool,
        first in prop::sample::select(vec![0u8, 43, 44, 50, 51, 60, 17]), spi: bool,
    ) {
        let (_, mut bob): (Host, Host) = pair(&suite, ModeKind::Transport, false);
        if shaped && bytes.len() >= 60 {
            let payload = (bytes.len() - 40) as u16;
            bytes[0] = 0x60;
            bytes[4..6].copy_from_slice(&payload.to_be_bytes());
            bytes[6] = first;
            bytes[24] = 0xfd;
            if spi {
                let at = if first == 51 { 44 } else { 40 };
                bytes[at..at + 4].copy_from_slice(&0x2002u32.to_be_bytes());
            }
        }
        prop_assert!(bob.receive(&bytes).is_err());
    }

    #[test]
    fn what_is_sent_arrives(
        suite in prop::sample::select(suites()), way in prop::sample::select(ModeKind::BOTH.to_vec()), extended: bool,
        payload in prop::collection::vec(any::<u8>(), 0..1232),
    ) {
        let (mut alice, mut bob): (Host, Host) = pair(&suite, way, extended);
        let plain = udp_packet(&payload);
        prop_assert_eq!(bob.receive(&alice.send(&plain).unwrap()), Ok(plain));
    }
}
