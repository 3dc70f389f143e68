//! Images for boards that one can buy.

use crate::command::run;
use crate::failure::Failure;
use crate::size::Size;
use crate::toolchain::Toolchain;

/// Each board, and what its images are built for.
const BOARDS: [(&str, &str); 2] =
    [("nrf52840-dk", "thumbv7em-none-eabihf"), ("openmote", "thumbv7m-none-eabi")];

/// What is behind the board's name in the names of its images: a sensor's, and that of a node that measures.
const IMAGES: [&str; 2] = ["", "-meter"];

/// Checks the drivers' code, links the images and prints their sizes.
pub(crate) fn build(toolchain: &Toolchain) -> Result<(), Failure> {
    println!("{:<18} {:>9} {:>11}", "image", "flash", "static RAM");
    let built = toolchain.built.join("boards");
    for (name, target) in BOARDS {
        let package = format!("sixlock-{name}");
        let cargo = |verb: &str| {
            let mut cargo = toolchain.cargo("firmware/boards", None);
            cargo.env("CARGO_TARGET_DIR", &built);
            cargo.args([verb, "--quiet", "--locked", "--release", "--target", target, "-p", &package]);
            cargo
        };
        run(cargo("clippy").args(["--", "-D", "warnings"]))?;
        run(&mut cargo("build")).map_err(|_| format!("An image for {name} does not link"))?;
        for image in IMAGES {
            let size = Size::of(&built.join(target).join("release").join(format!("{package}{image}")))?;
            println!("{:<18} {:>9} {:>11}", format!("{name}{image}"), size.flash, size.ram);
        }
    }
    Ok(())
}
