//! Which links a device has in a slot, and on which channel.

use sixlock_base::Eui64;
use sixlock_ieee802154::enhanced::Asn;

/// The channels of 2.4 GHz in the order of the default hopping sequence (macHoppingSequenceId 0; 6.2.10 of IEEE 802.15.4-2015).
const HOPPING: [u8; 16] = [16, 17, 23, 18, 26, 15, 25, 22, 19, 11, 12, 13, 24, 14, 20, 21];

/// How many channel offsets the links to one neighbour have; that of the shared link, and of beacons, is 0.
const UNICAST_OFFSETS: u16 = HOPPING.len() as u16 - 1;

/// The slotframes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slotframes {
    /// The length in slots of the one whose first slot all devices share: for beacons, and for frames to all
    /// ([RFC 8180 section 4.1](https://www.rfc-editor.org/rfc/rfc8180#section-4.1)).
    pub shared: u16,
    /// The length in slots of the one in which each device sends its beacons in one slot that follows from its address, and in which a device
    /// listens to its time source (Orchestra's rule for beacons). Without, beacons go in the shared slot.
    pub beacons: Option<u16>,
    /// The length in slots of the one in which each device listens in one slot that follows from its address, and others send to it (the
    /// receiver-based rule of Orchestra). It is another each time, so that no two devices have the same for long. Without, frames to one
    /// neighbour go in the shared slot, too.
    ///
    /// A coordinator listens in all slots, and so those who know it as that send to it in a slot that follows from their own
    /// address: they do not collide.
    pub unicast: Option<u16>,
}

/// Whom a device knows when it looks for its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Station {
    pub(super) own: Eui64,
    pub(super) is_coordinator: bool,
    /// The coordinator, if it is a neighbour.
    pub(super) coordinator: Option<Eui64>,
    /// Whose beacons it listens to.
    pub(super) time_source: Option<Eui64>,
    /// Whether it sends beacons itself.
    pub(super) tells: bool,
}

/// What a device may do in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// It may send what is for all, and else listens. Without a slotframe for it, what is for one goes here, too.
    Shared,
    /// It sends its beacon.
    Beacon,
    /// It listens to the beacon of its time source.
    TimeSource,
    /// It may send to one neighbour, for which its frames are to be looked through, and else listens if it is its own slot.
    Unicast { listens: bool },
}

/// The last 32 bits of the quotient of `number` and `length`, and the remainder: part by part, as microcontrollers divide 32 bits at most.
fn divide(number: u64, length: u16) -> (u32, u32) {
    let length = u32::from(length.max(1));
    let (mut quotient, mut remainder) = (0, 0);
    for shift in [48, 32, 16, 0] {
        let part = (remainder << 16) | ((number >> shift) as u32 & 0xffff);
        (quotient, remainder) = ((quotient << 16) | (part / length), part % length);
    }
    (quotient, remainder)
}

/// The slot of a slotframe of `length` in which a device sends its beacon.
fn slot_of(device: Eui64, length: u16) -> u32 {
    divide(u64::from_be_bytes(device.0), length).1
}

/// How many slots it is from `asn` to the next that is the slot `slot` of a slotframe of `length`, 0 if it is that itself.
fn until(asn: Asn, length: u16, slot: u32) -> u32 {
    let (_, position) = divide(asn.number(), length);
    let length = u32::from(length.max(1));
    (slot + length - position) % length
}

/// The slot of the `n`th slotframe of `length` in which a device listens for what is for it alone: any, as if by chance.
fn drawn(device: Eui64, n: u32, length: u32) -> u32 {
    let [.., a, b, c, d] = device.0;
    let mixed = (u32::from_be_bytes([a, b, c, d]) ^ n.wrapping_mul(0x9e37_79b1)).wrapping_mul(0x85eb_ca6b);
    ((mixed ^ mixed >> 15).wrapping_mul(0xc2b2_ae35) >> 16) % length
}

