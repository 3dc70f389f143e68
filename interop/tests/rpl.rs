//! RPL with scapy on the other side: each reads what the other writes, and both write the same.

use std::net::Ipv6Addr;

use sixlock_interop::{Scapy, altered};
use sixlock_ipv6::rpl::packet_information::{self, SKIPPED_IF_UNKNOWN};
use sixlock_ipv6::rpl::{
    ALL_RPL_NODES, Builder, Configuration, Dao, DaoAck, Dco, DcoAck, Dio, INFINITE_RANK, Message,
    MetricObject, Metrics, ModeOfOperation, PacketInformation, Prefix, PrefixInformation, RplOption,
    Solicited, Status, Transit,
};
use sixlock_ipv6::{Header, next_header, udp};
use sixlock_testing::packets;

const NODE: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x12, 0x7400, 0, 5);
const PARENT: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x12, 0x7400, 0, 6);
const GLOBAL: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0x12, 0x7400, 0, 5);
const UPPER: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0x12, 0x7400, 0, 6);
const ROOT: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0x12, 0x7400, 0, 0);
const INSTANCE: u8 = 0x1e;

/// A message by its name in scapy's list, and how it is sent.
struct Case<'a> {
    name: &'static str,
    message: Message,
    options: Vec<RplOption<'a>>,
    source: Ipv6Addr,
    destination: Ipv6Addr,
}

impl Case<'_> {
    fn packet(&self) -> Vec<u8> {
        let mut message = vec![0; 400];
        let mut builder = Builder::new(&mut message, &self.message).unwrap();
        for option in &self.options {
            builder.option(option).unwrap();
        }
        let length = builder.finish(self.source, self.destination);
        packets::packet(self.source, self.destination, 255, next_header::ICMPV6, &message[..length])
    }
}

/// The value of ETX, to be aggregated, and a bound on the hops.
fn metrics(out: &mut [u8]) -> Metrics<'_> {
    let object = MetricObject {
        kind: MetricObject::ETX,
        is_partial: false,
        is_constraint: false,
        is_optional: false,
        is_recorded: false,
        aggregation: 0,
        precedence: 2,
        body: &[0x01, 0x80],
    };
    let hops = MetricObject {
        kind: MetricObject::HOP_COUNT,
        is_constraint: true,
        precedence: 0,
        body: &[0, 9],
        ..object
    };
    let mut length = 0;
    for object in [object, hops] {
        length += object.emit(&mut out[length..]).unwrap();
    }
    Metrics::parse(&out[..length]).unwrap()
}

