//! Measures each cryptographic primitive in images of `firmware/primitives`: `primitives [--json] PLATFORM=IMAGE...`

use std::path::Path;
use std::process::ExitCode;

use sixlock_emulator::{Cpu, Emulator, Image};

/// What the image and this program tell each other: `firmware/primitives/src/lib.rs`.
const NUMBER: u32 = 0;
const IS_RIGHT: u32 = 1;
const SIZE: u32 = 2;
const NAME: u32 = 4;
const NAME_LEN: usize = 20;

/// What a primitive may take at most: on this processor, for so many bytes, this count and so many bytes of stack.
const LIMITS: [(Cpu, &str, u16, u64, u32); 3] = [
    (Cpu::CortexM3, "p-256-agree", 65, 6_000_000, 1_024),
    (Cpu::Msp430, "aes-128-cbc", 16, 8_000, 128),
    (Cpu::Avr, "aes-128-cbc", 16, 8_000, 128),
];

type Failure = Box<dyn std::error::Error>;

struct Measured {
    name: String,
    /// How many bytes were worked on.
    size: u16,
    /// Cycles or instructions.
    count: u64,
    /// Bytes.
    stack: u32,
    is_right: bool,
}

/// Runs the case of this number, if there is one, in an emulator of its own, whose stack nothing else has used.
fn measure(image: &Image, number: u8) -> Result<Option<Measured>, Failure> {
    let block = image.symbol("EXCHANGE")?.address;
    let mut emulator = Emulator::start(image, "exchange")?;
    emulator.resume()?;
    emulator.write(block + NUMBER, &[number])?;
    emulator.resume()?;
    let (mut size, mut name, mut is_right) = ([0; 2], [0; NAME_LEN], [0]);
    emulator.read(block + SIZE, &mut size)?;
    emulator.read(block + NAME, &mut name)?;
    let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_string();
    if name.is_empty() {
        return Ok(None);
    }
    let count = emulator.resume()?;
    let stack = emulator.stack_peak()?;
    if stack == emulator.stack_len() {
        return Err(format!("{name} needs more stack than the image leaves").into());
    }
    emulator.resume()?;
    emulator.read(block + IS_RIGHT, &mut is_right)?;
    Ok(Some(Measured { name, size: u16::from_le_bytes(size), count, stack, is_right: is_right == [1] }))
}

/// Shows all cases, and fails if one takes more than it may: one by one, less what the first of them took, which does nothing.
fn measure_all(image: &Image, mut show: impl FnMut(&Measured)) -> Result<(), Failure> {
    let nothing = measure(image, 0)?.ok_or("the image has no cases")?;
    let mut of_key = None;
    for number in 1..=u8::MAX {
        let Some(mut measured) = measure(image, number)? else { break };
        measured.count = measured.count.saturating_sub(nothing.count);
        measured.stack = measured.stack.saturating_sub(nothing.stack);
        show(&measured);
        for (cpu, name, size, count, stack) in LIMITS {
            let is_it = cpu == image.cpu() && name == measured.name && size == measured.size;
            if is_it && (measured.count > count || measured.stack > stack) {
                return Err(format!("{name} takes more than {count}, or than {stack} B of stack").into());
            }
        }
        match measured.name.as_str() {
            "p-256-public-key" => of_key = Some(measured.count),
            "p-256-other-key" if of_key != Some(measured.count) => {
                return Err("P-256 takes another time with another key".into());
            }
            _ => {}
        }
    }
    Ok(())
}

fn run() -> Result<bool, Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.first().is_some_and(|first| first == "--json");
    if is_json {
        arguments.remove(0);
    }
    let mut are_right = true;
    let mut rows = Vec::new();
    for argument in &arguments {
        let (platform, path) =
            argument.split_once('=').ok_or("usage: primitives [--json] PLATFORM=IMAGE...")?;
        let image = Image::read(Path::new(path))?;
        let (unit, provenance) = match image.cpu() {
            Cpu::CortexM3 => ("instructions", "exact"),
            Cpu::Msp430 | Cpu::Avr => ("cycles", "exact"),
        };
        if !is_json {
            println!("{platform}: {unit}, {provenance}");
        }
        measure_all(&image, |Measured { name, size, count, stack, is_right }| {
            are_right &= is_right;
            if is_json {
                rows.push(format!(
                    r#"{{"platform":"{platform}","primitive":"{name}","bytes":{size},"count":{count},"unit":"{unit}","provenance":"{provenance}","stack":{stack},"right":{is_right}}}"#
                ));
            } else {
                let wrong = if *is_right { "" } else { "  WRONG RESULT" };
                println!("  {name:<20} {size:>5} B {count:>12} {stack:>6} B of stack{wrong}");
            }
        })?;
    }
    if is_json {
        println!("[{}]", rows.join(",\n"));
    }
    Ok(are_right)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
