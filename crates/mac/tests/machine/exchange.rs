//! Frames between stations: delivery, acknowledgements, retries and the order of things.

use std::collections::BTreeSet;

use crate::air::{Air, Station, config, with_fcs};
use sixlock_base::{Counter, Eui64, LinkSuite, Symbols};
use sixlock_ieee802154::{FrameType, Header, Version};
use sixlock_mac::{BROADCAST, Outcome, RadioCommand, SendError};
use sixlock_testing::Random;

const SUITES: [Option<LinkSuite>; 4] =
    [None, Some(LinkSuite::Ccm32), Some(LinkSuite::Ccm64), Some(LinkSuite::Ccm128)];

fn node(id: usize) -> Eui64 {
    Eui64::of_node(id as u32)
}

#[test]
fn a_frame_carries_what_its_header_and_mic_leave() {
    let without_encryption = LinkSuite::ALL[..3].iter().copied().map(Some).zip([94, 90, 82]);
    for (suite, capacity) in SUITES.into_iter().zip([104, 94, 90, 82]).chain(without_encryption) {
        let mut air = Air::new(2, suite, 0, 1);
        assert_eq!(air.stations[0].mac.payload_capacity(), capacity);
        let payload: Vec<u8> = (0..).take(capacity).collect();
        air.send(0, node(1), &payload).unwrap();
        air.run();
        assert_eq!(air.sent[0].frame.len(), 127);
        assert_eq!(air.delivered, [(1, node(0), node(1), payload.clone())]);
        assert_eq!(air.send(0, node(1), &[payload, vec![0]].concat()), Err(SendError::TooLong));
    }
}

#[test]
fn only_frames_that_need_the_later_version_have_it() {
    for (suite, len, version) in
        [(None, 102, Version::V2003), (None, 103, Version::V2006), (SUITES[2], 1, Version::V2006)]
    {
        let mut air = Air::new(2, suite, 0, 1);
        air.send(0, node(1), &vec![0; len]).unwrap();
        air.run();
        assert_eq!(Header::parse(&air.sent[0].frame).unwrap().0.version, version);
    }
}

#[test]
fn an_acknowledged_frame_is_sent_once_and_its_timing_is_the_standards() {
    let mut air = Air::new(3, None, 0, 1);
    let id = air.send(0, node(1), b"reading").unwrap();
    air.run();
    assert_eq!(air.delivered, [(1, node(0), node(1), b"reading".to_vec())]);
    assert_eq!(air.outcomes, [(0, id, Outcome::Delivered)]);
    let [frame, ack] = &air.sent[..] else { panic!("{:?}", air.sent) };
    // Backoff periods, the assessment and the turnaround.
    assert_eq!((frame.start - 8 - 12) % 20, 0);
    assert!(frame.start <= 7 * 20 + 8 + 12);
    assert_eq!(ack.start, frame.end + 12);
    assert_eq!(ack.frame[..3], [0x02, 0, frame.frame[2]]);
    assert_eq!(air.stations[0].count(Counter::FramesSent), 1);
    assert_eq!(air.stations[0].count(Counter::BytesSent), frame.frame.len() as u32);
    assert_eq!(air.stations[1].count(Counter::BytesSent), 5);
}

#[test]
fn a_broadcast_reaches_everybody_and_nobody_acknowledges_it() {
    for suite in SUITES {
        let mut air = Air::new(3, suite, 0, 1);
        let id = air.send(0, BROADCAST, b"all").unwrap();
        air.run();
        let receivers = [1, 2].map(|n| (n, node(0), BROADCAST, b"all".to_vec()));
        assert_eq!(air.delivered, receivers);
        assert_eq!((air.sent.len(), &air.outcomes[..]), (1, &[(0, id, Outcome::Delivered)][..]));
    }
}

#[test]
fn a_frame_that_asks_for_no_acknowledgement_is_sent_once() {
    let mut air = Air::new(2, None, 0, 1);
    air.stations[0].config.ack = false;
    air.stations[0].reboot();
    air.lost = Box::new(|_, _| true);
    let id = air.send(0, node(1), b"x").unwrap();
    air.run();
    assert_eq!((air.sent.len(), &air.outcomes[..]), (1, &[(0, id, Outcome::Delivered)][..]));
}

