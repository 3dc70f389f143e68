//! What a platform draws, and how fast its clock and its way to the radio are.

use crate::time::Span;

/// What writing to non-volatile storage takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// How many bytes are written at once.
    pub word: u32,
    /// How long that takes, in nanoseconds.
    pub word_time: u64,
    /// What it draws meanwhile beside the CPU, in nanoamperes.
    pub current: u32,
}

impl Storage {
    /// How long `bytes` bytes take.
    pub(crate) const fn duration(&self, bytes: u32) -> Span {
        Span::from_micros((bytes.div_ceil(self.word) as u64 * self.word_time).div_ceil(1000))
    }
}

/// The figures of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The CPU's clock, in kilohertz.
    pub kilohertz: u64,
    /// How many cycles a unit of counted work is taken for: this many for so many units. It is one for one where cycles are counted;
    /// where instructions are, it is an estimate.
    pub cycles_per_cost: (u64, u64),
    /// The supply, in millivolts.
    pub millivolts: u32,
    /// What the CPU draws at work, in nanoamperes, as all that follow.
    pub cpu: u32,
    /// What it draws while it has nothing to do.
    pub lpm: u32,
    /// What the radio draws while it sends.
    pub tx: u32,
    /// What it draws while a frame comes in.
    pub rx: u32,
    /// What it draws while it waits for one.
    pub listen: u32,
    /// What it draws while it is off, if that is known and not in what the CPU draws.
    pub off: Option<u32>,
    /// What an accelerator draws at work, beside the CPU, if that is known.
    pub engine: Option<u32>,
    /// What writing to storage takes, if that is known.
    pub storage: Option<Storage>,
    /// How many ticks a second the timer has that Contiki's Energest counts by.
    pub energest: u32,
    /// How long a byte keeps the CPU busy on the bus to the radio, in nanoseconds; nothing where they are one chip.
    pub bus_byte: u64,
    /// How many bytes the radio keeps of frames that the CPU has not taken, a length before each.
    pub receive_fifo: usize,
}

impl Profile {
    /// How long the CPU is busy to move `bytes` bytes between itself and the radio.
    pub(crate) const fn bus(&self, bytes: usize) -> Span {
        Span::from_micros((bytes as u64 * self.bus_byte).div_ceil(1000))
    }

    /// How long `cycles` of the CPU's clock last.
    const fn cycles(&self, cycles: u64) -> Span {
        Span::from_micros(cycles.saturating_mul(1000) / self.kilohertz)
    }

    /// How long the CPU works at what was counted as `cost`.
    pub(crate) const fn duration(&self, cost: u64) -> Span {
        let (cycles, units) = self.cycles_per_cost;
        self.cycles(cost.saturating_mul(cycles) / units)
    }
}
