//! Images are understood and changed, or refused; and they run. What needs an emulator is left out unless it is
//! asked for (`-- --ignored`): `./test` installs them all.

mod tiny;

use proptest::prelude::*;
use sixlock_emulator::{Cause, Cpu, Emulator, Image, ImageError, Symbol};
use tiny::Tiny;

#[test]
fn an_image_says_what_it_runs_on_and_where_things_are() {
    for (tiny, cpu, exchange) in [
        (tiny::CORTEX_M3, Cpu::CortexM3, 0x26),
        (tiny::MSP430, Cpu::Msp430, 0x4026),
        (tiny::AVR, Cpu::Avr, 0x26),
    ] {
        let image = Image::parse(tiny.elf()).unwrap();
        assert_eq!(image.cpu(), cpu);
        assert_eq!(image.symbol("exchange"), Ok(Symbol { address: exchange, size: 2 }));
        assert_eq!(image.symbol("nothing"), Err(ImageError::NoSymbol("nothing".into())));
    }
}

#[test]
fn what_is_written_into_an_image_fits_or_is_refused() {
    let before = Image::parse(tiny::MSP430.elf()).unwrap();
    let mut image = before.clone();
    image.patch("DEVICE", &[9, 8, 7]).unwrap();
    let changed = |place: &usize| before.bytes()[*place] != image.bytes()[*place];
    let places: Vec<usize> = (0..before.bytes().len()).filter(changed).collect();
    assert_eq!(places.len(), 3);
    assert_eq!(image.bytes()[places[0]..=places[2]], [9, 8, 7]);
    assert_eq!(image.patch("DEVICE", &[0; 5]), Err(ImageError::NoRoom("DEVICE".into())));
    assert_eq!(image.patch("_stack_top", &[0]), Err(ImageError::NoRoom("_stack_top".into())));
}

/// What two laps of an image take, and how much stack.
fn run(tiny: &Tiny) -> (Vec<u64>, u32) {
    let mut image = Image::parse(tiny.elf()).unwrap();
    image.patch("DEVICE", &[0x55]).unwrap();
    let mut emulator = Emulator::start(&image, "exchange").unwrap();
    emulator.resume().unwrap();
    let mut laps = Vec::new();
    for value in 1..=3 {
        // The bytes around the one that is written keep what they hold.
        emulator.write(tiny.ram, &[value, 0xee, 0x11, value]).unwrap();
        laps.push(emulator.resume().unwrap());
        let mut memory = [0; 4];
        emulator.read(tiny.ram, &mut memory).unwrap();
        assert_eq!(memory, [value, value ^ 0x55, 0x11, value]);
    }
    (laps, emulator.stack_peak().unwrap())
}

#[test]
#[ignore = "needs qemu-system-arm"]
fn qemu_counts_the_instructions_of_a_cortex_m3() {
    let (laps, stack) = run(&tiny::CORTEX_M3);
    // 11 instructions, and two for each of the 100 rounds.
    assert_eq!(laps, [211; 3]);
    assert_eq!(stack, 16);
}

#[test]
#[ignore = "needs mspdebug"]
fn an_msp430_s_cycles_are_counted_by_ti_s_table() {
    let (laps, stack) = run(&tiny::MSP430);
    // mspdebug charges 527: each of the 100 rounds has an operand that costs nothing, and two cycles there.
    assert_eq!(laps, [327; 3]);
    assert_eq!(stack, 2);
}

#[test]
#[ignore = "needs simavr-gdb"]
fn simavr_counts_the_cycles_of_an_avr() {
    let (laps, stack) = run(&tiny::AVR);
    // By the ATmega128's data sheet.
    assert_eq!(laps, [323; 3]);
    assert_eq!(stack, 2);
}

#[test]
#[ignore = "needs the emulators"]
fn several_emulators_run_at_once() {
    let all = [tiny::CORTEX_M3, tiny::MSP430, tiny::AVR, tiny::AVR, tiny::MSP430];
    let images: Vec<Image> = all.iter().map(|tiny| Image::parse(tiny.elf()).unwrap()).collect();
    let mut emulators: Vec<Emulator> =
        images.iter().map(|image| Emulator::start(image, "exchange").unwrap()).collect();
    for (emulator, number) in emulators.iter_mut().zip(1..) {
        emulator.resume().unwrap();
        emulator.write(all[usize::from(number) - 1].ram, &[number]).unwrap();
    }
    for ((emulator, tiny), number) in emulators.iter_mut().zip(&all).zip(1..) {
        emulator.resume().unwrap();
        let mut out = [0];
        emulator.read(tiny.ram + 1, &mut out).unwrap();
        assert_eq!(out, [number]);
    }
}

#[test]
#[ignore = "needs mspdebug"]
fn an_image_that_runs_astray_is_an_error_with_the_emulator_s_words() {
    let mut image = Image::parse(tiny::MSP430.elf()).unwrap();
    let mut emulator = Emulator::start(&image, "exchange").unwrap();
    emulator.resume().unwrap();
    // No instruction of this CPU.
    emulator.write(0x4026, &[0x00, 0x00]).unwrap();
    let error = emulator.resume().unwrap_err();
    assert!(error.said.contains("opcode"), "{error}");
    image.patch("DEVICE", &[1]).unwrap();
    assert!(
        matches!(Emulator::start(&image, "nowhere"), Err(error) if matches!(error.cause, Cause::Image(_)))
    );
}
proptest! {
    #[test]
    fn a_damaged_image_is_used_or_refused(place: prop::sample::Index, byte: u8, len: prop::sample::Index) {
        let mut bytes = tiny::CORTEX_M3.elf();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        bytes.truncate(len.index(bytes.len() * 4).min(bytes.len()));
        if let Ok(mut image) = Image::parse(bytes) {
            let _ = image.symbol("exchange");
            let _ = image.patch("DEVICE", &[1, 2, 3, 4]);
        }
    }
}
