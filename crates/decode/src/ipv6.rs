//! IPv6 packets and what they carry.

use std::net::Ipv6Addr;

use sixlock_ipv6::extension::{Chain, Extension, MAX_HEADERS, Upper};
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_ipv6::rpl::{PacketInformation, packet_information, source_route};
use sixlock_ipv6::{Header, next_header, rpl, udp};

use crate::dtls::Sessions;
use crate::keys::Keys;
use crate::layer::{self, Data, Icmpv6, Ipv6, Layer, Reason, RplInformation, Udp, Unread, words};
use crate::{coap, dtls, ipsec};

/// IPv6 packets one in the other that are looked into.
const NESTED: usize = 3;

/// The ports of CoAP, plain and over DTLS.
const COAP: u16 = 5683;
const COAPS: u16 = 5684;

/// Reads a whole packet.
pub(crate) fn decode(
    keys: &Keys,
    sessions: &mut Sessions,
    packet: &[u8],
    layers: &mut Vec<Layer>,
) -> Result<(), Unread> {
    let mut packet = packet.to_vec();
    for _ in 0..NESTED {
        let (header, payload) =
            Header::parse(&packet).map_err(|error| Unread::malformed("IPv6", packet.len(), error))?;
        let length = Header::LEN + payload.len();
        packet.truncate(length);
        let final_destination =
            source_route::final_destination(&packet).filter(|end| *end != header.destination);
        layers.push(Layer::Ipv6(Ipv6 {
            bytes: Header::LEN,
            source: header.source,
            destination: header.destination,
            final_destination,
            hop_limit: header.hop_limit,
            next_header: header.next_header,
            traffic_class: header.traffic_class,
            flow_label: header.flow_label,
        }));
        let destination = final_destination.unwrap_or(header.destination);
        let upper = extensions(keys, &mut packet, layers)?;
        let inner = packet.get(upper.at..).unwrap_or_default();
        let source = header.source;
        let unsupported = |what, why| Err(Unread::new(what, inner.len(), Reason::Unsupported, why));
        match upper.protocol {
            next_header::IPV6 => packet = inner.to_vec(),
            next_header::UDP => return udp(keys, sessions, source, destination, inner, layers),
            next_header::ICMPV6 => return icmpv6(source, destination, inner, layers),
            next_header::NONE => return Ok(()),
            next_header::FRAGMENT => {
                return unsupported("fragment of IPv6", "fragments of IPv6 are not put together".into());
            }
            protocol => return unsupported("payload", format!("protocol {protocol} is not read")),
        }
    }
    let why = format!("more than {NESTED} packets one in the other");
    Err(Unread::new("IPv6", packet.len(), Reason::Unsupported, why))
}

/// Reads the extension headers of `packet`, and opens its ESP in place, as often as there is one. Returns what follows.
fn extensions(keys: &Keys, packet: &mut Vec<u8>, layers: &mut Vec<Layer>) -> Result<Upper, Unread> {
    let mut shown = Header::LEN;
    for _ in 0..=MAX_HEADERS {
        let mut chain = Chain::new(packet);
        let mut place = chain.upper();
        while let Some(header) = chain.next() {
            let Extension { kind, at, length, .. } = header.map_err(|_| {
                let why = "their chain does not hold together";
                Unread::new("extension headers", packet.len() - shown, Reason::Malformed, why)
            })?;
            if at >= shown {
                match kind {
                    next_header::AH => ipsec::ah(&keys.associations, packet, &place, length, layers)?,
                    kind => {
                        let rpl = (kind == next_header::HOP_BY_HOP).then(|| information(packet)).flatten();
                        let extension = layer::Extension { bytes: length, kind: name(kind), rpl };
                        layers.push(Layer::Extension(extension));
                    }
                }
            }
            place = chain.upper();
        }
        if place.protocol != next_header::ESP {
            return Ok(place);
        }
        shown = place.at;
        *packet = ipsec::esp(&keys.associations, packet, &place, layers)?;
    }
    let why = "more of ESP one in the other than are opened";
    Err(Unread::new("ESP", packet.len() - shown, Reason::Unsupported, why))
}

/// What RPL's option in `packet` says, if there is one.
fn information(packet: &[u8]) -> Option<RplInformation> {
    let at = packet_information::find(packet).ok().flatten()?;
    let information = PacketInformation::from_bytes(*packet.get(at..)?.first_chunk()?);
    let PacketInformation { is_down: down, rank_error, forwarding_error, instance, sender_rank } =
        information;
    Some(RplInformation { down, rank_error, forwarding_error, instance, sender_rank })
}

