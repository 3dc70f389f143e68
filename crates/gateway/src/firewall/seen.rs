//! What a firewall sees of a packet.

use core::net::Ipv6Addr;

use sixlock_interface::ipsec::Flow as Ends;
use sixlock_ipv6::extension::Chain;
use sixlock_ipv6::{Header, icmpv6, next_header};

use super::decision::Direction;
use crate::flows::Flow;

/// Types of ICMPv6 ([RFC 4443 section 4](https://www.rfc-editor.org/rfc/rfc4443#section-4)).
const ECHO_REQUEST: u8 = 128;
const ECHO_REPLY: u8 = 129;
/// Where in a routing header stands how many more nodes the packet is to visit.
const SEGMENTS_LEFT_AT: usize = 3;

/// A packet, by what rules select it by.
pub(super) struct Seen<'a> {
    /// The node, the host and what they say; of ICMPv6, the ports are type and code.
    pub(super) ends: Ends,
    /// Whether AH protects it.
    pub(super) has_ah: bool,
    /// How it belongs to flows.
    pub(super) kind: Kind<'a>,
}

/// How a packet belongs to flows.
pub(super) enum Kind<'a> {
    /// It is of this flow, in either direction.
    Flow(Ends),
    /// An echo request of this flow, whose ports are the identifier.
    Request(Ends),
    /// An echo reply of it.
    Reply(Ends),
    /// It tells of an error that the packet `about` has met, of which it holds the beginning.
    Error {
        /// The packet.
        about: &'a [u8],
    },
    /// It is of no flow.
    Message,
}

impl Seen<'_> {
    /// A UDP datagram.
    pub(super) fn of(flow: Flow) -> Self {
        let ends = Ends {
            local: flow.node,
            remote: flow.host,
            protocol: next_header::UDP,
            ports: Some((flow.node_port, flow.host_port)),
        };
        Self { ends, has_ah: false, kind: Kind::Flow(ends) }
    }
}

/// The packet whose beginning `packet` is. `None` if its headers do not parse, or it is for another node than its header says.
pub(super) fn see(packet: &[u8], direction: Direction) -> Option<Seen<'_>> {
    let address = |at| Some(Ipv6Addr::from(*Header::address_at(packet, at)?));
    let (source, destination) = (address(Header::SOURCE_AT)?, address(Header::DESTINATION_AT)?);
    let mut has_ah = false;
    let mut chain = Chain::new(packet);
    for header in chain.by_ref() {
        let header = header.ok()?;
        match header.kind {
            next_header::AH => has_ah = true,
            next_header::ROUTING if packet.get(header.at + SEGMENTS_LEFT_AT) != Some(&0) => return None,
            _ => {}
        }
    }
    let upper = chain.upper();
    let rest = packet.get(upper.at..)?;
    let (local, remote) = match direction {
        Direction::In => (destination, source),
        Direction::Out => (source, destination),
    };
    let ends = |ports| Ends { local, remote, protocol: upper.protocol, ports };
    let (ends, kind) = match upper.protocol {
        next_header::UDP | next_header::TCP => {
            let &[s0, s1, d0, d1] = rest.first_chunk()?;
            let (from, to) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
            let ends = ends(Some(match direction {
                Direction::In => (to, from),
                Direction::Out => (from, to),
            }));
            (ends, Kind::Flow(ends))
        }
        next_header::ICMPV6 => {
            let (&[kind, code, _, _, i0, i1, _, _], body) = rest.split_first_chunk()?;
            let identifier = u16::from_be_bytes([i0, i1]);
            let echo = ends(Some((identifier, identifier)));
            let message = u16::from_be_bytes([kind, code]);
            let kind = match kind {
                ECHO_REQUEST => Kind::Request(echo),
                ECHO_REPLY => Kind::Reply(echo),
                kind if icmpv6::is_error(kind) => Kind::Error { about: body },
                _ => Kind::Message,
            };
            (ends(Some((message, message))), kind)
        }
        _ => (ends(None), Kind::Flow(ends(None))),
    };
    Some(Seen { ends, has_ah, kind })
}
