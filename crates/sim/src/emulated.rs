//! A node whose firmware runs in an emulator: its CPU takes time, and its radio works beside it.
//!
//! Whatever happens to the node begins a task. The task is run at once, and what it brings about takes effect when the
//! CPU would be done with it. What happens meanwhile waits. The radio of every platform here answers frames with
//! acknowledgements by itself, as soon as the standard demands, which the CPU could not: the firmware's own are not put on
//! the air.

use core::ops::ControlFlow;
use std::collections::VecDeque;
use std::path::Path;

use sixlock_base::{Counter, Counters, Entropy, Eui64, Instant, Symbols};
use sixlock_emulator::{Error, Image, Lockstep, Outcome, Request, Task};
use sixlock_ieee802154::{Address, BROADCAST, FCS, FrameType, Header, ack};
use sixlock_lockstep::{Command, Device, Flags, Happening};

use crate::environment::Environment;
use crate::platform::Platform;
use crate::profile::Profile;
use crate::random::{Purpose, Stream};
use crate::time::{Span, Time};

/// From receiving a frame to acknowledging it: 12 symbols.
const TURNAROUND: Span = Span::from_micros(12 * 16);

/// The bytes of non-volatile memory.
const STORAGE: usize = 256;

/// What happened while the CPU was at work, or does now.
struct Waiting {
    happening: Happening,
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
    /// Whether an event is scheduled for it.
    scheduled: bool,
}

/// What the radio sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    Nothing,
    Acknowledgement,
    Frame,
}

/// A node in an emulator.
pub(crate) struct Emulated {
    lockstep: Lockstep,
    platform: Platform,
    address: Eui64,
    environment: Environment,
    entropy: Stream,
    storage: [u8; STORAGE],
    busy: Option<Busy>,
    waiting: VecDeque<Waiting>,
    sending: Sending,
    /// The frame that the CPU wants sent, until the radio is free.
    to_send: Option<Vec<u8>>,
    /// The acknowledgement that the radio owes.
    owed: Option<Owed>,
    failure: Option<Error>,
}

/// What the node wants when a task is over.
pub(crate) struct Wishes {
    pub(crate) command: Command,
    pub(crate) radio_timer: Option<Symbols>,
    pub(crate) timer: Option<Instant>,
    pub(crate) news: News,
}

/// What has happened at the node in a task.
#[derive(Clone, Copy)]
pub(crate) struct News {
    /// When the task began.
    pub(crate) since: Time,
    pub(crate) flags: Flags,
}

impl Emulated {
    /// The node that `device` makes of the image in the file `image`.
    pub(crate) fn start(
        seed: u64,
        id: u32,
        platform: Platform,
        image: &Path,
        device: &Device<'_>,
    ) -> Result<Self, Error> {
        Ok(Self {
            lockstep: Lockstep::start(Image::read(image)?, device)?,
            platform,
            address: device.address,
            environment: Environment::new(seed, id),
            entropy: Stream::new(seed, id, Purpose::Entropy),
            storage: [0xff; STORAGE],
            busy: None,
            waiting: VecDeque::from([Waiting {
                happening: Happening::Start,
                at: Time::ZERO,
                frame: Vec::new(),
            }]),
            sending: Sending::Nothing,
            to_send: None,
            owed: None,
            failure: None,
        })
    }

    /// Why it runs no more.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// How many bytes of stack it has used so far.
    pub(crate) fn stack_peak(&mut self) -> Result<u32, Error> {
        self.lockstep.stack_peak()
    }

