//! How long each part of a node is in each of its states, and what it consumes by that: per state, the time, the current and
//! the voltage, multiplied.

use serde::Serialize;

use crate::profile::Profile;
use crate::time::{Span, Time};

/// What a radio does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum RadioState {
    /// It is off.
    Off,
    /// It waits for a frame, or assesses the channel.
    #[default]
    Listen,
    /// A frame comes in, intact or not, for this node or another.
    Receive,
    /// It sends.
    Transmit,
}

/// How long a radio has been in each state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RadioMeter {
    state: RadioState,
    since: Time,
    off: Span,
    listen: Span,
    receive: Span,
    transmit: Span,
}

impl RadioMeter {
    /// The radio is in `state` from `now` on.
    pub(crate) fn enter(&mut self, state: RadioState, now: Time) {
        let spent = match self.state {
            RadioState::Off => &mut self.off,
            RadioState::Listen => &mut self.listen,
            RadioState::Receive => &mut self.receive,
            RadioState::Transmit => &mut self.transmit,
        };
        *spent = *spent + now.since(self.since);
        (self.state, self.since) = (state, now);
    }
}

/// How long a CPU has been at work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuMeter {
    /// All work begun, whether it has ended or not.
    begun: Span,
    /// When the last of it ends.
    until: Time,
}

impl CpuMeter {
    /// Work begins at `now` and keeps the CPU busy until `end`; what was begun before has ended.
    pub(crate) fn work(&mut self, now: Time, end: Time) {
        self.begun = self.begun + end.since(now);
        self.until = end;
    }

    fn active(&self, now: Time) -> Span {
        self.begun.saturating_sub(self.until.since(now))
    }
}

/// How long a node's parts have been in each state. Those of the CPU, as those of the radio, add up to the time simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateTimes {
    /// The CPU was at work.
    pub cpu: Span,
    /// The CPU had nothing to do.
    pub lpm: Span,
    /// The radio sent.
    pub tx: Span,
    /// A frame came in.
    pub rx: Span,
    /// The radio waited for one.
    pub listen: Span,
    /// The radio was off.
    pub off: Span,
}

impl StateTimes {
    /// What the meters show at `now`.
    pub(crate) fn new(cpu: &CpuMeter, mut radio: RadioMeter, now: Time) -> Self {
        radio.enter(radio.state, now);
        let active = cpu.active(now);
        Self {
            cpu: active,
            lpm: now.since(Time::ZERO).saturating_sub(active),
            tx: radio.transmit,
            rx: radio.receive,
            listen: radio.listen,
            off: radio.off,
        }
    }
}

impl StateTimes {
    /// What has been added since `before`.
    pub fn since(&self, before: &Self) -> Self {
        let passed = |of: fn(&Self) -> Span| of(self).saturating_sub(of(before));
        Self {
            cpu: passed(|times| times.cpu),
            lpm: passed(|times| times.lpm),
            tx: passed(|times| times.tx),
            rx: passed(|times| times.rx),
            listen: passed(|times| times.listen),
            off: passed(|times| times.off),
        }
    }

    /// These times and `others`.
    pub(crate) fn and(&self, others: &Self) -> Self {
        Self {
            cpu: self.cpu + others.cpu,
            lpm: self.lpm + others.lpm,
            tx: self.tx + others.tx,
            rx: self.rx + others.rx,
            listen: self.listen + others.listen,
            off: self.off + others.off,
        }
    }
}

/// What a node has consumed, in millijoules, by state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// By the CPU at work.
    pub cpu: f64,
    /// By the CPU with nothing to do.
    pub lpm: f64,
    /// By the radio while it sent.
    pub tx: f64,
    /// By the radio while frames came in.
    pub rx: f64,
    /// By the radio while it waited for them.
    pub listen: f64,
}

impl Energy {
    /// What its parts are called in reports.
    pub(crate) const PARTS: [&str; 5] = ["cpu", "lpm", "tx", "rx", "listen"];

