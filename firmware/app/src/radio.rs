//! What a machine does with its radio and its timers, whatever it is.

use sixlock_base::Symbols;
use sixlock_interface::{RadioCommand, RadioMachine};
use sixlock_lockstep::{Command, DeviceEvent, Flags};

use crate::exchange;
use crate::lent::{Backend, Context};

/// Tells the machine what happens, unless it is a frame or at a serial port.
#[inline(always)]
pub(crate) fn happens(
    cx: &mut Context,
    machine: &mut impl RadioMachine<Crypto = Backend>,
    at: Symbols,
    event: DeviceEvent,
) {
    match event {
        DeviceEvent::Start | DeviceEvent::Frame | DeviceEvent::Serial => {}
        DeviceEvent::Transmitted => machine.handle_transmitted(cx, at),
        DeviceEvent::CcaClear => machine.handle_cca(cx, at, true),
        DeviceEvent::CcaBusy => machine.handle_cca(cx, at, false),
        DeviceEvent::RadioTimer => machine.handle_radio_timeout(cx, at),
        DeviceEvent::Timer => machine.handle_timeout(cx, at),
    }
}

/// Ends a task in which what `flags` say has happened; returns with what begins the next.
#[inline(always)]
pub(crate) fn wait(
    machine: &mut impl RadioMachine<Crypto = Backend>,
    mut flags: Flags,
) -> Option<DeviceEvent> {
    let command = match machine.poll_radio() {
        None => Command::None,
        Some(RadioCommand::Cca) => Command::Cca,
        Some(RadioCommand::Transmit) => {
            exchange::set_frame(machine.transmit_frame());
            Command::Transmit
        }
    };
    flags.insert(exchange::set_timers(machine.poll_radio_timeout(), machine.poll_timeout()));
    exchange::wait(command, flags)
}
