//! The wire format of IEEE 802.15.4-2006 MAC frames, and, in [`enhanced`], of those of 802.15.4-2015 that TSCH sends.
//!
//! A frame is `header | payload | MIC | FCS`. [`Header::parse`] reads the header of any data,
//! beacon, acknowledgement or command frame of versions 2003 and 2006, [`Header::emit`]
//! writes one, and parsing what was emitted gives back the same [`Header`].
//!
//! # Use
//! To write a frame: [`Header::emit`], the payload behind it, and [`fcs`] over both. To read one: [`check_fcs`], then [`Header::parse`].
//! [`AuxiliaryHeader::nonce`] gives the nonce by which AES-CCM\* secures a frame: `examples/secure_frame.rs` does all of it.
//!
//! ```
//! use sixlock_ieee802154::{FrameType, Header, ACK_FRAME, ack, check_fcs};
//!
//! let frame: [u8; ACK_FRAME] = ack(7);
//! let (header, _) = Header::parse(check_fcs(&frame)?)?;
//! assert_eq!((header.frame_type, header.sequence), (FrameType::Ack, 7));
//! # Ok::<(), sixlock_ieee802154::Error>(())
//! ```
#![no_std]

mod ack;
pub mod enhanced;
mod fcs;
mod fields;
mod header;
mod security;

use core::fmt;

pub use ack::{ACK_FRAME, ack, ack_pending};
pub use fcs::{FCS, check_fcs, fcs};
pub use header::{Address, BROADCAST, Endpoint, FrameType, Header, Version};
pub use security::{AuxiliaryHeader, KeyId, SecurityLevel};

/// The longest frame, FCS included (aMaxPHYPacketSize).
pub const MAX_FRAME: usize = 127;

/// The longest payload of a frame of version 2003 (aMaxMACSafePayloadSize).
pub const MAX_SAFE_PAYLOAD: usize = 102;

/// Why a frame could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The frame ends before its fields do.
    Truncated,
    /// The frame check sequence does not fit the frame.
    Fcs,
    /// A reserved frame type.
    FrameType,
    /// A frame version other than those that are read.
    Version,
    /// A reserved addressing mode.
    AddressingMode,
    /// The source PAN id is left out where there is no destination PAN id to take its place.
    PanIdCompression,
    /// Security of version 2003, whose format is another and which is withdrawn.
    LegacySecurity,
    /// The buffer is too small for the header.
    BufferFull,
    /// The frame counter is left out though nothing takes its place in the nonce.
    NoFrameCounter,
    /// An information element of a type that has no place there, or of a length that it cannot have.
    InformationElement,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the frame ends before its fields do",
            Self::Fcs => "the frame check sequence does not fit the frame",
            Self::FrameType => "the type of the frame is reserved",
            Self::Version => "the version of the frame is none that is read",
            Self::AddressingMode => "the addressing mode is reserved",
            Self::PanIdCompression => "the source PAN id is left out, and no destination PAN id takes its place",
            Self::LegacySecurity => "security of IEEE 802.15.4-2003 is withdrawn: the frame must be of version 2006",
            Self::BufferFull => "the buffer is too small for the header",
            Self::NoFrameCounter => "the frame counter is left out, and nothing takes its place in the nonce",
            Self::InformationElement => "an information element is of a type that has no place there, or of a length that it cannot have",
        })
    }
}

impl core::error::Error for Error {}
