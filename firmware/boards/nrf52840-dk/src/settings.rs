//! What differs from node to node and from network to network.

use core::net::Ipv6Addr;

use sixlock_base::{Duration, Eui64};
use sixlock_node::{Cloud, Config, Csma, Identity, InterfaceConfig, MacConfig, Uplink};

/// The node's number; that of the border router is 0.
const NODE: u32 = 1;
/// What the cloud knows the device by, and their key: `sixlock keys psk` makes one.
const IDENTITY: &[u8] = b"nrf52840-dk";
const KEY: &[u8] = b"a key of 32 printable characters";
/// The channel of the whole network.
pub const CHANNEL: u8 = 26;

/// Where the cloud is, on every mesh.
const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);

/// The node's own configuration.
pub const CONFIG: Config<Identity<'static>> = Config {
    interface: InterfaceConfig {
        mac: MacConfig {
            address: Eui64::of_node(NODE),
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
        access: Identity { name: IDENTITY, key: KEY },
        period: Duration::from_secs(60),
        first: Duration::from_secs(1),
    }),
    serves: true,
};
