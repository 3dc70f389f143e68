//! Radios that do by themselves what the MAC would tell them: what `docs/own-board.md` says of their drivers.

use crate::air::{Air, Station, config, with_fcs};
use sixlock_base::{Eui64, Symbols};
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

    let at = station.wait();
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Cca));
    station.cca(at.after(8), false);
    let at = station.wait();
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Cca), "the channel was busy: it is tried again");
    let sent = station.mac.transmit_frame();
    let but_sequence = 3..frame.len() - 2;
    assert_eq!(sent[but_sequence.clone()], frame[but_sequence]);
    ack[2] = sent[2];

    let end = at.after(8 + 12 + 100);
    station.cca(end, true);
    station.wait();
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Transmit), "which has been done");
    station.transmitted(end);
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
fn a_radio_that_turns_around_by_itself_is_told_to_acknowledge_at_once() {
    let [mut frame, ack] = exchange();
    let mut station = Station::new(config(0, None), 1);
    let ended = AT;
    let a_turnaround_before = Symbols::new(ended.count() - 12);
    assert!(station.frame(a_turnaround_before, &mut frame).is_some());
    assert_eq!(station.mac.poll_timeout(), Some(ended));
    station.timeout(ended);
    assert_eq!(station.mac.poll_radio(), Some(RadioCommand::Transmit));
    assert_eq!(station.mac.transmit_frame(), ack);
}
