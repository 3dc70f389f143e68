//! Radios that do by themselves what the MAC would tell them: what `docs/own-board.md` says of their drivers.

use crate::air::{Air, Station, config, with_fcs};
use sixlock_base::{Counter, Eui64, Symbols};
use sixlock_mac::{Event, Outcome, RadioCommand};

const AT: Symbols = Symbols::new(1000);

/// A frame from node 1 to node 0, and the acknowledgement that it got.
fn exchange() -> [Vec<u8>; 2] {
    let mut air = Air::new(2, None, 0, 7);
    air.send(1, Eui64::of_node(0), b"reading").unwrap();
    air.run();
    [0, 1].map(|n| air.sent[n].frame.clone())
}

#[test]
fn a_radio_that_assesses_and_sends_in_one_go_has_the_frame_at_the_assessment() {
    let [frame, mut ack] = exchange();
    let mut station = Station::new(config(1, None), 1);
    station.send(AT, Eui64::of_node(0), b"reading").unwrap();

    let at = station.mac.poll_timeout().unwrap();
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Send { at, assess: true }), "ahead of its time");
    assert_eq!(
        (station.mac.poll_radio(), station.mac.poll_timeout()),
        (None, None),
        "once, and there is no timer"
    );
    station.cca(at.after(8), false);
    let at = station.mac.poll_timeout().unwrap();
    let again = Some(RadioCommand::Send { at, assess: true });
    assert_eq!(station.mac.poll_radio(), again, "the channel was busy: it is tried again");
    let sent = station.mac.transmit_frame();
    let but_sequence = 3..frame.len() - 2;
    assert_eq!(sent[but_sequence.clone()], frame[but_sequence]);
    ack[2] = sent[2];

    let end = at.after(8 + 12 + 100);
    station.transmitted(end);
    assert_eq!(station.mac.poll_radio(), None);
    assert_eq!(
        station.mac.poll_timeout(),
        Some(end.after(54)),
        "the acknowledgement is waited for from the end on"
    );
    station.frame(end.after(12 + 22), &mut with_fcs(ack));
    let delivered = station.mac.poll_event().map(|Event::Sent { outcome, .. }| outcome);
    assert_eq!(delivered, Some(Outcome::Delivered));
}

#[test]
fn an_acknowledgement_takes_the_place_of_a_frame_whose_backoff_then_goes_on() {
    let [mut frame, _] = exchange();
    let backoffs = (0..20).map(|seed| {
        let mut station = Station::new(config(0, None), seed);
        station.send(AT, Eui64::of_node(1), b"mine").unwrap();
        let told = station.mac.poll_radio();
        let Some(RadioCommand::Send { at: backoff, assess: true }) = told else { panic!("{told:?}") };
        assert!(station.frame(AT, &mut frame).is_some());
        let acknowledgement = RadioCommand::Send { at: AT.after(12), assess: false };
        assert_eq!(station.mac.poll_radio(), Some(acknowledgement));
        assert_eq!(station.mac.poll_radio(), None, "one after the other");
        station.transmitted(AT.after(12 + 22));
        assert_eq!(station.mac.poll_radio(), told, "not sooner, and no later");
        backoff
    });
    assert!(backoffs.filter(|backoff| *backoff != AT).count() > 10, "most have a backoff");
}

#[test]
fn a_radio_that_only_assesses_is_told_to_send_a_turnaround_later() {
    let mut station = Station::new(config(1, None), 1);
    station.send(AT, Eui64::of_node(0), b"reading").unwrap();
    let at = station.mac.poll_timeout().unwrap();
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Send { at, assess: true }));
    station.cca(at.after(8), true);
    let turned = at.after(8 + 12);
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Send { at: turned, assess: false }));
    assert_eq!(station.mac.poll_radio(), None);
}

#[test]
fn a_radio_that_does_things_at_once_is_told_them_when_their_time_has_come() {
    let [mut frame, _] = exchange();
    let mut station = Station::new(config(0, None), 1);
    assert!(station.frame(AT, &mut frame).is_some());
    let due = AT.after(12);
    for early in [AT, AT.after(11)] {
        station.timeout(early);
        assert_eq!((station.mac.poll_radio_due(), station.mac.poll_timeout()), (None, Some(due)));
    }
    station.timeout(due.after(5));
    let acknowledgement = Some(RadioCommand::Send { at: due, assess: false });
    assert_eq!((station.mac.poll_radio_due(), station.mac.poll_radio_due()), (acknowledgement, None));
    assert_eq!(station.mac.poll_timeout(), None);
}

#[test]
fn what_was_not_told_to_be_sent_is_not_counted_as_sent() {
    let mut station = Station::new(config(1, None), 1);
    station.transmitted(AT);
    station.send(AT, Eui64::of_node(0), b"reading").unwrap();
    station.transmitted(AT);
    assert_eq!(station.count(Counter::FramesSent), 0);
    assert!(station.mac.poll_radio().is_some());
    station.transmitted(AT);
    assert_eq!(station.count(Counter::FramesSent), 1);
}

#[test]
fn a_radio_that_turns_around_by_itself_is_told_to_acknowledge_at_once() {
    let [mut frame, ack] = exchange();
    let mut station = Station::new(config(0, None), 1);
    let ended = AT;
    let a_turnaround_before = Symbols::new(ended.count() - 12);
    assert!(station.frame(a_turnaround_before, &mut frame).is_some());
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Send { at: ended, assess: false }));
    assert_eq!(station.mac.transmit_frame(), ack);
}
