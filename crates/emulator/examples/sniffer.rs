//! Runs the image of a sniffer, lets it capture frames of every length, and prints how many bytes of stack it has used.
//!
//! Usage: sniffer IMAGE

#[path = "../tests/sniffing/mod.rs"]
mod sniffing;

use std::path::Path;

use sniffing::Sniffed;

fn main() {
    let Some(image) = std::env::args().nth(1) else {
        eprintln!("usage: sniffer IMAGE");
        std::process::exit(2);
    };
    let frames = sniffing::frames();
    let (bytes, stack) = sniffing::sniff(Path::new(&image), &frames);
    let expected: usize = frames.iter().map(|Sniffed { frame, .. }| 16 + frame.len()).sum();
    let last = frames.last().map(|last| last.micros);
    assert_eq!(bytes.len(), 24 + expected, "the capture ends before {last:?} µs");
    println!("{stack}");
}
