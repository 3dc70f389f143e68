//! Frames for a device whose receiver is off wait at its neighbour until it asks for them.

use sixlock_base::{Counter, Eui64, LinkSuite, Symbols};
use sixlock_crypto::{Crypto, Soft};
use sixlock_ieee802154::{FrameType, Header, check_fcs};
use sixlock_mac::{BROADCAST, Event, Link, LinkLayer, Mac, Outcome, RadioCommand, Sleeper, Sleepy, Standard};
use sixlock_testing::Rig;

use crate::air::{config, with_fcs};

/// A link layer of a device that may sleep, and holds frames for two that do.
struct Indirect;

impl LinkLayer for Indirect {
    type Mac<C: Crypto> = Mac<C, Self>;
    const SECURED: bool = true;
    const CSMA: bool = true;
    type Neighbours = <Link<true, 4, 3> as LinkLayer>::Neighbours;
    type Queue = <Link<true, 4, 3> as LinkLayer>::Queue;
    type Access = Standard;
    type Listening = Sleepy;
    type Sleepers = [Sleeper; 2];
}

const SECOND: u64 = 62_500;
const ASSESSMENT: u64 = 8;
const TURNAROUND: u64 = 12;
/// The longest time from one data request to the next.
const PERIOD: u32 = 30 * SECOND as u32;
const SUITES: [Option<LinkSuite>; 3] = [None, Some(LinkSuite::Ccm64), Some(LinkSuite::Ctr)];
const PARENT: usize = 0;
const LEAF: usize = 1;

fn node(n: usize) -> Eui64 {
    Eui64::of_node(n as u32)
}

struct Device {
    mac: Mac<Soft, Indirect>,
    rig: Rig,
    /// Since when its receiver is on, if it is.
    on: Option<u64>,
    /// For how long its radio was on.
    spent: u64,
    command: Option<(u64, RadioCommand)>,
    /// The frame under way: its begin, its end and its bytes.
    sending: Option<(u64, u64, Vec<u8>)>,
    /// What is held for neighbours that are asleep.
    held: Vec<Vec<u8>>,
    delivered: Vec<Vec<u8>>,
    outcomes: Vec<Outcome>,
    is_deaf: bool,
    /// How long it takes to make a frame, and which was made last, and when.
    slow: u64,
    made: Option<(u8, u64)>,
}

/// A parent and a leaf in range of each other.
struct World {
    now: u64,
    devices: [Device; 2],
    /// All frames, from whom.
    frames: Vec<(usize, Vec<u8>)>,
}

impl World {
    fn new(suite: Option<LinkSuite>) -> Self {
        let device = |n: usize| {
            let mut mac = Mac::<Soft, Indirect>::new();
            mac.start(&config(n as u32, suite), &mut Soft);
            if n == LEAF {
                mac.listening().start(PERIOD, Symbols::new(0));
                mac.follow(Symbols::new(0), Some(node(PARENT)));
            }
            let rig = Rig::seeded(n as u32 + 1);
            let (delivered, outcomes) = (Vec::new(), Vec::new());
            Device {
                mac,
                rig,
                on: Some(0),
                spent: 0,
                command: None,
                sending: None,
                held: Vec::new(),
                delivered,
                outcomes,
                is_deaf: false,
                slow: 0,
                made: None,
            }
        };
        Self { now: 0, devices: [device(PARENT), device(LEAF)], frames: Vec::new() }
    }

    fn send(&mut self, from: usize, to: Eui64, payload: &[u8]) {
        let at = Symbols::new(self.now as u32);
        let device = &mut self.devices[from];
        if device.mac.is_asleep(to, at) {
            device.held.push(payload.to_vec());
        } else {
            device.mac.send(&mut device.rig.cx(), at, to, payload).unwrap();
        }
        self.drain(from);
    }

