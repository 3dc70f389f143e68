//! A host.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Eui64, MESH_PREFIX, lollipop};
use sixlock_ipv6::nd::{
    ALL_NODES, ALL_ROUTERS, AddressRegistration, BorderRouter, Capabilities, Message, NdOption,
    NeighbourAdvertisement, PrefixInformation, Rovr, Status, solicited_node,
};
use sixlock_net::BROADCAST;
use sixlock_net::neighbour_discovery::{Error, Event, Settings};
use sixlock_testing::Rig;

use crate::bench::*;

fn host() -> Lone<TestHost> {
    let mut lone = Lone { machine: TestHost::new(), rig: Rig::near_wrap(7) };
    lone.machine.start(&mut lone.rig.cx(), node(HOST), &SETTINGS);
    lone
}

/// What the router `id` says.
fn from_router(id: u32, lifetime: u16, options: &[NdOption]) -> Packet {
    let options = [&[source_address(id)], options].concat();
    Packet::new(link_local(id), ALL_NODES, advertisement(lifetime), &options)
}

/// The same to the host alone: it has asked.
fn to_host(id: u32, lifetime: u16, options: &[NdOption]) -> Packet {
    Packet { destination: link_local(HOST), ..from_router(id, lifetime, options) }
}

fn usual(is_extended: bool) -> [NdOption; 3] {
    [
        capabilities(is_extended),
        NdOption::PrefixInformation(information(PREFIX, 86_400)),
        NdOption::Context(context(0, 600)),
    ]
}

/// The answer of the router `id` to the registration in `asked`.
fn answer(id: u32, asked: &Packet, status: Status) -> Packet {
    let Message::NeighbourSolicitation { target } = asked.message else { panic!("{asked:?}") };
    let registration = AddressRegistration { status, ..asked.registration().expect("a registration") };
    let message = NeighbourAdvertisement { router: true, solicited: true, overrides: false, target };
    let message = Message::NeighbourAdvertisement(message);
    Packet::new(link_local(id), asked.source, message, &[NdOption::AddressRegistration(registration)])
}

/// A host whose address is registered at the router.
fn registered(is_extended: bool) -> Lone<TestHost> {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(is_extended))).unwrap();
    for _ in 0..if is_extended { 2 } else { 1 } {
        let asked = lone.sole();
        lone.handle(ROUTER, &answer(ROUTER, &asked, Status::SUCCESS)).unwrap();
    }
    assert_eq!(lone.machine.address(), Some(global(HOST)));
    assert_eq!(lone.events(), [Event::Registered, Event::ContextsChanged]);
    lone
}

/// RFC 6775 section 5.3: 10 s three times, then twice as long each time, up to 60 s.
#[test]
fn routers_are_solicited_ever_more_rarely_from_the_address_on_the_link() {
    let mut lone = host();
    assert!(lone.wait() <= 1_024);
    for interval in [10, 10, 10, 20, 40, 60, 60, 60] {
        let [(Some(neighbour), solicitation)] = &lone.sent()[..] else { panic!() };
        assert_eq!(*neighbour, BROADCAST);
        assert_eq!((solicitation.source, solicitation.destination), (link_local(HOST), ALL_ROUTERS));
        assert_eq!((solicitation.message, solicitation.hop_limit), (Message::RouterSolicitation, 255));
        assert_eq!(solicitation.options[0], source_address(HOST));
        let waited = lone.wait();
        assert!((interval * 1_000..interval * 1_000 + 1_024).contains(&waited), "{interval}: {waited}");
    }
}

#[test]
fn hosts_that_start_at_once_solicit_at_different_times() {
    let times: Vec<_> = (0..20)
        .map(|seed| {
            let mut lone = Lone { machine: TestHost::new(), rig: Rig::seeded(seed) };
            lone.machine.start(&mut lone.rig.cx(), node(HOST), &SETTINGS);
            lone.wait()
        })
        .collect();
    assert!(times.iter().collect::<std::collections::BTreeSet<_>>().len() > 15, "{times:?}");
}

