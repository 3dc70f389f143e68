//! Each command, at its time, on the medium.

use std::collections::BTreeSet;

use sixlock_base::Symbols;

use super::*;
use crate::clock::Clock;
use crate::energy::StateTimes;
use crate::medium::Reception::{self, Missed, Received};
use crate::meters::Meters;
use crate::scenario;
use crate::time::SYMBOL;

/// The radio of node 0, whose neighbour is node 1.
struct Air {
    medium: Medium,
    radio: Radio,
    now: Time,
}

fn at(symbol: u64) -> Time {
    Time::ZERO + Span::from_micros(symbol * SYMBOL)
}

impl Air {
    fn new() -> Self {
        let radio = scenario::Radio { range: 50, interference: 50, ..scenario::Scenario::default().radio };
        Self {
            medium: Medium::new(1, &[(0, 0), (40, 0)], &BTreeSet::new(), &radio),
            radio: Radio::new(Span::from_symbols(12)),
            now: Time::ZERO,
        }
    }

    fn take(&mut self, command: RadioCommand) {
        self.radio.take(0, command, self.now, Clock::TRUE, &mut self.medium);
    }

    /// Lets time pass until `symbol`; what the radio tells, and in which symbol.
    fn run(&mut self, symbol: u64) -> Vec<(u64, RadioEvent)> {
        let mut told = Vec::new();
        while let Some((time, _)) = self.radio.next.filter(|(time, _)| *time <= at(symbol)) {
            self.now = time;
            let happens = self.radio.go_on(0, time, &mut self.medium, || time);
            told.extend(happens.map(|happens| (time.micros() / SYMBOL, happens)));
        }
        self.now = at(symbol);
        told
    }

    /// What becomes at node 0 of a frame of node 1 from one symbol to another.
    fn hears(&mut self, [from, to]: [u64; 2]) -> Reception {
        self.run(from);
        self.medium.begin(1, self.now);
        self.run(to);
        let mut became = None;
        self.medium.end(1, self.now, |_, outcome| became = Some(outcome));
        became.unwrap()
    }

    /// For how many symbols its radio was off, and listened.
    fn times(&self) -> (u64, u64) {
        let times = StateTimes::new(&Meters::default(), self.medium.radio(0), self.now);
        (times.off.micros() / SYMBOL, times.listen.micros() / SYMBOL)
    }
}

const fn symbol(symbol: u32) -> Symbols {
    Symbols::new(symbol)
}

fn assessed(clear: bool) -> RadioEvent {
    RadioEvent::Assessed { clear }
}

#[test]
fn a_radio_is_off_from_when_it_is_told_and_until_it_is_told_to_listen() {
    let mut air = Air::new();
    air.take(RadioCommand::Off { at: symbol(1000) });
    assert_eq!(air.hears([100, 200]), Received);
    assert_eq!(air.hears([900, 1001]), Missed, "it was off before the frame ended");
    assert_eq!(air.hears([1100, 1200]), Missed);
    air.take(RadioCommand::Listen { at: symbol(2000) });
    assert_eq!(air.hears([1900, 2100]), Missed, "it began before the radio listened");
    assert_eq!(air.hears([2200, 2300]), Received);
    assert_eq!(air.times().0, 1000);
}

#[test]
fn what_is_due_has_been_done_when_the_next_command_comes() {
    let mut air = Air::new();
    air.take(RadioCommand::Off { at: symbol(0) });
    air.take(RadioCommand::Assess { at: symbol(500), times: 1, apart: 0 });
    assert_eq!(air.run(1000), [(508, assessed(true))]);
    assert_eq!(air.times(), (1000 - 8, 8), "it listens as long as it assesses, and is off again");
}

#[test]
fn a_command_takes_the_place_of_what_is_not_done() {
    let mut air = Air::new();
    air.take(RadioCommand::Off { at: symbol(300) });
    air.take(RadioCommand::Send { at: symbol(400), assess: true });
    assert_eq!(air.run(404), []);
    air.take(RadioCommand::Send { at: symbol(500), assess: false });
    assert_eq!(air.run(1000), [(500, RadioEvent::Sends)]);
    assert_eq!(air.times().0, 0);
    air.take(RadioCommand::Off { at: symbol(1000) });
    air.take(RadioCommand::Assess { at: symbol(1100), times: 1, apart: 0 });
    air.run(1103);
    air.radio.give_up(0, air.now, &mut air.medium);
    assert_eq!(air.run(2000), []);
    assert_eq!(air.times().0, 1000 - 3, "an assessment that was given up has ended");
}

#[test]
fn the_channel_is_assessed_as_often_as_was_told_unless_it_is_busy_before() {
    let mut air = Air::new();
    for (times, told) in [(0, 108), (1, 108), (3, 100 + 2 * 38 + 8)] {
        air.now = Time::ZERO;
        air.take(RadioCommand::Assess { at: symbol(100), times, apart: 38 });
        assert_eq!(air.run(1000), [(told, assessed(true))]);
    }
    air.take(RadioCommand::Assess { at: symbol(1100), times: 3, apart: 38 });
    air.run(1120);
    air.medium.begin(1, air.now);
    assert_eq!(air.run(2000), [(1100 + 38 + 8, assessed(false))], "the second finds it busy");
}

#[test]
fn a_frame_begins_a_turnaround_after_an_assessment_that_finds_the_channel_clear_alone() {
    let mut air = Air::new();
    air.take(RadioCommand::Send { at: symbol(100), assess: true });
    assert_eq!(air.run(1000), [(100 + 8 + 12, RadioEvent::Sends)]);
    air.medium.begin(1, air.now);
    air.take(RadioCommand::Send { at: symbol(1100), assess: true });
    assert_eq!(air.run(2000), [(1108, assessed(false))]);
    air.take(RadioCommand::Send { at: symbol(1500), assess: false });
    assert_eq!(
        air.run(2000),
        [(2000, RadioEvent::Sends)],
        "at once, if that time has passed, and on a busy channel"
    );
}

#[test]
fn an_assessment_waits_until_the_frame_is_made() {
    let mut air = Air::new();
    air.take(RadioCommand::Send { at: symbol(100), assess: true });
    air.now = at(100);
    assert_eq!(air.radio.go_on(0, at(100), &mut air.medium, || at(250)), None);
    assert_eq!(air.run(1000), [(250 + 8 + 12, RadioEvent::Sends)]);
}
