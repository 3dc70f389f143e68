//! A border router, from both sides.

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, Symbols};
use sixlock_crypto::Soft;
use sixlock_gateway::{Config, Exit, Gateway, Upstream};
use sixlock_interface::{RadioMachine, Uplink};
use sixlock_testing::Rig;

use crate::link::{Layers, MTU, NEIGHBOUR, OWN, STEP, mac_config, with_fcs};
use crate::split;

/// Marks a packet from outside; anything else marks a frame without FCS.
pub(crate) const PACKET: u8 = 0;
/// Beside the link security in the first byte: whole packets go out and in.
pub(crate) const PACKETS: u8 = 4;
/// The host whose datagrams are flows.
pub(crate) const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);

/// Frames and packets at a border router: the first byte chooses the link security and the exit.
pub(crate) fn gateway(input: &[u8]) -> usize {
    let Some((&choice, inputs)) = input.split_first() else { return 0 };
    let mut rig = Rig::seeded(9);
    let config = Config { mac: mac_config(OWN, choice & 3, true), uplink: Uplink::External };
    let exit = if choice & PACKETS == 0 { Exit::Flows } else { Exit::Packets { flows: CLOUD } };
    let mut gateway = Gateway::<Soft, Layers, 2>::new(&mut rig.cx(), &config, exit);
    gateway.interface().routing().add(Eui64::of_node(9), NEIGHBOUR).expect("the table has room");
    let mut at = Symbols::new(0);
    let mut taken = 0;
    for input in split(inputs) {
        let Some((&kind, bytes)) = input.split_first() else { continue };
        at = at.after(STEP);
        rig.pass(16);
        if kind == PACKET {
            let mut buffer = bytes.to_vec();
            buffer.resize(bytes.len().max(MTU), 0);
            if let Some(answer) = gateway.handle_packet(&mut rig.cx(), at, &mut buffer, bytes.len()) {
                assert!(answer.len() <= MTU);
                taken += 1;
            }
        } else {
            gateway.handle_frame(&mut rig.cx(), at, &mut with_fcs(bytes), |upstream| {
                taken += 1;
                match upstream {
                    Upstream::Datagram(datagram) => {
                        assert!(exit == Exit::Flows || datagram.ends.host == CLOUD)
                    }
                    Upstream::Packet(packet) => assert!(exit != Exit::Flows && packet.len() <= MTU),
                }
            });
        }
        gateway.handle_radio_timeout(&mut rig.cx(), at);
        while gateway.poll_radio().is_some() {
            gateway.handle_cca(&mut rig.cx(), at, true);
            at = at.after(STEP);
            gateway.handle_radio_timeout(&mut rig.cx(), at);
            gateway.handle_transmitted(&mut rig.cx(), at);
        }
        gateway.handle_timeout(&mut rig.cx(), at);
    }
    taken
}
