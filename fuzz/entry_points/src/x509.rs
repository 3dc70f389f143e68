//! Certificates.

use sixlock_crypto::Soft;
use sixlock_x509::{Certificate, Clock, Error, Purpose, Time, Trust, verify};

use crate::split;

/// A chain of certificates, the last of which is trusted.
pub(crate) fn chain(input: &[u8]) -> usize {
    let chain: Vec<&[u8]> = split(input).take(8).collect();
    let Some(&authority) = chain.last() else { return 0 };
    let clock = Clock::At(Time::new(21_915, 0));
    for purpose in [Purpose::Client, Purpose::Server] {
        let trust = Trust { authorities: &[authority], clock, purpose, name: None };
        match verify(&mut Soft, &trust, chain.iter().copied()) {
            Ok(peer) => assert!(peer.is_valid(clock).and(peer.is_for(purpose)).is_ok()),
            Err(Error::Name) => panic!("no name was asked for"),
            Err(_) => {}
        }
    }
    chain.iter().filter(|der| Certificate::parse(der).is_ok_and(|read| !read.is_named(b""))).count()
}