#[test]
fn an_address_is_made_of_the_prefix_that_is_told_and_used_when_it_is_registered() {
    for prefix in [PREFIX, OTHER_PREFIX, MESH_PREFIX] {
        let mut lone = host();
        let told = NdOption::PrefixInformation(information(prefix, 86_400));
        lone.handle(ROUTER, &from_router(ROUTER, 1_800, &[capabilities(true), told])).unwrap();
        let link_local_first = lone.sole();
        assert_eq!(link_local_first.message, Message::NeighbourSolicitation { target: link_local(HOST) });
        lone.handle(ROUTER, &answer(ROUTER, &link_local_first, Status::SUCCESS)).unwrap();
        assert_eq!(lone.machine.address(), None);
        let asked = lone.sole();
        assert_eq!(asked.message, Message::NeighbourSolicitation { target: node(HOST).with_prefix(prefix) });
        lone.handle(ROUTER, &answer(ROUTER, &asked, Status::SUCCESS)).unwrap();
        assert_eq!(lone.machine.address(), Some(node(HOST).with_prefix(prefix)));
        assert_eq!((lone.machine.prefix(), lone.machine.router()), (Some(prefix), Some(node(ROUTER))));
        assert_eq!(lone.events(), [Event::Registered]);
        // It waits now for the time to renew, and asks nobody.
        assert!(lone.sent().is_empty());
    }
}

/// RFC 8505 sections 4.1, 5.5 and 5.6.
#[test]
fn a_registration_in_the_extended_form_has_its_fields() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    let first = lone.sole();
    lone.handle(ROUTER, &answer(ROUTER, &first, Status::SUCCESS)).unwrap();
    let second = lone.sole();
    for (asked, transaction) in [(first, lollipop::FIRST + 1), (second, lollipop::FIRST + 2)] {
        assert_eq!((asked.source, asked.destination), (link_local(HOST), link_local(ROUTER)));
        assert_eq!(asked.options[0], source_address(HOST));
        let expected = registration(HOST, Some(transaction), 60);
        assert_eq!(asked.registration(), Some(AddressRegistration { wants_reachability: true, ..expected }));
        assert_eq!(asked.hop_limit, 255);
    }
}

/// RFC 6775 section 5.5.1, and RFC 8505 section 6.3: the option has the extended form nevertheless, of which such a router need not send
/// back what it does not know.
#[test]
fn at_a_router_of_rfc_6775_the_source_is_the_address_that_is_registered() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(false))).unwrap();
    let asked = lone.sole();
    assert_eq!((asked.source, asked.destination), (global(HOST), link_local(ROUTER)));
    assert_eq!(asked.message, Message::NeighbourSolicitation { target: link_local(ROUTER) });
    let expected = registration(HOST, Some(lollipop::FIRST + 1), 60);
    assert_eq!(asked.registration(), Some(AddressRegistration { wants_reachability: true, ..expected }));
    let older = Packet {
        options: vec![NdOption::AddressRegistration(registration(HOST, Some(lollipop::FIRST), 60))],
        ..answer(ROUTER, &asked, Status::SUCCESS)
    };
    assert_eq!(lone.handle(ROUTER, &older), Err(Error::Unasked));
    let plain = NdOption::AddressRegistration(registration(HOST, None, 60));
    let answer = Packet { options: vec![plain], ..answer(ROUTER, &asked, Status::SUCCESS) };
    lone.handle(ROUTER, &answer).unwrap();
    assert_eq!(lone.machine.address(), Some(global(HOST)));
}

#[test]
fn a_registration_is_renewed_before_its_lifetime_ends_with_the_next_transaction_id() {
    for is_extended in [true, false] {
        let mut lone = registered(is_extended);
        let mut since = 0;
        let asked = loop {
            since += lone.wait();
            let asked = lone.sent().into_iter().find(|(_, packet)| packet.registration().is_some());
            if let Some((_, asked)) = asked {
                break asked;
            }
            let told = to_host(ROUTER, 1_800, &usual(is_extended));
            lone.handle(ROUTER, &told).unwrap();
        };
        // Half of an hour, and up to a quarter more.
        assert!((1_800_000..2_700_000).contains(&since), "{since}");
        assert_eq!(lone.machine.address(), Some(global(HOST)), "it is registered still");
        let transaction = asked.registration().unwrap().transaction;
        assert_eq!(transaction, Some(lollipop::FIRST + if is_extended { 3 } else { 2 }));
        lone.handle(ROUTER, &answer(ROUTER, &asked, Status::SUCCESS)).unwrap();
        assert_eq!(lone.events(), [], "nothing that its application has to know");
    }
}

