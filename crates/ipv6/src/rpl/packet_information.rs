//! The option that data packets carry, by which routers find loops
//! ([RFC 6553 section 3](https://www.rfc-editor.org/rfc/rfc6553#section-3)).

use crate::flag::flag;
use crate::{Error, Header, next_header};

/// The option's type where all nodes know it: others drop the packet.
pub const DROPPED_IF_UNKNOWN: u8 = 0x63;

/// The option's type that who does not know it skips
/// ([RFC 9008 section 4.2](https://www.rfc-editor.org/rfc/rfc9008#section-4.2)).
pub const SKIPPED_IF_UNKNOWN: u8 = 0x23;

/// Length of a hop-by-hop header that holds the option and nothing else, in bytes.
pub const HEADER: usize = 8;

/// What the option says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInformation {
    /// Whether the packet is on its way downwards.
    pub is_down: bool,
    /// Whether a router has met the packet on its way in the wrong direction.
    pub rank_error: bool,
    /// Whether the router that it comes from has no route for it.
    pub forwarding_error: bool,
    /// The RPL instance.
    pub instance: u8,
    /// The rank of the router that it comes from.
    pub sender_rank: u16,
}

/// The flag of a packet that is on its way downwards: [`PacketInformation::is_down`].
pub const DOWN: u8 = 0x80;
/// The flag of a packet that was met on its way in the wrong direction: [`PacketInformation::rank_error`].
pub const RANK_ERROR: u8 = 0x40;
/// The flag of a packet that was sent back: [`PacketInformation::forwarding_error`].
pub const FORWARDING_ERROR: u8 = 0x20;

impl PacketInformation {
    /// Length of what the option says, in bytes.
    pub const LEN: usize = 4;

    /// What the option says whose data begins with these bytes.
    pub const fn from_bytes([flags, instance, high, low]: [u8; Self::LEN]) -> Self {
        Self {
            is_down: flags & DOWN != 0,
            rank_error: flags & RANK_ERROR != 0,
            forwarding_error: flags & FORWARDING_ERROR != 0,
            instance,
            sender_rank: u16::from_be_bytes([high, low]),
        }
    }

    /// The option's data.
    #[inline(always)]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let errors = flag(self.rank_error, RANK_ERROR) | flag(self.forwarding_error, FORWARDING_ERROR);
        let [high, low] = self.sender_rank.to_be_bytes();
        [flag(self.is_down, DOWN) | errors, self.instance, high, low]
    }

    /// The hop-by-hop header before one of the kind `next`, with the option of the type `kind`.
    pub fn to_header(self, next: u8, kind: u8) -> [u8; HEADER] {
        let [flags, instance, high, low] = self.to_bytes();
        [next, 0, kind, Self::LEN as u8, flags, instance, high, low]
    }
}

/// Where in `packet` the data of the option stands, of either type; `None` if there is none.
///
/// Hop-by-hop options stand right behind the IPv6 header, and nowhere else.
pub fn find(packet: &[u8]) -> Result<Option<usize>, Error> {
    if packet.get(Header::NEXT_HEADER_AT) != Some(&next_header::HOP_BY_HOP) {
        return Ok(None);
    }
    let &length = packet.get(Header::LEN + 1).ok_or(Error::Truncated)?;
    let end = Header::LEN + 8 * (usize::from(length) + 1);
    let header = packet.get(..end).ok_or(Error::Truncated)?;
    let mut at = Header::LEN + 2;
    while let Some(&kind) = header.get(at) {
        // Padding of one byte has no length.
        if kind == 0 {
            at += 1;
            continue;
        }
        let length = usize::from(*header.get(at + 1).ok_or(Error::Length)?);
        let data = at + 2;
        if data + length > end {
            return Err(Error::Length);
        }
        if matches!(kind, DROPPED_IF_UNKNOWN | SKIPPED_IF_UNKNOWN) {
            return if length < PacketInformation::LEN { Err(Error::Length) } else { Ok(Some(data)) };
        }
        at = data + length;
    }
    Ok(None)
}
