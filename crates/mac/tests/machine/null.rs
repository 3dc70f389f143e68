//! Without CSMA-CA: what the NullMAC of Contiki does.

use crate::air::{Air, Station, config};
use sixlock_base::{Counter, Eui64, LinkSuite, Symbols};
use sixlock_crypto::Soft;
use sixlock_mac::{Config, Csma, Event, Link, Mac, Outcome, RadioCommand};
use sixlock_testing::Rig;

const SUITES: [Option<LinkSuite>; 2] = [None, Some(LinkSuite::Ccm64)];

fn node(id: usize) -> Eui64 {
    Eui64::of_node(id as u32)
}

/// Stations of which the first `null` have no CSMA-CA.
fn air(count: u32, null: u32, suite: Option<LinkSuite>) -> Air {
    let mut air = Air::new(count, suite, 0, 1);
    for id in 0..null {
        let config = Config { csma: Csma::NONE, ack: false, ..config(id, suite) };
        air.stations[id as usize] = Station::new(config, id);
    }
    air
}

#[test]
fn frames_follow_each_other_at_once_and_nobody_acknowledges_them() {
    for suite in SUITES {
        let mut air = air(2, 1, suite);
        let ids = [0, 1].map(|n| air.send(0, node(1), &[n; 80]).unwrap());
        air.run();
        let [first, second] = &air.sent[..] else { panic!("{:?}", air.sent) };
        assert_eq!(first.start, 8 + 12, "an assessment and the turnaround");
        assert_eq!(second.start, first.end + 40 + 8 + 12, "and the pause after a long frame");
        assert_eq!(air.delivered.len(), 2);
        assert_eq!(air.outcomes, ids.map(|id| (0, id, Outcome::Delivered)));
    }
}

#[test]
fn what_is_lost_is_not_repeated() {
    let mut air = air(2, 2, None);
    air.lost = Box::new(|_, _| true);
    air.send(0, node(1), b"once").unwrap();
    air.run();
    assert_eq!((air.sent.len(), air.delivered.len()), (1, 0));
    assert_eq!(air.stations[0].count(Counter::MacRetries), 0);
}

#[test]
fn a_frame_that_finds_the_channel_busy_is_lost_and_counted() {
    let mut air = air(3, 2, None);
    air.send(0, node(2), &[7; 80]).unwrap();
    air.run_for(100);
    let busy = air.send(1, node(2), b"busy").unwrap();
    air.run();
    assert_eq!((air.sent.len(), air.delivered.len(), air.assessments), (1, 1, 2));
    assert!(air.outcomes.contains(&(1, busy, Outcome::ChannelBusy)));
    assert_eq!(air.stations[1].count(Counter::MacChannelBusy), 1);
}

#[test]
fn two_that_begin_together_destroy_each_other() {
    let mut air = air(3, 2, None);
    for id in [0, 1] {
        air.send(id, node(2), b"now").unwrap();
    }
    air.run();
    assert_eq!((air.sent.len(), air.delivered.len()), (2, 0));
    assert_eq!(air.sent[0].start, air.sent[1].start);
}

#[test]
fn who_asks_for_an_acknowledgement_has_it() {
    let mut air = air(2, 1, None);
    let id = air.send(1, node(0), b"sure").unwrap();
    air.run();
    assert!(air.sent[1].is_ack());
    assert_eq!(air.outcomes, [(1, id, Outcome::Delivered)]);
}

/// What a MAC with or without CSMA-CA tells its radio, and what becomes of three frames; the channel is busy for the second.
fn run<const CSMA: bool>() -> (Vec<RadioCommand>, Vec<Outcome>) {
    let mut rig = Rig::seeded(1);
    let mut cx = rig.cx();
    let mut mac = Mac::<Soft, Link<false, 2, 3, CSMA>>::new();
    mac.start(&Config { csma: Csma::NONE, ack: false, ..config(0, None) }, &mut Soft);
    let mut at = Symbols::new(0);
    for n in 0..3 {
        mac.send(&mut cx, at, node(1), &[n; 30]).unwrap();
    }
    let mut commands = Vec::new();
    while let Some(command) = mac.poll_radio() {
        commands.push(command);
        let RadioCommand::Send { at: begin, assess: true } = command else { panic!("{command:?}") };
        at = begin.after(8);
        if commands.len() == 2 {
            mac.handle_cca(&mut cx, at, false);
        } else {
            at = at.after(12 + 2 * (6 + mac.transmit_frame().len() as u32));
            mac.handle_transmitted(&mut cx, at);
        }
    }
    assert_eq!(mac.poll_timeout(), None);
    let outcomes = std::iter::from_fn(|| mac.poll_event()).map(|Event::Sent { outcome, .. }| outcome);
    (commands, outcomes.collect())
}

#[test]
fn a_mac_that_has_no_csma_does_the_same_as_one_that_is_told_not_to_use_it() {
    let (commands, outcomes) = run::<false>();
    assert_eq!(commands.len(), 3);
    assert_eq!(outcomes, [Outcome::Delivered, Outcome::ChannelBusy, Outcome::Delivered]);
    assert_eq!((commands, outcomes), run::<true>());
}

#[test]
#[should_panic(expected = "contends")]
fn a_mac_that_has_no_csma_refuses_to_be_told_to_use_it() {
    Mac::<Soft, Link<false, 2, 3, false>>::new().start(&config(0, None), &mut Soft);
}
