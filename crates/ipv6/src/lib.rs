//! IPv6, UDP, ICMPv6, neighbour discovery, RPL, AH, ESP and fragment wire formats: headers, checksums and the walk along extension headers.
//!
//! A `parse` borrows its input and checks every length it relies on; an `emit` writes
//! the same bytes back.
#![no_std]

pub mod ah;
mod checksum;
mod control_message;
pub mod esp;
pub mod extension;
mod flag;
pub mod fragment;
mod header;
pub mod icmpv6;
pub mod nd;
mod prefix;
mod prefix_information;
pub mod rpl;
pub mod tunnel;
pub mod udp;

use core::fmt;

pub use checksum::checksum;
pub use header::{Header, next_header};

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes end before the header does, or the room to write it in does.
    Truncated,
    /// The version is not 6.
    Version,
    /// A length field disagrees with the bytes there are.
    Length,
    /// The checksum is wrong, or missing where it may not be.
    Checksum,
    /// It met congestion, which it cannot tell.
    Congestion,
    /// It comes from, goes to or names an address that may not stand there.
    Address,
    /// It is of a type or code that is not handled here.
    Unknown,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the header does not fit into the bytes that there are",
            Self::Version => "the version is not 6",
            Self::Length => "a length field disagrees with the bytes that there are",
            Self::Checksum => "the checksum is wrong, or missing where it may not be",
            Self::Congestion => "a fragment met congestion, which the packet cannot tell",
            Self::Address => "the packet comes from, goes to or names an address that may not stand there",
            Self::Unknown => "the type or code is none that is handled here",
        })
    }
}

impl core::error::Error for Error {}
