//! In which time slot a frame was sent: nothing but beacons says so, and the time that has passed since.

use std::collections::BTreeMap;

use sixlock_ieee802154::enhanced::{Asn, TimeslotTimes};

/// Networks whose slots are followed; beyond, one of them is forgotten.
const NETWORKS: usize = 64;

/// Clocks may be a slot apart after so many slots: 100 parts in a million.
const SLOTS_TO_DRIFT: i64 = 10_000;

/// The farthest slot from the most likely one that a frame is looked for in.
const FARTHEST: i64 = 8;

/// The slots of each network, by its PAN id.
#[derive(Default)]
pub(crate) struct Slots(BTreeMap<Option<u16>, Slot>);

/// A slot that is known.
struct Slot {
    asn: Asn,
    /// When it began, in microseconds since the capture's origin.
    begin: i64,
    times: TimeslotTimes,
}

impl Slots {
    /// The slots that a frame which begins at `us` can be of, the most likely first; none if no beacon of its network was opened.
    pub(crate) fn of(&self, pan_id: Option<u16>, us: u64) -> Vec<Asn> {
        let Some(Slot { asn, begin, times }) = self.0.get(&pan_id) else { return Vec::new() };
        let passed = us.cast_signed().saturating_sub(*begin).div_euclid(times.timeslot_length.into());
        let likely = asn.number().cast_signed().saturating_add(passed);
        let reach = (1 + passed.saturating_abs() / SLOTS_TO_DRIFT).min(FARTHEST);
        let apart = (1..=reach).flat_map(|apart| [apart, -apart]);
        let numbers = [0].into_iter().chain(apart).map(|apart| likely.saturating_add(apart));
        numbers.filter_map(|number| Asn::new(number.try_into().ok()?)).collect()
    }

    /// A frame that is authentic, began at `us` and was the first in its slot tells when that began. A beacon tells the `times` inside
    /// slots, too.
    ///
    /// One of a slot that is over says nothing: it is a repetition by somebody else.
    pub(crate) fn learn(&mut self, pan_id: Option<u16>, us: u64, asn: Asn, times: Option<TimeslotTimes>) {
        let known = self.0.get(&pan_id);
        if known.is_some_and(|known| asn <= known.asn) {
            return;
        }
        let known = known.map_or(TimeslotTimes::DEFAULT, |known| known.times);
        let times = times.filter(|times| times.timeslot_length > 0).unwrap_or(known);
        if self.0.len() >= NETWORKS && !self.0.contains_key(&pan_id) {
            self.0.pop_first();
        }
        let begin = us.cast_signed().saturating_sub(times.tx_offset.into());
        self.0.insert(pan_id, Slot { asn, begin, times });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asn(number: u64) -> Asn {
        Asn::new(number).unwrap()
    }

    fn numbers(slots: &Slots, us: u64) -> Vec<u64> {
        slots.of(Some(1), us).into_iter().map(Asn::number).collect()
    }

    #[test]
    fn a_slot_is_counted_from_the_last_that_is_known() {
        let mut slots = Slots::default();
        assert_eq!(numbers(&slots, 0), [], "none is known");
        slots.learn(Some(1), 1_002_120, asn(500), None);
        assert_eq!(numbers(&slots, 1_002_120), [500, 501, 499]);
        assert_eq!(numbers(&slots, 1_009_999), [500, 501, 499], "its acknowledgement");
        assert_eq!(numbers(&slots, 1_010_000), [501, 502, 500]);
        assert_eq!(numbers(&slots, 999_999), [499, 500, 498], "before it");
        assert_eq!(slots.of(Some(2), 1_002_120), [], "of another network");
        let after_200_seconds = [20_500, 20_501, 20_499, 20_502, 20_498, 20_503, 20_497];
        assert_eq!(numbers(&slots, 201_000_000), after_200_seconds);
    }

    #[test]
    fn slots_are_as_long_as_the_beacon_says_and_go_forward_only() {
        let mut slots = Slots::default();
        let times = TimeslotTimes { timeslot_length: 20_000, tx_offset: 0, ..TimeslotTimes::DEFAULT };
        slots.learn(Some(1), 0, asn(7), Some(times));
        slots.learn(Some(1), 40_000, asn(9), None);
        assert_eq!(numbers(&slots, 60_000)[0], 10);
        slots.learn(Some(1), 60_000, asn(8), None);
        assert_eq!(numbers(&slots, 60_000)[0], 10, "a beacon that somebody sends again");
    }

    #[test]
    fn no_time_and_no_length_is_too_strange() {
        let mut slots = Slots::default();
        let none = TimeslotTimes { timeslot_length: 0, tx_offset: u16::MAX, ..TimeslotTimes::DEFAULT };
        slots.learn(Some(1), 0, Asn::MAX, Some(none));
        assert_eq!(numbers(&slots, 0), [Asn::MAX.number(), Asn::MAX.number() - 1]);
        assert_eq!(numbers(&slots, u64::MAX >> 1), []);
        for pan_id in 0..1000 {
            slots.learn(Some(pan_id), u64::MAX, asn(1), None);
        }
        assert_eq!(slots.0.len(), NETWORKS);
    }
}
