//! IPv6 packets and what they carry.

use std::net::Ipv6Addr;

use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_ipv6::{Header, extension, next_header, udp};

use crate::dtls::Sessions;
use crate::keys::Keys;
use crate::layer::{Data, Extensions, Icmpv6, Ipv6, Layer, Reason, Udp, Unread, words};
use crate::{coap, dtls};

/// IPv6 packets one in the other that are looked into.
const NESTED: usize = 3;

/// The ports of CoAP, plain and over DTLS.
const COAP: u16 = 5683;
const COAPS: u16 = 5684;

/// Reads a whole packet.
pub(crate) fn decode(
    keys: &Keys,
    sessions: &mut Sessions,
    mut packet: &[u8],
    layers: &mut Vec<Layer>,
) -> Result<(), Unread> {
    for _ in 0..NESTED {
        let (header, payload) = match Header::parse(packet) {
            Ok(parsed) => parsed,
            Err(error) => return Err(Unread::malformed("IPv6", packet.len(), error)),
        };
        layers.push(Layer::Ipv6(Ipv6 {
            bytes: Header::LEN,
            source: header.source,
            destination: header.destination,
            hop_limit: header.hop_limit,
            next_header: header.next_header,
            traffic_class: header.traffic_class,
            flow_label: header.flow_label,
        }));
        let Some(upper) = extension::skip(packet) else {
            let why = "their chain does not hold together";
            return Err(Unread::new("extension headers", payload.len(), Reason::Malformed, why));
        };
        let behind = upper.at.saturating_sub(Header::LEN);
        if behind > 0 {
            layers.push(Layer::Extensions(Extensions { bytes: behind, next_header: upper.protocol }));
        }
        let inner = payload.get(behind..).unwrap_or_default();
        let (source, destination) = (header.source, header.destination);
        match upper.protocol {
            next_header::IPV6 => packet = inner,
            next_header::UDP => return udp(keys, sessions, source, destination, inner, layers),
            next_header::ICMPV6 => return icmpv6(source, destination, inner, layers),
            next_header::NONE => return Ok(()),
            next_header::FRAGMENT => {
                let why = "fragments of IPv6 are not put together";
                return Err(Unread::new("fragment of IPv6", inner.len(), Reason::Unsupported, why));
            }
            protocol => {
                let why = format!("protocol {protocol} is not read");
                return Err(Unread::new("payload", inner.len(), Reason::Unsupported, why));
            }
        }
    }
    let why = format!("more than {NESTED} packets one in the other");
    Err(Unread::new("IPv6", packet.len(), Reason::Unsupported, why))
}

fn icmpv6(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    bytes: &[u8],
    layers: &mut Vec<Layer>,
) -> Result<(), Unread> {
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
