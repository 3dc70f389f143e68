//! What link security must hold against: forged, altered and repeated frames, and reboots.

use std::collections::BTreeSet;

use crate::air::{Air, Station, config, with_fcs};
use proptest::prelude::*;
use sixlock_base::{Counter, Eui64, LinkSuite, NvError, NvSlot, Symbols};
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Soft, Tag};
use sixlock_ieee802154::Header;
use sixlock_mac::{BROADCAST, SendError};
use sixlock_testing::Ranges;

const SUITES: &[LinkSuite] = LinkSuite::ALL;
const AT: Symbols = Symbols::new(0);

/// The frames, FCS included, that node `from` sends to `to` for these payloads.
fn frames(from: u32, suite: Option<LinkSuite>, to: Eui64, payloads: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut air = Air::new(1, suite, 0, from);
    air.stations[0] = Station::new(config(from, suite), from);
    air.stations[0].config.ack = false;
    for payload in payloads {
        air.send(0, to, payload).unwrap();
        air.run();
    }
    let mut frames: Vec<_> = air.sent.into_iter().map(|sent| sent.frame).collect();
    frames.dedup();
    frames
}

fn frame(from: u32, suite: Option<LinkSuite>) -> Vec<u8> {
    frames(from, suite, Eui64::of_node(0), &[b"secret reading"]).remove(0)
}

fn receiver(suite: Option<LinkSuite>) -> Station {
    Station::new(config(0, suite), 1)
}

#[test]
fn a_payload_is_on_the_air_only_where_there_is_a_mac_alone() {
    for &suite in SUITES {
        let frame = frame(1, Some(suite));
        let clear = matches!(suite, LinkSuite::CbcMac32 | LinkSuite::CbcMac64 | LinkSuite::CbcMac128);
        assert_eq!(frame.windows(6).any(|window| window == b"secret"), clear, "{}", suite.name());
        assert_eq!(receiver(Some(suite)).frame(AT, &mut frame.clone()).unwrap().2, b"secret reading");
    }
}

#[test]
fn frames_from_before_a_reboot_are_refused_once_their_counters_are_handed_back() {
    let suite = Some(LinkSuite::Ccm64);
    let payloads: [&[u8]; 4] = [b"first", b"second", b"third", b"after the reboot"];
    let [ours, others] = [1, 2].map(|from| frames(from, suite, Eui64::of_node(0), &payloads));
    let mut station = receiver(suite);
    assert_eq!(station.mac.latest_frame_counter(), None);
    let mut kept = std::collections::BTreeMap::new();
    for mut frame in ours[..3].iter().chain(&others[..3]).cloned() {
        assert!(station.frame(AT, &mut frame).is_some());
        kept.extend(station.mac.latest_frame_counter());
        // What is refused changes nothing.
        assert!(station.frame(AT, &mut ours[0].clone()).is_none());
        kept.extend(station.mac.latest_frame_counter());
    }
    assert_eq!(kept.len(), 2);

    station.reboot();
    assert!(station.frame(AT, &mut ours[0].clone()).is_some(), "nothing is known of who sent it");
    station.reboot();
    for (&neighbour, &counter) in &kept {
        assert!(station.mac.restore_frame_counter(neighbour, counter));
        // An older one does not set it back.
        assert!(station.mac.restore_frame_counter(neighbour, counter - 1));
    }
    for frame in ours[..3].iter().chain(&others[..3]) {
        assert!(station.frame(AT, &mut frame.clone()).is_none());
    }
    assert_eq!(station.count(Counter::MacReplayed) + station.count(Counter::MacDuplicate), 6 + 6);
    for frame in [&ours[3], &others[3]] {
        assert_eq!(station.frame(AT, &mut frame.clone()).unwrap().2, b"after the reboot");
    }
    // There is room for four, of whom none is forgotten for a fifth.
    assert!([3, 4].map(Eui64::of_node).into_iter().all(|node| station.mac.restore_frame_counter(node, 0)));
    assert!(!station.mac.restore_frame_counter(Eui64::of_node(5), 0));
}

#[test]
fn without_link_security_there_are_no_counters_to_keep() {
    let mut station = receiver(None);
    assert!(station.frame(AT, &mut frame(1, None)).is_some());
    assert_eq!(station.mac.latest_frame_counter(), None);
}

#[test]
fn no_bit_of_a_frame_with_a_mic_can_be_flipped() {
    for &suite in SUITES.iter().filter(|suite| suite.authenticates()) {
        let frame = frame(1, Some(suite));
        let mut station = receiver(Some(suite));
        for bit in 0..(frame.len() - 2) * 8 {
            let mut altered = frame.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(station.frame(AT, &mut with_fcs(altered)), None, "bit {bit}");
        }
        assert!(station.count(Counter::MacBadMic) > 14 * 8);
        // None of it has harmed the frame itself.
        assert!(station.frame(AT, &mut frame.clone()).is_some());
    }
}

