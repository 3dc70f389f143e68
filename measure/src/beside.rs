//! The images that stand beside those of a paper, or of which `sixlock plan` makes up its options, and what `costs/` keeps of them.

use std::fmt::Write;

use clap::ValueEnum;
use sixlock_sim::{Chip, FirmwareImage};

use crate::baseline;
use crate::failure::Failure;
use crate::linked::link_images;
use crate::size::constants_in_flash;
use crate::stack::Drivers;
use crate::toolchain::Toolchain;

/// What of AH and of ESP an image on the MSP430 may take beyond the image without them: docs/decisions/0021-ipsec-shape.md.
const IPSEC: [(&str, u64); 2] = [("udp-ah-xcbc", 10_340), ("udp-esp-ctr-xcbc", 10_200)];
/// By how much more than is kept an image may take, in percent.
const GROWTH: u64 = 2;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Beside what the images stand that are measured
    beside: Beside,
    /// Writes what was measured to costs/
    #[arg(long)]
    accept: bool,
}

/// What compares images by what they take.
#[derive(Clone, Copy, ValueEnum)]
enum Beside {
    /// Raza et al. (2012), and the thesis: raza2012-table1, thesis-table11 to -table14
    Raza2012,
    /// Granjal et al. (2008): granjal2008-table2
    #[value(name = "granjal2008-memory")]
    Granjal2008,
    /// De Rubertis et al. (2013): derubertis2013-fig7
    Derubertis2013,
    /// Raza et al. (2017): securesense-fig18
    Securesense,
    /// `sixlock plan`
    Plan,
}

impl Beside {
    const fn name(self) -> &'static str {
        match self {
            Self::Raza2012 => "raza2012",
            // ./bench granjal2008 has measured times.
            Self::Granjal2008 => "granjal2008-memory",
            Self::Derubertis2013 => "derubertis2013",
            Self::Securesense => "securesense",
            Self::Plan => "plan",
        }
    }

    /// The microcontrollers that its images are for, each with the board on which they are emulated.
    const fn platforms(self) -> &'static [(Chip, &'static str)] {
        match self {
            Self::Raza2012 => &[(Chip::Msp430F1611, "tmote-sky")],
            Self::Granjal2008 => &[(Chip::Atmega128, "micaz")],
            Self::Derubertis2013 => &[(Chip::CortexM3, "mb851")],
            Self::Securesense => &[(Chip::CortexM3, "openmote")],
            Self::Plan => &[(Chip::CortexM3, "openmote"), (Chip::Msp430F1611, "tmote-sky")],
        }
    }
}

/// What of an image was measured, in bytes.
struct Row {
    image: String,
    /// Flash, static RAM and the stack's peak.
    bytes: [u64; 3],
    /// Constants in flash, where others are copied to RAM at start.
    constants: Option<u64>,
}

/// Measures them, and compares them with what is kept: none may have outgrown it.
pub(crate) fn measure(toolchain: &Toolchain, arguments: &Arguments) -> Result<(), Failure> {
    let drivers = Drivers::build(toolchain)?;
    let grown =
        arguments.beside.platforms().iter().map(|platform| on(toolchain, arguments, &drivers, *platform));
    let grown: Vec<_> = grown.collect::<Result<Vec<_>, _>>()?.concat();
    if grown.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nFind out why (./bench crates); if that should be, ./bench {} --accept writes it",
        grown.join("\n"),
        arguments.beside.name()
    )
    .into())
}

