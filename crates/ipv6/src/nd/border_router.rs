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
        let encoded = EncodedBorderRouter::parse(data)?;
        let address = (*encoded.octets()).into();
        Ok(Self { version: encoded.version(), lifetime: encoded.lifetime(), address })
    }

    /// What stands before the address.
    pub(super) fn front(&self) -> [u8; 6] {
        // The low half of the version comes first.
        let [v0, v1, v2, v3] = self.version.to_be_bytes();
        let [l0, l1] = self.lifetime.to_be_bytes();
        [v2, v3, v0, v1, l0, l1]
    }
}

/// A [`BorderRouter`] as it stands in a message.
#[derive(Clone, Copy, Debug)]
pub struct EncodedBorderRouter<'a>(&'a [u8; BorderRouter::LEN]);

impl<'a> EncodedBorderRouter<'a> {
    pub(super) fn parse(data: &'a [u8]) -> Result<Self, Error> {
        data.try_into().map(Self).map_err(|_| Error::Length)
    }

    /// Its [`BorderRouter::version`].
    pub fn version(&self) -> u32 {
        let &[v2, v3, v0, v1, ..] = self.0;
        u32::from_be_bytes([v0, v1, v2, v3])
    }

    /// Its [`BorderRouter::lifetime`].
    pub fn lifetime(&self) -> u16 {
        let &[_, _, _, _, l0, l1, ..] = self.0;
        u16::from_be_bytes([l0, l1])
    }

    /// The octets of its [`BorderRouter::address`].
    pub fn octets(&self) -> &'a [u8; 16] {
        let [_, _, _, _, _, _, octets @ ..] = self.0;
        octets
    }
}
