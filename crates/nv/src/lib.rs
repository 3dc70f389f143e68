//! Durable counters in memory whose power may fail in the middle of a write.
#![no_std]

mod flash;

pub use flash::FlashCounters;

use sixlock_base::{Nv, NvError, NvSlot};

/// Memory that outlasts a loss of power. What was never written is 0xff.
pub trait Memory {
    /// The bytes from `address` on.
    fn read<const N: usize>(&mut self, address: u16) -> [u8; N];

    /// Writes the bytes from `address` on: they are there, also after a loss of power, when it returns. When the power
    /// fails before, each of them may be as before, as it should be or anything else; the others are untouched.
    fn write<const N: usize>(&mut self, address: u16, bytes: &[u8; N]);
}

/// A counter for each [`NvSlot`], in the first [`COUNTERS`] bytes of `M`, 16 for each in their order: two cells, of which the one with
/// the lower value is written next. So where there were fewer slots, those go on.
///
/// A cell is the first value that was not reserved, and its complement. Whatever a write leaves when the power fails,
/// the other cell is untouched: if the torn one is valid, its value counts only if it is higher, and what it would have
/// reserved was never handed out.
pub struct DurableCounters<M>(pub M);

/// The bytes that [`DurableCounters`] take of their memory.
pub const COUNTERS: usize = NvSlot::COUNT * 2 * CELL as usize;

/// The bytes of a cell.
const CELL: u16 = 8;

impl<M: Memory> DurableCounters<M> {
    fn cell(&mut self, address: u16) -> Option<u32> {
        let value = u32::from_le_bytes(self.0.read(address));
        let complement = u32::from_le_bytes(self.0.read(address + CELL / 2));
        (value == !complement).then_some(value)
    }
}

impl<M: Memory> Nv for DurableCounters<M> {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        let low = slot as u16 * 2 * CELL;
        let high = low + CELL;
        let (at_low, at_high) = (self.cell(low), self.cell(high));
        let first = at_low.max(at_high).unwrap_or(0);
        let next = first.checked_add(count).ok_or(NvError::Exhausted)?;
        let mut cell = [0; CELL as usize];
        let (value, complement) = cell.split_at_mut(CELL as usize / 2);
        value.copy_from_slice(&next.to_le_bytes());
        complement.copy_from_slice(&(!next).to_le_bytes());
        self.0.write(if at_low == Some(first) { high } else { low }, &cell);
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    /// What becomes of a byte that is being written when the power fails.
    #[derive(Clone, Copy, Debug)]
    enum Fate {
        Old,
        New,
        Other(u8),
    }

    /// Memory on whose next write the power fails, if there is a fate for its bytes.
    struct Failing<'a> {
        bytes: &'a mut [u8; 16],
        fates: Option<[Fate; 8]>,
    }

    impl Memory for Failing<'_> {
        fn read<const N: usize>(&mut self, address: u16) -> [u8; N] {
            self.bytes[address.into()..][..N].try_into().unwrap()
        }

        fn write<const N: usize>(&mut self, address: u16, bytes: &[u8; N]) {
            let place = &mut self.bytes[address.into()..][..N];
            for (n, (byte, new)) in place.iter_mut().zip(bytes).enumerate() {
                *byte = match self.fates.map_or(Fate::New, |fates| fates[n]) {
                    Fate::Old => *byte,
                    Fate::New => *new,
                    Fate::Other(other) => other,
                };
            }
        }
    }

    /// The memory of a device from before there was RPL: link 1000, then IPsec 7, and what was never written.
    #[test]
    fn counters_go_on_in_memory_that_was_written_when_there_were_fewer() {
        struct Old([u8; COUNTERS]);
        impl Memory for Old {
            fn read<const N: usize>(&mut self, address: u16) -> [u8; N] {
                self.0[address.into()..][..N].try_into().unwrap()
            }

            fn write<const N: usize>(&mut self, address: u16, bytes: &[u8; N]) {
                self.0[address.into()..][..N].copy_from_slice(bytes);
            }
        }
        let mut bytes = [0xff; COUNTERS];
        for (at, value) in [(0, 900_u32), (8, 1000), (16, 7), (24, 6)] {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            bytes[at + 4..at + 8].copy_from_slice(&(!value).to_le_bytes());
        }
        let mut counters = DurableCounters(Old(bytes));
        for n in 0..3 {
            assert_eq!(counters.reserve(NvSlot::RplSequence, 1), Ok(n));
            assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 10), Ok(1000 + 10 * n));
            assert_eq!(counters.reserve(NvSlot::IpsecSequence, 1), Ok(7 + n));
        }
    }

    const SLOT: NvSlot = NvSlot::LinkFrameCounter;

    /// Reserves after each boot, in turn; a reservation on which the power fails is not handed out.
    fn reserved(boots: &[(u32, Option<[Fate; 8]>)]) -> Vec<(u32, u32)> {
        let mut bytes = [0xff; 16];
        let mut handed_out = Vec::new();
        for (count, fates) in boots {
            let mut counters = DurableCounters(Failing { bytes: &mut bytes, fates: *fates });
            match counters.reserve(SLOT, *count) {
                Ok(first) if fates.is_none() => handed_out.push((first, *count)),
                _ => {}
            }
        }
        handed_out
    }

    #[test]
    fn ranges_follow_one_another_until_there_are_no_more_values() {
        assert_eq!(reserved(&[(10, None), (1, None), (5, None)]), [(0, 10), (10, 1), (11, 5)]);
        assert_eq!(reserved(&[(u32::MAX, None), (1, None), (0, None)]), [(0, u32::MAX), (u32::MAX, 0)]);
    }

    #[test]
    fn a_write_cut_after_any_number_of_bytes_costs_at_most_the_range_that_it_reserved() {
        for cut in 0..=8 {
            let fates = core::array::from_fn(|n| if n < cut { Fate::New } else { Fate::Old });
            let ranges = reserved(&[(1000, None), (1000, Some(fates)), (1000, None), (1000, None)]);
            // The last bytes of a complement may be what was there before.
            let lost = ranges[1].0 - 1000;
            assert!(lost == 1000 && cut >= 4 || lost == 0 && cut < 8, "{lost} after {cut} bytes");
            assert_eq!(ranges, [(0, 1000), (1000 + lost, 1000), (2000 + lost, 1000)]);
        }
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop_oneof![Just(Fate::Old), Just(Fate::New), any::<u8>().prop_map(Fate::Other)]
    }

    proptest! {
        #[test]
        fn no_value_is_handed_out_twice_whatever_failing_writes_leave(
            boots in proptest::collection::vec(
                (1..100_000_u32, proptest::option::of(proptest::array::uniform8(fate()))),
                0..40,
            ),
        ) {
            let ranges = reserved(&boots);
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{ranges:?}");
            }
        }
    }
}