fn name(kind: u8) -> &'static str {
    match kind {
        next_header::HOP_BY_HOP => "hop-by-hop",
        next_header::ROUTING => "routing",
        next_header::FRAGMENT => "fragment",
        _ => "destination",
    }
}

fn icmpv6(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    bytes: &[u8],
    layers: &mut Vec<Layer>,
) -> Result<(), Unread> {
    if bytes.first() == Some(&rpl::ICMPV6_TYPE) {
        let (message, options) = rpl::Message::parse(source, destination, bytes)
            .map_err(|error| Unread::malformed("RPL", bytes.len(), error))?;
        layers.push(Layer::Icmpv6(Icmpv6 { bytes: bytes.len(), message: control(&message, options) }));
        return Ok(());
    }
    let message = match Message::parse(source, destination, bytes) {
        Ok((message, _)) => message,
        Err(error) => return Err(Unread::malformed("ICMPv6", bytes.len(), error)),
    };
    let echo = |what, Echo { identifier, sequence }| format!("{what} id {identifier} seq {sequence}");
    let message = match message {
        Message::EchoRequest(numbers) => echo("echo request", numbers),
        Message::EchoReply(numbers) => echo("echo reply", numbers),
        Message::DestinationUnreachable(why) => format!("unreachable: {}", words(why)),
        Message::PacketTooBig { mtu } => format!("packet too big: MTU {mtu}"),
        Message::TimeExceeded(which) => format!("time exceeded: {}", words(which)),
        Message::ParameterProblem { problem, pointer } => {
            format!("parameter problem: {} at {pointer}", words(problem))
        }
        Message::Other { kind, code, .. } => format!("type {kind} code {code}"),
    };
    layers.push(Layer::Icmpv6(Icmpv6 { bytes: bytes.len(), message }));
    Ok(())
}

/// A control message of RPL, and the targets that its options name.
fn control(message: &rpl::Message, options: rpl::Options<'_>) -> String {
    let status = |status: rpl::Status| match status {
        rpl::Status::ACCEPTED => "accepted".into(),
        rpl::Status(number) => format!("status {number}"),
    };
    let mut words = match message {
        rpl::Message::Dis => "RPL DIS".into(),
        rpl::Message::Dio(rpl::Dio { version, rank, mode, dtsn, .. }) => {
            let rank = if *rank == rpl::INFINITE_RANK { "infinite".into() } else { rank.to_string() };
            format!("RPL DIO version {version} rank {rank} mode {} DTSN {dtsn}", mode.0)
        }
        rpl::Message::Dao(dao) => format!("RPL DAO {}", dao.sequence),
        rpl::Message::DaoAck(ack) => format!("RPL DAO-ACK {} {}", ack.sequence, status(ack.status)),
        rpl::Message::Dco(dco) => format!("RPL DCO {} {}", dco.sequence, status(dco.status)),
        rpl::Message::DcoAck(ack) => format!("RPL DCO-ACK {} {}", ack.sequence, status(ack.status)),
    };
    for option in options.iter() {
        match option {
            rpl::RplOption::Target { prefix, .. } => {
                if let Some(target) = prefix.as_host() {
                    words.push_str(&format!(" target {target}"));
                }
            }
            rpl::RplOption::Transit(rpl::Transit { path_lifetime, parent, .. }) => {
                let parent = parent.map(|parent| format!(" over {parent}")).unwrap_or_default();
                words.push_str(&format!("{parent} lifetime {path_lifetime}"));
            }
            _ => {}
        }
    }
    words
}

fn udp(
    keys: &Keys,
    sessions: &mut Sessions,
    source: Ipv6Addr,
    destination: Ipv6Addr,
    bytes: &[u8],
    layers: &mut Vec<Layer>,
) -> Result<(), Unread> {
    let (header, payload) = match udp::Header::parse(source, destination, bytes) {
        Ok(parsed) => parsed,
        Err(error) => return Err(Unread::malformed("UDP", bytes.len(), error)),
    };
    let (from, to) = (header.source_port, header.destination_port);
    layers.push(Layer::Udp(Udp { bytes: udp::Header::LEN, source_port: from, destination_port: to }));
    let at = |port| from == port || to == port;
    if payload.is_empty() {
        Ok(())
    } else if at(COAPS) || dtls::begins_like_dtls(payload) {
        sessions.decode(keys, (source, from), (destination, to), payload, layers)
    } else if at(COAP) {
        coap::decode(payload, layers)
    } else {
        layers.push(Layer::Data(Data { bytes: payload.len() }));
        Ok(())
    }
}
