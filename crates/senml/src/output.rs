use crate::Decimal;

/// The buffer is too small for the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// What a device measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading<'a> {
    /// A number (`v`).
    Number(Decimal),
    /// A text (`vs`).
    Text(&'a str),
    /// A truth value (`vb`).
    Boolean(bool),
}

/// Bytes written so far into a buffer.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    buffer: &'a mut [u8],
    len: usize,
}

impl<'a> Output<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        let room = self.buffer.get_mut(self.len..).ok_or(NoRoom)?;
        room.get_mut(..bytes.len()).ok_or(NoRoom)?.copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }

    /// Puts `bytes` before what was written.
    pub(crate) fn put_first(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        let written = self.len;
        self.put(bytes)?;
        self.buffer.copy_within(..written, bytes.len());
        self.buffer.get_mut(..bytes.len()).ok_or(NoRoom)?.copy_from_slice(bytes);
        Ok(())
    }
}
