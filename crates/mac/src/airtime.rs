/// What the physical layer puts before a frame, in bytes: preamble, start of frame delimiter and length.
const SYNCHRONIZATION_HEADER: u32 = 6;
/// Symbols in which a byte is sent.
const SYMBOLS_PER_BYTE: u32 = 2;

/// For how many symbols a frame of `len` bytes is on the air.
pub const fn airtime(len: usize) -> u32 {
    SYMBOLS_PER_BYTE * (SYNCHRONIZATION_HEADER + len as u32)
}
