//! 6LoWPAN wire formats: the header compression of
//! [RFC 6282](https://www.rfc-editor.org/rfc/rfc6282) and the fragment headers of
//! [RFC 4944](https://www.rfc-editor.org/rfc/rfc4944).
//!
//! The contexts of addresses are those that the link's ends share ([`AddressContexts`]): context 0, [`sixlock_base::MESH_PREFIX`], where nothing
//! else is said. Datagrams that need another are refused.
//!
//! # Use
//! `compress(packet, link, out)` writes the compressed headers of a packet into `out`. `link` is [`LinkAddresses`]: the addresses of the
//! frame. [`compress`] says how many bytes it wrote, and how many of the packet it consumed: append the rest unchanged. [`decompress`]
//! restores the headers, and says both, too: append the rest unchanged. `examples/compress.rs` does both.
//!
//! [`compress_with`] and [`decompress_with`] take contexts, and compress AH, ESP and payloads. To put fragments together into datagrams,
//! use the crate `sixlock-lowpan`.
#![no_std]

mod address;
mod compress;
mod contexts;
mod cursor;
mod decompress;
mod fragment;
mod ghc;
mod iphc;
pub mod ipsec;
mod lithe;
mod nhc;
mod payload;
mod stateless;
pub mod udp;
mod with_addresses;

use core::fmt;

use sixlock_base::Eui64;

pub use compress::{Compressed, compress, compress_with};
pub use contexts::{AddressContexts, MeshContext, OneContext};
pub use decompress::{Decompressed, ElidedChecksum, decompress, decompress_with};
pub use fragment::{FragmentHeader, MAX_DATAGRAM};
pub use payload::{Ghc, Lithe, PayloadCompression, Payloads};
pub use stateless::Stateless;
pub use with_addresses::WithAddresses;

/// The dispatch byte of an uncompressed IPv6 packet.
pub const UNCOMPRESSED: u8 = 0x41;

/// Most IPv6 headers one inside the other that are compressed; further ones are carried as they are.
pub const MAX_IPV6_HEADERS: usize = 3;

/// The link-layer addresses of a frame, from which elided interface identifiers are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkAddresses {
    /// The frame's sender.
    pub source: Eui64,
    /// The frame's receiver.
    pub destination: Eui64,
}

/// Why a packet cannot be compressed or decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes end too early.
    Truncated,
    /// The result does not fit into the buffer.
    BufferTooSmall,
    /// The packet is not IPv6, or its length is not the one that its header has.
    NotIpv6,
    /// The dispatch byte is unknown.
    UnknownDispatch,
    /// A reserved address mode.
    ReservedMode,
    /// A context that is not known.
    UnknownContext,
    /// A compressed next header of an unknown kind.
    UnknownNextHeader,
    /// An impossible length.
    Length,
    /// More IPv6 headers inside each other than [`MAX_IPV6_HEADERS`].
    TooManyHeaders,
    /// A sequence number of AH or ESP has its last bits only, and nothing is known of those before it.
    UnknownSequence,
    /// An instruction of generic header compression is reserved, or refers to before its dictionary.
    Bytecode,
    /// A UDP checksum is missing and cannot be computed from this packet.
    ChecksumElided,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the bytes end too early",
            Self::BufferTooSmall => "the result does not fit into the buffer",
            Self::NotIpv6 => "the packet is not IPv6, or its length is not the one that its header has",
            Self::UnknownDispatch => "the dispatch byte is unknown",
            Self::ReservedMode => "the address mode is reserved",
            Self::UnknownContext => "the context is not known",
            Self::UnknownNextHeader => "a compressed next header is of an unknown kind",
            Self::Length => "a length is impossible",
            Self::TooManyHeaders => "more IPv6 headers are inside each other than are compressed",
            Self::UnknownSequence => "a sequence number of AH or ESP has its last bits only, and nothing is known of those before it",
            Self::Bytecode => "an instruction of generic header compression is reserved, or refers to before its dictionary",
            Self::ChecksumElided => "the UDP checksum is missing, and cannot be computed from this packet",
        })
    }
}

impl core::error::Error for Error {}