/// RFC 4861 section 7.2.2, RFC 6775 section 5.5.3: neighbour unreachability detection by registration.
#[test]
fn a_router_that_does_not_answer_is_given_up_and_another_asked() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    lone.handle(2, &from_router(2, 1_800, &usual(true))).unwrap();
    let asked = [lone.sent(), lone.pass(20)].concat();
    let to = |id| asked.iter().filter(|(neighbour, _)| *neighbour == Some(node(id))).count();
    assert_eq!((to(ROUTER), to(2)), (4, 3));
    let transactions: std::collections::BTreeSet<_> =
        asked.iter().map(|(_, packet)| packet.registration().unwrap().transaction).collect();
    assert_eq!(transactions.len(), 2, "who asks again uses the same");
    lone.pass(20);
    assert_eq!(lone.machine.router(), None);
    let all = lone.pass(70);
    assert!(
        all.iter().any(|(_, packet)| packet.message == Message::RouterSolicitation),
        "it looks for others"
    );
}

#[test]
fn a_registered_host_whose_router_is_gone_says_that_its_address_is_lost() {
    let mut lone = registered(true);
    let heard = from_router(ROUTER, 0, &[]);
    lone.handle(ROUTER, &heard).unwrap();
    assert_eq!((lone.machine.router(), lone.machine.address()), (None, None));
    assert_eq!(lone.events(), [Event::Lost]);
}

/// RFC 4861 section 6.2.4: it tells all of itself when it begins.
#[test]
fn a_host_registers_again_when_its_router_has_begun_anew_but_not_often() {
    for is_extended in [true, false] {
        let mut lone = registered(is_extended);
        let begun = from_router(ROUTER, 1_800, &usual(is_extended));
        lone.handle(ROUTER, &begun).unwrap();
        assert!(lone.pass(31).is_empty(), "it has registered just now");
        // Neither an answer to it alone nor another router says that its own has begun.
        lone.handle(ROUTER, &to_host(ROUTER, 1_800, &usual(is_extended))).unwrap();
        lone.handle(2, &from_router(2, 1_800, &usual(is_extended))).unwrap();
        assert!(lone.pass(5).is_empty());
        lone.handle(ROUTER, &begun).unwrap();
        let mut sent = lone.pass(4);
        let mut transactions = Vec::new();
        while let Some((_, asked)) = sent.iter().find(|(_, packet)| packet.registration().is_some()) {
            transactions.push(asked.registration().unwrap().transaction.unwrap());
            lone.handle(ROUTER, &answer(ROUTER, asked, Status::SUCCESS)).unwrap();
            sent = lone.sent();
        }
        let first = lollipop::FIRST + if is_extended { 3 } else { 2 };
        let expected = if is_extended { vec![first, first + 1] } else { vec![first] };
        assert_eq!(transactions, expected, "it registers all that it has");
        assert_eq!(
            (lone.machine.address(), lone.events()),
            (Some(global(HOST)), vec![]),
            "it had it all the while"
        );
        // Who tells so for ever makes it register no more often than every 30 seconds.
        let mut asked = std::collections::BTreeSet::new();
        for _ in 0..30 {
            lone.handle(ROUTER, &begun).unwrap();
            let mut sent = lone.pass(4);
            while let Some((_, packet)) = sent.pop() {
                let transaction = packet.registration().expect("a registration").transaction;
                if asked.insert(transaction) {
                    lone.handle(ROUTER, &answer(ROUTER, &packet, Status::SUCCESS)).unwrap();
                    sent = lone.sent();
                }
            }
        }
        let each = if is_extended { 2 } else { 1 };
        assert!((2 * each..=4 * each).contains(&asked.len()), "{} in two minutes", asked.len());
    }
}

#[test]
fn a_host_that_was_not_registered_does_not_lose_its_address() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    assert_eq!(lone.events(), [Event::ContextsChanged]);
    // It does not answer.
    lone.pass(60);
    assert_eq!((lone.machine.router(), lone.events()), (None, vec![]));
}

