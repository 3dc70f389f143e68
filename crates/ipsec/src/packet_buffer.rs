use sixlock_ipv6::Header;

use crate::OutboundError;

/// A packet inside a buffer, with headroom before and tailroom after it.
pub struct PacketBuffer<'a> {
    buffer: &'a mut [u8],
    start: usize,
    end: usize,
}

impl<'a> PacketBuffer<'a> {
    /// The packet at `buffer[start..end]`. Returns `None` if that is not in the buffer.
    pub fn new(buffer: &'a mut [u8], start: usize, end: usize) -> Option<Self> {
        (start <= end && end <= buffer.len()).then_some(Self { buffer, start, end })
    }

    /// Where in the buffer the packet begins and ends.
    pub fn bounds(&self) -> (usize, usize) {
        (self.start, self.end)
    }

    /// The packet's length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The packet.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub fn packet(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// The packet, writable.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub fn packet_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.start..self.end).unwrap_or_default()
    }

    /// Inserts `n` unspecified bytes before byte `at` of the packet. The bytes before them move into the headroom if that is large enough,
    /// otherwise the bytes after them move into the tailroom.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn insert(&mut self, at: usize, n: usize) -> Result<(), OutboundError> {
        let place =
            self.start.checked_add(at).filter(|&place| place <= self.end).ok_or(OutboundError::Malformed)?;
        if let Some(start) = self.start.checked_sub(n) {
            self.buffer.copy_within(self.start..place, start);
            self.start = start;
            return Ok(());
        }
        let end = self.end;
        self.append(n)?;
        self.buffer.copy_within(place..end, place + n);
        Ok(())
    }

    /// Removes `n` bytes, from byte `at` on. The bytes before them move towards the end, or, if the packet begins where the buffer does,
    /// the bytes after them move towards the front.
    pub(crate) fn remove(&mut self, at: usize, n: usize) -> Result<(), OutboundError> {
        let before = self.start..self.start.checked_add(at).ok_or(OutboundError::Malformed)?;
        if before.end.checked_add(n).is_none_or(|end| end > self.end) {
            return Err(OutboundError::Malformed);
        }
        if self.start == 0 {
            self.buffer.copy_within(at + n..self.end, at);
            self.end -= n;
            return Ok(());
        }
        self.buffer.copy_within(before, self.start + n);
        self.start += n;
        Ok(())
    }

    /// Appends `n` unspecified bytes to the packet.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn append(&mut self, n: usize) -> Result<(), OutboundError> {
        let end = self.end.checked_add(n).filter(|&end| end <= self.buffer.len());
        self.end = end.ok_or(OutboundError::NoRoom)?;
        Ok(())
    }

    /// Writes the length into the packet's header, and returns the packet, writable.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn finish(&mut self) -> Result<&mut [u8], OutboundError> {
        let packet = self.packet_mut();
        let length = packet.len().checked_sub(Header::LEN).and_then(|length| u16::try_from(length).ok());
        let length = length.ok_or(OutboundError::NoRoom)?;
        let field = packet.get_mut(Header::PAYLOAD_LENGTH_AT..Header::PAYLOAD_LENGTH_AT + 2);
        field.ok_or(OutboundError::Malformed)?.copy_from_slice(&length.to_be_bytes());
        Ok(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_grows_to_where_there_is_room() {
        let mut buffer = *b"..abcdef...";
        let mut packet = PacketBuffer::new(&mut buffer, 2, 8).unwrap();
        packet.insert(2, 2).unwrap();
        assert_eq!(packet.bounds(), (0, 8));
        packet.packet_mut()[2..4].copy_from_slice(b"--");
        assert_eq!(packet.packet(), b"ab--cdef");
        packet.insert(4, 1).unwrap();
        packet.packet_mut()[4] = b'+';
        assert_eq!(packet.packet(), b"ab--+cdef");
        packet.append(2).unwrap();
        assert_eq!(packet.insert(0, 1), Err(OutboundError::NoRoom));
        assert_eq!(packet.append(1), Err(OutboundError::NoRoom));
        assert_eq!(packet.bounds(), (0, 11));
        packet.remove(2, 3).unwrap();
        assert_eq!((packet.bounds(), &packet.packet()[..6]), ((0, 8), &b"abcdef"[..]));
        assert_eq!(packet.remove(2, 7), Err(OutboundError::Malformed));
        packet.insert(0, 3).unwrap();
        assert_eq!(packet.insert(12, 0), Err(OutboundError::Malformed));
        let mut behind = *b".abcdef";
        let mut packet = PacketBuffer::new(&mut behind, 1, 7).unwrap();
        packet.remove(2, 3).unwrap();
        assert_eq!((packet.bounds(), packet.packet()), ((4, 7), &b"abf"[..]));
        assert!(PacketBuffer::new(&mut buffer, 3, 2).is_none());
        assert!(PacketBuffer::new(&mut buffer, 3, 12).is_none());
    }
}
