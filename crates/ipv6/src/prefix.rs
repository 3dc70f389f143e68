use core::net::Ipv6Addr;

use crate::Error;

/// The first bits of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    octets: [u8; 16],
    length: u8,
}

impl Prefix {
    /// The first `length` bits of `address`; `None` if there are not so many.
    pub fn new(address: Ipv6Addr, length: u8) -> Option<Self> {
        let octets = address.octets();
        (length <= 128).then(|| Self::masked(|n| octets[n], length))
    }

    #[inline(always)]
    fn masked(octet: impl Fn(usize) -> u8, length: u8) -> Self {
        let octets = core::array::from_fn(|n| {
            let bits = usize::from(length).saturating_sub(8 * n).min(8) as u32;
            octet(n) & 0xff_u8.checked_shl(8 - bits).unwrap_or(0)
        });
        Self { octets, length }
    }

    /// These 64 bits.
    pub const fn of_64_bits(bits: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = bits;
        Self { octets: [a, b, c, d, e, f, g, h, 0, 0, 0, 0, 0, 0, 0, 0], length: 64 }
    }

    /// All bits of `address`.
    pub const fn host(address: Ipv6Addr) -> Self {
        Self { octets: address.octets(), length: 128 }
    }

    /// The address, if the prefix is one.
    pub fn as_host(&self) -> Option<Ipv6Addr> {
        (self.length == 128).then(|| self.address())
    }

    /// The address whose first bits these are, and whose other bits are zero.
    pub const fn address(&self) -> Ipv6Addr {
        Ipv6Addr::from_octets(self.octets)
    }

    /// How many bits there are.
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// The octets that its bits take.
    pub(crate) fn octets(&self) -> &[u8] {
        self.octets.get(..usize::from(self.length).div_ceil(8)).unwrap_or_default()
    }

    /// Reads it from `bytes`, which may hold more than is needed.
    pub(crate) fn parse(length: u8, bytes: &[u8]) -> Result<Self, Error> {
        if !Self::fits(length, bytes) {
            return Err(Error::Length);
        }
        Ok(Self::masked(|n| bytes.get(n).copied().unwrap_or(0), length))
    }

    /// Whether so many bits can be read from `bytes`.
    pub(crate) fn fits(length: u8, bytes: &[u8]) -> bool {
        length <= 128 && (usize::from(length).div_ceil(8)..=16).contains(&bytes.len())
    }
}
