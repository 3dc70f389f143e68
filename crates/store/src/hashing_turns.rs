//! Whose password is hashed next: networks of strangers take turns, so none of them keeps the others waiting.
//!
//! Whoever has more addresses than there are places, each in a network of its own, can still fill all places: then those
//! who come next are refused, until one is free.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Passwords that wait for a thread. Those before one take a second or two.
const WAITING: usize = 32;
/// Passwords of strangers of one network among them: as many as one user may try at the same time, and one more.
const OF_NETWORK: usize = 4;

/// Where a password comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Of a network of strangers: addresses that one client, or its provider, can choose from.
    Network(IpAddr),
    /// Of users who have signed in, and of the operator.
    SignedIn,
}

impl Origin {
    /// That of a stranger: the first 24 bits of an IPv4 address, and the first 56 bits of an IPv6 address.
    pub(crate) fn stranger(address: IpAddr) -> Self {
        Self::Network(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() >> 8 << 8)),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 72 << 72)),
        })
    }
}

/// What waits, a line for each origin. No line is empty; that of the front is the next one's turn.
pub(crate) struct Turns<T> {
    lines: VecDeque<(Origin, VecDeque<T>)>,
}

impl<T> Turns<T> {
    pub(crate) const fn new() -> Self {
        Self { lines: VecDeque::new() }
    }

    /// Takes in `item`, and returns the one that it puts out, if all places are taken: the newest of the origin that has
    /// the most. Refuses it, as an error, if its network has as many as it may, or no origin has more than its own would.
    pub(crate) fn enter(&mut self, origin: Origin, item: T) -> Result<Option<T>, T> {
        let own = self.lines.iter().find(|(of, _)| *of == origin).map_or(0, |(_, line)| line.len());
        if origin != Origin::SignedIn && own >= OF_NETWORK {
            return Err(item);
        }
        let mut put_out = None;
        if self.lines.iter().map(|(_, line)| line.len()).sum::<usize>() >= WAITING {
            let longest = self.lines.iter_mut().map(|(_, line)| line).max_by_key(|line| line.len());
            let Some(longest) = longest.filter(|line| line.len() > own + 1) else { return Err(item) };
            put_out = longest.pop_back();
        }
        match self.lines.iter_mut().find(|(of, _)| *of == origin) {
            Some((_, line)) => line.push_back(item),
            None => self.lines.push_back((origin, VecDeque::from([item]))),
        }
        Ok(put_out)
    }

    /// The next one. Its origin's next turn comes after one of each other that waits now.
    pub(crate) fn next(&mut self) -> Option<T> {
        let (origin, mut line) = self.lines.pop_front()?;
        let item = line.pop_front();
        if !line.is_empty() {
            self.lines.push_back((origin, line));
        }
        item
    }

    /// Forgets those that are not to be kept.
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.lines.iter_mut().for_each(|(_, line)| line.retain(&keep));
        self.lines.retain(|(_, line)| !line.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(n: u8) -> Origin {
        Origin::stranger(IpAddr::from([192, 0, n, 1]))
    }

    fn all(turns: &mut Turns<(u8, usize)>) -> Vec<(u8, usize)> {
        std::iter::from_fn(|| turns.next()).collect()
    }

    #[test]
    fn addresses_of_one_network_are_one_origin() {
        let origin = |address: &str| Origin::stranger(address.parse().unwrap());
        for (one, other, same) in [
            ("192.0.2.1", "192.0.2.254", true),
            ("192.0.2.1", "192.0.3.1", false),
            ("::ffff:192.0.2.1", "192.0.2.7", true),
            ("2001:db8:0:1201::1", "2001:db8:0:12ff::2", true),
            ("2001:db8:0:1201::1", "2001:db8:0:1301::1", false),
        ] {
            assert_eq!(origin(one) == origin(other), same, "{one} {other}");
        }
    }

    #[test]
    fn a_network_has_a_few_places_and_then_one_of_each_is_served_in_turn() {
        let mut turns = Turns::new();
        for n in 0..100 {
            assert_eq!(turns.enter(network(1), (1, n)).is_ok(), n < OF_NETWORK, "{n}");
        }
        for n in 0..2 {
            turns.enter(network(2), (2, n)).unwrap();
        }
        assert_eq!(all(&mut turns), [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (1, 3)]);
    }

    #[test]
    fn a_newcomer_takes_a_place_of_the_network_that_has_most_and_no_network_loses_its_last() {
        let mut turns = Turns::new();
        for n in 0..OF_NETWORK {
            for of in 0..24 {
                // Those that are refused or put out are more than there is room for.
                let _ = turns.enter(network(of), (of, n));
            }
        }
        assert_eq!(turns.enter(network(100), (100, 0)).unwrap().map(|(_, n)| n), Some(1));
        let served = all(&mut turns);
        assert_eq!(served.len(), WAITING);
        // One of each network comes before the second of any.
        assert_eq!(served.iter().take(25).filter(|(_, n)| *n == 0).count(), 25, "{served:?}");
        assert!(served.iter().take(25).any(|(of, _)| *of == 100), "{served:?}");
        for of in 0..WAITING as u8 {
            assert_eq!(turns.enter(network(of), (of, 0)), Ok(None));
        }
        assert_eq!(turns.enter(network(100), (100, 0)), Err((100, 0)), "somebody lost their only place");
        turns.retain(|(of, _)| *of != 7);
        assert_eq!(turns.enter(network(100), (100, 0)), Ok(None));
    }

    #[test]
    fn whoever_has_signed_in_takes_all_that_is_free_and_gives_way_to_strangers() {
        let mut turns = Turns::new();
        for n in 0..WAITING {
            assert_eq!(turns.enter(Origin::SignedIn, (0, n)), Ok(None));
        }
        assert_eq!(turns.enter(Origin::SignedIn, (0, WAITING)), Err((0, WAITING)));
        assert_eq!(turns.enter(network(1), (1, 0)), Ok(Some((0, WAITING - 1))));
        assert_eq!(all(&mut turns)[..2], [(0, 0), (1, 0)]);
    }
}
