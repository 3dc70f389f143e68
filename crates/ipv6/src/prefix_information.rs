use core::net::Ipv6Addr;

use crate::Error;
use crate::flag::flag;

/// A prefix of the link, or of the DODAG ([RFC 4861 section 4.6.2](https://www.rfc-editor.org/rfc/rfc4861#section-4.6.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixInformation {
    /// How many bits of the address are the prefix.
    pub length: u8,
    /// Whether addresses with it are on the link.
    pub on_link: bool,
    /// Whether nodes may make addresses of it.
    pub autonomous: bool,
    /// Whether the address is the router's own.
    pub is_router_address: bool,
    /// For how many seconds it is valid.
    pub valid: u32,
    /// For how many seconds it is preferred.
    pub preferred: u32,
    /// The prefix, or an address with it.
    pub address: Ipv6Addr,
}

/// The prefix of addresses on the link.
const LINK_LOCAL: [u8; 8] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0];

const ON_LINK: u8 = 0x80;
pub(crate) const AUTONOMOUS: u8 = 0x40;
const ROUTER_ADDRESS: u8 = 0x20;

impl PrefixInformation {
    pub(crate) const LEN: usize = 30;

    /// Reads it from what an option holds behind its type and length.
    pub(crate) fn parse(data: &[u8]) -> Result<Self, Error> {
        let information = EncodedPrefixInformation::parse(data)?;
        let &[length, flags, ..] = information.0;
        Ok(Self {
            length,
            on_link: flags & ON_LINK != 0,
            autonomous: flags & AUTONOMOUS != 0,
            is_router_address: flags & ROUTER_ADDRESS != 0,
            valid: information.valid(),
            preferred: information.preferred(),
            address: (*information.octets()).into(),
        })
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let autonomous = flag(self.autonomous, AUTONOMOUS);
        let router_address = flag(self.is_router_address, ROUTER_ADDRESS);
        let mut bytes = [0; Self::LEN];
        bytes[0] = self.length;
        bytes[1] = flag(self.on_link, ON_LINK) | autonomous | router_address;
        bytes[2..6].copy_from_slice(&self.valid.to_be_bytes());
        bytes[6..10].copy_from_slice(&self.preferred.to_be_bytes());
        bytes[14..].copy_from_slice(&self.address.octets());
        bytes
    }
}

/// A [`PrefixInformation`] as it stands in a message.
#[derive(Clone, Copy, Debug)]
pub struct EncodedPrefixInformation<'a>(&'a [u8; PrefixInformation::LEN]);

impl<'a> EncodedPrefixInformation<'a> {
    pub(crate) fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let bytes: &[u8; PrefixInformation::LEN] = data.try_into().map_err(|_| Error::Length)?;
        if bytes[0] > 128 { Err(Error::Length) } else { Ok(Self(bytes)) }
    }

    /// Its [`PrefixInformation::valid`].
    pub fn valid(&self) -> u32 {
        let &[_, _, v0, v1, v2, v3, ..] = self.0;
        u32::from_be_bytes([v0, v1, v2, v3])
    }

    fn preferred(&self) -> u32 {
        let &[_, _, _, _, _, _, p0, p1, p2, p3, ..] = self.0;
        u32::from_be_bytes([p0, p1, p2, p3])
    }

    fn octets(&self) -> &'a [u8; 16] {
        let [_, _, _, _, _, _, _, _, _, _, _, _, _, _, octets @ ..] = self.0;
        octets
    }

    /// The 64 bits that nodes may make addresses of; `None` if they may not. One that is said to be on the link is ignored
    /// ([RFC 6775 section 5.4](https://www.rfc-editor.org/rfc/rfc6775#section-5.4)), and one of link-local or multicast addresses.
    pub fn address_prefix(&self) -> Option<&'a [u8; 8]> {
        let prefix = self.octets().first_chunk::<8>()?;
        let &[length, flags, ..] = self.0;
        let is_usable = flags & (AUTONOMOUS | ON_LINK) == AUTONOMOUS
            && length == 64
            && self.preferred() <= self.valid()
            && *prefix != LINK_LOCAL
            && prefix[0] != 0xff;
        is_usable.then_some(prefix)
    }
}
