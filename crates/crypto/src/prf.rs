use crate::{Crypto, SHA_256_DIGEST, wipe};

/// The TLS 1.2 pseudo-random function with SHA-256, over the concatenation of `seed`
/// ([RFC 5246 section 5](https://www.rfc-editor.org/rfc/rfc5246#section-5)).
///
/// `seed` has at most four parts.
pub fn prf_sha256<C: Crypto>(crypto: &mut C, secret: &[u8], label: &str, seed: &[&[u8]], out: &mut [u8]) {
    debug_assert!(seed.len() <= 4);
    // A(i) first, then the label and the seed: the parts of every HMAC below.
    let mut parts: [&[u8]; 6] = [&[]; 6];
    parts[1] = label.as_bytes();
    for (part, &bytes) in parts[2..].iter_mut().zip(seed) {
        *part = bytes;
    }
    let mut a = crypto.hmac_sha256(secret, &parts[1..]);
    for block in out.chunks_mut(SHA_256_DIGEST) {
        let mut digest = {
            let mut keyed = parts;
            keyed[0] = &a;
            crypto.hmac_sha256(secret, &keyed)
        };
        block.copy_from_slice(&digest[..block.len()]);
        wipe(&mut digest);
        a = crypto.hmac_sha256(secret, &[&a]);
    }
    wipe(&mut a);
}
