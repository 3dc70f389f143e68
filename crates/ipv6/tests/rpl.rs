//! RPL's wire formats: figures of the RFCs filled in by hand, properties, and the parsers of smoltcp beside ours.

mod common;

use std::net::Ipv6Addr;

use common::{SOURCE, message_between, written};

use proptest::prelude::*;
use sixlock_ipv6::extension::Refusal;
use sixlock_ipv6::icmpv6::Problem;
use sixlock_ipv6::rpl::packet_information::{self, DROPPED_IF_UNKNOWN, SKIPPED_IF_UNKNOWN};
use sixlock_ipv6::rpl::{
    Builder, Configuration, Dao, DaoAck, Dco, DcoAck, Dio, Message, MetricObject, Metrics, ModeOfOperation,
    Options, PacketInformation, Prefix, PrefixInformation, RplOption, Solicited, Status, Transit,
    source_route,
};
use sixlock_ipv6::{Error, Header, next_header};
use smoltcp::wire::{
    Icmpv6Packet, Ipv6RoutingHeader, Ipv6RoutingRepr, RplHopByHopPacket, RplHopByHopRepr, RplOptionPacket,
    RplOptionRepr, RplRepr,
};

const DESTINATION: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1a);
/// Follows the source route of a packet; where it leads then.
fn advance(packet: &mut [u8], is_own: impl Fn(Ipv6Addr) -> bool) -> Result<Option<Ipv6Addr>, Refusal> {
    let leads_on = source_route::advance(packet, is_own)?;
    Ok(leads_on.then(|| destination(packet)))
}

const ROOT: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0x12, 0x7400, 0, 0);
const ROOT_OCTETS: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x74, 0, 0, 0, 0, 0];

fn built(message: &Message, options: &[RplOption<'_>]) -> Vec<u8> {
    written(|out| {
        let mut builder = Builder::new(out, message).unwrap();
        options.iter().for_each(|option| builder.option(option).unwrap());
        builder.finish(SOURCE, DESTINATION)
    })
}

fn parsed(message: &[u8]) -> Result<(Message, Options<'_>), Error> {
    Message::parse(SOURCE, DESTINATION, message)
}

/// The message whose bytes behind the checksum are `body`.
fn message(code: u8, body: &[u8]) -> Vec<u8> {
    message_between(SOURCE, DESTINATION, 155, code, body)
}

fn emitted(option: &RplOption<'_>) -> Vec<u8> {
    written(|out| option.emit(out).unwrap())
}

fn sole(bytes: &[u8]) -> Result<RplOption<'_>, Error> {
    let options = Options::parse(bytes)?;
    let mut all = options.iter();
    let option = all.next().unwrap();
    assert_eq!(all.next(), None);
    Ok(option)
}

fn node(id: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0x12, 0x7400, 0, id.into())
}

#[test]
fn messages_are_those_of_the_figures() {
    // RFC 6550 figures 13, 14, 16 and 17; RFC 9009 figures 3 and 4.
    let dio = Dio {
        instance: 0x1e,
        version: 0xf1,
        rank: 0x0180,
        grounded: true,
        mode: ModeOfOperation::NON_STORING,
        preference: 5,
        dtsn: 0xf2,
        dodag: ROOT,
    };
    let root = ROOT_OCTETS;
    for (message, code, head, address) in [
        (Message::Dis, 0, &[0, 0][..], &[][..]),
        (Message::Dio(dio), 1, &[0x1e, 0xf1, 0x01, 0x80, 0x8d, 0xf2, 0, 0], &root),
        (
            Message::Dao(Dao { instance: 1, wants_ack: true, sequence: 7, dodag: None }),
            2,
            &[1, 0x80, 0, 7],
            &[],
        ),
        (
            Message::Dao(Dao { instance: 1, wants_ack: false, sequence: 7, dodag: Some(ROOT) }),
            2,
            &[1, 0x40, 0, 7],
            &root,
        ),
        (
            Message::DaoAck(DaoAck { instance: 1, sequence: 7, status: Status(0x80), dodag: None }),
            3,
            &[1, 0, 7, 0x80],
            &[],
        ),
        (
            Message::DaoAck(DaoAck { instance: 1, sequence: 7, status: Status(0), dodag: Some(ROOT) }),
            3,
            &[1, 0x80, 7, 0],
            &root,
        ),
        (
            Message::Dco(Dco {
                instance: 1,
                wants_ack: true,
                status: Status(2),
                sequence: 9,
                dodag: Some(ROOT),
            }),
            7,
            &[1, 0xc0, 2, 9],
            &root,
        ),
        (
            Message::DcoAck(DcoAck { instance: 1, sequence: 9, status: Status(1), dodag: Some(ROOT) }),
            8,
            &[1, 0x80, 9, 1],
            &root,
        ),
    ] {
        let bytes = built(&message, &[]);
        assert_eq!((bytes[0], bytes[1]), (155, code));
        assert_eq!(bytes[4..], [head, address].concat(), "{message:?}");
        assert_eq!(parsed(&bytes).unwrap().0, message);
    }
}