    /// A frame has come in.
    pub(crate) fn receive(&mut self, now: Time, frame: &[u8], counters: &mut Counters) {
        let Ok((header, _)) = Header::parse(frame) else {
            return counters.count(Counter::MacMalformed);
        };
        let to = header.destination.map(|endpoint| endpoint.address);
        let mine = to == Some(Address::Extended(self.address));
        // The radio does not bother the CPU with what is for others.
        if !mine && to != Some(Address::Short(BROADCAST)) && header.frame_type != FrameType::Ack {
            return;
        }
        let frames = self.waiting.iter().filter(|waiting| waiting.happening == Happening::Frame);
        let size = Profile::of(self.platform).receive_fifo;
        if !has_room(frames.map(|waiting| waiting.frame.len()), frame.len(), size) {
            return counters.count(Counter::RadioReceiveFull);
        }
        self.waiting.push_back(Waiting { happening: Happening::Frame, at: now, frame: frame.to_vec() });
        if mine && header.ack_request {
            let due = now.symbol_boundary() + TURNAROUND;
            self.owed = Some(Owed { due, sequence: header.sequence, scheduled: false });
        }
    }

    /// The radio has sent what it was sending.
    pub(crate) fn sent(&mut self, now: Time) {
        if core::mem::replace(&mut self.sending, Sending::Nothing) == Sending::Frame {
            self.happens(now, Happening::Transmitted);
        }
    }

    /// Something other than a frame happens.
    pub(crate) fn happens(&mut self, now: Time, happening: Happening) {
        self.waiting.push_back(Waiting { happening, at: now, frame: Vec::new() });
    }

    /// A timer has run out: it counts for nothing while the CPU is at work or has something to do, after which it says
    /// anew when it wants to be woken.
    pub(crate) fn timer(&mut self, now: Time, happening: Happening) {
        if self.busy.is_none() && self.waiting.is_empty() {
            self.happens(now, happening);
        }
    }

    /// What the node wants, if a task ends now.
    pub(crate) fn poll_wishes(&mut self, now: Time) -> Option<Wishes> {
        let Busy { since, outcome, .. } = self.busy.take_if(|busy| busy.until <= now)?;
        let Outcome { command, exchange, .. } = outcome;
        if command == Command::Transmit {
            let frame = exchange.frame();
            match Header::parse(frame) {
                Ok((Header { frame_type: FrameType::Ack, .. }, _)) => {
                    self.happens(now, Happening::Transmitted)
                }
                _ => self.to_send = Some(frame.to_vec()),
            }
        }
        Some(Wishes {
            command,
            radio_timer: exchange.radio_timer(),
            timer: exchange.timer(),
            news: News { since, flags: Flags(exchange.flags) },
        })
    }

