//! Source routes, whose end can be predicted.

use super::with_end;

/// The source route of [RFC 8200's predecessors](https://www.rfc-editor.org/rfc/rfc2460#section-4.4).
const TYPE_0: u8 = 0;
/// The source route of RPL ([RFC 6554](https://www.rfc-editor.org/rfc/rfc6554)).
const RPL: u8 = 3;

/// A routing header with a way still to go.
pub(super) struct Route<'a> {
    header: &'a [u8],
    /// The next address, to which the packet goes now.
    destination: [u8; 16],
    /// How many addresses there are.
    count: usize,
    /// How many of them were visited.
    visited: usize,
    /// Bytes that an address, and the last one, takes.
    address: usize,
    last: usize,
}

/// Where the addresses stand.
const ADDRESSES_AT: usize = 8;

impl<'a> Route<'a> {
    /// The route in `header`, of a packet that goes to `destination`: none inside if it is at its end, none if its type is
    /// unknown or it does not parse.
    pub(super) fn parse(header: &'a [u8], destination: [u8; 16]) -> Option<Option<Self>> {
        let &[_, _, kind, left, compression, padding, _, _] = header.first_chunk()?;
        if left == 0 {
            return Some(None);
        }
        let room = header.len() - ADDRESSES_AT;
        let (address, last, padding) = match kind {
            TYPE_0 => (16, 16, 0),
            RPL => (
                16 - usize::from(compression >> 4),
                16 - usize::from(compression & 15),
                usize::from(padding >> 4),
            ),
            _ => return None,
        };
        let others = room.checked_sub(padding)?.checked_sub(last)?;
        let count = others / address + 1;
        let visited = count.checked_sub(left.into())?;
        (others % address == 0).then_some(Some(Self { header, destination, count, visited, address, last }))
    }

    /// Bytes that address `n` takes.
    fn length(&self, n: usize) -> usize {
        if n + 1 == self.count { self.last } else { self.address }
    }

    fn address(&self, n: usize) -> &[u8] {
        let at = ADDRESSES_AT + n * self.address;
        self.header.get(at..at + self.length(n)).unwrap_or_default()
    }

    /// Where the packet ends.
    pub(super) fn end(&self) -> [u8; 16] {
        with_end(self.destination, self.address(self.count - 1))
    }

    /// Adds the header from its length field on, as it will be at its end: with no way to go, and in place of each address
    /// the one that was visited before it.
    pub(super) fn feed(&self, add: &mut impl FnMut(&[u8])) {
        let [_, length, kind, _, reserved @ ..] = self.header else { return };
        add(&[*length, *kind, 0]);
        add(reserved.get(..4).unwrap_or_default());
        let mut before = self.destination;
        for n in 0..self.count {
            if n < self.visited {
                add(self.address(n));
                continue;
            }
            add(before.get(16 - self.length(n)..).unwrap_or_default());
            before = with_end(self.destination, self.address(n));
        }
        let end = ADDRESSES_AT + (self.count - 1) * self.address + self.last;
        add(self.header.get(end..).unwrap_or_default());
    }
}
