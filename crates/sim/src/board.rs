//! A node whose CPU takes time, and whose radio works beside it.
//!
//! Whatever happens to the node begins a task. The task is run at once, and what it brings about takes effect when the
//! CPU would be done with it. What happens meanwhile waits. The radio of every platform here answers frames with
//! acknowledgements by itself, as soon as the standard demands, which the CPU could not: the firmware's own are not put on
//! the air. In time slots there is a millisecond for that, and acknowledgements tell the time: the CPU makes them.

use std::collections::VecDeque;

use sixlock_base::{Counter, Counters, Eui64, Instant, Symbols};
use sixlock_emulator::Task;
use sixlock_ieee802154::{Address, BROADCAST, FCS, FrameType, Header, ack, ack_pending};
use sixlock_lockstep::{Command, DeviceEvent, Exchange, Flags};
use sixlock_node::RadioCommand;

use crate::clock::Clock;
use crate::environment::Environment;
use crate::meters::TaskTimes;
use crate::outcome::{Failure, Outcome, SessionKeys};
use crate::platform::Platform;
use crate::processor::Processor;
use crate::routing::NodeRouting;
use crate::time::{Span, Time};

/// What happened while the CPU was at work, or does now.
struct Waiting {
    event: DeviceEvent,
    at: Time,
    frame: Vec<u8>,
}

/// A task under way.
struct Busy {
    since: Time,
    until: Time,
    outcome: Outcome,
}

/// An acknowledgement that is to be sent.
struct Owed {
    due: Time,
    sequence: u8,
    /// Whether it says that a frame waits.
    pending: bool,
    /// Whether an event is scheduled for it.
    scheduled: bool,
}

/// A frame that is to be sent at a time.
struct Delayed {
    due: Time,
    frame: Vec<u8>,
    /// Whether an event is scheduled for it, or it is due at once.
    scheduled: bool,
}

/// What the radio sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    Nothing,
    Acknowledgement,
    Frame,
}

/// A node with a processor of a platform's speed.
pub(crate) struct Board {
    processor: Processor,
    platform: Platform,
    clock: Clock,
    /// From receiving a frame to acknowledging it. Without, the radio takes in all frames, and acknowledges none.
    ack_turnaround: Option<Span>,
    address: Eui64,
    environment: Environment,
    busy: Option<Busy>,
    /// When the last task ended.
    ended: Time,
    waiting: VecDeque<Waiting>,
    sending: Sending,
    /// The frame that the CPU wants sent, from then on, until the radio is free.
    to_send: Option<Delayed>,
    /// The frame that was sent last of those for which a time was said: the radio has it still.
    loaded: Vec<u8>,
    /// The acknowledgement that the radio owes.
    owed: Option<Owed>,
    failure: Option<Failure>,
}

/// What the node wants when a task is over.
pub(crate) struct TaskOutput {
    /// The channel that its radio changes to, if it is told one.
    pub(crate) channel: Option<u8>,
    /// What its radio is to do, but for sending.
    pub(crate) command: Option<RadioCommand>,
    /// Whether it is to send.
    pub(crate) sends: bool,
    pub(crate) radio_timer: Option<Symbols>,
    pub(crate) timer: Option<Instant>,
    pub(crate) news: TaskEvents,
}

/// What has happened at the node in a task.
pub(crate) struct TaskEvents {
    /// When the task began.
    pub(crate) since: Time,
    pub(crate) flags: Flags,
    /// The keys of a session that has opened, if they are known.
    pub(crate) keys: Option<SessionKeys>,
    /// Who has posted a reading, if the flags say that somebody has.
    pub(crate) author: Eui64,
}

impl Board {
    /// Node `id` with this clock and processor, whose radio takes so long to acknowledge a frame, or leaves that to the CPU.
    pub(crate) fn new(
        seed: u64,
        id: u32,
        platform: Platform,
        clock: Clock,
        ack_turnaround: Option<Span>,
        processor: Processor,
    ) -> Self {
        Self {
            processor,
            platform,
            clock,
            ack_turnaround,
            address: Eui64::of_node(id),
            environment: Environment::new(seed, id),
            busy: None,
            ended: Time::ZERO,
            waiting: VecDeque::from([Waiting {
                event: DeviceEvent::Start,
                at: Time::ZERO,
                frame: Vec::new(),
            }]),
            sending: Sending::Nothing,
            to_send: None,
            loaded: Vec::new(),
            owed: None,
            failure: None,
        }
    }

