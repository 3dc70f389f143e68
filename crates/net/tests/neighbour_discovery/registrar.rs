//! A router, and the border router.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, LINK_LOCAL_PREFIX, lollipop};
use sixlock_ipv6::nd::{
    ALL_NODES, ALL_ROUTERS, AddressRegistration, BorderRouter, Capabilities, DuplicateAddress, Message,
    NdOption, NeighbourAdvertisement, Rovr, Status, solicited_node,
};
use sixlock_ipv6::{checksum, next_header};
use sixlock_net::BROADCAST;
use sixlock_net::neighbour_discovery::{Error, Event, Network};
use sixlock_testing::Rig;

use crate::bench::*;

/// The id of the border router.
const BORDER: u32 = 0;

fn lone(id: u32, network: Network) -> Lone<TestRegistrar> {
    let mut lone = Lone { machine: TestRegistrar::new(), rig: Rig::near_wrap(9) };
    lone.machine.start(node(id));
    lone.machine.configure(network);
    lone
}

fn border_router() -> Lone<TestRegistrar> {
    lone(BORDER, network(true))
}

fn router() -> Lone<TestRegistrar> {
    lone(ROUTER, network(false))
}

/// How the host `id` registers `target` at the router `router`.
fn asks(router: u32, id: u32, target: Ipv6Addr, registration: AddressRegistration) -> Packet {
    let options = [source_address(id), NdOption::AddressRegistration(registration)];
    let message = Message::NeighbourSolicitation { target };
    Packet::new(link_local(id), link_local(router), message, &options)
}

/// The same by RFC 6775.
fn asks_plainly(router: u32, id: u32, registration: AddressRegistration) -> Packet {
    let mut packet = asks(router, id, link_local(router), registration);
    packet.source = global(id);
    packet
}

fn status(packet: &Packet) -> Status {
    packet.registration().expect("a registration").status
}

fn solicitation(source: Ipv6Addr, options: &[NdOption]) -> Packet {
    Packet::new(source, ALL_ROUTERS, Message::RouterSolicitation, options)
}

/// What the router says of a registration, at once.
fn register(lone: &mut Lone<TestRegistrar>, from: u32, packet: &Packet) -> Status {
    let taken = lone.handle(from, packet);
    let answer = lone.sole();
    let status = status(&answer);
    assert_eq!(taken.is_ok(), status == Status::SUCCESS, "{taken:?}");
    status
}

fn multihop(source: Ipv6Addr, destination: Ipv6Addr, message: Message) -> Packet {
    Packet { hop_limit: 60, ..Packet::new(source, destination, message, &[]) }
}

fn duplicate(id: u32, transaction: Option<u8>, lifetime: u16) -> DuplicateAddress {
    DuplicateAddress { status: Status::SUCCESS, transaction, lifetime, rovr: rovr(id), address: global(id) }
}

/// What the border router answers a request.
fn confirmed(lone: &mut Lone<TestRegistrar>, from: u32, request: DuplicateAddress) -> DuplicateAddress {
    let packet = multihop(global(from), global(BORDER), Message::DuplicateAddressRequest(request));
    let _ = lone.handle(from, &packet);
    let answer = lone.sole();
    assert_eq!((answer.source, answer.destination, answer.hop_limit), (global(BORDER), global(from), 64));
    let Message::DuplicateAddressConfirmation(confirmation) = answer.message else { panic!("{answer:?}") };
    assert_eq!(DuplicateAddress { status: Status::SUCCESS, ..confirmation }, request);
    confirmation
}

/// RFC 4861 section 6.2.6, RFC 6775 sections 6.1 and 6.3, RFC 8505 section 4.3.
#[test]
fn a_solicitation_is_answered_to_its_sender_with_all_that_the_network_has() {
    for (id, is_border_router) in [(BORDER, true), (ROUTER, false)] {
        let mut lone = lone(id, network(is_border_router));
        assert!(lone.machine.add_context(context(0, 600)) && lone.machine.add_context(context(1, 60)));
        assert!(!lone.machine.add_context(context(2, 60)), "there is room for two");
        lone.handle(HOST, &solicitation(link_local(HOST), &[source_address(HOST)])).unwrap();
        assert!(lone.sent().is_empty(), "not all answer at once");
        assert!(lone.wait() < 2_000);
        let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
        assert_eq!((*neighbour, answer.destination), (Some(node(HOST)), link_local(HOST)));
        assert_eq!((answer.source, answer.hop_limit), (link_local(id), 255));
        assert_eq!(answer.message, advertisement(1_800));
        let capabilities = Capabilities {
            extended_duplicate_address: true,
            router: true,
            border_router: is_border_router,
            routing_registrar: true,
            extended_registration: true,
            generic_compression: false,
        };
        assert_eq!(
            answer.options,
            [
                source_address(id),
                NdOption::Capabilities(capabilities),
                NdOption::BorderRouter(BorderRouter { version: 1, lifetime: 0, address: global(BORDER) }),
                NdOption::PrefixInformation(information(PREFIX, 86_400)),
                NdOption::Context(context(0, 600)),
                NdOption::Context(context(1, 60)),
            ]
        );
        assert!(lone.machine.poll_timeout().is_none(), "it advertises itself to nobody else");
    }
}

