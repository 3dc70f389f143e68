//! Neighbour discovery's wire formats: figures of the RFCs filled in by hand, properties, and the parsers of smoltcp beside ours.

mod common;

use std::net::Ipv6Addr;

use common::{SOURCE, message_between, written};

use proptest::prelude::*;
use sixlock_ipv6::Error;
use sixlock_ipv6::nd::{
    ALL_NODES, ALL_ROUTERS, AddressRegistration, BorderRouter, Builder, Capabilities, Context,
    DuplicateAddress, EncodedRegistration, LinkLayerAddress, Message, NdOption, NeighbourAdvertisement,
    Options, Prefix, PrefixInformation, RouterAdvertisement, Rovr, Status, is_type, solicited_node,
};
use smoltcp::wire::{
    Icmpv6Packet, NdiscNeighborFlags, NdiscOption, NdiscOptionRepr, NdiscPrefixInfoFlags, NdiscRepr,
    NdiscRouterFlags,
};

const DESTINATION: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x12, 0x7400, 0, 6);
const ADDRESS: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0x12, 0x7400, 0, 5);
const ADDRESS_OCTETS: [u8; 16] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0x12, 0x74, 0, 0, 0, 0, 5];
const EUI: [u8; 8] = [2, 0x12, 0x74, 0, 0, 0, 0, 5];

fn built(message: &Message, options: &[NdOption]) -> Vec<u8> {
    written(|out| {
        let mut builder = Builder::new(out, message).unwrap();
        options.iter().for_each(|option| builder.option(option).unwrap());
        builder.finish(SOURCE, DESTINATION)
    })
}

fn parsed(message: &[u8]) -> Result<(Message, Options<'_>), Error> {
    Message::parse(SOURCE, DESTINATION, message)
}

fn message(kind: u8, code: u8, body: &[u8]) -> Vec<u8> {
    message_between(SOURCE, DESTINATION, kind, code, body)
}

fn emitted(option: &NdOption) -> Vec<u8> {
    written(|out| option.emit(out).unwrap())
}

fn read(bytes: &[u8]) -> Result<Vec<NdOption>, Error> {
    Ok(Options::parse(bytes)?.iter().collect())
}

fn advertisement() -> RouterAdvertisement {
    RouterAdvertisement {
        hop_limit: 64,
        managed: true,
        other_configuration: true,
        lifetime: 0x0102,
        reachable_time: 0x0304_0506,
        retransmission_time: 0x0708_090a,
    }
}

fn duplicate(transaction: Option<u8>) -> DuplicateAddress {
    DuplicateAddress { status: Status(2), transaction, lifetime: 0x0304, rovr: Rovr(EUI), address: ADDRESS }
}

fn registration() -> AddressRegistration {
    AddressRegistration {
        status: Status(0),
        opaque: 0,
        opaque_kind: 0,
        wants_reachability: false,
        transaction: None,
        lifetime: 0x0102,
        rovr: Rovr(EUI),
    }
}

