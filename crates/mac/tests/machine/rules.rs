//! Times and rules that are not the standard's.

use crate::air::config;
use sixlock_base::{Counter, Eui64, Symbols};
use sixlock_crypto::{Crypto, Soft};
use sixlock_mac::{
    AlwaysOn, Config, Csma, Event, Link, LinkLayer, Mac, Outcome, RadioCommand, Rules, Sleeper,
};
use sixlock_testing::Rig;

/// A link layer whose rules are set.
struct Configured;

impl LinkLayer for Configured {
    type Mac<C: Crypto> = Mac<C, Self>;
    const SECURED: bool = false;
    const CSMA: bool = true;
    type Neighbours = <Link<false, 2, 2> as LinkLayer>::Neighbours;
    type Queue = <Link<false, 2, 2> as LinkLayer>::Queue;
    type Access = Rules;
    type Listening = AlwaysOn;
    type Sleepers = [Sleeper; 0];
}

/// A MAC with these rules, which may send a frame three times and find the channel busy twice each time.
fn mac(rules: Rules) -> Mac<Soft, Configured> {
    let mut mac = Mac::new();
    let csma = Csma { min_be: 0, max_be: 3, max_backoffs: 1, max_retries: 2 };
    mac.start(&Config { csma, ack: true, ..config(0, None) }, &mut Soft);
    *mac.access() = rules;
    mac
}

#[test]
fn a_busy_channel_ends_a_frame_or_counts_as_a_transmission_in_vain() {
    for (retries_when_busy, assessments, retries) in [(false, 2, 0), (true, 6, 2)] {
        let mut rig = Rig::seeded(1);
        let mut cx = rig.cx();
        let mut mac = mac(Rules { retries_when_busy, ..Rules::STANDARD });
        mac.send(&mut cx, Symbols::new(0), Eui64::of_node(1), b"busy").unwrap();
        let mut found_busy = 0;
        while let Some(RadioCommand::Send { at, assess: true }) = mac.poll_radio() {
            mac.handle_cca(&mut cx, at.after(8), false);
            found_busy += 1;
        }
        assert_eq!(found_busy, assessments);
        let Some(Event::Sent { outcome, .. }) = mac.poll_event() else { panic!("it is not over") };
        assert_eq!(outcome, Outcome::ChannelBusy);
        assert_eq!(cx.counters.get(Counter::MacRetries), retries);
    }
}

#[test]
fn frames_and_their_acknowledgements_take_the_times_that_are_set() {
    let mut rig = Rig::seeded(1);
    let mut cx = rig.cx();
    let rules = Rules { turnaround: 100, ack_wait: 200, long_pause: 0, short_pause: 3, ..Rules::STANDARD };
    let mut mac = mac(rules);
    mac.send(&mut cx, Symbols::new(0), Eui64::of_node(1), &[7; 40]).unwrap();
    assert!(mac.poll_radio().is_some());
    mac.handle_cca(&mut cx, Symbols::new(8), true);
    assert_eq!(mac.poll_radio(), Some(RadioCommand::Send { at: Symbols::new(108), assess: false }));
    mac.handle_transmitted(&mut cx, Symbols::new(300));
    assert_eq!(mac.poll_timeout(), Some(Symbols::new(500)), "when the acknowledgement is late");
}
