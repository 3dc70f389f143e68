//! Nothing is left of emulators: tests of their own, because they look at all that this process has started.

mod tiny;

use std::io::{BufRead, BufReader};
use std::panic::catch_unwind;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sixlock_emulator::{Emulator, Image};

/// How many processes run images of the process `id`, and how many of their files there are.
fn left(id: u32) -> (usize, usize) {
    let name = format!("sixlock-image-{id}-");
    let processes = std::fs::read_dir("/proc").unwrap().filter(|entry| {
        let command = std::fs::read(entry.as_ref().unwrap().path().join("cmdline"));
        command.is_ok_and(|command| String::from_utf8_lossy(&command).contains(&name))
    });
    let files = std::fs::read_dir(std::env::temp_dir()).unwrap();
    let files = files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with(&name));
    (processes.count(), files.count())
}

/// Starts all emulators and lets their images come to their first stop.
fn start_all() -> Vec<Emulator> {
    let start = |tiny: tiny::Tiny| {
        let mut emulator = Emulator::start(&Image::parse(tiny.elf()).unwrap(), "exchange").unwrap();
        emulator.resume().unwrap();
        emulator.write(tiny.ram, &[1]).unwrap();
        emulator
    };
    [tiny::CORTEX_M3, tiny::MSP430, tiny::AVR].map(start).into()
}

/// What the process that is to be killed finds in its environment.
const TO_BE_KILLED: &str = "SIXLOCK_TO_BE_KILLED";

#[test]
#[ignore = "needs the emulators"]
fn emulators_end_with_a_process_that_is_killed() {
    if std::env::var_os(TO_BE_KILLED).is_some() {
        let _emulators = start_all();
        println!("they run");
        loop {
            std::thread::park();
        }
    }
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "emulators_end_with_a_process_that_is_killed"])
        .env(TO_BE_KILLED, "")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("they run")));
    assert_eq!(left(process.id()), (3, 0));
    process.kill().unwrap();
    process.wait().unwrap();
    let killed = Instant::now();
    while left(process.id()) != (0, 0) {
        assert!(killed.elapsed() < Duration::from_secs(60), "{:?} are left", left(process.id()));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs the emulators"]
fn emulators_end_with_a_test_that_panics() {
    let id = std::process::id();
    let panicked = catch_unwind(|| {
        let _emulators = start_all();
        panic!("{:?}", left(id));
    });
    let running = panicked.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(*running, "(3, 0)", "all run, and their files are gone as soon as they have been loaded");
    assert_eq!(left(id), (0, 0));
}
