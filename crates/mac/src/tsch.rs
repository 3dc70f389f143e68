//! Time-slotted channel hopping (TSCH) of IEEE 802.15.4-2015 as a machine without a radio, with the minimal schedule
//! ([RFC 8180](https://www.rfc-editor.org/rfc/rfc8180)) and, beside it, slots for frames to one neighbour.
//!
//! Time is cut into slots of 10 ms, which are counted from the network's begin: the absolute slot number (ASN) says which links a
//! device has in a slot, and on which channel. The coordinator tells the number in beacons; a device that hears one has joined, keeps
//! time by its time source, and sleeps in all slots but its own.
//!
//! A driver does for a [`Tsch`] what it does for a [`Mac`](crate::Mac), and tunes its radio, too.
//!
//! **Nonces.** The number of the slot stands in the nonce of a frame and nothing else that changes, and a device sends one frame in a
//! slot at most. So that no number comes twice, those up to which a device may have sent are reserved in its storage, 2^14 slots
//! (164 s) at a time: after a reboot, a device is silent in slots below that. A coordinator begins to count there.
//!
//! **Time.** A device learns from each correction how fast its own crystal is, and counts with it; so it listens for less long than
//! two crystals that nobody corrects would demand.

mod ack;
mod beacon;
mod clock;
mod config;
mod contention;
mod schedule;
mod security;
mod send;
mod slot;
mod times;

pub use config::TschConfig;
pub use schedule::Slotframes;
pub use slot::Tsch;
