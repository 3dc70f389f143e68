//! Packets as hosts send them, for the tests of what passes them on.

use core::net::Ipv6Addr;

use sixlock_ipv6::icmpv6::Message;
use sixlock_ipv6::{Header, next_header, udp};

/// A packet of one header and `payload`.
///
/// # Panics
///
/// If the payload is longer than a packet's may be.
pub fn packet(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    hop_limit: u8,
    next_header: u8,
    payload: &[u8],
) -> Vec<u8> {
    let header = Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: payload.len().try_into().unwrap(),
        next_header,
        hop_limit,
        source,
        destination,
    };
    let mut packet = vec![0; Header::LEN];
    header.emit(&mut packet).unwrap();
    [&packet, payload].concat()
}

/// An ICMPv6 message in a packet.
///
/// # Panics
///
/// If the body is longer than a message's may be.
pub fn icmpv6(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    hop_limit: u8,
    message: Message,
    body: &[u8],
) -> Vec<u8> {
    let mut payload = [&[0; Message::LEN], body].concat();
    message.emit(source, destination, &mut payload).unwrap();
    packet(source, destination, hop_limit, next_header::ICMPV6, &payload)
}

/// A UDP datagram in a packet.
///
/// # Panics
///
/// If the payload is longer than a datagram's may be.
pub fn udp(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    hop_limit: u8,
    ports: udp::Header,
    payload: &[u8],
) -> Vec<u8> {
    let mut datagram = [&[0; udp::Header::LEN], payload].concat();
    ports.emit(source, destination, &mut datagram).unwrap();
    packet(source, destination, hop_limit, next_header::UDP, &datagram)
}
