//! Reading and writing byte by byte, with every bound checked.

use crate::Error;

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn consumed(&self) -> usize {
        self.at
    }

    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], Error> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..n)).ok_or(Error::Truncated)?;
        self.at += n;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Error> {
        let [byte] = self.array()?;
        Ok(byte)
    }
}

pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn written(&self) -> usize {
        self.at
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let room = self.bytes.get_mut(self.at..).and_then(|rest| rest.get_mut(..bytes.len()));
        room.ok_or(Error::NoRoom)?.copy_from_slice(bytes);
        self.at += bytes.len();
        Ok(())
    }

    /// Overwrites what was written before, at `at`.
    pub(crate) fn patch(&mut self, at: usize, bytes: &[u8]) -> Result<(), Error> {
        let written = self.bytes.get_mut(..self.at).and_then(|written| written.get_mut(at..));
        let field = written.and_then(|rest| rest.get_mut(..bytes.len())).ok_or(Error::NoRoom)?;
        field.copy_from_slice(bytes);
        Ok(())
    }
}