#[test]
fn encryption_alone_lets_who_knows_a_payload_change_it() {
    let mut forged = frame(1, Some(LinkSuite::Ctr));
    let plain = frame(1, None);
    assert_eq!(forged.len(), plain.len() + 6, "an auxiliary header, and nothing else");
    // The payload's first byte, from s to S.
    let at = forged.len() - 2 - b"secret reading".len();
    forged[at] ^= b's' ^ b'S';
    let received = receiver(Some(LinkSuite::Ctr)).frame(AT, &mut with_fcs(forged)).unwrap();
    assert_eq!(received.2, b"Secret reading");
}

#[test]
fn a_secured_frame_cannot_be_shortened() {
    let frame = frame(1, Some(LinkSuite::Ccm64));
    let mut station = receiver(Some(LinkSuite::Ccm64));
    for len in 2..frame.len() {
        assert_eq!(station.frame(AT, &mut with_fcs(frame[..len].to_vec())), None);
    }
}

#[test]
fn a_frame_is_delivered_once_whenever_it_is_replayed() {
    for &suite in SUITES {
        let to = [Eui64::of_node(0), BROADCAST];
        for to in to {
            let sent = frames(1, Some(suite), to, &[b"first", b"second", b"third"]);
            assert_eq!(sent.len(), 3);
            let mut station = receiver(Some(suite));
            let at = |n: usize| Symbols::new(n as u32 * 1_000_000);
            assert!(station.frame(at(0), &mut sent[0].clone()).is_some());
            // The second is overtaken by the third: later it is as good as replayed.
            assert!(station.frame(at(1), &mut sent[2].clone()).is_some());
            for n in 2..300 {
                assert_eq!(station.frame(at(n), &mut sent[n % 3].clone()), None);
            }
            assert!(station.count(Counter::MacReplayed) >= 198);
            assert_eq!(station.count(Counter::MacReplayed) + station.count(Counter::MacDuplicate), 298);
        }
    }
}

#[test]
fn a_replayed_frame_with_another_sequence_number_is_still_a_replay() {
    let sent = frame(1, Some(LinkSuite::Ccm64));
    let mut station = receiver(Some(LinkSuite::Ccm64));
    assert!(station.frame(AT, &mut sent.clone()).is_some());
    let mut altered = sent;
    altered[2] ^= 0xff;
    assert_eq!(station.frame(AT, &mut with_fcs(altered)), None);
    assert_eq!(station.count(Counter::MacReplayed), 1);
}

#[test]
fn the_last_frame_counter_is_refused_even_if_authentic() {
    let suite = Some(LinkSuite::Ccm64);
    for (counter, accepted) in [(u32::MAX, false), (u32::MAX - 1, true)] {
        let mut frame = frame(1, suite);
        let (mut header, len) = Header::parse(&frame).unwrap();
        header.security.as_mut().unwrap().frame_counter = counter;
        header.emit(&mut frame[..len]).unwrap();
        let mut nonce = [0; 13];
        nonce[..8].copy_from_slice(&Eui64::of_node(1).0);
        nonce[8..12].copy_from_slice(&counter.to_be_bytes());
        nonce[12] = 6;
        let mut tag = Tag::empty(CcmTag::Eight);
        let key = Soft.aes_128(b"one key for all.");
        let end = frame.len() - 2 - 8;
        let (header, payload) = frame[..end].split_at_mut(len);
        Soft.ccm_seal(&key, CcmNonce::Thirteen(&nonce), header, payload, &mut tag);
        frame[end..end + 8].copy_from_slice(tag.bytes());
        let mut station = receiver(suite);
        assert_eq!(station.frame(AT, &mut with_fcs(frame)).is_some(), accepted);
        assert_eq!(station.count(Counter::MacReplayed), u32::from(!accepted));
    }
}

#[test]
fn a_refused_frame_does_not_move_the_frame_counter() {
    let suite = Some(LinkSuite::Ccm64);
    let sent = frame(1, suite);
    let (mut header, len) = Header::parse(&sent).unwrap();
    let mut forged = sent.clone();
    header.security.as_mut().unwrap().frame_counter = u32::MAX - 1;
    header.emit(&mut forged[..len]).unwrap();
    let mut station = receiver(suite);
    assert_eq!(station.frame(AT, &mut with_fcs(forged)), None);
    assert_eq!(station.count(Counter::MacBadMic), 1);
    assert!(station.frame(AT, &mut sent.clone()).is_some());
}

#[test]
fn what_is_not_secured_as_policy_says_is_refused_and_still_acknowledged() {
    let other_key = {
        let mut config = config(1, Some(LinkSuite::Ccm64));
        config.security.as_mut().unwrap().key = [0; 16];
        let mut air = Air::new(1, None, 0, 1);
        air.stations[0] = Station::new(config, 1);
        air.send(0, Eui64::of_node(0), b"x").unwrap();
        air.run();
        air.sent[0].frame.clone()
    };
    let other_index = {
        let mut config = config(1, Some(LinkSuite::Ccm64));
        config.security.as_mut().unwrap().key_index = 2;
        let mut air = Air::new(1, None, 0, 1);
        air.stations[0] = Station::new(config, 1);
        air.send(0, Eui64::of_node(0), b"x").unwrap();
        air.run();
        air.sent[0].frame.clone()
    };
    let secured = Some(LinkSuite::Ccm64);
    for (policy, mut frame, counter) in [
        (secured, frame(1, None), Counter::MacUnsecured),
        (secured, frame(1, Some(LinkSuite::Ccm32)), Counter::MacUnsecured),
        (secured, other_key, Counter::MacBadMic),
        (secured, other_index, Counter::MacBadMic),
        (None, frame(1, secured), Counter::MacBadMic),
    ] {
        let mut station = receiver(policy);
        assert_eq!(station.frame(AT, &mut frame), None);
        assert_eq!(station.count(counter), 1, "{counter:?}");
        assert_eq!(station.mac.poll_timeout(), Some(AT.after(12)));
    }
}

