//! A client of DTLS with a pre-shared key, which sends back what it receives.
#![no_std]
#![no_main]

use sixlock_dtls::{Completion, Plain};

const IDENTITY: &[u8] = b"node-1";
const KEY: &[u8] = b"0123456789abcdef";

// Identity and key have lengths that fit.
sixlock_alone::client!(Plain, None, |cx, session| {
    let _ = session.complete(cx, Completion::Psk { identity: IDENTITY, key: KEY });
});
