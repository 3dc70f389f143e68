//! Cryptographic primitives on each microcontroller, in its emulator.

use std::fmt::Write;
use std::process::Command;

use serde::Deserialize;
use sixlock_sim::Chip;

use crate::baseline;
use crate::command::{output, run};
use crate::failure::Failure;
use crate::folder::root;
use crate::linked::link;
use crate::toolchain::Toolchain;

/// What `sixlock-emulator`'s example says of a primitive.
#[derive(Deserialize)]
struct Measured {
    primitive: String,
    bytes: u64,
    count: u64,
    right: bool,
}

/// Prints what they take, and fails if one does not give what published vectors say.
pub(crate) fn measure(toolchain: &Toolchain, json: bool) -> Result<(), Failure> {
    let images = everywhere(toolchain, &["sixlock-primitives", "sixlock-granjal-2008"])?;
    run(example("primitives").args(json.then_some("--json")).args(images))
}

/// Has the cases of Wycheproof judged.
pub(crate) fn wycheproof(toolchain: &Toolchain) -> Result<(), Failure> {
    run(example("wycheproof").args(everywhere(toolchain, &["sixlock-wycheproof"])?))
}

/// Measures the algorithms of Granjal et al. (2008), which `sixlock eval granjal2008-table3` reads.
pub(crate) fn granjal_2008(toolchain: &Toolchain, accept: bool) -> Result<(), Failure> {
    const KEPT: &str = "granjal2008-atmega128.csv";
    let images = arguments(toolchain, Chip::Atmega128, &["sixlock-granjal-2008"])?;
    let said = output(example("primitives").arg("--json").args(images))?;
    let measured = table(&said, &toolchain.compiler(Chip::Atmega128)?)?;
    if !baseline::compare(KEPT, &measured, accept)? {
        return Err(format!(
            "The algorithms take other times than costs/{KEPT} says: if they should, ./bench granjal2008 --accept writes what they take now"
        )
        .into());
    }
    print!("{measured}");
    Ok(())
}

/// What is kept of what the example said.
fn table(said: &str, compiler: &str) -> Result<String, Failure> {
    let mut table = String::from(
        "# Measured by ./bench granjal2008, and written by ./bench granjal2008 --accept alone.\n",
    );
    writeln!(table, "# Cycles on the ATmega128, exact, by simavr; compiled by {compiler}")?;
    table.push_str("primitive,bytes,cycles\n");
    let measured: Vec<Measured> = serde_json::from_str(said)?;
    for Measured { primitive, bytes, count, .. } in measured.iter().filter(|measured| measured.right) {
        writeln!(table, "{primitive},{bytes},{count}")?;
    }
    Ok(table)
}

/// Builds images for every microcontroller; `PLATFORM=FILE` of each.
fn everywhere(toolchain: &Toolchain, names: &[&str]) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for chip in Chip::ALL {
        all.extend(arguments(toolchain, chip, names)?);
    }
    Ok(all)
}

/// Builds images for `chip`; `PLATFORM=FILE` of each.
fn arguments(toolchain: &Toolchain, chip: Chip, names: &[&str]) -> Result<Vec<String>, Failure> {
    let linked = link(toolchain, chip, names)?;
    Ok(linked.iter().map(|linked| format!("{}={}", chip.name(), linked.file.display())).collect())
}

/// Runs an example of `sixlock-emulator`.
pub(crate) fn example(name: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args([
        "run",
        "--quiet",
        "--locked",
        "-p",
        "sixlock-emulator",
        "--example",
        name,
        "--",
    ]);
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_was_right() {
        let said = r#"[{"platform":"atmega128","primitive":"sha1","bytes":29,"count":1000,"right":true,"unit":"cycles"},
            {"platform":"atmega128","primitive":"sha256","bytes":29,"count":2000,"right":false,"unit":"cycles"}]"#;
        let table = table(said, "rustc 1").unwrap();
        assert!(table.ends_with("compiled by rustc 1\nprimitive,bytes,cycles\nsha1,29,1000\n"), "{table}");
    }
}
