//! What each platform draws, and how fast its clock and its way to the radio are.
//!
//! `docs/platforms.md` shows the figures beside their sources.

use crate::platform::Platform;
use crate::time::Span;

/// The figures of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The CPU's clock, in kilohertz.
    pub kilohertz: u64,
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
    /// How long a byte keeps the CPU busy on the bus to the radio, in nanoseconds; nothing where they are one chip.
    pub bus_byte: u64,
    /// How many bytes the radio keeps of frames that the CPU has not taken, a length before each.
    pub receive_fifo: usize,
}

impl Profile {
    /// The figures of `platform`.
    pub const fn of(platform: Platform) -> Self {
        match platform {
            // Clock, currents and voltage: what Contiki 2.6 sets, and what its collect-view counts with. Bus: at least this
            // much a byte on this board. FIFO: CC2420 data sheet (SWRS041).
            Platform::TmoteSky => Self {
                kilohertz: 3_900,
                millivolts: 3_000,
                cpu: 1_800_000,
                lpm: 54_500,
                tx: 17_700_000,
                rx: 20_000_000,
                listen: 20_000_000,
                bus_byte: 4_100,
                receive_fifo: 128,
            },
            // CPU: the estimate of battery life in Crossbow's MPR/MIB manual, whose table of currents has 12 mA and 10 µA.
            // Radio: CC2420 data sheet, page 1. Bus, not confirmed: the ATmega128's SPI at its fastest, half the clock,
            // without a pause between bytes.
            Platform::MicaZ => Self {
                kilohertz: 7_373,
                millivolts: 3_000,
                cpu: 8_000_000,
                lpm: 8_000,
                tx: 17_400_000,
                rx: 18_800_000,
                listen: 18_800_000,
                bus_byte: 2_170,
                receive_fifo: 128,
            },
            // Raza et al., "SecureSense" (2017), table 1: sending at 3 dBm. FIFO: CC2538 user's guide (SWRU319).
            Platform::OpenMote => Self {
                kilohertz: 32_000,
                millivolts: 3_000,
                cpu: 13_000_000,
                lpm: 600_000,
                tx: 28_300_000,
                rx: 20_000_000,
                listen: 24_000_000,
                bus_byte: 0,
                receive_fifo: 128,
            },
            // De Rubertis et al., "Performance Evaluation of end-to-end security protocols in an Internet of Things" (2013),
            // table I. Voltage, not confirmed: that of two cells. FIFO: STM32W108 data sheet, two buffers, filled in turn.
            Platform::Mb851 => Self {
                kilohertz: 24_000,
                millivolts: 3_000,
                cpu: 7_500_000,
                lpm: 3_000_000,
                tx: 21_000_000,
                rx: 19_000_000,
                listen: 19_000_000,
                bus_byte: 0,
                receive_fifo: 256,
            },
        }
    }

    /// How long the CPU is busy to move `bytes` bytes between itself and the radio.
    pub(crate) const fn bus(&self, bytes: usize) -> Span {
        Span::from_micros((bytes as u64 * self.bus_byte).div_ceil(1000))
    }

    /// How long `cycles` of the CPU's clock last.
    pub(crate) const fn cycles(&self, cycles: u64) -> Span {
        Span::from_micros(cycles.saturating_mul(1000) / self.kilohertz)
    }
}

impl Platform {
    /// How long the platform's CPU works at what its emulator counts as `cost`.
    ///
    /// For MSP430 and AVR that is cycles. For Cortex-M3 it is instructions, each taken for 4/3 of a cycle: an estimate from the cryptographic code, where it lies between 1.24 and 1.58.
    pub(crate) fn duration(self, cost: u64) -> Span {
        let cycles = match self {
            Self::TmoteSky | Self::MicaZ => cost,
            Self::OpenMote | Self::Mb851 => cost.saturating_mul(4) / 3,
        };
        Profile::of(self).cycles(cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_as_long_as_the_clock_says() {
        assert_eq!(Platform::TmoteSky.duration(3_900_000), Span::from_secs(1));
        assert_eq!(Platform::MicaZ.duration(7_373), Span::from_millis(1));
        assert_eq!(Platform::OpenMote.duration(24_000), Span::from_millis(1));
        assert_eq!(Platform::Mb851.duration(18_000), Span::from_millis(1));
    }
}