#[test]
fn a_frame_whose_acknowledgement_is_lost_is_repeated_the_same_and_delivered_once() {
    for suite in SUITES {
        let mut air = Air::new(2, suite, 0, 1);
        let mut acks = 0;
        air.lost = Box::new(move |sent, _| {
            acks += usize::from(sent.is_ack());
            sent.is_ack() && acks == 1
        });
        let id = air.send(0, node(1), b"once").unwrap();
        air.run();
        assert_eq!(air.delivered.len(), 1);
        assert_eq!(air.outcomes, [(0, id, Outcome::Delivered)]);
        assert_eq!(air.sent.len(), 4);
        assert_eq!(air.sent[0].frame, air.sent[2].frame);
        assert!(air.sent[2].start >= air.sent[0].end + 54);
        assert_eq!(air.stations[0].count(Counter::MacRetries), 1);
        assert_eq!(air.stations[1].count(Counter::MacDuplicate), 1);
    }
}

#[test]
fn a_frame_nobody_acknowledges_is_given_up_and_the_next_has_its_turn() {
    let mut air = Air::new(2, None, 0, 1);
    let gone = air.send(0, node(9), b"gone").unwrap();
    let there = air.send(0, node(1), b"there").unwrap();
    let gone_too = air.send(0, node(9), b"gone").unwrap();
    air.run();
    let outcomes = [(0, gone, Outcome::NoAck), (0, there, Outcome::Delivered), (0, gone_too, Outcome::NoAck)];
    assert_eq!(air.outcomes, outcomes);
    assert_eq!(air.sent.iter().filter(|sent| !sent.is_ack()).count(), 4 + 1 + 4);
    assert_eq!(air.stations[0].count(Counter::MacRetries), 6);
    assert_eq!(air.stations[0].count(Counter::MacNoAck), 2);
}

#[test]
fn a_channel_that_is_never_clear_is_given_up() {
    let mut air = Air::new(2, None, 0, 1);
    air.jammed = true;
    let outcomes = [0, 1].map(|n| (0, air.send(0, node(1), &[n]).unwrap(), Outcome::ChannelBusy));
    air.run();
    assert_eq!((air.assessments, air.sent.len()), (2 * 5, 0));
    assert_eq!(air.outcomes, outcomes);
    assert_eq!(air.stations[0].count(Counter::MacChannelBusy), 2);
    air.jammed = false;
    air.send(0, node(1), b"y").unwrap();
    air.run();
    assert_eq!(air.delivered, [(1, node(0), node(1), b"y".to_vec())]);
}

#[test]
fn frames_leave_in_order_with_a_pause_between_and_a_full_queue_refuses() {
    let mut air = Air::new(2, None, 0, 1);
    for n in 0..3u8 {
        assert!(air.stations[0].mac.can_send());
        air.send(0, node(1), &[n; 60]).unwrap();
    }
    assert!(!air.stations[0].mac.can_send());
    assert_eq!(air.send(0, node(1), &[3]), Err(SendError::QueueFull));
    air.run();
    assert!(air.stations[0].mac.can_send());
    let payloads: Vec<_> = air.delivered.iter().map(|(_, _, _, payload)| payload[0]).collect();
    assert_eq!(payloads, [0, 1, 2]);
    for pair in air.sent.windows(2).filter(|pair| pair[0].is_ack()) {
        assert!(pair[1].start >= pair[0].end + 40 + 8 + 12);
    }
}

#[test]
fn the_pause_after_a_frame_also_holds_for_one_handed_over_during_it() {
    let mut earliest = u64::MAX;
    for seed in 0..50 {
        let mut air = Air::new(2, None, 0, seed);
        air.send(0, node(1), &[0; 60]).unwrap();
        air.run();
        let end = air.sent[1].end;
        air.send(0, node(1), &[1; 60]).unwrap();
        air.run();
        earliest = earliest.min(air.sent[2].start - end);
    }
    // The shortest backoff is none.
    assert_eq!(earliest, 40 + 8 + 12);
}

