//! Datagrams put together from fragments.

use std::collections::VecDeque;

use sixlock_sixlowpan::{ElidedChecksum, FragmentHeader, LinkAddresses};

/// Datagrams under way that are remembered; when more are, the oldest is given up.
const LIMIT: usize = 256;

/// How long a datagram may be under way, in microseconds
/// ([RFC 4944 section 5.3](https://www.rfc-editor.org/rfc/rfc4944#section-5.3)).
const PATIENCE: u64 = 60_000_000;

/// The datagrams under way, the oldest first.
#[derive(Default)]
pub(crate) struct Datagrams(VecDeque<Partial>);

struct Partial {
    link: LinkAddresses,
    tag: u16,
    begun: u64,
    bytes: Vec<u8>,
    /// Which of the bytes are here.
    here: Vec<bool>,
    frames: usize,
    elided_checksum: Option<ElidedChecksum>,
}

/// A datagram that is whole.
pub(crate) struct Whole {
    pub(crate) packet: Vec<u8>,
    pub(crate) frames: usize,
    pub(crate) elided_checksum: Option<ElidedChecksum>,
}

/// Why a fragment is not part of its datagram.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It reaches beyond the datagram's end.
    BeyondTheEnd,
    /// It says something else than another fragment of the same datagram at the same place.
    Contradiction,
}

impl Datagrams {
    /// Adds `bytes`, the uncompressed content of a fragment, and returns the datagram if it is whole now.
    pub(crate) fn add(
        &mut self,
        now: u64,
        link: LinkAddresses,
        header: FragmentHeader,
        bytes: &[u8],
        elided_checksum: Option<ElidedChecksum>,
    ) -> Result<Option<Whole>, Refusal> {
        let FragmentHeader { datagram_size, tag, offset } = header;
        self.0.retain(|partial| now.saturating_sub(partial.begun) <= PATIENCE);
        let size = usize::from(datagram_size);
        let same = |partial: &Partial| (partial.link, partial.tag, partial.bytes.len()) == (link, tag, size);
        let mut partial = match self.0.iter().position(same).and_then(|place| self.0.remove(place)) {
            Some(partial) => partial,
            None => {
                if self.0.len() == LIMIT {
                    self.0.pop_front();
                }
                let (bytes, here) = (vec![0; size], vec![false; size]);
                Partial { link, tag, begun: now, bytes, here, frames: 0, elided_checksum: None }
            }
        };
        let at = usize::from(offset);
        let place = at..at + bytes.len();
        let (Some(room), Some(here)) = (partial.bytes.get_mut(place.clone()), partial.here.get_mut(place))
        else {
            return Err(Refusal::BeyondTheEnd);
        };
        let differs = |((byte, here), &new): ((&u8, &bool), &u8)| *here && *byte != new;
        if room.iter().zip(&*here).zip(bytes).any(differs) {
            return Err(Refusal::Contradiction);
        }
        let is_new = here.iter().any(|here| !here);
        room.copy_from_slice(bytes);
        here.fill(true);
        partial.frames += usize::from(is_new);
        partial.elided_checksum = partial.elided_checksum.or(elided_checksum);
        if partial.here.iter().all(|here| *here) {
            let Partial { bytes: packet, frames, elided_checksum, .. } = partial;
            return Ok(Some(Whole { packet, frames, elided_checksum }));
        }
        self.0.push_back(partial);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_base::Eui64;

    const LINK: LinkAddresses = LinkAddresses { source: Eui64([1; 8]), destination: Eui64([2; 8]) };

    fn header(tag: u16, offset: u16) -> FragmentHeader {
        FragmentHeader { datagram_size: 20, tag, offset }
    }

    #[test]
    fn fragments_come_in_any_order_and_more_than_once() {
        let mut datagrams = Datagrams::default();
        let mut add = |tag, offset, bytes: &[u8]| datagrams.add(0, LINK, header(tag, offset), bytes, None);
        assert!(matches!(add(1, 8, &[2; 8]), Ok(None)));
        assert!(matches!(add(2, 0, &[9; 8]), Ok(None)), "another datagram");
        assert!(matches!(add(1, 8, &[2; 8]), Ok(None)), "it is here already");
        assert!(matches!(add(1, 16, &[3; 4]), Ok(None)));
        let whole = add(1, 0, &[1; 8]).ok().flatten().expect("a whole datagram");
        assert_eq!((whole.packet, whole.frames), ([[1; 8].as_slice(), &[2; 8], &[3; 4]].concat(), 3));
    }

    #[test]
    fn a_fragment_that_does_not_fit_is_refused_with_the_reason() {
        let mut datagrams = Datagrams::default();
        let mut add =
            |now, offset, bytes: &[u8]| datagrams.add(now, LINK, header(1, offset), bytes, None).err();
        assert_eq!(add(0, 16, &[0; 5]), Some(Refusal::BeyondTheEnd));
        assert_eq!(add(0, 8, &[1; 8]), None);
        assert_eq!(add(PATIENCE, 8, &[2; 8]), Some(Refusal::Contradiction));
        assert_eq!(add(0, 8, &[1; 8]), None);
        assert_eq!(add(PATIENCE + 1, 8, &[2; 8]), None, "the first one is forgotten");
    }

    #[test]
    fn the_oldest_datagram_makes_room() {
        let mut datagrams = Datagrams::default();
        for tag in 0..=LIMIT as u16 {
            assert!(datagrams.add(0, LINK, header(tag, 0), &[1; 8], None).is_ok());
        }
        assert_eq!(datagrams.0.len(), LIMIT);
        assert_eq!(datagrams.0.front().map(|partial| partial.tag), Some(1));
    }
}