#[test]
fn who_solicits_without_an_address_is_answered_before_all_but_not_often() {
    let mut lone = router();
    let nowhere = solicitation(Ipv6Addr::UNSPECIFIED, &[]);
    lone.handle(HOST, &nowhere).unwrap();
    lone.wait();
    let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
    assert_eq!((*neighbour, answer.destination), (Some(BROADCAST), ALL_NODES));
    // MIN_DELAY_BETWEEN_RAS.
    lone.rig.pass(9_000);
    lone.machine.handle_timeout(lone.rig.now);
    assert_eq!(lone.handle(HOST, &nowhere), Err(Error::Busy));
    lone.rig.pass(1_001);
    lone.machine.handle_timeout(lone.rig.now);
    assert_eq!(lone.handle(HOST, &nowhere), Ok(()));
}

#[test]
fn of_many_who_solicit_at_once_four_are_answered() {
    let mut lone = router();
    for id in 10..14 {
        lone.handle(id, &solicitation(link_local(id), &[source_address(id)])).unwrap();
    }
    lone.handle(10, &solicitation(link_local(10), &[source_address(10)])).unwrap();
    assert_eq!(lone.handle(14, &solicitation(link_local(14), &[])), Err(Error::Busy));
    assert_eq!(lone.rig.count(Counter::NdFull), 1);
    lone.wait();
    assert_eq!(lone.sent().len(), 4);
    lone.handle(14, &solicitation(link_local(14), &[])).unwrap();
}

#[test]
fn a_router_that_is_not_configured_says_nothing() {
    let mut lone = Lone { machine: TestRegistrar::new(), rig: Rig::seeded(1) };
    lone.machine.start(node(ROUTER));
    let packet = solicitation(link_local(HOST), &[source_address(HOST)]);
    assert_eq!(lone.handle(HOST, &packet), Err(Error::NotConfigured));
    let packet = asks(ROUTER, HOST, link_local(HOST), registration(HOST, Some(1), 60));
    assert_eq!(lone.handle(HOST, &packet), Err(Error::NotConfigured));
    assert_eq!((lone.sent().len(), lone.machine.poll_timeout()), (0, None));
}

/// RFC 8505 section 5.6, RFC 6775 section 6.5.
#[test]
fn an_address_is_registered_in_both_forms_and_the_answer_has_the_same_option() {
    let extended =
        AddressRegistration { opaque: 7, wants_reachability: true, ..registration(HOST, Some(240), 60) };
    let extended = asks(BORDER, HOST, global(HOST), extended);
    let plain = asks_plainly(BORDER, HOST, registration(HOST, None, 60));
    for asked in [extended, plain] {
        let mut lone = border_router();
        lone.handle(HOST, &asked).unwrap();
        let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
        assert_eq!((*neighbour, answer.source), (Some(node(HOST)), link_local(BORDER)));
        assert_eq!((answer.destination, answer.hop_limit), (asked.source, 255));
        let Message::NeighbourSolicitation { target } = asked.message else { panic!() };
        let expected = NeighbourAdvertisement { router: true, solicited: true, overrides: false, target };
        assert_eq!(answer.message, Message::NeighbourAdvertisement(expected));
        assert_eq!(answer.registration(), asked.registration());
        let known: Vec<_> = lone.machine.registrations().map(|known| known.address()).collect();
        assert_eq!(known, [global(HOST)]);
        assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
        let wants = asked.registration().unwrap().wants_reachability;
        assert!(lone.machine.registrations().all(|known| known.wants_reachability() == wants));
        assert_eq!(lone.events(), [Event::RegistrationsChanged]);
    }
}

#[test]
fn a_registration_ends_with_its_lifetime_or_when_its_owner_says_so() {
    let mut lone = border_router();
    let asked = |transaction, lifetime| {
        asks(BORDER, HOST, global(HOST), registration(HOST, Some(transaction), lifetime))
    };
    assert_eq!(register(&mut lone, HOST, &asked(1, 60)), Status::SUCCESS);
    lone.events();
    lone.pass(3_599);
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    assert_eq!(register(&mut lone, HOST, &asked(2, 1)), Status::SUCCESS, "it is renewed");
    assert_eq!(lone.events(), [], "nothing that routes have to know");
    lone.pass(59);
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    lone.pass(1);
    assert_eq!(
        (lone.machine.neighbour(global(HOST)), lone.events()),
        (None, vec![Event::RegistrationsChanged])
    );
    assert_eq!(register(&mut lone, HOST, &asked(3, u16::MAX)), Status::SUCCESS);
    lone.pass(65_534 * 60);
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)), "45 days are longer than time wraps");
    assert_eq!(register(&mut lone, HOST, &asked(4, 0)), Status::SUCCESS);
    assert_eq!(lone.machine.registrations().count(), 0);
    assert_eq!(register(&mut lone, HOST, &asked(5, 0)), Status::SUCCESS, "there is nothing to end");
}

