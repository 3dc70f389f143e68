//! All machines of the device floors in one image for each microcontroller.

use serde::Serialize;
use sixlock_sim::Chip;

use crate::failure::Failure;
use crate::linked::{Linked, link};
use crate::toolchain::Toolchain;

/// A line of the table, as JSON.
#[derive(Serialize)]
struct Row {
    platform: &'static str,
    variant: &'static str,
    flash: u64,
    ram: u64,
}

/// What the chip has of flash and RAM, in bytes; of the Cortex-M3, what the linker is told.
const fn room(chip: Chip) -> (u64, u64) {
    match chip {
        Chip::CortexM3 => (262_144, 65_536),
        Chip::Msp430F1611 => (49_152, 10_240),
        Chip::Atmega128 => (131_072, 4_096),
    }
}

pub(crate) fn measure(toolchain: &Toolchain, json: bool) -> Result<(), Failure> {
    if !json {
        println!(
            "Every crate of the device floors in one image; static RAM: the largest machine, one at a time."
        );
        println!("{:<14} {:>16} {:>16}", "platform", "flash (of)", "static RAM (of)");
    }
    let mut rows = Vec::new();
    for chip in Chip::ALL {
        for Linked { size, .. } in link(toolchain, chip, &["sixlock-probe"])? {
            let (flash, ram) = room(chip);
            let fits = size.flash <= flash && size.ram <= ram;
            let note = if fits { "" } else { "  more than the chip has: linked, but would not run" };
            if !json {
                println!("{:<14} {:>8} {flash:>7} {:>8} {ram:>7}{note}", chip.name(), size.flash, size.ram);
            }
            rows.push(Row { platform: chip.name(), variant: "probe", flash: size.flash, ram: size.ram });
        }
    }
    if json {
        println!("{}", serde_json::to_string(&rows)?);
    }
    Ok(())
}
