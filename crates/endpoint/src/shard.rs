//! Endpoints that share a port: whose a session is stands in its ids, where its client cannot read it.

use core::fmt;

use sixlock_base::Entropy;
use sixlock_crypto::{AES_128_KEY, BlockCiphers, CcmNonce, CcmTag, Soft, Tag};
use sixlock_dtls::SESSION_ID;

use crate::table::Slot;

/// Which of several endpoints that share a port this one is. Each has its own sessions. The connection ids and session ids
/// that it gives name it: whichever endpoint gets a datagram finds out whose it is.
///
/// The ids are enciphered, for nobody but the endpoints to learn from them how many sessions or endpoints there are, or which
/// sessions are of the same one. That is all the key is for: an id proves nothing.
pub struct Shard {
    number: u16,
    count: u16,
    /// Prepared by the backend of hosts, as only those have shards: each datagram to a session with a connection id needs it.
    key: <Soft as BlockCiphers>::Aes128,
}

/// Rounds of the Feistel network that enciphers connection ids.
const ROUNDS: u8 = 4;
/// Behind the random bytes of a session id, its shard.
const NUMBER: usize = 2;
/// What the first byte of a nonce says that the key is used for: a round, or session ids.
const SESSION_IDS: u8 = ROUNDS;
/// The length of a nonce.
const NONCE: usize = 13;

impl Shard {
    /// Number `number`, from 0 on, of `count` endpoints with the same key.
    pub fn new(number: u16, count: u16, key: [u8; AES_128_KEY]) -> Self {
        let count = count.max(1);
        Self { number: number % count, count, key: Soft.aes_128(&key) }
    }

    /// Which one it is.
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// How many there are.
    pub const fn count(&self) -> u16 {
        self.count
    }

    /// Which one keeps what is left of the session with this id: one of those that there are by now, whoever gave the id.
    pub fn of_session(&self, id: &[u8; SESSION_ID]) -> u16 {
        let (random, number) = id.split_at(SESSION_ID - NUMBER);
        let number = number.try_into().map_or(0, u16::from_be_bytes);
        (number ^ self.hidden(random)) % self.count
    }

    /// An id for a session of this endpoint.
    pub(crate) fn session_id(&self, entropy: &mut impl Entropy) -> [u8; SESSION_ID] {
        let mut id = [0; SESSION_ID];
        let (random, number) = id.split_at_mut(SESSION_ID - NUMBER);
        entropy.fill(random);
        number.copy_from_slice(&(self.number ^ self.hidden(random)).to_be_bytes());
        id
    }

    /// What the number is hidden by in the session id with these random bytes.
    fn hidden(&self, random: &[u8]) -> u16 {
        (self.pseudorandom(SESSION_IDS, random) >> 16) as u16
    }

    /// The place of a slot among those of all endpoints.
    pub(crate) const fn place(&self, slot: Slot) -> u32 {
        slot.wrapping_mul(self.count as u32).wrapping_add(self.number as u32)
    }

    /// Whose a place is, and which of its slots.
    pub(crate) const fn find(&self, place: u32) -> (u16, Slot) {
        ((place % self.count as u32) as u16, place / self.count as u32)
    }

    /// Enciphers a connection id of at most 8 bytes: each becomes one of the same length, and no two the same.
    pub(crate) fn encipher(&self, id: &mut [u8]) {
        let (mut left, mut right, mask) = halves(id);
        for round in 0..ROUNDS {
            let mixed = left ^ self.pseudorandom(round, &right.to_be_bytes()) & mask;
            (left, right) = (right, mixed);
        }
        join(id, left, right);
    }

    /// Deciphers what [`Shard::encipher`] made.
    pub(crate) fn decipher(&self, id: &mut [u8]) {
        let (mut left, mut right, mask) = halves(id);
        for round in (0..ROUNDS).rev() {
            let mixed = right ^ self.pseudorandom(round, &left.to_be_bytes()) & mask;
            (left, right) = (mixed, left);
        }
        join(id, left, right);
    }

    /// Bits that nobody can tell from random ones who does not have the key.
    fn pseudorandom(&self, use_: u8, input: &[u8]) -> u32 {
        let mut nonce = [0; NONCE];
        nonce[0] = use_;
        for (byte, input) in nonce[1..].iter_mut().zip(input) {
            *byte = *input;
        }
        let (mut bits, mut none) = ([0; 4], Tag::empty(CcmTag::Zero));
        Soft.ccm_seal(&self.key, CcmNonce::Thirteen(&nonce), &[], &mut bits, &mut none);
        u32::from_be_bytes(bits)
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shard {} of {}", self.number, self.count)
    }
}

/// The halves of a number that an id is, and which bits a half has.
fn halves(id: &[u8]) -> (u32, u32, u32) {
    let bits = 4 * id.len() as u32;
    let mask = u32::MAX >> (u32::BITS - bits.clamp(4, u32::BITS));
    let number = id.iter().fold(0, |number: u64, &byte| number << 8 | u64::from(byte));
    ((number >> bits) as u32 & mask, number as u32 & mask, mask)
}

fn join(id: &mut [u8], left: u32, right: u32) {
    let number = u64::from(left) << (4 * id.len() as u32) | u64::from(right);
    let bytes = number.to_be_bytes();
    let unused = bytes.len().saturating_sub(id.len());
    for (place, byte) in id.iter_mut().zip(&bytes[unused..]) {
        *place = *byte;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use sixlock_testing::Random;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn what_was_enciphered_is_deciphered(key: [u8; 16], id in prop::collection::vec(any::<u8>(), 1..=8)) {
            let (shard, mut there) = (Shard::new(0, 2, key), id.clone());
            shard.encipher(&mut there);
            shard.decipher(&mut there);
            prop_assert_eq!(there, id);
        }

        #[test]
        fn a_place_is_one_slot_of_one_shard(number: u16, count in 1u16.., slot in 0u32..1_000_000) {
            let slot = slot / u32::from(count);
            let shard = Shard::new(number, count, [0; 16]);
            prop_assert_eq!(shard.find(shard.place(slot)), (number % count, slot));
        }

        #[test]
        fn a_session_id_names_the_shard_that_gave_it(key: [u8; 16], number: u16, count in 1u16.., seed: u32) {
            let shard = Shard::new(number, count, key);
            let id = shard.session_id(&mut Random::new(seed));
            for other in [0, number, count - 1] {
                prop_assert_eq!(Shard::new(other, count, key).of_session(&id), number % count);
            }
        }
    }

    #[test]
    fn every_connection_id_of_two_bytes_becomes_another_of_them_that_does_not_tell_which() {
        let shard = Shard::new(0, 1, *b"a key for names!");
        let sealed: Vec<u16> = (0..=u16::MAX)
            .map(|id| {
                let mut id = id.to_be_bytes();
                shard.encipher(&mut id);
                u16::from_be_bytes(id)
            })
            .collect();
        assert_eq!(sealed.iter().collect::<BTreeSet<_>>().len(), 1 << 16);
        // Each bit of each is as often set as not, whatever any bit of what it was is: within six standard deviations.
        for (bit, of) in (0..16).flat_map(|bit| (0..16).map(move |of| (bit, of))) {
            let alike =
                (0..1u32 << 16).filter(|id| (id >> of ^ u32::from(sealed[*id as usize]) >> bit) & 1 == 0);
            let alike = alike.count() as i32;
            assert!((alike - (1 << 15)).abs() < 6 * 128, "bit {bit} tells bit {of}: {alike}");
        }
    }
}
