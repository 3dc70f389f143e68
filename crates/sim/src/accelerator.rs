//! The accelerators whose times are known.

/// An accelerator for cryptography, as boards have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// That of the CC2420, behind a bus.
    Cc2420,
    /// That of the CC2538, which hashes and multiplies points, too.
    Cc2538,
    /// That of the STM32W108.
    Stm32w,
}

impl Accelerator {
    /// Each of them, by the name that files of boards call it.
    pub const ALL: [(&str, Self); 3] =
        [("cc2420", Self::Cc2420), ("cc2538", Self::Cc2538), ("stm32w", Self::Stm32w)];
}