/// RFC 4861 section 4.2: the lifetime is that of the router, and not of what it tells.
#[test]
fn a_router_that_is_none_any_more_still_tells_prefixes_and_contexts() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 0, &usual(true))).unwrap();
    assert_eq!((lone.machine.router(), lone.machine.prefix()), (None, Some(PREFIX)));
    assert_eq!(lone.machine.contexts().collect::<Vec<_>>(), [context(0, 600)]);
    assert!(lone.sent().is_empty(), "there is no router to register at");
}

/// RFC 6775 section 5.5.2 and RFC 8505 section 4.1, status by status.
#[test]
fn a_duplicate_address_is_not_used_and_not_tried_at_once() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(false))).unwrap();
    let asked = lone.sole();
    lone.handle(ROUTER, &answer(ROUTER, &asked, Status::DUPLICATE_ADDRESS)).unwrap();
    assert_eq!(lone.machine.address(), None);
    assert_eq!(lone.events(), [Event::Duplicate, Event::ContextsChanged]);
    assert!(lone.pass(299).iter().all(|(_, packet)| packet.registration().is_none()));
    assert!(lone.pass(200).iter().any(|(_, packet)| packet.registration().is_some()));
}

#[test]
fn a_router_that_refuses_is_left_for_another_and_not_asked_for_a_while() {
    for status in [
        Status::NEIGHBOUR_CACHE_FULL,
        Status::VALIDATION_REQUESTED,
        Status::REGISTRY_SATURATED,
        Status::VALIDATION_FAILED,
        Status(77),
    ] {
        let mut lone = host();
        lone.handle(ROUTER, &from_router(ROUTER, 9_000, &usual(true))).unwrap();
        lone.handle(2, &from_router(2, 9_000, &usual(true))).unwrap();
        let asked = lone.sole();
        lone.handle(ROUTER, &answer(ROUTER, &asked, status)).unwrap();
        assert_eq!(lone.machine.router(), Some(node(2)), "{status:?}");
        let asked = lone.sole();
        assert_eq!(asked.destination, link_local(2));
        lone.handle(2, &answer(2, &asked, status)).unwrap();
        assert_eq!((lone.machine.router(), lone.machine.address()), (None, None));
        let until = lone.pass(299);
        assert!(until.iter().all(|(_, packet)| packet.registration().is_none()), "{status:?}");
        let later = lone.pass(200);
        assert!(later.iter().any(|(_, packet)| packet.registration().is_some()), "{status:?}");
    }
}

/// RFC 8505 section 5.2: whatever the id was before a reboot, two steps lead beyond it.
#[test]
fn a_host_that_has_rebooted_goes_beyond_its_old_transaction_id() {
    for old in 0..=255 {
        if (128..240).contains(&old) {
            continue; // no counter is there
        }
        let mut lone = host();
        lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
        let mut tries = 0;
        loop {
            let asked = lone.sole();
            let transaction = asked.registration().unwrap().transaction.unwrap();
            tries += 1;
            if lollipop::compare(transaction, old) != Some(std::cmp::Ordering::Less) {
                break;
            }
            lone.handle(ROUTER, &answer(ROUTER, &asked, Status::MOVED)).unwrap();
        }
        assert!(tries <= 3, "{old}: {tries}");
    }
}

#[test]
fn a_router_that_makes_it_begin_anew_for_ever_is_left() {
    for status in [Status::MOVED, Status::REMOVED, Status::INVALID_SOURCE_ADDRESS] {
        let mut lone = host();
        lone.handle(ROUTER, &from_router(ROUTER, 9_000, &usual(true))).unwrap();
        let mut asked = 0;
        while let Some((_, packet)) = lone.sent().pop() {
            asked += 1;
            lone.handle(ROUTER, &answer(ROUTER, &packet, status)).unwrap();
        }
        assert_eq!((asked, lone.machine.router()), (4, None), "{status:?}");
    }
}

