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

const ON_LINK: u8 = 0x80;
const AUTONOMOUS: u8 = 0x40;
const ROUTER_ADDRESS: u8 = 0x20;

impl PrefixInformation {
    pub(crate) const LEN: usize = 30;

    /// Reads it from what an option holds behind its type and length.
    pub(crate) fn parse(data: &[u8]) -> Result<Self, Error> {
        let &[length, flags, v0, v1, v2, v3, p0, p1, p2, p3, _, _, _, _, ref address @ ..] =
            <&[u8; Self::LEN]>::try_from(data).map_err(|_| Error::Length)?;
        let address: &[u8; 16] = address;
        if length > 128 {
            return Err(Error::Length);
        }
        Ok(Self {
            length,
            on_link: flags & ON_LINK != 0,
            autonomous: flags & AUTONOMOUS != 0,
            is_router_address: flags & ROUTER_ADDRESS != 0,
            valid: u32::from_be_bytes([v0, v1, v2, v3]),
            preferred: u32::from_be_bytes([p0, p1, p2, p3]),
            address: (*address).into(),
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
