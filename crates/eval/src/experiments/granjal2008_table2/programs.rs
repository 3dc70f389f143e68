//! The programs of the table, and what the paper prints of them.

use super::super::footprint::{Footprint, Footprints};
use super::super::granjal2008::{AES, BASELINE, SHA_1, SHA_512, TRIPLE_DES};
use crate::error::Error;
use crate::published::Table;

/// The programs, and their images without 6LoWPAN; with it there stands `udp-` before these. The first has no algorithm.
pub(super) const PROGRAMS: [(&str, &str); 5] = [
    (BASELINE, "no-algorithm"),
    (AES, "aes-192"),
    (TRIPLE_DES, "triple-des"),
    (SHA_1, "sha-1"),
    (SHA_512, "sha-512"),
];

/// Where the paper's tables have values without 6LoWPAN, and with it.
pub(super) const WITHOUT: f64 = 0.0;
pub(super) const WITH: f64 = 1.0;

/// A program, without 6LoWPAN and with it.
pub(super) struct Program {
    pub(super) label: &'static str,
    pub(super) alone: Footprint,
    pub(super) node: Footprint,
}

/// All of them, as they were measured.
pub(super) fn measured() -> Result<Vec<Program>, Error> {
    let images = Footprints::on_atmega128()?;
    let program = |(label, image): (&'static str, &str)| {
        Ok(Program { label, alone: images.of(image)?, node: images.of(&format!("udp-{image}"))? })
    };
    PROGRAMS.into_iter().map(program).collect()
}

/// What the paper prints.
pub(super) struct Printed<'p> {
    pub(super) eeprom: &'p Table,
    pub(super) sram: &'p Table,
}

impl Printed<'_> {
    /// What a program takes of flash and of SRAM.
    pub(super) fn of(&self, label: &str, x: f64) -> [f64; 2] {
        [self.eeprom, self.sram].map(|table| table.at(label, x).map_or(f64::NAN, |published| published.value))
    }

    /// The same beyond the baseline.
    pub(super) fn beyond(&self, label: &str, x: f64) -> [f64; 2] {
        let ([flash, sram], [of_flash, of_sram]) = (self.of(label, x), self.of(BASELINE, x));
        [flash - of_flash, sram - of_sram]
    }
}
