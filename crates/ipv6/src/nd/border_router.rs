use core::net::Ipv6Addr;

use crate::Error;

/// The authoritative border router option: whose prefixes and contexts a router advertisement tells
/// ([RFC 6775 section 4.3](https://www.rfc-editor.org/rfc/rfc6775#section-4.3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BorderRouter {
    /// Raised with each change of what the border router tells.
    pub version: u32,
    /// For how many minutes it is valid; 0 stands for 10,000.
    pub lifetime: u16,
    /// The border router.
    pub address: Ipv6Addr,
}

impl BorderRouter {
    pub(super) const LEN: usize = 22;

    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        let &[v2, v3, v0, v1, l0, l1, ref address @ ..] =
            <&[u8; Self::LEN]>::try_from(data).map_err(|_| Error::Length)?;
        let address: &[u8; 16] = address;
        Ok(Self {
            version: u32::from_be_bytes([v0, v1, v2, v3]),
            lifetime: u16::from_be_bytes([l0, l1]),
            address: (*address).into(),
        })
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        // The low half of the version comes first.
        let [v0, v1, v2, v3] = self.version.to_be_bytes();
        let [l0, l1] = self.lifetime.to_be_bytes();
        let mut bytes = [0; Self::LEN];
        bytes[..6].copy_from_slice(&[v2, v3, v0, v1, l0, l1]);
        bytes[6..].copy_from_slice(&self.address.octets());
        bytes
    }
}
