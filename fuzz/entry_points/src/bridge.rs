//! The serial line of a border router.

use sixlock_base::{Counter, Eui64, Symbols};
use sixlock_bridge::{Bridge, Config, RadioMachine, Uplink};
use sixlock_crypto::Soft;
use sixlock_slip::{Decoder, Encoder};
use sixlock_testing::Rig;

use crate::link::{Layers, MTU, NEIGHBOUR, OWN, STEP, mac_config};

/// Bytes on the line, some of them at a time.
pub(crate) fn line(input: &[u8]) -> usize {
    let mut rig = Rig::seeded(10);
    let config = Config { mac: mac_config(OWN, 0, false), uplink: Uplink::External };
    let mut bridge = Bridge::<Soft, Layers>::new();
    bridge.start(&mut rig.cx(), &config);
    bridge.interface().routing().add(Eui64::of_node(9), NEIGHBOUR).expect("the table has room");
    let mut at = Symbols::new(0);
    let mut answers = 0;
    for bytes in input.chunks(127) {
        at = at.after(STEP);
        rig.pass(16);
        bridge.handle_line(&mut rig.cx(), at, bytes, |answer| {
            answers += 1;
            // What is put on the line is one packet.
            let mut decoder = Decoder::<[u8; MTU]>::new();
            let packets: Vec<_> = answer.filter_map(|byte| decoder.push(byte)).collect();
            assert!(matches!(packets[..], [Ok(1..)]));
        });
        while bridge.poll_radio().is_some() {
            bridge.handle_cca(&mut rig.cx(), at, true);
            at = at.after(STEP);
            bridge.handle_radio_timeout(&mut rig.cx(), at);
            bridge.handle_transmitted(&mut rig.cx(), at);
        }
    }
    answers + rig.counters.get(Counter::Ipv6Forwarded) as usize
}

/// The bytes that carry `packet`.
pub(crate) fn on_the_line(packet: &[u8]) -> Vec<u8> {
    Encoder::new(packet).collect()
}
