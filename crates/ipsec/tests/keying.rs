//! Associations that are replaced while packets are on their way, that end, and that are not there yet.

use proptest::prelude::*;
use sixlock_base::{Counter, Duration, Instant};
use sixlock_ipsec::{
    Action, Association, AssociationId, Automated, ConfigError, Event, InboundError, InboundId, Lifetime,
    Limits, Mode, OutboundError, OutboundId, Policy, Protection, Selector,
};
use sixlock_testing::ipsec::{self, *};

/// A host that keeps two replaced associations.
type Peer = Machine<8, Automated<2>>;

/// A host and the associations that its one policy names.
struct End {
    host: Peer,
    outbound: OutboundId,
    inbound: InboundId,
}

/// The association of generation `n` in one direction; its keys follow from both.
fn generation(n: u32, to_bob: bool, lifetime: Lifetime) -> Association<Transform, Lifetime> {
    let (spi, seed) = if to_bob { (0x2000 + n, 2) } else { (0x1000 + n, 1) };
    let transform = transform("esp:ctr-xcbc", seed + 2 * n as u8);
    Association { lifetime, ..association(spi, Mode::Transport, true, transform) }
}

impl End {
    fn new(is_alice: bool, lifetime: Lifetime) -> Self {
        let mut host = Peer::new();
        let outbound = host.ipsec.add_outbound(generation(0, is_alice, lifetime)).unwrap();
        let inbound = host.ipsec.add_inbound(generation(0, !is_alice, lifetime)).unwrap();
        host.ipsec.add_policy(policy(Action::Protect(Protection::by(outbound, inbound)))).unwrap();
        Self { host, outbound, inbound }
    }

    fn pair(lifetime: Lifetime) -> [Self; 2] {
        [true, false].map(|is_alice| Self::new(is_alice, lifetime))
    }

    /// The next event for the key exchange.
    fn event(&mut self) -> Option<Event> {
        let is_for_log = |event: &Event| matches!(event, Event::Refused(_));
        std::iter::from_fn(|| self.host.ipsec.poll_event()).find(|event| !is_for_log(event))
    }
}

/// Packets that were replaced on their way: those of `packets` that `keep` says, ordered by `order`.
fn travel<T>(packets: Vec<T>, order: &[u16], lost: &[bool]) -> Vec<T> {
    let keys = order.iter().copied().cycle().zip(lost.iter().copied().cycle());
    let mut kept: Vec<_> = packets.into_iter().zip(keys).filter(|(_, (_, lost))| !lost).collect();
    kept.sort_by_key(|(_, (at, _))| *at);
    kept.into_iter().map(|(packet, _)| packet).collect()
}

proptest! {
    /// In each round Alice sends, Bob makes room for new keys, Alice sends under these, and all of it arrives in some order, some of it
    /// twice.
    #[test]
    fn no_packet_is_lost_because_keys_are_replaced_and_none_is_let_in_twice(
        rounds in prop::collection::vec((0usize..20, 0usize..20), 1..6),
        order in prop::collection::vec(any::<u16>(), 1..40),
        lost in prop::collection::vec(prop::bool::weighted(0.2), 1..40),
    ) {
        let [mut alice, mut bob] = End::pair(Lifetime::default());
        let (mut sealed, mut replaced) = (Vec::new(), None);
        let mut said = 0u32;
        for (n, (before, after)) in rounds.into_iter().enumerate() {
            let n = n as u32 + 1;
            let mut send = |alice: &mut End, count| for _ in 0..count {
                said += 1;
                let plain = udp_packet(&said.to_be_bytes());
                sealed.push((alice.host.send(&plain).unwrap(), plain));
            };
            send(&mut alice, before);
            // What the round before has sent has arrived, or never will.
            if let Some(old) = replaced.take() {
                bob.host.ipsec.remove_inbound(old).unwrap();
            }
            let next = generation(n, true, Lifetime::default());
            replaced = Some(bob.host.ipsec.replace_inbound(bob.inbound, next).unwrap());
            alice.host.ipsec.replace_outbound(alice.outbound, generation(n, true, Lifetime::default())).unwrap();
            send(&mut alice, after);
            let arriving = travel(std::mem::take(&mut sealed), &order, &lost);
            for (packet, plain) in &arriving {
                prop_assert_eq!(bob.host.receive(packet), Ok(plain.clone()));
            }
            for (packet, _) in &arriving {
                prop_assert_eq!(bob.host.receive(packet), Err(InboundError::Replayed));
            }
        }
    }

    /// Whatever is done to associations, also to go back to earlier keys: no number goes out twice.
    #[test]
    fn no_sequence_number_goes_out_twice_whatever_is_replaced_or_added_anew(
        steps in prop::collection::vec((0u8..3, 0u32..3, prop::sample::select(vec![0, 1, 3, 1023, 1025])), 1..8),
    ) {
        let [mut alice, _] = End::pair(Lifetime::default());
        let mut numbers = std::collections::BTreeSet::new();
        for (what, n, count) in steps {
            let next = generation(n, true, Lifetime::default());
            match what {
                0 => alice.host.ipsec.replace_outbound(alice.outbound, next).unwrap(),
                1 => {
                    let selector = Selector::ANY;
                    alice.host.ipsec.change_policy(&selector, Action::Acquire).unwrap();
                    alice.host.ipsec.remove_outbound(alice.outbound).unwrap();
                    alice.outbound = alice.host.ipsec.add_outbound(next).unwrap();
                    let action = Action::Protect(Protection::by(alice.outbound, alice.inbound));
                    alice.host.ipsec.change_policy(&selector, action).unwrap();
                }
                _ => {}
            }
            for _ in 0..count {
                let packet = alice.host.send(&udp_packet(b"reading")).unwrap();
                // The initialization vector is the whole number.
                prop_assert!(numbers.insert(packet[48..56].to_vec()));
            }
        }
    }
}

