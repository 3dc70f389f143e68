//! What a machine does with its radio and its timers, whatever it is.

use sixlock_base::Symbols;
use sixlock_interface::{Layers, LinkLayer, RadioCommand, RadioMachine};
use sixlock_lockstep::{Command, DeviceEvent, Flags};

use crate::exchange;
use crate::lent::{Backend, Context};
use crate::listening::DeviceMac;

/// Tells the machine what happens, unless it is a frame or at a serial port.
#[inline(always)]
pub(crate) fn happens<B: Backend>(
    cx: &mut Context<B>,
    machine: &mut impl RadioMachine<Crypto = B>,
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

/// Tells the radio what is due, and ends a task in which what `flags` say has happened; returns with what begins the next.
#[inline(always)]
pub(crate) fn wait<B: Backend, M: RadioMachine<Crypto = B>>(
    machine: &mut M,
    mut flags: Flags,
) -> Option<DeviceEvent>
where
    <<M::Layers as Layers<B>>::Link as LinkLayer>::Mac<B>: DeviceMac<B>,
{
    let ahead = <<M::Layers as Layers<B>>::Link as LinkLayer>::Mac::<B>::AHEAD;
    let command = if ahead { machine.poll_radio() } else { machine.poll_radio_due() };
    flags.insert(exchange::set_timers(machine.poll_radio_timeout(), machine.poll_timeout()));
    match (command, machine.channel()) {
        (Some(RadioCommand::Listen { at }), Some(channel)) if ahead => {
            exchange::wait_on(Command::ListenOn, channel, at, flags)
        }
        (Some(RadioCommand::Send { at, .. }), Some(channel)) if ahead => {
            exchange::set_frame(machine.transmit_frame());
            exchange::wait_on(Command::TransmitOn, channel, at, flags)
        }
        (Some(RadioCommand::Assess { at, times, apart }), _) if ahead => {
            exchange::set_assessments(times, apart);
            exchange::wait_until(Command::AssessAt, at, flags)
        }
        (Some(RadioCommand::Send { at, .. }), None) if ahead => {
            exchange::set_frame(machine.transmit_frame());
            exchange::wait_until(Command::TransmitAt, at, flags)
        }
        (command, _) => wait_for(command, || machine.transmit_frame(), flags),
    }
}

/// The same for a device that keeps the times of its radio's commands by itself: when it says one, it is time. `frame` is what is to be sent.
#[inline(always)]
pub(crate) fn wait_for<'a>(
    command: Option<RadioCommand>,
    frame: impl FnOnce() -> &'a [u8],
    flags: Flags,
) -> Option<DeviceEvent> {
    let command = match command {
        None => Command::None,
        Some(RadioCommand::Listen { .. }) => Command::Listen,
        Some(RadioCommand::Off { .. }) => Command::Off,
        Some(RadioCommand::Assess { times, apart, .. }) => {
            exchange::set_assessments(times, apart);
            Command::Assess
        }
        Some(RadioCommand::Send { assess: true, .. }) => Command::Cca,
        Some(RadioCommand::Send { assess: false, .. }) => {
            exchange::set_frame(frame());
            Command::Transmit
        }
    };
    exchange::wait(command, flags)
}
