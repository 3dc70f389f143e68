//! What differs from network to network, for all boards.
#![no_std]

use core::net::Ipv6Addr;

use sixlock_base::{Duration, Eui64};
use sixlock_node::{Cloud, Config, Csma, Identity, InterfaceConfig, MacConfig, Uplink};

/// The radio's channel, from 11 to 26.
pub const CHANNEL: u8 = 26;

/// Where the cloud is, on every mesh.
const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);

/// The configuration of node `number`, beside the border router, whose number is 0. The cloud knows it by `name`, and
/// `sixlock keys psk` makes the key.
pub const fn config(number: u32, name: &'static [u8], key: &'static [u8]) -> Config<Identity<'static>> {
    Config {
        interface: InterfaceConfig {
            mac: MacConfig {
                address: Eui64::of_node(number),
                pan_id: 0xabcd,
                csma: Csma { min_be: 3, max_be: 5, max_backoffs: 4, max_retries: 3 },
                ack: true,
                security: None,
            },
            uplink: Uplink::NextHop(Eui64::of_node(0)),
        },
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
