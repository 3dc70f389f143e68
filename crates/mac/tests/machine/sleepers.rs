//! A few MACs whose radios sleep on one channel in virtual time.

use sixlock_base::{Eui64, LinkSuite, Symbols};
use sixlock_crypto::Soft;
use sixlock_mac::contikimac::{ContikiMac, Times};
use sixlock_mac::{Config, Csma, DutyCycled, Event, Link, Mac, Outcome, RadioCommand, TransmitId};
use sixlock_testing::Rig;

use crate::air::config;

const ASSESSMENT: u64 = 8;

pub(crate) type Sleepy = Mac<Soft, DutyCycled<Link<true, 4, 3>, ContikiMac<2>>>;

/// What a radio does next.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Listen(bool),
    Assess { left: u8, apart: u64 },
    Assessing { left: u8, apart: u64, began: u64 },
    Send,
}

/// A device, whose clock shows so many symbols more than the channel's.
pub(crate) struct Sleeper {
    pub(crate) mac: Sleepy,
    pub(crate) rig: Rig,
    pub(crate) ahead: u32,
    pub(crate) commands: Vec<RadioCommand>,
    pub(crate) on: u64,
    next: Option<(u64, Doing)>,
    listens: bool,
    assesses: bool,
    since: u64,
    sending: Option<u64>,
}

impl Sleeper {
    pub(crate) fn started(id: u32, config: &Config, times: Times, phase_lock: bool, wakes: u32) -> Self {
        let mut mac = Sleepy::new();
        mac.start(config, &mut Soft);
        mac.listening().start(times, phase_lock, Symbols::new(0), wakes);
        Self {
            mac,
            rig: Rig::seeded(id + 1),
            ahead: 0,
            commands: Vec::new(),
            on: 0,
            next: None,
            listens: true,
            assesses: false,
            since: 0,
            sending: None,
        }
    }

    pub(crate) fn at(&self, now: u64) -> Symbols {
        Symbols::new((now as u32).wrapping_add(self.ahead))
    }

    fn absolute(&self, now: u64, at: Symbols) -> u64 {
        let later = at.count().wrapping_sub(self.at(now).count());
        now + if later < 1 << 31 { u64::from(later) } else { 0 }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.listens || self.assesses || self.sending.is_some()
    }

    fn set(&mut self, now: u64, change: impl FnOnce(&mut Self)) {
        let (before, heard) = (self.is_on(), self.listens);
        if before {
            self.on += now - self.since.min(now);
        }
        change(self);
        if before || !heard && self.listens || self.is_on() {
            self.since = now;
        }
    }
}

/// A frame that was on the air.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) from: usize,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) frame: Vec<u8>,
}

/// The channel, in whose range all are.
pub(crate) struct Channel {
    pub(crate) sleepers: Vec<Sleeper>,
    pub(crate) now: u64,
    pub(crate) copies: Vec<Copy>,
    /// Receiver, destination and payload.
    pub(crate) delivered: Vec<(usize, Eui64, Vec<u8>)>,
    pub(crate) outcomes: Vec<(usize, TransmitId, Outcome)>,
    /// When there is noise.
    pub(crate) noise: std::ops::Range<u64>,
    /// Since when each listens without a pause.
    listening: Vec<u64>,
}

/// The configuration of device `id` with the CSMA of Contiki, but for its times: those of the standard are short, which saves tests time.
pub(crate) fn contending(id: u32, suite: Option<LinkSuite>) -> Config {
    Config { csma: Csma { max_backoffs: u8::MAX, ..Csma::default() }, ..config(id, suite) }
}

impl Channel {
    /// So many devices, which wake up one after the other.
    pub(crate) fn new(count: u32, suite: Option<LinkSuite>, times: Times, phase_lock: bool) -> Self {
        let sleeper = |id| Sleeper::started(id, &contending(id, suite), times, phase_lock, 3000 + id * 2500);
        let mut channel = Self {
            sleepers: (0..count).map(sleeper).collect(),
            now: 0,
            copies: Vec::new(),
            delivered: Vec::new(),
            outcomes: Vec::new(),
            noise: 0..0,
            listening: vec![0; count as usize],
        };
        (0..count as usize).for_each(|n| channel.drain(n));
        channel
    }

    /// One more comes.
    pub(crate) fn add(&mut self, sleeper: Sleeper) {
        self.sleepers.push(sleeper);
        self.listening.push(0);
        self.drain(self.sleepers.len() - 1);
    }

    /// One is gone.
    pub(crate) fn remove(&mut self, n: usize) {
        self.sleepers.remove(n);
        self.listening.remove(n);
    }

    pub(crate) fn send(&mut self, from: usize, to: Eui64, payload: &[u8]) -> TransmitId {
        let sleeper = &mut self.sleepers[from];
        let at = sleeper.at(self.now);
        let id = sleeper.mac.send(&mut sleeper.rig.cx(), at, to, payload).unwrap();
        self.drain(from);
        id
    }

