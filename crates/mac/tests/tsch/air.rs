//! Devices, their drifting clocks and their radios.

use sixlock_base::{Eui64, LinkSuite, Symbols};
use sixlock_crypto::Soft;
use sixlock_ieee802154::enhanced::{Asn, Timeslot};
use sixlock_mac::tsch::{Slotframes, Tsch, TschConfig};
use sixlock_mac::{Config, Csma, Event, Link, LinkSecurity, Outcome, RadioCommand};
use sixlock_testing::Rig;

/// Nanoseconds of a symbol.
const SYMBOL: u64 = 16_000;
pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const PAN: u16 = 0xabcd;

pub(crate) type Machine = Tsch<Soft, Link<true, 8, 4>>;

pub(crate) fn config(id: u32, suite: Option<LinkSuite>) -> Config {
    Config {
        address: Eui64::of_node(id),
        pan_id: PAN,
        csma: Csma { min_be: 1, max_be: 5, max_backoffs: 0, max_retries: 3 },
        ack: true,
        security: suite.map(|suite| LinkSecurity { suite, key: *b"one key for all.", key_index: 1 }),
    }
}

pub(crate) fn slots(id: u32, slotframes: Slotframes) -> TschConfig {
    TschConfig {
        is_coordinator: id == 0,
        slotframes,
        timeslot: Timeslot { template: 0, times: None },
        beacon_period: 400,
        guard: None,
    }
}

/// A frame on the air.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) from: usize,
    /// The number of the slot, as its sender counts.
    pub(crate) asn: Asn,
    pub(crate) channel: u8,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) frame: Vec<u8>,
}

pub(crate) struct Device {
    pub(crate) machine: Machine,
    pub(crate) config: Config,
    pub(crate) slots: TschConfig,
    pub(crate) rig: Rig,
    /// How much faster its clock is than time, in parts in a million, and what it said when time began.
    ppm: i64,
    origin: u64,
    channel: u8,
    /// Since when it listens.
    listens: Option<u64>,
    pub(crate) radio_on: u64,
    command: Option<(u64, RadioCommand)>,
    assessed: Option<u64>,
    sends: Option<u64>,
}

impl Device {
    fn symbols(&self, now: u64) -> u64 {
        self.origin + now * (1_000_000 + self.ppm).cast_unsigned() / 1_000_000 / SYMBOL
    }

    fn local(&self, now: u64) -> Symbols {
        Symbols::new(self.symbols(now) as u32)
    }

    /// When the device's clock says `at`; now if it has.
    fn when(&self, now: u64, at: Symbols) -> u64 {
        let ahead = at.count().wrapping_sub(self.local(now).count());
        if ahead == 0 || ahead >= 1 << 31 {
            return now;
        }
        let symbols = self.symbols(now) + u64::from(ahead) - self.origin;
        let time = u128::from(symbols * SYMBOL) * 1_000_000 / (1_000_000 + self.ppm).cast_unsigned() as u128;
        let mut time = time as u64;
        while self.symbols(time) - self.origin < symbols {
            time += 1;
        }
        time
    }

    fn listen(&mut self, now: u64, listens: bool) {
        match (self.listens, listens) {
            (Some(since), false) => {
                self.radio_on += now - since;
                self.listens = None;
            }
            (None, true) => self.listens = Some(now),
            _ => {}
        }
    }
}

/// What became of a frame: whose it was, and what its MAC said.
pub(crate) type SentEvent = (usize, Eui64, Outcome, u8);

/// Who received: the receiver, the sender, the destination and the payload.
pub(crate) type Delivered = (usize, Eui64, Eui64, Vec<u8>);

pub(crate) struct Air {
    pub(crate) devices: Vec<Device>,
    /// Whether what the first sends reaches the second, at that time.
    pub(crate) linked: Box<dyn FnMut(usize, usize, u64) -> bool>,
    /// From when on no beacon is heard any more.
    pub(crate) no_beacons: Option<u64>,
    on_air: Vec<Sent>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) delivered: Vec<Delivered>,
    pub(crate) outcomes: Vec<SentEvent>,
    pub(crate) now: u64,
}

impl Air {
    /// A coordinator and others, whose clocks are as fast as `ppm` says.
    pub(crate) fn new(ppm: &[i64], suite: Option<LinkSuite>, slotframes: Slotframes) -> Self {
        let mut air = Self {
            devices: Vec::new(),
            linked: Box::new(|_, _, _| true),
            no_beacons: None,
            on_air: Vec::new(),
            sent: Vec::new(),
            delivered: Vec::new(),
            outcomes: Vec::new(),
            now: 0,
        };
        for (id, &ppm) in (0..).zip(ppm) {
            let (config, slots) = (config(id, suite), slots(id, slotframes));
            air.devices.push(Device {
                machine: Machine::new(),
                config,
                slots,
                rig: Rig::seeded(id + 1),
                ppm,
                // Clocks wrap soon after the begin.
                origin: u64::from(u32::MAX) - 1_000_000 * u64::from(id + 1),
                channel: 11,
                listens: None,
                radio_on: 0,
                command: None,
                assessed: None,
                sends: None,
            });
            assert!(air.start(id as usize));
        }
        air
    }

    /// Starts a device, also anew; what it had reserved stays.
    pub(crate) fn start(&mut self, device: usize) -> bool {
        let now = self.now;
        let device = &mut self.devices[device];
        device.listen(now, false);
        (device.command, device.assessed, device.sends) = (None, None, None);
        device.machine = Machine::new();
        let (slots, at) = (device.slots, device.local(now));
        device.machine.set_slots(&slots, at);
        device.machine.start(&device.config, &mut device.rig.cx())
    }

