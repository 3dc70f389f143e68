//! Reading and writing byte by byte. An access beyond the end is noted, and reported once.

use crate::Error;

pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
    truncated: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, length: bytes.len(), truncated: false }
    }

    /// How much was read, unless more was than there is.
    pub(crate) fn consumed(&self) -> Result<usize, Error> {
        if self.truncated { Err(Error::Truncated) } else { Ok(self.length - self.rest.len()) }
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte, if there is one, which stays.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Returns the next `n` bytes, or an empty slice if there are fewer.
    #[inline(never)]
    pub(crate) fn take(&mut self, n: usize) -> &'a [u8] {
        let Some((taken, rest)) = self.rest.split_at_checked(n) else {
            (self.rest, self.truncated) = (&[], true);
            return &[];
        };
        self.rest = rest;
        taken
    }

    /// Fills `out` with the next bytes, or leaves it if there are not as many.
    #[inline(never)]
    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        let taken = self.take(out.len());
        if taken.len() == out.len() {
            out.copy_from_slice(taken);
        }
    }

    /// The next bytes, or zeros if there are not as many.
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        self.fill(&mut array);
        array
    }

    #[inline(never)]
    pub(crate) fn byte(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }
}

pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
    full: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0, full: false }
    }

    /// Where the next byte goes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// How much was written, unless not all of it fitted.
    pub(crate) fn written(&self) -> Result<usize, Error> {
        if self.full { Err(Error::BufferTooSmall) } else { Ok(self.at) }
    }

    /// How many more bytes fit.
    pub(crate) fn free(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// What was written from `start` on.
    pub(crate) fn since(&self, start: usize) -> &[u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// Takes back what was written from `at` on.
    pub(crate) fn truncate(&mut self, at: usize) {
        self.at = self.at.min(at);
    }

    #[inline(never)]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.patch(self.at, bytes);
        if !self.full {
            self.at += bytes.len();
        }
    }

    /// Changes the bits of the byte at `at` that are those of `from` into those of `to`.
    pub(crate) fn exchange(&mut self, at: usize, from: u8, to: u8) {
        if let Some(byte) = self.bytes.get_mut(at) {
            *byte ^= from ^ to;
        }
    }

    /// Overwrites what was written before, at `at`.
    pub(crate) fn patch(&mut self, at: usize, bytes: &[u8]) {
        match self.bytes.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) => place.copy_from_slice(bytes),
            None => (self.bytes, self.full) = (&mut [], true),
        }
    }
}