/// RFC 6775 section 6.5.1.
#[test]
fn an_address_of_another_is_refused_and_stays_where_it_is() {
    let mut lone = border_router();
    let own = asks(BORDER, HOST, global(HOST), registration(HOST, Some(1), 60));
    assert_eq!(register(&mut lone, HOST, &own), Status::SUCCESS);
    for lifetime in [60, 0] {
        let other = asks(BORDER, 6, global(HOST), registration(6, Some(9), lifetime));
        assert_eq!(register(&mut lone, 6, &other), Status::DUPLICATE_ADDRESS);
    }
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    // RFC 6775 section 6.5.2: who asks from the address of another is answered at the one on the link.
    let mut plain = asks_plainly(BORDER, HOST, registration(6, None, 60));
    plain.options[0] = source_address(6);
    assert_eq!(lone.handle(6, &plain), Err(Error::Refused));
    let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
    assert_eq!((*neighbour, answer.destination), (Some(node(6)), link_local(6)));
    assert_eq!(status(answer), Status::DUPLICATE_ADDRESS);
    // The router's own are taken, too.
    for target in [global(BORDER), link_local(BORDER)] {
        let asked = asks(BORDER, 6, target, registration(6, Some(1), 60));
        assert_eq!(register(&mut lone, 6, &asked), Status::DUPLICATE_ADDRESS);
    }
    assert_eq!(lone.rig.count(Counter::NdRefused), 5);
}

/// RFC 8505 section 5.2.
#[test]
fn a_registration_that_is_older_than_the_known_one_is_refused() {
    for known in [0, 5, 127, 240, 250, 255] {
        for new in 0..=255 {
            let mut lone = border_router();
            let asked = |id| asks(BORDER, HOST, global(HOST), registration(HOST, Some(id), 60));
            assert_eq!(register(&mut lone, HOST, &asked(known)), Status::SUCCESS);
            let is_older = lollipop::compare(new, known) == Some(std::cmp::Ordering::Less);
            let expected = if is_older { Status::MOVED } else { Status::SUCCESS };
            assert_eq!(register(&mut lone, HOST, &asked(new)), expected, "{new} after {known}");
        }
    }
}

#[test]
fn a_full_table_refuses_new_addresses_and_keeps_all_that_it_has() {
    let mut lone = border_router();
    for id in 10..14 {
        let asked = asks(BORDER, id, global(id), registration(id, Some(1), 60));
        assert_eq!(register(&mut lone, id, &asked), Status::SUCCESS);
    }
    let asked = asks(BORDER, 14, global(14), registration(14, Some(1), 60));
    assert_eq!(register(&mut lone, 14, &asked), Status::NEIGHBOUR_CACHE_FULL);
    assert_eq!(lone.rig.count(Counter::NdFull), 1);
    let again = asks(BORDER, 10, global(10), registration(10, Some(2), 120));
    assert_eq!(register(&mut lone, 10, &again), Status::SUCCESS, "who is in it stays");
    assert!((10..14).all(|id| lone.machine.neighbour(global(id)) == Some(node(id))));
    // The border router has a word of its own for it (RFC 8505 section 4.1).
    assert_eq!(confirmed(&mut lone, ROUTER, duplicate(15, Some(1), 60)).status, Status::REGISTRY_SATURATED);
    assert_eq!(confirmed(&mut lone, ROUTER, duplicate(15, None, 60)).status, Status::REGISTRY_SATURATED);
    // To end what there is not takes no room (RFC 6775 section 6.5.3).
    let ends = asks(BORDER, 14, global(14), registration(14, Some(1), 0));
    assert_eq!(register(&mut lone, 14, &ends), Status::SUCCESS);
    assert_eq!(confirmed(&mut lone, ROUTER, duplicate(15, Some(1), 0)).status, Status::SUCCESS);
    lone.pass(3_600);
    assert_eq!(lone.machine.registrations().count(), 1);
    assert_eq!(register(&mut lone, 14, &asked), Status::SUCCESS);
}

/// RFC 8505 sections 4.1 and 5.6.
#[test]
fn the_source_of_a_registration_is_an_address_on_the_link_and_no_one_elses() {
    let mut lone = border_router();
    let asked = asks(BORDER, HOST, global(HOST), registration(HOST, Some(1), 60));
    let from = |source| Packet { source, ..asked.clone() };
    let elsewhere = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9);
    assert_eq!(register(&mut lone, HOST, &from(elsewhere)), Status::INVALID_SOURCE_ADDRESS);
    assert_eq!(
        register(&mut lone, HOST, &from(global(HOST))),
        Status::INVALID_SOURCE_ADDRESS,
        "nor the address itself"
    );
    let six = asks(BORDER, 6, link_local(6), registration(6, Some(1), 60));
    assert_eq!(register(&mut lone, 6, &six), Status::SUCCESS);
    assert_eq!(register(&mut lone, HOST, &from(link_local(6))), Status::DUPLICATE_SOURCE_ADDRESS);
    // Nor is it the router's: that is refused as a packet already, where packets are, and here.
    assert_eq!(register(&mut lone, HOST, &from(link_local(BORDER))), Status::DUPLICATE_SOURCE_ADDRESS);
    assert_eq!(lone.machine.registrations().count(), 1);
    assert_eq!(register(&mut lone, HOST, &asked), Status::SUCCESS);
}

