//! What differs from network to network, for all boards.
#![no_std]

use core::net::Ipv6Addr;

use sixlock_base::{Duration, Eui64, MESH_PREFIX};
use sixlock_node::{Cloud, Config, Csma, ECHO_PORT, Identity, InterfaceConfig, MacConfig, Uplink};

/// The radio's channel, from 11 to 26.
pub const CHANNEL: u8 = 26;

/// Where echoes are measured, so many nodes stand in a line, each of which hears its neighbours alone: the first, whose number is 1, sends them,
/// and the last sends them back. From 2 to 6.
pub const LINE: u32 = 2;

/// Over how many hops echoes go then, in digits.
pub const HOPS: [u8; 1] = [b'0' + (LINE - 1) as u8];

/// From one echo to the next.
const PAUSE: Duration = Duration::from_secs(2);

/// Where the cloud is, on every mesh.
const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);

/// The configuration of node `number`, beside the border router, whose number is 0. The cloud knows it by `name`, and
/// `sixlock keys psk` makes the key.
pub const fn config(number: u32, name: &'static [u8], key: &'static [u8]) -> Config<Identity<'static>> {
    Config {
        interface: interface(number, 0),
        cloud: Some(Cloud {
            address: CLOUD,
            port: 5684,
            access: Identity { name, key },
            period: Duration::from_secs(60),
            first: Duration::from_secs(1),
        }),
        // It speaks DTLS, and nothing in the clear beside it.
        serves: false,
        echoes: false,
    }
}

/// The configuration of node `number` in a line of [`LINE`], where echoes are measured.
pub fn in_line(number: u32) -> Config<()> {
    let peer = Cloud {
        address: Eui64::of_node(LINE).with_prefix(MESH_PREFIX),
        port: ECHO_PORT,
        access: (),
        period: PAUSE,
        first: PAUSE,
    };
    Config {
        interface: interface(number, number.saturating_sub(1)),
        cloud: (number == 1).then_some(peer),
        serves: false,
        echoes: true,
    }
}

/// The nodes in the line behind node `number`, and the neighbour that packets for them go to.
pub fn behind(number: u32) -> impl Iterator<Item = (Eui64, Eui64)> {
    let next = Eui64::of_node(number + 1);
    (number + 1..=LINE).map(move |node| (Eui64::of_node(node), next))
}

/// The interface of node `number`, from which packets go to `parent` that no route leads elsewhere.
const fn interface(number: u32, parent: u32) -> InterfaceConfig {
    InterfaceConfig {
        mac: MacConfig {
            address: Eui64::of_node(number),
            pan_id: 0xabcd,
            csma: Csma { min_be: 3, max_be: 5, max_backoffs: 4, max_retries: 3 },
            ack: true,
            security: None,
        },
        uplink: Uplink::NextHop(Eui64::of_node(parent)),
    }
}