/// A frame from node 1 to node 0 that asks for an acknowledgement.
fn incoming() -> Vec<u8> {
    let mut air = Air::new(2, None, 0, 7);
    air.send(1, node(0), b"incoming").unwrap();
    air.run();
    air.sent[0].frame.clone()
}

/// Takes a station's acknowledgement through the air, from the frame's end at `at`.
#[track_caller]
fn acknowledges(station: &mut Station, at: Symbols, sequence: u8) -> Symbols {
    let due = at.after(12);
    station.timeout(due);
    assert_eq!(station.mac.poll_radio_due(), Some(RadioCommand::Send { at: due, assess: false }));
    assert_eq!(station.mac.transmit_frame()[..3], [0x02, 0, sequence]);
    let end = due.after(22);
    station.transmitted(end);
    end
}

/// Takes a station's frame onto the air, from `at`, when it may assess the channel, or from its
/// backoff on.
#[track_caller]
fn sends(station: &mut Station, mut at: Symbols, payload: &[u8]) {
    let mut told = station.mac.poll_radio_due();
    if told.is_none() {
        let due = station.wait();
        assert!(due.has_reached(at.after(1)), "nothing that is due is left over");
        (at, told) = (due, station.mac.poll_radio_due());
    }
    assert!(
        matches!(told, Some(RadioCommand::Send { at: due, assess: true }) if at.has_reached(due)),
        "{told:?}"
    );
    station.cca(at.after(8), true);
    let turned = at.after(8 + 12);
    assert_eq!(station.wait(), turned);
    assert_eq!(station.mac.poll_radio_due(), Some(RadioCommand::Send { at: turned, assess: false }));
    assert!(station.mac.transmit_frame()[21..].starts_with(payload));
    assert_eq!(station.count(Counter::MacChannelBusy) + station.count(Counter::MacRetries), 0);
}

#[test]
fn an_acknowledgement_goes_before_a_backoff_which_then_goes_on() {
    let mut frame = incoming();
    let mut station = Station::new(config(0, None), 1);
    station.send(Symbols::new(1000), node(1), b"mine").unwrap();
    let backoff = station.mac.poll_timeout().unwrap();
    assert!(station.frame(Symbols::new(1000), &mut frame).is_some());
    let end = acknowledges(&mut station, Symbols::new(1000), frame[2]);
    if !end.has_reached(backoff) {
        assert_eq!(station.mac.poll_timeout(), Some(backoff));
    }
    sends(&mut station, end, b"mine");
}

#[test]
fn an_acknowledgement_interrupts_an_assessment_which_then_starts_over() {
    for polled in [true, false] {
        let mut frame = incoming();
        let mut station = Station::new(config(0, None), 1);
        station.send(Symbols::new(1000), node(1), b"mine").unwrap();
        let at = station.wait();
        if polled {
            assert_eq!(station.mac.poll_radio_due(), Some(RadioCommand::Send { at, assess: true }));
        }
        assert!(station.frame(at.after(3), &mut frame).is_some());
        assert_eq!(station.mac.poll_radio_due(), None);
        station.cca(at.after(8), true);
        assert_eq!(station.mac.poll_timeout(), Some(at.after(3 + 12)));
        let end = acknowledges(&mut station, at.after(3), frame[2]);
        sends(&mut station, end, b"mine");
    }
}

#[test]
fn an_acknowledgement_interrupts_a_turnaround_and_the_assessment_starts_over() {
    let mut frame = incoming();
    let mut station = Station::new(config(0, None), 1);
    station.send(Symbols::new(1000), node(1), b"mine").unwrap();
    let at = station.wait();
    assert_eq!(station.mac.poll_radio_due(), Some(RadioCommand::Send { at, assess: true }));
    station.cca(at.after(8), true);
    let end = at.after(8 + 12);
    assert_eq!(station.mac.poll_timeout(), Some(end));
    assert!(station.frame(end, &mut frame).is_some());
    station.timeout(end);
    assert_eq!(station.mac.poll_radio_due(), None);
    let end = acknowledges(&mut station, end, frame[2]);
    sends(&mut station, end, b"mine");
}

