//! An emulated device, task by task.

use core::ops::ControlFlow;

use sixlock_base::{Instant, Symbols};
use sixlock_lockstep::{Command, Device, DeviceEvent, ENTROPY, Exchange};

use crate::emulator::Emulator;
use crate::error::{Cause, Error};
use crate::image::Image;

/// How much a device may ask for in one task before it counts as stuck.
const REQUESTS: u32 = 10_000;

/// A device in an emulator, which stands between two of its tasks.
pub struct Lockstep {
    emulator: Emulator,
    /// Where its [`Exchange`] lies.
    block: u32,
}

/// What happens to the device next.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What it is.
    pub event: DeviceEvent,
    /// When the task begins.
    pub now: Instant,
    /// When it happened, in the radio's time.
    pub at: Symbols,
    /// When the task before ended, in the radio's time.
    pub ended: Symbols,
    /// When this one begins, in the radio's time: later than it happened, if the device was at work.
    pub begins: Symbols,
    /// The frame that has come in, or bytes at the serial port, if either has.
    pub frame: &'a [u8],
    /// What the sensors measure, as [`Exchange::sensors`] counts.
    pub sensors: [i16; 3],
}

impl<'a> Task<'a> {
    /// The same of a device whose tasks take no time, and whose sensors measure nothing.
    pub const fn in_no_time(event: DeviceEvent, now: Instant, at: Symbols, frame: &'a [u8]) -> Self {
        Self { event, now, at, ended: at, begins: at, frame, sensors: [0; 3] }
    }
}

/// What a device asks for within a task.
#[derive(Debug)]
pub enum Request<'a> {
    /// Random bytes.
    Entropy(&'a mut [u8; ENTROPY]),
    /// That these bytes be kept in non-volatile memory from this address on.
    Persist(u16, &'a [u8]),
    /// What non-volatile memory holds from this address on; 0xff where nothing was written.
    Restore(u16, &'a mut [u8]),
    /// That these bytes go out at the serial port.
    Serial(&'a [u8]),
}

/// What came of a task.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the device wants now: a command that ends a task.
    pub command: Command,
    /// Its other wishes, and its news.
    pub exchange: Exchange,
    /// What the task took, as [`Emulator::resume`] counts.
    pub cost: u64,
}

impl Lockstep {
    /// Makes `device` of `image` and lets it begin; it then waits for [`DeviceEvent::Start`].
    ///
    /// # Errors
    /// When the image is not one for this, or the emulator fails.
    pub fn start(mut image: Image, device: &Device<'_>) -> Result<Self, Error> {
        let device = device.emit().map_err(|error| Cause::Device(format!("{error:?}")))?;
        image.patch("DEVICE", &device)?;
        Self::start_as_built(image)
    }

    /// The same with an image that needs no device's own data, such as a sniffer's.
    ///
    /// # Errors
    /// When the image is not one for this, or the emulator fails.
    pub fn start_as_built(image: Image) -> Result<Self, Error> {
        let block = image.symbol("EXCHANGE")?.address;
        let mut emulator = Emulator::start(&image, "exchange")?;
        emulator.resume()?;
        Ok(Self { emulator, block })
    }

    /// How many bytes of stack the device has used so far, as [`Emulator::stack_peak`] tells.
    ///
    /// # Errors
    /// When the emulator fails.
    pub fn stack_peak(&mut self) -> Result<u32, Error> {
        self.emulator.stack_peak()
    }

    /// How many bytes of stack there are, as [`Emulator::stack_len`] tells.
    pub fn stack_len(&self) -> u32 {
        self.emulator.stack_len()
    }

    /// Lets the device do its next task. `answer` gives it what it asks for meanwhile; when it breaks off, the device
    /// has lost its power: it never goes on, and there is no outcome.
    ///
    /// # Errors
    /// When the device or the emulator fails.
    pub fn run(
        &mut self,
        task: &Task<'_>,
        mut answer: impl FnMut(Request<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Outcome>, Error> {
        let mut exchange = Exchange::new();
        exchange.event = task.event as u8;
        exchange.now = task.now.millis().to_le_bytes();
        exchange.at = task.at.count().to_le_bytes();
        exchange.set_frame(task.frame);
        exchange.sensors = task.sensors.map(i16::to_le_bytes);
        exchange.set_task_times(task.ended, task.begins);
        if answer(Request::Entropy(&mut exchange.entropy)).is_break() {
            return Ok(None);
        }
        self.emulator.write(self.block, &exchange.to_bytes())?;
        let mut cost = 0;
        for _ in 0..REQUESTS {
            cost += self.emulator.resume()?;
            let mut bytes = [0; Exchange::LEN];
            self.emulator.read(self.block, &mut bytes)?;
            let mut exchange = Exchange::from_bytes(&bytes);
            let command = exchange.command();
            let (address, record) = exchange.record_mut();
            let flow = match command {
                Some(
                    command @ (Command::None
                    | Command::Cca
                    | Command::Transmit
                    | Command::Listen
                    | Command::Off
                    | Command::Assess
                    | Command::AssessAt
                    | Command::TransmitAt
                    | Command::ListenOn
                    | Command::TransmitOn),
                ) => return Ok(Some(Outcome { command, exchange, cost })),
                Some(Command::Entropy) => answer(Request::Entropy(&mut exchange.entropy)),
                Some(Command::Persist) => answer(Request::Persist(address, record)),
                Some(Command::Restore) => answer(Request::Restore(address, record)),
                Some(Command::Serial) => answer(Request::Serial(record)),
                None => return Err(Cause::Command(exchange.command).into()),
            };
            if flow.is_break() {
                return Ok(None);
            }
            // Only these two: the frame is the task's until it ends.
            self.emulator.write(self.block + ENTROPY_AT, &exchange.entropy)?;
            self.emulator.write(self.block + RECORD_AT, &exchange.record)?;
        }
        Err(Cause::Restless.into())
    }
}

const ENTROPY_AT: u32 = core::mem::offset_of!(Exchange, entropy) as u32;
const RECORD_AT: u32 = core::mem::offset_of!(Exchange, record) as u32;