    fn run(&mut self, symbols: u64) {
        let end = self.now + symbols;
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.now = next;
            (0..2).for_each(|n| self.step(n));
        }
        self.now = end;
    }

    fn next(&self) -> Option<u64> {
        let times = self.devices.iter().flat_map(|device| {
            let timer = device.mac.poll_timeout().map(|at| self.absolute(at));
            let command = device.command.map(|(time, _)| time);
            [timer, command, device.sending.as_ref().map(|(_, end, _)| *end)]
        });
        times.flatten().min()
    }

    fn absolute(&self, at: Symbols) -> u64 {
        let later = at.count().wrapping_sub(self.now as u32);
        self.now + if later < 1 << 31 { u64::from(later) } else { 0 }
    }

    fn step(&mut self, n: usize) {
        let (now, at) = (self.now, Symbols::new(self.now as u32));
        if let Some((began, _, frame)) = self.devices[n].sending.take_if(|(_, end, _)| *end <= now) {
            self.arrive(1 - n, began, &frame);
            let device = &mut self.devices[n];
            device.spent += now - began;
            device.on = device.on.map(|_| now);
            device.mac.handle_transmitted(&mut device.rig.cx(), at);
            self.drain(n);
        }
        if let Some((_, command)) = self.devices[n].command.take_if(|(time, _)| *time <= now) {
            self.act(n, command);
        }
        let device = &mut self.devices[n];
        if device.mac.poll_timeout().is_some_and(|due| at.has_reached(due)) {
            device.mac.handle_timeout(&mut device.rig.cx(), at);
            self.drain(n);
        }
    }

    fn arrive(&mut self, n: usize, began: u64, frame: &[u8]) {
        let at = Symbols::new(self.now as u32);
        let device = &mut self.devices[n];
        if device.is_deaf || device.sending.is_some() || device.on.is_none_or(|on| on > began) {
            return;
        }
        let mut frame = frame.to_vec();
        let received = device.mac.handle_frame(&mut device.rig.cx(), at, &mut frame);
        device.delivered.extend(received.map(|received| received.payload.to_vec()));
        if let Some(neighbour) = device.mac.take_data_request()
            && !device.held.is_empty()
        {
            device.mac.answer_data_request(neighbour, at);
            // Unless a frame is there already.
            if !device.mac.is_asleep(neighbour, at) {
                let held = device.held.remove(0);
                device.mac.send(&mut device.rig.cx(), at, neighbour, &held).unwrap();
                assert!(device.mac.is_asleep(neighbour, at), "it listens for one frame");
            }
        }
        self.drain(n);
    }

    fn act(&mut self, n: usize, command: RadioCommand) {
        let now = self.now;
        let device = &mut self.devices[n];
        match command {
            RadioCommand::Listen { .. } => device.on = device.on.or(Some(now)),
            RadioCommand::Off { .. } => {
                device.spent += device.on.take().map_or(0, |on| now - on);
            }
            RadioCommand::Send { assess, .. } => {
                let begin = now + if assess { ASSESSMENT + TURNAROUND } else { 0 };
                device.spent += begin - device.on.unwrap_or(now);
                let frame = device.mac.transmit_frame().to_vec();
                device.sending = Some((begin, begin + 2 * (6 + frame.len() as u64), frame.clone()));
                self.frames.push((n, frame));
            }
            RadioCommand::Assess { .. } => unreachable!("it is for duty cycles"),
        }
    }

    fn drain(&mut self, n: usize) {
        while let Some(command) = self.devices[n].mac.poll_radio() {
            let (RadioCommand::Listen { at }
            | RadioCommand::Off { at }
            | RadioCommand::Assess { at, .. }
            | RadioCommand::Send { at, .. }) = command;
            assert!(self.devices[n].sending.is_none(), "a frame is under way: {command:?}");
            let is_slow = self.devices[n].slow > 0;
            assert!(
                is_slow
                    || self.devices[n]
                        .command
                        .is_none_or(|(_, told)| !matches!(told, RadioCommand::Send { .. })),
                "{command:?} takes back what was told"
            );
            match self.absolute(at) {
                time if time == self.now && !matches!(command, RadioCommand::Send { .. }) => {
                    self.act(n, command);
                }
                time => {
                    let device = &mut self.devices[n];
                    let mut begin = time;
                    if matches!(command, RadioCommand::Send { assess: true, .. }) {
                        let sequence = device.mac.transmit_frame()[2];
                        let is_made = device.made.filter(|(made, _)| *made == sequence);
                        let made = is_made.unwrap_or((sequence, self.now + device.slow));
                        device.made = Some(made);
                        begin = begin.max(made.1);
                    }
                    device.command = Some((begin, command));
                }
            }
        }
        while let Some(Event::Sent { destination, outcome, .. }) = self.devices[n].mac.poll_event() {
            let device = &mut self.devices[n];
            if !device.held.is_empty() {
                let at = Symbols::new(self.now as u32);
                assert!(device.mac.is_asleep(destination, at), "the next frame waits for the next request");
            }
            device.outcomes.push(outcome);
        }
    }

    /// How many data requests the leaf has sent.
    fn requests(&self) -> usize {
        let sent = self.frames.iter().filter(|(from, _)| *from == LEAF);
        sent.filter(|(_, frame)| header(frame).frame_type == FrameType::Command).count()
    }
}

fn header(frame: &[u8]) -> Header {
    Header::parse(check_fcs(frame).unwrap()).unwrap().0
}

/// A leaf that has sent a frame, and has asked for answers until it does so each period.
fn asleep(suite: Option<LinkSuite>) -> World {
    let mut world = World::new(suite);
    world.send(LEAF, node(PARENT), b"hello");
    world.run(200 * SECOND);
    world
}

