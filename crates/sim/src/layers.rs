//! How a UDP datagram is packed in headers of IPv6.

use heapless::Vec;
use sixlock_ipv6::{Header, extension, next_header, udp};

/// The length of a header of IPv6, without extensions.
pub(crate) const IPV6_HEADER: usize = Header::LEN;
/// The length of that of UDP.
pub(crate) const UDP_HEADER: usize = udp::Header::LEN;

/// How a UDP datagram is packed: in IPv6, with extension headers or without, and perhaps once more, as border routers do for RPL.
pub(crate) struct Layers {
    /// Where the IPv6 headers begin.
    pub(crate) headers: Vec<usize, 2>,
    /// Where that of UDP does.
    pub(crate) udp: usize,
}

impl Layers {
    /// Those of a packet of which the beginning is there; none if it is no such datagram.
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let (mut headers, mut at) = (Vec::new(), 0);
        loop {
            headers.push(at).ok()?;
            let upper = extension::skip(packet.get(at..)?)?;
            at += upper.at;
            match upper.protocol {
                next_header::UDP => return Some(Self { headers, udp: at }),
                next_header::IPV6 => {}
                _ => return None,
            }
        }
    }

    /// Its ports, if they are there.
    pub(crate) fn ports(&self, packet: &[u8]) -> Option<[u16; 2]> {
        let [a, b, c, d] = *packet.get(self.udp..)?.first_chunk()?;
        Some([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a header of IPv6 names the next one.
    const NEXT_HEADER: usize = 6;

    fn ipv6(next: u8) -> [u8; 40] {
        let mut header = [0; 40];
        header[NEXT_HEADER] = next;
        header
    }

    #[test]
    fn udp_is_found_behind_whatever_stands_before_it() {
        let datagram = [0x16, 0x34, 0, 7, 0, 8, 0, 0];
        let plain = [&ipv6(next_header::UDP)[..], &datagram].concat();
        let layers = Layers::of(&plain).unwrap();
        assert_eq!(
            (&layers.headers[..], layers.udp, layers.ports(&plain)),
            (&[0][..], 40, Some([0x1634, 7]))
        );
        let option = |next| [next, 0, 0x63, 4, 0, 0, 0, 0];
        let routing = [next_header::IPV6, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let wrapped =
            [&ipv6(next_header::HOP_BY_HOP)[..], &option(next_header::ROUTING), &routing, &plain].concat();
        let layers = Layers::of(&wrapped).unwrap();
        assert_eq!((&layers.headers[..], layers.udp), (&[0, 64][..], 104));
        for end in 0..wrapped.len() - datagram.len() - 1 {
            // Whatever is cut off, nothing is found beyond the end.
            assert!(Layers::of(&wrapped[..end]).is_none_or(|layers| layers.udp <= 104));
        }
    }

    #[test]
    fn what_is_no_such_datagram_is_none() {
        let thrice =
            [&ipv6(next_header::IPV6)[..], &ipv6(next_header::IPV6), &ipv6(next_header::UDP)].concat();
        assert!(Layers::of(&thrice).is_none(), "in two headers more");
        assert!(Layers::of(&ipv6(next_header::ESP)).is_none());
        assert!(Layers::of(&[]).is_none());
    }
}