#[test]
fn a_registration_that_the_router_has_removed_is_made_anew_at_once() {
    let mut lone = registered(true);
    let target = global(HOST);
    let message = NeighbourAdvertisement { router: true, solicited: true, overrides: false, target };
    let removed = AddressRegistration { status: Status::REMOVED, ..registration(HOST, Some(242), 0) };
    let option = NdOption::AddressRegistration(removed);
    let told = Packet::new(
        link_local(ROUTER),
        link_local(HOST),
        Message::NeighbourAdvertisement(message),
        &[option],
    );
    lone.handle(ROUTER, &told).unwrap();
    assert_eq!((lone.machine.address(), lone.events()), (None, vec![Event::Lost]));
    let asked = lone.sole();
    assert_eq!(asked.message, Message::NeighbourSolicitation { target });
    lone.handle(ROUTER, &answer(ROUTER, &asked, Status::SUCCESS)).unwrap();
    assert_eq!(lone.machine.address(), Some(target));
}

#[test]
fn an_address_on_the_link_that_the_router_has_forgotten_is_registered_first() {
    let mut lone = registered(true);
    while lone.machine.router().is_some() {
        lone.wait();
        let Some((_, asked)) = lone.sent().into_iter().find(|(_, packet)| packet.registration().is_some())
        else {
            lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
            continue;
        };
        let Message::NeighbourSolicitation { target } = asked.message else { panic!() };
        if target == link_local(HOST) {
            lone.handle(ROUTER, &answer(ROUTER, &asked, Status::SUCCESS)).unwrap();
            continue;
        }
        lone.handle(ROUTER, &answer(ROUTER, &asked, Status::INVALID_SOURCE_ADDRESS)).unwrap();
        let next = lone.sole();
        assert_eq!(next.message, Message::NeighbourSolicitation { target: link_local(HOST) });
        return;
    }
    panic!("it is not renewed");
}

#[test]
fn another_that_has_its_address_on_the_link_keeps_it_from_registering() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    let first = lone.sole();
    lone.handle(ROUTER, &answer(ROUTER, &first, Status::SUCCESS)).unwrap();
    let second = lone.sole();
    lone.handle(ROUTER, &answer(ROUTER, &second, Status::DUPLICATE_SOURCE_ADDRESS)).unwrap();
    assert_eq!(lone.events(), [Event::Duplicate, Event::ContextsChanged]);
    assert!(lone.pass(299).iter().all(|(_, packet)| packet.registration().is_none()));
}

#[test]
fn a_prefix_of_which_no_address_may_be_registered_is_asked_for_again() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    let first = lone.sole();
    lone.handle(ROUTER, &answer(ROUTER, &first, Status::SUCCESS)).unwrap();
    let second = lone.sole();
    lone.handle(ROUTER, &answer(ROUTER, &second, Status::TOPOLOGICALLY_INCORRECT)).unwrap();
    assert_eq!(lone.machine.prefix(), None);
    lone.wait();
    let [(Some(neighbour), asked)] = &lone.sent()[..] else { panic!() };
    assert_eq!((*neighbour, asked.message), (node(ROUTER), Message::RouterSolicitation));
    let other = NdOption::PrefixInformation(information(OTHER_PREFIX, 86_400));
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &[capabilities(true), other])).unwrap();
    let target = node(HOST).with_prefix(OTHER_PREFIX);
    assert_eq!(lone.sole().message, Message::NeighbourSolicitation { target });
}

#[test]
fn answers_that_were_not_asked_for_change_nothing() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    let asked = lone.sole();
    let good = answer(ROUTER, &asked, Status::SUCCESS);
    let changed = |change: fn(&mut AddressRegistration)| {
        let mut packet = good.clone();
        for option in &mut packet.options {
            if let NdOption::AddressRegistration(registration) = option {
                change(registration);
            }
        }
        packet
    };
    let refused = [
        ("of another's verifier", changed(|registration| registration.rovr = Rovr([9; 8]))),
        ("of an older transaction", changed(|registration| registration.transaction = Some(240))),
        ("without the transaction id", changed(|registration| registration.transaction = None)),
        ("without a registration", Packet { options: Vec::new(), ..good.clone() }),
    ];
    for (what, packet) in &refused {
        assert!(lone.handle(ROUTER, packet).is_err(), "{what}");
    }
    assert_eq!(lone.handle(2, &good), Err(Error::Unasked), "from another router");
    let other = Packet {
        message: Message::NeighbourAdvertisement(NeighbourAdvertisement {
            router: true,
            solicited: true,
            overrides: false,
            target: global(9),
        }),
        ..good.clone()
    };
    assert_eq!(lone.handle(ROUTER, &other), Err(Error::Unasked), "of another address");
    assert_eq!(lone.rig.count(Counter::NdRefused), 6);
    assert!(lone.sent().is_empty(), "it waits still");
    assert_eq!(lone.handle(ROUTER, &good), Ok(()));
    assert_eq!(lone.handle(ROUTER, &good), Err(Error::Unasked), "a second time");
}

