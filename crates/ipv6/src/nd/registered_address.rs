use core::net::Ipv6Addr;

/// An address that a host has registered at a router, as a routing protocol is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisteredAddress {
    /// The address.
    pub address: Ipv6Addr,
    /// The transaction id of the registration, which orders those of one address.
    pub transaction: u8,
    /// For how many minutes more it is registered, rounded up.
    pub lifetime: u16,
}