#[test]
fn a_frame_that_asks_for_no_acknowledgement_or_is_for_everybody_gets_none() {
    let mut air = Air::new(2, None, 0, 7);
    air.stations[1].config.ack = false;
    air.stations[1].reboot();
    for to in [node(0), BROADCAST] {
        air.send(1, to, b"x").unwrap();
    }
    air.run();
    let mut for_everybody = air.sent[1].frame.clone();
    for_everybody[0] |= 1 << 5;
    for mut frame in [air.sent[0].frame.clone(), with_fcs(for_everybody)] {
        let mut station = Station::new(config(0, None), 1);
        assert!(station.frame(Symbols::new(0), &mut frame).is_some());
        assert_eq!(station.mac.poll_timeout(), None);
    }
}

#[test]
fn copies_of_a_frame_are_repetitions_for_as_long_as_they_come() {
    let mut frame = incoming();
    let mut station = Station::new(config(0, None), 1);
    for n in 0..10 {
        let received = station.frame(Symbols::new(n * 60_000), &mut frame);
        assert_eq!(received.is_some(), n == 0);
    }
    assert!(station.frame(Symbols::new(9 * 60_000 + 62_500), &mut frame).is_some());
}

#[test]
fn sequence_numbers_begin_anywhere() {
    let begins: BTreeSet<_> = (0..8)
        .map(|seed| {
            let mut air = Air::new(2, None, 0, seed);
            air.send(0, node(1), b"x").unwrap();
            air.run();
            air.sent[0].frame[2]
        })
        .collect();
    assert!(begins.len() > 4, "{begins:?}");
}

#[test]
fn a_frame_taken_in_while_sending_is_delivered_but_not_acknowledged() {
    let mut frame = incoming();
    let mut station = Station::new(config(0, None), 1);
    station.send(Symbols::new(1000), node(1), b"mine").unwrap();
    sends(&mut station, Symbols::new(1000), b"mine");
    assert!(station.frame(Symbols::new(2000), &mut frame).is_some());
    assert_eq!((station.mac.poll_timeout(), station.mac.poll_radio()), (None, None));
    station.transmitted(Symbols::new(2001));
    assert_eq!(station.mac.poll_timeout(), Some(Symbols::new(2001 + 54)));
}

#[test]
fn an_acknowledgement_is_sent_while_waiting_for_one() {
    let mut frame = incoming();
    let mut station = Station::new(config(0, None), 1);
    let id = station.send(Symbols::new(1000), node(1), b"mine").unwrap();
    sends(&mut station, Symbols::new(1000), b"mine");
    let mut awaited = sixlock_ieee802154::ack(station.mac.transmit_frame()[2]);
    station.transmitted(Symbols::new(2000));
    assert!(station.frame(Symbols::new(2002), &mut frame).is_some());
    let end = acknowledges(&mut station, Symbols::new(2002), frame[2]);
    let mut anothers = sixlock_ieee802154::ack(station.mac.transmit_frame()[2].wrapping_add(1));
    assert_eq!(station.frame(end, &mut anothers), None);
    assert_eq!(station.mac.poll_event(), None);
    assert_eq!(station.frame(end.after(1), &mut awaited), None);
    let (outcome, attempts) = (Outcome::Delivered, 1);
    let delivered = sixlock_mac::Event::Sent { id, destination: node(1), outcome, attempts };
    assert_eq!(station.mac.poll_event(), Some(delivered));
    assert_eq!(station.mac.poll_timeout(), None);
}

