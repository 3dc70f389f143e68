//! Neighbour discovery with scapy on the other side: each reads what the other writes, and both write the same.

use std::net::Ipv6Addr;

use sixlock_interop::{Scapy, altered};
use sixlock_ipv6::nd::{
    ALL_NODES, ALL_ROUTERS, AddressRegistration, BorderRouter, Builder, Capabilities, Context,
    DuplicateAddress, HOP_LIMIT, LinkLayerAddress, Message, NdOption, NeighbourAdvertisement, Prefix,
    PrefixInformation, RouterAdvertisement, Rovr, Status,
};
use sixlock_ipv6::{Header, next_header};

const HOST: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x12, 0x7400, 0, 5);
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x12, 0x7400, 0, 6);
const GLOBAL: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0x12, 0x7400, 0, 5);
const BORDER_ROUTER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const EUI: [u8; 8] = [2, 0x12, 0x74, 0, 0, 0, 0, 5];

/// A message by its name in scapy's list, and how it is sent.
struct Case {
    name: &'static str,
    message: Message,
    options: Vec<NdOption>,
    source: Ipv6Addr,
    destination: Ipv6Addr,
    hop_limit: u8,
}

impl Case {
    fn packet(&self) -> Vec<u8> {
        let mut packet = vec![0; 400];
        let mut builder = Builder::new(&mut packet[Header::LEN..], &self.message).unwrap();
        for option in &self.options {
            builder.option(option).unwrap();
        }
        let length = builder.finish(self.source, self.destination);
        let header = Header {
            traffic_class: 0,
            flow_label: 0,
            payload_length: length as u16,
            next_header: next_header::ICMPV6,
            hop_limit: self.hop_limit,
            source: self.source,
            destination: self.destination,
        };
        header.emit(&mut packet).unwrap();
        packet.truncate(Header::LEN + length);
        packet
    }
}

fn cases() -> Vec<Case> {
    let case = |name, message, options: &[NdOption], source, destination| Case {
        name,
        message,
        options: options.to_vec(),
        source,
        destination,
        hop_limit: HOP_LIMIT,
    };
    let short = LinkLayerAddress::Short(0x0102);
    let source_address = NdOption::SourceLinkLayerAddress(short);
    let advertisement = Message::RouterAdvertisement(RouterAdvertisement {
        hop_limit: 64,
        managed: true,
        other_configuration: true,
        lifetime: 0x0102,
        reachable_time: 0x0304_0506,
        retransmission_time: 0x0708_090a,
    });
    let information = |on_link| {
        NdOption::PrefixInformation(PrefixInformation {
            length: 64,
            on_link,
            autonomous: !on_link,
            is_router_address: false,
            valid: 0x0102_0304,
            preferred: 0x0506_0708,
            address: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),
        })
    };
    let context = |length, compresses| {
        let prefix = Prefix::new(GLOBAL, length).unwrap();
        NdOption::Context(Context { id: 5, compresses, lifetime: 0x0203, prefix })
    };
    let border_router =
        NdOption::BorderRouter(BorderRouter { version: 0x0102_0304, lifetime: 0x0506, address: GLOBAL });
    let capabilities = NdOption::Capabilities(Capabilities {
        extended_duplicate_address: true,
        router: true,
        border_router: true,
        routing_registrar: true,
        extended_registration: true,
        generic_compression: true,
    });
    let plain = AddressRegistration {
        status: Status::SUCCESS,
        opaque: 0,
        opaque_kind: 0,
        wants_reachability: false,
        transaction: None,
        lifetime: 0x0102,
        rovr: Rovr(EUI),
    };
    let extended =
        AddressRegistration { opaque: 7, wants_reachability: true, transaction: Some(0xf1), ..plain };
    let refused = AddressRegistration { status: Status::NEIGHBOUR_CACHE_FULL, transaction: Some(0), ..plain };
    let registration = NdOption::AddressRegistration;
    let solicitation = Message::NeighbourSolicitation { target: GLOBAL };
    let answer = |router, solicited, overrides| {
        let message = NeighbourAdvertisement { router, solicited, overrides, target: GLOBAL };
        Message::NeighbourAdvertisement(message)
    };
    let duplicate = |transaction, status| DuplicateAddress {
        status,
        transaction,
        lifetime: 0x0102,
        rovr: Rovr(EUI),
        address: GLOBAL,
    };
    let multihop = |name, message| Case { hop_limit: 64, ..case(name, message, &[], GLOBAL, BORDER_ROUTER) };
    let request = |transaction| Message::DuplicateAddressRequest(duplicate(transaction, Status::SUCCESS));
    let confirmation =
        Message::DuplicateAddressConfirmation(duplicate(Some(0xf1), Status::DUPLICATE_ADDRESS));
    let extended_address = NdOption::SourceLinkLayerAddress(LinkLayerAddress::Extended(EUI));
    vec![
        case("rs", Message::RouterSolicitation, &[source_address], HOST, ALL_ROUTERS),
        case("rs-extended", Message::RouterSolicitation, &[extended_address], HOST, ALL_ROUTERS),
        case("rs-from-nowhere", Message::RouterSolicitation, &[], Ipv6Addr::UNSPECIFIED, ALL_ROUTERS),
        case("ra", advertisement, &[], ROUTER, ALL_NODES),
        case(
            "ra-options",
            advertisement,
            &[information(false), NdOption::Mtu(1280), source_address],
            ROUTER,
            ALL_NODES,
        ),
        case("ra-on-link", advertisement, &[information(true)], ROUTER, ALL_NODES),
        case(
            "ra-6lowpan",
            advertisement,
            &[context(64, true), context(128, false), border_router, capabilities],
            ROUTER,
            ALL_NODES,
        ),
        case("ns", solicitation, &[source_address], HOST, ROUTER),
        case("ns-aro", solicitation, &[registration(plain)], HOST, ROUTER),
        case("ns-earo", solicitation, &[registration(extended)], HOST, ROUTER),
        case("na", answer(true, true, false), &[NdOption::TargetLinkLayerAddress(short)], ROUTER, HOST),
        case("na-overrides", answer(false, false, true), &[], ROUTER, HOST),
        case("na-earo", answer(true, true, false), &[registration(refused)], ROUTER, HOST),
        multihop("dar", request(None)),
        multihop("edar", request(Some(0xf1))),
        multihop("edac", confirmation),
    ]
}

#[test]
fn both_write_the_same_and_each_reads_what_the_other_writes() {
    let mut scapy = Scapy::start("neighbour_discovery.py");
    for case in cases() {
        let theirs = scapy.build(case.name);
        let (header, message) = Header::parse(&theirs).unwrap();
        let (read, options) = Message::parse(header.source, header.destination, message)
            .unwrap_or_else(|error| panic!("{}: {error:?}", case.name));
        assert_eq!((read, options.iter().collect::<Vec<_>>()), (case.message, case.options.clone()));
        let ours = case.packet();
        scapy.agrees(case.name, &ours);
        let altered = altered(&ours);
        let (header, message) = Header::parse(&altered).unwrap();
        assert!(Message::parse(header.source, header.destination, message).is_err(), "{}", case.name);
    }
}
