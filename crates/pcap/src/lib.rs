//! Packet captures of IEEE 802.15.4: the classic pcap format, in microseconds, of frames with their FCS.
//!
//! A capture is [`HEADER`], and then for each frame what [`record`] gives and the frame itself. A device that knows
//! radio time only makes the timestamps by a [`Clock`].
#![no_std]

mod clock;

pub use clock::Clock;

/// The length of what stands before each frame, in bytes.
pub const RECORD: usize = 16;

/// What a capture begins with, little-endian: frames may have any length, and begin with their MAC header
/// (LINKTYPE_IEEE802_15_4_WITHFCS, 195).
pub const HEADER: [u8; 24] = [
    0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, // the format, and its version
    0, 0, 0, 0, 0, 0, 0, 0, // time zone and accuracy, which nobody states
    0xff, 0xff, 0, 0, 195, 0, 0, 0,
];

/// When a frame began, since the capture's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Whole seconds.
    pub seconds: u32,
    /// Microseconds, less than a million.
    pub micros: u32,
}

/// What stands before a frame of `len` bytes that began `at`.
pub fn record(at: Timestamp, len: u32) -> [u8; RECORD] {
    let mut out = [0; RECORD];
    let (fields, _) = out.as_chunks_mut();
    // The frame was captured whole, so that its two lengths are the same.
    for (field, value) in fields.iter_mut().zip([at.seconds, at.micros, len, len]) {
        *field = value.to_le_bytes();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_little_endian() {
        let at = Timestamp { seconds: 3, micros: 0x0f_4230 };
        assert_eq!(record(at, 0x105), [3, 0, 0, 0, 0x30, 0x42, 0x0f, 0, 5, 1, 0, 0, 5, 1, 0, 0]);
    }
}
