use core::fmt;

use alloc::vec::Vec;

use sixlock_coap_msg::Block;

/// Why a block is not taken. What was there before it is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssemblyError {
    /// A block before it is missing.
    Gap,
    /// A block that others follow is not full, or is longer than it says.
    Size,
    /// The body is longer than is taken.
    TooLarge,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gap => "a block before it is missing",
            Self::Size => "a block that others follow is not full, or is longer than it says",
            Self::TooLarge => "the body is longer than is taken",
        })
    }
}

impl core::error::Error for AssemblyError {}

/// A body that comes in blocks, one after the other
/// ([RFC 7959 section 2.5](https://www.rfc-editor.org/rfc/rfc7959#section-2.5)).
#[derive(Clone, Debug, Default)]
pub struct Assembly(Vec<u8>);

impl Assembly {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Takes a block of a body of at most `most` bytes, and lends the body if it is whole. A block that comes again takes
    /// its place, and all behind it comes again, too; so the first begins a new body.
    pub fn take(
        &mut self,
        block: Block,
        bytes: &[u8],
        most: usize,
    ) -> Result<Option<Vec<u8>>, AssemblyError> {
        let outcome = self.put(block, bytes, most);
        match outcome {
            Ok(()) if block.more() => Ok(None),
            Ok(()) => Ok(Some(core::mem::take(&mut self.0))),
            Err(error) => {
                self.0 = Vec::new();
                Err(error)
            }
        }
    }

    fn put(&mut self, block: Block, bytes: &[u8], most: usize) -> Result<(), AssemblyError> {
        let start = usize::try_from(block.offset()).map_err(|_| AssemblyError::TooLarge)?;
        if start > self.0.len() {
            return Err(AssemblyError::Gap);
        }
        if bytes.len() > block.size() || block.more() && bytes.len() < block.size() {
            return Err(AssemblyError::Size);
        }
        if start.saturating_add(bytes.len()) > most {
            return Err(AssemblyError::TooLarge);
        }
        self.0.truncate(start);
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}
