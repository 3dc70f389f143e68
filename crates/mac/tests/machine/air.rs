//! A few MACs on one radio channel in virtual time.

use sixlock_base::{Counter, Eui64, LinkSuite, Symbols};
use sixlock_crypto::Soft;
use sixlock_ieee802154::fcs;
use sixlock_mac::{
    Config, Csma, Event, Link, LinkSecurity, Mac, Outcome, RadioCommand, SendError, TransmitId,
};
use sixlock_testing::Rig;

pub(crate) const PAN: u16 = 0xabcd;
const CCA: u64 = 8;
const TURNAROUND: u64 = 12;

/// `frame` with the FCS that fits it.
pub(crate) fn with_fcs(mut frame: Vec<u8>) -> Vec<u8> {
    let body = frame.len() - 2;
    let check = fcs(&frame[..body]).to_le_bytes();
    frame[body..].copy_from_slice(&check);
    frame
}

pub(crate) fn config(id: u32, suite: Option<LinkSuite>) -> Config {
    Config {
        address: Eui64::of_node(id),
        pan_id: PAN,
        csma: Csma::default(),
        ack: true,
        security: suite.map(|suite| LinkSecurity { suite, key: *b"one key for all.", key_index: 1 }),
    }
}

/// A device: its MAC, and what that is lent.
pub(crate) struct Station {
    pub(crate) mac: Mac<Soft, Link<true, 4, 3>>,
    pub(crate) config: Config,
    /// It outlasts a reboot.
    pub(crate) rig: Rig,
    /// The end of the transmission under way.
    sending: Option<u64>,
    /// The begin of the channel assessment that it was told.
    assessing: Option<u64>,
    /// The begin of the transmission that it was told.
    sends: Option<u64>,
}

fn started(config: &Config) -> Mac<Soft, Link<true, 4, 3>> {
    let mut mac = Mac::new();
    mac.start(config, &mut Soft);
    mac
}

impl Station {
    pub(crate) fn new(config: Config, seed: u32) -> Self {
        Self {
            mac: started(&config),
            config,
            rig: Rig::seeded(seed),
            sending: None,
            assessing: None,
            sends: None,
        }
    }

    /// The MAC starts anew.
    pub(crate) fn reboot(&mut self) {
        self.mac = started(&self.config);
        (self.sending, self.assessing, self.sends) = (None, None, None);
    }

    pub(crate) fn count(&self, counter: Counter) -> u32 {
        self.rig.count(counter)
    }

    pub(crate) fn send(&mut self, at: Symbols, to: Eui64, payload: &[u8]) -> Result<TransmitId, SendError> {
        self.mac.send(&mut self.rig.cx(), at, to, payload)
    }

    pub(crate) fn frame(&mut self, at: Symbols, frame: &mut [u8]) -> Option<(Eui64, Eui64, Vec<u8>)> {
        let received = self.mac.handle_frame(&mut self.rig.cx(), at, frame)?;
        Some((received.source, received.destination, received.payload.to_vec()))
    }

    pub(crate) fn cca(&mut self, at: Symbols, clear: bool) {
        self.mac.handle_cca(&mut self.rig.cx(), at, clear);
    }

    pub(crate) fn transmitted(&mut self, at: Symbols) {
        self.mac.handle_transmitted(&mut self.rig.cx(), at);
    }

    pub(crate) fn timeout(&mut self, at: Symbols) {
        self.mac.handle_timeout(&mut self.rig.cx(), at);
    }

    /// Waits for the MAC's next deadline and lets it do what is due.
    pub(crate) fn wait(&mut self) -> Symbols {
        let at = self.mac.poll_timeout().expect("the machine waits for nothing");
        self.timeout(at);
        at
    }
}

/// A transmission on the channel.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) from: usize,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) frame: Vec<u8>,
}

impl Sent {
    pub(crate) fn is_ack(&self) -> bool {
        self.frame.len() == 5
    }
}

/// When `at` comes; `now` if it has passed.
fn absolute(now: u64, at: Symbols) -> u64 {
    let ahead = at.count().wrapping_sub(now as u32);
    now + if ahead < 1 << 31 { u64::from(ahead) } else { 0 }
}

/// Whether a transmission is lost on its way to a station.
type Loss = dyn FnMut(&Sent, usize) -> bool;

/// The channel and the stations on it, all in each other's range.
pub(crate) struct Air {
    pub(crate) stations: Vec<Station>,
    pub(crate) lost: Box<Loss>,
    /// A carrier that never ends.
    pub(crate) jammed: bool,
    pub(crate) sent: Vec<Sent>,
    /// Receiver, sender, destination and payload.
    pub(crate) delivered: Vec<(usize, Eui64, Eui64, Vec<u8>)>,
    pub(crate) outcomes: Vec<(usize, TransmitId, Outcome)>,
    pub(crate) assessments: usize,
    now: u64,
}

