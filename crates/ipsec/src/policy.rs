use core::net::Ipv6Addr;

use sixlock_base::Slot;
use sixlock_ipv6::{next_header, rpl};

use crate::event::AssociationId;
use crate::{Flow, InboundId, OutboundId, table};

/// A range of addresses, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    first: Comparable,
    last: Comparable,
}

/// An address as it is compared: as a number that is faster than byte by byte, and on small processors larger.
#[cfg(target_pointer_width = "64")]
type Comparable = u128;
#[cfg(not(target_pointer_width = "64"))]
type Comparable = [u8; 16];

const fn comparable(address: Ipv6Addr) -> Comparable {
    #[cfg(target_pointer_width = "64")]
    return address.to_bits();
    #[cfg(not(target_pointer_width = "64"))]
    return address.octets();
}

impl Addresses {
    /// All addresses.
    pub const ANY: Self = Self::range(Ipv6Addr::UNSPECIFIED, Ipv6Addr::from_bits(u128::MAX));

    /// The addresses from `first` to `last`.
    pub const fn range(first: Ipv6Addr, last: Ipv6Addr) -> Self {
        Self { first: comparable(first), last: comparable(last) }
    }

    /// One address.
    pub const fn one(address: Ipv6Addr) -> Self {
        Self::range(address, address)
    }

    /// The addresses that begin with the first `length` bits of `prefix`. More than 128 count as 128.
    pub fn prefix(prefix: Ipv6Addr, length: u8) -> Self {
        let (mut first, mut last) = (prefix.octets(), prefix.octets());
        for (n, (first, last)) in (0u8..).zip(first.iter_mut().zip(&mut last)) {
            // The bits of this byte that are in the prefix.
            let bits = length.saturating_sub(n * 8).min(8);
            let free = 0xff_u8.checked_shr(bits.into()).unwrap_or(0);
            *first &= !free;
            *last |= free;
        }
        Self::range(first.into(), last.into())
    }

    /// Whether `address` is in the range.
    pub fn contain(&self, address: &Ipv6Addr) -> bool {
        let address = comparable(*address);
        self.first <= address && address <= self.last
    }
}

/// A range of ports, both ends included; of ICMPv6, of message types times 256 and their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

impl Ports {
    /// All ports, and packets without ports.
    pub const ANY: Self = Self { first: 0, last: u16::MAX };

    /// One port.
    pub const fn one(port: u16) -> Self {
        Self { first: port, last: port }
    }

    /// The messages of ICMPv6 with types from `first` to `last`, whatever their codes.
    pub const fn icmpv6(first: u8, last: u8) -> Self {
        Self { first: u16::from_be_bytes([first, 0]), last: u16::from_be_bytes([last, 0xff]) }
    }

    fn contain(&self, port: Option<u16>) -> bool {
        match port {
            Some(port) => self.first <= port && port <= self.last,
            None => *self == Self::ANY,
        }
    }
}

/// Which packets a policy is for ([RFC 4301 section 4.4.1.1](https://www.rfc-editor.org/rfc/rfc4301#section-4.4.1.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Addresses at the near end.
    pub local: Addresses,
    /// Addresses at the far end.
    pub remote: Addresses,
    /// The protocol; `None` for any.
    pub protocol: Option<u8>,
    /// Ports at the near end.
    pub local_ports: Ports,
    /// Ports at the far end.
    pub remote_ports: Ports,
}

impl Selector {
    /// Every packet.
    pub const ANY: Self = Self {
        local: Addresses::ANY,
        remote: Addresses::ANY,
        protocol: None,
        local_ports: Ports::ANY,
        remote_ports: Ports::ANY,
    };

    /// The control messages of RPL: their sender and their receiver may have no associations yet. Where links are secured, link security
    /// protects them.
    pub const RPL: Self = Self {
        protocol: Some(next_header::ICMPV6),
        local_ports: Ports::icmpv6(rpl::ICMPV6_TYPE, rpl::ICMPV6_TYPE),
        ..Self::ANY
    };