#[test]
fn an_address_that_is_not_of_the_network_is_refused() {
    let mut lone = border_router();
    for target in [node(HOST).with_prefix(OTHER_PREFIX), Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST] {
        let asked = asks(BORDER, HOST, target, registration(HOST, Some(1), 60));
        assert_eq!(register(&mut lone, HOST, &asked), Status::TOPOLOGICALLY_INCORRECT, "{target}");
    }
    let asked =
        DuplicateAddress { address: node(HOST).with_prefix(OTHER_PREFIX), ..duplicate(HOST, Some(1), 60) };
    assert_eq!(confirmed(&mut lone, ROUTER, asked).status, Status::TOPOLOGICALLY_INCORRECT);
    let asked = DuplicateAddress { address: global(BORDER), ..duplicate(HOST, Some(1), 60) };
    assert_eq!(confirmed(&mut lone, ROUTER, asked).status, Status::DUPLICATE_ADDRESS);
    let mut lone = self::lone(BORDER, Network { prefix: None, ..network(true) });
    let asked = asks(BORDER, HOST, link_local(HOST), registration(HOST, Some(1), 60));
    assert_eq!(register(&mut lone, HOST, &asked), Status::SUCCESS, "the link is there without a prefix");
    let asked = asks(BORDER, HOST, global(HOST), registration(HOST, Some(1), 60));
    assert_eq!(register(&mut lone, HOST, &asked), Status::TOPOLOGICALLY_INCORRECT);
}

