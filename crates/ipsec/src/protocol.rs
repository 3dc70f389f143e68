use core::net::Ipv6Addr;

use sixlock_ipv6::next_header;

/// Which of the two headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The authentication header.
    Ah,
    /// The encapsulating security payload.
    Esp,
}

impl Protocol {
    /// The one that a next header field names.
    pub fn named(number: u8) -> Option<Self> {
        match number {
            next_header::AH => Some(Self::Ah),
            next_header::ESP => Some(Self::Esp),
            _ => None,
        }
    }
}

/// What of a packet is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What is behind its IPv6 header, and the headers on the way.
    Transport,
    /// All of it, inside a packet from one of these addresses to the other.
    Tunnel {
        /// The end at this host.
        local: Ipv6Addr,
        /// The end at the other.
        remote: Ipv6Addr,
    },
}
