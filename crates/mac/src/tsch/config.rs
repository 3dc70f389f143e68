use sixlock_ieee802154::enhanced::Timeslot;

use super::Slotframes;

/// What a [`Tsch`](super::Tsch) is told of its slots, beside what every MAC is told at its start: see [`Tsch::set_slots`](super::Tsch::set_slots).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TschConfig {
    /// Whether it is the network's coordinator, whose clock is the network's.
    pub is_coordinator: bool,
    /// The slotframes. A device that joins takes the length of the shared one from the beacon that it hears.
    pub slotframes: Slotframes,
    /// The times inside a slot, which a coordinator's network has. A device that joins takes those of the beacon.
    pub timeslot: Timeslot,
    /// From one beacon to the next, in slots, where they go in the shared slot; each is up to a quarter earlier, by chance.
    pub beacon_period: u16,
    /// For how many microseconds before and after a frame should begin a device listens that has just been told the time; without, for
    /// as long as the times of the slot say. The longer ago it was told, the longer it listens.
    pub guard: Option<u16>,
}

impl TschConfig {
    /// That of devices which are told nothing else, and join whom they hear.
    pub const DEVICE: Self = Self {
        is_coordinator: false,
        slotframes: Slotframes { shared: 101, beacons: Some(397), unicast: Some(17) },
        timeslot: Timeslot { template: 0, times: None },
        beacon_period: 101,
        guard: Some(160),
    };
}