#[test]
fn windows_of_an_association_and_its_successor_are_separate() {
    let [mut alice, mut bob] = End::pair(Lifetime::default());
    let early = alice.host.send(&udp_packet(b"early")).unwrap();
    bob.host.ipsec.replace_inbound(bob.inbound, generation(1, true, Lifetime::default())).unwrap();
    alice.host.ipsec.replace_outbound(alice.outbound, generation(1, true, Lifetime::default())).unwrap();
    for _ in 0..200 {
        bob.host.receive(&alice.host.send(&udp_packet(b"late")).unwrap()).unwrap();
    }
    // 200 numbers are more than a window of 64.
    assert_eq!(bob.host.receive(&early), Ok(udp_packet(b"early")));
    assert_eq!(bob.host.receive(&early), Err(InboundError::Replayed));
}

#[test]
fn what_was_replaced_is_let_in_until_it_is_removed_and_no_longer() {
    let [mut alice, mut bob] = End::pair(Lifetime::default());
    let [first, second, third] = [0; 3].map(|_| alice.host.send(&udp_packet(b"early")).unwrap());
    let mut replace =
        |n| bob.host.ipsec.replace_inbound(bob.inbound, generation(n, true, Lifetime::default()));
    assert_eq!(replace(0), Err(ConfigError::SpiTaken));
    let old = replace(1).unwrap();
    let older = replace(2).unwrap();
    assert_ne!(old, older);
    assert_eq!(replace(0), Err(ConfigError::SpiTaken), "it is kept");
    assert_eq!(replace(3), Err(ConfigError::Full));
    assert_eq!(bob.host.receive(&first), Ok(udp_packet(b"early")));
    bob.host.ipsec.remove_inbound(older).unwrap();
    assert_eq!(bob.host.receive(&second), Ok(udp_packet(b"early")), "it is the other one");
    bob.host.ipsec.remove_inbound(old).unwrap();
    assert_eq!(bob.host.receive(&third), Err(InboundError::NoAssociation));
    assert_eq!(bob.host.ipsec.remove_inbound(old), Err(ConfigError::NoAssociation));
}

#[test]
fn an_association_is_removed_when_no_policy_names_it_with_those_that_it_replaced() {
    let [mut alice, mut bob] = End::pair(Lifetime::default());
    let early = alice.host.send(&udp_packet(b"early")).unwrap();
    let ipsec = &mut bob.host.ipsec;
    ipsec.replace_inbound(bob.inbound, generation(1, true, Lifetime::default())).unwrap();
    assert_eq!(ipsec.remove_inbound(bob.inbound), Err(ConfigError::InUse));
    assert_eq!(ipsec.remove_outbound(bob.outbound), Err(ConfigError::InUse));
    ipsec.remove_policy(&Selector::ANY).unwrap();
    assert_eq!(ipsec.remove_policy(&Selector::ANY), Err(ConfigError::NoPolicy));
    assert_eq!(ipsec.change_policy(&Selector::ANY, Action::Bypass), Err(ConfigError::NoPolicy));
    ipsec.remove_inbound(bob.inbound).unwrap();
    ipsec.remove_outbound(bob.outbound).unwrap();
    let gone = ipsec.replace_inbound(bob.inbound, generation(2, true, Lifetime::default()));
    assert_eq!(gone, Err(ConfigError::NoAssociation));
    let gone = ipsec.replace_outbound(bob.outbound, generation(2, false, Lifetime::default()));
    assert_eq!(gone, Err(ConfigError::NoAssociation));
    assert_eq!(bob.host.receive(&early), Err(InboundError::NoAssociation));
}

#[test]
fn policies_keep_their_order_when_one_is_removed() {
    let mut host = Peer::new();
    let selector = |protocol| Selector { protocol, ..Selector::ANY };
    let policies = [(Some(6), Action::Bypass), (Some(17), Action::Discard), (None, Action::Bypass)];
    for (protocol, action) in policies {
        host.ipsec.add_policy(Policy { selector: selector(protocol), action }).unwrap();
    }
    let packet = udp_packet(b"reading");
    host.ipsec.remove_policy(&selector(Some(6))).unwrap();
    assert_eq!(host.send(&packet), Err(OutboundError::Discarded));
    host.ipsec.add_policy(Policy { selector: selector(Some(6)), action: Action::Discard }).unwrap();
    host.ipsec.remove_policy(&selector(Some(17))).unwrap();
    assert_eq!(host.send(&packet), Ok(packet));
}