/// RFC 6775 section 6.5.
#[test]
fn a_solicitation_whose_registration_has_a_status_or_a_wrong_length_is_ignored() {
    let mut lone = border_router();
    let good = asks_plainly(BORDER, HOST, registration(HOST, None, 60));
    let failed = AddressRegistration { status: Status(1), ..registration(HOST, None, 60) };
    let options = vec![good.options[0], NdOption::AddressRegistration(failed)];
    assert_eq!(lone.handle(HOST, &Packet { options, ..good.clone() }), Err(Error::Malformed));
    // One with a verifier of 128 bits, and one of half the length.
    for units in [3, 1] {
        let without = Packet { options: vec![good.options[0]], ..good.clone() };
        let (mut header, mut message) = without.parts();
        message.extend([33, units]);
        message.resize(message.len() - 2 + usize::from(units) * 8, 0);
        message[2..4].fill(0);
        let sum = checksum(header.source, header.destination, next_header::ICMPV6, &message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        header.payload_length = message.len() as u16;
        let taken = lone.machine.handle(&mut lone.rig.cx(), node(HOST), &header, &message);
        assert_eq!(taken, Err(Error::Malformed), "{units}");
    }
    assert_eq!((lone.sent().len(), lone.rig.count(Counter::NdMalformed)), (0, 3));
    assert_eq!(register(&mut lone, HOST, &good), Status::SUCCESS);
}

/// RFC 6775 section 6.5: the solicitation is then answered as one without it.
#[test]
fn a_registration_without_its_senders_address_is_ignored() {
    let mut lone = border_router();
    let good = asks(BORDER, HOST, link_local(BORDER), registration(HOST, Some(1), 60));
    let packet = Packet { options: vec![good.options[1]], ..good.clone() };
    lone.handle(HOST, &packet).unwrap();
    let answer = lone.sole();
    assert_eq!(answer.registration(), None);
    assert!(matches!(answer.options[..], [NdOption::TargetLinkLayerAddress(_)]));
    let nowhere = Packet {
        source: Ipv6Addr::UNSPECIFIED,
        destination: solicited_node(global(HOST)),
        message: Message::NeighbourSolicitation { target: global(HOST) },
        options: vec![good.options[1]],
        ..good
    };
    assert_eq!(lone.handle(HOST, &nowhere), Err(Error::NotForUs));
    assert_eq!((lone.machine.registrations().count(), lone.sent().len()), (0, 0));
}

/// RFC 8505 section 6.3: who does not know that the router is one of RFC 8505 registers as by RFC 6775, and has a transaction id.
#[test]
fn a_host_that_solicits_the_router_registers_its_source_with_its_transaction_id() {
    let mut lone = border_router();
    let asked = |transaction| asks_plainly(BORDER, HOST, registration(HOST, Some(transaction), 60));
    assert_eq!(register(&mut lone, HOST, &asked(5)), Status::SUCCESS);
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    assert_eq!(register(&mut lone, HOST, &asked(4)), Status::MOVED, "the id counts");
    assert_eq!(register(&mut lone, HOST, &asked(6)), Status::SUCCESS);
}

/// RFC 8505 section 6.3: else who leaves the id out could replay what is older.
#[test]
fn a_registration_without_a_transaction_id_does_not_follow_one_with_an_id() {
    let mut lone = border_router();
    let extended = asks(BORDER, HOST, global(HOST), registration(HOST, Some(5), 60));
    assert_eq!(register(&mut lone, HOST, &extended), Status::SUCCESS);
    let plain = asks_plainly(BORDER, HOST, registration(HOST, None, 0));
    assert_eq!(register(&mut lone, HOST, &plain), Status::MOVED);
    assert_eq!(confirmed(&mut lone, ROUTER, duplicate(HOST, None, 60)).status, Status::MOVED);
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    // The other way round there is nothing to guard.
    assert_eq!(confirmed(&mut lone, ROUTER, duplicate(6, None, 60)).status, Status::SUCCESS);
    assert_eq!(confirmed(&mut lone, ROUTER, duplicate(6, Some(1), 60)).status, Status::SUCCESS);
}

/// RFC 6775 section 6.5.2: the EUI-64 is that of the option.
#[test]
fn a_refusal_by_rfc_6775_goes_to_the_address_that_the_eui_64_makes() {
    let mut lone = border_router();
    let mut asked = asks_plainly(BORDER, HOST, registration(6, None, 60));
    asked.source = node(HOST).with_prefix(OTHER_PREFIX);
    assert_eq!(lone.handle(HOST, &asked), Err(Error::Refused));
    let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
    assert_eq!((*neighbour, answer.destination), (Some(node(HOST)), link_local(6)));
    assert_eq!(status(answer), Status::TOPOLOGICALLY_INCORRECT);
}

/// RFC 8505 section 5.1: hosts ask for reachability with each address; one on the link has none.
#[test]
fn an_address_on_the_link_is_not_to_be_made_reachable() {
    let mut lone = border_router();
    for target in [link_local(HOST), global(HOST)] {
        let wants = AddressRegistration { wants_reachability: true, ..registration(HOST, Some(1), 60) };
        assert_eq!(register(&mut lone, HOST, &asks(BORDER, HOST, target, wants)), Status::SUCCESS);
    }
    let wanted = lone.machine.registrations().filter(|known| known.wants_reachability());
    assert_eq!(wanted.map(|known| known.address()).collect::<Vec<_>>(), [global(HOST)]);
}

/// RFC 4861 section 6.2.6: the solicitation's source may have another interface identifier than the EUI-64.
#[test]
fn an_advertisement_goes_to_the_address_that_has_solicited_it() {
    let mut lone = router();
    let first = Ipv6Addr::new(0xfe80, 0, 0, 0, 1, 2, 3, 4);
    for source in [first, Ipv6Addr::new(0xfe80, 0, 0, 0, 5, 6, 7, 8)] {
        lone.handle(HOST, &solicitation(source, &[source_address(HOST)])).unwrap();
    }
    lone.wait();
    let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
    let last = Ipv6Addr::new(0xfe80, 0, 0, 0, 5, 6, 7, 8);
    assert_eq!((*neighbour, answer.destination), (Some(node(HOST)), last));
}

/// RFC 8505 section 4.3.
#[test]
fn a_border_router_says_that_it_reads_extended_messages() {
    for (is_border_router, reads_extended, expected) in
        [(true, false, true), (false, true, true), (false, false, false)]
    {
        let mut lone = lone(ROUTER, Network { reads_extended, ..network(is_border_router) });
        lone.handle(HOST, &solicitation(link_local(HOST), &[source_address(HOST)])).unwrap();
        lone.wait();
        let answer = lone.sole();
        let told = answer.options.iter().find_map(|option| match option {
            NdOption::Capabilities(told) => Some(told.extended_duplicate_address),
            _ => None,
        });
        assert_eq!(told, Some(expected));
    }
}

/// Linux asks so: by RFC 4861, without registrations; to probe a neighbour that it knows, without its own address.
#[test]
fn hosts_that_do_not_register_are_answered_for_the_routers_own_addresses() {
    let mut lone = router();
    for target in [link_local(ROUTER), global(ROUTER)] {
        for (source, destination) in [
            (link_local(HOST), solicited_node(target)),
            (global(HOST), target),
            (link_local(HOST), target),
            (Ipv6Addr::UNSPECIFIED, solicited_node(target)),
        ] {
            let is_nowhere = source.is_unspecified();
            let is_probe = source == link_local(HOST) && destination == target;
            let options = if is_nowhere || is_probe { vec![] } else { vec![source_address(HOST)] };
            let message = Message::NeighbourSolicitation { target };
            lone.handle(HOST, &Packet::new(source, destination, message, &options)).unwrap();
            let [(neighbour, answer)] = &lone.sent()[..] else { panic!() };
            let expected =
                NeighbourAdvertisement { router: true, solicited: !is_nowhere, overrides: true, target };
            assert_eq!(answer.message, Message::NeighbourAdvertisement(expected));
            let to = if is_nowhere { (BROADCAST, ALL_NODES) } else { (node(HOST), source) };
            assert_eq!((neighbour.unwrap(), answer.destination), to);
        }
    }
    let message = Message::NeighbourSolicitation { target: global(HOST) };
    let packet = Packet::new(link_local(6), solicited_node(global(HOST)), message, &[source_address(6)]);
    assert_eq!(lone.handle(6, &packet), Err(Error::NotForUs), "it speaks for nobody else");
    // A plain registration that solicits another than this router is none of its own.
    let mut other = asks_plainly(ROUTER, HOST, registration(HOST, None, 60));
    other.message = Message::NeighbourSolicitation { target: link_local(2) };
    assert_eq!(lone.handle(HOST, &other), Err(Error::NotForUs));
}

#[test]
fn what_was_sent_on_is_refused_but_for_duplicate_address_messages() {
    let mut lone = border_router();
    for packet in [
        solicitation(link_local(HOST), &[source_address(HOST)]),
        asks(BORDER, HOST, link_local(HOST), registration(HOST, Some(1), 60)),
        asks(BORDER, HOST, link_local(BORDER), registration(HOST, None, 60)),
    ] {
        assert_eq!(lone.handle(HOST, &Packet { hop_limit: 254, ..packet }), Err(Error::Malformed));
    }
    assert_eq!(lone.rig.count(Counter::NdMalformed), 3);
    assert!(lone.sent().is_empty() && lone.machine.poll_timeout().is_none());
    assert_eq!(confirmed(&mut lone, ROUTER, duplicate(HOST, Some(1), 60)).status, Status::SUCCESS);
}

/// RFC 6775 sections 8.2.2 to 8.2.4, RFC 8505 section 4.2.
#[test]
fn the_border_router_is_asked_before_an_address_is_registered() {
    for reads_extended in [true, false] {
        let mut lone = lone(ROUTER, Network { reads_extended, ..network(false) });
        let asked = asks(ROUTER, HOST, global(HOST), registration(HOST, Some(3), 60));
        lone.handle(HOST, &asked).unwrap();
        let [(neighbour, request)] = &lone.sent()[..] else { panic!() };
        assert_eq!((*neighbour, request.hop_limit), (None, 64));
        assert_eq!((request.source, request.destination), (global(ROUTER), global(BORDER)));
        let message = duplicate(HOST, reads_extended.then_some(3), 60);
        assert_eq!(request.message, Message::DuplicateAddressRequest(message));
        assert_eq!((lone.machine.neighbour(global(HOST)), lone.machine.registrations().count()), (None, 0));
        // Asked again by the host, it does not ask the border router more often.
        lone.handle(HOST, &asked).unwrap();
        assert!(lone.sent().is_empty());
        let answer = multihop(global(BORDER), global(ROUTER), Message::DuplicateAddressConfirmation(message));
        lone.handle(ROUTER, &answer).unwrap();
        let told = lone.sole();
        assert_eq!((told.destination, status(&told)), (link_local(HOST), Status::SUCCESS));
        assert_eq!(told.registration(), asked.registration());
        assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
        assert_eq!(lone.events(), [Event::RegistrationsChanged]);
        assert_eq!(lone.handle(ROUTER, &answer), Err(Error::Unasked), "a second time");
        // An address on the link is nothing for the border router.
        let on_link = asks(ROUTER, HOST, link_local(HOST), registration(HOST, Some(4), 60));
        lone.handle(HOST, &on_link).unwrap();
        assert_eq!(status(&lone.sole()), Status::SUCCESS);
    }
}

#[test]
fn what_the_border_router_refuses_is_told_and_not_kept() {
    for refusal in [Status::DUPLICATE_ADDRESS, Status::MOVED, Status::REGISTRY_SATURATED, Status(33)] {
        let mut lone = router();
        lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(3), 60))).unwrap();
        lone.sent();
        let message = DuplicateAddress { status: refusal, ..duplicate(HOST, Some(3), 60) };
        let answer = Message::DuplicateAddressConfirmation(message);
        lone.handle(ROUTER, &multihop(global(BORDER), global(ROUTER), answer)).unwrap();
        assert_eq!(status(&lone.sole()), refusal);
        assert_eq!((lone.machine.registrations().count(), lone.machine.poll_timeout()), (0, None));
    }
}

