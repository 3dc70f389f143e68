//! Extension headers ([RFC 8200 section 4](https://www.rfc-editor.org/rfc/rfc8200#section-4)).

use core::fmt;

use crate::icmpv6::{self, Problem};
use crate::{Error, Header, next_header};

/// Longest chain that is followed; a packet with more is treated as malformed.
pub const MAX_HEADERS: usize = 8;

/// Where the chain of extension headers ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upper {
    /// The protocol that follows it.
    pub protocol: u8,
    /// Where in the packet it begins.
    pub at: usize,
    /// Where in the packet stands the next header field that names it.
    pub named_at: usize,
}

/// Why a packet is refused for its extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is dropped without an answer.
    Silent,
    /// It is answered by an ICMPv6 parameter problem.
    Problem {
        /// What is wrong.
        problem: Problem,
        /// Where in the packet.
        pointer: u16,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => {
                f.write_str("an extension header demands that the packet is dropped without an answer")
            }
            Self::Problem { pointer, .. } => {
                write!(f, "an extension header has a problem at byte {pointer} of the packet")
            }
        }
    }
}

impl core::error::Error for Refusal {}

/// Finds what follows the extension headers of `packet`, without looking into them.
///
/// The walk ends at AH, which only IPsec looks behind, and at a fragment header, unless its fragment is the whole packet.
pub fn skip(packet: &[u8]) -> Option<Upper> {
    let mut chain = Chain::new(packet);
    for header in chain.by_ref() {
        let header = header.ok()?;
        if header.kind == next_header::AH {
            return Some(header.place());
        }
    }
    Some(chain.upper())
}

/// Whether `packet` carries an ICMPv6 error, or a message of which not even the type is there; `None` if its extension headers do not
/// parse.
#[inline]
pub fn carries_error(packet: &[u8]) -> Option<bool> {
    let upper = skip(packet)?;
    let may_be_error = || packet.get(upper.at).is_none_or(|&kind| icmpv6::is_error(kind));
    Some(upper.protocol == next_header::ICMPV6 && may_be_error())
}

/// Where in `packet` the UDP datagram begins that follows its extension headers; `None` if something else does.
pub fn udp_at(packet: &[u8]) -> Option<usize> {
    skip(packet).filter(|upper| upper.protocol == next_header::UDP).map(|upper| upper.at)
}

/// Finds what follows the extension headers of `packet` at its destination: as [`skip`], but
/// unknown options and routing headers with a way still to go are refused.
pub fn process(packet: &[u8]) -> Result<Upper, Refusal> {
    let multicast = packet.get(24) == Some(&0xff);
    let mut chain = Chain::new(packet);
    for header in chain.by_ref() {
        let extension = header.map_err(|_| Refusal::Silent)?;
        let Extension { kind, at, length, named_at } = extension;
        let header = packet.get(at..at + length).unwrap_or_default();
        match (kind, header) {
            // Hop-by-hop options come first or not at all (RFC 8200 section 4.3).
            (next_header::HOP_BY_HOP, _) if named_at != Header::NEXT_HEADER_AT => {
                return Err(refusal(Problem::NextHeader, named_at));
            }
            (next_header::HOP_BY_HOP | next_header::DESTINATION, _) => options(header, at, multicast)?,
            (next_header::ROUTING, [_, _, _, segments_left, ..]) if *segments_left != 0 => {
                return Err(refusal(Problem::Field, at + 2));
            }
            (next_header::AH, _) => return Ok(extension.place()),
            _ => {}
        }
    }
    Ok(chain.upper())
}

/// An extension header in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Which it is.
    pub kind: u8,
    /// Where in the packet it begins.
    pub at: usize,
    /// Its length in bytes.
    pub length: usize,
    /// Where in the packet stands the next header field that names it.
    pub named_at: usize,
}

impl Extension {
    /// Where the chain ends for who does not know the header.
    fn place(&self) -> Upper {
        Upper { protocol: self.kind, at: self.at, named_at: self.named_at }
    }
}

/// The extension headers of a packet in any order, the authentication header among them, without a look into them.
///
/// They end before what follows them ([`Chain::upper`]), before ESP, behind which nothing can be read, and before a
/// fragment header whose fragment is not the whole packet. A chain that leaves the packet, or has more than
/// [`MAX_HEADERS`], ends with an error.
#[derive(Clone, Debug)]
pub struct Chain<'a> {
    packet: &'a [u8],
    upper: Upper,
    left: usize,
}

impl<'a> Chain<'a> {
    /// Those of `packet`.
    pub fn new(packet: &'a [u8]) -> Self {
        let protocol = packet.get(Header::NEXT_HEADER_AT).copied().unwrap_or(next_header::NONE);
        let upper = Upper { protocol, at: Header::LEN, named_at: Header::NEXT_HEADER_AT };
        Self { packet, upper, left: MAX_HEADERS }
    }

