//! Nothing is left of an emulator: a test of its own, because it looks at all that this process has started.

mod tiny;

use std::panic::catch_unwind;

use sixlock_emulator::{Emulator, Image};

/// How many processes run images of this one, and how many of their files there are.
fn left() -> (usize, usize) {
    let name = format!("sixlock-image-{}-", std::process::id());
    let processes = std::fs::read_dir("/proc").unwrap().filter(|entry| {
        let command = std::fs::read(entry.as_ref().unwrap().path().join("cmdline"));
        command.is_ok_and(|command| String::from_utf8_lossy(&command).contains(&name))
    });
    let files = std::fs::read_dir(std::env::temp_dir()).unwrap();
    let files = files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with(&name));
    (processes.count(), files.count())
}

#[test]
#[ignore = "needs the emulators"]
fn an_emulator_ends_with_a_test_that_panics() {
    for tiny in [tiny::CORTEX_M3, tiny::MSP430, tiny::AVR] {
        let image = Image::parse(tiny.elf()).unwrap();
        let panicked = catch_unwind(|| {
            let mut emulator = Emulator::start(&image, "exchange").unwrap();
            emulator.resume().unwrap();
            emulator.write(tiny.ram, &[1]).unwrap();
            panic!("{:?}", left());
        });
        let running = panicked.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(*running, "(1, 0)", "one runs, and its file is gone as soon as it has been loaded");
        assert_eq!(left(), (0, 0));
    }
}
