//! What each step of a frame does with everything that can happen, as a table: `tests/transitions.txt`. Each line is a MAC that was
//! brought to its step by what happens on a channel.

extern crate std;
use std::format;
use std::fs;
use std::path::Path;
use std::string::String;
use std::vec::Vec;

use sixlock_base::{Eui64, Symbols};
use sixlock_crypto::Soft;
use sixlock_ieee802154::ack;
use sixlock_testing::Rig;

use super::{OwedAck, Step};
use crate::{BROADCAST, Config, Csma, Event, Link, Mac};

type Machine = Mac<Soft, Link<true, 4, 3>>;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stimulus {
    /// A frame to a neighbour is to be sent.
    Send,
    /// A frame to all neighbours is to be sent.
    Broadcast,
    /// What is due is done.
    Timeout,
    Clear,
    Busy,
    Transmitted,
    RightAck,
    WrongAck,
    /// A neighbour's frame comes, which asks for an acknowledgement.
    Frame,
}

use Stimulus::{Broadcast, Busy, Clear, Frame, RightAck, Send, Timeout, Transmitted, WrongAck};

const STIMULI: [(Stimulus, &str); 9] = [
    (Send, "frame to a neighbour to send"),
    (Broadcast, "frame to all to send"),
    (Timeout, "timeout"),
    (Clear, "channel clear"),
    (Busy, "channel busy"),
    (Transmitted, "transmitted"),
    (RightAck, "its acknowledgement"),
    (WrongAck, "another acknowledgement"),
    (Frame, "frame to be acknowledged"),
];

/// How a MAC comes to each state: one frame may be sent twice, and is assessed twice.
const WAYS: [(&str, &[Stimulus]); 13] = [
    ("Idle", &[]),
    ("Backoff", &[Send]),
    ("Assessing", &[Send, Timeout]),
    ("Assessing, last", &[Send, Timeout, Busy, Timeout]),
    ("Turnaround", &[Send, Timeout, Clear]),
    ("OnAir", &[Send, Timeout, Clear, Timeout]),
    ("OnAir, to all", &[Broadcast, Timeout, Clear, Timeout]),
    ("AwaitingAck", &[Send, Timeout, Clear, Timeout, Transmitted]),
    (
        "AwaitingAck, last",
        &[Send, Timeout, Clear, Timeout, Transmitted, Timeout, Timeout, Clear, Timeout, Transmitted],
    ),
    ("Idle, owes", &[Frame]),
    ("Idle, acknowledges", &[Frame, Timeout]),
    ("Backoff, owes", &[Send, Timeout, Frame]),
    ("Backoff, acknowledges", &[Send, Timeout, Frame, Timeout]),
];

struct Station {
    mac: Machine,
    rig: Rig,
    at: Symbols,
    /// A frame of the neighbour.
    frame: Vec<u8>,
}

fn config(id: u32) -> Config {
    let csma = Csma { max_backoffs: 1, max_retries: 1, ..Csma::default() };
    Config { address: Eui64::of_node(id), pan_id: 0xabcd, csma, ack: true, security: None }
}

fn started(id: u32) -> Machine {
    let mut mac = Mac::new();
    mac.start(&config(id), &mut Soft);
    mac
}

impl Station {
    fn new(way: &[Stimulus]) -> Self {
        let mut rig = Rig::seeded(1);
        let at = Symbols::new(0);
        let mut neighbour = started(2);
        neighbour.send(&mut rig.cx(), at, Eui64::of_node(1), b"to you").unwrap();
        let frame = neighbour.transmit_frame().to_vec();
        let mut station = Self { mac: started(1), rig, at, frame };
        for stimulus in way {
            assert!(station.happens(*stimulus), "{stimulus:?} of {way:?}");
            station.mac.poll_radio_due();
        }
        station
    }

    /// Lets it happen; false if it cannot.
    fn happens(&mut self, stimulus: Stimulus) -> bool {
        let (mac, cx) = (&mut self.mac, &mut self.rig.cx());
        match stimulus {
            Send | Broadcast => {
                let to = if stimulus == Send { Eui64::of_node(2) } else { BROADCAST };
                return mac.send(cx, self.at, to, b"data").is_ok();
            }
            Timeout => match mac.poll_timeout() {
                Some(at) => {
                    self.at = at;
                    mac.handle_timeout(cx, at);
                }
                None => return false,
            },
            Clear | Busy => mac.handle_cca(cx, self.at, stimulus == Clear),
            Transmitted => mac.handle_transmitted(cx, self.at),
            RightAck | WrongAck => {
                let sequence = mac.queue.current().map_or(0, |frame| frame.sequence);
                let mut frame = ack(sequence.wrapping_add((stimulus == WrongAck).into()));
                mac.handle_frame(cx, self.at, &mut frame);
            }
            Frame => {
                mac.handle_frame(cx, self.at, &mut self.frame.clone());
            }
        }
        true
    }

    fn state(&self) -> String {
        let step = match self.mac.radio.step {
            Step::Idle => "Idle",
            Step::Backoff => "Backoff",
            Step::Assessing => "Assessing",
            Step::Turnaround => "Turnaround",
            Step::OnAir => "OnAir",
            Step::AwaitingAck => "AwaitingAck",
            Step::Unsealed | Step::Gap | Step::GapAssessing => unreachable!("it has no duty cycle"),
        };
        let owed = match self.mac.radio.owed_ack.get() {
            None => "",
            Some(OwedAck { on_air: false, .. }) => ", owes",
            Some(OwedAck { on_air: true, .. }) => ", acknowledges",
        };
        format!("{step}{owed}")
    }

    /// Lets it happen, and tells what becomes of it.
    fn transition(&mut self, stimulus: Stimulus) -> Option<String> {
        let before = (self.state(), self.mac.waiting().count());
        self.happens(stimulus).then_some(())?;
        let mut told = Vec::new();
        let command = self.mac.poll_radio_due();
        let after = self.state();
        if after != before.0 {
            told.push(after);
        }
        if self.mac.waiting().count() > before.1 {
            told.push("a frame waits".into());
        }
        if let Some(command) = command {
            let command = format!("{command:?}");
            let name = command.split(|other: char| !other.is_alphanumeric()).next().unwrap_or_default();
            told.push(format!("radio: {name}"));
        }
        while let Some(Event::Sent { outcome, attempts, .. }) = self.mac.poll_event() {
            told.push(format!("told: {outcome:?} after {attempts}"));
        }
        if told.is_empty() {
            told.push("nothing".into());
        }
        Some(told.join(", "))
    }
}

fn table() -> String {
    let mut table = String::new();
    for (state, way) in WAYS {
        let reached = Station::new(way).state();
        assert_eq!(reached, state.trim_end_matches(", last").trim_end_matches(", to all"));
        for (stimulus, name) in STIMULI {
            if let Some(became) = Station::new(way).transition(stimulus) {
                table.push_str(&format!("{state:<24}{name:<32}{became}\n"));
            }
        }
    }
    table
}

#[test]
fn transitions_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transitions.txt");
    let table = table();
    if std::env::var_os("SIXLOCK_ACCEPT").is_some() {
        fs::write(&path, &table).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let differs = known.lines().zip(table.lines()).find(|(known, now)| known != now);
    assert!(
        known == table,
        "{} is another: {differs:?}; if that is right, SIXLOCK_ACCEPT=1 cargo test -p sixlock-mac transitions writes it anew",
        path.display()
    );
}