    /// What stands behind the headers that were returned.
    pub fn upper(&self) -> Upper {
        self.upper
    }
}

/// Whether `protocol` is no extension header, AH or ESP: nothing of a chain.
pub fn is_upper(protocol: u8) -> bool {
    !is_extension(protocol) && protocol != next_header::ESP
}

/// Whether `protocol` is that of an extension header whose length a chain knows.
fn is_extension(protocol: u8) -> bool {
    use next_header::{AH, DESTINATION, FRAGMENT, HOP_BY_HOP, ROUTING};
    matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION | AH | FRAGMENT)
}

impl Iterator for Chain<'_> {
    type Item = Result<Extension, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let Upper { protocol: kind, at, named_at } = self.upper;
        // Most packets have none, and what follows finds that out too: in more time, and in less flash.
        if cfg!(target_pointer_width = "64") && !is_extension(kind) {
            return (at > self.packet.len()).then_some(Err(Error::Truncated));
        }
        let rest = self.packet.get(at..).unwrap_or_default();
        let length = rest.get(1).copied().map_or(0, usize::from);
        let length = match (kind, rest) {
            (next_header::HOP_BY_HOP | next_header::ROUTING | next_header::DESTINATION, _) => {
                (length + 1) * 8
            }
            (next_header::AH, _) => (length + 2) * 4,
            (next_header::FRAGMENT, [_, _, 0, low, ..]) if low & 0xf9 == 0 => 8,
            _ if at > self.packet.len() => return Some(Err(Error::Truncated)),
            _ => return None,
        };
        if length > rest.len() {
            return Some(Err(Error::Truncated));
        }
        let Some(left) = self.left.checked_sub(1) else { return Some(Err(Error::Length)) };
        self.left = left;
        let protocol = rest.first().copied().unwrap_or(next_header::NONE);
        self.upper = Upper { protocol, at: at + length, named_at: at };
        Some(Ok(Extension { kind, at, length, named_at }))
    }
}

/// What the first bits of an unknown option's type demand
/// ([RFC 8200 section 4.2](https://www.rfc-editor.org/rfc/rfc8200#section-4.2)).
fn options(header: &[u8], header_at: usize, multicast: bool) -> Result<(), Refusal> {
    const PAD_1: u8 = 0;
    const PAD_N: u8 = 1;
    let mut at = 2;
    while let Some(&kind) = header.get(at) {
        if kind == PAD_1 {
            at += 1;
            continue;
        }
        let length = *header.get(at + 1).ok_or(Refusal::Silent)?;
        match kind >> 6 {
            _ if kind == PAD_N => {}
            0b00 => {}
            0b01 => return Err(Refusal::Silent),
            0b11 if multicast => return Err(Refusal::Silent),
            _ => return Err(refusal(Problem::Option, header_at + at)),
        }
        at += 2 + usize::from(length);
    }
    // An option must end where its header does.
    if at == header.len() { Ok(()) } else { Err(Refusal::Silent) }
}

