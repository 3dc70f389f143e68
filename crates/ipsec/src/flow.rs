use core::net::Ipv6Addr;

use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::{Header, next_header};

use crate::layout::Layout;

/// The fields of a packet that policy is selected by, seen from this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The near end.
    pub local: Ipv6Addr,
    /// The far end.
    pub remote: Ipv6Addr,
    /// The protocol after the extension headers: the fragment header's if the packet is a fragment, and AH or ESP if it is protected.
    pub protocol: u8,
    /// The ports at the near and the far end. Of ICMPv6, both are the message's type times 256 and its code
    /// ([RFC 4301 section 4.4.1.1](https://www.rfc-editor.org/rfc/rfc4301#section-4.4.1.1)). `None` where they cannot be read.
    pub ports: Option<(u16, u16)>,
}

impl Flow {
    /// The flow of an outbound packet. Returns `None` if its headers do not parse.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn outbound(packet: &[u8]) -> Option<Self> {
        Self::of(packet, &Layout::of(packet)?.visible, true)
    }

    /// The flow of an inbound packet. Returns `None` if its headers do not parse.
    pub fn inbound(packet: &[u8]) -> Option<Self> {
        Header::parse(packet).ok()?;
        Self::of(packet, &Layout::of(packet)?.visible, false)
    }

    /// The flow of an outbound or inbound packet with the upper-layer header `upper`.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn of(packet: &[u8], upper: &Upper, goes_out: bool) -> Option<Self> {
        let header: &[u8; Header::LEN] = packet.first_chunk()?;
        let (source, destination) = header[8..].split_first_chunk::<16>()?;
        let (source, destination) =
            (Ipv6Addr::from(*source), Ipv6Addr::from(*destination.first_chunk::<16>()?));
        let ports = match (upper.protocol, packet.get(upper.at..)?) {
            (next_header::UDP | next_header::TCP, &[s0, s1, d0, d1, ..]) => {
                Some((u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1])))
            }
            (next_header::ICMPV6, &[kind, code, ..]) => {
                let message = u16::from_be_bytes([kind, code]);
                Some((message, message))
            }
            _ => None,
        };
        let protocol = upper.protocol;
        Some(match goes_out {
            true => Self { local: source, remote: destination, protocol, ports },
            false => {
                let ports = ports.map(|(source, destination)| (destination, source));
                Self { local: destination, remote: source, protocol, ports }
            }
        })
    }
}
