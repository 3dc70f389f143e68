//! How long each component of a node is in each of its states.

use crate::changes::Changes;
use crate::energest::{EnergestTicks, TickTimer};
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
    /// It sends an acknowledgement.
    Acknowledge,
}

impl RadioState {
    /// Its name in timelines.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Listen => "listen",
            Self::Receive => "rx",
            Self::Transmit => "tx",
            Self::Acknowledge => "ack",
        }
    }
}

/// How long a radio has been in each state.
#[derive(Clone, Debug, Default)]
pub(crate) struct RadioMeter {
    state: RadioState,
    since: Time,
    off: Span,
    listen: Span,
    receive: Span,
    transmit: Span,
    /// Whether what it sends next is an acknowledgement.
    acknowledges: bool,
    energest: Option<RadioTicks>,
    pub(crate) changes: Changes<RadioState>,
}

/// What Energest counts of a radio.
#[derive(Clone, Copy, Debug)]
struct RadioTicks {
    timer: TickTimer,
    tx: u64,
    rx: u64,
}

impl RadioTicks {
    /// The radio was in `state` from one time to another.
    fn add(&mut self, state: RadioState, from: Time, to: Time) {
        let ticks = self.timer.between(from, to);
        match state {
            RadioState::Off => {}
            RadioState::Transmit => self.tx += ticks,
            RadioState::Listen | RadioState::Receive | RadioState::Acknowledge => self.rx += ticks,
        }
    }
}

impl RadioMeter {
    /// Counts as Energest does, too.
    pub(crate) fn count_by(&mut self, timer: TickTimer) {
        self.energest = Some(RadioTicks { timer, tx: 0, rx: 0 });
    }

    /// What the radio begins to send next is an acknowledgement.
    pub(crate) fn acknowledges(&mut self) {
        self.acknowledges = true;
    }

    /// The radio is in `state` from `now` on.
    pub(crate) fn enter(&mut self, state: RadioState, now: Time) {
        let state = match state {
            RadioState::Transmit if self.state == RadioState::Acknowledge => RadioState::Acknowledge,
            RadioState::Transmit if core::mem::take(&mut self.acknowledges) => RadioState::Acknowledge,
            state => state,
        };
        let spent = match self.state {
            RadioState::Off => &mut self.off,
            RadioState::Listen => &mut self.listen,
            RadioState::Receive => &mut self.receive,
            RadioState::Transmit | RadioState::Acknowledge => &mut self.transmit,
        };
        *spent = *spent + now.since(self.since);
        if let Some(ticks) = &mut self.energest {
            ticks.add(self.state, self.since, now);
        }
        (self.state, self.since) = (state, now);
        self.changes.enter(now, state);
    }

    /// How long it has been in each state by now: off, listening, receiving, sending.
    pub(crate) fn spans(&self, now: Time) -> [Span; 4] {
        let Self { state, since, off, listen, receive, transmit, .. } = self;
        let mut spans = [*off, *listen, *receive, *transmit];
        let under_way = match state {
            RadioState::Off => 0,
            RadioState::Listen => 1,
            RadioState::Receive => 2,
            RadioState::Transmit | RadioState::Acknowledge => 3,
        };
        spans[under_way] = spans[under_way] + now.since(*since);
        spans
    }

    /// The ticks that Energest has counted by now of sending and of listening, if it does.
    fn ticks(&self, now: Time) -> Option<(u64, u64)> {
        let mut ticks = self.energest?;
        ticks.add(self.state, self.since, now);
        Some((ticks.tx, ticks.rx))
    }
}

/// How long a component has been at work that is idle otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkMeter {
    /// All work begun, whether it has ended or not.
    begun: Span,
    /// When the last of it ends.
    until: Time,
    /// By which timer Energest counts, and the ticks of all work begun.
    energest: Option<(TickTimer, u64)>,
    pub(crate) changes: Changes<bool>,
}

impl WorkMeter {
    /// Work begins at `now` and keeps it busy until `end`; what was begun before has ended.
    pub(crate) fn work(&mut self, now: Time, end: Time) {
        if end == now {
            return;
        }
        self.begun = self.begun + end.since(now);
        self.until = end;
        if let Some((timer, ticks)) = &mut self.energest {
            *ticks += timer.between(now, end);
        }
        self.changes.enter(now, true);
        self.changes.enter(end, false);
    }

    /// So much work more has come by now, which waits for what was begun before.
    pub(crate) fn add(&mut self, now: Time, work: Span) {
        let begins = now.max(self.until);
        self.work(begins, begins + work);
    }

    pub(crate) fn active(&self, now: Time) -> Span {
        self.begun.saturating_sub(self.until.since(now))
    }

    /// The ticks at work that Energest has counted by now, and all others, if it does.
    fn ticks(&self, now: Time) -> Option<(u64, u64)> {
        let (timer, begun) = self.energest?;
        let work = begun - timer.between(now, self.until.max(now));
        Some((work, timer.count(now) - work))
    }
}

