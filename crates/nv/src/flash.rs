use embedded_storage::nor_flash::NorFlash;
use sixlock_base::{Nv, NvError, NvSlot};

/// A counter for each [`NvSlot`] in NOR flash, which is erased a sector at a time: each in two sectors, as a log of
/// records. They take [`FlashCounters::SECTORS`] sectors in all, and nothing outside these is read, written or erased.
///
/// A record is the first value that was not reserved, and its complement, by which the slot is known; the highest of all counts. When
/// the sector that has it is full, the other one, whose values are all lower, is erased and goes on. Whatever a write or an erasure
/// leaves when the power fails, the highest value is untouched, or what stands for it is higher.
///
/// A counter of which its sectors have no record begins where the highest of all counters stands. So none repeats what an image
/// reserved that had fewer slots, and therefore other sectors for them, or records of no known slot.
pub struct FlashCounters<F> {
    flash: F,
    start: u32,
}

/// The bytes of a record.
const RECORD: usize = 8;

/// What of a record's complement says its slot; nothing did once, and then it is 0.
const fn mark_of(slot: NvSlot) -> u32 {
    u32::from_le_bytes([slot as u8 + 1; 4])
}

/// What a sector holds.
struct Contents {
    /// The highest value of the slot.
    highest: Option<u32>,
    /// The highest of any.
    any: Option<u32>,
    /// Where its next record goes.
    free: Option<u32>,
}

impl<F: NorFlash> FlashCounters<F> {
    /// How many sectors the counters take: two for each [`NvSlot`].
    pub const SECTORS: usize = 2 * NvSlot::COUNT;

    /// How much flash the counters take, in bytes.
    pub const SIZE: usize = Self::SECTORS * F::ERASE_SIZE;

    /// The counters in the [`FlashCounters::SIZE`] bytes of `flash` that begin at `start`, which must be theirs alone. If these are
    /// not all there, or `start` is not that of a sector, nothing can be reserved: [`NvError::Storage`].
    pub const fn new(flash: F, start: u32) -> Self {
        const { assert!(RECORD.is_multiple_of(F::WRITE_SIZE) && RECORD.is_multiple_of(F::READ_SIZE)) };
        const { assert!(F::ERASE_SIZE.is_multiple_of(RECORD)) };
        Self { flash, start }
    }

    /// Where the two sectors of a slot begin, if the flash has room for those of all.
    fn sectors(&self, slot: NvSlot) -> Option<(u32, u32)> {
        let fits =
            self.flash.capacity().checked_sub(Self::SIZE).is_some_and(|last| self.start as usize <= last);
        let length = F::ERASE_SIZE as u32;
        if !fits || !self.start.is_multiple_of(length) {
            return None;
        }
        let low = self.start + slot as u32 * 2 * length;
        Some((low, low + length))
    }

    fn contents(&mut self, sector: u32, slot: NvSlot) -> Result<Contents, F::Error> {
        let mut contents = Contents { highest: None, any: None, free: None };
        for place in (sector..sector + F::ERASE_SIZE as u32).step_by(RECORD) {
            let mut record = [0; RECORD];
            self.flash.read(place, &mut record)?;
            if record == [0xff; RECORD] {
                contents.free = contents.free.or(Some(place));
                continue;
            }
            contents.free = None;
            let [a, b, c, d, e, f, g, h] = record;
            let value = u32::from_le_bytes([a, b, c, d]);
            let mark = value ^ !u32::from_le_bytes([e, f, g, h]);
            if mark == mark_of(slot) {
                contents.highest = contents.highest.max(Some(value));
            }
            let [one, ..] = mark.to_le_bytes();
            if mark == u32::from_le_bytes([one; 4]) && usize::from(one) <= NvSlot::COUNT {
                contents.any = contents.any.max(Some(value));
            }
        }
        Ok(contents)
    }

    /// The highest value of any counter.
    fn highest(&mut self, slot: NvSlot) -> Result<u32, F::Error> {
        let mut highest = None;
        for sector in (self.start..self.start + Self::SIZE as u32).step_by(F::ERASE_SIZE) {
            highest = highest.max(self.contents(sector, slot)?.any);
        }
        Ok(highest.unwrap_or(0))
    }