#[test]
fn a_leaf_that_has_nothing_to_do_asks_once_a_period_and_is_off_else() {
    for suite in SUITES {
        let mut world = asleep(suite);
        assert_eq!(world.devices[PARENT].delivered, [b"hello".to_vec()]);
        let (requests, spent) = (world.requests(), world.devices[LEAF].spent);
        assert_eq!(world.devices[LEAF].on, None);
        world.run(100 * u64::from(PERIOD));
        assert!((99..=101).contains(&(world.requests() - requests)), "{}", world.requests() - requests);
        let share = (world.devices[LEAF].spent - spent) as f64 / (100 * u64::from(PERIOD)) as f64;
        assert!(share < 0.000_1, "{share}");
        assert_eq!(world.devices[PARENT].mac.occupied(), 0);
    }
}

#[test]
fn what_waits_is_sent_one_frame_for_each_data_request_until_nothing_is_left() {
    for suite in SUITES {
        let mut world = asleep(suite);
        let requests = world.requests();
        for n in 0..3 {
            world.send(PARENT, node(LEAF), &[n; 60]);
        }
        assert_eq!(world.devices[PARENT].held.len(), 3);
        world.run(u64::from(PERIOD) + SECOND / 2);
        let delivered: Vec<_> = (0..3).map(|n| vec![n; 60]).collect();
        assert_eq!(world.devices[LEAF].delivered, delivered, "{suite:?}");
        let pending = world.frames.iter().filter(|(from, frame)| *from == PARENT && frame.len() == 5);
        let pending: Vec<_> = pending.map(|(_, frame)| header(frame).pending).collect();
        assert_eq!(pending.iter().filter(|pending| **pending).count(), 3);
        assert_eq!(pending.last(), Some(&false), "and then it is told that nothing waits");
        assert!(world.requests() - requests >= 4);
        assert_eq!(world.devices[LEAF].on, None);
    }
}

#[test]
fn an_answer_that_comes_a_second_later_is_there_within_another() {
    let mut world = asleep(None);
    world.send(LEAF, node(PARENT), b"request");
    world.run(SECOND);
    world.send(PARENT, node(LEAF), b"answer");
    world.run(SECOND);
    assert_eq!(world.devices[LEAF].delivered, [b"answer".to_vec()]);
}

#[test]
fn a_leaf_whose_parent_is_gone_searches_until_it_answers_or_another_is_its_parent() {
    let mut world = asleep(None);
    world.devices[PARENT].is_deaf = true;
    world.run(2 * u64::from(PERIOD));
    assert_eq!(world.devices[LEAF].on, None, "two data requests in vain are not three");
    world.run(2 * u64::from(PERIOD));
    assert!(world.devices[LEAF].on.is_some());
    world.devices[PARENT].is_deaf = false;
    world.run(u64::from(PERIOD));
    assert_eq!(world.devices[LEAF].on, None, "it has answered");
    let requests = world.requests();
    let at = Symbols::new(world.now as u32);
    world.devices[LEAF].mac.follow(at, None);
    world.run(u64::from(PERIOD));
    assert!(world.devices[LEAF].on.is_some());
    assert_eq!(world.requests(), requests, "there is nobody to ask");
    let at = Symbols::new(world.now as u32);
    world.devices[LEAF].mac.follow(at, Some(node(PARENT)));
    world.run(SECOND);
    assert_eq!(world.devices[LEAF].on, None);
}

#[test]
fn a_leaf_that_finds_no_parent_searches_ever_more_rarely() {
    const DAY: u64 = 86_400 * SECOND;
    let mut world = asleep(None);
    world.devices[PARENT].is_deaf = true;
    world.run(5 * u64::from(PERIOD));
    let (requests, spent) = (world.requests(), world.devices[LEAF].spent);
    world.run(DAY);
    // Data requests go on, every ten minutes at last: its parent may come back.
    let requests = (world.requests() - requests) / 4;
    assert!((140..160).contains(&requests), "each is sent four times: {requests}");
    let share = (world.devices[LEAF].spent - spent) as f64 / DAY as f64;
    assert!(share < 0.002, "{share}");
    assert_eq!(world.devices[LEAF].on, None);

    // Who asks all for a parent gets an answer within eight seconds, if pauses of ten minutes lie between.
    let at = Symbols::new(world.now as u32);
    world.devices[LEAF].mac.follow(at, None);
    let spent = world.devices[LEAF].spent;
    for _ in 0..288 {
        world.send(LEAF, BROADCAST, b"is anybody there?");
        world.run(300 * SECOND);
    }
    let share = (world.devices[LEAF].spent - spent) as f64 / DAY as f64;
    assert!((0.005..0.02).contains(&share), "{share}");
    world.run(600 * SECOND);
    world.send(LEAF, BROADCAST, b"is anybody there?");
    world.run(7 * SECOND);
    assert!(world.devices[LEAF].on.is_some());
    world.run(2 * SECOND);
    assert_eq!(world.devices[LEAF].on, None);

    world.devices[PARENT].is_deaf = false;
    let at = Symbols::new(world.now as u32);
    world.devices[LEAF].mac.follow(at, Some(node(PARENT)));
    world.run(SECOND);
    world.devices[PARENT].is_deaf = true;
    world.run(u64::from(PERIOD));
    assert!(world.devices[LEAF].on.is_some(), "it begins anew");
}

