//! What the tests of all crates share. A [`Rig`] lends a machine its time, entropy, counter ranges and counters; the entropy is
//! [`Random`] from a seed, [`Fixed`] or the [`System`]'s, and the [`Ranges`] outlast a reboot. [`packets`] builds what hosts send, and an
//! [`Authority`] issues certificates. A [`Recording`] keeps what a machine writes, and [`seeds_to_try`]
//! tells a long test its seeds. [`ipsec`] has hosts that protect what they say, and
//! [`crash`] copies a folder as a crash leaves it.
//!
//! Crates have it as a development dependency only. The unit tests of a crate that it imports see that crate twice: they use no
//! type of theirs that they got from here.

mod authority;
pub mod crash;
mod entropy;
pub mod ipsec;
pub mod packets;
mod ranges;
mod recording;
mod rig;
mod seeds;

pub use authority::Authority;
pub use entropy::{Fixed, Random, System};
pub use ranges::Ranges;
pub use recording::Recording;
pub use rig::Rig;
pub use seeds::seeds_to_try;