    /// Adds the value that `next` makes of the slot's highest one, in these sectors; returns that one, if there is a next.
    fn advance(
        &mut self,
        slot: NvSlot,
        (low, high): (u32, u32),
        next: impl Fn(u32) -> Option<u32>,
    ) -> Result<Option<u32>, F::Error> {
        let (at_low, at_high) = (self.contents(low, slot)?, self.contents(high, slot)?);
        let (current, other) =
            if at_low.highest >= at_high.highest { (at_low, high) } else { (at_high, low) };
        let first = match current.highest {
            Some(first) => first,
            None => self.highest(slot)?,
        };
        let Some(next) = next(first) else { return Ok(None) };
        let place = match current.free {
            Some(place) => place,
            None => {
                self.flash.erase(other, other + F::ERASE_SIZE as u32)?;
                other
            }
        };
        let mut record = [0; RECORD];
        let (value, complement) = record.split_at_mut(RECORD / 2);
        value.copy_from_slice(&next.to_le_bytes());
        complement.copy_from_slice(&(!next ^ mark_of(slot)).to_le_bytes());
        self.flash.write(place, &record)?;
        Ok(Some(first))
    }
}

impl<F: NorFlash> Nv for FlashCounters<F> {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        let sectors = self.sectors(slot).ok_or(NvError::Storage)?;
        match self.advance(slot, sectors, |first| first.checked_add(count)) {
            Ok(Some(first)) => Ok(first),
            Ok(None) => Err(NvError::Exhausted),
            Err(_) => Err(NvError::Storage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash, check_erase, check_write};
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    const SECTOR: usize = 32;
    /// There is something else before the counters and behind them.
    const START: usize = SECTOR;
    const SIZE: usize = (2 * NvSlot::COUNT + 2) * SECTOR;

    /// What becomes of a byte that is being written or erased when the power fails.
    #[derive(Clone, Copy, Debug)]
    enum Fate {
        Old,
        New,
        Other(u8),
    }

    /// Those of the bytes of a record, and of each record in a sector.
    type Fates = [Fate; RECORD];

    /// Flash on which the power fails at one of the next operations, if there are fates for its bytes.
    struct Failing<'a> {
        bytes: &'a mut [u8; SIZE],
        failure: Option<(usize, Fates)>,
    }

