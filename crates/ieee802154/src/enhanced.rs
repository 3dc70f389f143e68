//! Frames of version 2 (IEEE 802.15.4-2015), which carry information elements, and those elements of them that TSCH needs
//! ([RFC 8180](https://www.rfc-editor.org/rfc/rfc8180)).
//!
//! A frame is `header | header elements | payload elements | payload | MIC | FCS`. [`Header::parse`] reads the header.
//! [`HeaderElements`] reads what follows it, if [`Header::elements`] says that elements do, and tells by which of the three the
//! next part is read: [`PayloadElements`], or the payload as it is. Of an element of the group [`MLME`], [`NestedElements`] reads
//! those inside it. An [`ElementWriter`] writes them all.
//!
//! Numbers of sections are those of IEEE 802.15.4-2015.

mod asn;
mod elements;
mod header;
mod security;
mod tsch;
mod writer;

pub use asn::Asn;
pub use elements::{
    Element, Follows, HeaderElements, MLME, NestedElements, PAYLOAD_TERMINATION, PayloadElements,
};
pub use header::Header;
pub use security::{NonceCounter, Security};
pub use tsch::{
    CHANNEL_HOPPING, LINK_PRIORITY, LINK_RECEIVE, LINK_SHARED, LINK_TIMEKEEPING, LINK_TRANSMIT, Link, Links,
    SLOTFRAME_AND_LINK, SYNCHRONIZATION, Slotframe, Slotframes, Synchronization, TIME_CORRECTION, TIMESLOT,
    TimeCorrection, Timeslot, TimeslotTimes,
};
pub use writer::ElementWriter;
