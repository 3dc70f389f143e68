//! What makes one device of an image that is the same for all.

use core::fmt;
use core::net::Ipv6Addr;

use sixlock_base::{Duration, Eui64, LinkSuite};

use crate::fields::{Reader, Writer};

/// What the data begins with. The last byte is the layout's version.
const MAGIC: [u8; 4] = *b"6lk\x01";
/// The longest identity, resource id or key, in bytes.
const NAME: usize = 64;
/// The length of a route in bytes.
pub const ROUTE: usize = 16;

/// The most routes that there is room for.
pub const ROUTES: usize = 8;
/// The length of a device's data in bytes.
pub const DEVICE: usize = 75 + ROUTES * ROUTE + 2 * NAME;
/// What stands in an image that was given no data.
pub const BLANK: [u8; DEVICE] = [0xff; DEVICE];

const SERVES: u8 = 1 << 0;
const REPORTS: u8 = 1 << 1;
const ACKNOWLEDGES: u8 = 1 << 2;
const ECHOES: u8 = 1 << 3;

/// A device's own data: addresses, routes, keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device<'a> {
    /// Its link-layer address.
    pub address: Eui64,
    /// Its PAN.
    pub pan_id: u16,
    /// Its radio channel.
    pub channel: u8,
    /// The first backoff exponent (macMinBE).
    pub min_be: u8,
    /// The largest backoff exponent (macMaxBE).
    pub max_be: u8,
    /// Backoffs after the first before the channel counts as busy (macMaxCSMABackoffs).
    pub max_backoffs: u8,
    /// Transmissions after the first before a frame counts as not acknowledged (macMaxFrameRetries).
    pub max_retries: u8,
    /// Whether frames are acknowledged.
    pub ack: bool,
    /// How frames are protected.
    pub link: Option<LinkKey>,
    /// The next hop towards everything that no route covers.
    pub parent: Eui64,
    /// The way to the nodes below, at most [`ROUTES`]: [`Route`]s as bytes.
    pub routes: &'a [[u8; ROUTE]],
    /// Where readings go, if any are made.
    pub cloud: Option<Cloud>,
    /// The identity of the DTLS key, or without DTLS the resource's id; at most 64 bytes. Without either, requests do not say
    /// whose they are.
    pub identity: &'a [u8],
    /// The DTLS key, or without DTLS the resource's; at most 64 bytes.
    pub key: &'a [u8],
    /// Whether everybody may ask for the latest reading.
    pub serves: bool,
    /// Whether it echoes, in the clear.
    pub echoes: bool,
}

/// The key that a PAN shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkKey {
    /// How frames are protected with it.
    pub suite: LinkSuite,
    /// The key.
    pub key: [u8; 16],
    /// Its index, by which frames name it.
    pub index: u8,
}

/// Where readings go, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cloud {
    /// The cloud's address.
    pub address: Ipv6Addr,
    /// The cloud's port.
    pub port: u16,
    /// From one reading to the next.
    pub period: Duration,
    /// From the start to the first reading.
    pub first: Duration,
}

/// A static route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The node it leads to.
    pub destination: Eui64,
    /// The neighbour that packets for it are given to.
    pub next_hop: Eui64,
}

/// Why a device's data could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// There is none: it was never written, or its layout is of another version.
    Missing,
    /// There are more routes, or longer names, than there is room for.
    TooLong,
    /// The link security level is none of those with a MIC.
    LinkLevel,
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the device's data was never written, or its layout is of another version",
            Self::TooLong => "the device has more routes, or longer names, than there is room for",
            Self::LinkLevel => "the link security level is none of those with a MIC",
        })
    }
}

impl core::error::Error for DeviceError {}

impl Route {
    /// The route that is `bytes` in [`Device::routes`].
    pub fn from_bytes(bytes: &[u8; ROUTE]) -> Self {
        let mut fields = Reader(bytes);
        Self { destination: Eui64(fields.array()), next_hop: Eui64(fields.array()) }
    }

