//! From the pre-shared key to the keys of the records.

use sixlock_crypto::p256::P_256_SECRET;
use sixlock_crypto::{AES_128_KEY, Crypto, SHA_256_DIGEST, prf_sha256, wipe};
use sixlock_dtls_msg::{RANDOM, VERIFY_DATA};

use super::parameters::{HandshakeParameters, MAX_PSK};
use super::record::{Direction, Protection, WRITE_IV};
use super::session_state::MASTER_SECRET;
use crate::engine::role::Side;
use crate::{ConnectionId, Profile};

/// What a pre-shared key of at most [`MAX_PSK`] bytes gives for a premaster secret
/// ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)) is lent to `derive`; beside what ephemeral keys
/// share, if there are any ([RFC 5489 section 2](https://www.rfc-editor.org/rfc/rfc5489#section-2)).
pub(crate) fn with_premaster<T>(
    shared: Option<&[u8; P_256_SECRET]>,
    psk: &[u8],
    derive: impl FnOnce(&[u8]) -> T,
) -> T {
    // The length and what is shared, or as many zeros as the key is long, then the length and the key.
    let mut buffer = [0; 4 + 2 * MAX_PSK];
    let psk = &psk[..psk.len().min(MAX_PSK)];
    let length = (psk.len() as u16).to_be_bytes();
    let other = shared.map_or(psk.len(), |shared| {
        buffer[2..2 + P_256_SECRET].copy_from_slice(shared);
        P_256_SECRET
    });
    buffer[..2].copy_from_slice(&(other as u16).to_be_bytes());
    let (header, key) = buffer[2 + other..].split_at_mut(2);
    header.copy_from_slice(&length);
    key[..psk.len()].copy_from_slice(psk);
    let derived = derive(&buffer[..4 + other + psk.len()]);
    wipe(&mut buffer);
    derived
}

/// The master secret; with a session hash, the extended one
/// ([RFC 7627 section 4](https://www.rfc-editor.org/rfc/rfc7627#section-4)).
pub(crate) fn master_secret<C: Crypto>(
    crypto: &mut C,
    premaster: &[u8],
    session_hash: Option<&[u8; SHA_256_DIGEST]>,
    client_random: &[u8; RANDOM],
    server_random: &[u8; RANDOM],
) -> [u8; MASTER_SECRET] {
    let mut master = [0; MASTER_SECRET];
    match session_hash {
        Some(hash) => prf_sha256(crypto, premaster, "extended master secret", [hash, &[]], &mut master),
        None => prf_sha256(crypto, premaster, "master secret", [client_random, server_random], &mut master),
    }
    master
}

/// The record keys ([RFC 5246 section 6.3](https://www.rfc-editor.org/rfc/rfc5246#section-6.3)): those that `side` reads
/// with, and those it writes with.
pub(crate) fn keys<C: Crypto>(
    crypto: &mut C,
    side: Side,
    master: &[u8; MASTER_SECRET],
    client_random: &[u8; RANDOM],
    server_random: &[u8; RANDOM],
) -> (Direction<C>, Direction<C>) {
    // The client's key, the server's key, and what is secret of their nonces in the same order.
    let mut block = [0; 2 * (AES_128_KEY + WRITE_IV)];
    prf_sha256(crypto, master, "key expansion", [server_random, client_random], &mut block);
    let (keys, ivs) = block.split_at(2 * AES_128_KEY);
    let (keys, ivs) = (keys.as_chunks().0, ivs.as_chunks().0);
    let (own, peer) = match side {
        Side::Client => (0, 1),
        Side::Server => (1, 0),
    };
    let read = Direction::new(crypto, &keys[peer], ivs[peer]);
    let write = Direction::new(crypto, &keys[own], ivs[own]);
    wipe(&mut block);
    (read, write)
}

/// The content of a Finished message
/// ([RFC 5246 section 7.4.9](https://www.rfc-editor.org/rfc/rfc5246#section-7.4.9)).
pub(crate) fn verify_data<C: Crypto>(
    crypto: &mut C,
    master: &[u8; MASTER_SECRET],
    side: Side,
    digest: &[u8; SHA_256_DIGEST],
) -> [u8; VERIFY_DATA] {
    let label = match side {
        Side::Client => "client finished",
        Side::Server => "server finished",
    };
    let mut data = [0; VERIFY_DATA];
    prf_sha256(crypto, master, label, [digest, &[]], &mut data);
    data
}

/// How `side` protects its records by the keys that follow from the master secret.
pub(crate) fn protect<C: Crypto, P: Profile>(
    crypto: &mut C,
    side: Side,
    parameters: &HandshakeParameters<P::Features>,
) -> Protection<C, P> {
    let HandshakeParameters { master_secret, client_random, server_random, suite, .. } = parameters;
    let keys = keys(crypto, side, master_secret, client_random, server_random);
    let ids = if P::CONNECTION_IDS { parameters.connection_ids() } else { None };
    Protection::new(keys, *suite, ids.map_or(ConnectionId::EMPTY, |(_, peer)| peer))
}
