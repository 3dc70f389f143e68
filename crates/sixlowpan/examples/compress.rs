//! Compresses the headers of an IPv6 packet with a UDP datagram as RFC 6282 has it, prints both, and restores it. scapy restores it as
//! well, with `LoWPAN_IPHC`.
//!
//! `cargo run -p sixlock-sixlowpan --example compress`

use sixlock_base::Eui64;
use sixlock_sixlowpan::{LinkAddresses, compress, decompress};

/// From `fe80::212:7400:0:1` to `fe80::212:7400:0:2`, port 61616 to 61617: their addresses follow from those of the frame, and the ports are
/// among the few that take four bits.
const PACKET: &[u8] =
    b"\x60\0\0\0\0\x10\x11\x40\xfe\x80\0\0\0\0\0\0\x02\x12\x74\0\0\0\0\x01\xfe\x80\0\0\0\0\0\0\x02\x12\x74\0\0\0\0\x02\
      \xf0\xb0\xf0\xb1\0\x10\x4f\x2c21.5 Cel";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let link = LinkAddresses {
        source: Eui64([0, 0x12, 0x74, 0, 0, 0, 0, 1]),
        destination: Eui64([0, 0x12, 0x74, 0, 0, 0, 0, 2]),
    };
    let mut compressed = [0; 127];
    let headers = compress(PACKET, link, &mut compressed)?;
    // What was not compressed follows as it is.
    let frame = [&compressed[..headers.written], &PACKET[headers.consumed..]].concat();
    println!("packet {} {}", PACKET.len(), hex(PACKET));
    println!("compressed {} {}", frame.len(), hex(&frame));

    let mut restored = [0; 1280];
    let headers = decompress(&frame, link, None, &mut restored)?;
    let packet = [&restored[..headers.written], &frame[headers.consumed..]].concat();
    println!("restored {} {}", packet.len(), hex(&packet));
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