/// How many slots it is from `asn` to the next in which a device listens for what is for it alone, or to the next that is `later` by so many.
fn until_drawn(asn: Asn, length: u16, device: Eui64, later: u32) -> u32 {
    let (n, position) = divide(asn.number(), length);
    let length = u32::from(length.max(1));
    let slot = (drawn(device, n, length) + later) % length;
    match slot.checked_sub(position) {
        Some(slots) => slots,
        None => length - position + (drawn(device, n.wrapping_add(1), length) + later) % length,
    }
}

impl Slotframes {
    /// How many slots it is to the next in which a device sends to the neighbour `to`.
    fn until_to(asn: Asn, station: &Station, to: Eui64, length: u16) -> u32 {
        match station.coordinator == Some(to) {
            // In its own it listens.
            true => until_drawn(asn, length, station.own, u32::from(length / 2)),
            false => until_drawn(asn, length, to, 0),
        }
    }

    /// What a device may do in a slot, if anything, when it has frames for the neighbours `waiting`.
    pub(super) fn cell(
        &self,
        asn: Asn,
        station: &Station,
        mut waiting: impl Iterator<Item = Eui64>,
    ) -> Option<Cell> {
        let is_of = |length, device| until(asn, length, slot_of(device, length)) == 0;
        if until(asn, self.shared, 0) == 0 {
            return Some(Cell::Shared);
        }
        if let Some(length) = self.beacons {
            if station.tells && is_of(length, station.own) {
                return Some(Cell::Beacon);
            }
            if station.time_source.is_some_and(|device| is_of(length, device)) {
                return Some(Cell::TimeSource);
            }
        }
        let length = self.unicast?;
        let listens = station.is_coordinator || until_drawn(asn, length, station.own, 0) == 0;
        let sends = waiting.any(|to| Self::until_to(asn, station, to, length) == 0);
        (listens || sends).then_some(Cell::Unicast { listens })
    }

    /// Whether a slot that is none of the other slotframes is one to send to this neighbour in.
    pub(super) fn leads_to(&self, asn: Asn, station: &Station, to: Eui64) -> bool {
        self.unicast.is_none_or(|length| Self::until_to(asn, station, to, length) == 0)
    }

    /// The channel of beacons, and of frames to all.
    pub(super) const fn channel(asn: Asn) -> u8 {
        HOPPING[(asn.number() % HOPPING.len() as u64) as usize]
    }

    /// The channel on which a device receives what is for it alone.
    pub(super) fn channel_to(asn: Asn, device: Eui64) -> u8 {
        let offset = 1 + slot_of(device, UNICAST_OFFSETS);
        HOPPING[(asn.number().wrapping_add(offset.into()) % HOPPING.len() as u64) as usize]
    }

    /// The first slot from `asn` on for which [`Slotframes::cell`] gives something.
    pub(super) fn next(
        &self,
        asn: Asn,
        station: &Station,
        waiting: impl Iterator<Item = Eui64>,
    ) -> Option<Asn> {
        let mut slots = until(asn, self.shared, 0);
        if let Some(length) = self.beacons {
            let told = station.tells.then_some(station.own);
            for device in [told, station.time_source].into_iter().flatten() {
                slots = slots.min(until(asn, length, slot_of(device, length)));
            }
        }
        if let Some(length) = self.unicast {
            if station.is_coordinator {
                return Some(asn);
            }
            slots = slots.min(until_drawn(asn, length, station.own, 0));
            for to in waiting {
                slots = slots.min(Self::until_to(asn, station, to, length));
            }
        }
        asn.after(slots.into())
    }
}

