//! A device whose radio is off almost all the time, as with low-power listening: it assesses the channel twice a cycle, listens while that
//! is busy, and sends back the first bytes of each frame that it hears. So each command of a radio is one that an image says.

use sixlock_base::Symbols;
use sixlock_interface::RadioCommand;
use sixlock_lockstep::{DeviceEvent, Flags};
use sixlock_start as _;

use crate::{exchange, radio};

/// From one wake-up to the next, in symbols: 125 ms.
const CYCLE: u32 = 7812;
/// Assessments at a wake-up, and how far apart they are in symbols.
const ASSESSMENTS: u8 = 2;
const APART: u16 = 38;
/// How much of a frame is sent back, in bytes.
const LENGTH: usize = 5;
/// From receiving to sending, in symbols (aTurnaroundTime).
const TURNAROUND: u32 = 12;

/// What its radio is about to do, or does.
#[derive(Clone, Copy)]
enum Doing {
    /// It is off.
    Sleeps,
    /// It listens until the next wake-up at most.
    Listens,
    /// It has something to send back.
    Answers,
}

/// Runs it for ever.
pub fn duty_cycle() -> ! {
    radio::wait_for(None, || &[], Flags::default());
    let (_, start) = exchange::time();
    let (mut doing, mut wakes, mut answer) = (Doing::Sleeps, start.after(CYCLE), [0; LENGTH]);
    let mut command = Some(RadioCommand::Off { at: start });
    loop {
        let flags = exchange::set_timers(Some(wakes), None);
        let event = radio::wait_for(command, || &answer, flags);
        let (_, at) = exchange::time();
        if at.has_reached(wakes) {
            wakes = at.after(CYCLE);
        }
        if event == Some(DeviceEvent::Frame) {
            let frame = exchange::frame();
            let len = frame.len().min(LENGTH);
            answer[..len].copy_from_slice(&frame[..len]);
        }
        (doing, command) = next(doing, event, at);
    }
}

/// What it does after `event`, and what its radio is to do for that.
fn next(doing: Doing, event: Option<DeviceEvent>, at: Symbols) -> (Doing, Option<RadioCommand>) {
    match (doing, event) {
        (Doing::Sleeps, Some(DeviceEvent::RadioTimer)) => {
            (doing, Some(RadioCommand::Assess { at, times: ASSESSMENTS, apart: APART }))
        }
        (Doing::Sleeps, Some(DeviceEvent::CcaBusy)) => (Doing::Listens, Some(RadioCommand::Listen { at })),
        (Doing::Listens, Some(DeviceEvent::Frame)) => {
            (Doing::Answers, Some(RadioCommand::Send { at: at.after(TURNAROUND), assess: true }))
        }
        (Doing::Answers, Some(DeviceEvent::CcaClear)) => {
            (doing, Some(RadioCommand::Send { at: at.after(TURNAROUND), assess: false }))
        }
        (Doing::Listens, Some(DeviceEvent::RadioTimer))
        | (Doing::Answers, Some(DeviceEvent::CcaBusy | DeviceEvent::Transmitted)) => {
            (Doing::Sleeps, Some(RadioCommand::Off { at }))
        }
        _ => (doing, None),
    }
}
