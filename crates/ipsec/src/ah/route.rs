//! Source routes, whose end can be predicted.

use sixlock_ipv6::extension::{Chain, Extension};
use sixlock_ipv6::next_header;

use crate::OutboundError;
use crate::place::before;

/// The source route of [RFC 8200's predecessors](https://www.rfc-editor.org/rfc/rfc2460#section-4.4).
const TYPE_0: u8 = 0;
/// The source route of RPL ([RFC 6554](https://www.rfc-editor.org/rfc/rfc6554)).
const RPL: u8 = 3;

/// Where in a routing header the way still to go stands, and the addresses.
const LEFT_AT: usize = 3;
const ADDRESSES_AT: usize = 8;

/// Where in a packet its destination ends.
const DESTINATION_END: usize = 40;

/// A routing header with a way still to go.
pub(super) struct Route {
    at: usize,
    left: u8,
    /// Which address is the next, and how many there are.
    next: usize,
    count: usize,
    /// Bytes that an address, and the last one, takes.
    address: usize,
    last: usize,
}

/// The routing header with a way still to go, if a packet whose AH stands at `at` has one; an error if it has two.
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
    /// What the routing header says; none if nobody knows its type, or it does not parse.
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

    /// What a node does that forwards the packet: it swaps the destination with address `n`.
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

    /// Makes of the packet what it will be at its end.
    pub(super) fn go(&self, packet: &mut [u8]) {
        (self.next..self.count).for_each(|n| self.swap(packet, n));
        self.set_left(packet, 0);
    }

    /// Makes of it again what it was.
    pub(super) fn go_back(&self, packet: &mut [u8]) {
        (self.next..self.count).rev().for_each(|n| self.swap(packet, n));
        self.set_left(packet, self.left);
    }
}