    /// The messages of neighbour discovery, those about duplicate addresses included: a node has no address before they were exchanged. Where
    /// links are secured, link security protects them.
    pub const NEIGHBOUR_DISCOVERY: [Self; 2] = [
        Self { local_ports: Ports::icmpv6(133, 136), ..Self::RPL },
        Self { local_ports: Ports::icmpv6(157, 158), ..Self::RPL },
    ];

    /// Whether it is for packets of `flow`.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub fn matches(&self, flow: &Flow) -> bool {
        let (local_port, remote_port) = flow.ports.unzip();
        self.protocol.is_none_or(|protocol| protocol == flow.protocol)
            && self.local.contain(&flow.local)
            && self.remote.contain(&flow.remote)
            && self.local_ports.contain(local_port)
            && self.remote_ports.contain(remote_port)
    }
}

/// The associations that a packet is protected by: one, or one within another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The associations that packets go out under, the innermost first.
    pub outbound: [Option<OutboundId>; 2],
    /// The associations that packets must have come in under, the innermost first.
    pub inbound: [Option<InboundId>; 2],
    /// Whether they may lack authentication. If so, forgeries and replays are accepted.
    pub unauthenticated: bool,
}

impl Protection {
    /// One association out, another in.
    pub const fn by(outbound: OutboundId, inbound: InboundId) -> Self {
        Self { outbound: [Some(outbound), None], inbound: [Some(inbound), None], unauthenticated: false }
    }

    /// Adds a second association around each.
    pub const fn within(self, outbound: OutboundId, inbound: InboundId) -> Self {
        let ([inner_outbound, _], [inner_inbound, _]) = (self.outbound, self.inbound);
        Self {
            outbound: [inner_outbound, Some(outbound)],
            inbound: [inner_inbound, Some(inbound)],
            unauthenticated: self.unauthenticated,
        }
    }
}

/// How packets are processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// They are dropped.
    Discard,
    /// They go as they are, and come in as they are.
    Bypass,
    /// They go and come protected.
    Protect(Protection),
    /// They are to go and come protected, and the associations are not there yet: they are dropped, and an
    /// [`Event`](crate::Event) asks for associations.
    Acquire,
}

impl Action {
    /// Whether it is for packets under this association.
    pub(crate) fn names(&self, id: AssociationId) -> bool {
        match (self, id) {
            (Self::Protect(protection), AssociationId::Outbound(id)) => {
                protection.outbound.contains(&Some(id))
            }
            (Self::Protect(protection), AssociationId::Inbound(id)) => protection.inbound.contains(&Some(id)),
            _ => false,
        }
    }
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which packets it is for.
    pub selector: Selector,
    /// How they are processed.
    pub action: Action,
}

/// At most `N` policies, of which the first that matches applies. Packets that no policy matches are discarded.
pub(crate) struct PolicyDatabase<const N: usize> {
    policies: [Slot<Policy>; N],
}

impl<const N: usize> PolicyDatabase<N> {
    pub(crate) const fn new() -> Self {
        Self { policies: [Slot::Empty; N] }
    }