    /// What the route is in [`Device::routes`].
    pub fn to_bytes(&self) -> [u8; ROUTE] {
        let mut bytes = [0; ROUTE];
        let mut fields = Writer(&mut bytes);
        fields.put(&self.destination.0);
        fields.put(&self.next_hop.0);
        bytes
    }
}

impl<'a> Device<'a> {
    /// Reads the data.
    pub fn parse(bytes: &'a [u8; DEVICE]) -> Result<Self, DeviceError> {
        let mut fields = Reader(bytes);
        if fields.array() != MAGIC {
            return Err(DeviceError::Missing);
        }
        let flags = fields.u8();
        let address = Eui64(fields.array());
        let pan_id = u16::from_le_bytes(fields.array());
        let [channel, min_be, max_be, max_backoffs, max_retries] = fields.array();
        let suite = match fields.u8() {
            0 => None,
            level => Some(LinkSuite::of_level(level).ok_or(DeviceError::LinkLevel)?),
        };
        let (index, key) = (fields.u8(), fields.array());
        let parent = Eui64(fields.array());
        let cloud = Cloud {
            address: Ipv6Addr::from(fields.array::<16>()),
            port: u16::from_le_bytes(fields.array()),
            period: Duration::from_millis(u32::from_le_bytes(fields.array())),
            first: Duration::from_millis(u32::from_le_bytes(fields.array())),
        };
        let [routes_len, identity_len, key_len] = fields.array::<3>().map(usize::from);
        let (routes, _) = fields.bytes(ROUTES * ROUTE).as_chunks();
        let (identity, secret) = (fields.bytes(NAME), fields.bytes(NAME));
        Ok(Self {
            address,
            pan_id,
            channel,
            min_be,
            max_be,
            max_backoffs,
            max_retries,
            ack: flags & ACKNOWLEDGES != 0,
            link: suite.map(|suite| LinkKey { suite, key, index }),
            parent,
            routes: routes.get(..routes_len).ok_or(DeviceError::TooLong)?,
            cloud: (flags & REPORTS != 0).then_some(cloud),
            identity: identity.get(..identity_len).ok_or(DeviceError::TooLong)?,
            key: secret.get(..key_len).ok_or(DeviceError::TooLong)?,
            serves: flags & SERVES != 0,
            echoes: flags & ECHOES != 0,
        })
    }