#[test]
fn options_are_those_of_the_figures() {
    let configuration = Configuration {
        flags: Configuration::SKIPPABLE_OPTION,
        authenticated: false,
        path_control_size: 3,
        interval_doublings: 8,
        interval_minimum: 12,
        redundancy: 10,
        max_rank_increase: 0x0700,
        min_hop_rank_increase: 0x0080,
        objective: 1,
        default_lifetime: 30,
        lifetime_unit: 60,
    };
    let transit = Transit {
        external: true,
        invalidate: true,
        path_control: 0x80,
        path_sequence: 0xf0,
        path_lifetime: 30,
        parent: None,
    };
    let information = PrefixInformation {
        length: 64,
        on_link: false,
        autonomous: true,
        is_router_address: true,
        valid: 0x0102_0304,
        preferred: 0x0506_0708,
        address: ROOT,
    };
    let root = ROOT_OCTETS;
    let mut etx = [0; 16];
    let length = MetricObject::with_etx(&[0x01, 0x80]).emit(&mut etx).unwrap();
    let prefix = |length| Prefix::new(ROOT, length).unwrap();
    for (option, bytes) in [
        (RplOption::Pad(1), vec![0]),
        (RplOption::Pad(2), vec![1, 0]),
        (RplOption::Pad(5), vec![1, 3, 0, 0, 0]),
        // RFC 6551 figures 1 and 13: the header's flags are all zero for an aggregated, additive metric.
        (RplOption::Metrics(Metrics::parse(&etx[..length]).unwrap()), vec![2, 6, 7, 0, 0, 2, 0x01, 0x80]),
        (
            RplOption::RouteInformation { prefix: prefix(8), preference: 3, lifetime: 0x0001_0203 },
            vec![3, 7, 8, 0x18, 0, 1, 2, 3, 0xfd],
        ),
        (
            RplOption::Configuration(configuration),
            vec![4, 14, 0x13, 8, 12, 10, 7, 0, 0, 0x80, 0, 1, 0, 30, 0, 60],
        ),
        (RplOption::Target { prefix: Prefix::host(ROOT), flags: 0 }, [&[5, 18, 0, 128][..], &root].concat()),
        (RplOption::Target { prefix: prefix(13), flags: 0 }, vec![5, 4, 0, 13, 0xfd, 0]),
        (RplOption::Transit(transit), vec![6, 4, 0xc0, 0x80, 0xf0, 30]),
        (
            RplOption::Transit(Transit { external: false, invalidate: false, parent: Some(ROOT), ..transit }),
            [&[6, 20, 0, 0x80, 0xf0, 30][..], &root].concat(),
        ),
        (
            RplOption::Solicited(Solicited { instance: Some(9), dodag: Some(ROOT), version: Some(0xf3) }),
            [&[7, 19, 9, 0xe0][..], &root, &[0xf3]].concat(),
        ),
        (
            RplOption::PrefixInformation(information),
            [&[8, 30, 64, 0x60, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0][..], &root].concat(),
        ),
        (RplOption::TargetDescriptor(0x0102_0304), vec![9, 4, 1, 2, 3, 4]),
        (RplOption::Unknown { kind: 0x77, data: &[1, 2] }, vec![0x77, 2, 1, 2]),
    ] {
        assert_eq!(emitted(&option), bytes, "{option:?}");
        assert_eq!(sole(&bytes), Ok(option));
        for room in 0..bytes.len() {
            assert!(option.emit(&mut vec![0; room]).is_err(), "{option:?} in {room} bytes");
        }
    }
}

#[test]
fn metrics_say_their_values_and_flags() {
    // A mandatory constraint on the hop count, then a recorded, partial ETX of precedence 2.
    let bytes = [3, 0x02, 0x00, 2, 0, 4, 7, 0x04, 0xb2, 2, 0x01, 0x00];
    let metrics = Metrics::parse(&bytes).unwrap();
    let all: Vec<_> = metrics.iter().collect();
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].hop_count(), all[0].etx()), (Some(4), None));
    assert!(all[0].is_constraint && !all[0].is_optional);
    assert_eq!((all[1].etx(), all[1].aggregation, all[1].precedence), (Some(256), 3, 2));
    assert!(all[1].is_partial && all[1].is_recorded && !all[1].is_constraint);
    assert_eq!(MetricObject::with_hop_count(&[0, 4]).hop_count(), Some(4));
    for cut in [1, 5, 7, 11] {
        assert!(Metrics::parse(&bytes[..cut]).is_err(), "{cut}");
    }
}