#[test]
fn messages_are_those_of_the_figures() {
    let address = ADDRESS_OCTETS;
    let with_rovr = [&EUI[..], &address].concat();
    let neighbour = |router, solicited, overrides| {
        let message = NeighbourAdvertisement { router, solicited, overrides, target: ADDRESS };
        Message::NeighbourAdvertisement(message)
    };
    // RFC 4861 sections 4.1 to 4.4, RFC 6775 section 4.4, RFC 8505 section 4.2.
    for (message, head, rest) in [
        (Message::RouterSolicitation, [133, 0, 0, 0, 0, 0], &[][..]),
        (Message::RouterAdvertisement(advertisement()), [134, 0, 64, 0xc0, 1, 2], &[3, 4, 5, 6, 7, 8, 9, 10]),
        (Message::NeighbourSolicitation { target: ADDRESS }, [135, 0, 0, 0, 0, 0], &address),
        (neighbour(true, false, false), [136, 0, 0x80, 0, 0, 0], &address),
        (neighbour(false, true, false), [136, 0, 0x40, 0, 0, 0], &address),
        (neighbour(false, false, true), [136, 0, 0x20, 0, 0, 0], &address),
        (Message::DuplicateAddressRequest(duplicate(None)), [157, 0, 2, 0, 3, 4], &with_rovr),
        (Message::DuplicateAddressRequest(duplicate(Some(9))), [157, 1, 2, 9, 3, 4], &with_rovr),
        (Message::DuplicateAddressConfirmation(duplicate(None)), [158, 0, 2, 0, 3, 4], &with_rovr),
        (Message::DuplicateAddressConfirmation(duplicate(Some(9))), [158, 1, 2, 9, 3, 4], &with_rovr),
    ] {
        let bytes = built(&message, &[]);
        assert_eq!(bytes[..2], head[..2], "{message:?}");
        assert_eq!(bytes[4..], [&head[2..], rest].concat(), "{message:?}");
        assert!(is_type(bytes[0]));
        let (again, options) = parsed(&bytes).unwrap();
        assert_eq!((again, options.iter().count()), (message, 0));
        for room in 0..bytes.len() {
            assert!(Builder::new(&mut vec![0; room], &message).is_err(), "{message:?} in {room} bytes");
        }
    }
}

#[test]
fn options_are_those_of_the_figures() {
    let address = ADDRESS_OCTETS;
    let information = PrefixInformation {
        length: 64,
        on_link: false,
        autonomous: true,
        is_router_address: false,
        valid: 0x0102_0304,
        preferred: 0x0506_0708,
        address: ADDRESS,
    };
    let context = |length, compresses| {
        let prefix = Prefix::new(ADDRESS, length).unwrap();
        NdOption::Context(Context { id: 5, compresses, lifetime: 0x0203, prefix })
    };
    let extended = AddressRegistration {
        status: Status::NEIGHBOUR_CACHE_FULL,
        opaque: 7,
        opaque_kind: 2,
        wants_reachability: true,
        transaction: Some(0xf1),
        ..registration()
    };
    let capabilities = |change: fn(&mut Capabilities)| {
        let mut capabilities = Capabilities::NONE;
        change(&mut capabilities);
        NdOption::Capabilities(capabilities)
    };
    let prefix: [u8; 8] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0];
    for (option, bytes) in [
        // RFC 4944 section 8.
        (
            NdOption::SourceLinkLayerAddress(LinkLayerAddress::Extended(EUI)),
            [&[1, 2][..], &EUI, &[0; 6]].concat(),
        ),
        (NdOption::SourceLinkLayerAddress(LinkLayerAddress::Short(0x0102)), vec![1, 1, 1, 2, 0, 0, 0, 0]),
        (
            NdOption::TargetLinkLayerAddress(LinkLayerAddress::Extended(EUI)),
            [&[2, 2][..], &EUI, &[0; 6]].concat(),
        ),
        (NdOption::TargetLinkLayerAddress(LinkLayerAddress::Short(0x0102)), vec![2, 1, 1, 2, 0, 0, 0, 0]),
        // RFC 4861 sections 4.6.2 and 4.6.4.
        (
            NdOption::PrefixInformation(information),
            [&[3, 4, 64, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0][..], &address].concat(),
        ),
        (
            NdOption::PrefixInformation(PrefixInformation {
                on_link: true,
                autonomous: false,
                ..information
            }),
            [&[3, 4, 64, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0][..], &address].concat(),
        ),
        (NdOption::Mtu(0x0102_0304), vec![5, 1, 0, 0, 1, 2, 3, 4]),
        // RFC 6775 section 4.1, RFC 8505 section 4.1.
        (NdOption::AddressRegistration(registration()), [&[33, 2, 0, 0, 0, 0, 1, 2][..], &EUI].concat()),
        (NdOption::AddressRegistration(extended), [&[33, 2, 2, 7, 0x0b, 0xf1, 1, 2][..], &EUI].concat()),
        // RFC 6775 section 4.2.
        (context(64, true), [&[34, 2, 64, 0x15, 0, 0, 2, 3][..], &prefix].concat()),
        (context(32, false), [&[34, 2, 32, 0x05, 0, 0, 2, 3][..], &prefix].concat()),
        (context(128, true), [&[34, 3, 128, 0x15, 0, 0, 2, 3][..], &address].concat()),
        // RFC 6775 section 4.3.
        (
            NdOption::BorderRouter(BorderRouter { version: 0x0102_0304, lifetime: 0x0506, address: ADDRESS }),
            [&[35, 3, 3, 4, 1, 2, 5, 6][..], &address].concat(),
        ),
        // RFC 8505 section 4.3.
        (capabilities(|all| all.extended_duplicate_address = true), vec![36, 1, 0, 0x20, 0, 0, 0, 0]),
        (capabilities(|all| all.router = true), vec![36, 1, 0, 0x10, 0, 0, 0, 0]),
        (capabilities(|all| all.border_router = true), vec![36, 1, 0, 0x08, 0, 0, 0, 0]),
        (capabilities(|all| all.routing_registrar = true), vec![36, 1, 0, 0x04, 0, 0, 0, 0]),
        (capabilities(|all| all.extended_registration = true), vec![36, 1, 0, 0x02, 0, 0, 0, 0]),
        (capabilities(|all| all.generic_compression = true), vec![36, 1, 0, 0x01, 0, 0, 0, 0]),
    ] {
        assert_eq!(emitted(&option), bytes, "{option:?}");
        assert_eq!(read(&bytes), Ok(vec![option]));
        for room in 0..bytes.len() {
            assert!(option.emit(&mut vec![0; room]).is_err(), "{option:?} in {room} bytes");
        }
    }
}

