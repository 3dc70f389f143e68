//! Where somebody is who asks something of the cloud.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use serde::{Serialize, Serializer};

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    /// Its port. `None` if a trusted proxy names the address.
    pub(crate) port: Option<u16>,
}

impl Client {
    /// The address as limits count it.
    pub(crate) fn network(&self) -> IpAddr {
        network(self.address)
    }
}

/// `address` as limits count it: of an IPv6 address the first 64 bits, as a client has all the rest to itself.
pub(crate) fn network(address: IpAddr) -> IpAddr {
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