    /// Lets so many symbols pass.
    pub(crate) fn run(&mut self, symbols: u64) {
        let end = self.now + symbols;
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.now = next;
            (0..self.sleepers.len()).for_each(|n| self.step(n));
        }
        self.now = end;
    }

    fn next(&self) -> Option<u64> {
        let times = self.sleepers.iter().flat_map(|sleeper| {
            let timer = sleeper.mac.poll_timeout().map(|at| sleeper.absolute(self.now, at));
            [timer, sleeper.next.map(|(time, _)| time), sleeper.sending]
        });
        times.flatten().min()
    }

    fn step(&mut self, n: usize) {
        let now = self.now;
        if self.sleepers[n].sending == Some(now) {
            let copy = self.copies.iter().rev().find(|copy| copy.from == n).unwrap().clone();
            self.propagate(&copy);
            let sleeper = &mut self.sleepers[n];
            sleeper.set(now, |sleeper| sleeper.sending = None);
            self.listening[n] = now;
            let at = sleeper.at(now);
            sleeper.mac.handle_transmitted(&mut sleeper.rig.cx(), at);
            self.drain(n);
        }
        if let Some((_, doing)) = self.sleepers[n].next.take_if(|(time, _)| *time <= now) {
            self.go_on(n, doing);
        }
        let sleeper = &mut self.sleepers[n];
        let at = sleeper.at(now);
        if sleeper.mac.poll_timeout().is_some_and(|due| at.has_reached(due)) {
            sleeper.mac.handle_timeout(&mut sleeper.rig.cx(), at);
            self.drain(n);
        }
    }

    fn go_on(&mut self, n: usize, doing: Doing) {
        let now = self.now;
        let is_clear = |began: u64| {
            let is_on_air = |copy: &Copy| copy.from != n && copy.start < now && copy.end > began;
            !self.copies.iter().rev().take(20).any(is_on_air)
                && (self.noise.end <= began || self.noise.start >= now)
        };
        match doing {
            Doing::Listen(listens) => {
                if !self.sleepers[n].listens {
                    self.listening[n] = now;
                }
                self.sleepers[n].set(now, |sleeper| sleeper.listens = listens);
            }
            Doing::Assess { left, apart } => {
                self.sleepers[n].set(now, |sleeper| sleeper.assesses = true);
                self.sleepers[n].next =
                    Some((now + ASSESSMENT, Doing::Assessing { left, apart, began: now }));
            }
            Doing::Assessing { left, apart, began } => {
                let clear = is_clear(began);
                if clear && left > 1 {
                    self.sleepers[n].next = Some((began + apart, Doing::Assess { left: left - 1, apart }));
                    return;
                }
                let sleeper = &mut self.sleepers[n];
                sleeper.set(now, |sleeper| sleeper.assesses = false);
                let at = sleeper.at(now);
                sleeper.mac.handle_cca(&mut sleeper.rig.cx(), at, clear);
                self.drain(n);
            }
            Doing::Send => {
                let sleeper = &mut self.sleepers[n];
                let frame = sleeper.mac.transmit_frame().to_vec();
                let end = now + 2 * (6 + frame.len() as u64);
                sleeper.set(now, |sleeper| sleeper.sending = Some(end));
                self.copies.push(Copy { from: n, start: now, end, frame });
            }
        }
    }

    fn propagate(&mut self, copy: &Copy) {
        let overlaps = |other: &&Copy| other.start < copy.end && other.end > copy.start;
        let is_alone = self.copies.iter().filter(overlaps).count() == 1;
        for n in 0..self.sleepers.len() {
            let hears = self.sleepers[n].listens && self.listening[n] <= copy.start;
            if n == copy.from || !is_alone || !hears || self.sleepers[n].sending.is_some() {
                continue;
            }
            let sleeper = &mut self.sleepers[n];
            let at = sleeper.at(self.now);
            let mut frame = copy.frame.clone();
            if let Some(received) = sleeper.mac.handle_frame(&mut sleeper.rig.cx(), at, &mut frame) {
                self.delivered.push((n, received.destination, received.payload.to_vec()));
            }
            self.drain(n);
        }
    }

    fn drain(&mut self, n: usize) {
        let now = self.now;
        while let Some(command) = self.sleepers[n].mac.poll_radio() {
            let sleeper = &mut self.sleepers[n];
            assert_eq!(sleeper.sending, None, "a frame is under way");
            sleeper.commands.push(command);
            sleeper.set(now, |sleeper| sleeper.assesses = false);
            let (at, doing) = match command {
                RadioCommand::Listen { at } => (at, Doing::Listen(true)),
                RadioCommand::Off { at } => (at, Doing::Listen(false)),
                RadioCommand::Assess { at, times, apart } => {
                    (at, Doing::Assess { left: times, apart: apart.into() })
                }
                RadioCommand::Send { at, assess } => {
                    assert!(!assess, "it assesses the channel before");
                    (at, Doing::Send)
                }
            };
            let time = sleeper.absolute(now, at);
            sleeper.next = Some((time, doing));
            if let (true, Doing::Listen(_)) = (time == now, doing) {
                sleeper.next = None;
                self.go_on(n, doing);
            }
        }
        while let Some(Event::Sent { id, outcome, .. }) = self.sleepers[n].mac.poll_event() {
            self.outcomes.push((n, id, outcome));
        }
    }

    /// The copies that a device has sent, without acknowledgements.
    pub(crate) fn frames(&self, from: usize) -> Vec<&Copy> {
        self.copies.iter().filter(|copy| copy.from == from && copy.frame.len() > 5).collect()
    }
}
