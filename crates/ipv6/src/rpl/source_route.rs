//! Source routes: routing headers of type 3 ([RFC 6554](https://www.rfc-editor.org/rfc/rfc6554)).

use core::net::Ipv6Addr;

use crate::extension::{Chain, Refusal};
use crate::icmpv6::Problem;
use crate::{Error, Header, next_header};

/// The type of routing headers that hold a source route.
const TYPE: u8 = 3;

/// Bytes before the addresses.
const FIXED: usize = 8;

/// Where in the header stands how many hops are to come.
const SEGMENTS_LEFT_AT: usize = 3;

/// A source route: the addresses that a packet is still to visit, and those it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRoute<'a> {
    /// How many hops are to come.
    pub segments_left: u8,
    /// Leading octets that each address but the last has in common with the packet's destination, and that are left out.
    compressed: usize,
    /// The same for the last.
    compressed_last: usize,
    /// How many addresses there are.
    count: usize,
    addresses: &'a [u8],
}

impl<'a> SourceRoute<'a> {
    /// Reads the routing header that `header` is as a whole.
    pub fn parse(header: &'a [u8]) -> Result<Self, Error> {
        let (&[_, units, kind, segments_left, compression, padding, _, _], rest) =
            header.split_first_chunk::<FIXED>().ok_or(Error::Truncated)?;
        if kind != TYPE {
            return Err(Error::Unknown);
        }
        if usize::from(units) * 8 != rest.len() {
            return Err(Error::Length);
        }
        let (compressed, compressed_last) = (usize::from(compression >> 4), usize::from(compression & 0xf));
        // None of these may take more than there is.
        let padded = rest.len().checked_sub(usize::from(padding >> 4)).ok_or(Error::Length)?;
        let before_last = padded.checked_sub(16 - compressed_last).ok_or(Error::Length)?;
        let each = 16 - compressed;
        if !before_last.is_multiple_of(each) {
            return Err(Error::Length);
        }
        let addresses = rest.get(..padded).ok_or(Error::Length)?;
        Ok(Self { segments_left, compressed, compressed_last, count: before_last / each + 1, addresses })
    }

    /// How many addresses there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none: there is always one.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Where in the addresses the one at `index` stands, counted from 0, and how many octets it leaves out.
    fn place(&self, index: usize) -> Option<(usize, usize)> {
        let last = self.count - 1;
        match index {
            _ if index > last => None,
            _ if index == last => Some((last * (16 - self.compressed), self.compressed_last)),
            _ => Some((index * (16 - self.compressed), self.compressed)),
        }
    }

    /// Makes of a packet's destination the address at `index`, counted from 0, whether there is one.
    #[inline(never)]
    fn put(&self, index: usize, octets: &mut [u8; 16]) -> bool {
        let Some((at, left_out)) = self.place(index) else { return false };
        let place = octets.get_mut(left_out..);
        let Some((place, address)) = place.zip(self.addresses.get(at..at + 16 - left_out)) else {
            return false;
        };
        place.copy_from_slice(address);
        true
    }

    /// The address at `index`, counted from 0, in a packet to `destination`.
    pub fn address(&self, index: usize, destination: Ipv6Addr) -> Option<Ipv6Addr> {
        let mut octets = destination.octets();
        self.put(index, &mut octets).then(|| octets.into())
    }
}

/// The most octets that an address can leave out.
pub const MOST_LEFT_OUT: u8 = 15;

/// The leading octets that all of `hops` have in common with `destination`, at most `most`.
fn common(destination: Ipv6Addr, hops: impl Iterator<Item = Ipv6Addr>, most: u8) -> usize {
    let destination = destination.octets();
    let common = |hop: Ipv6Addr| hop.octets().iter().zip(&destination).take_while(|(a, b)| a == b).count();
    hops.map(common).min().unwrap_or(0).min(most.min(MOST_LEFT_OUT).into())
}

/// Length of the header that [`emit`] writes, in bytes; `None` if there is no hop.
pub fn length(
    destination: Ipv6Addr,
    hops: impl Iterator<Item = Ipv6Addr> + Clone,
    most_left_out: u8,
) -> Option<usize> {
    let count = hops.clone().count();
    let each = 16 - common(destination, hops, most_left_out);
    (count > 0).then_some((FIXED + count * each).next_multiple_of(8))
}

