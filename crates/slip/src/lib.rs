//! SLIP: packets on a serial line ([RFC 1055](https://www.rfc-editor.org/rfc/rfc1055)).
//!
//! Between any two packets stands a byte that does not occur in them; where it and the byte that escapes it would occur,
//! two others stand for each. Nothing tells whether a byte was lost or changed: checksums of the packets do.
#![no_std]

mod decoder;
mod encoder;

pub use decoder::{Decoder, Error};
pub use encoder::Encoder;

/// Stands before and behind each packet.
const END: u8 = 0xc0;
/// Begins what stands for one of these two in a packet.
const ESCAPE: u8 = 0xdb;
/// Behind [`ESCAPE`]: it stands for [`END`].
const ESCAPED_END: u8 = 0xdc;
/// Behind [`ESCAPE`]: it stands for itself.
const ESCAPED_ESCAPE: u8 = 0xdd;