/// The channel on which a device that has not joined listens, the `n`th time.
pub(super) const fn scanned(n: u8) -> u8 {
    HOPPING[(n % 16) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWN: Eui64 = Eui64([0, 0, 0, 0, 0, 0, 0, 5]);
    const OTHER: Eui64 = Eui64([0, 0, 0, 0, 0, 0, 0, 9]);

    fn asn(number: u64) -> Asn {
        Asn::new(number).unwrap()
    }

    fn station(own: Eui64) -> Station {
        Station { own, is_coordinator: false, coordinator: None, time_source: None, tells: true }
    }

    proptest! {
        #[test]
        fn numbers_are_divided_as_whole_ones_are(number: u64, length in 1..=u16::MAX) {
            let (quotient, remainder) = divide(number, length);
            let whole = u64::from(length);
            prop_assert_eq!((quotient, u64::from(remainder)), ((number / whole) as u32, number % whole));
        }
    }

    #[test]
    fn the_next_slot_is_the_first_with_a_link() {
        for (beacons, unicast) in [(None, None), (None, Some(7)), (Some(13), Some(31)), (Some(13), None)] {
            let slotframes = Slotframes { shared: 11, beacons, unicast };
            for waiting in [None, Some(OTHER)] {
                for coordinator in [None, Some(OTHER)] {
                    let station = Station { coordinator, time_source: coordinator, ..station(OWN) };
                    for from in (0..800).map(asn) {
                        let next = slotframes.next(from, &station, waiting.into_iter()).unwrap();
                        let is_cell =
                            |asn: &Asn| slotframes.cell(*asn, &station, waiting.into_iter()).is_some();
                        let first = (from.number()..).map(asn).find(is_cell);
                        assert_eq!(Some(next), first, "{slotframes:?} {from:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn who_sends_to_one_meets_it_listening_on_the_same_channel() {
        let slotframes = Slotframes { shared: 11, beacons: Some(13), unicast: Some(7) };
        for is_coordinator in [false, true] {
            let sender = Station { coordinator: is_coordinator.then_some(OTHER), ..station(OWN) };
            let receiver = Station { is_coordinator, ..station(OTHER) };
            let mut met = 0;
            for slot in (0..11 * 13 * 7 * 16).map(asn) {
                let cell = slotframes.cell(slot, &sender, [OTHER].into_iter());
                let sends =
                    matches!(cell, Some(Cell::Unicast { .. })) && slotframes.leads_to(slot, &sender, OTHER);
                if !sends {
                    continue;
                }
                match slotframes.cell(slot, &receiver, [].into_iter()) {
                    Some(Cell::Unicast { listens }) => {
                        assert!(listens, "{slot:?}");
                        met += 1;
                    }
                    cell => assert_eq!(cell, Some(Cell::Beacon), "{slot:?}"),
                }
            }
            assert!(met > 1700, "{met} of 2288: all but those of other slotframes");
        }
    }

    #[test]
    fn no_two_devices_have_the_same_slot_for_long() {
        for (a, b) in (1..60u8).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let device = |n: u8| Eui64([2, 0x12, 0x74, 0, 0, 0, 0, n]);
            let same = (0..1700).filter(|&n| drawn(device(a), n, 17) == drawn(device(b), n, 17)).count();
            assert!((50..160).contains(&same), "{a} and {b}: in {same} of 1700 slotframes");
        }
        for device in [OWN, OTHER] {
            let mut times = [0; 17];
            (0..1700).for_each(|n| times[drawn(device, n, 17) as usize] += 1);
            assert!(times.iter().all(|times| (50..160).contains(times)), "{times:?}");
        }
    }

    #[test]
    fn a_beacon_is_heard_by_those_whose_time_it_tells() {
        let slotframes = Slotframes { shared: 11, beacons: Some(13), unicast: Some(7) };
        let child = Station { time_source: Some(OTHER), ..station(OWN) };
        let mut met = 0;
        for slot in (0..11 * 13 * 7).map(asn) {
            if slotframes.cell(slot, &station(OTHER), [].into_iter()) == Some(Cell::Beacon) {
                assert_eq!(slotframes.cell(slot, &child, [].into_iter()), Some(Cell::TimeSource));
                met += 1;
            }
        }
        assert_eq!(met, 10 * 7);
    }

    #[test]
    fn all_share_a_slot_and_hop_over_all_channels() {
        let slotframes = Slotframes { shared: 101, beacons: None, unicast: None };
        let mut channels = [0; 27];
        for frame in 0..16 {
            let cell = slotframes.cell(asn(frame * 101), &station(OWN), [].into_iter());
            assert_eq!(cell, Some(Cell::Shared));
            channels[usize::from(Slotframes::channel(asn(frame * 101)))] += 1;
        }
        assert!(channels[11..].iter().all(|&times| times == 1), "{channels:?}");
    }
}