    /// Writes the data.
    pub fn emit(&self) -> Result<[u8; DEVICE], DeviceError> {
        if self.routes.len() > ROUTES || self.identity.len() > NAME || self.key.len() > NAME {
            return Err(DeviceError::TooLong);
        }
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let mut bytes = BLANK;
        let mut fields = Writer(&mut bytes);
        fields.put(&MAGIC);
        fields.put(&[flag(self.serves, SERVES)
            | flag(self.cloud.is_some(), REPORTS)
            | flag(self.ack, ACKNOWLEDGES)
            | flag(self.echoes, ECHOES)]);
        fields.put(&self.address.0);
        fields.put(&self.pan_id.to_le_bytes());
        fields.put(&[self.channel, self.min_be, self.max_be, self.max_backoffs, self.max_retries]);
        match &self.link {
            None => fields.put(&[0; 2 + 16]),
            Some(LinkKey { suite, key, index }) => {
                fields.put(&[suite.level(), *index]);
                fields.put(key);
            }
        }
        fields.put(&self.parent.0);
        match &self.cloud {
            None => fields.put(&[0; 16 + 2 + 4 + 4]),
            Some(Cloud { address, port, period, first }) => {
                fields.put(&address.octets());
                fields.put(&port.to_le_bytes());
                fields.put(&period.millis().to_le_bytes());
                fields.put(&first.millis().to_le_bytes());
            }
        }
        fields.put(&[self.routes.len() as u8, self.identity.len() as u8, self.key.len() as u8]);
        let routes = self.routes.as_flattened();
        fields.put(routes);
        fields.skip(ROUTES * ROUTE - routes.len());
        for name in [self.identity, self.key] {
            fields.put(name);
            fields.skip(NAME - name.len());
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    fn device<'a>(routes: &'a [[u8; ROUTE]], identity: &'a [u8], key: &'a [u8]) -> Device<'a> {
        Device {
            address: Eui64::of_node(1),
            pan_id: 0xabcd,
            channel: 26,
            min_be: 3,
            max_be: 5,
            max_backoffs: 4,
            max_retries: 7,
            ack: true,
            link: Some(LinkKey { suite: LinkSuite::Ccm128, key: [9; 16], index: 1 }),
            parent: Eui64::of_node(0),
            routes,
            cloud: Some(Cloud {
                address: Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1),
                port: 5684,
                period: Duration::from_secs(60),
                first: Duration::from_secs(5),
            }),
            identity,
            key,
            serves: false,
            echoes: false,
        }
    }

    #[test]
    fn the_layout_is_as_long_as_its_fields() {
        let full = device(&[[1; ROUTE]; ROUTES], &[2; NAME], &[3; NAME]).emit().unwrap();
        assert_eq!(full[DEVICE - NAME..], [3; NAME], "nothing is cut off and nothing is left");
        assert_eq!(full[DEVICE - 2 * NAME..][..NAME], [2; NAME]);
    }

    #[test]
    fn what_is_not_a_device_is_refused_with_the_reason() {
        assert_eq!(Device::parse(&BLANK), Err(DeviceError::Missing));
        assert_eq!(device(&[[0; ROUTE]; 9], b"", b"").emit(), Err(DeviceError::TooLong));
        assert_eq!(device(&[], &[0; 65], b"").emit(), Err(DeviceError::TooLong));
        assert_eq!(device(&[], b"", &[0; 65]).emit(), Err(DeviceError::TooLong));
        let good = device(&[], b"", b"").emit().unwrap();
        // The level, and the lengths of routes, identity and key.
        for (place, error) in [
            (20, DeviceError::LinkLevel),
            (72, DeviceError::TooLong),
            (73, DeviceError::TooLong),
            (74, DeviceError::TooLong),
        ] {
            let mut bad = good;
            bad[place] = 65;
            assert_eq!(Device::parse(&bad), Err(error), "at {place}");
        }
    }

    proptest! {
        #[test]
        fn what_was_emitted_is_parsed_again(
            routes in proptest::collection::vec(any::<[u8; ROUTE]>(), 0..=ROUTES),
            identity in proptest::collection::vec(any::<u8>(), 0..=NAME),
            key in proptest::collection::vec(any::<u8>(), 0..=NAME),
            cloud: bool, link in 0..=LinkSuite::ALL.len(), ack: bool, serves: bool, echoes: bool,
        ) {
            let mut device = device(&routes, &identity, &key);
            (device.ack, device.serves, device.echoes) = (ack, serves, echoes);
            if !cloud {
                device.cloud = None;
            }
            device.link = LinkSuite::ALL.get(link).map(|&suite| LinkKey { suite, key: [link as u8; 16], index: 2 });
            let emitted = device.emit().unwrap();
            prop_assert_eq!(Device::parse(&emitted), Ok(device));
        }

        #[test]
        fn any_bytes_are_a_device_or_refused(tail in proptest::collection::vec(any::<u8>(), DEVICE - 4)) {
            let bytes: Vec<u8> = [&MAGIC[..], &tail].concat();
            if let Ok(device) = Device::parse(&bytes.try_into().unwrap()) {
                let emitted = device.emit().unwrap();
                prop_assert_eq!(Device::parse(&emitted), Ok(device));
            }
        }

        #[test]
        fn routes_pass_through_bytes(bytes: [u8; ROUTE]) {
            prop_assert_eq!(Route::from_bytes(&bytes).to_bytes(), bytes);
        }
    }
}
