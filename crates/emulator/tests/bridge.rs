//! The image of a border router passes packets between its serial port and a native node. Left out unless it is asked for
//! (`-- --ignored`): `./test` sees to emulators and images.

mod bridging;
mod built;

use bridging::{Bridged, HOST, bridge, icmpv6, node};
use built::image;
use sixlock_ipv6::icmpv6::{Echo, Exceeded, Message};

fn passes_packets(target: &str) {
    for (name, secured) in [("bridge", false), ("bridge-llsec", true)] {
        let mut bridged = Bridged::new(&image(target, name), secured);
        let echo = Echo { identifier: 0xc0db, sequence: 1 };
        for (there, hops) in [(bridge(), 64), (node(), 63)] {
            for len in [0, 100, 1232] {
                // Bytes that are escaped on the line among them.
                let body: Vec<u8> = (0..len).map(|n| n as u8).collect();
                let ping = icmpv6(HOST, there, 64, Message::EchoRequest(echo), &body);
                let reply = icmpv6(there, HOST, hops, Message::EchoReply(echo), &body);
                let answers = bridged.send(&ping);
                assert!(answers == [reply], "{name} for {target}, {len} bytes to {there}: {answers:02x?}");
            }
        }
        let ping = icmpv6(HOST, node(), 1, Message::EchoRequest(echo), b"too far");
        let exceeded = icmpv6(bridge(), HOST, 64, Message::TimeExceeded(Exceeded::HopLimit), &ping);
        assert_eq!(bridged.send(&ping), [exceeded], "{name} for {target}");
        assert!(bridged.stack_peak() > 0);
    }
}

#[test]
#[ignore = "needs QEMU and the images"]
fn a_cortex_m3_passes_packets_between_its_serial_port_and_a_node() {
    passes_packets("thumbv7m-none-eabi");
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn an_msp430_passes_packets_between_its_serial_port_and_a_node() {
    passes_packets("msp430-none-elf");
}