/// Mistake 1: fields of an option are checked against the option, not against the message.
#[test]
fn an_option_reads_nothing_of_what_follows_it() {
    for short in [
        &[5, 0][..],
        &[5, 1, 0],
        &[5, 2, 0, 128],
        &[5, 4, 0, 128, 1, 2],
        &[6, 3, 0, 0, 0],
        &[6, 5, 0, 0, 0, 30, 1],
        &[4, 13, 0, 8, 12, 10, 7, 0, 0, 0x80, 0, 1, 0, 30, 0],
        &[3, 5, 8, 0, 0, 0, 0],
        &[3, 6, 8, 0, 0, 0, 0, 1],
        &[7, 18],
        &[8, 29],
        &[9, 3, 0, 0, 0],
        &[2, 3, 7, 0, 0],
        &[2, 5, 7, 0, 0, 2, 1],
    ] {
        // What is missing follows in the message, as another option's bytes.
        let mut options = short.to_vec();
        options.resize(short.len() + usize::from(short[1]) + 2 - short.len().min(2), 0);
        options.extend([0; 40]);
        let dis = message(0, &[&[0, 0][..], &options].concat());
        assert!(parsed(&dis).is_err(), "{short:?}");
    }
}

/// Mistake 2: no prefix has more than 128 bits.
#[test]
fn prefix_lengths_beyond_128_are_refused() {
    for length in 129..=255 {
        assert_eq!(Prefix::new(ROOT, length), None);
        let octets = [0xfd; 32];
        assert!(sole(&[&[5, 34, 0, length][..], &octets].concat()).is_err());
        assert!(sole(&[&[5, 18, 0, length][..], &octets[..16]].concat()).is_err());
        assert!(sole(&[&[3, 22, length, 0, 0, 0, 0, 1][..], &octets[..16]].concat()).is_err());
        let information = [&[8, 30, length, 0][..], &[0; 12], &ROOT_OCTETS].concat();
        assert!(sole(&information).is_err());
    }
    assert!(sole(&[&[5, 18, 0, 128][..], &ROOT_OCTETS].concat()).is_ok());
}

/// Mistake 3: no field is read before the length is known.
#[test]
fn every_shorter_message_is_refused_or_ends_between_options() {
    let dio = Dio {
        instance: 0,
        version: 240,
        rank: 256,
        grounded: true,
        mode: ModeOfOperation::STORING,
        preference: 0,
        dtsn: 240,
        dodag: ROOT,
    };
    let options = [RplOption::Pad(1), RplOption::TargetDescriptor(1), RplOption::Pad(1)];
    let whole = built(&Message::Dio(dio), &options);
    for end in 0..whole.len() {
        let body = whole.get(4..end).unwrap_or_default();
        let ends_between = [28, 29, 35].contains(&end);
        assert_eq!(parsed(&message(1, body)).is_ok(), ends_between, "{end}");
        assert!(parsed(&whole[..end]).is_err(), "{end}: its checksum is of more");
    }
    assert!(parsed(&message(0, &[0, 0, 0])).is_ok(), "Pad1 has no length");
    assert!(parsed(&message(0, &[0, 0, 1])).is_err(), "PadN has one");
}

#[test]
fn what_is_no_message_is_refused_with_the_reason() {
    let mut dis = built(&Message::Dis, &[]);
    dis[5] ^= 1;
    assert_eq!(parsed(&dis), Err(Error::Checksum));
    for code in [4, 5, 6, 9, 0x0a, 0x80, 0x81, 0x82, 0x83, 0x8a] {
        assert_eq!(parsed(&message(code, &[0; 40])), Err(Error::Unknown), "{code:#x}");
    }
    assert_eq!(parsed(&[128, 0, 0, 0]), Err(Error::Unknown), "an echo request");
    assert_eq!(parsed(&[155, 0, 0]), Err(Error::Truncated));
}

fn packet(next: u8, rest: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; Header::LEN];
    let header = Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: rest.len() as u16,
        next_header: next,
        hop_limit: 64,
        source: ROOT,
        destination: node(1),
    };
    header.emit(&mut packet).unwrap();
    packet.extend(rest);
    packet
}

