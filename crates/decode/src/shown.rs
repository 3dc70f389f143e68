//! How bytes and addresses are written.

use std::fmt;

use serde::{Serialize, Serializer};
use sixlock_ieee802154::Address;

/// Bytes, written in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An address of IEEE 802.15.4: `02:12:74:00:00:00:00:01` or `0xffff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkAddress(pub Address);

impl fmt::Display for LinkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Address::Short(address) => write!(f, "0x{address:04x}"),
            Address::Extended(address) => address.0.iter().enumerate().try_for_each(|(place, byte)| {
                let between = if place == 0 { "" } else { ":" };
                write!(f, "{between}{byte:02x}")
            }),
        }
    }
}

impl Serialize for LinkAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The bytes that `text` writes in hexadecimal, if it does.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some((digit(high)? << 4 | digit(low)?) as u8)).collect()
}