    /// Adds a policy after the others. Returns `false` if the table is full.
    pub(crate) fn push(&mut self, policy: Policy) -> bool {
        match table::free(&mut self.policies) {
            Some((_, place)) => {
                *place = Slot::Full(policy);
                true
            }
            None => false,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.policies = [Slot::Empty; N];
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.policies.iter().filter_map(Slot::get)
    }

    /// The first policy with this selector.
    pub(crate) fn find(&mut self, selector: &Selector) -> Option<&mut Policy> {
        self.policies.iter_mut().filter_map(Slot::get_mut).find(|policy| policy.selector == *selector)
    }

    /// Removes the first policy with this selector; those after it move up. Returns `false` if there is none.
    pub(crate) fn remove(&mut self, selector: &Selector) -> bool {
        let is = |place: &Slot<Policy>| place.get().is_some_and(|policy| policy.selector == *selector);
        let Some(at) = self.policies.iter().position(is) else { return false };
        let (_, behind) = self.policies.split_at_mut(at);
        behind.rotate_left(1);
        if let Some(last) = behind.last_mut() {
            *last = Slot::Empty;
        }
        true
    }

    /// What is done with packets of `flow`, if a policy is for them.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn action(&self, flow: &Flow) -> Option<&Action> {
        for policy in &self.policies {
            if let Slot::Full(policy) = policy
                && policy.selector.matches(flow)
            {
                return Some(&policy.action);
            }
            // As in `table::position`, which would not inline the comparison.
            if N == 1 {
                break;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Ipv6Addr {
        text.parse().unwrap()
    }

    #[test]
    fn a_prefix_is_the_range_of_what_begins_with_it() {
        for (length, first, last) in [
            (0, "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            (64, "fd00:1:2:3::", "fd00:1:2:3:ffff:ffff:ffff:ffff"),
            (10, "fd00::", "fd3f:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            (128, "fd00:1:2:3:4:5:6:7", "fd00:1:2:3:4:5:6:7"),
            (200, "fd00:1:2:3:4:5:6:7", "fd00:1:2:3:4:5:6:7"),
        ] {
            let expected = Addresses::range(address(first), address(last));
            assert_eq!(Addresses::prefix(address("fd00:1:2:3:4:5:6:7"), length), expected, "{length}");
        }
        let range = Addresses::prefix(address("fd00::"), 64);
        assert!(
            range.contain(&address("fd00::ffff:ffff:ffff:ffff")) && !range.contain(&address("fd00:0:0:1::"))
        );
        assert!(
            Addresses::ANY.contain(&address("::"))
                && Addresses::ANY.contain(&address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))
        );
    }

    #[test]
    fn the_first_policy_that_matches_applies_and_without_one_packets_are_discarded() {
        let flow = |remote: &str, protocol, ports| Flow {
            local: address("fd00::1"),
            remote: address(remote),
            protocol,
            ports,
        };
        let mut policies = PolicyDatabase::<3>::new();
        assert_eq!(policies.action(&flow("fd00::2", 17, None)), None);
        let selector = |remote, protocol, local_ports, remote_ports| Selector {
            remote,
            protocol,
            local_ports,
            remote_ports,
            ..Selector::ANY
        };
        let neighbour_discovery = selector(Addresses::ANY, Some(58), Ports::icmpv6(133, 137), Ports::ANY);
        assert!(policies.push(Policy { selector: neighbour_discovery, action: Action::Bypass }));
        let port = selector(Addresses::one(address("fd00::2")), Some(17), Ports::ANY, Ports::one(7));
        assert!(policies.push(Policy { selector: port, action: Action::Discard }));
        let site = selector(Addresses::prefix(address("fd00::"), 64), None, Ports::ANY, Ports::ANY);
        assert!(policies.push(Policy { selector: site, action: Action::Bypass }));
        assert!(!policies.push(Policy { selector: Selector::ANY, action: Action::Bypass }), "it is full");
        for (flow, action) in [
            (flow("ff02::1", 58, Some((135 << 8, 135 << 8))), Some(&Action::Bypass)),
            (flow("ff02::1", 58, Some((128 << 8, 128 << 8))), None),
            (flow("ff02::1", 58, None), None),
            (flow("fd00::2", 17, Some((9, 7))), Some(&Action::Discard)),
            (flow("fd00::2", 17, Some((7, 9))), Some(&Action::Bypass)),
            (flow("fd00::2", 17, None), Some(&Action::Bypass)),
            (flow("fd00::3", 6, Some((9, 7))), Some(&Action::Bypass)),
            (flow("fd01::3", 6, Some((9, 7))), None),
        ] {
            assert_eq!(policies.action(&flow), action, "{flow:?}");
        }
        policies.clear();
        assert_eq!(policies.action(&flow("fd00::3", 6, None)), None);
    }
}
