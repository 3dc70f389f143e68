//! Reads captures of IEEE 802.15.4, frame by frame: link security, 6LoWPAN, IPv6, AH and ESP, UDP, DTLS and CoAP.
//!
//! [`Capture`] reads the file, [`Keys`] hold what opens sealed layers, and a [`Decoder`] makes [`Layer`]s of each frame.
//! What cannot be read, or not be opened, is a layer too, [`Unread`], that says why.
//!
//! Any bytes are decoded or refused with the reason; the decoder keeps a bounded number of unfinished datagrams and of
//! sessions.

mod capture;
mod coap;
mod contexts;
mod contikimac;
mod datagrams;
mod decoder;
mod dtls;
mod elements;
mod enhanced;
mod ipsec;
mod ipv6;
mod keys;
mod layer;
mod link;
mod sealed;
mod shown;
mod slots;

pub use capture::{Capture, CaptureError, Record};
pub use decoder::Decoder;
pub use elements::{Element, Elements, Link, Slotframe, Unknown};
pub use keys::{Keys, KeysError};
pub use layer::{
    Ah, Coap, CoapOption, Compression, ContikiMac, Data, Datagram, Dtls, Esp, Extension, Fragment, Icmpv6,
    Ipv6, Layer, LinkSecurity, Mac, Message, MessageBody, Reason, RplInformation, Udp, Unread,
};
pub use shown::{Hex, LinkAddress};