#[test]
fn a_replacement_is_as_safe_as_policy_demands() {
    let [mut alice, _] = End::pair(Lifetime::default());
    let forgeable = || Association {
        spi: 9,
        mode: Mode::Transport,
        extended: true,
        lifetime: Lifetime::default(),
        address: None,
        transform: transform("esp:ctr", 9),
    };
    let ipsec = &mut alice.host.ipsec;
    assert_eq!(ipsec.replace_outbound(alice.outbound, forgeable()), Err(ConfigError::Unauthenticated));
    assert_eq!(ipsec.replace_inbound(alice.inbound, forgeable()), Err(ConfigError::Unauthenticated));
}

#[test]
fn lifetimes_are_told_once_by_what_is_reached_and_end_both_directions() {
    let limits = |packets| Limits { packets: Some(packets), ..Limits::default() };
    let [mut alice, mut bob] = End::pair(Lifetime { soft: limits(2), hard: limits(3) });
    let to_bob = AssociationId::Outbound(alice.outbound);
    let from_alice = AssociationId::Inbound(bob.inbound);
    let events = [None, Some(Event::Expiring as fn(_) -> _), Some(Event::Expired as fn(_) -> _)];
    for event in events {
        let packet = alice.host.send(&udp_packet(b"reading")).unwrap();
        assert_eq!(alice.event(), event.map(|event| event(to_bob)));
        assert_eq!(alice.event(), None);
        bob.host.receive(&packet).unwrap();
        assert_eq!(bob.event(), event.map(|event| event(from_alice)));
    }
    assert_eq!(alice.host.send(&udp_packet(b"reading")), Err(OutboundError::Expired));
    assert_eq!(alice.event(), None);
    alice.host.ipsec.replace_outbound(alice.outbound, generation(0, true, Lifetime::default())).unwrap();
    let late = alice.host.send(&udp_packet(b"reading")).unwrap();
    assert_eq!(bob.host.receive(&late), Err(InboundError::Expired));
    assert_eq!(bob.host.count(Counter::IpsecExpired), 1);
}

#[test]
fn time_alone_ends_associations_and_replaced_ones_too() {
    let at = |millis| Limits { at: Some(Instant::from_millis(millis)), ..Limits::default() };
    let [_, mut bob] = End::pair(Lifetime { soft: at(1000), hard: at(5000) });
    let next = generation(1, true, Lifetime { hard: at(3000), ..Lifetime::default() });
    let old = bob.host.ipsec.replace_inbound(bob.inbound, next).unwrap();
    let mut told = Vec::new();
    while let Some(now) = bob.host.ipsec.poll_timeout() {
        bob.host.ipsec.handle_timeout(now);
        while let Some(event) = bob.event() {
            told.push((now.millis(), event));
        }
    }
    let [outbound, old] = [AssociationId::Outbound(bob.outbound), AssociationId::Inbound(old)];
    let expected = [
        (1000, Event::Expiring(outbound)),
        (1000, Event::Expiring(old)),
        (3000, Event::Expired(AssociationId::Inbound(bob.inbound))),
        (5000, Event::Expired(outbound)),
        (5000, Event::Expired(old)),
    ];
    assert_eq!(told, expected);
    bob.host.rig.now = Instant::from_millis(5000) + Duration::from_millis(1 << 31);
    assert_eq!(bob.host.send(&udp_packet(b"reading")), Err(OutboundError::Expired));
}

#[test]
fn a_packet_without_an_association_asks_for_one_until_it_is_there() {
    let [mut alice, mut bob] = End::pair(Lifetime::default());
    alice.host.ipsec.change_policy(&Selector::ANY, Action::Acquire).unwrap();
    let packet = udp_packet(b"reading");
    for _ in 0..2 {
        assert_eq!(alice.host.send(&packet), Err(OutboundError::NoAssociation));
    }
    let Some(Event::Acquire(flow)) = alice.event() else { panic!("it asks") };
    assert_eq!((flow.local, flow.remote, flow.ports), (ipsec::alice(), ipsec::bob(), Some((1000, 2000))));
    assert_eq!(alice.event(), None);
    assert_eq!(alice.host.send(&packet), Err(OutboundError::NoAssociation));
    assert!(matches!(alice.event(), Some(Event::Acquire(_))), "a later packet asks again");
    assert_eq!(alice.host.count(Counter::IpsecNotProtected), 3);
    let reply = bob.host.send(&packet).unwrap();
    assert_eq!(alice.host.receive(&reply), Err(InboundError::WrongAssociation));
    let action = Action::Protect(Protection::by(alice.outbound, alice.inbound));
    alice.host.ipsec.change_policy(&Selector::ANY, action).unwrap();
    assert_eq!(bob.host.receive(&alice.host.send(&packet).unwrap()), Ok(packet));
}
