//! Joining, keeping time, and losing the network.

use sixlock_base::{Counter, Eui64, LinkSuite};
use sixlock_ieee802154::enhanced::{Timeslot, TimeslotTimes};
use sixlock_mac::tsch::Slotframes;

use crate::air::{Air, SECOND};

pub(crate) const SHARED: Slotframes = Slotframes { shared: 101, beacons: None, unicast: None };

#[test]
fn a_device_joins_by_a_beacon_and_counts_the_same_slots() {
    for suite in [None, Some(LinkSuite::Ccm32), Some(LinkSuite::CbcMac64)] {
        let mut air = Air::new(&[0, 40, -40], suite, SHARED);
        assert!(!air.have_joined());
        air.run(400);
        assert!(air.have_joined(), "{suite:?}");
        for device in &air.devices[1..] {
            assert_eq!(device.machine.time_source(), Some(Eui64::of_node(0)));
            let ahead = device.machine.asn().number().abs_diff(air.devices[0].machine.asn().number());
            assert!(ahead <= 101, "{ahead} slots apart");
            assert_eq!(device.rig.count(Counter::MacMalformed), 0);
            assert_eq!(device.rig.count(Counter::MacBadMic), 0);
        }
    }
}

#[test]
fn time_is_kept_by_beacons_or_by_asking() {
    for by_beacons in [true, false] {
        let mut air = Air::new(&[40, -40], Some(LinkSuite::Ccm32), SHARED);
        air.run(400);
        assert!(air.have_joined());
        air.no_beacons = (!by_beacons).then_some(air.now);
        air.sent.clear();
        let scanned = air.devices[1].radio_on;
        air.run(3_600);
        assert!(air.have_joined());
        let asked = air.sent.iter().filter(|sent| sent.from == 1).count();
        assert_eq!(asked > 300, !by_beacons, "{asked}");
        let share = (air.devices[1].radio_on - scanned) as f64 / (3_600 * SECOND) as f64;
        assert!((0.001..0.005).contains(&share), "{share}");
    }
}

#[test]
fn who_hears_nothing_any_more_has_lost_the_network_and_finds_it_again() {
    let mut air = Air::new(&[0, 40], Some(LinkSuite::Ccm32), SHARED);
    air.run(300);
    assert!(air.have_joined());
    let silent = air.now;
    air.linked = Box::new(move |_, _, at| at < silent || at > silent + 60 * SECOND);
    air.run(20);
    assert!(!air.devices[1].machine.has_joined());
    assert_eq!(air.devices[1].machine.time_source(), None);
    air.run(400);
    assert!(air.have_joined());
}

#[test]
fn who_finds_no_network_looks_for_one_ever_more_rarely() {
    const HOUR: u64 = 3_600;
    let mut air = Air::new(&[0, 40], None, SHARED);
    air.run(300);
    assert!(air.have_joined());
    let silent = air.now;
    air.linked = Box::new(move |_, _, at| at < silent || at > silent + 4 * HOUR * SECOND);
    air.run(HOUR);
    let on = air.devices[1].radio_on;
    air.run(3 * HOUR);
    let share = (air.devices[1].radio_on - on) as f64 / (3 * HOUR * SECOND) as f64;
    assert!((0.06..0.12).contains(&share), "{share}");
    assert!(!air.devices[1].machine.has_joined());
    air.run(HOUR / 2);
    assert!(air.have_joined(), "it goes on");
}

#[test]
fn only_who_knows_how_near_the_coordinator_is_sends_beacons() {
    let mut air = Air::new(&[0, 0, 0], Some(LinkSuite::Ccm32), SHARED);
    // The third hears the second alone.
    air.linked = Box::new(|from, to, _| from.abs_diff(to) == 1);
    air.run(400);
    assert!(air.devices[1].machine.has_joined());
    assert!(!air.devices[2].machine.has_joined());
    air.devices[1].machine.set_join_metric(Some(1));
    air.run(600);
    assert!(air.have_joined());
    assert_eq!(air.devices[2].machine.time_source(), Some(Eui64::of_node(1)));
}

#[test]
fn beacons_of_other_networks_and_without_the_key_are_not_followed() {
    let mut air = Air::new(&[0, 0], Some(LinkSuite::Ccm32), SHARED);
    air.devices[1].config.pan_id = 0x1234;
    assert!(air.start(1));
    air.run(200);
    assert!(!air.have_joined());
    air.devices[1].config.pan_id = crate::air::PAN;
    air.devices[1].config.security.as_mut().unwrap().key[0] ^= 1;
    assert!(air.start(1));
    air.run(200);
    assert!(!air.have_joined());
    assert!(air.devices[1].rig.count(Counter::MacBadMic) > 0);
    air.devices[1].config.security = None;
    assert!(air.start(1));
    air.run(200);
    assert!(!air.have_joined(), "who secures nothing does not join a network that does");
}

/// A device that looks for a network cannot tell that a beacon is old. It hears nothing in the slots that it counts by it, and looks again.
#[test]
fn a_beacon_that_is_replayed_costs_a_joined_device_nothing_and_another_seconds() {
    let mut air = Air::new(&[0, 10, 20], Some(LinkSuite::Ccm32), SHARED);
    air.run(400);
    assert!(air.have_joined());
    let beacon = air.sent.iter().find(|sent| sent.frame[0] & 7 == 0).cloned().unwrap();
    let before = air.now;
    assert!(air.start(2));
    while air.now < before + 30 * SECOND {
        air.run(1);
        air.replay(&beacon);
    }
    air.run(400);
    assert!(air.have_joined());
    let [coordinator, joined, newcomer] = [0, 1, 2].map(|id| air.devices[id].machine.asn().number());
    assert!(coordinator.abs_diff(joined) <= 101 && coordinator.abs_diff(newcomer) <= 101);
    assert!(
        air.devices[1].rig.count(Counter::MacBadMic) + air.devices[1].rig.count(Counter::MacReplayed) <= 60
    );
}

#[test]
fn a_suite_without_a_mic_is_refused() {
    let mut air = Air::new(&[0], None, SHARED);
    air.devices[0].config = crate::air::config(0, Some(LinkSuite::Ctr));
    assert!(!air.start(0));
    assert_eq!(air.devices[0].machine.poll_timeout(), None);
}

#[test]
fn the_times_of_a_slot_are_those_of_the_coordinators_beacon() {
    let mut air = Air::new(&[40, -40], Some(LinkSuite::Ccm32), SHARED);
    let times = TimeslotTimes {
        tx_offset: 3180,
        rx_offset: 1680,
        rx_ack_delay: 1200,
        tx_ack_delay: 1500,
        rx_wait: 3300,
        ack_wait: 600,
        timeslot_length: 15_008,
        ..TimeslotTimes::DEFAULT
    };
    air.devices[0].slots.timeslot = Timeslot { template: 1, times: Some(times) };
    assert!(air.start(0));
    air.run(600);
    assert!(air.have_joined());
    air.send(1, Eui64::of_node(0), b"in longer slots");
    air.run(10);
    assert_eq!(air.delivered.len(), 1);
    let slots = air.devices[1].machine.asn().number();
    assert!((610 * 1_000 / 15 - 400..610 * 1_000 / 15 + 400).contains(&slots), "{slots}");
}