    /// Its processor.
    pub(crate) fn processor(&mut self) -> &mut Processor {
        &mut self.processor
    }

    /// How it routes, if it tells: firmware does not.
    pub(crate) fn router(&self) -> Option<&NodeRouting> {
        match &self.processor {
            Processor::Modelled(modelled) => Some(modelled.router()),
            Processor::Emulated(_) => None,
        }
    }

    /// Why it runs no more.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// When its CPU began the task that is under way, if it is at work.
    pub(crate) fn at_work_since(&self) -> Option<Time> {
        self.busy.as_ref().map(|busy| busy.since)
    }

    /// A frame has come in.
    pub(crate) fn receive(&mut self, now: Time, frame: &[u8], counters: &mut Counters) {
        let Some(ack_turnaround) = self.ack_turnaround else {
            self.keep(now, frame, counters);
            return;
        };
        let Ok((header, _)) = Header::parse(frame) else {
            return counters.count(Counter::MacMalformed);
        };
        let to = header.destination.map(|endpoint| endpoint.address);
        let mine = to == Some(Address::Extended(self.address));
        // The radio does not bother the CPU with what is for others.
        if !mine && to != Some(Address::Short(BROADCAST)) && header.frame_type != FrameType::Ack {
            return;
        }
        if self.keep(now, frame, counters) && mine && header.ack_request {
            let due = now.symbol_boundary() + ack_turnaround;
            let asks = header.frame_type == FrameType::Command;
            // The driver keeps the radio's list of neighbours for which a frame waits.
            let pending = asks
                && match header.source.map(|endpoint| endpoint.address) {
                    Some(Address::Extended(neighbour)) => self.processor.holds_for(neighbour),
                    _ => false,
                };
            self.owed = Some(Owed { due, sequence: header.sequence, pending, scheduled: false });
        }
    }

    /// Keeps a frame until the CPU takes it; whether there is room for it.
    fn keep(&mut self, now: Time, frame: &[u8], counters: &mut Counters) -> bool {
        let frames = self.waiting.iter().filter(|waiting| waiting.event == DeviceEvent::Frame);
        let size = self.platform.profile().receive_fifo;
        let is_kept = has_room(frames.map(|waiting| waiting.frame.len()), frame.len(), size);
        match is_kept {
            true => {
                self.waiting.push_back(Waiting { event: DeviceEvent::Frame, at: now, frame: frame.to_vec() })
            }
            false => counters.count(Counter::RadioReceiveFull),
        }
        is_kept
    }

    /// The radio has sent what it was sending.
    pub(crate) fn sent(&mut self, now: Time) {
        if core::mem::replace(&mut self.sending, Sending::Nothing) == Sending::Frame {
            self.happens(now, DeviceEvent::Transmitted);
        }
    }

    /// Something other than a frame happens.
    pub(crate) fn happens(&mut self, now: Time, event: DeviceEvent) {
        self.waiting.push_back(Waiting { event, at: now, frame: Vec::new() });
    }

    /// A timer has run out: it counts for nothing while the CPU is at work or has something to do, after which it says
    /// anew when it wants to be woken.
    pub(crate) fn timer(&mut self, now: Time, event: DeviceEvent) {
        if self.busy.is_none() && self.waiting.is_empty() {
            self.happens(now, event);
        }
    }

    /// What the node wants, if a task ends now.
    pub(crate) fn poll_wishes(&mut self, now: Time) -> Option<TaskOutput> {
        let Busy { since, until, outcome } = self.busy.take_if(|busy| busy.until <= now)?;
        self.ended = until;
        let Outcome { command, exchange, keys, .. } = outcome;
        let sends = matches!(command, Command::Transmit | Command::TransmitAt | Command::TransmitOn);
        if sends {
            let frame = exchange.frame();
            let due = match command {
                Command::TransmitAt | Command::TransmitOn => self.clock.of_symbols(now, exchange.begin()),
                _ => now,
            };
            match Header::parse(frame) {
                Ok((Header { frame_type: FrameType::Ack, .. }, _)) => {
                    self.happens(now, DeviceEvent::Transmitted)
                }
                _ => self.to_send = Some(Delayed { due, frame: frame.to_vec(), scheduled: due <= now }),
            }
        } else if command != Command::None {
            // It takes the place of what is not done.
            self.to_send.take_if(|delayed| delayed.due > now);
        }
        Some(TaskOutput {
            channel: matches!(command, Command::ListenOn | Command::TransmitOn).then(|| exchange.channel()),
            command: radio_command(command, &exchange, self.clock.symbols(now)),
            sends,
            radio_timer: exchange.radio_timer(),
            timer: exchange.timer(),
            news: TaskEvents { since, flags: Flags(exchange.flags), keys, author: exchange.author() },
        })
    }

