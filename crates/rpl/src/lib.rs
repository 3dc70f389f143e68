//! RPL, the routing protocol for low-power and lossy networks ([RFC 6550](https://www.rfc-editor.org/rfc/rfc6550)): what its nodes are
//! made of.
#![no_std]

mod link;
pub mod lollipop;
pub mod objective;
mod rank;
mod trickle;

pub use link::{ETX, Link};
pub use trickle::Trickle;
