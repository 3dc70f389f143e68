//! A device whose radio is off almost all the time in an emulator, and what its radio is told.

use core::ops::ControlFlow;
use std::path::Path;

use sixlock_base::{Instant, Symbols};
use sixlock_emulator::{Image, Lockstep, Task};
use sixlock_lockstep::{Command, DeviceEvent};

/// A frame for it, of which it sends five bytes back.
pub(crate) const FRAME: [u8; 7] = [1, 2, 3, 4, 5, 6, 7];

/// What a task of the device has come to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// What its radio is to do.
    pub(crate) command: Command,
    /// With [`Command::Assess`], how often and how far apart; with [`Command::Transmit`], the frame.
    pub(crate) assessments: Option<(u8, u16)>,
    pub(crate) frame: Vec<u8>,
    /// When it wakes up next, in symbols.
    pub(crate) wakes: Option<u32>,
}

/// What the device of the image at `path` wants after each of these happenings, in these symbols; and its stack's peak.
pub(crate) fn run(path: &Path, happenings: &[(DeviceEvent, u32)]) -> (Vec<Wish>, u32) {
    let image = Image::read(path).unwrap_or_else(|error| panic!("{error}"));
    let mut lockstep = Lockstep::start_as_built(image).unwrap_or_else(|error| panic!("{error}"));
    let wishes = happenings.iter().map(|&(event, symbols)| {
        let frame = if event == DeviceEvent::Frame { &FRAME[..] } else { &[] };
        let now = Instant::from_millis(symbols * 16 / 1000);
        let task = Task::in_no_time(event, now, Symbols::new(symbols), frame);
        let outcome = lockstep.run(&task, |_| ControlFlow::Continue(()));
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}")).expect("power");
        let (command, exchange) = (outcome.command, outcome.exchange);
        Wish {
            command,
            assessments: (command == Command::Assess).then(|| exchange.assessments()),
            frame: if command == Command::Transmit { exchange.frame().to_vec() } else { Vec::new() },
            wakes: exchange.radio_timer().map(Symbols::count),
        }
    });
    let wishes = wishes.collect();
    let stack = lockstep.stack_peak().unwrap_or_else(|error| panic!("{error}"));
    (wishes, stack)
}

/// All that can happen to it: it finds the channel clear, then busy, hears a frame and answers; then it hears none.
pub(crate) const HAPPENINGS: [(DeviceEvent, u32); 13] = [
    (DeviceEvent::Start, 0),
    (DeviceEvent::RadioTimer, 7812),
    (DeviceEvent::CcaClear, 7858),
    (DeviceEvent::RadioTimer, 15_624),
    (DeviceEvent::CcaBusy, 15_640),
    (DeviceEvent::Frame, 15_900),
    (DeviceEvent::CcaClear, 15_920),
    (DeviceEvent::Transmitted, 16_000),
    (DeviceEvent::RadioTimer, 23_436),
    (DeviceEvent::CcaBusy, 23_450),
    (DeviceEvent::RadioTimer, 31_248),
    (DeviceEvent::RadioTimer, 39_060),
    (DeviceEvent::CcaClear, 39_100),
];