#[test]
fn a_frame_of_ones_own_that_comes_back_is_refused() {
    let suite = Some(LinkSuite::Ccm64);
    let mut echo = frames(0, suite, BROADCAST, &[b"mine"]).remove(0);
    let mut station = receiver(suite);
    assert_eq!(station.frame(AT, &mut echo), None);
    assert_eq!(station.count(Counter::MacMalformed), 1);
}

#[test]
fn with_security_a_full_neighbour_table_refuses_newcomers_and_forgets_nobody() {
    let suite = Some(LinkSuite::Ccm64);
    let mut station = receiver(suite);
    for id in 1..=4 {
        assert!(station.frame(AT, &mut frame(id, suite)).is_some());
    }
    assert_eq!(station.frame(AT, &mut frame(5, suite)), None);
    assert_eq!(station.count(Counter::MacNeighboursFull), 1);
    for id in 1..=4 {
        assert_eq!(station.frame(AT, &mut frame(id, suite)), None, "replayed");
        let newer = frames(id, suite, Eui64::of_node(0), &[b"old", b"new"]).remove(1);
        assert!(station.frame(AT, &mut newer.clone()).is_some());
    }
}

#[test]
fn without_security_a_full_neighbour_table_takes_newcomers() {
    let mut station = receiver(None);
    for id in 1..=6 {
        assert!(station.frame(AT, &mut frame(id, None)).is_some());
    }
    assert_eq!(station.count(Counter::MacNeighboursFull), 0);
}

#[test]
fn without_a_frame_counter_nothing_is_sent() {
    let mut air = Air::new(2, Some(LinkSuite::Ccm64), 0, 1);
    air.stations[0].rig.nv = Ranges::starting_at(NvSlot::LinkFrameCounter, u32::MAX - 10);
    assert_eq!(air.send(0, Eui64::of_node(1), b"x"), Err(SendError::NoCounter(NvError::Exhausted)));
    air.run();
    assert!(air.sent.is_empty() && air.stations[0].mac.can_send());
    assert_eq!(air.stations[0].count(Counter::MacCounterExhausted), 1);
}

fn any_suite() -> impl Strategy<Value = Option<LinkSuite>> {
    prop::option::of(prop::sample::select(SUITES.to_vec()))
}

proptest! {
    #[test]
    fn no_counter_is_used_twice_across_reboots(bursts in prop::collection::vec((1usize..30, 0u64..2000), 1..12)) {
        let mut air = Air::new(2, Some(LinkSuite::Ccm64), 0, 1);
        let mut sealed = BTreeSet::new();
        for (frames, time) in bursts {
            for n in 0..frames {
                // The queue may be full, and the reboot may come before a frame is sent.
                let _ = air.send(0, Eui64::of_node(1), &[n as u8]);
                air.run_for(time);
            }
            air.stations[0].reboot();
        }
        for sent in air.sent.iter().filter(|sent| sent.from == 0) {
            let (header, len) = Header::parse(&sent.frame).unwrap();
            let Some(security) = header.security else { continue };
            sealed.insert((security.frame_counter, sent.frame[..len].to_vec(), sent.frame[len..].to_vec()));
        }
        let counters: BTreeSet<_> = sealed.iter().map(|(counter, ..)| counter).collect();
        prop_assert_eq!(counters.len(), sealed.len());
    }

    #[test]
    fn any_bytes_are_taken_without_a_panic(suite in any_suite(), frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..140), 1..8), right_fcs in any::<bool>()) {
        let mut station = receiver(suite);
        for (n, mut frame) in frames.into_iter().enumerate() {
            if right_fcs && frame.len() > 2 {
                frame = with_fcs(frame);
            }
            station.frame(Symbols::new(n as u32), &mut frame);
            station.timeout(Symbols::new(n as u32 * 50));
        }
    }

    #[test]
    fn a_mangled_frame_is_never_accepted_as_secured(suite in prop::sample::select(SUITES.to_vec()).prop_filter("it has a MIC", |suite| suite.authenticates()), changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4), tail in prop::collection::vec(any::<u8>(), 0..8)) {
        let original = frame(1, Some(suite));
        let mut mangled = original.clone();
        for (at, change) in changes {
            let at = at.index(mangled.len() - 2);
            mangled[at] ^= change;
        }
        mangled.extend(tail);
        let mangled = with_fcs(mangled);
        prop_assume!(mangled != original);
        prop_assert_eq!(receiver(Some(suite)).frame(AT, &mut mangled.clone()), None);
    }
}
