//! The image of a sniffer makes a packet capture of what is on the air. Left out unless it is asked for (`-- --ignored`):
//! `./test` sees to emulators and images.

mod built;
mod sniffing;

use std::process::Command;

use sixlock_pcap::{HEADER, Timestamp, record};
use sniffing::Sniffed;

/// What tshark prints of the frames in `capture` whose FCS is right, a line each: when it began, and how long it is.
fn tshark(name: &str, capture: &[u8]) -> Vec<String> {
    let path = std::env::temp_dir().join(format!("sixlock-sniffer-{}-{name}", std::process::id()));
    std::fs::write(&path, capture).unwrap();
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-Y", "wpan.fcs_ok == 1"]);
    command.args(["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len"]);
    let output = command.output();
    std::fs::remove_file(&path).unwrap();
    let output =
        output.unwrap_or_else(|error| panic!("tshark: {error}. Install it with: apt-get install tshark"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn captures_what_is_on_the_air(target: &str) {
    let frames = sniffing::frames();
    let (captured, _) = sniffing::sniff(&built::image(target, "sniffer"), &frames);
    let mut expected = HEADER.to_vec();
    for Sniffed { micros, frame } in &frames {
        let at = Timestamp { seconds: (micros / 1_000_000) as u32, micros: (micros % 1_000_000) as u32 };
        expected.extend(record(at, frame.len() as u32));
        expected.extend(frame);
    }
    assert!(captured == expected, "{target}: {:02x?}", captured);
    let lines = tshark(target, &captured);
    assert_eq!(lines.len(), frames.len(), "{target}: {lines:?}");
    for (line, Sniffed { micros, frame }) in lines.iter().zip(&frames) {
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        assert_eq!(*line, format!("{seconds}.{micros:06}000\t{}", frame.len()), "{target}");
    }
}

#[test]
#[ignore = "needs QEMU, tshark and the image"]
fn a_cortex_m3_captures_what_is_on_the_air() {
    captures_what_is_on_the_air("thumbv7m-none-eabi");
}

#[test]
#[ignore = "needs mspdebug, tshark and the image"]
fn an_msp430_captures_what_is_on_the_air() {
    captures_what_is_on_the_air("msp430-none-elf");
}

#[test]
#[ignore = "needs simavr-gdb, tshark and the image"]
fn an_avr_captures_what_is_on_the_air() {
    captures_what_is_on_the_air("avr-none");
}
