use core::net::Ipv6Addr;

use sixlock_ipv6::next_header;

/// AH or ESP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The authentication header.
    Ah,
    /// The encapsulating security payload.
    Esp,
}

impl Protocol {
    /// The protocol with this number in a next header field.
    pub fn named(number: u8) -> Option<Self> {
        match number {
            next_header::AH => Some(Self::Ah),
            next_header::ESP => Some(Self::Esp),
            _ => None,
        }
    }
}

/// Which part of a packet is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The payload of its IPv6 header, but for the extension headers that are for routers.
    Transport,
    /// The whole packet, inside another one from one of these addresses to the other.
    Tunnel {
        /// The end at this host.
        local: Ipv6Addr,
        /// The end at the other.
        remote: Ipv6Addr,
    },
}
