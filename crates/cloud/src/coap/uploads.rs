//! Bodies of requests that come in blocks
//! ([RFC 7959 section 2.5](https://www.rfc-editor.org/rfc/rfc7959#section-2.5)).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sixlock_coap::{Assembly, AssemblyError};
use sixlock_coap_msg::Block;

use super::answer::Refusal;
use super::content::LONGEST_BODY;
use super::request::Operation;

/// Peers of whom a body is coming. When there are as many, those that begin are refused until one is whole or given up.
const PEERS: usize = 256;
/// How long the next block is waited for.
const PATIENCE: Duration = Duration::from_secs(247);

/// The bodies that are coming, one of each peer: whoever begins another gives up the one before.
#[derive(Clone, Default)]
pub(super) struct Uploads(Arc<Mutex<HashMap<Vec<u8>, Upload>>>);

struct Upload {
    operation: Operation,
    assembly: Assembly,
    heard: Instant,
}

impl Uploads {
    /// Takes a block of the peer `association`; the body when it is whole.
    pub(super) fn take(
        &self,
        association: &[u8],
        operation: Operation,
        block: Block,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Refusal> {
        self.take_at(Instant::now(), association, operation, block, bytes)
    }

    fn take_at(
        &self,
        now: Instant,
        association: &[u8],
        operation: Operation,
        block: Block,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if block.number() == 0 {
            uploads.remove(association);
            uploads.retain(|_, upload| now.duration_since(upload.heard) < PATIENCE);
            if uploads.len() >= PEERS {
                return Err(Refusal::Busy);
            }
            let upload = Upload { operation: operation.clone(), assembly: Assembly::new(), heard: now };
            uploads.insert(association.to_vec(), upload);
        }
        let upload = uploads.get_mut(association).filter(|upload| upload.operation == operation);
        let upload = upload.ok_or(Refusal::Incomplete)?;
        upload.heard = now;
        let taken = upload.assembly.take(block, bytes, LONGEST_BODY);
        if !matches!(taken, Ok(None)) {
            uploads.remove(association);
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

    fn block(number: u32, more: bool) -> Block {
        Block::new(number, more, 0).unwrap()
    }

    #[test]
    fn bodies_of_different_peers_and_operations_are_not_mixed() {
        let uploads = Uploads::default();
        let take =
            |peer: &[u8], tag: &[u8], block, bytes: &[u8]| uploads.take(peer, operation(tag), block, bytes);
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
            assert_eq!(uploads.take_at(now, b"a", operation(b""), large(number, true), &[0; 1024]), Ok(None));
        }
        let last = uploads.take_at(now, b"a", operation(b""), large(64, false), &[0]);
        assert_eq!(last, Err(Refusal::TooLarge));
        let begin = |peer: usize, now| {
            uploads.take_at(now, &peer.to_be_bytes(), operation(b""), block(0, true), &[0; 16])
        };
        for peer in 0..PEERS {
            assert_eq!(begin(peer, now), Ok(None));
        }
        assert_eq!(begin(PEERS, now), Err(Refusal::Busy));
        assert_eq!(begin(0, now), Ok(None), "it has its place");
        assert_eq!(begin(PEERS, now + PATIENCE), Ok(None), "the others have given up");
    }
}
