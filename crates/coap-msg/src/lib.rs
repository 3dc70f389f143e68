//! CoAP messages ([RFC 7252](https://www.rfc-editor.org/rfc/rfc7252)): a view of received
//! bytes, checked once when it is made, and a builder that writes into a given buffer.
#![no_std]

mod block;
mod builder;
mod code;
mod content_format;
mod link;
mod message;
mod option;

pub use block::Block;
pub use builder::{BuildError, Builder};
pub use code::{Code, Type};
pub use content_format::ContentFormat;
pub use link::Link;
pub use message::{Message, ParseError, empty, reset_for};
pub use option::{CoapOption, OptionNumber, Options};

/// Length of the fixed header, in bytes.
pub const HEADER: usize = 4;
/// Length of the longest token, in bytes.
pub const MAX_TOKEN: usize = 8;

const VERSION: u8 = 1;
const PAYLOAD_MARKER: u8 = 0xff;
/// The nibble that says one byte, holding the value less 13, follows.
const ONE_BYTE: u8 = 13;
/// The nibble that says two bytes, holding the value less 269, follow.
const TWO_BYTES: u8 = 14;
