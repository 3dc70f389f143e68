use crate::{Hashes, SHA_256_DIGEST, wipe};

/// The TLS 1.2 pseudo-random function with SHA-256, over the two parts of `seed`
/// ([RFC 5246 section 5](https://www.rfc-editor.org/rfc/rfc5246#section-5)).
pub fn prf_sha256<C: Hashes>(crypto: &mut C, secret: &[u8], label: &str, seed: [&[u8]; 2], out: &mut [u8]) {
    let (label, [front, back]) = (label.as_bytes(), seed);
    let secret = &crypto.hmac_key(secret);
    let mut a = crypto.hmac_sha256(secret, &[label, front, back]);
    let mut blocks = out.chunks_mut(SHA_256_DIGEST);
    while let Some(block) = blocks.next() {
        let mut digest = crypto.hmac_sha256(secret, &[&a, label, front, back]);
        block.copy_from_slice(&digest[..block.len()]);
        wipe(&mut digest);
        if blocks.len() > 0 {
            a = crypto.hmac_sha256(secret, &[&a]);
        }
    }
    wipe(&mut a);
}