#[test]
fn what_is_for_others_is_left_alone() {
    let mut air = Air::new(2, None, 0, 1);
    air.send(0, node(1), b"private").unwrap();
    air.run();
    let frame = air.sent[0].frame.clone();
    let mut third = Station::new(config(2, None), 1);
    assert_eq!(third.frame(Symbols::new(0), &mut frame.clone()), None);
    let mut other_pan = config(1, None);
    other_pan.pan_id = 0x1111;
    let mut foreign = Station::new(other_pan, 1);
    assert_eq!(foreign.frame(Symbols::new(0), &mut frame.clone()), None);
    for station in [third, foreign] {
        assert_eq!((station.mac.poll_timeout(), station.count(Counter::MacMalformed)), (None, 0));
    }
}

#[test]
fn beacons_and_misshapen_acknowledgements_are_counted() {
    let frame = incoming();
    let (header, len) = Header::parse(&frame).unwrap();
    let mut station = Station::new(config(0, None), 1);
    for frame_type in [FrameType::Beacon, FrameType::Ack] {
        let mut frame = frame.clone();
        Header { frame_type, ..header }.emit(&mut frame[..len]).unwrap();
        assert_eq!(station.frame(Symbols::new(0), &mut with_fcs(frame)), None);
    }
    assert_eq!(station.frame(Symbols::new(0), &mut with_fcs(vec![0x02, 0, 1, 0, 0, 0])), None);
    assert_eq!(station.count(Counter::MacMalformed), 3);
    assert_eq!(station.mac.poll_timeout(), None);
}

#[test]
fn a_command_is_acknowledged_and_counted_as_nothing_that_is_handled() {
    let mut frame = incoming();
    let (mut header, header_len) = Header::parse(&frame).unwrap();
    header.frame_type = FrameType::Command;
    header.emit(&mut frame[..header_len]).unwrap();
    frame = with_fcs(frame);
    let mut station = Station::new(config(0, None), 1);
    assert_eq!(station.frame(Symbols::new(0), &mut frame), None);
    assert_eq!(station.count(Counter::MacMalformed), 1);
    acknowledges(&mut station, Symbols::new(0), frame[2]);
}

/// Three stations send to each other at random over a channel that loses and collides.
#[test]
fn every_frame_has_one_outcome_and_is_delivered_at_most_once() {
    let mut retried = 0;
    let mut given_up = 0;
    for seed in 0..60 {
        let suite = SUITES[seed as usize % SUITES.len()];
        // Radio time wraps in the middle of it.
        let mut air = Air::new(3, suite, u32::MAX - 30_000, seed);
        let mut losses = Random::new(seed + 1);
        air.lost = Box::new(move |_, _| losses.below(100) < 25);
        let mut random = Random::new(seed);
        let mut accepted = Vec::new();
        for n in 0..60u8 {
            let from = random.below(3) as usize;
            let to = (from + 1 + random.below(2) as usize) % 3;
            let payload = [n; 40];
            if let Ok(id) = air.send(from, node(to), &payload[..1 + random.below(40) as usize]) {
                accepted.push((from, to, n, id));
            }
            air.run_for(u64::from(random.below(3000)));
        }
        air.run();
        assert!(air.now().count() < 1 << 30, "radio time has wrapped");
        assert_eq!(air.outcomes.len(), accepted.len());
        for station in 0..3 {
            let outcomes = air.outcomes.iter().filter(|outcome| outcome.0 == station);
            for (&(from, to, n, id), outcome) in
                accepted.iter().filter(|sent| sent.0 == station).zip(outcomes)
            {
                assert_eq!(outcome.1, id);
                let copies = air
                    .delivered
                    .iter()
                    .filter(|(at, source, _, payload)| (*at, *source, payload[0]) == (to, node(from), n))
                    .count();
                match outcome.2 {
                    Outcome::Delivered => assert_eq!(copies, 1, "seed {seed}, frame {n}"),
                    Outcome::NoAck | Outcome::ChannelBusy => assert!(copies <= 1, "seed {seed}, frame {n}"),
                }
                given_up += usize::from(outcome.2 != Outcome::Delivered);
            }
            retried += air.stations[station].count(Counter::MacRetries);
        }
    }
    assert!(retried > 500 && given_up > 10, "{retried} retries, {given_up} given up");
}
