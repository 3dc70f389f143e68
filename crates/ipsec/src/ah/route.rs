//! Source routes, and the packet at their end.

use sixlock_ipv6::extension::{Chain, Extension};
use sixlock_ipv6::next_header;

use crate::OutboundError;
use crate::layout::before;

/// The source route of [RFC 8200's predecessors](https://www.rfc-editor.org/rfc/rfc2460#section-4.4).
const TYPE_0: u8 = 0;
/// The source route of RPL ([RFC 6554](https://www.rfc-editor.org/rfc/rfc6554)).
const RPL: u8 = 3;

/// Offsets of Segments Left and of the addresses in a routing header.
const LEFT_AT: usize = 3;
const ADDRESSES_AT: usize = 8;

/// Where in a packet its destination ends.
const DESTINATION_END: usize = 40;

/// A routing header with segments left.
pub(super) struct Route {
    at: usize,
    left: u8,
    /// The index of the next address, and the number of addresses.
    next: usize,
    count: usize,
    /// Bytes that an address takes, and the last address.
    address: usize,
    last: usize,
}

/// The routing header with segments left before the AH at `at`, if there is one.
///
/// # Errors
/// When there are two.
#[cfg_attr(target_pointer_width = "64", inline(always))]
pub(super) fn unfinished(packet: &[u8], at: usize) -> Result<Option<Extension>, OutboundError> {
    let (mut chain, mut found) = (Chain::new(packet), None);
    while let Some(header) = before(&mut chain, at) {
        if header.kind == next_header::ROUTING
            && packet.get(header.at + LEFT_AT) != Some(&0)
            && found.replace(header).is_some()
        {
            return Err(OutboundError::Routing);
        }
    }
    Ok(found)
}

impl Route {
    /// Parses the routing header. Returns `None` if its type is unknown or it is malformed.
    pub(super) fn parse(packet: &[u8], &Extension { at, length, .. }: &Extension) -> Option<Self> {
        let &[_, _, kind, left, compression, padding, _, _] = packet.get(at..)?.first_chunk()?;
        let (address, last, padding) = match kind {
            TYPE_0 => (16, 16, 0),
            RPL => (16 - (compression >> 4), 16 - (compression & 15), padding >> 4),
            _ => return None,
        };
        let (address, last) = (usize::from(address), usize::from(last));
        let others = length.checked_sub(ADDRESSES_AT + usize::from(padding) + last)?;
        let count = others / address + 1;
        let next = count.checked_sub(left.into())?;
        (others % address == 0).then_some(Self { at, left, next, count, address, last })
    }

    /// Swaps the destination with address `n`, as the router does that has this destination.
    fn swap(&self, packet: &mut [u8], n: usize) {
        let length = if n + 1 == self.count { self.last } else { self.address };
        let at = self.at + ADDRESSES_AT + n * self.address;
        let Some((front, rest)) = packet.split_at_mut_checked(at) else { return };
        let destination = front.get_mut(DESTINATION_END - length..DESTINATION_END);
        if let Some((destination, address)) = destination.zip(rest.get_mut(..length)) {
            destination.swap_with_slice(address);
        }
    }

    fn set_left(&self, packet: &mut [u8], left: u8) {
        if let Some(byte) = packet.get_mut(self.at + LEFT_AT) {
            *byte = left;
        }
    }

    /// Makes the packet as it is at its final destination.
    pub(super) fn go(&self, packet: &mut [u8]) {
        (self.next..self.count).for_each(|n| self.swap(packet, n));
        self.set_left(packet, 0);
    }

    /// Undoes [`Route::go`].
    pub(super) fn go_back(&self, packet: &mut [u8]) {
        (self.next..self.count).rev().for_each(|n| self.swap(packet, n));
        self.set_left(packet, self.left);
    }
}
