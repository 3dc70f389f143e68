//! RPL's option, which routers read in each packet ([RFC 6553](https://www.rfc-editor.org/rfc/rfc6553)): in packets of this host,
//! and around those of others, since a header that is put into these would break their AH
//! ([RFC 9008 section 4](https://www.rfc-editor.org/rfc/rfc9008#section-4)).

use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_ipv6::{Header, extension, next_header};

/// The hop limit of packets made here; one that header compression leaves out.
const HOP_LIMIT: u8 = 64;

/// Length of the hop-by-hop header that holds the option and nothing else.
pub const OPTION: usize = 8;

/// What [`wrap`] puts around a packet, in bytes.
pub const WRAPPER: usize = Header::LEN + OPTION;

/// The header before one of the kind `next`. The option is of the type that who does not know it skips
/// ([RFC 9008 section 4.2](https://www.rfc-editor.org/rfc/rfc9008#section-4.2)); with static routes it tells no rank, of instance 0.
fn hop_by_hop(next: u8) -> [u8; OPTION] {
    [next, 0, 0x23, 4, 0, 0, 0, 0]
}

/// Puts the option into the packet of this host that the first `len` bytes of `buffer` are, behind which is room. The packet's length
/// then; none if there is no room. A packet that has hop-by-hop options already stays as it is.
pub fn mark(buffer: &mut [u8], len: usize) -> Option<usize> {
    let (header, _) = Header::parse(buffer.get(..len)?).ok()?;
    if header.next_header == next_header::HOP_BY_HOP {
        return Some(len);
    }
    let marked = buffer.get_mut(..len + OPTION)?;
    marked.copy_within(Header::LEN..len, Header::LEN + OPTION);
    let payload_length = header.payload_length.checked_add(OPTION as u16)?;
    let marked_header = Header { payload_length, next_header: next_header::HOP_BY_HOP, ..header };
    marked_header.emit(marked).ok()?;
    *marked.get_mut(Header::LEN..)?.first_chunk_mut()? = hop_by_hop(header.next_header);
    Some(marked.len())
}

/// Puts a header with the option around the packet of another that the first `len` bytes of `buffer` are, from the router `source` to
/// the packet's destination. The length then; none if there is no room.
pub fn wrap(buffer: &mut [u8], len: usize, source: Ipv6Addr) -> Option<usize> {
    let (inner, _) = Header::parse(buffer.get(..len)?).ok()?;
    let wrapped = buffer.get_mut(..len + WRAPPER)?;
    wrapped.copy_within(..len, WRAPPER);
    let payload_length = u16::try_from(len + OPTION).ok()?;
    let outer = Header {
        flow_label: 0,
        payload_length,
        next_header: next_header::HOP_BY_HOP,
        hop_limit: HOP_LIMIT,
        source,
        ..inner
    };
    outer.emit(wrapped).ok()?;
    *wrapped.get_mut(Header::LEN..)?.first_chunk_mut()? = hop_by_hop(next_header::IPV6);
    Some(wrapped.len())
}

/// Where in a packet for this host stands the one that a router has put a header around.
pub fn wrapped(packet: &[u8]) -> Option<Range<usize>> {
    let upper = extension::process(packet).ok()?;
    (upper.protocol == next_header::IPV6).then_some(upper.at..packet.len())
}

#[cfg(test)]
mod tests {
    use sixlock_ipv6::extension::{Upper, process};
    use sixlock_ipv6::tunnel::decapsulate;

    use super::*;

    const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);

    /// A datagram of ten bytes, and room for 48 more.
    fn packet() -> [u8; 98] {
        let mut buffer = [7; 98];
        let header = Header {
            traffic_class: 0xb8,
            flow_label: 5,
            payload_length: 10,
            next_header: next_header::UDP,
            hop_limit: 61,
            source: Ipv6Addr::new(0xfd0a, 0, 0, 0, 0, 0, 0, 1),
            destination: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2),
        };
        header.emit(&mut buffer).unwrap();
        buffer
    }

    #[test]
    fn the_option_stands_first_in_a_packet_of_this_host() {
        let mut buffer = packet();
        assert_eq!(mark(&mut buffer, 50), Some(58));
        let marked = buffer;
        assert_eq!(process(&marked[..58]), Ok(Upper { protocol: 17, at: 48, named_at: 40 }));
        assert_eq!(marked[4..7], [0, 18, 0]);
        assert_eq!(marked[40..48], [17, 0, 0x23, 4, 0, 0, 0, 0]);
        assert_eq!(marked[48..58], packet()[40..50]);
        assert_eq!((mark(&mut buffer, 58), buffer), (Some(58), marked), "once");
        assert_eq!(mark(&mut packet()[..57], 50), None);
    }

    #[test]
    fn around_a_packet_of_another_nothing_of_it_changes() {
        let mut buffer = packet();
        assert_eq!(wrap(&mut buffer, 50, ROUTER), Some(98));
        let (outer, _) = Header::parse(&buffer).unwrap();
        let (inner, _) = Header::parse(&packet()).unwrap();
        assert_eq!((outer.source, outer.destination), (ROUTER, inner.destination));
        assert_eq!((outer.traffic_class, outer.hop_limit), (0xb8, 64));
        assert_eq!((wrapped(&buffer), wrapped(&buffer[48..])), (Some(48..98), None));
        assert_eq!(decapsulate(&mut buffer, 48..98), Ok(50));
        assert_eq!(buffer[..50], packet()[..50]);
        assert_eq!(wrap(&mut packet()[..97], 50, ROUTER), None);
    }
}