#[test]
fn what_is_reserved_is_ignored() {
    let reserved = [&[33, 2, 0, 0, 0xf2, 0xf1, 1, 2][..], &EUI].concat();
    let expected = AddressRegistration { wants_reachability: true, ..registration() };
    assert_eq!(
        read(&reserved),
        Ok(vec![NdOption::AddressRegistration(expected)]),
        "without T there is no id"
    );
    let padded = [&[1, 2][..], &EUI, &[9; 6]].concat();
    let eui = LinkLayerAddress::Extended(EUI);
    assert_eq!(read(&padded), Ok(vec![NdOption::SourceLinkLayerAddress(eui)]));
    // The bits behind a context's prefix, and the six bits of the capabilities beside those that are known.
    let context = [&[34, 2, 13, 0xf5, 9, 9, 0, 1][..], &[0xff; 8]].concat();
    let prefix = Prefix::new(Ipv6Addr::new(0xfff8, 0, 0, 0, 0, 0, 0, 0), 13).unwrap();
    let expected = Context { id: 5, compresses: true, lifetime: 1, prefix };
    assert_eq!(read(&context), Ok(vec![NdOption::Context(expected)]));
    let none = NdOption::Capabilities(Capabilities::NONE);
    assert_eq!(read(&[36, 1, 0xff, 0xc0, 9, 9, 9, 9]), Ok(vec![none]));
    let solicitation = message(133, 0, &[9, 9, 9, 9]);
    assert_eq!(parsed(&solicitation).unwrap().0, Message::RouterSolicitation);
    let confirmation = message(158, 0, &[&[2, 9, 3, 4], &EUI[..], &ADDRESS_OCTETS].concat());
    assert_eq!(parsed(&confirmation).unwrap().0, Message::DuplicateAddressConfirmation(duplicate(None)));
}

