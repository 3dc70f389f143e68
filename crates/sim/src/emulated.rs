//! A processor that is emulated, with what its firmware asks for: random bytes and non-volatile memory.

use core::ops::ControlFlow;
use std::path::Path;

use sixlock_base::{Counter, Counters, Entropy};
use sixlock_emulator::{Error, Image, Lockstep, Outcome as Emulation, Request, Task};
use sixlock_lockstep::{Command, Device, Exchange, Flags};
use sixlock_node::ipsec::ConfigError;

use crate::costs::MeasuredTask;
use crate::modelled::Modelled;
use crate::outcome::{Failure, Outcome};
use crate::protection::{Cleartext, Peering};
use crate::random::{Purpose, Stream};
use crate::time::Span;

/// The bytes of non-volatile memory.
const STORAGE: usize = 256;
/// The bytes that are kept of what it puts out at its serial port.
const SERIAL: usize = 1 << 16;
const _: () = assert!(sixlock_nv::COUNTERS <= STORAGE, "what an image counts is not kept");

/// An image in an emulator.
pub(crate) struct Emulated {
    lockstep: Lockstep,
    entropy: Stream,
    storage: [u8; STORAGE],
    /// What it has put out at its serial port.
    serial: Vec<u8>,
    shadow: Option<Shadow>,
}

/// The same node, native, which is handed the same.
pub(crate) struct Shadow {
    /// The node.
    pub(crate) node: Box<Modelled>,
    /// Whether it must want the same, and its tasks are recorded.
    pub(crate) is_compared: bool,
    /// Those that were.
    pub(crate) measured: Vec<MeasuredTask>,
}

impl Emulated {
    /// Node `id`, which `device` and what is written at further symbols, for IPsec or public keys, make of the image in the file
    /// `image`.
    pub(crate) fn start(
        seed: u64,
        id: u32,
        image: &Path,
        device: &Device<'_>,
        further: &[(&str, Vec<u8>)],
        shadow: Option<Shadow>,
    ) -> Result<Self, Error> {
        let mut image = Image::read(image)?;
        for (symbol, data) in further {
            image.patch(symbol, data)?;
        }
        Ok(Self {
            lockstep: Lockstep::start(image, device)?,
            entropy: Stream::new(seed, id, Purpose::Entropy),
            storage: [0xff; STORAGE],
            serial: Vec::new(),
            shadow,
        })
    }

    /// How many bytes of stack it has used so far.
    pub(crate) fn stack_peak(&mut self) -> Result<u32, Error> {
        self.lockstep.stack_peak()
    }

    /// What has come out of its serial port so far, up to [`SERIAL`] bytes; nobody reads what is beyond.
    pub(crate) fn serial(&self) -> &[u8] {
        &self.serial
    }

    /// The tasks that were recorded since this was last called.
    pub(crate) fn take_measured(&mut self) -> Vec<MeasuredTask> {
        self.shadow.as_mut().map(|shadow| core::mem::take(&mut shadow.measured)).unwrap_or_default()
    }

    /// Turns on IPsec of the native node beside it, if there is one: see [`Modelled::protect`].
    ///
    /// # Errors
    /// When there is no room for so many.
    pub(crate) fn protect<'p>(
        &mut self,
        peerings: impl Iterator<Item = &'p Peering>,
        id: u32,
        unauthenticated: bool,
    ) -> Result<(), ConfigError> {
        self.shadow.as_mut().map_or(Ok(()), |shadow| shadow.node.protect(peerings, id, unauthenticated))
    }

    /// What IPsec has protected in the last task, before it did: as the native node beside it tells.
    pub(crate) fn take_cleartexts(&mut self) -> Vec<Cleartext> {
        self.shadow.as_mut().map(|shadow| shadow.node.take_cleartexts()).unwrap_or_default()
    }

    /// Runs a task.
    pub(crate) fn run(&mut self, task: &Task<'_>, counters: &mut Counters) -> Result<Outcome, Failure> {
        let Self { lockstep, entropy, storage, serial, .. } = self;
        let mut written = 0;
        let ran = lockstep.run(task, |request| {
            if let Request::Persist(_, bytes) = &request {
                written += bytes.len() as u32;
            }
            serve(entropy, storage, serial, request);
            ControlFlow::Continue(())
        });
        // It never breaks off.
        let Some(Emulation { command, exchange, cost }) = ran? else { return Err(parted(task)) };
        if let Some(shadow) = &mut self.shadow {
            let (native, work) = shadow.node.run(task, &mut Counters::new());
            if shadow.is_compared {
                if native.command != command || !says_the_same(&native.exchange, &exchange) {
                    return Err(parted(task));
                }
                shadow.measured.push(MeasuredTask { at: task.now, event: task.event, work, cost });
            }
        }
        if Flags(exchange.flags).contains(Flags::SESSION_OPENED) {
            // The firmware's own counters are not to be seen.
            counters.count(Counter::DtlsHandshakes);
        }
        Ok(Outcome { command, exchange, cost, engine: Span::ZERO, written, keys: None })
    }
}

fn parted(task: &Task<'_>) -> Failure {
    Failure::Parted { task: format!("{:?}, {} ms", task.event, task.now.millis()) }
}

/// Whether two nodes want the same.
fn says_the_same(a: &Exchange, b: &Exchange) -> bool {
    let frame = |exchange: &Exchange| match exchange.command() {
        Some(Command::Transmit | Command::TransmitAt | Command::TransmitOn) => exchange.frame().to_vec(),
        _ => Vec::new(),
    };
    let assessments = |exchange: &Exchange| match exchange.command() {
        Some(Command::Assess | Command::AssessAt) => exchange.assessments(),
        _ => (0, 0),
    };
    a.flags == b.flags
        && (a.radio_timer(), a.timer()) == (b.radio_timer(), b.timer())
        && (frame(a), assessments(a)) == (frame(b), assessments(b))
}

/// Gives the firmware what it asks for. What lies outside of non-volatile memory is not kept.
fn serve(entropy: &mut Stream, storage: &mut [u8], serial: &mut Vec<u8>, request: Request<'_>) {
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
        Request::Serial(bytes) => serial.extend(bytes.iter().take(SERIAL - serial.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_keeps_what_fits_into_it() {
        let (mut entropy, mut storage) = (Stream::new(1, 1, Purpose::Entropy), [0xff; STORAGE]);
        let serial = &mut Vec::new();
        let end = STORAGE as u16 - 2;
        serve(&mut entropy, &mut storage, serial, Request::Persist(end, &[1, 2]));
        serve(&mut entropy, &mut storage, serial, Request::Persist(end, &[3, 4, 5]));
        let mut record = [0; 3];
        serve(&mut entropy, &mut storage, serial, Request::Restore(end - 1, &mut record));
        assert_eq!(record, [0xff, 1, 2]);
        serve(&mut entropy, &mut storage, serial, Request::Restore(end, &mut record));
        assert_eq!(record, [0xff; 3]);
    }

    #[test]
    fn of_what_comes_out_of_the_serial_port_the_first_bytes_are_kept() {
        let (mut entropy, mut serial) = (Stream::new(1, 1, Purpose::Entropy), Vec::new());
        for _ in 0..2 * SERIAL / 24 {
            serve(&mut entropy, &mut [], &mut serial, Request::Serial(b"the same for all devices"));
        }
        assert!(serial.len() == SERIAL && serial.ends_with(b"the same for all"));
    }
}