impl Air {
    /// `count` stations with ids from 0 on; radio time begins at `start`.
    pub(crate) fn new(count: u32, suite: Option<LinkSuite>, start: u32, seed: u32) -> Self {
        Self {
            stations: (0..count).map(|id| Station::new(config(id, suite), seed * 100 + id)).collect(),
            lost: Box::new(|_, _| false),
            jammed: false,
            sent: Vec::new(),
            delivered: Vec::new(),
            outcomes: Vec::new(),
            assessments: 0,
            now: u64::from(start),
        }
    }

    pub(crate) fn now(&self) -> Symbols {
        Symbols::new(self.now as u32)
    }

    pub(crate) fn send(&mut self, from: usize, to: Eui64, payload: &[u8]) -> Result<TransmitId, SendError> {
        let at = self.now();
        let id = self.stations[from].send(at, to, payload);
        self.drain(from);
        id
    }

    /// Lets everything happen that is under way, for up to ten seconds.
    pub(crate) fn run(&mut self) {
        let end = self.now + 625_000;
        while let Some(next) = self.next() {
            assert!(next <= end, "the stations do not come to rest");
            self.now = next;
            self.step();
        }
    }

    /// Lets `symbols` pass.
    pub(crate) fn run_for(&mut self, symbols: u64) {
        let end = self.now + symbols;
        while let Some(next) = self.next().filter(|&next| next <= end) {
            self.now = next;
            self.step();
        }
        self.now = end;
    }

    /// The time of the next thing to happen.
    fn next(&self) -> Option<u64> {
        let now = self.now;
        let times = self.stations.iter().flat_map(|station| {
            let timeout = station.mac.poll_timeout().map(|at| absolute(now, at));
            [station.sending, station.assessing.map(|start| start + CCA), station.sends, timeout]
        });
        times.flatten().min()
    }

    fn step(&mut self) {
        let at = self.now();
        for n in 0..self.stations.len() {
            if self.stations[n].sending == Some(self.now) {
                self.stations[n].sending = None;
                self.stations[n].transmitted(at);
                self.drain(n);
                let sent = self.sent.iter().rev().find(|sent| sent.from == n).unwrap().clone();
                self.propagate(&sent);
            }
            if let Some(start) = self.stations[n].assessing
                && start + CCA == self.now
            {
                self.stations[n].assessing = None;
                self.assessments += 1;
                let clear =
                    !self.jammed && !self.sent.iter().any(|sent| sent.start < self.now && sent.end > start);
                if clear {
                    self.stations[n].sends = Some(self.now + TURNAROUND);
                } else {
                    self.stations[n].cca(at, false);
                    self.drain(n);
                }
            }
            if self.stations[n].sends == Some(self.now) {
                self.stations[n].sends = None;
                let frame = self.stations[n].mac.transmit_frame().to_vec();
                let end = self.now + 2 * (6 + frame.len() as u64);
                self.stations[n].sending = Some(end);
                self.sent.push(Sent { from: n, start: self.now, end, frame });
            }
            if self.stations[n].mac.poll_timeout().is_some_and(|due| at.has_reached(due)) {
                self.stations[n].timeout(at);
                self.drain(n);
            }
        }
    }

    /// Brings a transmission that has ended to everybody who could hear all of it.
    fn propagate(&mut self, sent: &Sent) {
        let at = self.now();
        let disturbed = self.sent.iter().any(|other| {
            (other.from, other.start) != (sent.from, sent.start)
                && other.start < sent.end
                && other.end > sent.start
        });
        for n in 0..self.stations.len() {
            if n == sent.from || disturbed || (self.lost)(sent, n) {
                continue;
            }
            if let Some((source, destination, payload)) = self.stations[n].frame(at, &mut sent.frame.clone())
            {
                self.delivered.push((n, source, destination, payload));
            }
            self.drain(n);
        }
    }

    /// Does what a station's MAC asks for.
    fn drain(&mut self, n: usize) {
        let station = &mut self.stations[n];
        while let Some(command) = station.mac.poll_radio() {
            assert_eq!(station.sending, None, "a radio does one thing at a time");
            let RadioCommand::Send { at, assess } = command else { panic!("{command:?} of CSMA-CA") };
            let begin = Some(absolute(self.now, at));
            (station.assessing, station.sends) = if assess { (begin, None) } else { (None, begin) };
        }
        while let Some(Event::Sent { id, outcome, .. }) = station.mac.poll_event() {
            self.outcomes.push((n, id, outcome));
        }
    }
}
