//! How many handshakes are under way with clients of the same network.

use sixlock_base::{Duration, Instant};

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

/// How long a network counts as crowded after one of its clients was refused.
const CROWDED_FOR: Duration = Duration::from_secs(30);

/// How many handshakes are under way with clients of a network, or of several that share this count by chance.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkLoad {
    under_way: u16,
    /// When a client was refused last, because the network had its share.
    refused: Option<Instant>,
}

/// The handshakes under way, by the prefixes of their clients' addresses. When half of the places for handshakes are taken, a
/// prefix gets no more than its share, a quarter of all: whoever begins handshakes without end leaves room for others. Whose
/// network has its share and is refused another place finds one as soon as clients of that network which are silent have left
/// theirs; those of other networks keep theirs.
///
/// Which prefixes share a count by chance depends on a secret. Without counts there is no such limit.
pub(crate) struct Prefixes<P> {
    loads: P,
    /// Of all places.
    limit: u32,
    /// How many places networks have beyond their shares.
    excess: u32,
}

impl<P: AsMut<[NetworkLoad]>> Prefixes<P> {
    pub(crate) const fn new(loads: P, limit: u32) -> Self {
        Self { loads, limit, excess: 0 }
    }

    /// Whether there are counts at all.
    pub(crate) fn are_counted(&mut self) -> bool {
        !self.loads.as_mut().is_empty()
    }

    /// Which count a prefix has by this mark, which is another for each.
    pub(crate) fn find(&mut self, mark: [u8; 2]) -> u16 {
        let counts = u16::try_from(self.loads.as_mut().len()).unwrap_or(u16::MAX);
        u16::from_be_bytes(mark) % counts.max(1)
    }

    fn get(&mut self, which: u16) -> Option<&mut NetworkLoad> {
        self.loads.as_mut().get_mut(usize::from(which))
    }

    const fn share(&self) -> u32 {
        if self.limit < 4 { 1 } else { self.limit / 4 }
    }

    /// Whether a client of a prefix may begin a handshake while so many are under way.
    pub(crate) fn admits(&mut self, now: Instant, which: u16, under_way: u32) -> bool {
        let (limit, share) = (self.limit, self.share());
        let load = self.get(which);
        let has_share = load.as_ref().is_some_and(|load| u32::from(load.under_way) >= share);
        let admits = under_way < if has_share { limit / 2 } else { limit };
        if let Some(load) = load.filter(|_| has_share && !admits) {
            load.refused = Some(now);
        }
        admits
    }

    /// Whether places are scarce for a prefix while so many handshakes are under way: others of its network were refused lately, or
    /// more than half of all places are taken. There, no network counts for more than its share: one that has more is no reason for
    /// haste to another.
    pub(crate) fn are_scarce(&mut self, now: Instant, which: u16, under_way: u32) -> bool {
        let refused = self.get(which).and_then(|load| load.refused);
        refused.is_some_and(|refused| now.since(refused) < CROWDED_FOR)
            || under_way.saturating_sub(self.excess) > self.limit / 2
    }

    /// A handshake begins.
    pub(crate) fn begin(&mut self, which: u16) {
        let share = self.share();
        let Some(load) = self.get(which).filter(|load| load.under_way < u16::MAX) else { return };
        load.under_way += 1;
        let has_more = u32::from(load.under_way) > share;
        self.excess += u32::from(has_more);
    }

    /// A handshake has ended.
    pub(crate) fn end(&mut self, which: u16) {
        let share = self.share();
        let Some(load) = self.get(which).filter(|load| load.under_way > 0) else { return };
        let had_more = u32::from(load.under_way) > share;
        load.under_way -= 1;
        self.excess = self.excess.saturating_sub(had_more.into());
    }
}