fn refusal(problem: Problem, at: usize) -> Refusal {
    u16::try_from(at).map_or(Refusal::Silent, |pointer| Refusal::Problem { problem, pointer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    /// A packet whose extension headers are `chain`, with a destination that is multicast or not.
    fn packet(first: u8, multicast: bool, chain: &[u8]) -> Vec<u8> {
        let mut packet = std::vec![0; Header::LEN];
        packet[0] = 0x60;
        packet[6] = first;
        packet[24] = if multicast { 0xff } else { 0xfd };
        packet.extend(chain);
        packet
    }

    #[test]
    fn the_walk_ends_at_the_upper_layer_and_says_where_it_was_named() {
        let upper = Upper { protocol: 17, at: 40, named_at: 6 };
        assert_eq!(process(&packet(17, false, b"udp")), Ok(upper));
        assert_eq!(udp_at(&packet(17, false, b"udp")), Some(40));
        assert_eq!(udp_at(&packet(60, false, &[17, 0, 1, 4, 0, 0, 0, 0])), Some(48));
        // Hop-by-hop with PadN, a used-up routing header, an atomic fragment, destination options, ICMPv6.
        let chain = [
            [43, 0, 1, 4, 0, 0, 0, 0],
            [44, 0, 99, 0, 0, 0, 0, 0],
            [60, 0, 0, 0, 0, 0, 0, 1],
            [58, 0, 0, 0, 1, 2, 0, 0],
        ];
        let packet = packet(0, false, chain.as_flattened());
        let upper = Upper { protocol: 58, at: 72, named_at: 64 };
        assert_eq!(process(&packet), Ok(upper));
        assert_eq!(skip(&packet), Some(upper));
        assert_eq!(udp_at(&packet), None);
        for cut in 40..72 {
            assert_ne!(process(&packet[..cut]), Ok(upper), "{cut}");
        }
    }

    #[test]
    fn what_cannot_be_processed_is_refused_where_it_stands() {
        let problem = |problem, pointer| Err(Refusal::Problem { problem, pointer });
        // Hop-by-hop options behind another header.
        let chain = [[0, 0, 1, 4, 0, 0, 0, 0], [17, 0, 1, 4, 0, 0, 0, 0]];
        assert_eq!(process(&packet(60, false, chain.as_flattened())), problem(Problem::NextHeader, 40));
        // Segments left.
        assert_eq!(process(&packet(43, false, &[17, 0, 9, 1, 0, 0, 0, 0])), problem(Problem::Field, 42));
        // The first of several fragments, and a later one.
        for low in [1, 8] {
            let fragment = packet(44, false, &[17, 0, 0, low, 0, 0, 0, 0]);
            assert_eq!(process(&fragment), Ok(Upper { protocol: 44, at: 40, named_at: 6 }));
        }
        // Unknown options by the action their type demands.
        for (kind, multicast, expected) in [
            (0x1e, false, Ok(Upper { protocol: 17, at: 48, named_at: 40 })),
            (0x5e, false, Err(Refusal::Silent)),
            (0x9e, false, problem(Problem::Option, 43)),
            (0x9e, true, problem(Problem::Option, 43)),
            (0xde, false, problem(Problem::Option, 43)),
            (0xde, true, Err(Refusal::Silent)),
        ] {
            assert_eq!(process(&packet(60, multicast, &[17, 0, 0, kind, 3, 0, 0, 0])), expected, "{kind:#x}");
        }
        // An option longer than its header.
        assert_eq!(process(&packet(60, false, &[17, 0, 1, 5, 0, 0, 0, 0])), Err(Refusal::Silent));
    }

    #[test]
    fn the_walk_is_bounded() {
        let header = [60, 0, 1, 4, 0, 0, 0, 0];
        let mut chain: Vec<u8> = std::iter::repeat_n(header, MAX_HEADERS).flatten().collect();
        *chain.iter_mut().rev().nth(7).unwrap() = 17;
        assert!(process(&packet(60, false, &chain)).is_ok());
        let chain = [&header[..], &chain].concat();
        assert_eq!(process(&packet(60, false, &chain)), Err(Refusal::Silent));
    }

    #[test]
    fn a_chain_goes_through_ah_and_ends_before_esp_and_fragments() {
        let headers = |packet: &[u8]| {
            let mut chain = Chain::new(packet);
            let kinds: Result<Vec<u8>, _> =
                chain.by_ref().map(|header| header.map(|header| header.kind)).collect();
            (kinds, chain.upper())
        };
        let mut bytes = Vec::new();
        bytes.extend([51, 0, 1, 4, 0, 0, 0, 0]);
        bytes.extend([60, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([50, 0, 1, 4, 0, 0, 0, 0]);
        let end = Upper { protocol: 50, at: 80, named_at: 72 };
        assert_eq!(headers(&packet(0, false, &bytes)), (Ok(std::vec![0, 51, 60]), end));
        let cut = packet(0, false, &bytes[..31]);
        assert_eq!(headers(&cut).0, Err(Error::Truncated));
        // A fragment that is the whole packet, and the first of several.
        for (low, kinds) in [(0, std::vec![44]), (1, std::vec![])] {
            assert_eq!(headers(&packet(44, false, &[17, 0, 0, low, 0, 0, 0, 0])).0, Ok(kinds));
        }
        let long = [[60, 0, 1, 4, 0, 0, 0, 0]; MAX_HEADERS + 1];
        assert_eq!(headers(&packet(60, false, long.as_flattened())).0, Err(Error::Length));
    }

    proptest! {
        #[test]
        fn any_chain_stays_within_the_packet(
            first in 0u8..64, bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(43), Just(44), Just(51), Just(60), any::<u8>()], 0..64),
        ) {
            let packet = packet(first, false, &bytes);
            let mut at = 40;
            for header in Chain::new(&packet).map_while(Result::ok) {
                prop_assert_eq!(header.at, at);
                prop_assert_eq!(packet[header.named_at], header.kind);
                at += header.length;
            }
            prop_assert!(at <= packet.len());
        }

        #[test]
        fn any_chain_is_walked_or_refused_within_the_packet(
            first in 0u8..64, kinds in proptest::collection::vec(prop_oneof![Just(0u8), Just(17), Just(43), Just(44), Just(60), any::<u8>()], 0..64),
            multicast: bool,
        ) {
            let packet = packet(first, multicast, &kinds);
            match process(&packet) {
                Ok(upper) => {
                    prop_assert!(upper.at <= packet.len());
                    prop_assert_eq!(packet[upper.named_at], upper.protocol);
                    prop_assert_eq!(skip(&packet), Some(upper));
                }
                Err(Refusal::Problem { pointer, .. }) => prop_assert!((pointer as usize) < packet.len()),
                Err(Refusal::Silent) => {}
            }
        }
    }
}