    /// What a node with these figures consumes in these times, to the nanojoule.
    pub fn of(profile: &Profile, times: &StateTimes) -> Self {
        let millijoules = |current: u32, span: Span| {
            // nA · mV · µs = 10⁻¹⁸ J
            let attojoules = u128::from(current) * u128::from(profile.millivolts) * u128::from(span.micros());
            (attojoules / 1_000_000_000) as f64 / 1e6
        };
        Self {
            cpu: millijoules(profile.cpu, times.cpu),
            lpm: millijoules(profile.lpm, times.lpm),
            tx: millijoules(profile.tx, times.tx),
            rx: millijoules(profile.rx, times.rx),
            listen: millijoules(profile.listen, times.listen),
        }
    }

    /// What all states come to.
    pub fn total(&self) -> f64 {
        self.without_listening() + self.listen
    }

    /// What a node spends on what it computes and sends: the rest it takes whatever happens, as its radio waits for frames or receives
    /// them.
    pub fn computing_and_sending(&self) -> f64 {
        self.cpu + self.tx
    }

    /// What all states come to but listening, which a radio that is never turned off does almost all the time.
    pub fn without_listening(&self) -> f64 {
        self.cpu + self.lpm + self.tx + self.rx
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn micros(times: StateTimes) -> [u64; 6] {
        [times.cpu, times.lpm, times.tx, times.rx, times.listen, times.off].map(Span::micros)
    }

    #[test]
    fn who_does_nothing_sleeps_and_listens() {
        let times = StateTimes::new(&CpuMeter::default(), RadioMeter::default(), at(1_000_000));
        assert_eq!(micros(times), [0, 1_000_000, 0, 0, 1_000_000, 0]);
    }

    #[test]
    fn work_that_is_under_way_counts_as_far_as_it_has_come() {
        let mut cpu = CpuMeter::default();
        cpu.work(at(100), at(150));
        cpu.work(at(200), at(300));
        let at_work = |now| StateTimes::new(&cpu, RadioMeter::default(), at(now)).cpu.micros();
        assert_eq!([200, 240, 300, 900].map(at_work), [50, 90, 150, 150]);
    }

    #[test]
    fn the_papers_figures_give_the_papers_energies() {
        // The thesis, section 6.1: a second of each state of a Tmote Sky at 3 V.
        let second = Span::from_secs(1);
        let times =
            StateTimes { cpu: second, lpm: second, tx: second, rx: second, listen: second, off: second };
        let energy = Energy::of(Platform::tmote_sky().profile(), &times);
        let expected = Energy { cpu: 5.4, lpm: 0.1635, tx: 53.1, rx: 60.0, listen: 60.0 };
        assert_eq!(energy, expected);
        // SecureSense, table 1, which rounds: 39, 1.8, 85, 60 and 72 mW.
        let energy = Energy::of(Platform::openmote().profile(), &times);
        assert_eq!(energy, Energy { cpu: 39.0, lpm: 1.8, tx: 84.9, rx: 60.0, listen: 72.0 });
    }

    proptest::proptest! {
        #[test]
        fn a_radios_times_add_up_however_it_changes(changes in proptest::collection::vec((0u64..5000, 0..4), 0..50)) {
            let (mut meter, mut now) = (RadioMeter::default(), 0);
            for (later, state) in changes {
                now += later;
                let state =
                    [RadioState::Listen, RadioState::Receive, RadioState::Transmit, RadioState::Off][state as usize];
                meter.enter(state, at(now));
            }
            let [cpu, lpm, tx, rx, listen, off] = micros(StateTimes::new(&CpuMeter::default(), meter, at(now + 7)));
            proptest::prop_assert_eq!(cpu + lpm, now + 7);
            proptest::prop_assert_eq!(tx + rx + listen + off, now + 7);
        }
    }
}