#[test]
fn a_frame_that_is_made_too_late_waits_for_the_next_data_request() {
    for suite in SUITES {
        for (slow, late) in [(0, false), (80, false), (150, true), (400, true)] {
            let mut world = asleep(suite);
            let retries = world.devices[PARENT].rig.counters.get(Counter::MacRetries);
            // Its channel access and its frame take no more than 12 ms beside that.
            world.devices[PARENT].slow = slow * SECOND / 1000;
            world.send(PARENT, node(LEAF), &[7; 60]);
            world.send(PARENT, node(LEAF), &[8; 60]);
            world.run(u64::from(PERIOD) + 4 * SECOND);
            assert_eq!(world.devices[LEAF].delivered, [[7; 60], [8; 60]], "{suite:?}, {slow} ms");
            let sent = world.frames.iter().filter(|(from, frame)| *from == PARENT && frame.len() > 60);
            assert!((2..=if late { 4 } else { 2 }).contains(&sent.count()), "{suite:?}, {slow} ms");
            assert_eq!(world.devices[PARENT].rig.counters.get(Counter::MacRetries), retries);
            assert_eq!(world.devices[PARENT].outcomes, [Outcome::Delivered; 2]);
            let at = Symbols::new(world.now as u32);
            assert!(world.devices[PARENT].mac.is_asleep(node(LEAF), at));
        }
    }
}

#[test]
fn of_the_frames_that_wait_for_data_requests_none_keeps_others_from_being_sent() {
    let mut world = asleep(None);
    let address = world.devices[LEAF].mac.address();
    world.devices[PARENT].slow = SECOND / 2;
    world.send(PARENT, address, b"late");
    world.run(u64::from(PERIOD));
    world.devices[LEAF].is_deaf = true;
    world.run(SECOND);
    for n in 0..20 {
        world.send(PARENT, BROADCAST, &[n]);
        world.run(SECOND);
        assert!(world.devices[PARENT].mac.can_send());
    }
}

#[test]
fn a_neighbour_that_does_not_know_yet_that_a_leaf_sleeps_may_answer_at_once() {
    let mut world = World::new(None);
    world.send(LEAF, node(PARENT), b"who are you?");
    while world.devices[PARENT].delivered.is_empty() {
        world.run(1);
    }
    world.send(PARENT, node(LEAF), b"your parent");
    assert!(world.devices[PARENT].held.is_empty());
    world.run(SECOND);
    assert_eq!(world.devices[LEAF].delivered, [b"your parent".to_vec()]);
    assert_eq!(world.devices[PARENT].outcomes, [Outcome::Delivered]);
    assert_eq!(world.devices[LEAF].on, None);
}

#[test]
fn after_a_frame_to_all_a_leaf_listens_for_a_second() {
    let mut world = asleep(None);
    world.send(LEAF, BROADCAST, b"is anybody there?");
    world.run(SECOND / 2);
    assert!(world.devices[LEAF].on.is_some());
    world.run(SECOND);
    assert_eq!(world.devices[LEAF].on, None);
}

#[test]
fn a_data_request_that_is_forged_or_replayed_takes_nothing() {
    let mut world = asleep(Some(LinkSuite::Ccm64));
    let recorded = world.frames.iter().rev().find(|(from, _)| *from == LEAF).unwrap().1.clone();
    assert_eq!(header(&recorded).frame_type, FrameType::Command);
    let (mut renumbered, mut forged) = (recorded.clone(), recorded.clone());
    renumbered[2] ^= 1;
    // The highest byte of its frame counter.
    forged[25] = 1;
    world.send(PARENT, node(LEAF), b"for the leaf");
    for (frame, counter) in [
        (with_fcs(renumbered), Counter::MacReplayed),
        (with_fcs(forged), Counter::MacBadMic),
        (recorded, Counter::MacDuplicate),
    ] {
        let began = world.now;
        world.arrive(PARENT, began, &frame);
        world.run(1000);
        assert_eq!(world.devices[PARENT].held.len(), 1);
        assert_eq!(world.devices[PARENT].rig.counters.get(counter), 1, "{counter:?}");
    }
    let acks: Vec<_> = world.frames.iter().rev().take(3).map(|(_, frame)| header(frame)).collect();
    assert!(acks.iter().all(|ack| ack.frame_type == FrameType::Ack && !ack.pending));
}