    pub(crate) fn send(&mut self, from: usize, to: Eui64, payload: &[u8]) {
        let device = &mut self.devices[from];
        let at = device.local(self.now);
        device.machine.send(&mut device.rig.cx(), at, to, payload).unwrap();
    }

    pub(crate) fn have_joined(&self) -> bool {
        self.devices.iter().all(|device| device.machine.has_joined())
    }

    /// What is next on the way, before `until`.
    fn next(&self, until: u64) -> u64 {
        let mut next = until;
        for device in &self.devices {
            let timeout = device.machine.poll_timeout().map(|at| device.when(self.now, at));
            let command = device.command.map(|(time, _)| time);
            for time in [timeout, command, device.assessed, device.sends].into_iter().flatten() {
                next = next.min(time);
            }
        }
        next.max(self.now)
    }

    pub(crate) fn run(&mut self, seconds: u64) {
        let until = self.now + seconds * SECOND;
        while self.now < until {
            self.now = self.next(until);
            for id in 0..self.devices.len() {
                self.step(id);
            }
            let now = self.now;
            self.on_air.retain(|sent| sent.end + SECOND > now);
        }
    }

    /// Whether something on a device's channel is heard between two times.
    fn is_busy(&mut self, id: usize, from: u64, to: u64) -> bool {
        let channel = self.devices[id].channel;
        let linked = &mut self.linked;
        self.on_air.iter().any(|sent| {
            sent.from != id
                && sent.channel == channel
                && sent.begin < to
                && sent.end > from
                && linked(sent.from, id, sent.begin)
        })
    }

    fn step(&mut self, id: usize) {
        let now = self.now;
        if self.devices[id].sends.take_if(|end| *end <= now).is_some() {
            self.transmitted(id);
        }
        if self.devices[id].assessed.take_if(|end| *end <= now).is_some() {
            let busy = self.is_busy(id, now - 8 * SYMBOL, now);
            let device = &mut self.devices[id];
            let at = device.local(now);
            device.machine.handle_cca(&mut device.rig.cx(), at, !busy);
        }
        let device = &mut self.devices[id];
        if let Some((_, command)) = device.command.take_if(|(time, _)| *time <= now) {
            self.obey(id, command);
        }
        let device = &mut self.devices[id];
        let at = device.local(now);
        device.machine.handle_timeout(&mut device.rig.cx(), at);
        while let Some(Event::Sent { destination, outcome, attempts, .. }) = device.machine.poll_event() {
            self.outcomes.push((id, destination, outcome, attempts));
        }
        while let Some(command) = device.machine.poll_radio() {
            device.channel = device.machine.channel();
            device.command = Some((device.when(now, command.at()), command));
        }
        if let Some((_, command)) = device.command.take_if(|(time, _)| *time <= now) {
            self.obey(id, command);
        }
    }

    fn obey(&mut self, id: usize, command: RadioCommand) {
        let now = self.now;
        let device = &mut self.devices[id];
        match command {
            RadioCommand::Listen { .. } => device.listen(now, true),
            RadioCommand::Off { .. } => device.listen(now, false),
            RadioCommand::Assess { .. } => device.assessed = Some(now + 8 * SYMBOL),
            RadioCommand::Send { assess, .. } => {
                assert!(!assess, "slots need no assessment");
                let frame = device.machine.transmit_frame().to_vec();
                assert!(!frame.is_empty());
                let end = now + (frame.len() as u64 + 6) * 2 * SYMBOL;
                device.sends = Some(end);
                device.radio_on += end - now;
                device.listen(now, false);
                let (asn, channel) = (device.machine.asn(), device.channel);
                let sent = Sent { from: id, asn, channel, begin: now, end, frame };
                self.on_air.push(sent.clone());
                self.sent.push(sent);
            }
        }
    }

    /// An attacker sends what it has recorded to all who listen, on whatever channel.
    pub(crate) fn replay(&mut self, recorded: &Sent) {
        for device in self.devices.iter_mut().filter(|device| device.listens.is_some()) {
            let at = device.local(self.now);
            device.machine.handle_frame(&mut device.rig.cx(), at, &mut recorded.frame.clone());
        }
    }

    /// The frame of a device is out: it comes to all who listened to it alone.
    fn transmitted(&mut self, id: usize) {
        let now = self.now;
        let sent = self.on_air.iter().rfind(|sent| sent.from == id).unwrap().clone();
        for other in (0..self.devices.len()).filter(|&other| other != id) {
            let listens = self.devices[other].listens.is_some_and(|since| since <= sent.begin)
                && self.devices[other].channel == sent.channel;
            if !listens || !(self.linked)(id, other, sent.begin) {
                continue;
            }
            let linked = &mut self.linked;
            let is_met = self.on_air.iter().any(|met| {
                met.from != id
                    && met.channel == sent.channel
                    && met.begin < sent.end
                    && met.end > sent.begin
                    && linked(met.from, other, met.begin)
            });
            let is_beacon = sent.frame[0] & 7 == 0;
            if is_met || is_beacon && self.no_beacons.is_some_and(|from| now >= from) {
                continue;
            }
            let device = &mut self.devices[other];
            let (at, mut frame) = (device.local(now), sent.frame.clone());
            if let Some(received) = device.machine.handle_frame(&mut device.rig.cx(), at, &mut frame) {
                let payload = received.payload.to_vec();
                self.delivered.push((other, received.source, received.destination, payload));
            }
        }
        let device = &mut self.devices[id];
        let at = device.local(now);
        device.machine.handle_transmitted(&mut device.rig.cx(), at);
    }
}