#[test]
fn the_option_of_data_packets_is_found_in_both_spellings_and_behind_padding() {
    let information = PacketInformation {
        is_down: true,
        rank_error: false,
        forwarding_error: true,
        instance: 0x1e,
        sender_rank: 0x0102,
    };
    // RFC 6553 figure 1: the rank is in network byte order.
    assert_eq!(information.to_bytes(), [0xa0, 0x1e, 1, 2]);
    for kind in [DROPPED_IF_UNKNOWN, SKIPPED_IF_UNKNOWN] {
        let header = information.to_header(17, kind);
        assert_eq!(header, [17, 0, kind, 4, 0xa0, 0x1e, 1, 2]);
        assert_eq!(packet_information::find(&packet(0, &header)), Ok(Some(44)));
        let behind = [17, 1, 0, 1, 1, 0, kind, 4, 0xa0, 0x1e, 1, 2, 1, 2, 0, 0];
        assert_eq!(packet_information::find(&packet(0, &behind)), Ok(Some(48)));
        let short = [17, 0, kind, 3, 0, 0, 0, 0];
        assert_eq!(packet_information::find(&packet(0, &short)), Err(Error::Length));
    }
    assert_eq!(packet_information::find(&packet(0, &[17, 0, 1, 4, 0, 0, 0, 0])), Ok(None));
    assert_eq!(
        packet_information::find(&packet(60, &information.to_header(17, 0x63))),
        Ok(None),
        "destination options are read at the destination only"
    );
    assert_eq!(packet_information::find(&packet(0, &[17, 1, 1, 4, 0, 0, 0, 0])), Err(Error::Truncated));
    assert_eq!(packet_information::find(&packet(0, &[17, 0, 1, 5, 0, 0, 0, 0])), Err(Error::Length));
}

/// The packet from the root that visits node 1, then `hops`.
fn routed(hops: &[Ipv6Addr]) -> Vec<u8> {
    let mut header = [0xee; 400];
    let length =
        source_route::emit(&mut header, 17, node(1), hops.iter().copied(), source_route::MOST_LEFT_OUT)
            .unwrap();
    assert_eq!(
        Some(length),
        source_route::length(node(1), hops.iter().copied(), source_route::MOST_LEFT_OUT)
    );
    packet(next_header::ROUTING, &header[..length])
}

fn destination(packet: &[u8]) -> Ipv6Addr {
    Header::parse(packet).unwrap().0.destination
}

#[test]
fn a_source_route_is_that_of_the_figure() {
    // RFC 6554 figure 1, CmprI and CmprE 15, five octets of padding: three addresses of an octet each.
    let packet = routed(&[node(2), node(3), node(4)]);
    let header = [17, 1, 3, 3, 0xff, 0x50, 0, 0, 2, 3, 4, 0, 0, 0, 0, 0];
    assert_eq!(packet[40..], header);
}

#[test]
fn a_source_route_with_two_compressions_is_followed() {
    // CmprI 15, CmprE 13 (three octets), padding 3: two addresses.
    let header = [17, 1, 3, 2, 0xfd, 0x40, 0, 0, 2, 0x01, 0x02, 0x03, 0, 0, 0, 0];
    let mut packet = packet(next_header::ROUTING, &header);
    let last: Ipv6Addr = "fd00::12:7400:1:203".parse().unwrap();
    assert_eq!(source_route::final_destination(&packet), Some(last));
    assert_eq!(advance(&mut packet, |a| a == node(1)), Ok(Some(node(2))));
    assert_eq!(source_route::final_destination(&packet), Some(last));
    assert_eq!(packet[48], 1, "the address that it had takes the place");
    assert_eq!(advance(&mut packet, |a| a == node(2)), Ok(Some(last)));
    assert_eq!(destination(&packet), last);
    assert_eq!(source_route::final_destination(&packet), Some(last));
    assert_eq!(advance(&mut packet, |a| a == last), Ok(None));
}

#[test]
fn a_source_route_visits_each_address_and_keeps_those_it_has_visited() {
    let mut packet = routed(&[node(2), node(3), node(4)]);
    for hop in 1..=4 {
        assert_eq!(destination(&packet), node(hop));
        let next = advance(&mut packet, |address| address == node(hop));
        assert_eq!(next, Ok((hop < 4).then(|| node(hop + 1))));
    }
    assert_eq!(packet[40..52], [17, 1, 3, 0, 0xff, 0x50, 0, 0, 1, 2, 3, 0]);
}

/// Mistake 4: a route that comes back is a loop (RFC 6554 section 4.2), also if its next hop is this host.
#[test]
fn a_source_route_that_leads_back_here_is_refused() {
    let is_own = |address| address == node(1);
    for hops in [&[node(1), node(2)][..], &[node(2), node(1)], &[node(2), node(1), node(3)]] {
        let mut packet = routed(hops);
        let before = packet.clone();
        let advanced = advance(&mut packet, is_own);
        assert!(
            matches!(advanced, Err(Refusal::Problem { problem: Problem::Field, .. })),
            "{hops:?}: {advanced:?}"
        );
        assert_eq!(packet, before);
    }
}

