//! How many handshakes are under way with clients of the same network.

use crate::address::ADDRESS;

/// Where the bytes of an IPv4 address begin in the address of IPv6 that stands for it.
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
/// Bytes of an address of IPv6 that a network has for itself: its prefix of 56 bits.
const IPV6: usize = 7;
/// Of one of IPv4: its prefix of 24 bits.
const IPV4: usize = MAPPED.len() + 3;

/// The prefix of the network that a client's address is of.
pub(crate) fn network(address: &[u8; ADDRESS]) -> &[u8] {
    let length = if address.starts_with(&MAPPED) { IPV4 } else { IPV6 };
    address.get(..length).unwrap_or_default()
}

/// The handshakes under way, by the prefixes of their clients' addresses. When half of the places for handshakes are taken, a
/// prefix gets no more than a quarter of all: whoever begins handshakes without end leaves room for others.
///
/// Which prefixes share a count by chance depends on a secret. Without counts there is no such limit.
pub(crate) struct Prefixes<P> {
    counts: P,
}

impl<P: AsMut<[u16]>> Prefixes<P> {
    pub(crate) const fn new(counts: P) -> Self {
        Self { counts }
    }

    /// Whether there are counts at all.
    pub(crate) fn are_counted(&mut self) -> bool {
        !self.counts.as_mut().is_empty()
    }

    /// Which count a prefix has by this mark, which is another for each.
    pub(crate) fn find(&mut self, mark: [u8; 2]) -> u16 {
        let counts = u16::try_from(self.counts.as_mut().len()).unwrap_or(u16::MAX);
        u16::from_be_bytes(mark) % counts.max(1)
    }

    /// Whether a client of a prefix may begin a handshake while so many of at most `limit` are under way.
    pub(crate) fn admits(&mut self, which: u16, under_way: u32, limit: u32) -> bool {
        let count = self.counts.as_mut().get(usize::from(which)).copied().unwrap_or(0);
        under_way < limit / 2 || u32::from(count) < (limit / 4).max(1)
    }

    /// A handshake begins.
    pub(crate) fn begin(&mut self, which: u16) {
        if let Some(count) = self.counts.as_mut().get_mut(usize::from(which)) {
            *count = count.saturating_add(1);
        }
    }

    /// A handshake has ended.
    pub(crate) fn end(&mut self, which: u16) {
        if let Some(count) = self.counts.as_mut().get_mut(usize::from(which)) {
            *count = count.saturating_sub(1);
        }
    }
}
