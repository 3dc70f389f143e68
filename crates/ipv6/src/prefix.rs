use core::net::Ipv6Addr;

use crate::Error;

/// The first bits of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    address: Ipv6Addr,
    length: u8,
}

impl Prefix {
    /// The first `length` bits of `address`; `None` if there are not so many.
    pub fn new(address: Ipv6Addr, length: u8) -> Option<Self> {
        if length > 128 {
            return None;
        }
        let mut octets = address.octets();
        for (n, octet) in octets.iter_mut().enumerate() {
            let bits = usize::from(length).saturating_sub(8 * n).min(8) as u32;
            *octet &= 0xff_u8.checked_shl(8 - bits).unwrap_or(0);
        }
        Some(Self { address: octets.into(), length })
    }

    /// All bits of `address`.
    pub const fn host(address: Ipv6Addr) -> Self {
        Self { address, length: 128 }
    }

    /// The address, if the prefix is one.
    pub fn as_host(&self) -> Option<Ipv6Addr> {
        (self.length == 128).then_some(self.address)
    }

    /// The address whose first bits these are, and whose other bits are zero.
    pub const fn address(&self) -> Ipv6Addr {
        self.address
    }

    /// How many bits there are.
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// Bytes that its bits take.
    pub(crate) fn bytes(&self) -> usize {
        usize::from(self.length).div_ceil(8)
    }

    /// Reads it from `bytes`, which may hold more than is needed.
    pub(crate) fn parse(length: u8, bytes: &[u8]) -> Result<Self, Error> {
        let needed = usize::from(length).div_ceil(8);
        let mut octets = [0; 16];
        let (to, from) = (octets.get_mut(..needed), bytes.get(..needed));
        match (to, from) {
            (Some(to), Some(from)) if bytes.len() <= 16 => to.copy_from_slice(from),
            _ => return Err(Error::Length),
        }
        Self::new(octets.into(), length).ok_or(Error::Length)
    }
}
