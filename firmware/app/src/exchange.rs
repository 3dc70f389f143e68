//! The other side: radio, timers, sensors and storage, all behind one block of memory.
//!
//! There is one thread and there are no interrupts. Nothing here makes a reference to the block that is left when it
//! returns, but [`frame`], whose bytes the other side leaves alone until the task that has them is over.

use core::arch::asm;
use core::ptr::addr_of_mut;
use core::slice;

use sixlock_base::{Entropy, Eui64, Instant, Symbols};
use sixlock_lockstep::{Command, DeviceEvent, ENTROPY, Exchange, FRAME, Flags, RECORD};

#[unsafe(no_mangle)]
static mut EXCHANGE: Exchange = Exchange::new();

/// Where the other side stops this one, reads and writes [`EXCHANGE`], and lets it run on.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn exchange() {
    // SAFETY: nothing is executed. To the compiler it may have changed all memory.
    unsafe { asm!("") }
}

const fn block() -> *mut Exchange {
    addr_of_mut!(EXCHANGE)
}

fn ask(command: Command) {
    // SAFETY: a field that nobody has a reference to.
    unsafe { (*block()).command = command as u8 };
    exchange();
}

/// Ends a task; returns with what begins the next.
pub(crate) fn wait(command: Command, flags: Flags) -> Option<DeviceEvent> {
    // SAFETY: fields that nobody has a reference to.
    unsafe { (*block()).flags = flags.0 };
    ask(command);
    // SAFETY: no task runs that could have the frame.
    unsafe { (*block()).event() }
}

/// The same with a command that the radio begins with at a time.
pub(crate) fn wait_until(command: Command, at: Symbols, flags: Flags) -> Option<DeviceEvent> {
    // SAFETY: a field that nobody has a reference to.
    unsafe { (*block()).set_begin(at) };
    wait(command, flags)
}

/// The same on a channel, to which the radio changes at once.
pub(crate) fn wait_on(command: Command, channel: u8, at: Symbols, flags: Flags) -> Option<DeviceEvent> {
    // SAFETY: a field that nobody has a reference to.
    unsafe { (*block()).set_channel(channel) };
    wait_until(command, at, flags)
}

/// The time in milliseconds, and the radio's.
pub(crate) fn time() -> (Instant, Symbols) {
    // SAFETY: fields that nobody has a reference to.
    let (now, at) = unsafe { ((*block()).now, (*block()).at) };
    (Instant::from_millis(u32::from_le_bytes(now)), Symbols::new(u32::from_le_bytes(at)))
}

/// When the task before ended, and when this one began, in the radio's time: to be asked before anything is asked for or put out in it.
pub(crate) fn task_times() -> (Symbols, Symbols) {
    // SAFETY: a field that nobody has a reference to.
    unsafe { (*block()).task_times() }
}

/// The frame that has come in; to be dropped before the task ends.
pub(crate) fn frame<'a>() -> &'a mut [u8] {
    // SAFETY: the frame is asked for once a task, and written by `transmit` only, at the end of one.
    unsafe {
        let len = usize::from((*block()).frame_len).min(FRAME);
        slice::from_raw_parts_mut(addr_of_mut!((*block()).frame).cast(), len)
    }
}

/// Puts the frame to be sent where the other side finds it.
pub(crate) fn set_frame(frame: &[u8]) {
    // SAFETY: no task has the frame any more.
    unsafe { (*block()).set_frame(frame) }
}

/// Says how often the channel is to be assessed, and how far apart.
pub(crate) fn set_assessments(times: u8, apart: u16) {
    // SAFETY: fields that nobody has a reference to.
    unsafe { (*block()).set_assessments(times, apart) }
}

/// Says who has posted a reading.
pub(crate) fn set_author(author: Eui64) {
    // SAFETY: fields that nobody has a reference to.
    unsafe { (*block()).set_author(author) }
}

/// What the sensors measure.
pub(crate) fn sensors() -> [i16; 3] {
    // SAFETY: a field that nobody has a reference to.
    unsafe { (*block()).sensors }.map(i16::from_le_bytes)
}

/// Sets the timers; what says so.
pub(crate) fn set_timers(radio: Option<Symbols>, timer: Option<Instant>) -> Flags {
    let mut flags = Flags::default();
    // SAFETY: fields that nobody has a reference to.
    unsafe {
        if let Some(radio) = radio {
            (*block()).radio_timer = radio.count().to_le_bytes();
            flags.insert(Flags::RADIO_TIMER);
        }
        if let Some(timer) = timer {
            (*block()).timer = timer.millis().to_le_bytes();
            flags.insert(Flags::TIMER);
        }
    }
    flags
}

/// What non-volatile memory has at `address`.
pub(crate) fn restore<const N: usize>(address: u16) -> [u8; N] {
    let mut bytes = [0; N];
    // SAFETY: fields that nobody has a reference to.
    unsafe {
        ((*block()).record_address, (*block()).record_len) = (address.to_le_bytes(), N as u8);
        ask(Command::Restore);
        let record = (*block()).record;
        bytes.copy_from_slice(&record[..N]);
    }
    bytes
}

/// Keeps `bytes` in non-volatile memory at `address`; they are there when it returns.
pub(crate) fn persist<const N: usize>(address: u16, bytes: &[u8; N]) {
    // SAFETY: fields that nobody has a reference to.
    unsafe {
        ((*block()).record_address, (*block()).record_len) = (address.to_le_bytes(), N as u8);
        let mut record = (*block()).record;
        record[..N].copy_from_slice(bytes);
        (*block()).record = record;
    }
    ask(Command::Persist);
}

/// Puts `bytes` out at the serial port; they are out when it returns.
pub(crate) fn put_out(bytes: impl IntoIterator<Item = u8>) {
    let mut bytes = bytes.into_iter();
    loop {
        let mut len = 0;
        for byte in bytes.by_ref().take(RECORD) {
            // SAFETY: a byte within the field, which nobody has a reference to.
            unsafe { (*block()).record[len] = byte };
            len += 1;
        }
        if len == 0 {
            return;
        }
        // SAFETY: a field that nobody has a reference to.
        unsafe { (*block()).record_len = len as u8 };
        ask(Command::Serial);
    }
}

/// The random bytes that the block holds, the last first.
pub(crate) struct Random {
    left: usize,
}

impl Random {
    /// There are none before they are asked for.
    pub(crate) const fn new() -> Self {
        Self { left: 0 }
    }
}

impl Entropy for Random {
    // Most ask for as many bytes, at many places.
    #[inline(never)]
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.left == 0 {
                ask(Command::Entropy);
                self.left = ENTROPY;
            }
            self.left -= 1;
            // SAFETY: a byte within the field, which nobody has a reference to.
            *byte = unsafe { (*block()).entropy[self.left] };
        }
    }
}
