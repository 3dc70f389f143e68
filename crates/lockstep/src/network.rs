//! What is written into the flash of a device that has IPsec, beside its own data.

use core::net::Ipv6Addr;

use sixlock_base::NetworkSuite;

use crate::DeviceError;
use crate::fields::{Reader, Writer};

/// The longest key of an association, in bytes: that of AES-CTR with its nonce, then a code's of 16 bytes.
const KEY: usize = 36;

/// The length of the data in bytes.
pub const NETWORK: usize = 2 + 16 + 2 * KEY;

/// The two associations of IPsec with a host, in transport mode: both have the index 1, and sequence numbers of 64 bits.
///
/// Images with IPsec have a place of their own for it, so that those without pay nothing. One is for a single suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkKeys<'a> {
    /// What protects packets.
    pub suite: NetworkSuite,
    /// The host's address.
    pub host: Ipv6Addr,
    /// The key that the device sends under, as long as the suite's are, and at most 36 bytes.
    pub outbound: &'a [u8],
    /// The key that the host sends under, as long.
    pub inbound: &'a [u8],
}

impl<'a> NetworkKeys<'a> {
    /// Reads the data, if it is for `suite`.
    pub fn parse(suite: NetworkSuite, bytes: &'a [u8; NETWORK]) -> Option<Self> {
        let mut fields = Reader(bytes);
        if fields.array() != numbers(suite) {
            return None;
        }
        let (host, len) = (Ipv6Addr::from(fields.array::<16>()), suite.key_len());
        let mut key = || fields.bytes(KEY).get(..len);
        Some(Self { suite, host, outbound: key()?, inbound: key()? })
    }

    /// Writes the data.
    pub fn emit(&self) -> Result<[u8; NETWORK], DeviceError> {
        let mut bytes = [0; NETWORK];
        let mut fields = Writer(&mut bytes);
        fields.put(&numbers(self.suite));
        fields.put(&self.host.octets());
        for key in [self.outbound, self.inbound] {
            if key.len() != self.suite.key_len() || key.len() > KEY {
                return Err(DeviceError::TooLong);
            }
            fields.put(key);
            fields.skip(KEY - key.len());
        }
        Ok(bytes)
    }
}

/// What stands for a suite: the protocol's number and the suite's own, whose first bit says joint mode.
const fn numbers(suite: NetworkSuite) -> [u8; 2] {
    match suite {
        NetworkSuite::Ah(suite) => [51, suite as u8],
        NetworkSuite::Esp(suite) => [50, suite as u8],
        NetworkSuite::Joint(suite) => [50, 0x80 | suite as u8],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sixlock_base::{AhSuite, EspSuite};

    fn suites() -> impl Iterator<Item = NetworkSuite> {
        let ah = AhSuite::ALL.iter().copied().map(NetworkSuite::Ah);
        let esp = EspSuite::ALL.iter().copied();
        ah.chain(esp.clone().map(NetworkSuite::Esp)).chain(esp.map(NetworkSuite::Joint))
    }

    #[test]
    fn blank_data_is_for_no_suite() {
        for suite in suites() {
            assert_eq!(NetworkKeys::parse(suite, &[0xff; NETWORK]), None);
            assert_eq!(NetworkKeys::parse(suite, &[0; NETWORK]), None);
        }
    }

    #[test]
    fn a_key_of_another_length_than_the_suites_is_refused() {
        let suite = NetworkSuite::Ah(AhSuite::Xcbc);
        let keys = NetworkKeys { suite, host: Ipv6Addr::LOCALHOST, outbound: &[1; 16], inbound: &[2; 15] };
        assert_eq!(keys.emit(), Err(DeviceError::TooLong));
    }

    proptest! {
        #[test]
        fn what_was_emitted_is_parsed_for_its_own_suite_alone(keys: [[u8; 52]; 2], host: [u8; 16]) {
            for suite in suites() {
                let [outbound, inbound] = keys.each_ref().map(|key| &key[..suite.key_len()]);
                let keys = NetworkKeys { suite, host: host.into(), outbound, inbound };
                let Ok(bytes) = keys.emit() else {
                    prop_assert!(suite.key_len() > KEY);
                    continue;
                };
                for other in suites() {
                    let parsed = NetworkKeys::parse(other, &bytes);
                    prop_assert_eq!(parsed, (other == suite).then_some(keys));
                }
            }
        }
    }
}
