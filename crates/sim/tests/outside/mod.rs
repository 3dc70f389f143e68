//! What an image is to report that measures, as the simulator sees it: when frames are on the air and at whom they arrive, and when components
//! enter their states. Nothing of it is asked of the image.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sixlock_ieee802154::{FCS, Header};
use sixlock_node::contikimac::unpadded;
use sixlock_node::meter::{ECHOES, EchoTimes, SIZES, Setup, StateTimes, write_report};
use sixlock_pcap::HEADER;
use sixlock_sim::{Options, Scenario, Simulation, Sinks, Time};
use sixlock_sixlowpan::FragmentHeader;
use sixlock_testing::Recording;

/// The node that measures, and its neighbour on the way to its peer.
const NODE: u64 = 1;
const NEIGHBOUR: u64 = 2;
/// Microseconds in a symbol, which the image's clock counts.
const SYMBOL: u64 = 16;

/// A transmission.
struct Sent {
    node: u64,
    to: Option<u64>,
    is_ack: bool,
    begin: u64,
    end: u64,
    frame: Vec<u8>,
}

impl Sent {
    fn symbols(&self) -> u32 {
        ((self.end - self.begin) / SYMBOL) as u32
    }
}

/// What was seen.
pub(crate) struct Outside {
    hops: u32,
    mac: &'static str,
    period: u64,
    sent: Vec<Sent>,
    /// When a frame of which station did not arrive at the node.
    missed: BTreeSet<(u64, u64)>,
    /// When its radio had no room for one.
    dropped: BTreeSet<u64>,
    /// What the node's components did, and when each state began.
    changes: BTreeMap<String, Vec<(u64, String)>>,
}

