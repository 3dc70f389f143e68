//! Which links a device has in a slot, and on which channel.

use sixlock_base::Eui64;
use sixlock_ieee802154::enhanced::Asn;

/// The channels of 2.4 GHz in the order of the default hopping sequence (macHoppingSequenceId 0; 6.2.10 of IEEE 802.15.4-2015).
const HOPPING: [u8; 16] = [16, 17, 23, 18, 26, 15, 25, 22, 19, 11, 12, 13, 24, 14, 20, 21];

/// The channel offset of the links to one neighbour; that of the shared link is 0.
const UNICAST_OFFSET: u64 = 1;

/// The slotframes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slotframes {
    /// The length in slots of the one whose first slot all devices share: for beacons, and for frames to all
    /// ([RFC 8180 section 4.1](https://www.rfc-editor.org/rfc/rfc8180#section-4.1)).
    pub shared: u16,
    /// The length in slots of the one in which each device listens in one slot that follows from its address, and others send to it (the
    /// receiver-based rule of Orchestra). Without, frames to one neighbour go in the shared slot, too.
    pub unicast: Option<u16>,
}

/// What a device may do in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) channel: u8,
    /// Whether it may send beacons and frames to all.
    pub(super) sends_to_all: bool,
    /// Whether it may send a frame to the neighbour that was asked for.
    pub(super) sends_to_one: bool,
    /// Whether it listens if it does not send.
    pub(super) listens: bool,
}

/// The slot of a slotframe of `length` in which a device listens.
fn slot_of(device: Eui64, length: u16) -> u64 {
    u64::from_be_bytes(device.0) % u64::from(length.max(1))
}

/// How many slots it is from `asn` to the next that is the slot `slot` of a slotframe of `length`, 0 if it is that itself.
fn until(asn: Asn, length: u16, slot: u64) -> u64 {
    let length = u64::from(length.max(1));
    (slot % length + length - asn.number() % length) % length
}

impl Slotframes {
    /// What the device `own` may do in a slot, if anything; `to` is the neighbour that its next frame is for.
    pub(super) fn cell(&self, asn: Asn, own: Eui64, to: Option<Eui64>) -> Option<Cell> {
        let is_shared = until(asn, self.shared, 0) == 0;
        let is_of = |device: Eui64| {
            self.unicast.is_some_and(|length| until(asn, length, slot_of(device, length)) == 0)
        };
        let (listens, sends_to_one) = (is_of(own), to.is_some_and(is_of));
        if !is_shared && !listens && !sends_to_one {
            return None;
        }
        // In a slot of both slotframes, who may send to one does so.
        let is_unicast = self.unicast.is_some() && !is_shared;
        let offset = if is_unicast { UNICAST_OFFSET } else { 0 };
        Some(Cell {
            channel: HOPPING[(asn.number().wrapping_add(offset) % 16) as usize],
            sends_to_all: is_shared,
            sends_to_one: if self.unicast.is_some() { sends_to_one && !is_shared } else { is_shared },
            listens: is_shared || listens,
        })
    }

    /// The first slot from `asn` on for which [`Slotframes::cell`] gives something.
    pub(super) fn next(&self, asn: Asn, own: Eui64, to: Option<Eui64>) -> Option<Asn> {
        let mut slots = until(asn, self.shared, 0);
        if let Some(length) = self.unicast {
            for device in [Some(own), to].into_iter().flatten() {
                slots = slots.min(until(asn, length, slot_of(device, length)));
            }
        }
        asn.after(slots)
    }
}

/// The channel on which a device that has not joined listens, the `n`th time.
pub(super) const fn scanned(n: u8) -> u8 {
    HOPPING[(n % 16) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Eui64 = Eui64([0, 0, 0, 0, 0, 0, 0, 5]);
    const OTHER: Eui64 = Eui64([0, 0, 0, 0, 0, 0, 0, 9]);

    fn asn(number: u64) -> Asn {
        Asn::new(number).unwrap()
    }

    #[test]
    fn the_next_slot_is_the_first_with_a_link() {
        for unicast in [None, Some(7), Some(31)] {
            let slotframes = Slotframes { shared: 11, unicast };
            for to in [None, Some(OTHER)] {
                for from in (0..400).map(asn) {
                    let next = slotframes.next(from, OWN, to).unwrap();
                    let first =
                        (from.number()..).map(asn).find(|&asn| slotframes.cell(asn, OWN, to).is_some());
                    assert_eq!(Some(next), first, "{slotframes:?} {from:?}");
                }
            }
        }
    }

    #[test]
    fn who_sends_to_one_meets_it_listening_on_the_same_channel() {
        let slotframes = Slotframes { shared: 11, unicast: Some(7) };
        let mut met = 0;
        for slot in (0..11 * 7 * 16).map(asn) {
            let Some(sender) = slotframes.cell(slot, OWN, Some(OTHER)).filter(|cell| cell.sends_to_one)
            else {
                continue;
            };
            let receiver = slotframes.cell(slot, OTHER, None).unwrap();
            assert!(receiver.listens, "{slot:?}");
            assert_eq!(sender.channel, receiver.channel, "{slot:?}");
            met += 1;
        }
        assert_eq!(met, 10 * 16, "all but those that are shared");
    }

    #[test]
    fn all_share_a_slot_and_hop_over_all_channels() {
        let slotframes = Slotframes { shared: 101, unicast: None };
        let mut channels = [0; 27];
        for frame in 0..16 {
            let cell = slotframes.cell(asn(frame * 101), OWN, None).unwrap();
            assert!(cell.sends_to_all && cell.sends_to_one && cell.listens);
            channels[usize::from(cell.channel)] += 1;
        }
        assert!(channels[11..].iter().all(|&times| times == 1), "{channels:?}");
    }
}
