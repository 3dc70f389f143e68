//! Bodies of requests that come in blocks
//! ([RFC 7959 section 2.5](https://www.rfc-editor.org/rfc/rfc7959#section-2.5)).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sixlock_coap::{Assembly, AssemblyError};
use sixlock_coap_msg::Block;
use sixlock_coap_server::Holder;

use super::answer::LONGEST_BODY;
use super::refusal::Refusal;
use super::request::Operation;

/// Peers of whom a body is coming. When there are as many, those that begin are refused until one is whole or given up.
const PEERS: usize = 256;
/// The most of one device or user, whatever addresses and sessions they come from. One more takes the place of the one whose last block is
/// the oldest.
const OF_ONE_HOLDER: usize = 2;
/// How long the next block is waited for.
const PATIENCE: Duration = Duration::from_secs(247);

/// The bodies that are coming, one of each peer: whoever begins another gives up the one before.
#[derive(Clone, Default)]
pub(super) struct Uploads(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    coming: HashMap<Vec<u8>, Upload>,
    /// How many blocks were taken.
    blocks: u64,
}

struct Upload {
    holder: Holder,
    operation: Operation,
    assembly: Assembly,
    /// When the last block came.
    heard: Instant,
    /// The number of that block among all.
    block: u64,
}

impl Table {
    /// Makes room for another body of `holder`, if there may be one.
    fn make_room(&mut self, now: Instant, holder: Holder) -> Result<(), Refusal> {
        self.coming.retain(|_, upload| now.duration_since(upload.heard) < PATIENCE);
        let of_holder = || self.coming.iter().filter(|(_, upload)| upload.holder == holder);
        if of_holder().count() >= OF_ONE_HOLDER {
            let oldest = of_holder().min_by_key(|(_, upload)| upload.block).map(|(peer, _)| peer.clone());
            oldest.and_then(|peer| self.coming.remove(&peer));
        }
        if self.coming.len() < PEERS { Ok(()) } else { Err(Refusal::Busy) }
    }
}

impl Uploads {
    /// Takes a block of the peer `association`, which counts as one of `holder`; the body when it is whole.
    pub(super) fn take(
        &self,
        (association, holder): (&[u8], Holder),
        operation: Operation,
        block: Block,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Refusal> {
        self.take_at(Instant::now(), (association, holder), operation, block, bytes)
    }

    fn take_at(
        &self,
        now: Instant,
        (association, holder): (&[u8], Holder),
        operation: Operation,
        block: Block,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.blocks += 1;
        let number = table.blocks;
        if block.number() == 0 {
            table.coming.remove(association);
            table.make_room(now, holder)?;
            let (operation, assembly) = (operation.clone(), Assembly::new());
            let upload = Upload { holder, operation, assembly, heard: now, block: number };
            table.coming.insert(association.to_vec(), upload);
        }
        let upload = table.coming.get_mut(association).filter(|upload| upload.operation == operation);
        let upload = upload.ok_or(Refusal::Incomplete)?;
        (upload.heard, upload.block) = (now, number);
        let taken = upload.assembly.take(block, bytes, LONGEST_BODY);
        if !matches!(taken, Ok(None)) {
            table.coming.remove(association);
        }
        taken.map_err(|error| match error {
            AssemblyError::Gap => Refusal::Incomplete,
            AssemblyError::Size => Refusal::Malformed("a block is not as long as it says"),
            AssemblyError::TooLarge => Refusal::TooLarge,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coap::request::operation;
    use sixlock_coap_server::DeviceId;

    const OWN: Holder = Holder::Device(DeviceId(1));

    fn block(number: u32, more: bool) -> Block {
        Block::new(number, more, 0).unwrap()
    }

    #[test]
    fn bodies_of_different_peers_and_operations_are_not_mixed() {
        let uploads = Uploads::default();
        let take = |peer: &[u8], tag: &[u8], block, bytes: &[u8]| {
            // Each peer is a device of its own.
            let holder = Holder::Device(DeviceId(peer[0].into()));
            uploads.take((peer, holder), operation(tag), block, bytes)
        };
        assert_eq!(take(b"a", b"1", block(0, true), &[1; 16]), Ok(None));
        assert_eq!(take(b"b", b"1", block(0, true), &[2; 16]), Ok(None));
        assert_eq!(take(b"c", b"1", block(1, false), b"x"), Err(Refusal::Incomplete), "it never began");
        assert_eq!(take(b"b", b"2", block(1, false), b"x"), Err(Refusal::Incomplete), "another operation");
        assert_eq!(take(b"b", b"1", block(2, false), b"x"), Err(Refusal::Incomplete), "a gap");
        assert_eq!(take(b"b", b"1", block(1, false), b"x"), Err(Refusal::Incomplete), "given up");
        assert_eq!(take(b"a", b"1", block(1, false), b"x"), Ok(Some([&[1; 16][..], b"x"].concat())));
        assert_eq!(take(b"a", b"1", block(1, false), b"x"), Err(Refusal::Incomplete), "it is whole");
        assert_eq!(take(b"a", b"1", block(0, true), &[1; 16]), Ok(None));
        assert_eq!(take(b"a", b"2", block(0, false), b"y"), Ok(Some(b"y".to_vec())));
        assert_eq!(take(b"a", b"1", block(1, false), b"x"), Err(Refusal::Incomplete), "another began");
    }

    #[test]
    fn there_is_an_end_to_how_much_comes_and_for_how_long() {
        let (uploads, now) = (Uploads::default(), Instant::now());
        let large = |number, more| Block::new(number, more, 6).unwrap();
        for number in 0..64 {
            let taken = uploads.take_at(now, (b"a", OWN), operation(b""), large(number, true), &[0; 1024]);
            assert_eq!(taken, Ok(None));
        }
        let last = uploads.take_at(now, (b"a", OWN), operation(b""), large(64, false), &[0]);
        assert_eq!(last, Err(Refusal::TooLarge));
        let begin = |peer: usize, now| {
            let from = (&peer.to_be_bytes()[..], Holder::Device(DeviceId(peer as i64 / 2)));
            uploads.take_at(now, from, operation(b""), block(0, true), &[0; 16])
        };
        for peer in 0..PEERS {
            assert_eq!(begin(peer, now), Ok(None));
        }
        assert_eq!(begin(PEERS, now), Err(Refusal::Busy));
        assert_eq!(begin(0, now), Ok(None), "it has its place");
        assert_eq!(begin(PEERS, now + PATIENCE), Ok(None), "the others have given up");
    }

    #[test]
    fn a_device_with_many_addresses_takes_nobody_elses_place() {
        let uploads = Uploads::default();
        let take = |peer: u16, resource, number, more| {
            let from = (&peer.to_be_bytes()[..], Holder::Device(DeviceId(resource)));
            uploads.take(from, operation(b""), block(number, more), &[0; 16])
        };
        assert_eq!(take(0, 7, 0, true), Ok(None));
        for peer in 1..=1_000 {
            assert_eq!(take(peer, 8, 0, true), Ok(None), "{peer}");
        }
        assert_eq!(take(0, 7, 1, true), Ok(None), "another's goes on");
        assert_eq!(take(998, 8, 1, true), Err(Refusal::Incomplete), "it was the oldest");
        // The one whose last block is older goes.
        assert_eq!(take(999, 8, 1, true), Ok(None));
        assert_eq!(take(1_001, 8, 0, true), Ok(None));
        assert_eq!(take(1_000, 8, 1, true), Err(Refusal::Incomplete));
        assert_eq!(take(999, 8, 2, false).unwrap().map(|body| body.len()), Some(48));
    }
}