#[test]
fn only_the_border_router_confirms_and_only_what_it_was_asked() {
    let mut lone = router();
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(3), 60))).unwrap();
    lone.sent();
    let good = duplicate(HOST, Some(3), 60);
    let confirms =
        |source, message| multihop(source, global(ROUTER), Message::DuplicateAddressConfirmation(message));
    for (source, message) in [
        (global(6), good),
        (global(BORDER), DuplicateAddress { rovr: Rovr([1; 8]), ..good }),
        (global(BORDER), DuplicateAddress { transaction: Some(2), ..good }),
        (global(BORDER), DuplicateAddress { address: global(6), ..good }),
        (global(BORDER), DuplicateAddress { transaction: Some(2), status: Status::REMOVED, ..good }),
    ] {
        assert_eq!(lone.handle(ROUTER, &confirms(source, message)), Err(Error::Unasked), "{message:?}");
    }
    let request = multihop(global(6), global(ROUTER), Message::DuplicateAddressRequest(good));
    assert_eq!(lone.handle(6, &request), Err(Error::NotForUs), "it is no border router");
    assert_eq!((lone.machine.registrations().count(), lone.sent().len()), (0, 0));
    assert_eq!(lone.handle(ROUTER, &confirms(global(BORDER), good)), Ok(()));
}

