//! What tasks take on each microcontroller: cryptographic operations, and the steps of the stack in emulated nodes between native ones.

use std::io::Write;
use std::process::Command;

use sixlock_sim::{Chip, DeviceBackend, FirmwareImage};

use crate::command::{output, run};
use crate::failure::Failure;
use crate::folder::root;
use crate::images;
use crate::linked::link;
use crate::linked::link_images;
use crate::primitives::example;
use crate::toolchain::Toolchain;

/// What is measured: a backend on a chip, by the images of `firmware/primitives` that have its operations. What P-256 takes does not depend
/// on how AES is done.
const MEASURED: [(Chip, DeviceBackend, &[&str]); 4] = [
    (Chip::CortexM3, DeviceBackend::Tiny, OF_TINY),
    (Chip::Msp430F1611, DeviceBackend::Tiny, OF_TINY),
    (Chip::Atmega128, DeviceBackend::Tiny, OF_TINY),
    (Chip::Msp430F1611, DeviceBackend::Tables, &["sixlock-operations-tables"]),
];
const OF_TINY: &[&str] = &["sixlock-operations", "sixlock-p256"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leaves out the nodes
    #[arg(long)]
    operations: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Writes what was measured to costs/, and shows what it changes
    #[arg(long)]
    accept: bool,
}

/// Holds the figures against round trips that they were not found from, and compares them with `costs/`.
pub(crate) fn measure(toolchain: &Toolchain, arguments: &Arguments) -> Result<(), Failure> {
    let (mut counted, mut built) = (Vec::new(), Vec::new());
    for (chip, backend, images) in MEASURED {
        let (chip_name, backend_name) = (chip.name(), backend.name());
        counted.extend([chip_name.into(), backend_name.into(), how(chip)?, toolchain.compiler(chip)?]);
        let linked = link(toolchain, chip, images)?;
        built.extend(
            linked.iter().map(|linked| format!("{chip_name}-{backend_name}={}", linked.file.display())),
        );
    }
    if !arguments.operations {
        let list = FirmwareImage::all()?;
        for chip in Chip::ALL {
            link_images(toolchain, chip, &images::of(&list, chip))?;
        }
    }
    let mut cases = tempfile::NamedTempFile::new()?;
    cases.write_all(output(example("primitives").arg("--json").args(built))?.as_bytes())?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args([
        "run",
        "--quiet",
        "--locked",
        "-p",
        "sixlock-sim",
        "--example",
        "costs",
        "--",
    ]);
    let flags =
        [("--operations", arguments.operations), ("--json", arguments.json), ("--accept", arguments.accept)];
    cargo.args(flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag));
    run(cargo.arg(cases.path()).args(counted))
}

/// How what a task takes on `chip` is counted.
fn how(chip: Chip) -> Result<String, Failure> {
    Ok(match chip {
        Chip::CortexM3 => {
            let qemu = version("qemu-system-arm")?;
            format!("instructions, exact, by QEMU {qemu}; that 4/3 cycles go to each is an estimate")
        }
        Chip::Msp430F1611 => {
            let mspdebug = version("mspdebug")?;
            format!("cycles, exact, by TI's table (SLAU049), checked against mspdebug {mspdebug}")
        }
        Chip::Atmega128 => "cycles, exact, by simavr".into(),
    })
}

fn version(program: &str) -> Result<String, Failure> {
    let said = output(Command::new(program).arg("--version"))?;
    let number = said
        .split("version ")
        .nth(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.'));
    number.map(String::from_iter).ok_or_else(|| format!("{program} does not say its version").into())
}