    /// The frame whose transmission begins now, if one does.
    pub(crate) fn poll_transmission(&mut self, now: Time) -> Option<Vec<u8>> {
        let due = self.owed.take_if(|owed| owed.due <= now);
        if self.sending != Sending::Nothing {
            return None;
        }
        if let Some(Owed { sequence, pending, .. }) = due {
            self.sending = Sending::Acknowledgement;
            return Some(if pending { ack_pending(sequence) } else { ack(sequence) }.to_vec());
        }
        let Delayed { frame, .. } = self.to_send.take_if(|delayed| delayed.due <= now)?;
        self.sending = Sending::Frame;
        // The radio has turned round: it cannot acknowledge any more.
        self.owed = None;
        Some(frame)
    }

    /// When an acknowledgement is due, once.
    pub(crate) fn poll_acknowledgement(&mut self) -> Option<Time> {
        let owed = self.owed.as_mut().filter(|owed| !owed.scheduled)?;
        owed.scheduled = true;
        Some(owed.due)
    }

    /// When a frame is due for which a time was said, once.
    pub(crate) fn poll_frame(&mut self) -> Option<Time> {
        let delayed = self.to_send.as_mut().filter(|delayed| !delayed.scheduled)?;
        delayed.scheduled = true;
        Some(delayed.due)
    }

    /// How long the task takes that finds the channel clear at a wake-up, if it is known, and there is nothing else to do.
    pub(crate) fn wake_up_time(&mut self) -> Option<Span> {
        let is_idle = self.busy.is_none()
            && self.failure.is_none()
            && self.waiting.is_empty()
            && self.sending == Sending::Nothing
            && self.to_send.is_none()
            && self.owed.is_none();
        match &mut self.processor {
            Processor::Modelled(modelled) if is_idle => {
                Some(self.platform.profile().duration(modelled.wake_up_cost()?))
            }
            _ => None,
        }
    }

    /// Runs that task at `now`; what the radio is to do when it is over.
    pub(crate) fn wake_up(&mut self, now: Time) -> Option<RadioCommand> {
        match &mut self.processor {
            Processor::Modelled(modelled) => {
                modelled.wake_up(self.clock.instant(now), self.clock.symbols(now))
            }
            Processor::Emulated(_) => None,
        }
    }

    /// Begins the next task, unless one is under way or there is none; how long it keeps components busy.
    pub(crate) fn begin_task(&mut self, now: Time, counters: &mut Counters) -> Option<TaskTimes> {
        if self.busy.is_some() || self.failure.is_some() {
            return None;
        }
        let next = self.waiting.pop_front()?;
        let reading = self.environment.at(now);
        let sensor = |value: i32| value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        let task = Task {
            event: next.event,
            now: self.clock.instant(now),
            at: self.clock.symbols(next.at),
            ended: self.clock.symbols(self.ended),
            begins: self.clock.symbols(now),
            frame: &next.frame,
            sensors: [reading.temperature, reading.humidity, reading.light].map(sensor),
        };
        match self.processor.run(&task, counters) {
            Ok(outcome) => {
                let sends = match outcome.command {
                    Command::Transmit | Command::TransmitOn => outcome.exchange.frame(),
                    Command::TransmitAt if outcome.exchange.frame() != self.loaded => {
                        self.loaded = outcome.exchange.frame().to_vec();
                        &self.loaded
                    }
                    _ => &[],
                };
                let bytes = moved(&next.frame, sends);
                let profile = self.platform.profile();
                let engine = outcome.engine;
                let until = now + (profile.duration(outcome.cost) + profile.bus(bytes) + engine);
                let storage = profile.storage.map_or(Span::ZERO, |storage| storage.duration(outcome.written));
                self.busy = Some(Busy { since: now, until, outcome });
                Some(TaskTimes { until, engine, storage })
            }
            Err(failure) => {
                self.failure = Some(failure);
                None
            }
        }
    }
}

