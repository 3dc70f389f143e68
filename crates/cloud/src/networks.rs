//! Networks: addresses that have a prefix in common.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Addresses that have a prefix in common, such as `10.0.0.0/8` or `fd00::/64`. An address alone is a network of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    /// At most 32 bits of an IPv4 address, 128 of an IPv6 one.
    prefix: u8,
}

impl Network {
    pub(crate) const fn v4(octets: [u8; 4], prefix: u8) -> Self {
        let [a, b, c, d] = octets;
        Self { first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
    }

    pub(crate) const fn v6(segments: [u16; 8], prefix: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = segments;
        Self { first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), prefix }
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let (first, address, bits) = match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (u128::from(first.to_bits()), u128::from(address.to_bits()), 32)
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => (first.to_bits(), address.to_bits(), 128),
            _ => return false,
        };
        // All bits of a prefix of no bits are shifted out.
        (first ^ address).checked_shr(bits - u32::from(self.prefix)).unwrap_or(0) == 0
    }
}

impl From<IpAddr> for Network {
    fn from(first: IpAddr) -> Self {
        Self { first, prefix: if first.is_ipv4() { 32 } else { 128 } }
    }
}

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const RULE: &str = "write an address or a network like 10.0.0.0/8 or fd00::/64";
        let (first, prefix) = text.split_once('/').map_or((text, None), |(first, bits)| (first, Some(bits)));
        let first: IpAddr = first.parse().map_err(|_| RULE)?;
        let address = Self::from(first);
        let Some(prefix) = prefix else { return Ok(address) };
        let prefix = prefix.parse().map_err(|_| RULE)?;
        if prefix > address.prefix {
            return Err("the prefix is longer than the address");
        }
        Ok(Self { first, prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_the_addresses_with_its_prefix() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("0.0.0.0/0", "192.0.2.1", "::1"),
            ("fd00::/64", "fd00::1:2:3:4", "fd00:0:0:1::1"),
            ("::/0", "2001:db8::1", "192.0.2.1"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.contains(inside.parse().unwrap()), "{network:?} {inside}");
            assert!(!network.contains(outside.parse().unwrap()), "{network:?} {outside}");
        }
        for bad in ["", "10.0.0.0/33", "fd00::/129", "10.0.0.0/x", "10.0.0/8", "example.org", "10.0.0.0/-1"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
