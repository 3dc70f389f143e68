//! Builds the images of `firmware/`, and measures them in emulators. `scripts/firmware.sh` starts it, with the tools that it needs.

mod baseline;
mod beside;
mod boards;
mod command;
mod costs;
mod crates;
mod failure;
mod folder;
mod footprint;
mod images;
mod linked;
mod primitives;
mod probes;
mod size;
mod stack;
mod toolchain;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::toolchain::Toolchain;

/// Builds images for microcontrollers, and measures them in emulators.
#[derive(Parser)]
#[command(name = "scripts/firmware.sh", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Links the probe image of each microcontroller, checks what is in it and prints its size
    Probes(OutputFormat),
    /// Links the images that devices run, prints their sizes, and fails if one takes more than firmware/images.toml lets it
    Images,
    /// Links the images for boards that one can buy, and prints their sizes; no emulator has their radios
    Boards,
    /// Measures the images that devices run: flash, static RAM, and the stack's peak while each runs in an emulator
    Footprint(OutputFormat),
    /// Says which crate takes how many bytes of an image's flash, and which static how many of its RAM
    Crates(crates::Arguments),
    /// Measures the images that stand beside those of a paper, and compares them with what costs/ keeps
    Beside(beside::Arguments),
    /// Measures what tasks take on each microcontroller, and compares it with what costs/ keeps
    Costs(costs::Arguments),
    /// Measures the algorithms of Granjal et al. (2008) on the ATmega128, and compares them with what costs/ keeps
    Granjal2008(Acceptance),
    /// Measures the cryptographic primitives on each microcontroller, in its emulator
    Primitives(OutputFormat),
    /// Runs a core of Wycheproof's cases on each microcontroller, in its emulator
    Wycheproof,
}

/// How something is printed.
#[derive(clap::Args)]
struct OutputFormat {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What becomes of what was measured.
#[derive(clap::Args)]
struct Acceptance {
    /// Writes it to costs/
    #[arg(long)]
    accept: bool,
}

fn main() -> ExitCode {
    match perform(Arguments::parse().action) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn perform(action: Action) -> Result<(), Failure> {
    let toolchain = Toolchain::find()?;
    match action {
        Action::Probes(OutputFormat { json }) => probes::measure(&toolchain, json),
        Action::Images => images::check(&toolchain),
        Action::Boards => boards::build(&toolchain),
        Action::Footprint(OutputFormat { json }) => footprint::measure(&toolchain, json),
        Action::Crates(arguments) => crates::measure(&toolchain, &arguments),
        Action::Beside(arguments) => beside::measure(&toolchain, &arguments),
        Action::Costs(arguments) => costs::measure(&toolchain, &arguments),
        Action::Granjal2008(Acceptance { accept }) => primitives::granjal_2008(&toolchain, accept),
        Action::Primitives(OutputFormat { json }) => primitives::measure(&toolchain, json),
        Action::Wycheproof => primitives::wycheproof(&toolchain),
    }
}
