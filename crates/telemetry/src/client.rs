//! The address of a client.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use serde::{Serialize, Serializer};

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its IP address.
    pub address: IpAddr,
    /// Its port. `None` if a trusted proxy names the address.
    pub port: Option<u16>,
}

impl Client {
    /// Returns the address as limits count it.
    pub fn network(&self) -> IpAddr {
        network(self.address)
    }
}

/// Returns `address` as limits count it: the first 64 bits of an IPv6 address, because one client has all the rest.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

impl From<SocketAddr> for Client {
    fn from(peer: SocketAddr) -> Self {
        Self { address: peer.ip(), port: Some(peer.port()) }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => SocketAddr::new(self.address, port).fmt(f),
            None => self.address.fmt(f),
        }
    }
}

impl Serialize for Client {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_client_is_counted_by_its_64_bits() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("192.0.2.77"), "192.0.2.77");
        assert_eq!(network("::ffff:192.0.2.77"), "192.0.2.77");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
