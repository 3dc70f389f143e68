//! Runs the image of a device whose radio is off almost all the time, and prints how many bytes of stack it has used.
//!
//! Usage: duty-cycle IMAGE

#[path = "../tests/duty_cycling/mod.rs"]
mod duty_cycling;

use std::path::Path;

use duty_cycling::{FRAME, HAPPENINGS, Wish};
use sixlock_lockstep::Command;

fn main() {
    let Some(image) = std::env::args().nth(1) else {
        eprintln!("usage: duty-cycle IMAGE");
        std::process::exit(2);
    };
    let (wishes, stack) = duty_cycling::run(Path::new(&image), &HAPPENINGS);
    let sent: Vec<&Wish> = wishes.iter().filter(|wish| wish.command == Command::Transmit).collect();
    assert!(
        matches!(sent[..], [Wish { frame, assessments: None, wakes: Some(_), .. }] if frame[..] == FRAME[..5])
    );
    println!("{stack}");
}
