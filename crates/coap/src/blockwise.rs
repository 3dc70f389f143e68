use core::fmt;

use sixlock_coap_msg::Block;

/// A client asks for a block that begins behind the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeyondTheEnd;

impl fmt::Display for BeyondTheEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the block begins behind the end of the body")
    }
}

impl core::error::Error for BeyondTheEnd {}

/// What of a body goes into one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Which block it is; nothing if the body is whole.
    pub block: Option<Block>,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Part<'a> {
    /// The part of `body` that a client asks for in its Block2 option, if it has one, in blocks of 2^(`largest` + 4) bytes
    /// or smaller ones ([RFC 7959 section 2.4](https://www.rfc-editor.org/rfc/rfc7959#section-2.4)).
    ///
    /// Nothing is remembered of who has how much: a body that changes meanwhile is told by its ETag.
    pub fn of(body: &'a [u8], asked: Option<Block>, largest: u8) -> Result<Self, BeyondTheEnd> {
        let exponent = asked.map_or(largest, |asked| asked.exponent().min(largest));
        let offset = asked.map_or(0, Block::offset);
        let start = usize::try_from(offset).map_err(|_| BeyondTheEnd)?;
        let rest = body.get(start..).filter(|rest| start == 0 || !rest.is_empty()).ok_or(BeyondTheEnd)?;
        // A block that was asked for in larger ones is the first of the smaller ones that it holds.
        let block = Block::new(offset >> (exponent + 4), false, exponent).ok_or(BeyondTheEnd)?;
        match rest.get(..block.size()) {
            Some(bytes) if bytes.len() < rest.len() => {
                Ok(Self { block: Block::new(block.number(), true, exponent), bytes })
            }
            _ => Ok(Self { block: asked.map(|_| block), bytes: rest }),
        }
    }
}
