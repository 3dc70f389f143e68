//! Durable counter ranges: what keeps a nonce from repeating across reboots.

use core::fmt;

/// Which counter a range is reserved from. Storage knows them by their order: a new one is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum NvSlot {
    /// The outgoing frame counter of IEEE 802.15.4 security.
    LinkFrameCounter,
    /// The sequence numbers of IPsec, in blocks.
    IpsecSequence,
    /// The sequence counters of RPL: the root's versions, other nodes' path sequences.
    RplSequence,
}

impl NvSlot {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// Why a range could not be reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NvError {
    /// The counter has used all its values: its key must be replaced.
    Exhausted,
    /// The storage failed; nothing was reserved.
    Storage,
}

impl fmt::Display for NvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exhausted => "the counter has used all its values: replace its key",
            Self::Storage => "the storage of the counter failed",
        })
    }
}

impl core::error::Error for NvError {}

/// Non-volatile counters.
pub trait Nv {
    /// Reserves the next `count` values of `slot` and returns the first.
    ///
    /// When it returns, the reservation is durable: no later call, also after a reboot or
    /// a torn write, returns any of these values again.
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError>;
}

/// Counter ranges in RAM.
///
/// They begin at zero with each start of the program, and so would nonces: use them only where every key is new with each start, as those
/// of a DTLS session are.
#[derive(Clone, Debug, Default)]
pub struct VolatileCounters([u32; NvSlot::COUNT]);

impl Nv for VolatileCounters {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        let next = &mut self.0[slot as usize];
        let first = *next;
        *next = first.checked_add(count).ok_or(NvError::Exhausted)?;
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_in_ram_give_each_value_once_and_end() {
        let mut counters = VolatileCounters::default();
        assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 10), Ok(0));
        assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, u32::MAX - 10), Ok(10));
        assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 1), Err(NvError::Exhausted));
        assert_eq!(counters.reserve(NvSlot::IpsecSequence, 1), Ok(0));
    }
}
