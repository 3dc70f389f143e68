//! Frames to one and to all.

use sixlock_base::{Counter, Eui64, LinkSuite};
use sixlock_mac::tsch::Slotframes;
use sixlock_mac::{BROADCAST, Outcome};

use crate::air::{Air, SECOND};
use crate::join::SHARED;

const UNICAST: Slotframes = Slotframes { shared: 101, beacons: None, unicast: Some(31) };

fn joined(ppm: &[i64], slotframes: Slotframes) -> Air {
    let mut air = Air::new(ppm, Some(LinkSuite::Ccm32), slotframes);
    air.run(600);
    assert!(air.have_joined());
    air.sent.clear();
    air
}

#[test]
fn frames_are_delivered_once_and_acknowledged() {
    // Where all send in one slot of a second, beacons too, a frame may meet others four times.
    for (slotframes, lost) in [(SHARED, 2), (UNICAST, 0)] {
        let mut air = joined(&[0, 40, -40], slotframes);
        for round in 0..50u8 {
            for from in [0, 1, 2] {
                let to = Eui64::of_node((from as u32 + 1) % 3);
                air.send(from, to, &[round, from as u8]);
                air.run(5);
            }
        }
        air.run(60);
        assert_eq!(air.outcomes.len(), 150);
        let count = air.outcomes.iter().filter(|(.., outcome, _)| *outcome == Outcome::Delivered).count();
        assert!(count >= 150 - lost, "{slotframes:?}: {count}");
        for round in 0..50u8 {
            for from in [0u8, 1, 2] {
                let to = (usize::from(from) + 1) % 3;
                let is_it = |(at, source, destination, payload): &&crate::air::Delivered| {
                    *at == to
                        && *source == Eui64::of_node(from.into())
                        && *destination == Eui64::of_node(to as u32)
                        && *payload == [round, from]
                };
                assert!(air.delivered.iter().filter(is_it).count() <= 1);
            }
        }
        assert!(air.delivered.len() >= count);
    }
}

#[test]
fn frames_that_wait_for_one_neighbour_go_one_behind_the_other() {
    let mut air = joined(&[0, 40, -40], UNICAST);
    air.sent.clear();
    for n in 0..4u8 {
        air.send(1, Eui64::of_node(2), &[n]);
    }
    air.run(5);
    assert_eq!(air.delivered.iter().map(|(.., payload)| payload[0]).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let slots: Vec<_> = air.sent.iter().filter(|sent| sent.from == 1).map(|sent| sent.asn.number()).collect();
    let first = slots[0];
    assert_eq!(slots[..4], [first, first + 1, first + 2, first + 3]);
}

/// The second reaches the coordinator alone.
#[test]
fn a_frame_for_a_neighbour_that_is_gone_does_not_keep_others_waiting() {
    let mut air = joined(&[0, 0, 0], UNICAST);
    air.linked = Box::new(|from, to, _| from != 2 && to != 2);
    air.send(1, Eui64::of_node(2), b"gone");
    for _ in 0..3 {
        air.send(1, Eui64::of_node(0), b"there");
    }
    air.run(60);
    assert_eq!(air.delivered.len(), 3);
    let outcomes: Vec<_> = air.outcomes.iter().map(|&(_, to, outcome, _)| (to, outcome)).collect();
    let there = (Eui64::of_node(0), Outcome::Delivered);
    assert_eq!(outcomes, [there, there, there, (Eui64::of_node(2), Outcome::NoAck)]);
}

#[test]
fn a_frame_to_all_comes_to_all_and_is_not_acknowledged() {
    let mut air = joined(&[0, 40, -40], UNICAST);
    air.send(0, BROADCAST, b"all");
    air.run(5);
    assert_eq!(air.outcomes, [(0, BROADCAST, Outcome::Delivered, 1)]);
    let mut receivers: Vec<_> =
        air.delivered.iter().map(|(at, _, destination, _)| (*at, *destination)).collect();
    receivers.sort_unstable();
    assert_eq!(receivers, [(1, BROADCAST), (2, BROADCAST)]);
}

#[test]
fn what_is_lost_is_sent_again_and_what_comes_twice_is_dropped() {
    let mut air = joined(&[0, 0], UNICAST);
    // A quarter of all transmissions is lost, of acknowledgements, too.
    air.linked = Box::new(|from, to, begin| {
        let drawn = (begin / 1_000 + from as u64 * 7 + to as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        !(drawn >> 32).is_multiple_of(4)
    });
    for round in 0..100u8 {
        air.send(1, Eui64::of_node(0), &[round]);
        air.run(10);
    }
    air.run(60);
    let delivered: Vec<_> = air.delivered.iter().map(|(.., payload)| payload[0]).collect();
    let mut once = delivered.clone();
    once.dedup();
    assert_eq!(delivered, once);
    let acknowledged = air.outcomes.iter().filter(|(.., outcome, _)| *outcome == Outcome::Delivered).count();
    assert!(acknowledged >= 90, "{acknowledged}");
    assert!(delivered.len() >= acknowledged);
    assert!(air.devices[1].rig.count(Counter::MacRetries) > 10);
    assert!(air.devices[0].rig.count(Counter::MacDuplicate) > 0);
}

#[test]
fn who_does_not_answer_is_given_up_after_four_times() {
    let mut air = joined(&[0, 0], UNICAST);
    air.send(1, Eui64::of_node(9), b"nobody");
    air.run(100);
    assert_eq!(air.outcomes, [(1, Eui64::of_node(9), Outcome::NoAck, 4)]);
}

#[test]
fn no_frame_leaves_its_slot_and_each_is_on_the_channel_of_its_slot() {
    let mut air = joined(&[40, -40, 13], UNICAST);
    for _ in 0..100 {
        air.send(1, Eui64::of_node(0), &[7; 90]);
        air.send(2, Eui64::of_node(0), &[8; 90]);
        air.run(4);
    }
    let channels: std::collections::BTreeSet<_> = air.sent.iter().map(|sent| sent.channel).collect();
    assert_eq!(channels.len(), 16);
    // By the coordinator's clock, slots begin at multiples of 10 ms from its start on, 64 symbols later.
    for sent in &air.sent {
        let by_clock = |time: u64| time + time * 40 / 1_000_000 - 64 * 16_000;
        let (begin, end) = (by_clock(sent.begin) % (SECOND / 100), by_clock(sent.end) % (SECOND / 100));
        assert!(begin < end, "{sent:?}");
        assert!(begin > 2_000_000 - 1_100_000, "{begin}");
    }
}

#[test]
fn traffic_to_others_does_not_cost_the_network() {
    let mut air = joined(&[0, 40, -40], UNICAST);
    // The second hears of the coordinator by its acknowledgements alone.
    let from = air.now;
    air.no_beacons = Some(from);
    for _ in 0..600 {
        while air.devices[1].machine.can_send() {
            air.send(1, Eui64::of_node(2), b"to another");
        }
        air.run(1);
        assert!(air.devices[1].machine.has_joined(), "after {} s", (air.now - from) / SECOND);
    }
}
