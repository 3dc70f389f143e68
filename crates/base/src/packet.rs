//! A buffer that a packet is processed in, in place, with room before and behind it.

use core::fmt;

use crate::Array;

/// There was not enough room before or behind a packet, or not enough bytes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFull;

impl fmt::Display for BufferFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the buffer has no room for more of the packet, or holds less of it")
    }
}

impl core::error::Error for BufferFull {}

/// A packet kept somewhere inside a buffer `B`, such as `[u8; 1280]`, so that lower
/// layers can put headers before it and trailers behind it without moving it.
#[derive(Clone, Debug)]
pub struct Packet<B> {
    buffer: B,
    start: u16,
    end: u16,
}

impl<B: Array<u8>> Packet<B> {
    const FITS: () = assert!(B::LEN <= u16::MAX as usize, "a packet buffer holds at most 65,535 bytes");

    /// An empty packet without headroom.
    pub const fn new() -> Self {
        let () = Self::FITS;
        Self { buffer: B::NEW, start: 0, end: 0 }
    }

    /// Empties the packet and leaves `headroom` bytes (at most all of the buffer) before it.
    pub fn reset(&mut self, headroom: usize) {
        let headroom = headroom.min(B::LEN) as u16;
        (self.start, self.end) = (headroom, headroom);
    }

    /// The packet's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer.as_ref()[self.start as usize..self.end as usize]
    }

    /// The packet's bytes, writable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[self.start as usize..self.end as usize]
    }

    /// The packet's length in bytes.
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the packet is empty.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Bytes of room before the packet.
    pub fn headroom(&self) -> usize {
        self.start as usize
    }

    /// Bytes of room behind the packet.
    pub fn tailroom(&self) -> usize {
        B::LEN - self.end as usize
    }

    /// Grows the packet by `n` bytes at its front and lends them, with whatever they held.
    pub fn push_front(&mut self, n: usize) -> Result<&mut [u8], BufferFull> {
        let start = self.headroom().checked_sub(n).ok_or(BufferFull)?;
        self.start = start as u16;
        Ok(&mut self.buffer.as_mut()[start..start + n])
    }

    /// Grows the packet by `n` bytes at its end and lends them, with whatever they held.
    pub fn push_back(&mut self, n: usize) -> Result<&mut [u8], BufferFull> {
        if n > self.tailroom() {
            return Err(BufferFull);
        }
        let end = self.end as usize;
        self.end += n as u16;
        Ok(&mut self.buffer.as_mut()[end..end + n])
    }

    /// Appends `bytes`.
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), BufferFull> {
        self.push_back(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Drops `n` bytes at the front.
    pub fn trim_front(&mut self, n: usize) -> Result<(), BufferFull> {
        if n > self.len() {
            return Err(BufferFull);
        }
        self.start += n as u16;
        Ok(())
    }

    /// Keeps the first `n` bytes.
    pub fn truncate(&mut self, n: usize) {
        if n < self.len() {
            self.end = self.start + n as u16;
        }
    }

    /// Lends all the room behind the packet; [`Packet::push_back`] then takes what was written.
    pub fn tail_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[self.end as usize..]
    }
}

impl<B: Array<u8>> Default for Packet<B> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_before_and_trailers_behind_without_moving_the_payload() {
        let mut packet = Packet::<[u8; 16]>::new();
        packet.reset(4);
        packet.extend(b"load").unwrap();
        packet.push_front(2).unwrap().copy_from_slice(b"<<");
        packet.extend(b">>").unwrap();
        assert_eq!(packet.bytes(), b"<<load>>");
        assert_eq!(packet.push_front(3), Err(BufferFull));
        assert_eq!(packet.push_back(7), Err(BufferFull));
        packet.trim_front(2).unwrap();
        packet.truncate(4);
        assert_eq!(packet.bytes(), b"load");
        assert_eq!(packet.trim_front(5), Err(BufferFull));
        assert_eq!((packet.headroom(), packet.tailroom()), (4, 8));
    }
}