/// RFC 4861 sections 6.1.2 and 7.1.2.
#[test]
fn what_a_router_has_sent_on_is_refused() {
    let mut lone = host();
    for hop_limit in [0, 64, 254] {
        let told = Packet { hop_limit, ..from_router(ROUTER, 1_800, &usual(true)) };
        assert_eq!(lone.handle(ROUTER, &told), Err(Error::Malformed), "{hop_limit}");
    }
    assert_eq!((lone.machine.router(), lone.rig.count(Counter::NdMalformed)), (None, 3));
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    let asked = lone.sole();
    let answer = Packet { hop_limit: 254, ..answer(ROUTER, &asked, Status::SUCCESS) };
    assert_eq!(lone.handle(ROUTER, &answer), Err(Error::Malformed));
}

/// RFC 6775 section 5.4: a prefix that is said to be on the link is ignored; RFC 4862 section 5.5.3: and others that are none.
#[test]
fn no_address_is_made_of_a_prefix_that_is_none() {
    let good = information(PREFIX, 86_400);
    let link_local = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0);
    for bad in [
        PrefixInformation { on_link: true, ..good },
        PrefixInformation { autonomous: false, ..good },
        PrefixInformation { length: 63, ..good },
        PrefixInformation { length: 128, ..good },
        PrefixInformation { preferred: 86_401, ..good },
        PrefixInformation { valid: 0, preferred: 0, ..good },
        PrefixInformation { address: link_local, ..good },
        PrefixInformation { address: ALL_NODES, ..good },
    ] {
        let mut lone = host();
        let told = [capabilities(false), NdOption::PrefixInformation(bad)];
        lone.handle(ROUTER, &from_router(ROUTER, 1_800, &told)).unwrap();
        assert_eq!((lone.machine.prefix(), lone.machine.router()), (None, Some(node(ROUTER))), "{bad:?}");
        assert!(lone.sent().is_empty());
    }
}

/// RFC 4862 section 5.5.3 (e).
#[test]
fn a_lifetime_shortens_a_prefix_to_no_less_than_two_hours() {
    let mut lone = registered(true);
    let told = |valid| from_router(ROUTER, 9_000, &[NdOption::PrefixInformation(information(PREFIX, valid))]);
    lone.handle(ROUTER, &told(0)).unwrap();
    lone.pass(7_100);
    assert_eq!(lone.machine.prefix(), Some(PREFIX));
    lone.pass(200);
    assert_eq!((lone.machine.prefix(), lone.machine.address()), (None, None));
}

#[test]
fn a_host_follows_its_router_to_another_prefix_and_no_other_router() {
    let mut lone = registered(true);
    let told = [capabilities(true), NdOption::PrefixInformation(information(OTHER_PREFIX, 86_400))];
    lone.handle(2, &from_router(2, 1_800, &told)).unwrap();
    assert_eq!(lone.machine.prefix(), Some(PREFIX));
    let both = [&told[..], &[NdOption::PrefixInformation(information(PREFIX, 86_400))]].concat();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &both)).unwrap();
    assert_eq!(lone.machine.prefix(), Some(PREFIX), "it is told still");
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &told)).unwrap();
    assert_eq!((lone.machine.prefix(), lone.events()), (Some(OTHER_PREFIX), vec![Event::Lost]));
    let target = node(HOST).with_prefix(OTHER_PREFIX);
    assert_eq!(lone.sole().message, Message::NeighbourSolicitation { target });
}

