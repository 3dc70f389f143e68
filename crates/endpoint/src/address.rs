use core::net::{SocketAddr, SocketAddrV6};

/// Length of an address as bytes.
pub const ADDRESS: usize = 22;

/// The address of a peer.
pub trait Address: Copy + Ord {
    /// The address as bytes, which no other address has: what cookies are bound to.
    fn to_bytes(self) -> [u8; ADDRESS];
}

impl Address for SocketAddrV6 {
    fn to_bytes(self) -> [u8; ADDRESS] {
        let mut bytes = [0; ADDRESS];
        bytes[..16].copy_from_slice(&self.ip().octets());
        bytes[16..18].copy_from_slice(&self.port().to_be_bytes());
        bytes[18..].copy_from_slice(&self.scope_id().to_be_bytes());
        bytes
    }
}

impl Address for SocketAddr {
    fn to_bytes(self) -> [u8; ADDRESS] {
        match self {
            Self::V4(address) => {
                SocketAddrV6::new(address.ip().to_ipv6_mapped(), address.port(), 0, 0).to_bytes()
            }
            Self::V6(address) => address.to_bytes(),
        }
    }
}