#[test]
fn a_border_router_that_does_not_answer_is_asked_again_and_the_address_given_up() {
    let mut lone = router();
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(3), 60))).unwrap();
    let first = lone.sent().len();
    let again = lone.pass(19).len();
    assert_eq!((first, again), (1, 3));
    // Another that asks for the address meanwhile is not told anything yet (RFC 6775 section 8.2.2).
    let other = asks(ROUTER, 6, global(HOST), registration(6, Some(1), 60));
    assert_eq!(lone.handle(6, &other), Err(Error::Busy));
    // TENTATIVE_NCE_LIFETIME.
    lone.pass(2);
    assert_eq!((lone.machine.poll_timeout(), lone.events()), (None, vec![]));
    lone.handle(6, &other).unwrap();
    assert_eq!(lone.sent().len(), 1);
}

#[test]
fn a_registration_is_kept_while_the_border_router_does_not_answer_its_renewal() {
    let mut lone = router();
    let confirm = |lone: &mut Lone<TestRegistrar>, transaction| {
        let message = Message::DuplicateAddressConfirmation(duplicate(HOST, Some(transaction), 60));
        lone.handle(ROUTER, &multihop(global(BORDER), global(ROUTER), message)).unwrap();
        lone.sent();
    };
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(3), 60))).unwrap();
    lone.sent();
    confirm(&mut lone, 3);
    lone.pass(1_800);
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(4), 60))).unwrap();
    assert_eq!(lone.sent().len(), 1);
    lone.pass(60);
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(5), 60))).unwrap();
    lone.sent();
    confirm(&mut lone, 5);
    lone.pass(3_599);
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    lone.pass(1);
    assert_eq!(lone.machine.neighbour(global(HOST)), None);
}

#[test]
fn a_host_that_leaves_is_reported_to_the_border_router() {
    let mut lone = router();
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(3), 60))).unwrap();
    lone.sent();
    let message = Message::DuplicateAddressConfirmation(duplicate(HOST, Some(3), 60));
    lone.handle(ROUTER, &multihop(global(BORDER), global(ROUTER), message)).unwrap();
    lone.sent();
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(4), 0))).unwrap();
    let sent = lone.sent();
    assert_eq!(status(&sent[0].1), Status::SUCCESS);
    assert_eq!(sent[1].1.message, Message::DuplicateAddressRequest(duplicate(HOST, Some(4), 0)));
    assert_eq!(lone.machine.registrations().count(), 0);
    let mut border = border_router();
    assert_eq!(confirmed(&mut border, ROUTER, duplicate(HOST, Some(3), 60)).status, Status::SUCCESS);
    assert_eq!(border.machine.registrations().count(), 1);
    assert_eq!(confirmed(&mut border, ROUTER, duplicate(HOST, Some(4), 0)).status, Status::SUCCESS);
    assert_eq!(border.machine.registrations().count(), 0);
}

/// RFC 8505 section 4.1: of a host that has moved, the router before is told.
#[test]
fn a_host_that_moves_is_known_at_its_new_router_and_not_at_the_old_one() {
    let mut border = border_router();
    assert_eq!(confirmed(&mut border, 1, duplicate(HOST, Some(3), 60)).status, Status::SUCCESS);
    let request =
        multihop(global(2), global(BORDER), Message::DuplicateAddressRequest(duplicate(HOST, Some(4), 60)));
    border.handle(2, &request).unwrap();
    let sent = border.sent();
    assert_eq!(sent[0].1.destination, global(2));
    let moved = sent[1].1.clone();
    assert_eq!(moved.destination, global(1));
    // What comes late from the old one is out of date.
    assert_eq!(confirmed(&mut border, 1, duplicate(HOST, Some(3), 60)).status, Status::MOVED);
    let mut old = router();
    old.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(3), 60))).unwrap();
    old.sent();
    let message = Message::DuplicateAddressConfirmation(duplicate(HOST, Some(3), 60));
    old.handle(ROUTER, &multihop(global(BORDER), global(ROUTER), message)).unwrap();
    old.sent();
    old.handle(ROUTER, &moved).unwrap();
    assert_eq!(old.machine.registrations().count(), 0);
    let told = old.sole();
    assert_eq!((told.destination, status(&told)), (link_local(HOST), Status::MOVED));
}

/// RFC 8505 section 5.7.
#[test]
fn the_place_of_a_registration_that_was_ended_is_kept_for_its_owner_for_a_while() {
    let mut border = border_router();
    assert_eq!(confirmed(&mut border, 1, duplicate(HOST, Some(3), 60)).status, Status::SUCCESS);
    assert_eq!(confirmed(&mut border, 1, duplicate(HOST, Some(5), 0)).status, Status::SUCCESS);
    assert_eq!(border.machine.registrations().count(), 0);
    border.events();
    assert_eq!(confirmed(&mut border, 1, duplicate(HOST, Some(4), 60)).status, Status::MOVED, "it came late");
    let other = DuplicateAddress { rovr: rovr(6), ..duplicate(HOST, Some(1), 60) };
    let other = multihop(global(2), global(BORDER), Message::DuplicateAddressRequest(other));
    assert_eq!(border.handle(2, &other), Err(Error::Busy));
    assert_eq!(
        confirmed(&mut border, 2, duplicate(HOST, Some(6), 60)).status,
        Status::SUCCESS,
        "it has moved"
    );
    assert_eq!(border.events(), [Event::RegistrationsChanged]);
    assert_eq!(confirmed(&mut border, 2, duplicate(HOST, Some(7), 0)).status, Status::SUCCESS);
    border.events();
    border.pass(5);
    assert_eq!((border.machine.poll_timeout(), border.events()), (None, vec![]));
    border.handle(2, &other).unwrap();
}

