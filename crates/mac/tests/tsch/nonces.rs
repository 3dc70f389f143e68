//! No device uses the number of a slot twice with a key, whatever becomes of it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sixlock_base::{Eui64, LinkSuite};
use sixlock_ieee802154::enhanced::Asn;
use sixlock_mac::tsch::Slotframes;

use crate::air::Air;
use crate::join::SHARED;

const UNICAST: Slotframes = Slotframes { shared: 11, beacons: None, unicast: Some(7) };

#[test]
fn a_coordinator_that_reboots_counts_on() {
    let mut air = Air::new(&[0, 0], Some(LinkSuite::Ccm32), SHARED);
    air.run(300);
    let before = air.devices[0].machine.asn();
    assert!(air.start(0));
    assert!(air.devices[0].machine.asn() > before);
    air.run(400);
    assert!(air.have_joined());
    assert!(air.devices[1].machine.asn() > before);
}

#[test]
fn a_device_that_reboots_is_silent_until_the_slots_are_new() {
    let mut air = Air::new(&[0, 0], Some(LinkSuite::Ccm32), UNICAST);
    air.run(100);
    assert!(air.have_joined());
    air.send(1, Eui64::of_node(0), b"before");
    air.run(10);
    assert_eq!(air.delivered.len(), 1);
    assert!(air.start(1));
    air.run(20);
    air.send(1, Eui64::of_node(0), b"after");
    let sent_by_it = |air: &Air| air.sent.iter().filter(|sent| sent.from == 1).count();
    let before = sent_by_it(&air);
    while air.devices[1].machine.asn() < Asn::new((1 << 14) - 100).unwrap() {
        air.run(1);
        assert_eq!(sent_by_it(&air), before);
    }
    air.run(20);
    assert_eq!(air.delivered.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Also if an attacker replays beacons, so that who joins counts slots that were before.
    #[test]
    fn no_slot_is_used_twice(
        reboots in proptest::collection::vec((0usize..3, 1u64..90), 1..8),
        silence in 0u64..60,
        replays in any::<bool>(),
        ppm in proptest::array::uniform3(-40i64..=40),
    ) {
        let mut air = Air::new(&ppm, Some(LinkSuite::Ccm32), UNICAST);
        let mut used = BTreeSet::new();
        let mut seen = 0;
        for (id, seconds) in reboots {
            for _ in 0..seconds {
                for from in [1, 2] {
                    if air.devices[from].machine.can_send() {
                        air.send(from, Eui64::of_node(0), b"reading");
                    }
                }
                air.run(1);
            }
            let now = air.now;
            air.linked = Box::new(move |_, _, at| at > now + silence * crate::air::SECOND);
            prop_assert!(air.start(id));
            air.run(0);
            let recorded = air.sent.iter().find(|sent| sent.frame[0] & 7 == 0).cloned();
            if let Some(beacon) = recorded.filter(|_| replays) {
                air.run(1);
                air.replay(&beacon);
            }
            for sent in &air.sent[seen..] {
                prop_assert!(used.insert((sent.from, sent.asn)), "{sent:?}");
            }
            seen = air.sent.len();
        }
    }
}
