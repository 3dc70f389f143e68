//! Images for boards that one can buy.

use crate::command::run;
use crate::failure::Failure;
use crate::size::Size;
use crate::toolchain::Toolchain;

/// Each board, and what its images are built for.
const BOARDS: [(&str, &str); 2] =
    [("nrf52840-dk", "thumbv7em-none-eabihf"), ("openmote", "thumbv7m-none-eabi")];

/// Checks the drivers' code, links the images and prints their sizes.
pub(crate) fn build(toolchain: &Toolchain) -> Result<(), Failure> {
    println!("{:<14} {:>9} {:>11}", "board", "flash", "static RAM");
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
        run(&mut cargo("build")).map_err(|_| format!("The image for {name} does not link"))?;
        let size = Size::of(&built.join(target).join("release").join(&package))?;
        println!("{name:<14} {:>9} {:>11}", size.flash, size.ram);
    }
    Ok(())
}
