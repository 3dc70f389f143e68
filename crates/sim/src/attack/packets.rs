//! Packets as an attacker writes them: in anybody's name, with whatever is in them.

use core::net::Ipv6Addr;

use sixlock_base::{Entropy, Eui64, LINK_LOCAL_PREFIX};
use sixlock_ipv6::rpl::{Builder, Message, RplOption};
use sixlock_ipv6::{Header, icmpv6, next_header, udp};

use crate::random::Stream;

/// From which ports nodes that there are not send; one of them is drawn for each packet.
const PORTS: core::ops::Range<u64> = 49_152..65_536;
/// Room for a control message of RPL.
const MESSAGE: usize = 160;

/// The address of a node on its link.
pub(super) fn link_local(node: Eui64) -> Ipv6Addr {
    node.with_prefix(LINK_LOCAL_PREFIX)
}

/// A packet with this behind its header.
pub(crate) fn ipv6(
    (source, destination): (Ipv6Addr, Ipv6Addr),
    next_header: u8,
    hop_limit: u8,
    payload: &[u8],
) -> Vec<u8> {
    let header = Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: payload.len() as u16,
        next_header,
        hop_limit,
        source,
        destination,
    };
    let mut packet = vec![0; Header::LEN];
    // There is room.
    let _ = header.emit(&mut packet);
    packet.extend_from_slice(payload);
    packet
}

/// A datagram of UDP, without a header of IPv6.
pub(crate) fn datagram(
    (source, destination): (Ipv6Addr, Ipv6Addr),
    (source_port, destination_port): (u16, u16),
    payload: &[u8],
) -> Vec<u8> {
    let header = udp::Header { source_port, destination_port };
    let mut datagram = vec![0; udp::Header::LEN];
    datagram.extend_from_slice(payload);
    // There is room.
    let _ = header.emit(source, destination, &mut datagram);
    datagram
}

/// A datagram to a port, from any.
pub(super) fn udp(
    stream: &mut Stream,
    ends: (Ipv6Addr, Ipv6Addr),
    destination_port: u16,
    payload: &[u8],
) -> Vec<u8> {
    let source_port = port(stream);
    ipv6(ends, next_header::UDP, 64, &datagram(ends, (source_port, destination_port), payload))
}

/// Any of these ports.
pub(super) fn port(stream: &mut Stream) -> u16 {
    (PORTS.start + stream.below(PORTS.end - PORTS.start)) as u16
}

/// A packet with a control message of RPL.
pub(super) fn control(ends: (Ipv6Addr, Ipv6Addr), message: &Message, options: &[RplOption<'_>]) -> Vec<u8> {
    let mut body = vec![0; MESSAGE];
    // There is room.
    let length = Builder::new(&mut body, message).ok().map_or(0, |mut builder| {
        for option in options {
            let _ = builder.option(option);
        }
        builder.finish(ends.0, ends.1)
    });
    let mut packet = vec![0; Header::LEN];
    let _ = icmpv6::emit_packet_header(&mut packet, length, 64, ends);
    packet.extend_from_slice(&body[..length]);
    packet
}

/// So many bytes of no meaning.
pub(super) fn bytes(stream: &mut Stream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.fill(&mut bytes);
    bytes
}

/// A record with a first ClientHello that asks for a pre-shared key
/// ([RFC 6347 section 4.2.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.1)).
pub(super) fn client_hello(stream: &mut Stream) -> Vec<u8> {
    /// No session, no cookie, TLS_PSK_WITH_AES_128_CCM_8, no compression.
    const REST: [u8; 8] = [0, 0, 0, 2, 0xc0, 0xa8, 1, 0];
    let mut body = vec![0xfe, 0xfd];
    body.extend(bytes(stream, 32));
    body.extend(REST);
    let length = (body.len() as u32).to_be_bytes();
    let mut message = vec![1];
    message.extend(&length[1..]);
    message.extend([0; 5]);
    message.extend(&length[1..]);
    message.extend(body);
    let mut record = vec![22, 0xfe, 0xfd];
    record.extend([0; 8]);
    record.extend((message.len() as u16).to_be_bytes());
    record.extend(message);
    record
}
