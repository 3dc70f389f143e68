//! What a node consumes by what its components do: per state, the time, the current and the voltage, multiplied.

use serde::Serialize;

use crate::meters::{Meters, RadioMeter};
use crate::profile::Profile;
use crate::time::{Span, Time};

/// How long a node's components have been in each state. Those of the CPU, as those of the radio, add up to the time simulated.
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
    /// An accelerator was at work, its bus included; it is idle otherwise.
    pub engine: Span,
    /// Non-volatile storage was written to; it is idle otherwise.
    pub storage: Span,
}

impl StateTimes {
    /// What the meters show at `now`.
    pub(crate) fn new(meters: &Meters, radio: &RadioMeter, now: Time) -> Self {
        let cpu = meters.cpu.active(now);
        let [off, listen, rx, tx] = radio.spans(now);
        let lpm = now.since(Time::ZERO).saturating_sub(cpu);
        let (engine, storage) = (meters.engine.active(now), meters.storage.active(now));
        Self { cpu, lpm, tx, rx, listen, off, engine, storage }
    }

    fn with(&self, others: &Self, combine: impl Fn(Span, Span) -> Span) -> Self {
        Self {
            cpu: combine(self.cpu, others.cpu),
            lpm: combine(self.lpm, others.lpm),
            tx: combine(self.tx, others.tx),
            rx: combine(self.rx, others.rx),
            listen: combine(self.listen, others.listen),
            off: combine(self.off, others.off),
            engine: combine(self.engine, others.engine),
            storage: combine(self.storage, others.storage),
        }
    }

    /// What has been added since `before`.
    pub fn since(&self, before: &Self) -> Self {
        self.with(before, Span::saturating_sub)
    }

    /// These times and `others`.
    pub(crate) fn and(&self, others: &Self) -> Self {
        self.with(others, |own, other| own + other)
    }
}

/// A value for each component of a node and each of its states, in their order in reports. What no current is known of has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ByState<T> {
    /// The CPU at work.
    pub cpu: T,
    /// The CPU with nothing to do.
    pub lpm: T,
    /// The radio while it is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<T>,
    /// The radio while it waits for frames.
    pub listen: T,
    /// The radio while frames come in.
    pub rx: T,
    /// The radio while it sends.
    pub tx: T,
    /// The accelerator at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<T>,
    /// Storage that is written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<T>,
}

/// What a node has consumed, in millijoules.
pub type Energy = ByState<f64>;

/// The same in nanojoules, of which reports are made.
pub(crate) type Nanojoules = ByState<u128>;

impl<T: Copy> ByState<T> {
    /// What its parts are called in reports.
    pub(crate) const PARTS: [&str; 8] = ["cpu", "lpm", "off", "listen", "rx", "tx", "engine", "storage"];

    /// The parts, in that order.
    pub(crate) const fn parts(&self) -> [Option<T>; 8] {
        let Self { cpu, lpm, off, listen, rx, tx, engine, storage } = *self;
        [Some(cpu), Some(lpm), off, Some(listen), Some(rx), Some(tx), engine, storage]
    }

    fn map<U>(&self, make: impl Fn(T) -> U) -> ByState<U> {
        ByState {
            cpu: make(self.cpu),
            lpm: make(self.lpm),
            off: self.off.map(&make),
            listen: make(self.listen),
            rx: make(self.rx),
            tx: make(self.tx),
            engine: self.engine.map(&make),
            storage: self.storage.map(&make),
        }
    }
}

impl Nanojoules {
    /// What a node with these figures consumes in these times, each part rounded down.
    pub(crate) fn of(profile: &Profile, times: &StateTimes) -> Self {
        let Profile { millivolts, storage, .. } = *profile;
        let nanojoules = |current: u32, span: Span| {
            // nA · mV · µs = 10⁻¹⁸ J
            u128::from(current) * u128::from(millivolts) * u128::from(span.micros()) / 1_000_000_000
        };
        Self {
            cpu: nanojoules(profile.cpu, times.cpu),
            lpm: nanojoules(profile.lpm, times.lpm),
            off: profile.off.map(|current| nanojoules(current, times.off)),
            listen: nanojoules(profile.listen, times.listen),
            rx: nanojoules(profile.rx, times.rx),
            tx: nanojoules(profile.tx, times.tx),
            engine: profile.engine.map(|current| nanojoules(current, times.engine)),
            storage: storage.map(|storage| nanojoules(storage.current, times.storage)),
        }
    }