/// RFC 6775 sections 4.2 and 5.4.3.
#[test]
fn a_context_ends_first_for_what_is_compressed_and_then_for_what_is_read() {
    let mut lone = registered(true);
    let known: Vec<_> = lone.machine.contexts().collect();
    assert_eq!(known, [context(0, 600)]);
    let keep = |lone: &mut Lone<TestHost>| {
        let told = [capabilities(true), NdOption::PrefixInformation(information(PREFIX, 86_400))];
        lone.handle(ROUTER, &from_router(ROUTER, 9_000, &told)).unwrap();
    };
    keep(&mut lone);
    lone.pass(600 * 60 - 10);
    assert!(lone.machine.contexts().all(|context| context.compresses));
    lone.events();
    lone.pass(20);
    let known: Vec<_> = lone.machine.contexts().map(|context| context.compresses).collect();
    assert_eq!(known, [false]);
    assert!(lone.events().contains(&Event::ContextsChanged));
    lone.pass(3_600);
    assert_eq!(lone.machine.contexts().count(), 0);
    // One whose lifetime is told to be zero is removed at once.
    let told = [NdOption::Context(context(1, 600)), NdOption::Context(context(2, 600))];
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &told)).unwrap();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &[NdOption::Context(context(1, 0))])).unwrap();
    assert_eq!(lone.machine.contexts().map(|context| context.id).collect::<Vec<_>>(), [2]);
}

#[test]
fn contexts_and_routers_for_which_there_is_no_room_are_refused_and_counted() {
    let mut lone = host();
    let told: Vec<_> = (0..3).map(|id| NdOption::Context(context(id, 600))).collect();
    assert_eq!(lone.handle(ROUTER, &from_router(ROUTER, 1_800, &told)), Err(Error::Full));
    assert_eq!(lone.machine.contexts().count(), 2);
    lone.handle(2, &from_router(2, 1_800, &[])).unwrap();
    assert_eq!(lone.handle(3, &from_router(3, 1_800, &[])), Err(Error::Full));
    assert_eq!((lone.machine.router(), lone.rig.count(Counter::NdFull)), (Some(node(ROUTER)), 2));
}

/// RFC 6775 section 8.1.3.
#[test]
fn what_an_older_version_of_a_border_router_says_is_refused() {
    let mut lone = host();
    let told = |version, prefix| {
        let border_router = BorderRouter { version, lifetime: 0, address: global(0) };
        let information = NdOption::PrefixInformation(information(prefix, 86_400));
        from_router(ROUTER, 1_800, &[NdOption::BorderRouter(border_router), information])
    };
    lone.handle(ROUTER, &told(u32::MAX, PREFIX)).unwrap();
    let heard = lone.machine.border_router(lone.rig.now);
    assert_eq!(heard, Some(BorderRouter { version: u32::MAX, lifetime: 10_000, address: global(0) }));
    assert_eq!(lone.handle(ROUTER, &told(u32::MAX - 1, OTHER_PREFIX)), Err(Error::Stale));
    assert_eq!(lone.machine.prefix(), Some(PREFIX));
    lone.handle(ROUTER, &told(3, OTHER_PREFIX)).unwrap();
    assert_eq!(lone.machine.prefix(), Some(OTHER_PREFIX), "the version has gone round");
}

/// RFC 6775 section 8.1.3: a router tells on what the border router says, and so hears nothing that does not name it.
#[test]
fn a_router_ignores_advertisements_that_name_no_border_router() {
    let mut lone = Lone { machine: TestHost::new(), rig: Rig::near_wrap(7) };
    let capabilities = Capabilities { router: true, ..Capabilities::NONE };
    lone.machine.start(&mut lone.rig.cx(), node(HOST), &Settings { capabilities, ..SETTINGS });
    assert_eq!(lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))), Err(Error::NotForUs));
    assert_eq!((lone.machine.router(), lone.machine.prefix()), (None, None));
    let border_router = BorderRouter { version: 7, lifetime: 100, address: global(0) };
    let told = [&usual(true)[..], &[NdOption::BorderRouter(border_router)]].concat();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &told)).unwrap();
    assert_eq!(lone.machine.router(), Some(node(ROUTER)));
    assert_eq!(lone.machine.border_router(lone.rig.now), Some(border_router));
    lone.pass(90 * 60);
    let left = lone.machine.border_router(lone.rig.now);
    assert_eq!(left, Some(BorderRouter { lifetime: 10, ..border_router }));
}