    impl Failing<'_> {
        fn change(&mut self, from: usize, new: &[u8]) -> Result<(), NorFlashErrorKind> {
            let fates = match &mut self.failure {
                Some((0, fates)) => Some(*fates),
                Some((left, _)) => {
                    *left -= 1;
                    None
                }
                None => None,
            };
            for (n, (byte, new)) in self.bytes[from..].iter_mut().zip(new).enumerate() {
                *byte = match fates.map_or(Fate::New, |fates| fates[n % RECORD]) {
                    Fate::Old => *byte,
                    Fate::New => *new,
                    Fate::Other(other) => other,
                };
            }
            if fates.is_some() { Err(NorFlashErrorKind::Other) } else { Ok(()) }
        }
    }

    impl ErrorType for Failing<'_> {
        type Error = NorFlashErrorKind;
    }

    impl ReadNorFlash for Failing<'_> {
        const READ_SIZE: usize = 1;

        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
            Ok(())
        }

        fn capacity(&self) -> usize {
            SIZE
        }
    }

    impl NorFlash for Failing<'_> {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = SECTOR;

        fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
            check_erase(self, from, to)?;
            self.change(from as usize, &[0xff; SECTOR][..(to - from) as usize])
        }

        fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
            check_write(self, offset, bytes.len())?;
            let old = &self.bytes[offset as usize..][..bytes.len()];
            assert!(old.iter().all(|&byte| byte == 0xff), "what is written was erased before");
            self.change(offset as usize, bytes)
        }
    }

    fn reserve(bytes: &mut [u8; SIZE], count: u32, failure: Option<(usize, Fates)>) -> Result<u32, NvError> {
        FlashCounters::new(Failing { bytes, failure }, START as u32).reserve(NvSlot::LinkFrameCounter, count)
    }

    #[test]
    fn ranges_follow_one_another_through_many_sectors() {
        let mut bytes = [0xff; SIZE];
        for n in 0..100 {
            assert_eq!(reserve(&mut bytes, 10, None), Ok(10 * n));
        }
        assert_eq!(reserve(&mut bytes, u32::MAX - 1000, None), Ok(1000));
        assert_eq!(reserve(&mut bytes, 1, None), Err(NvError::Exhausted));
        assert_eq!(reserve(&mut bytes, 0, None), Ok(u32::MAX));
    }

    #[test]
    fn what_is_before_and_behind_is_left_alone() {
        let mut bytes = core::array::from_fn(|n| n as u8);
        for _ in 0..20 {
            reserve(&mut bytes, 1, None).unwrap();
        }
        for n in (0..START).chain(START + 2 * SECTOR..SIZE) {
            assert_eq!(bytes[n], n as u8);
        }
    }

    #[test]
    fn a_counter_of_each_slot_goes_on_by_itself_in_its_own_sectors() {
        let mut bytes = [0xff; SIZE];
        let before = bytes;
        for n in 0..20 {
            let mut counters = FlashCounters::new(Failing { bytes: &mut bytes, failure: None }, START as u32);
            assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 3), Ok(3 * n));
            assert_eq!(
                counters.reserve(NvSlot::IpsecSequence, 5),
                Ok(3 + 5 * n),
                "it begins behind the first"
            );
            assert_eq!(counters.reserve(NvSlot::RplSequence, 7), Ok(8 + 7 * n));
        }
        let region = START..START + FlashCounters::<Failing<'_>>::SIZE;
        assert_eq!((&bytes[..region.start], &bytes[region.end..]), (&before[..START], &before[region.end..]));
    }

    /// Fills the two sectors from `at` on with records as they were once, up to `highest`.
    fn write_unmarked(bytes: &mut [u8; SIZE], at: usize, highest: u32) {
        for (n, record) in bytes[at..at + 2 * SECTOR].chunks_mut(RECORD).enumerate() {
            let value = highest - n as u32;
            record[..4].copy_from_slice(&value.to_le_bytes());
            record[4..].copy_from_slice(&(!value).to_le_bytes());
        }
    }

    #[test]
    fn no_counter_repeats_what_it_reserved_when_its_sectors_were_others() {
        let end = START + FlashCounters::<Failing<'_>>::SIZE;
        let slots = [NvSlot::LinkFrameCounter, NvSlot::IpsecSequence, NvSlot::RplSequence];
        // Those of the link and of IPsec, at the end of the flash or at its beginning, or with those of RPL already.
        for (link, ipsec) in [
            (end - 4 * SECTOR, end - 2 * SECTOR),
            (START, START + 2 * SECTOR),
            (end - 6 * SECTOR, end - 4 * SECTOR),
        ] {
            for (highest_link, highest_ipsec) in [(5000, 70), (70, 5000)] {
                // Each slot is the first that is used, and often enough that all its sectors are erased before the next is.
                for first in 0..slots.len() {
                    let mut bytes = [0xff; SIZE];
                    write_unmarked(&mut bytes, link, highest_link);
                    write_unmarked(&mut bytes, ipsec, highest_ipsec);
                    for n in 0..slots.len() {
                        let slot = slots[(first + n) % slots.len()];
                        for _ in 0..20 {
                            let flash = Failing { bytes: &mut bytes, failure: None };
                            let reserved = FlashCounters::new(flash, START as u32).reserve(slot, 1);
                            let old = match slot {
                                NvSlot::LinkFrameCounter => highest_link,
                                NvSlot::IpsecSequence => highest_ipsec,
                                NvSlot::RplSequence => 0,
                            };
                            assert!(reserved.unwrap() >= old, "{slot:?}: {reserved:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn counters_that_find_too_little_flash_reserve_and_erase_nothing() {
        let last = SIZE - FlashCounters::<Failing<'_>>::SIZE;
        // Full of what is no counter: the first record would erase a sector.
        for start in [last + SECTOR, last + 2 * SECTOR, last + 1, SIZE, u32::MAX as usize] {
            let mut bytes = [0x5a; SIZE];
            for slot in [NvSlot::LinkFrameCounter, NvSlot::IpsecSequence, NvSlot::RplSequence] {
                let flash = Failing { bytes: &mut bytes, failure: None };
                let reserved = FlashCounters::new(flash, start as u32).reserve(slot, 1);
                assert_eq!(reserved, Err(NvError::Storage), "{start}");
            }
            assert_eq!(bytes, [0x5a; SIZE], "{start}");
        }
        let mut bytes = [0x5a; SIZE];
        let flash = Failing { bytes: &mut bytes, failure: None };
        assert_eq!(FlashCounters::new(flash, last as u32).reserve(NvSlot::IpsecSequence, 1), Ok(0));
    }

    #[test]
    fn flash_that_fails_reserves_nothing() {
        let mut bytes = [0xff; SIZE];
        assert_eq!(reserve(&mut bytes, 1, Some((0, [Fate::Old; RECORD]))), Err(NvError::Storage));
        assert_eq!(reserve(&mut bytes, 1, None), Ok(0));
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop_oneof![Just(Fate::Old), Just(Fate::New), any::<u8>().prop_map(Fate::Other)]
    }

    proptest! {
        #[test]
        fn no_value_is_handed_out_twice_whatever_failing_operations_leave(
            blank: bool,
            boots in proptest::collection::vec(
                (1..1000_u32, proptest::option::of((0..2_usize, proptest::array::uniform8(fate())))),
                0..60,
            ),
        ) {
            // Where no counters were yet, there may be anything but them.
            let mut bytes = [if blank { 0xff } else { 0x5a }; SIZE];
            let mut ranges = Vec::new();
            for (count, failure) in boots {
                if let Ok(first) = reserve(&mut bytes, count, failure) {
                    ranges.push((first, count));
                }
            }
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{ranges:?}");
            }
        }
    }
}
