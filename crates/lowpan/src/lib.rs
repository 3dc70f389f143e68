//! 6LoWPAN adaptation: IPv6 packets to frame payloads and back.
//!
//! One pool of datagrams serves all roles. A datagram is *free*, *reassembling*, *received* (lent to the
//! caller by a [`Received`]) or *transmitting*. A received one turns into a transmitting one without being
//! copied, which is how packets are forwarded.
//!
//! # When the pool is full
//! - Reassemblies, and transmissions, may each take all datagrams but one, so that neither keeps the other
//!   from ever going on.
//! - One neighbour may hold half of the datagrams open to reassembly, but at least one. A neighbour sends
//!   one datagram after the other: when it begins one beyond its share, its oldest will not be completed
//!   and makes room.
//! - Otherwise what comes last is dropped and counted.
//!
//! # Pauses
//! Several datagrams in fragments for one host beyond a neighbour, such as a flight of a handshake, do not follow each other at
//! once. On a chain of hops each would collide with the one before it, and find the buffers of those in between in use.
#![no_std]

mod fragments;
mod pool;
mod reassembly;

pub use fragments::{MIN_CAPACITY, fragment_sizes};
pub use pool::{
    Datagram, Datagrams, Fragment, Lowpan, Occupied, Pool, REASSEMBLY_TIMEOUT, Received, SendError,
};
pub use sixlock_sixlowpan::LinkAddresses;