/// [RFC 4861 section 4.6](https://www.rfc-editor.org/rfc/rfc4861#section-4.6).
#[test]
fn unknown_options_are_ignored_and_one_without_length_discards_the_message() {
    let mtu = [5, 1, 0, 0, 0, 0, 5, 0];
    let unknown = [&[0x77, 2][..], &[9; 14]].concat();
    let all = [&unknown[..], &mtu, &unknown].concat();
    assert_eq!(read(&all), Ok(vec![NdOption::Mtu(1280)]));
    assert_eq!(read(&[&mtu[..], &[0x77, 0, 0, 0, 0, 0, 0, 0]].concat()), Err(Error::Length));
    for end in 1..mtu.len() {
        assert_eq!(read(&[&unknown[..], &mtu[..end]].concat()), Err(Error::Truncated), "{end}");
    }
    for (kind, fixed) in [(133, 4), (134, 12), (135, 20), (136, 20), (157, 28), (158, 28)] {
        let mut body = vec![0; fixed];
        assert!(parsed(&message(kind, 0, &body)).is_ok(), "{kind}");
        body.extend([0x77, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parsed(&message(kind, 0, &body)), Err(Error::Length), "{kind}");
    }
}

/// RFC 6775 section 6.5: a registration whose length is not 2 is ignored. Of the others the same is done.
#[test]
fn an_option_of_a_wrong_length_for_its_type_is_ignored() {
    let lengths: [(u8, &[u8]); 8] =
        [(1, &[1, 2]), (2, &[1, 2]), (3, &[4]), (5, &[1]), (33, &[2]), (34, &[2, 3]), (35, &[3]), (36, &[1])];
    for (kind, right) in lengths {
        for units in 1..=5 {
            let mut option = vec![0; usize::from(units) * 8];
            option[..2].copy_from_slice(&[kind, units]);
            let found = read(&option).unwrap().len();
            assert_eq!(found, usize::from(right.contains(&units)), "{kind} of {units}");
        }
    }
}

/// RFC 6775 section 6.5: where a registration's length is wrong, the whole solicitation counts for nothing; so the option is not only ignored.
#[test]
fn a_registration_of_a_wrong_length_is_told_from_none() {
    let found = |bytes: &[u8]| {
        let mut registration = EncodedRegistration::NONE;
        Options::parse(bytes).unwrap().address_registration(&mut registration)
    };
    assert_eq!(found(&[5, 1, 0, 0, 0, 0, 5, 0]), Ok(false));
    for units in 1..=5_u8 {
        let mut option = vec![0; usize::from(units) * 8];
        option[..2].copy_from_slice(&[33, units]);
        assert_eq!(found(&option).is_ok_and(|found| found), units == 2, "{units}");
        assert_eq!(found(&option).is_err(), units != 2, "{units}");
    }
}

#[test]
fn a_prefix_is_no_longer_than_an_address_or_than_there_is_room_for() {
    for length in 0..=255_u8 {
        let information = [&[3, 4, length, 0][..], &[0; 28]].concat();
        assert_eq!(read(&information).unwrap().len(), usize::from(length <= 128), "{length}");
        let short = [&[34, 2, length, 0][..], &[0; 12]].concat();
        assert_eq!(read(&short).unwrap().len(), usize::from(length <= 64), "{length}");
        let long = [&[34, 3, length, 0][..], &[0; 20]].concat();
        assert_eq!(read(&long).unwrap().len(), usize::from(length <= 128), "{length}");
    }
}

#[test]
fn every_shorter_message_is_refused_or_ends_between_options() {
    let options = [NdOption::Mtu(1280), NdOption::SourceLinkLayerAddress(LinkLayerAddress::Short(1))];
    for (message_of, fixed) in [
        (Message::RouterSolicitation, 8),
        (Message::RouterAdvertisement(advertisement()), 16),
        (Message::NeighbourSolicitation { target: ADDRESS }, 24),
        (
            Message::NeighbourAdvertisement(NeighbourAdvertisement {
                router: false,
                solicited: true,
                overrides: false,
                target: ADDRESS,
            }),
            24,
        ),
        (Message::DuplicateAddressRequest(duplicate(Some(1))), 32),
        (Message::DuplicateAddressConfirmation(duplicate(None)), 32),
    ] {
        let whole = built(&message_of, &options);
        assert_eq!(whole.len(), fixed + 16);
        for end in 0..whole.len() {
            let body = whole.get(4..end).unwrap_or_default();
            let ends_between = end == fixed || end == fixed + 8;
            assert_eq!(parsed(&message(whole[0], whole[1], body)).is_ok(), ends_between, "{end}");
            assert!(parsed(&whole[..end]).is_err(), "{end}: its checksum is of more");
        }
    }
}

#[test]
fn what_is_no_message_is_refused_with_the_reason() {
    let mut solicitation = built(&Message::RouterSolicitation, &[]);
    solicitation[5] ^= 1;
    assert_eq!(parsed(&solicitation), Err(Error::Checksum));
    for kind in 0..=255 {
        let known = matches!(kind, 133..=136 | 157 | 158);
        assert_eq!(is_type(kind), known, "{kind}");
        assert_eq!(parsed(&message(kind, 0, &[0; 32])) == Err(Error::Unknown), !known, "{kind}");
    }
    for code in 1..=255 {
        for kind in 133..=136 {
            assert_eq!(parsed(&message(kind, code, &[0; 32])), Err(Error::Unknown), "{kind} {code}");
        }
        for kind in [157, 158] {
            // RFC 8505 section 4.2: other codes are those of longer verifiers.
            assert_eq!(parsed(&message(kind, code, &[0; 28])).is_ok(), code == 1, "{kind} {code}");
        }
    }
    assert_eq!(parsed(&[133, 0, 0]), Err(Error::Truncated));
}

/// [RFC 4861 sections 6.1 and 7.1](https://www.rfc-editor.org/rfc/rfc4861#section-6.1).
#[test]
fn addresses_that_may_not_stand_there_are_refused() {
    let nowhere = Ipv6Addr::UNSPECIFIED;
    let group = solicited_node(ADDRESS);
    let link_layer_address = [&[1, 2][..], &EUI, &[0; 6]].concat();
    // One that is of no length for its type is one too.
    let odd = [&[1, 3][..], &[0; 22]].concat();
    let router_solicitation = [0; 4].to_vec();
    let router_advertisement = [0; 12].to_vec();
    let solicitation = [&[0; 4][..], &ADDRESS_OCTETS].concat();
    let to_group = [&[0; 4][..], &ALL_NODES.octets()].concat();
    let unsolicited = [&[0xa0, 0, 0, 0][..], &ADDRESS_OCTETS].concat();
    let solicited = [&[0x40, 0, 0, 0][..], &ADDRESS_OCTETS].concat();
    let duplicate = |address: Ipv6Addr| [&[0; 12][..], &address.octets()].concat();
    let cases = [
        (133, &router_solicitation[..], &[][..], nowhere, ALL_ROUTERS, true),
        (133, &router_solicitation, &link_layer_address, SOURCE, ALL_ROUTERS, true),
        (133, &router_solicitation, &link_layer_address, nowhere, ALL_ROUTERS, false),
        (133, &router_solicitation, &odd, nowhere, ALL_ROUTERS, false),
        (134, &router_advertisement, &[], SOURCE, ALL_NODES, true),
        (134, &router_advertisement, &[], ADDRESS, ALL_NODES, false),
        (134, &router_advertisement, &[], nowhere, ALL_NODES, false),
        (135, &solicitation, &link_layer_address, SOURCE, DESTINATION, true),
        (135, &solicitation, &[], nowhere, group, true),
        (135, &solicitation, &link_layer_address, nowhere, group, false),
        (135, &solicitation, &[], nowhere, ADDRESS, false),
        (135, &solicitation, &[], nowhere, ALL_NODES, false),
        (135, &to_group, &[], SOURCE, DESTINATION, false),
        (136, &solicited, &[], SOURCE, DESTINATION, true),
        (136, &unsolicited, &[], SOURCE, ALL_NODES, true),
        (136, &solicited, &[], SOURCE, ALL_NODES, false),
        (136, &to_group, &[], SOURCE, DESTINATION, false),
        (157, &duplicate(ADDRESS), &[], ADDRESS, DESTINATION, true),
        (157, &duplicate(ALL_NODES), &[], ADDRESS, DESTINATION, false),
        (157, &duplicate(ADDRESS), &[], nowhere, DESTINATION, false),
        (157, &duplicate(ADDRESS), &[], ADDRESS, ALL_ROUTERS, false),
        (158, &duplicate(ADDRESS), &[], ADDRESS, DESTINATION, true),
        (158, &duplicate(ALL_NODES), &[], ADDRESS, DESTINATION, false),
        (158, &duplicate(ADDRESS), &[], nowhere, DESTINATION, false),
        (158, &duplicate(ADDRESS), &[], ADDRESS, ALL_NODES, false),
        // RFC 4291 section 2.7: no packet comes from a group; RFC 6775 section 8.2.1 says so again.
        (133, &router_solicitation, &[], ALL_NODES, ALL_ROUTERS, false),
        (135, &solicitation, &[], ALL_NODES, DESTINATION, false),
        (136, &solicited, &[], ALL_NODES, DESTINATION, false),
        (157, &duplicate(ADDRESS), &[], ALL_NODES, DESTINATION, false),
        (158, &duplicate(ADDRESS), &[], ALL_NODES, DESTINATION, false),
    ];
    for (n, (kind, body, options, source, destination, is_good)) in cases.into_iter().enumerate() {
        let bytes = message_between(source, destination, kind, 0, &[body, options].concat());
        let taken = Message::parse(source, destination, &bytes).map(drop);
        assert_eq!(taken, if is_good { Ok(()) } else { Err(Error::Address) }, "case {n}");
    }
}

/// [RFC 4291 section 2.7.1](https://www.rfc-editor.org/rfc/rfc4291#section-2.7.1) has this example.
#[test]
fn the_group_of_those_that_may_have_an_address_is_that_of_the_rfc() {
    let address: Ipv6Addr = "4037::01:800:200e:8c6c".parse().unwrap();
    assert_eq!(solicited_node(address), "ff02::1:ff0e:8c6c".parse::<Ipv6Addr>().unwrap());
}

fn address() -> impl Strategy<Value = Ipv6Addr> {
    any::<u128>().prop_map(|bits| (bits & !(0xff << 120) | 0x20 << 120).into())
}

fn any_duplicate() -> impl Strategy<Value = DuplicateAddress> {
    (any::<u8>(), any::<Option<u8>>(), any::<u16>(), any::<[u8; 8]>(), address()).prop_map(
        |(status, transaction, lifetime, rovr, address)| DuplicateAddress {
            status: Status(status),
            transaction,
            lifetime,
            rovr: Rovr(rovr),
            address,
        },
    )
}

fn any_message() -> impl Strategy<Value = Message> {
    prop_oneof![
        Just(Message::RouterSolicitation),
        (any::<u8>(), any::<[bool; 2]>(), any::<u16>(), any::<[u32; 2]>()).prop_map(
            |(hop_limit, [managed, other_configuration], lifetime, [reachable_time, retransmission_time])| {
                Message::RouterAdvertisement(RouterAdvertisement {
                    hop_limit,
                    managed,
                    other_configuration,
                    lifetime,
                    reachable_time,
                    retransmission_time,
                })
            }
        ),
        address().prop_map(|target| Message::NeighbourSolicitation { target }),
        (any::<[bool; 3]>(), address()).prop_map(|([router, solicited, overrides], target)| {
            let message = NeighbourAdvertisement { router, solicited, overrides, target };
            Message::NeighbourAdvertisement(message)
        }),
        any_duplicate().prop_map(Message::DuplicateAddressRequest),
        any_duplicate().prop_map(Message::DuplicateAddressConfirmation),
    ]
}

fn any_link_layer_address() -> impl Strategy<Value = LinkLayerAddress> {
    prop_oneof![
        any::<[u8; 8]>().prop_map(LinkLayerAddress::Extended),
        any::<u16>().prop_map(LinkLayerAddress::Short)
    ]
}

fn any_option() -> impl Strategy<Value = NdOption> {
    prop_oneof![
        any_link_layer_address().prop_map(NdOption::SourceLinkLayerAddress),
        any_link_layer_address().prop_map(NdOption::TargetLinkLayerAddress),
        (0..=128_u8, any::<[bool; 3]>(), any::<[u32; 2]>(), address()).prop_map(
            |(length, [on_link, autonomous, is_router_address], [valid, preferred], address)| {
                NdOption::PrefixInformation(PrefixInformation {
                    length,
                    on_link,
                    autonomous,
                    is_router_address,
                    valid,
                    preferred,
                    address,
                })
            }
        ),
        any::<u32>().prop_map(NdOption::Mtu),
        (any::<[u8; 2]>(), 0..4_u8, any::<bool>(), any::<Option<u8>>(), any::<u16>(), any::<[u8; 8]>())
            .prop_map(|([status, opaque], opaque_kind, wants_reachability, transaction, lifetime, rovr)| {
                NdOption::AddressRegistration(AddressRegistration {
                    status: Status(status),
                    opaque,
                    opaque_kind,
                    wants_reachability,
                    transaction,
                    lifetime,
                    rovr: Rovr(rovr),
                })
            }),
        (0..16_u8, any::<bool>(), any::<u16>(), address(), 0..=128_u8).prop_map(
            |(id, compresses, lifetime, address, length)| {
                let prefix = Prefix::new(address, length).unwrap();
                NdOption::Context(Context { id, compresses, lifetime, prefix })
            }
        ),
        (any::<u32>(), any::<u16>(), address()).prop_map(|(version, lifetime, address)| {
            NdOption::BorderRouter(BorderRouter { version, lifetime, address })
        }),
        any::<[bool; 6]>().prop_map(
            |[
                extended_duplicate_address,
                router,
                border_router,
                routing_registrar,
                extended_registration,
                generic_compression,
            ]| {
                NdOption::Capabilities(Capabilities {
                    extended_duplicate_address,
                    router,
                    border_router,
                    routing_registrar,
                    extended_registration,
                    generic_compression,
                })
            }
        ),
    ]
}

/// The same by smoltcp; `None` for messages that it does not have.
fn smoltcp_message<'a>(message: &Message) -> Option<NdiscRepr<'a>> {
    let milliseconds = |millis: u32| smoltcp::time::Duration::from_millis(millis.into());
    Some(match message {
        Message::RouterSolicitation => NdiscRepr::RouterSolicit { lladdr: None },
        Message::RouterAdvertisement(said) => {
            let mut flags = NdiscRouterFlags::empty();
            flags.set(NdiscRouterFlags::MANAGED, said.managed);
            flags.set(NdiscRouterFlags::OTHER, said.other_configuration);
            NdiscRepr::RouterAdvert {
                hop_limit: said.hop_limit,
                flags,
                router_lifetime: smoltcp::time::Duration::from_secs(said.lifetime.into()),
                reachable_time: milliseconds(said.reachable_time),
                retrans_time: milliseconds(said.retransmission_time),
                lladdr: None,
                mtu: None,
                prefix_info: None,
            }
        }
        Message::NeighbourSolicitation { target } => {
            NdiscRepr::NeighborSolicit { target_addr: *target, lladdr: None }
        }
        Message::NeighbourAdvertisement(said) => {
            let mut flags = NdiscNeighborFlags::empty();
            flags.set(NdiscNeighborFlags::ROUTER, said.router);
            flags.set(NdiscNeighborFlags::SOLICITED, said.solicited);
            flags.set(NdiscNeighborFlags::OVERRIDE, said.overrides);
            NdiscRepr::NeighborAdvert { flags, target_addr: said.target, lladdr: None }
        }
        _ => return None,
    })
}

proptest! {
    #[test]
    fn a_message_is_read_as_it_was_built(
        message in any_message(), options in prop::collection::vec(any_option(), 0..6),
    ) {
        let bytes = built(&message, &options);
        let (again, found) = parsed(&bytes).unwrap();
        prop_assert_eq!(again, message);
        prop_assert_eq!(found.iter().collect::<Vec<_>>(), options);
    }

    #[test]
    fn any_message_is_refused_or_read_to_its_end(
        kind in prop_oneof![133u8..137, 157u8..159, any::<u8>()], code in prop_oneof![Just(0u8), Just(1), any::<u8>()],
        body in prop::collection::vec(prop_oneof![0u8..6, 32u8..37, any::<u8>()], 0..90),
    ) {
        let bytes = message(kind, code, &body);
        if let Ok((message, options)) = parsed(&bytes) {
            // What was understood is written and read again as it was.
            let options: Vec<_> = options.iter().collect();
            let again = built(&message, &options);
            let (message_again, options_again) = parsed(&again).unwrap();
            prop_assert_eq!(message_again, message);
            prop_assert_eq!(options_again.iter().collect::<Vec<_>>(), options);
        }
    }

    #[test]
    fn smoltcp_reads_the_same_of_messages(message in any_message()) {
        let bytes = built(&message, &[]);
        let Some(expected) = smoltcp_message(&message) else { return Ok(()) };
        let packet = Icmpv6Packet::new_checked(&bytes[..]).unwrap();
        prop_assert_eq!(NdiscRepr::parse(&packet).unwrap(), expected);
        prop_assert!(packet.verify_checksum(&SOURCE, &DESTINATION));
    }

    #[test]
    fn smoltcp_reads_the_same_of_options(option in any_option()) {
        let bytes = emitted(&option);
        let theirs = NdiscOptionRepr::parse(&NdiscOption::new_checked(&bytes[..]).unwrap()).unwrap();
        let address = |address: LinkLayerAddress| match address {
            LinkLayerAddress::Extended(eui) => eui.to_vec(),
            LinkLayerAddress::Short(short) => short.to_be_bytes().to_vec(),
        };
        match (option, theirs) {
            // smoltcp takes the padding for a part of the address.
            (NdOption::SourceLinkLayerAddress(ours), NdiscOptionRepr::SourceLinkLayerAddr(theirs))
            | (NdOption::TargetLinkLayerAddress(ours), NdiscOptionRepr::TargetLinkLayerAddr(theirs)) => {
                prop_assert!(theirs.as_bytes().starts_with(&address(ours)));
            }
            (NdOption::Mtu(ours), NdiscOptionRepr::Mtu(theirs)) => prop_assert_eq!(ours, theirs),
            (NdOption::PrefixInformation(ours), NdiscOptionRepr::PrefixInformation(theirs)) => {
                prop_assert_eq!(ours.length, theirs.prefix_len);
                prop_assert_eq!(ours.on_link, theirs.flags.contains(NdiscPrefixInfoFlags::ON_LINK));
                prop_assert_eq!(ours.autonomous, theirs.flags.contains(NdiscPrefixInfoFlags::ADDRCONF));
                prop_assert_eq!(u64::from(ours.valid), theirs.valid_lifetime.secs());
                prop_assert_eq!(u64::from(ours.preferred), theirs.preferred_lifetime.secs());
                prop_assert_eq!(ours.address, theirs.prefix);
            }
            // It does not know the others, and takes their length from the option.
            (_, NdiscOptionRepr::Unknown { type_, length, data }) => {
                prop_assert_eq!((type_, usize::from(length) * 8, data), (bytes[0], bytes.len(), &bytes[2..]));
            }
            (ours, theirs) => prop_assert!(false, "{:?} and {:?}", ours, theirs),
        }
    }
}