/// RFC 8505 section 5.2.
#[test]
fn a_host_that_registers_at_two_routers_by_one_id_has_not_moved() {
    let mut border = border_router();
    for router in [1, 2] {
        assert_eq!(confirmed(&mut border, router, duplicate(HOST, Some(3), 60)).status, Status::SUCCESS);
    }
    let later = Message::DuplicateAddressRequest(duplicate(HOST, Some(4), 60));
    border.handle(1, &multihop(global(1), global(BORDER), later)).unwrap();
    let sent: Vec<_> = border.sent().into_iter().map(|(_, packet)| packet.destination).collect();
    assert_eq!(sent, [global(1), global(2)], "by a later one it has");
}

/// RFC 8505 section 5.2: what is older does not undo what is newer.
#[test]
fn word_that_a_host_has_moved_is_ignored_once_it_is_back() {
    let mut lone = router();
    lone.handle(HOST, &asks(ROUTER, HOST, global(HOST), registration(HOST, Some(5), 60))).unwrap();
    lone.sent();
    let from_border =
        |message| multihop(global(BORDER), global(ROUTER), Message::DuplicateAddressConfirmation(message));
    lone.handle(ROUTER, &from_border(duplicate(HOST, Some(5), 60))).unwrap();
    lone.sent();
    let moved = |id| DuplicateAddress { status: Status::MOVED, ..duplicate(HOST, Some(id), 0) };
    assert_eq!(lone.handle(ROUTER, &from_border(moved(4))), Err(Error::Stale));
    assert_eq!(lone.machine.neighbour(global(HOST)), Some(node(HOST)));
    lone.handle(ROUTER, &from_border(moved(6))).unwrap();
    assert_eq!(lone.machine.neighbour(global(HOST)), None);
}

#[test]
fn answers_for_which_there_is_no_room_change_nothing() {
    let mut lone = border_router();
    for id in 10..14 {
        lone.handle(id, &asks(BORDER, id, link_local(id), registration(id, Some(1), 60))).unwrap();
    }
    let own = asks(BORDER, 10, link_local(10), registration(10, Some(2), 0));
    assert_eq!(lone.handle(10, &own), Err(Error::Busy));
    assert_eq!(lone.machine.registrations().count(), 4);
    assert_eq!(lone.sent().len(), 4);
    lone.handle(10, &own).unwrap();
    assert_eq!(lone.machine.registrations().count(), 3);
    assert_eq!(link_local(10).octets()[..8], LINK_LOCAL_PREFIX);
}

#[test]
fn who_wants_to_be_reached_is_told_to_a_routing_protocol_as_often_as_that_changes() {
    let mut lone = border_router();
    assert!(!lone.machine.poll_registered());
    let wants = |transaction, lifetime| AddressRegistration {
        wants_reachability: true,
        ..registration(HOST, Some(transaction), lifetime)
    };
    let told = |lone: &mut Lone<TestRegistrar>| {
        let now = lone.rig.now;
        let registered = lone.machine.registered(now);
        let all: Vec<_> = registered.map(|host| (host.address, host.transaction, host.lifetime)).collect();
        let has_changed = lone.machine.poll_registered();
        assert!(!lone.machine.poll_registered(), "once");
        (has_changed, all)
    };
    for address in [link_local(HOST), global(HOST)] {
        assert_eq!(register(&mut lone, HOST, &asks(BORDER, HOST, address, wants(240, 60))), Status::SUCCESS);
    }
    assert_eq!(told(&mut lone), (true, vec![(global(HOST), 240, 60)]), "on the link it is a neighbour");
    lone.pass(90);
    assert_eq!(told(&mut lone), (false, vec![(global(HOST), 240, 59)]));
    register(&mut lone, HOST, &asks(BORDER, HOST, global(HOST), wants(241, 30)));
    assert_eq!(told(&mut lone), (true, vec![(global(HOST), 241, 30)]), "renewed");
    register(&mut lone, HOST, &asks(BORDER, HOST, global(HOST), registration(HOST, Some(242), 30)));
    assert_eq!(told(&mut lone), (true, vec![]), "it does not want it any more");
    register(&mut lone, HOST, &asks(BORDER, HOST, global(HOST), wants(243, 1)));
    assert_eq!(told(&mut lone), (true, vec![(global(HOST), 243, 1)]));
    lone.pass(70);
    assert_eq!(told(&mut lone), (true, vec![]), "its time is over");
}