    /// What is left of it without `others`, of the same figures.
    pub(crate) fn without(&self, others: &Self) -> Self {
        let less = |own: Option<u128>, other: Option<u128>| own.map(|own| own - other.unwrap_or(0));
        Self {
            cpu: self.cpu - others.cpu,
            lpm: self.lpm - others.lpm,
            off: less(self.off, others.off),
            listen: self.listen - others.listen,
            rx: self.rx - others.rx,
            tx: self.tx - others.tx,
            engine: less(self.engine, others.engine),
            storage: less(self.storage, others.storage),
        }
    }

    /// The same in millijoules.
    pub(crate) fn millijoules(&self) -> Energy {
        self.map(|nanojoules| nanojoules as f64 / 1e6)
    }
}

impl Energy {
    /// What a node with these figures consumes in these times, to the nanojoule.
    pub fn of(profile: &Profile, times: &StateTimes) -> Self {
        Nanojoules::of(profile, times).millijoules()
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

    /// The same, and what it spends on frames that it receives.
    pub fn at_work(&self) -> f64 {
        self.computing_and_sending() + self.rx
    }

    /// What all states come to but listening, which a radio that is never turned off does almost all the time.
    pub fn without_listening(&self) -> f64 {
        let known = [self.off, self.engine, self.storage].into_iter().flatten().sum::<f64>();
        self.cpu + self.lpm + self.tx + self.rx + known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;
    use crate::profile::Storage;

    #[test]
    fn a_node_that_does_nothing_sleeps_and_listens() {
        let second = Span::from_secs(1);
        let times = StateTimes::new(&Meters::default(), &RadioMeter::default(), Time::ZERO + second);
        assert_eq!(times, StateTimes { lpm: second, listen: second, ..StateTimes::default() });
    }

    fn second_of_each() -> StateTimes {
        let second = Span::from_secs(1);
        StateTimes {
            cpu: second,
            lpm: second,
            tx: second,
            rx: second,
            listen: second,
            off: second,
            engine: second,
            storage: second,
        }
    }

    #[test]
    fn the_papers_figures_give_the_papers_energies() {
        // The thesis, section 6.1: a second of each state of a Tmote Sky at 3 V.
        let times = second_of_each();
        let energy = Energy::of(Platform::tmote_sky().profile(), &times);
        let unknown = Energy { off: None, engine: None, storage: None, ..energy };
        assert_eq!(energy, Energy { cpu: 5.4, lpm: 0.1635, tx: 53.1, rx: 60.0, listen: 60.0, ..unknown });
        // SecureSense, table 1, which rounds: 39, 1.8, 85, 60 and 72 mW.
        let energy = Energy::of(Platform::openmote().profile(), &times);
        assert_eq!(energy, Energy { cpu: 39.0, lpm: 1.8, tx: 84.9, rx: 60.0, listen: 72.0, ..unknown });
    }

    #[test]
    fn a_current_that_is_given_counts_and_one_that_is_not_does_not() {
        let storage = Some(Storage { word: 4, word_time: 41_000, current: 3_000_000 });
        let sky = *Platform::tmote_sky().profile();
        let known = Profile { off: Some(20_000), engine: Some(1_000_000), storage, ..sky };
        let energy = Energy::of(&known, &second_of_each());
        assert_eq!((energy.off, energy.engine, energy.storage), (Some(0.06), Some(3.0), Some(9.0)));
        let without = Energy::of(&sky, &second_of_each());
        assert!((energy.total() - without.total() - 12.06).abs() < 1e-9, "{energy:?} {without:?}");
    }

    #[test]
    fn what_is_left_and_what_was_taken_out_add_up() {
        let sky = *Platform::tmote_sky().profile();
        let span = |micros| Span::from_micros(micros);
        let all = StateTimes { cpu: span(1_000_001), lpm: span(7), tx: span(333), ..second_of_each() };
        let part = StateTimes { cpu: span(333_333), lpm: span(3), tx: span(111), ..StateTimes::default() };
        let [all, part] = [all, part].map(|times| Nanojoules::of(&sky, &times));
        let rest = all.without(&part);
        for ((all, part), rest) in all.parts().into_iter().zip(part.parts()).zip(rest.parts()) {
            assert_eq!(all, part.zip(rest).map(|(part, rest)| part + rest));
        }
    }
}