fn cases<'a>(metrics: Metrics<'a>) -> Vec<Case<'a>> {
    let case = |name, message, options: &[RplOption<'a>], source, destination| Case {
        name,
        message,
        options: options.to_vec(),
        source,
        destination,
    };
    let to_all = |name, message, options: &[RplOption<'a>]| case(name, message, options, NODE, ALL_RPL_NODES);
    let up = |name, message, options: &[RplOption<'a>]| case(name, message, options, NODE, PARENT);
    let solicited = Solicited { instance: Some(INSTANCE), dodag: Some(ROOT), version: Some(0xf1) };
    let dio = Dio {
        instance: INSTANCE,
        version: 0xf1,
        rank: 0x0203,
        grounded: true,
        mode: ModeOfOperation::NON_STORING,
        preference: 3,
        dtsn: 0xf2,
        dodag: ROOT,
    };
    let floating = Dio { rank: INFINITE_RANK, grounded: false, mode: ModeOfOperation::STORING, ..dio };
    let configuration = RplOption::Configuration(Configuration {
        flags: Configuration::SKIPPABLE_OPTION,
        authenticated: false,
        path_control_size: 5,
        interval_doublings: 8,
        interval_minimum: 12,
        redundancy: 10,
        max_rank_increase: 1792,
        min_hop_rank_increase: 256,
        objective: 1,
        default_lifetime: 30,
        lifetime_unit: 60,
    });
    let prefix = RplOption::PrefixInformation(PrefixInformation {
        length: 64,
        on_link: false,
        autonomous: true,
        is_router_address: true,
        valid: 0x0102_0304,
        preferred: 0x0506_0708,
        address: UPPER,
    });
    let node = Prefix::new(GLOBAL, 128).unwrap();
    let route = RplOption::RouteInformation { prefix: node, preference: 1, lifetime: 0x0102_0304 };
    let target = RplOption::Target { prefix: node, flags: 0x80 };
    let transit = Transit {
        external: false,
        invalidate: false,
        path_control: 0,
        path_sequence: 7,
        path_lifetime: 30,
        parent: None,
    };
    let gone = Transit { path_lifetime: 0, ..transit };
    let to_root =
        Transit { external: true, invalidate: true, path_control: 0x80, parent: Some(UPPER), ..gone };
    let dao = Dao { instance: INSTANCE, wants_ack: true, sequence: 0xf3, dodag: None };
    let ack = DaoAck { instance: INSTANCE, sequence: 0xf3, status: Status::ACCEPTED, dodag: None };
    let refused = DaoAck { status: Status::REJECTED, dodag: Some(ROOT), ..ack };
    let dco = Dco { instance: INSTANCE, wants_ack: true, status: Status::ACCEPTED, sequence: 5, dodag: None };
    let of_root = Dco { wants_ack: false, status: Status::REJECTED, dodag: Some(ROOT), ..dco };
    let cleaned = DcoAck { instance: INSTANCE, sequence: 5, status: Status::NO_ROUTING_ENTRY, dodag: None };
    let of_known = DcoAck { status: Status::ACCEPTED, dodag: Some(ROOT), ..cleaned };
    vec![
        to_all("dis", Message::Dis, &[]),
        to_all("dis-solicited", Message::Dis, &[RplOption::Solicited(solicited)]),
        to_all("dio", Message::Dio(dio), &[]),
        up("dio-floating", Message::Dio(floating), &[]),
        to_all(
            "dio-options",
            Message::Dio(dio),
            &[configuration, prefix, RplOption::Pad(1), RplOption::Pad(4)],
        ),
        to_all("dio-route", Message::Dio(dio), &[route]),
        to_all("dio-metrics", Message::Dio(dio), &[RplOption::Metrics(metrics)]),
        up("dao", Message::Dao(dao), &[target, RplOption::Transit(transit)]),
        case(
            "dao-root",
            Message::Dao(Dao { wants_ack: false, dodag: Some(ROOT), ..dao }),
            &[target, RplOption::TargetDescriptor(0x0102_0304), RplOption::Transit(to_root)],
            GLOBAL,
            ROOT,
        ),
        case("dao-ack", Message::DaoAck(ack), &[], PARENT, NODE),
        case("dao-ack-refused", Message::DaoAck(refused), &[], ROOT, GLOBAL),
        up("dco", Message::Dco(dco), &[target, RplOption::Transit(gone)]),
        up("dco-root", Message::Dco(of_root), &[target]),
        up("dco-ack", Message::DcoAck(cleaned), &[]),
        up("dco-ack-root", Message::DcoAck(of_known), &[]),
    ]
}

#[test]
fn both_write_the_same_messages_and_each_reads_what_the_other_writes() {
    let mut scapy = Scapy::start("rpl.py");
    let mut room = [0; 32];
    for case in cases(metrics(&mut room)) {
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

#[test]
fn both_write_the_same_option_into_data_packets() {
    let information = PacketInformation {
        is_down: true,
        rank_error: false,
        forwarding_error: true,
        instance: INSTANCE,
        sender_rank: 0x0203,
    };
    let ports = udp::Header { source_port: 1000, destination_port: 7 };
    let datagram = packets::udp(ROOT, UPPER, 64, ports, b"data");
    let header = information.to_header(next_header::UDP, SKIPPED_IF_UNKNOWN);
    let behind = [&header, &datagram[Header::LEN..]].concat();
    let ours = packets::packet(ROOT, UPPER, 64, next_header::HOP_BY_HOP, &behind);
    let mut scapy = Scapy::start("rpl.py");
    scapy.agrees("data", &ours);
    let theirs = scapy.build("data");
    let at = packet_information::find(&theirs).unwrap().unwrap();
    let said = *theirs[at..].first_chunk().unwrap();
    assert_eq!(PacketInformation::from_bytes(said), information);
}
