use crate::{Message, OptionNumber};

/// The value of a Block1 or Block2 option: which part of a body a message carries or asks for
/// ([RFC 7959 section 2.2](https://www.rfc-editor.org/rfc/rfc7959#section-2.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    number: u32,
    more: bool,
    exponent: u8,
}

impl Block {
    /// The exponent of the largest blocks, of 1024 bytes.
    pub const LARGEST: u8 = 6;
    const MAX_NUMBER: u32 = (1 << 20) - 1;

    /// The block `number` among blocks of 2^(`exponent` + 4) bytes, of which `more` follow; nothing if there can be no
    /// such block.
    pub const fn new(number: u32, more: bool, exponent: u8) -> Option<Self> {
        if number > Self::MAX_NUMBER || exponent > Self::LARGEST {
            return None;
        }
        Some(Self { number, more, exponent })
    }

    /// What the option `number` of `message` says, if it is there. The inner nothing stands for a size of blocks that is
    /// reserved.
    pub fn of(message: &Message<'_>, number: OptionNumber) -> Option<Option<Self>> {
        let value = message.value(number)?.uint()?;
        Some(Self::new(value >> 4, value & 8 != 0, (value & 7) as u8))
    }

    /// The value of the option.
    pub const fn value(self) -> u32 {
        self.number << 4 | (self.more as u32) << 3 | self.exponent as u32
    }

    /// Which block it is, from 0 on.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Whether more blocks follow. In a request for a block it says nothing.
    pub const fn more(self) -> bool {
        self.more
    }

    /// What the size of its blocks is told by.
    pub const fn exponent(self) -> u8 {
        self.exponent
    }

    /// How many bytes its blocks have, of which the last may have fewer.
    pub const fn size(self) -> usize {
        16 << self.exponent
    }

    /// Where in the body it begins.
    pub const fn offset(self) -> u32 {
        self.number << (self.exponent + 4)
    }
}