/// The symbols from one time to another, as a clock shows them that counts whole ones.
fn symbols(from: u64, to: u64) -> u32 {
    (to / SYMBOL - from / SYMBOL) as u32
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    std::str::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Outside {
    /// Runs a scenario; what the image has put out at its serial port, and what was seen.
    pub(crate) fn watch(scenario: &Scenario, hops: u32, mac: &'static str) -> (String, Self) {
        let [pcap, events, timeline] = [(); 3].map(|()| Recording::default());
        let sinks = Sinks {
            pcap: Some(pcap.sink()),
            events: Some(events.sink()),
            timeline: Some(timeline.sink()),
            ..Sinks::default()
        };
        let simulation = Simulation::new(scenario, Options { sinks, ..Options::default() });
        let mut simulation = simulation.unwrap_or_else(|error| panic!("{error}"));
        simulation.step_until(Time::ZERO + scenario.duration());
        let report = String::from_utf8(simulation.serial(NODE as u32).unwrap().to_vec()).unwrap();
        simulation.run().unwrap_or_else(|error| panic!("{error}"));
        let events = lines(&events.bytes());
        let us = |event: &Value| event["us"].as_u64().unwrap();
        let mut frames = frames(&pcap.bytes()).into_iter();
        let transmit = |event: &Value| {
            let frame = frames.next().unwrap();
            assert_eq!(event["bytes"], frame.len());
            Sent {
                node: event["node"].as_u64().unwrap(),
                to: event["to"].as_u64(),
                is_ack: event["kind"] == "ack",
                begin: us(event),
                // Preamble, start of frame and length before it, 32 µs a byte.
                end: us(event) + (6 + frame.len() as u64) * 32,
                frame,
            }
        };
        let sent = events.iter().filter(|event| event["event"] == "transmit").map(transmit).collect();
        let at_node = || events.iter().filter(|event| event["node"] == NODE);
        let dropped = at_node().filter(|event| event["cause"] == "rxfifo").map(us).collect();
        let is_miss = |event: &&Value| event["event"] == "missed" || event["event"] == "lost";
        let missed = at_node().filter(is_miss).map(|event| (us(event), event["from"].as_u64().unwrap()));
        let mut changes: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for change in lines(&timeline.bytes()).iter().filter(|line| line["node"] == NODE) {
            let text = |field: &str| change[field].as_str().unwrap().to_owned();
            changes.entry(text("component")).or_default().push((us(change), text("state")));
        }
        let missed = missed.collect();
        let period = scenario.traffic().period.micros();
        (report, Self { hops, mac, period, sent, missed, dropped, changes })
    }

    /// What the image is to report.
    pub(crate) fn report(&self) -> String {
        let (mut report, hops) = (Vec::new(), self.hops.to_string());
        let setup = Setup { hops: hops.as_bytes(), security: "none", mac: self.mac };
        write_report(&setup, &self.echoes(), &self.states(), |piece| report.extend_from_slice(piece));
        String::from_utf8(report).unwrap()
    }

    /// How many echoes came back.
    pub(crate) fn answered(&self) -> u16 {
        self.echoes().iter().map(|echo| echo.answered).sum()
    }

    /// When echo `number` is due, from 1 on; the one behind the last is the end.
    fn due(&self, number: u64) -> u64 {
        self.period * number
    }

    /// The frames of the neighbour that arrived at the node from one time to another, and that its radio had room for.
    fn arrived(&self, from: u64, to: u64) -> impl Iterator<Item = &Sent> {
        let of_neighbour = self.sent.iter().filter(|sent| sent.node == NEIGHBOUR);
        let in_time = of_neighbour.filter(move |sent| (from..to).contains(&sent.end));
        in_time
            .filter(|sent| !self.missed.contains(&(sent.end, NEIGHBOUR)) && !self.dropped.contains(&sent.end))
    }

    fn echoes(&self) -> [EchoTimes; SIZES.len()] {
        let mut echoes = [EchoTimes { sent: 0, answered: 0, sum: 0, least: 0, most: 0 }; SIZES.len()];
        for number in 1..=u64::from(ECHOES) * SIZES.len() as u64 {
            let (begin, end) = (self.due(number), self.due(number + 1));
            // The processor wakes up at that time, to send it.
            assert!(self.changes["cpu"].contains(&(begin, "active".into())), "echo {number}");
            let echo = &mut echoes[(number as usize - 1) % SIZES.len()];
            echo.sent += 1;
            let Some(complete) = self.answered_between(begin, end) else { continue };
            let took = symbols(begin, complete);
            echo.least = if echo.answered == 0 { took } else { echo.least.min(took) };
            (echo.most, echo.sum, echo.answered) = (echo.most.max(took), echo.sum + took, echo.answered + 1);
        }
        echoes
    }

    /// When the datagram was complete at the node that came there meanwhile: nobody sends it others than answers.
    fn answered_between(&self, begin: u64, end: u64) -> Option<u64> {
        let mut fragments = BTreeMap::new();
        let mut size = 0;
        for sent in self.arrived(begin, end).filter(|sent| sent.to == Some(NODE)) {
            let (_, at) = Header::parse(&sent.frame).unwrap();
            let payload = &sent.frame[at..sent.frame.len() - FCS];
            let payload = if self.mac == "contikimac" { unpadded(payload).unwrap() } else { payload };
            let (fragment, rest) = FragmentHeader::parse(payload).unwrap();
            let Some(fragment) = fragment else { return Some(sent.end) };
            size = usize::from(fragment.datagram_size);
            // Of one that comes twice, the first counts.
            fragments.entry(fragment.offset).or_insert((rest.len(), sent.end));
        }
        // Each begins where the one before ends; that is not told of the first, whose headers are compressed.
        let (last, (len, _)) = fragments.last_key_value()?;
        let is_whole = usize::from(*last) + len == size && fragments.contains_key(&0);
        let mut ends = fragments.iter().skip(1).map(|(offset, (len, _))| usize::from(*offset) + len);
        let joined = fragments.keys().skip(2).all(|begin| ends.next() == Some(usize::from(*begin)));
        (is_whole && joined).then(|| fragments.values().map(|(_, end)| *end).max())?
    }

    /// What a clock of symbols shows of the states until the end.
    fn states(&self) -> StateTimes {
        let end = self.due(u64::from(ECHOES) * SIZES.len() as u64 + 1);
        let spent = |component: &str, state: &str| {
            let changes = &self.changes[component];
            let ends = changes.iter().skip(1).map(|(begin, _)| *begin).chain([u64::MAX]);
            let those = changes.iter().zip(ends).filter(|((_, entered), _)| entered == state);
            those.map(|((from, _), to)| symbols((*from).min(end), to.min(end))).sum::<u32>()
        };
        // The radio gives the processor no data that are for others.
        let given = |sent: &&Sent| sent.is_ack || sent.to == Some(NODE) || sent.to.is_none();
        let receive = self.arrived(0, end).filter(given).map(Sent::symbols).sum();
        StateTimes {
            off: spent("radio", "off"),
            listen: spent("radio", "listen") + spent("radio", "rx") - receive,
            receive,
            send: spent("radio", "tx"),
            acknowledge: spent("radio", "ack"),
            active: spent("cpu", "active"),
            low_power: spent("cpu", "lpm"),
        }
    }
}

/// The frames of a classic pcap.
fn frames(pcap: &[u8]) -> Vec<Vec<u8>> {
    let (mut frames, mut rest) = (Vec::new(), &pcap[HEADER.len()..]);
    while let Some((header, after)) = rest.split_at_checked(16) {
        let len = u32::from_le_bytes(*header[8..].first_chunk().unwrap());
        let (frame, after) = after.split_at(len as usize);
        frames.push(frame.to_vec());
        rest = after;
    }
    frames
}
