//! What the tests of control messages share: bytes of messages, also of those that no builder makes.

use std::net::Ipv6Addr;

use sixlock_ipv6::{checksum, next_header};

/// A node on the link.
pub(crate) const SOURCE: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x12, 0x7400, 0, 5);

/// What `write` writes to the front of a buffer that is not blank, and long enough; it returns how much that is.
pub(crate) fn written(write: impl FnOnce(&mut [u8]) -> usize) -> Vec<u8> {
    let mut out = vec![0xee; 2000];
    let length = write(&mut out);
    out.truncate(length);
    out
}

/// The message of that type and code whose bytes behind the checksum are `body`, between these addresses.
pub(crate) fn message_between(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    kind: u8,
    code: u8,
    body: &[u8],
) -> Vec<u8> {
    let mut message = [&[kind, code, 0, 0], body].concat();
    let sum = checksum(source, destination, next_header::ICMPV6, &message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}