/// RFC 6775 section 8.1.2.
#[test]
fn what_a_border_router_has_told_ends_with_its_lifetime() {
    let mut lone = host();
    let border_router = BorderRouter { version: 1, lifetime: 1, address: global(0) };
    let told = [&usual(true)[..], &[NdOption::BorderRouter(border_router)]].concat();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &told)).unwrap();
    lone.pass(59);
    assert_eq!((lone.machine.prefix(), lone.machine.contexts().count()), (Some(PREFIX), 1));
    lone.events();
    lone.pass(1);
    assert_eq!((lone.machine.border_router(lone.rig.now), lone.machine.prefix()), (None, None));
    assert_eq!((lone.machine.contexts().count(), lone.events()), (0, vec![Event::ContextsChanged]));
}

/// RFC 6775 section 5.3: before what was told is over, the router is asked alone, and all when it does not answer.
#[test]
fn what_a_router_has_told_is_asked_for_again_in_time() {
    let mut lone = registered(true);
    let asked = lone.pass(1_000);
    let solicitations: Vec<_> =
        asked.iter().filter(|(_, packet)| packet.message == Message::RouterSolicitation).collect();
    assert!(solicitations.len() > 4);
    for (n, (neighbour, packet)) in solicitations.iter().enumerate() {
        let expected = if n < 3 { (node(ROUTER), link_local(ROUTER)) } else { (BROADCAST, ALL_ROUTERS) };
        assert_eq!((neighbour.unwrap(), packet.destination), expected, "{n}");
    }
    lone.handle(ROUTER, &to_host(ROUTER, 1_800, &usual(true))).unwrap();
    assert!(lone.pass(800).is_empty());
}

#[test]
fn a_host_answers_who_asks_for_its_addresses_and_for_no_others() {
    let mut lone = registered(true);
    let asks = |source, destination, target| {
        let options = if source == Ipv6Addr::UNSPECIFIED { vec![] } else { vec![source_address(ROUTER)] };
        Packet::new(source, destination, Message::NeighbourSolicitation { target }, &options)
    };
    for target in [global(HOST), link_local(HOST)] {
        for destination in [target, solicited_node(target)] {
            lone.handle(ROUTER, &asks(link_local(ROUTER), destination, target)).unwrap();
            let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
            assert_eq!((*neighbour, answer.destination), (Some(node(ROUTER)), link_local(ROUTER)));
            let expected = NeighbourAdvertisement { router: false, solicited: true, overrides: true, target };
            assert_eq!(answer.message, Message::NeighbourAdvertisement(expected));
            assert!(matches!(answer.options[..], [NdOption::TargetLinkLayerAddress(_)]));
        }
    }
    let nowhere = asks(Ipv6Addr::UNSPECIFIED, solicited_node(global(HOST)), global(HOST));
    lone.handle(ROUTER, &nowhere).unwrap();
    let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
    assert_eq!((*neighbour, answer.destination), (Some(BROADCAST), ALL_NODES));
    let another = asks(link_local(ROUTER), link_local(HOST), global(9));
    assert_eq!(lone.handle(ROUTER, &another), Err(Error::NotForUs));
    let first = asks(link_local(ROUTER), link_local(HOST), link_local(HOST));
    lone.handle(ROUTER, &first).unwrap();
    assert_eq!(lone.handle(ROUTER, &first), Err(Error::Busy), "one answer at a time");
}

#[test]
fn a_host_without_an_address_does_not_answer_for_it() {
    let mut lone = host();
    lone.handle(ROUTER, &from_router(ROUTER, 1_800, &usual(true))).unwrap();
    lone.sent();
    let message = Message::NeighbourSolicitation { target: global(HOST) };
    let asks = Packet::new(link_local(ROUTER), global(HOST), message, &[]);
    assert_eq!(lone.handle(ROUTER, &asks), Err(Error::NotForUs));
    assert_eq!(Eui64::of_address(global(HOST)), node(HOST));
}
