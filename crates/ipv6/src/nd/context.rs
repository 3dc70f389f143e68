use crate::Error;
use crate::flag::flag;
use crate::prefix::Prefix;

/// The 6LoWPAN context option: a prefix that header compression leaves out
/// ([RFC 6775 section 4.2](https://www.rfc-editor.org/rfc/rfc6775#section-4.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The number that stands for it, four bits.
    pub id: u8,
    /// Whether it may be used to compress; one that may not still decompresses.
    pub compresses: bool,
    /// For how many minutes it is valid; 0 ends it.
    pub lifetime: u16,
    /// The prefix.
    pub prefix: Prefix,
}

const ID: u8 = 0x0f;
const COMPRESSES: u8 = 0x10;

impl Context {
    /// Length before the prefix, which takes 8 bytes or 16.
    const FIXED: usize = 6;

    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        let (&[length, flags, _, _, l0, l1], prefix) = data.split_first_chunk().ok_or(Error::Length)?;
        if !matches!(prefix.len(), 8 | 16) {
            return Err(Error::Length);
        }
        Ok(Self {
            id: flags & ID,
            compresses: flags & COMPRESSES != 0,
            lifetime: u16::from_be_bytes([l0, l1]),
            prefix: Prefix::parse(length, prefix)?,
        })
    }

    /// What stands before the prefix.
    pub(super) fn front(&self) -> [u8; Self::FIXED] {
        let [l0, l1] = self.lifetime.to_be_bytes();
        [self.prefix.length(), flag(self.compresses, COMPRESSES) | self.id & ID, 0, 0, l0, l1]
    }
}