/// What a radio is to do from `at` on when the node in `exchange` says `command`. What it sends is the board's to keep until it may.
fn radio_command(command: Command, exchange: &Exchange, at: Symbols) -> Option<RadioCommand> {
    Some(match command {
        Command::Listen => RadioCommand::Listen { at },
        Command::ListenOn => RadioCommand::Listen { at: exchange.begin() },
        Command::Off => RadioCommand::Off { at },
        Command::Cca => RadioCommand::Assess { at, times: 1, apart: 0 },
        Command::Assess => {
            let (times, apart) = exchange.assessments();
            RadioCommand::Assess { at, times, apart }
        }
        Command::AssessAt => {
            let (times, apart) = exchange.assessments();
            RadioCommand::Assess { at: exchange.begin(), times, apart }
        }
        Command::None | Command::Transmit | Command::TransmitAt | Command::TransmitOn => return None,
        // These do not end a task.
        Command::Entropy | Command::Persist | Command::Restore | Command::Serial => return None,
    })
}

/// Whether a FIFO of `size` bytes that holds frames of these lengths takes one more of `len`: a byte before each says how
/// long it is.
pub(crate) fn has_room(kept: impl Iterator<Item = usize>, len: usize, size: usize) -> bool {
    kept.chain([len]).map(|len| 1 + len).sum::<usize>() <= size
}

/// The bytes that the bus between CPU and radio carries in a task: the frame that came in, and the one that goes out, of which
/// the radio writes the FCS; with each the FIFO's address and the length. Acknowledgements go out by themselves, but for those of time slots.
fn moved(came_in: &[u8], goes_out: &[u8]) -> usize {
    let came_in = if came_in.is_empty() { 0 } else { 2 + came_in.len() };
    let goes_out = match Header::parse(goes_out) {
        _ if goes_out.is_empty() => 0,
        Ok((header, _)) if header.frame_type == FrameType::Ack => 0,
        _ => 2 + goes_out.len() - FCS,
    };
    came_in + goes_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_radio_keeps_as_many_frames_as_its_fifo_has_bytes_for() {
        let sky = Platform::tmote_sky().profile().receive_fifo;
        assert!(has_room([].into_iter(), 127, sky));
        assert!(!has_room([127].into_iter(), 5, sky));
        assert!(has_room([60, 60].into_iter(), 5, sky));
        assert!(!has_room([60, 60].into_iter(), 6, sky));
        let mb851 = Platform::mb851().profile().receive_fifo;
        assert!(has_room([127].into_iter(), 127, mb851));
        assert!(!has_room([127, 127].into_iter(), 5, mb851));
    }

    #[test]
    fn a_radio_is_told_what_the_node_says() {
        let mut exchange = Exchange::new();
        exchange.set_assessments(6, 38);
        let (at, begin) = (Symbols::new(7), Symbols::new(9));
        exchange.set_begin(begin);
        for (command, told) in [
            (Command::None, None),
            (Command::Transmit, None),
            (Command::Listen, Some(RadioCommand::Listen { at })),
            (Command::Off, Some(RadioCommand::Off { at })),
            (Command::Cca, Some(RadioCommand::Assess { at, times: 1, apart: 0 })),
            (Command::Assess, Some(RadioCommand::Assess { at, times: 6, apart: 38 })),
            (Command::AssessAt, Some(RadioCommand::Assess { at: begin, times: 6, apart: 38 })),
            (Command::TransmitAt, None),
            (Command::ListenOn, Some(RadioCommand::Listen { at: begin })),
            (Command::TransmitOn, None),
        ] {
            assert_eq!(radio_command(command, &exchange, at), told, "{command:?}");
        }
    }

    #[test]
    fn the_bus_carries_frames_both_ways_but_no_acknowledgement_out() {
        // A data frame with short addresses and no payload, and its FCS.
        let frame = [0x41, 0x88, 7, 0xcd, 0xab, 0xff, 0xff, 1, 0, 0, 0];
        assert_eq!([moved(&[], &[]), moved(&frame, &[]), moved(&[], &frame)], [0, 13, 11]);
        assert_eq!([moved(&ack(7), &frame), moved(&frame, &ack(7))], [7 + 11, 13]);
        let bus = |platform: Platform| platform.profile().bus(moved(&[0; 127], &[])).micros();
        assert_eq!(bus(Platform::tmote_sky()), 529, "129 bytes at 4.1 µs");
        assert_eq!(bus(Platform::openmote()), 0, "one chip");
    }
}