    /// The frame whose transmission begins now, if one does.
    pub(crate) fn poll_transmission(&mut self, now: Time) -> Option<Vec<u8>> {
        let due = self.owed.take_if(|owed| owed.due <= now);
        if self.sending != Sending::Nothing {
            return None;
        }
        if let Some(Owed { sequence, .. }) = due {
            self.sending = Sending::Acknowledgement;
            return Some(ack(sequence).to_vec());
        }
        let frame = self.to_send.take()?;
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

    /// Begins the next task, unless one is under way or there is none; when it ends.
    pub(crate) fn begin_task(&mut self, now: Time) -> Option<Time> {
        if self.busy.is_some() || self.failure.is_some() {
            return None;
        }
        let next = self.waiting.pop_front()?;
        let reading = self.environment.at(now);
        let sensor = |value: i32| value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        let task = Task {
            happening: next.happening,
            now: now.instant(),
            at: next.at.symbols(),
            frame: &next.frame,
            sensors: [reading.temperature, reading.humidity, reading.light].map(sensor),
        };
        let Self { lockstep, entropy, storage, .. } = self;
        let ran = lockstep.run(&task, |request| {
            serve(entropy, storage, request);
            ControlFlow::Continue(())
        });
        match ran {
            Ok(outcome) => {
                let outcome = outcome?;
                let sends = match outcome.command {
                    Command::Transmit => outcome.exchange.frame(),
                    _ => &[],
                };
                let bytes = moved(&next.frame, sends);
                let bus = Profile::of(self.platform).bus(bytes);
                let until = now + (self.platform.duration(outcome.cost) + bus);
                self.busy = Some(Busy { since: now, until, outcome });
                Some(until)
            }
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }
}

/// Whether a FIFO of `size` bytes that holds frames of these lengths takes one more of `len`: a byte before each says how
/// long it is.
fn has_room(kept: impl Iterator<Item = usize>, len: usize, size: usize) -> bool {
    kept.chain([len]).map(|len| 1 + len).sum::<usize>() <= size
}

/// The bytes that the bus between CPU and radio carries in a task: the frame that came in, and the one that goes out, of which
/// the radio writes the FCS; with each the FIFO's address and the length. Acknowledgements go out by themselves.
fn moved(came_in: &[u8], goes_out: &[u8]) -> usize {
    let came_in = if came_in.is_empty() { 0 } else { 2 + came_in.len() };
    let goes_out = match Header::parse(goes_out) {
        Ok((header, _)) if header.frame_type != FrameType::Ack => 2 + goes_out.len() - FCS,
        _ => 0,
    };
    came_in + goes_out
}

/// Gives the firmware what it asks for. What lies outside of non-volatile memory is not kept.
fn serve(entropy: &mut Stream, storage: &mut [u8], request: Request<'_>) {
    let place = |address: u16, len: usize| usize::from(address)..usize::from(address) + len;
    match request {
        Request::Entropy(bytes) => entropy.fill(bytes),
        Request::Persist(address, bytes) => {
            if let Some(kept) = storage.get_mut(place(address, bytes.len())) {
                kept.copy_from_slice(bytes);
            }
        }
        Request::Restore(address, bytes) => match storage.get(place(address, bytes.len())) {
            Some(kept) => bytes.copy_from_slice(kept),
            None => bytes.fill(0xff),
        },
        // Nobody is there.
        Request::Serial(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_radio_keeps_as_many_frames_as_its_fifo_has_bytes_for() {
        let sky = Profile::of(Platform::TmoteSky).receive_fifo;
        assert!(has_room([].into_iter(), 127, sky));
        assert!(!has_room([127].into_iter(), 5, sky));
        assert!(has_room([60, 60].into_iter(), 5, sky));
        assert!(!has_room([60, 60].into_iter(), 6, sky));
        let mb851 = Profile::of(Platform::Mb851).receive_fifo;
        assert!(has_room([127].into_iter(), 127, mb851));
        assert!(!has_room([127, 127].into_iter(), 5, mb851));
    }

    #[test]
    fn the_bus_carries_frames_both_ways_but_no_acknowledgement_out() {
        // A data frame with short addresses and no payload, and its FCS.
        let frame = [0x41, 0x88, 7, 0xcd, 0xab, 0xff, 0xff, 1, 0, 0, 0];
        assert_eq!([moved(&[], &[]), moved(&frame, &[]), moved(&[], &frame)], [0, 13, 11]);
        assert_eq!([moved(&ack(7), &frame), moved(&frame, &ack(7))], [7 + 11, 13]);
        let bus = |platform| Profile::of(platform).bus(moved(&[0; 127], &[])).micros();
        assert_eq!(bus(Platform::TmoteSky), 529, "129 bytes at 4.1 µs");
        assert_eq!(bus(Platform::OpenMote), 0, "one chip");
    }

    #[test]
    fn storage_keeps_what_fits_into_it() {
        let (mut entropy, mut storage) = (Stream::new(1, 1, Purpose::Entropy), [0xff; STORAGE]);
        let end = STORAGE as u16 - 2;
        serve(&mut entropy, &mut storage, Request::Persist(end, &[1, 2]));
        serve(&mut entropy, &mut storage, Request::Persist(end, &[3, 4, 5]));
        let mut record = [0; 3];
        serve(&mut entropy, &mut storage, Request::Restore(end - 1, &mut record));
        assert_eq!(record, [0xff, 1, 2]);
        serve(&mut entropy, &mut storage, Request::Restore(end, &mut record));
        assert_eq!(record, [0xff; 3]);
    }
}
