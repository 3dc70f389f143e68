use core::fmt;

/// The buffer is too small for the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the buffer is too small for the pack")
    }
}

impl core::error::Error for NoRoom {}

/// Bytes written so far into a buffer. It remembers that they found no room, instead of saying so each time.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    buffer: &'a mut [u8],
    len: usize,
    full: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, len: 0, full: false }
    }

    /// How many there are, if they all found room.
    pub(crate) fn len(&self) -> Result<usize, NoRoom> {
        if self.full { Err(NoRoom) } else { Ok(self.len) }
    }

    #[inline(never)]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.put_byte(byte);
        }
    }

    #[inline(never)]
    pub(crate) fn put_byte(&mut self, byte: u8) {
        match self.buffer.get_mut(self.len) {
            Some(room) => {
                *room = byte;
                self.len += 1;
            }
            None => self.full = true,
        }
    }

    /// Puts `bytes` before what was written.
    pub(crate) fn put_first(&mut self, bytes: &[u8]) {
        let written = self.len;
        self.put(bytes);
        if !self.full {
            self.buffer.copy_within(..written, bytes.len());
            self.buffer[..bytes.len()].copy_from_slice(bytes);
        }
    }
}
