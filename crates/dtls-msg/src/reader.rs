//! A cursor over received bytes.

use crate::Error;

pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(Error::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Error> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Error::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(|&[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(|&bytes| u16::from_be_bytes(bytes))
    }

    pub(crate) fn u24(&mut self) -> Result<u32, Error> {
        self.array().map(|&[high, middle, low]| u32::from_be_bytes([0, high, middle, low]))
    }

    /// A vector behind its 8-bit length.
    pub(crate) fn vector8(&mut self) -> Result<&'a [u8], Error> {
        let length = self.u8()?;
        self.bytes(length.into())
    }

    /// A vector behind its 16-bit length.
    pub(crate) fn vector16(&mut self) -> Result<&'a [u8], Error> {
        let length = self.u16()?;
        self.bytes(length.into())
    }

    /// A vector behind its 24-bit length.
    pub(crate) fn vector24(&mut self) -> Result<&'a [u8], Error> {
        let length = self.u24()?;
        self.bytes(usize::try_from(length).map_err(|_| Error::Truncated)?)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn end(self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::TrailingBytes) }
    }
}