/// What the tasks of a node keep busy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters {
    pub(crate) cpu: WorkMeter,
    pub(crate) engine: WorkMeter,
    pub(crate) storage: WorkMeter,
}

/// How long a task keeps the components of a node busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskTimes {
    /// Until when the CPU is.
    pub(crate) until: Time,
    /// How long the engine is.
    pub(crate) engine: Span,
    /// How long storage is, to write what the task wants to keep.
    pub(crate) storage: Span,
}

impl Meters {
    /// Counts as Energest does, too.
    pub(crate) fn count_by(&mut self, timer: TickTimer) {
        self.cpu.energest = Some((timer, 0));
    }

    /// A task begins.
    pub(crate) fn begin_task(&mut self, now: Time, task: TaskTimes) {
        self.cpu.work(now, task.until);
        // When in the task its jobs are, is not known.
        self.engine.work(now, now + task.engine);
        self.storage.add(now, task.storage);
    }

    /// What Energest shows by now of a node with this radio, if it counts.
    pub(crate) fn energest(&self, radio: &RadioMeter, now: Time) -> Option<EnergestTicks> {
        let ((cpu, lpm), (tx, rx)) = self.cpu.ticks(now).zip(radio.ticks(now))?;
        Some(EnergestTicks { cpu, lpm, tx, rx })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn work_that_is_under_way_counts_as_far_as_it_has_come() {
        let mut cpu = WorkMeter::default();
        cpu.work(at(100), at(150));
        cpu.work(at(200), at(300));
        assert_eq!([200, 240, 300, 900].map(|now| cpu.active(at(now)).micros()), [50, 90, 150, 150]);
    }

    #[test]
    fn work_that_comes_too_early_waits() {
        let mut storage = WorkMeter::default();
        storage.changes.record(false);
        storage.add(at(100), Span::from_micros(50));
        storage.add(at(120), Span::from_micros(50));
        assert_eq!([120, 160, 300].map(|now| storage.active(at(now)).micros()), [20, 60, 100]);
        let changes: Vec<_> = storage.changes.take(at(1000)).collect();
        assert_eq!(changes, [(at(0), false), (at(100), true), (at(200), false)]);
    }

    #[test]
    fn energest_takes_acknowledgements_and_frames_that_come_in_for_listening() {
        let (mut meters, mut radio) = (Meters::default(), RadioMeter::default());
        // A tick a microsecond.
        let timer = TickTimer(1_000_000);
        meters.count_by(timer);
        radio.count_by(timer);
        for (time, state) in [(10, RadioState::Receive), (30, RadioState::Listen)] {
            radio.enter(state, at(time));
        }
        radio.acknowledges();
        for (time, state) in [
            (40, RadioState::Transmit),
            (45, RadioState::Transmit),
            (52, RadioState::Listen),
            (60, RadioState::Transmit),
            (90, RadioState::Off),
        ] {
            radio.enter(state, at(time));
        }
        meters.cpu.work(at(20), at(25));
        meters.cpu.work(at(95), at(120));
        let expected = EnergestTicks { cpu: 10, lpm: 90, tx: 30, rx: 60 };
        assert_eq!(meters.energest(&radio, at(100)), Some(expected));
        let [off, listen, receive, transmit] = radio.spans(at(100)).map(Span::micros);
        assert_eq!([off, listen, receive, transmit], [10, 28, 20, 42]);
        assert_eq!(Meters::default().energest(&radio, at(100)), None);
    }

    proptest::proptest! {
        #[test]
        fn a_radios_times_add_up_however_it_changes(changes in proptest::collection::vec((0u64..5000, 0..4), 0..50)) {
            let (mut meter, mut now) = (RadioMeter::default(), 0);
            meter.changes.record(RadioState::default());
            for (later, state) in changes {
                now += later;
                let state =
                    [RadioState::Listen, RadioState::Receive, RadioState::Transmit, RadioState::Off][state as usize];
                meter.enter(state, at(now));
            }
            let end = at(now + 7);
            let spans = meter.spans(end);
            proptest::prop_assert_eq!(spans.iter().map(|span| span.micros()).sum::<u64>(), now + 7);
            // The changes say the same.
            let mut recorded = [0; 4];
            let mut all: Vec<_> = meter.changes.take(end).collect();
            all.push((end, RadioState::Off));
            for pair in all.windows(2) {
                let state = match pair[0].1 {
                    RadioState::Off => 0,
                    RadioState::Listen => 1,
                    RadioState::Receive => 2,
                    RadioState::Transmit | RadioState::Acknowledge => 3,
                };
                recorded[state] += pair[1].0.since(pair[0].0).micros();
            }
            proptest::prop_assert_eq!(spans.map(Span::micros), recorded);
        }
    }
}