/// The same on one microcontroller; which images have outgrown what is kept.
fn on(
    toolchain: &Toolchain,
    arguments: &Arguments,
    drivers: &Drivers,
    (chip, board): (Chip, &str),
) -> Result<Vec<String>, Failure> {
    let name = arguments.beside.name();
    let file = format!("{name}-{}.csv", chip.name());
    let list = FirmwareImage::all()?;
    // Beside a paper stand those that are linked for nothing else, too.
    let fits =
        |image: &FirmwareImage| !matches!(arguments.beside, Beside::Plan) || image.chips.contains(&chip);
    let is_measured = |image: &&FirmwareImage| image.compared.iter().any(|one| one == name) && fits(image);
    let images: Vec<_> = list.iter().filter(is_measured).collect();
    let mut rows = Vec::new();
    for (image, linked) in images.iter().zip(link_images(toolchain, chip, &images)?) {
        let stack = drivers.peak(image, &linked, board)?;
        let constants = (chip == Chip::Atmega128).then(|| constants_in_flash(&linked.file)).transpose()?;
        let bytes = [linked.size.flash, linked.size.ram, stack];
        rows.push(Row { image: image.name.clone(), bytes, constants });
    }
    let emulator = match chip {
        Chip::CortexM3 => "the Cortex-M3; stacks by QEMU",
        Chip::Msp430F1611 => "the MSP430; stacks by mspdebug",
        Chip::Atmega128 => "the ATmega128; stacks by simavr",
    };
    let measured = table(name, emulator, &toolchain.compiler(chip)?, &rows)?;
    if !baseline::compare(&file, &measured, arguments.accept)? {
        println!("./bench {name} --accept writes what the images take now.");
    }
    if matches!(arguments.beside, Beside::Raza2012) {
        IPSEC.iter().for_each(|limit| println!("{}", beyond(&rows, limit)));
    }
    Ok(grown(&baseline::text(&file)?, &rows))
}

fn table(name: &str, chip: &str, compiler: &str, rows: &[Row]) -> Result<String, Failure> {
    let mut table = format!("# Measured by ./bench {name}, and written by ./bench {name} --accept alone.\n");
    writeln!(table, "# Bytes on {chip}; compiled by {compiler}")?;
    let has_constants = rows.iter().any(|row| row.constants.is_some());
    writeln!(table, "image,flash,ram,stack{}", if has_constants { ",constants in flash" } else { "" })?;
    for Row { image, bytes: [flash, ram, stack], constants } in rows {
        let constants = constants.map_or_else(String::new, |bytes| format!(",{bytes}"));
        writeln!(table, "{image},{flash},{ram},{stack}{constants}")?;
    }
    Ok(table)
}

/// What an image takes of flash beyond `udp-none`, and whether that is within its limit.
fn beyond(rows: &[Row], (image, most): &(&str, u64)) -> String {
    let flash = |name: &str| rows.iter().find(|row| row.image == name).map_or(0, |row| row.bytes[0]);
    let taken = flash(image).saturating_sub(flash("udp-none"));
    let holds = if taken > *most { "does not hold" } else { "holds" };
    format!("{image}: {taken} bytes of flash beyond udp-none, of {most} at most: {holds}")
}

/// Which images take more than `kept` says, by more than a little.
fn grown(kept: &str, rows: &[Row]) -> Vec<String> {
    let kept: Vec<Vec<&str>> = kept.lines().map(|line| line.split(',').collect()).collect();
    let has_grown = |row: &&Row| {
        let of_image = kept.iter().find(|columns| columns[0] == row.image);
        let most = of_image.map(|columns| columns[1..].iter().map(|bytes| bytes.parse().unwrap_or(0)));
        let most: Vec<u64> = most.map_or_else(Vec::new, Iterator::collect);
        row.bytes.iter().zip(most.iter().chain(&[0; 3])).any(|(now, then)| now * 100 > then * (100 + GROWTH))
    };
    let told = |row: &Row| format!("{} has outgrown what is said of it", row.image);
    rows.iter().filter(has_grown).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(image: &str, flash: u64) -> Row {
        Row { image: image.into(), bytes: [flash, 200, 300], constants: None }
    }

    #[test]
    fn an_image_has_grown_if_it_takes_two_percent_more_than_is_kept_or_nothing_is() {
        let kept = "# a comment\nimage,flash,ram,stack\na,1000,200,300\n";
        assert_eq!(grown(kept, &[row("a", 1020)]), [""; 0]);
        assert_eq!(grown(kept, &[row("a", 1021)]), ["a has outgrown what is said of it"]);
        assert_eq!(grown(kept, &[row("b", 1)]).len(), 1);
    }

    #[test]
    fn what_ipsec_takes_is_held_against_its_limit() {
        let rows = [row("udp-none", 1000), row("udp-ah-xcbc", 1010)];
        assert!(beyond(&rows, &("udp-ah-xcbc", 10)).ends_with("10 at most: holds"));
        assert!(beyond(&rows, &("udp-ah-xcbc", 9)).ends_with("9 at most: does not hold"));
    }
}
