//! The wire format of IEEE 802.15.4-2006 MAC frames, and, in [`enhanced`], of those of 802.15.4-2015 that TSCH sends.
//!
//! A frame is `header | payload | MIC | FCS`. [`Header::parse`] reads the header of any data,
//! beacon, acknowledgement or command frame of versions 2003 and 2006, [`Header::emit`]
//! writes one, and parsing what was emitted gives back the same [`Header`].
#![no_std]

mod ack;
pub mod enhanced;
mod fcs;
mod fields;
mod header;
mod security;

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
