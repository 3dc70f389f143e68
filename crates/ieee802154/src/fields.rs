use crate::Error;

/// Reads fixed-size fields off the front of a byte string.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// The first `len` bytes.
    pub(crate) fn slice(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let (field, rest) = self.0.split_at_checked(len).ok_or(Error::Truncated)?;
        self.0 = rest;
        Ok(field)
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (field, rest) = self.0.split_first_chunk().ok_or(Error::Truncated)?;
        self.0 = rest;
        Ok(*field)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        self.take().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        self.take().map(u32::from_le_bytes)
    }
}

/// Writes fields to the front of a buffer.
pub(crate) struct Writer<'a>(pub(crate) &'a mut [u8]);

impl Writer<'_> {
    pub(crate) fn put<const N: usize>(&mut self, field: [u8; N]) -> Result<(), Error> {
        let (place, rest) = core::mem::take(&mut self.0).split_first_chunk_mut().ok_or(Error::BufferFull)?;
        *place = field;
        self.0 = rest;
        Ok(())
    }
}
