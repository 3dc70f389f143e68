use crate::Error;

/// A link-layer address of IEEE 802.15.4, in the order it is written (big-endian)
/// ([RFC 4944 section 8](https://www.rfc-editor.org/rfc/rfc4944#section-8)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayerAddress {
    /// An EUI-64.
    Extended([u8; 8]),
    /// A short address.
    Short(u16),
}

impl LinkLayerAddress {
    /// Length of an option with a short address, without its type and length.
    pub(super) const SHORT: usize = 6;
    /// The same with an EUI-64.
    pub(super) const EXTENDED: usize = 14;

    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        match (data.len(), data) {
            (Self::SHORT, &[high, low, ..]) => Ok(Self::Short(u16::from_be_bytes([high, low]))),
            (Self::EXTENDED, _) => data.first_chunk().map(|eui| Self::Extended(*eui)).ok_or(Error::Length),
            _ => Err(Error::Length),
        }
    }

    /// Its bytes with their padding, and how many of them there are.
    pub(super) fn to_bytes(self) -> ([u8; Self::EXTENDED], usize) {
        let mut bytes = [0; Self::EXTENDED];
        let length = match self {
            Self::Extended(eui) => {
                bytes[..8].copy_from_slice(&eui);
                Self::EXTENDED
            }
            Self::Short(short) => {
                bytes[..2].copy_from_slice(&short.to_be_bytes());
                Self::SHORT
            }
        };
        (bytes, length)
    }
}
