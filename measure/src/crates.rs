//! Which crate takes how many bytes of an image's flash, and which static how many of its RAM.
//!
//! Code that was inlined counts for the crate whose source it is; core is Rust's own library, wherever it is used, and run-time calls are
//! copying and arithmetic that the processor lacks.

use std::collections::BTreeMap;

use regex::Regex;
use sixlock_sim::Chip;

use crate::command::output;
use crate::failure::Failure;
use crate::size::Size;
use crate::toolchain::Toolchain;

/// What copies and computes what the processor cannot.
const RUN_TIME: &str = "run-time calls";
/// How many bytes may lie between statics to align them, all together.
const ALIGNMENT: u64 = 16;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The microcontroller
    #[arg(default_value = "msp430f1611", value_parser = Chip::named)]
    platform: Chip,
    /// The image
    #[arg(default_value = "coap-dtls-psk-client")]
    variant: String,
}

/// Prints both, and fails unless they add up to all of the image.
pub(crate) fn measure(
    toolchain: &Toolchain,
    Arguments { platform, variant }: &Arguments,
) -> Result<(), Failure> {
    // Where lines end up in the image is written beside it, which changes nothing of the image.
    let lines = toolchain.with_lines();
    let settings =
        [("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only"), ("CARGO_PROFILE_RELEASE_STRIP", "none")];
    lines.build(*platform, &[variant], &settings)?;
    let file = lines.file(*platform, variant);
    let size = Size::of(&file)?;

    let options =
        ["--disassemble", "--line-numbers", "--demangle", "--disassemble-zeroes", "--no-leading-headers"];
    let crates = by_crate(&output(lines.tool("llvm-objdump").args(options).arg(&file))?)?;
    let sum: u64 = crates.values().sum();
    print(crates.into_iter().map(|(owner, bytes)| (bytes, owner)).collect(), sum);
    if sum != size.flash {
        return Err(format!("but the image takes {} bytes of flash", size.flash).into());
    }

    println!("\nRAM before the stack:");
    let options = ["--print-size", "--demangle", "--radix=d"];
    let statics = statics(&output(lines.tool("llvm-nm").args(options).arg(&file))?);
    let sum: u64 = statics.iter().map(|(bytes, _)| bytes).sum();
    print(statics, size.ram);
    if sum > size.ram || size.ram - sum > ALIGNMENT {
        return Err(format!("but the statics are {sum} bytes").into());
    }
    Ok(())
}

/// Prints rows, the largest first, and what they are in all.
fn print(mut rows: Vec<(u64, String)>, all: u64) {
    rows.sort_by(|one, other| other.cmp(one));
    rows.iter().for_each(|(bytes, name)| println!("{bytes:>7}  {name}"));
    println!("{all:>7}  in all");
}

/// How many bytes of code each crate takes, by what `llvm-objdump` says of an image.
fn by_crate(disassembly: &str) -> Result<BTreeMap<String, u64>, Failure> {
    let symbol = Regex::new("^[0-9a-f]+ <.*>:$")?;
    let line = Regex::new("^; (/.*):[0-9]+")?;
    let code = Regex::new(r"^ *[0-9a-f]+: *((?:[0-9a-f]+ ?)+)")?;
    let owner_in_name = Regex::new("sixlock_([a-z0-9_]+)")?;
    let (mut owner, mut bytes) = (RUN_TIME.to_owned(), BTreeMap::new());
    for text in disassembly.lines() {
        if symbol.is_match(text) {
            owner = owner_of_symbol(text, &owner_in_name);
        } else if let Some(found) = line.captures(text) {
            owner = owner_of_path(&found[1]);
        } else if let Some(found) = code.captures(text) {
            let digits = found[1].chars().filter(|c| *c != ' ').count();
            *bytes.entry(owner.clone()).or_default() += digits as u64 / 2;
        }
    }
    Ok(bytes)
}

/// The crate whose source is at `path`.
fn owner_of_path(path: &str) -> String {
    let after = |mark: &str| path.rsplit_once(mark).map(|(_, rest)| rest);
    let first = |rest: &str| rest.split('/').next().unwrap_or_default().to_owned();
    if let Some(rest) = after("/crates/").filter(|rest| rest.contains("/src/")) {
        return first(rest);
    }
    if let Some(rest) = after("/firmware/").filter(|rest| rest.contains("/src/")) {
        return format!("firmware/{}", rest.split("/src/").next().unwrap_or_default());
    }
    if path.contains("compiler-builtins") {
        return RUN_TIME.into();
    }
    if path.contains("/library/") {
        return "core".into();
    }
    // Below the registry's folder are packages with their versions.
    let package = after("/registry/src/").and_then(|rest| rest.split('/').nth(1)).unwrap_or(path);
    let version = package
        .match_indices('-')
        .find(|(at, _)| package[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    package[..version.map_or(package.len(), |(at, _)| at)].to_owned()
}

/// The crate that a function is of, by its name.
fn owner_of_symbol(name: &str, in_name: &Regex) -> String {
    if let Some(found) = in_name.captures(name) {
        let name = found[1].replace('_', "-");
        return if ["app", "start"].contains(&&*name) { format!("firmware/{name}") } else { name };
    }
    if name.contains("<DEVICE>") || name.contains("<NETWORK>") {
        return "firmware/app".into();
    }
    let is_core = ["<core", "<<core", "<<["].iter().any(|begin| name.contains(begin));
    if is_core { "core".into() } else { RUN_TIME.into() }
}

/// How many bytes each static takes, by what `llvm-nm` says of an image.
fn statics(names: &str) -> Vec<(u64, String)> {
    let of_line = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let bytes: u64 = words.next()?.parse().ok()?;
        let kind = words.next()?;
        let is_static = ["b", "B", "d", "D"].contains(&kind) && bytes > 0;
        is_static.then(|| Some((bytes, words.next()?.to_owned())))?
    };
    names.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_counts_for_the_crate_whose_source_it_is() {
        let disassembly = "
00004000 <sixlock_coap_msg::parse::h0>:
    4000: 0a 12        push r10
; /work/crates/dtls/src/v12/mod.rs:7
    4002: 3c 40 34 12  mov #4660, r12
; /registry/src/index.org-1/subtle-2.6.1/src/lib.rs:9
    4006: 30 41        ret
; /rustc/0a/library/core/src/slice.rs:9
    4008: 30 41        ret
0000400a <__mspabi_mpyi>:
    400a: 30 41        ret
";
        let found: Vec<_> = by_crate(disassembly).unwrap().into_iter().collect();
        let expected = [("coap-msg", 2), ("core", 2), ("dtls", 4), ("run-time calls", 2), ("subtle", 2)];
        assert_eq!(found, expected.map(|(owner, bytes)| (owner.to_owned(), bytes)));
    }

    #[test]
    fn statics_are_what_lies_in_ram() {
        let names = "00001100 00000020 b DEVICE\n00001120 00000002 D TICKS\n00004000 00000100 t main\n00001122 00000000 b NONE";
        assert_eq!(statics(names), [(20, "DEVICE".into()), (2, "TICKS".into())]);
    }
}
