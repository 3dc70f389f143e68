//! What the control messages of RPL and of neighbour discovery have in common: both are ICMPv6 messages with options behind.

use core::net::Ipv6Addr;

use crate::{Error, Header, checksum, next_header};

/// Where the checksum of an ICMPv6 message stands.
const CHECKSUM: core::ops::Range<usize> = 2..4;

/// Writes a message into a buffer, piece by piece.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    /// Adds `bytes`. If there is no room for them, nothing changes.
    #[inline(never)]
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let rest = self.out.get_mut(self.len..).unwrap_or_default();
        rest.get_mut(..bytes.len()).ok_or(Error::Truncated)?.copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }

    /// How many bytes were written.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds an option whose data are `fixed` and then `rest`. If there is no room for it, or more than its length can tell, nothing
    /// changes.
    #[inline(never)]
    pub(crate) fn put_option(&mut self, kind: u8, fixed: &[u8], rest: &[u8]) -> Result<(), Error> {
        let length = u8::try_from(fixed.len() + rest.len()).map_err(|_| Error::Length)?;
        self.put_parts(&[kind, length], fixed, rest)
    }

    /// Adds these, or if there is no room for all of them, nothing.
    pub(crate) fn put_parts(&mut self, front: &[u8], fixed: &[u8], rest: &[u8]) -> Result<(), Error> {
        let start = self.len;
        self.put(front)?;
        let written = match self.put(fixed) {
            Ok(()) => self.put(rest),
            error => error,
        };
        if written.is_err() {
            self.len = start;
        }
        written
    }

    /// How many bytes there is room for.
    pub(crate) fn room(&self) -> usize {
        self.out.len() - self.len
    }

    /// Writes the checksum of a message with these addresses, whose field is zero; the message's length.
    pub(crate) fn finish(self, source: Ipv6Addr, destination: Ipv6Addr) -> usize {
        let message = self.out.get_mut(..self.len).unwrap_or_default();
        let sum = checksum(source, destination, next_header::ICMPV6, message);
        if let Some(field) = message.get_mut(CHECKSUM) {
            field.copy_from_slice(&sum.to_be_bytes());
        }
        self.len
    }

    /// The same between the addresses that stand in `header`, of which it writes the rest; the packet's length. `None` if the message is
    /// longer than a packet can be.
    #[inline(never)]
    pub(crate) fn finish_packet(self, header: &mut [u8; Header::LEN], hop_limit: u8) -> Option<usize> {
        let (front, addresses) = header.split_first_chunk_mut()?;
        let [source, destination] = addresses.as_chunks::<16>().0 else { return None };
        let length = self.finish((*source).into(), (*destination).into());
        let [l0, l1] = u16::try_from(length).ok()?.to_be_bytes();
        *front = [0x60, 0, 0, 0, l0, l1, next_header::ICMPV6, hop_limit];
        Some(Header::LEN + length)
    }
}