/// Writes to the start of `out` the header before one of the kind `next` of a packet that visits `destination`, which its IPv6 header
/// names, and then `hops`. Its length.
///
/// All addresses leave out as many octets, `most_left_out` at most: an address may take the place of any other on the way.
pub fn emit(
    out: &mut [u8],
    next: u8,
    destination: Ipv6Addr,
    hops: impl Iterator<Item = Ipv6Addr> + Clone,
    most_left_out: u8,
) -> Result<usize, Error> {
    let length = length(destination, hops.clone(), most_left_out).ok_or(Error::Length)?;
    let left_out = common(destination, hops.clone(), most_left_out);
    let count = u8::try_from(hops.clone().count()).map_err(|_| Error::Length)?;
    let units = u8::try_from(length / 8 - 1).map_err(|_| Error::Length)?;
    let out = out.get_mut(..length).ok_or(Error::Truncated)?;
    let padding = length - FIXED - usize::from(count) * (16 - left_out);
    let (fixed, mut rest) = out.split_first_chunk_mut::<FIXED>().ok_or(Error::Truncated)?;
    *fixed = [next, units, TYPE, count, (left_out * 0x11) as u8, (padding << 4) as u8, 0, 0];
    for hop in hops {
        let (place, behind) = rest.split_at_mut_checked(16 - left_out).ok_or(Error::Truncated)?;
        place.copy_from_slice(hop.octets().get(left_out..).unwrap_or_default());
        rest = behind;
    }
    rest.fill(0);
    Ok(length)
}

/// Does to `packet`, which is for this host, what its source route says: the destination and the next address change places, and the
/// packet is to be sent on to the destination then. False if it has no source route, or has come to its end.
///
/// Whether an address is one of this host `is_own` says: a route that leads back here is a loop, and refused
/// ([RFC 6554 section 4.2](https://www.rfc-editor.org/rfc/rfc6554#section-4.2)).
#[inline(never)]
pub fn advance(packet: &mut [u8], is_own: impl Fn(Ipv6Addr) -> bool) -> Result<bool, Refusal> {
    let Some((at, length)) = find(packet)? else { return Ok(false) };
    let refusal = |offset: usize| match u16::try_from(at + offset) {
        Ok(pointer) => Refusal::Problem { problem: Problem::Field, pointer },
        Err(_) => Refusal::Silent,
    };
    let (front, header) = packet.split_at_mut_checked(at).ok_or(Refusal::Silent)?;
    let header = header.get_mut(..length).ok_or(Refusal::Silent)?;
    let destination = front.get_mut(Header::DESTINATION_AT..).and_then(<[u8]>::first_chunk_mut);
    let destination: &mut [u8; 16] = destination.ok_or(Refusal::Silent)?;
    let route = SourceRoute::parse(header).map_err(|_| refusal(1))?;
    let Some(left) = route.segments_left.checked_sub(1) else { return Ok(false) };
    let index = route.count.checked_sub(usize::from(left) + 1).ok_or_else(|| refusal(SEGMENTS_LEFT_AT))?;
    let (offset, left_out) = route.place(index).ok_or(Refusal::Silent)?;
    let mut next = *destination;
    route.put(index, &mut next);
    // Neither may a packet be sent to all of a group by a source route (RFC 6554 section 4.2).
    if destination[0] == 0xff || next[0] == 0xff || next == [0; 16] {
        return Err(Refusal::Silent);
    }
    for index in 0..route.count {
        let mut visited = *destination;
        if route.put(index, &mut visited) && is_own(visited.into()) {
            return Err(refusal(FIXED + offset));
        }
    }
    header[SEGMENTS_LEFT_AT] = left;
    let place = header.get_mut(FIXED + offset..FIXED + offset + 16 - left_out).ok_or(Refusal::Silent)?;
    place.copy_from_slice(destination.get(left_out..).ok_or(Refusal::Silent)?);
    *destination = next;
    Ok(true)
}

/// Whether `packet` has a source route that leads on behind its destination, as far as can be told without following it.
pub fn leads_on(packet: &[u8]) -> bool {
    let found = find(packet).ok().flatten();
    found.and_then(|(at, _)| packet.get(at + SEGMENTS_LEFT_AT)).is_some_and(|&left| left != 0)
}

/// Where `packet` goes in the end: what checksums take for its destination
/// ([RFC 8200 section 8.1](https://www.rfc-editor.org/rfc/rfc8200#section-8.1)). Returns `None` if its headers are malformed.
pub fn final_destination(packet: &[u8]) -> Option<Ipv6Addr> {
    let destination = Ipv6Addr::from(*Header::address_at(packet, Header::DESTINATION_AT)?);
    let Some((at, length)) = find(packet).ok()? else { return Some(destination) };
    let route = SourceRoute::parse(packet.get(at..at + length)?).ok()?;
    match route.segments_left {
        0 => Some(destination),
        _ => route.address(route.count - 1, destination),
    }
}

/// Where the source route of `packet` begins, and its length. It may stand behind destination options.
fn find(packet: &[u8]) -> Result<Option<(usize, usize)>, Refusal> {
    for header in Chain::new(packet) {
        let header = header.map_err(|_| Refusal::Silent)?;
        match header.kind {
            next_header::HOP_BY_HOP | next_header::DESTINATION => {}
            next_header::ROUTING if packet.get(header.at + 2) == Some(&TYPE) => {
                return Ok(Some((header.at, header.length)));
            }
            _ => break,
        }
    }
    Ok(None)
}