/// Mistake 1: no length goes below zero; no more segments are left than there are.
#[test]
fn the_lengths_of_a_source_route_are_checked() {
    let problem = |pointer| Err(Refusal::Problem { problem: Problem::Field, pointer });
    let advance =
        |header: &[u8]| advance(&mut packet(next_header::ROUTING, header), |address| address == node(1));
    assert_eq!(advance(&[17, 0, 3, 1, 0, 0, 0, 0]), problem(41), "no room for one address");
    assert_eq!(advance(&[17, 1, 3, 1, 0xff, 0xf0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), problem(41), "all padding");
    assert_eq!(advance(&[17, 1, 3, 1, 0xd0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), problem(41));
    assert_eq!(
        advance(&[17, 1, 3, 1, 0xdd, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]),
        problem(41),
        "no whole address"
    );
    assert_eq!(advance(&[17, 1, 3, 2, 0xff, 0x70, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), problem(43), "two of one");
    assert_eq!(advance(&[17, 1, 3, 1, 0xff, 0x70, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), Ok(Some(node(2))));
    let to_group = [&[17, 2, 3, 1, 0, 0, 0, 0][..], &[0xff, 2], &[0; 13], &[1]].concat();
    assert_eq!(advance(&to_group), Err(Refusal::Silent), "to a group");
    assert_eq!(advance(&[17, 0, 2, 1, 0, 0, 0, 0]), Ok(None), "of another type");
}

/// Mistake 5: a source route stands behind destination options, too, and a chain of headers ends.
#[test]
fn a_source_route_is_found_behind_other_headers_and_no_chain_is_endless() {
    let route = routed(&[node(2)]);
    let options = [43, 0, 1, 4, 0, 0, 0, 0];
    let mut behind = packet(next_header::DESTINATION, &[&options, &route[40..]].concat());
    assert_eq!(advance(&mut behind, |address| address == node(1)), Ok(Some(node(2))));
    let mut unknown = packet(next_header::DESTINATION, &[[60, 0, 1, 4, 0, 0, 0, 0]; 200].concat());
    assert_eq!(advance(&mut unknown, |_| false), Err(Refusal::Silent));
    let mut other = packet(253, &[253; 64]);
    assert_eq!(advance(&mut other, |_| false), Ok(None));
}

fn address() -> impl Strategy<Value = Ipv6Addr> {
    any::<u128>().prop_map(Ipv6Addr::from)
}

/// Addresses with much in common.
fn close_address() -> impl Strategy<Value = Ipv6Addr> {
    (0u128..1 << 20, prop_oneof![Just(0u32), Just(40), Just(70)])
        .prop_map(|(low, shift)| Ipv6Addr::from((0xfd00 << 112) | (low + 1) << shift))
}

fn any_message() -> impl Strategy<Value = Message> {
    let dodag = || prop::option::of(address());
    prop_oneof![
        Just(Message::Dis),
        (any::<[u8; 3]>(), any::<u16>(), any::<bool>(), 0u8..8, 0u8..8, address()).prop_map(
            |([instance, version, dtsn], rank, grounded, mode, preference, dodag)| {
                let mode = ModeOfOperation(mode);
                Message::Dio(Dio { instance, version, rank, grounded, mode, preference, dtsn, dodag })
            }
        ),
        (any::<u8>(), any::<bool>(), any::<u8>(), dodag()).prop_map(
            |(instance, wants_ack, sequence, dodag)| Message::Dao(Dao {
                instance,
                wants_ack,
                sequence,
                dodag
            })
        ),
        (any::<u8>(), any::<u8>(), any::<u8>(), dodag()).prop_map(|(instance, sequence, status, dodag)| {
            Message::DaoAck(DaoAck { instance, sequence, status: Status(status), dodag })
        }),
        (any::<u8>(), any::<bool>(), any::<u8>(), any::<u8>(), dodag()).prop_map(
            |(instance, wants_ack, status, sequence, dodag)| Message::Dco(Dco {
                instance,
                wants_ack,
                status: Status(status),
                sequence,
                dodag
            })
        ),
        (any::<u8>(), any::<u8>(), any::<u8>(), dodag()).prop_map(|(instance, sequence, status, dodag)| {
            Message::DcoAck(DcoAck { instance, sequence, status: Status(status), dodag })
        }),
    ]
}

fn any_prefix() -> impl Strategy<Value = Prefix> {
    (address(), 0u8..=128).prop_map(|(address, length)| Prefix::new(address, length).unwrap())
}

/// Any option but for those that hold bytes.
fn any_option() -> impl Strategy<Value = RplOption<'static>> {
    let configuration = (0u8..16, any::<bool>(), 0u8..8, any::<[u8; 4]>(), any::<[u16; 4]>()).prop_map(
        |(flags, authenticated, path_control_size, [d, m, k, l], [max, min, objective, unit])| {
            RplOption::Configuration(Configuration {
                flags,
                authenticated,
                path_control_size,
                interval_doublings: d,
                interval_minimum: m,
                redundancy: k,
                max_rank_increase: max,
                min_hop_rank_increase: min,
                objective,
                default_lifetime: l,
                lifetime_unit: unit,
            })
        },
    );
    let transit = (any::<bool>(), any::<bool>(), any::<[u8; 3]>(), prop::option::of(address())).prop_map(
        |(external, invalidate, [path_control, path_sequence, path_lifetime], parent)| {
            RplOption::Transit(Transit {
                external,
                invalidate,
                path_control,
                path_sequence,
                path_lifetime,
                parent,
            })
        },
    );
    let solicited = (any::<Option<u8>>(), prop::option::of(address()), any::<Option<u8>>())
        .prop_map(|(instance, dodag, version)| RplOption::Solicited(Solicited { instance, dodag, version }));
    let information = (0u8..=128, any::<[bool; 3]>(), any::<[u32; 2]>(), address()).prop_map(
        |(length, [on_link, autonomous, is_router_address], [valid, preferred], address)| {
            RplOption::PrefixInformation(PrefixInformation {
                length,
                on_link,
                autonomous,
                is_router_address,
                valid,
                preferred,
                address,
            })
        },
    );
    prop_oneof![
        (1u8..=255).prop_map(RplOption::Pad),
        (any_prefix(), 0u8..4, any::<u32>()).prop_map(|(prefix, preference, lifetime)| {
            RplOption::RouteInformation { prefix, preference, lifetime }
        }),
        configuration,
        (any_prefix(), any::<u8>()).prop_map(|(prefix, flags)| RplOption::Target { prefix, flags }),
        transit,
        solicited,
        information,
        any::<u32>().prop_map(RplOption::TargetDescriptor),
    ]
}

proptest! {
    #[test]
    fn a_message_is_read_as_it_was_built(
        message in any_message(), options in prop::collection::vec(any_option(), 0..5), data in prop::collection::vec(any::<u8>(), 0..=253),
    ) {
        let unknown = RplOption::Unknown { kind: 200, data: &data };
        let options = [&options[..], &[unknown]].concat();
        let bytes = built(&message, &options);
        let (read, read_options) = parsed(&bytes).unwrap();
        prop_assert_eq!(read, message);
        prop_assert_eq!(read_options.iter().collect::<Vec<_>>(), options);
    }

    #[test]
    fn metrics_are_read_as_they_were_emitted(
        objects in prop::collection::vec((any::<u8>(), any::<[bool; 4]>(), 0u8..8, 0u8..16, prop::collection::vec(any::<u8>(), 0..9)), 0..8),
    ) {
        let objects: Vec<_> = objects.iter().map(|(kind, [p, c, o, r], aggregation, precedence, body)| MetricObject {
            kind: *kind, is_partial: *p, is_constraint: *c, is_optional: *o, is_recorded: *r,
            aggregation: *aggregation, precedence: *precedence, body,
        }).collect();
        let mut bytes = vec![0; 255];
        let mut length = 0;
        for object in &objects {
            length += object.emit(&mut bytes[length..]).unwrap();
        }
        bytes.truncate(length);
        let option = RplOption::Metrics(Metrics::parse(&bytes).unwrap());
        let emitted = emitted(&option);
        let RplOption::Metrics(read) = sole(&emitted).unwrap() else { panic!() };
        prop_assert_eq!(read.iter().collect::<Vec<_>>(), objects);
    }

    #[test]
    fn any_message_is_refused_or_read_to_its_end(code in prop_oneof![0u8..9, any::<u8>()], body in prop::collection::vec(
        prop_oneof![0u8..10, any::<u8>()], 0..120)) {
        let bytes = message(code, &body);
        if let Ok((message, options)) = parsed(&bytes) {
            let all: Vec<_> = options.iter().collect();
            let again = built(&message, &all);
            // Reserved bits aside, it says the same.
            let (read, read_options) = parsed(&again).unwrap();
            prop_assert_eq!(read, message);
            prop_assert_eq!(read_options.iter().collect::<Vec<_>>(), all);
        }
    }

    #[test]
    fn what_a_data_packet_says_is_read_as_it_was_written(bits: [bool; 3], instance: u8, sender_rank: u16) {
        let [is_down, rank_error, forwarding_error] = bits;
        let information = PacketInformation { is_down, rank_error, forwarding_error, instance, sender_rank };
        prop_assert_eq!(PacketInformation::from_bytes(information.to_bytes()), information);
    }

    #[test]
    fn any_hop_by_hop_header_is_searched_within_itself(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0x63), any::<u8>()], 0..64)) {
        if let Ok(Some(at)) = packet_information::find(&packet(0, &bytes)) {
            prop_assert!(at + 4 <= 40 + 8 * (usize::from(bytes[1]) + 1));
            prop_assert!(matches!(bytes[at - 42], 0x63 | 0x23));
        }
    }

    #[test]
    fn a_route_over_any_addresses_visits_them_all(hops in prop::collection::hash_set(close_address(), 1..16)) {
        let hops: Vec<_> = hops.into_iter().filter(|hop| *hop != node(1)).collect();
        prop_assume!(!hops.is_empty());
        let mut packet = routed(&hops);
        let mut here = node(1);
        for hop in &hops {
            prop_assert_eq!(advance(&mut packet, |address| address == here), Ok(Some(*hop)));
            here = *hop;
        }
        prop_assert_eq!(advance(&mut packet, |address| address == here), Ok(None));
    }

    #[test]
    fn any_routing_header_is_refused_or_followed_within_itself(
        fixed in any::<[u8; 6]>(), units in 0u8..6, rest in prop::collection::vec(any::<u8>(), 0..48),
    ) {
        let [segments, compression, padding, a, b, next] = fixed;
        let header = [&[next, units, 3, segments & 7, compression, padding & 0x7f, a, b], &rest[..]].concat();
        let mut packet = packet(next_header::ROUTING, &header);
        let before = packet.clone();
        match advance(&mut packet, |address| address == node(1)) {
            Ok(Some(next)) => {
                prop_assert_eq!(destination(&packet), next);
                prop_assert_eq!(packet[43], before[43] - 1);
                prop_assert_eq!(packet.len(), before.len());
            }
            _ => prop_assert_eq!(packet, before),
        }
    }

    #[test]
    fn smoltcp_reads_the_same_of_messages(message in any_message(), options in prop::collection::vec(any_option(), 0..3)) {
        let bytes = built(&message, &options);
        let theirs = RplRepr::parse(&Icmpv6Packet::new_unchecked(&bytes[..]));
        match (message, theirs) {
            (Message::Dis, Ok(RplRepr::DodagInformationSolicitation { options })) => prop_assert_eq!(options, &bytes[6..]),
            (Message::Dio(ours), Ok(RplRepr::DodagInformationObject {
                rpl_instance_id, version_number, rank, grounded, mode_of_operation, dodag_preference, dtsn, dodag_id, options,
            })) => {
                prop_assert_eq!(u8::from(rpl_instance_id), ours.instance);
                prop_assert_eq!((version_number, rank, grounded), (ours.version, ours.rank, ours.grounded));
                prop_assert_eq!((u8::from(mode_of_operation), dodag_preference), (ours.mode.0, ours.preference));
                prop_assert_eq!((dtsn, dodag_id), (ours.dtsn, ours.dodag));
                prop_assert_eq!(options, &bytes[28..]);
            }
            (Message::Dao(ours), Ok(RplRepr::DestinationAdvertisementObject { rpl_instance_id, expect_ack, sequence, dodag_id, .. })) => {
                prop_assert_eq!((u8::from(rpl_instance_id), expect_ack), (ours.instance, ours.wants_ack));
                prop_assert_eq!((sequence, dodag_id), (ours.sequence, ours.dodag));
            }
            (Message::DaoAck(ours), Ok(RplRepr::DestinationAdvertisementObjectAck { rpl_instance_id, sequence, status, dodag_id })) => {
                prop_assert_eq!((u8::from(rpl_instance_id), sequence), (ours.instance, ours.sequence));
                prop_assert_eq!((status, dodag_id), (ours.status.0, ours.dodag));
            }
            (Message::Dco(_) | Message::DcoAck(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(false, "{:?} and {:?}", ours, theirs),
        }
    }

    #[test]
    fn smoltcp_reads_the_same_of_options(option in any_option()) {
        let bytes = emitted(&option);
        let theirs = RplOptionPacket::new_unchecked(&bytes[..]);
        // It takes targets that are whole addresses only, and of a route's prefix all but its last two octets.
        match &option {
            RplOption::Target { prefix, .. } if prefix.length() <= 120 => return Ok(()),
            RplOption::RouteInformation { prefix, .. } if prefix.length() <= 16 => return Ok(()),
            _ => {}
        }
        let theirs = RplOptionRepr::parse(&theirs);
        match (option, theirs) {
            (RplOption::Pad(1), Ok(RplOptionRepr::Pad1)) => {}
            (RplOption::Pad(length), Ok(RplOptionRepr::PadN(n))) => prop_assert_eq!(length, n + 2),
            (RplOption::RouteInformation { prefix, preference, lifetime }, Ok(RplOptionRepr::RouteInformation {
                prefix_length, preference: theirs, lifetime: their_lifetime, ..
            })) => {
                prop_assert_eq!((prefix_length, theirs, their_lifetime), (prefix.length(), preference, lifetime));
            }
            (RplOption::Configuration(ours), Ok(RplOptionRepr::DodagConfiguration {
                authentication_enabled, path_control_size, dio_interval_doublings, dio_interval_min, dio_redundancy_constant,
                max_rank_increase, minimum_hop_rank_increase, objective_code_point, default_lifetime, lifetime_unit,
            })) => {
                prop_assert_eq!((authentication_enabled, path_control_size), (ours.authenticated, ours.path_control_size));
                prop_assert_eq!(dio_interval_doublings, ours.interval_doublings);
                prop_assert_eq!((dio_interval_min, dio_redundancy_constant), (ours.interval_minimum, ours.redundancy));
                prop_assert_eq!((max_rank_increase, minimum_hop_rank_increase), (ours.max_rank_increase, ours.min_hop_rank_increase));
                prop_assert_eq!((objective_code_point, default_lifetime, lifetime_unit), (ours.objective, ours.default_lifetime, ours.lifetime_unit));
            }
            (RplOption::Target { prefix, .. }, Ok(RplOptionRepr::RplTarget { prefix_length, prefix: address })) => {
                prop_assert_eq!((prefix_length, address), (prefix.length(), prefix.address()));
            }
            (RplOption::Transit(ours), Ok(RplOptionRepr::TransitInformation { external, path_control, path_sequence, path_lifetime, parent_address })) => {
                prop_assert_eq!((external, path_control, path_sequence), (ours.external, ours.path_control, ours.path_sequence));
                prop_assert_eq!((path_lifetime, parent_address), (ours.path_lifetime, ours.parent));
            }
            (RplOption::Solicited(ours), Ok(RplOptionRepr::SolicitedInformation {
                rpl_instance_id, version_predicate, instance_id_predicate, dodag_id_predicate, dodag_id, version_number,
            })) => {
                prop_assert_eq!(instance_id_predicate.then_some(u8::from(rpl_instance_id)), ours.instance);
                prop_assert_eq!(dodag_id_predicate.then_some(dodag_id), ours.dodag);
                prop_assert_eq!(version_predicate.then_some(version_number), ours.version);
            }
            (RplOption::PrefixInformation(ours), Ok(RplOptionRepr::PrefixInformation {
                prefix_length, on_link, autonomous_address_configuration, router_address, valid_lifetime, preferred_lifetime, destination_prefix,
            })) => {
                prop_assert_eq!((prefix_length, on_link, autonomous_address_configuration), (ours.length, ours.on_link, ours.autonomous));
                prop_assert_eq!((router_address, valid_lifetime, preferred_lifetime), (ours.is_router_address, ours.valid, ours.preferred));
                prop_assert_eq!(destination_prefix, &ours.address.octets()[..]);
            }
            (RplOption::TargetDescriptor(ours), Ok(RplOptionRepr::RplTargetDescriptor { descriptor })) => prop_assert_eq!(descriptor, ours),
            (ours, theirs) => prop_assert!(false, "{:?} and {:?}", ours, theirs),
        }
    }

    #[test]
    fn smoltcp_reads_the_same_of_data_packets(bytes: [u8; 4]) {
        let ours = PacketInformation::from_bytes(bytes);
        let theirs = RplHopByHopRepr::parse(&RplHopByHopPacket::new_unchecked(&bytes[..]));
        prop_assert_eq!((ours.is_down, ours.rank_error, ours.forwarding_error), (theirs.down, theirs.rank_error, theirs.forwarding_error));
        prop_assert_eq!((ours.instance, ours.sender_rank), (u8::from(theirs.instance_id), theirs.sender_rank));
    }

    #[test]
    fn smoltcp_reads_the_same_of_source_routes(hops in prop::collection::vec(close_address(), 1..12)) {
        let packet = routed(&hops);
        // It reads the header behind its next header field and its length.
        let header = Ipv6RoutingHeader::new_checked(&packet[42..]).unwrap();
        let Ok(Ipv6RoutingRepr::Rpl { segments_left, cmpr_i, cmpr_e, pad, addresses }) = Ipv6RoutingRepr::parse(&header) else {
            panic!("not a source route");
        };
        let count = usize::from(segments_left);
        prop_assert_eq!((count, cmpr_i), (hops.len(), cmpr_e));
        let each = 16 - usize::from(cmpr_i);
        prop_assert_eq!(count * each + usize::from(pad), addresses.len());
        for (hop, octets) in hops.iter().zip(addresses.chunks(each)) {
            prop_assert_eq!(&hop.octets()[16 - each..], octets);
        }
    }
}
