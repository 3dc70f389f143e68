//! The microcontrollers that images are built for.

use std::path::PathBuf;

/// A microcontroller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chip {
    /// ARM Cortex-M3.
    CortexM3,
    /// Texas Instruments MSP430F1611.
    Msp430F1611,
    /// Atmel ATmega128.
    Atmega128,
}

impl Chip {
    /// Every chip, in the order in which images are built.
    pub const ALL: [Self; 3] = [Self::CortexM3, Self::Msp430F1611, Self::Atmega128];

    /// Its name in `firmware/images.toml` and in what is measured.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CortexM3 => "cortex-m3",
            Self::Msp430F1611 => "msp430f1611",
            Self::Atmega128 => "atmega128",
        }
    }

    /// The chip of this name.
    ///
    /// # Errors
    /// Names those that there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|chip| chip.name() == name);
        found.ok_or_else(|| format!("{name} is not cortex-m3, msp430f1611 or atmega128"))
    }

    /// What its images are built for, as rustc calls it.
    pub const fn target(self) -> &'static str {
        match self {
            Self::CortexM3 => "thumbv7m-none-eabi",
            Self::Msp430F1611 => "msp430-none-elf",
            Self::Atmega128 => "avr-none",
        }
    }

    /// Where a build leaves its image `name`, below the folder of all targets.
    pub fn image(self, name: &str) -> PathBuf {
        let suffix = if self == Self::Atmega128 { ".elf" } else { "" };
        PathBuf::from(self.target()).join("release").join(format!("{name}{suffix}"))
    }
}
