//! IPsec for hosts and gateways: AH ([RFC 4302](https://www.rfc-editor.org/rfc/rfc4302)) and ESP
//! ([RFC 4303](https://www.rfc-editor.org/rfc/rfc4303)) in transport and tunnel mode.
//!
//! [`Ipsec`] holds the policy and the security associations. Packets are protected and opened in place, wherever in
//! the chain of extension headers that is to be done. Nothing is decrypted before its ICV was right, but for suites
//! without one, which a policy must permit.
//!
//! Sequence numbers, and with them nonces, come from [`sixlock_base::Nv`] alone, in blocks: a reboot skips some, and never
//! repeats one ([RFC 9333 section 3](https://www.rfc-editor.org/rfc/rfc9333#section-3)). All associations of a node share
//! one durable counter.
//!
//! # When a table is full
//! Associations and policies beyond the capacity of a table are refused. No entry is evicted: traffic would be lost with an association,
//! and protection with a policy. A replacement of an inbound association is refused if no further replaced one can be kept
//! ([`Automated`]).
//!
//! # Where keys come from
//! With [`Manual`] keying, associations and policies are added at the start. With [`Automated`] keying, the program that negotiates keys
//! does this:
//! 1. It polls [`Ipsec::poll_event`] after each packet and each [`Ipsec::handle_timeout`].
//! 2. When an association is [`Event::Expiring`], it negotiates the replacement and calls [`Ipsec::replace_inbound`]. Once the far end
//!    has done the same, it calls [`Ipsec::replace_outbound`].
//! 3. When the far end sends nothing more under the old one, it calls [`Ipsec::remove_inbound`].
//! 4. On [`Event::Acquire`], it adds associations and names them in the policy ([`Ipsec::change_policy`]).
//!
//! # Use
//! 1. [`Ipsec::new`]; then [`Ipsec::add_outbound`] and [`Ipsec::add_inbound`] with an [`Association`] each, and [`Ipsec::add_policy`], which
//!    names them. Before, nothing goes out and nothing is let in.
//! 2. [`Ipsec::outbound`] with each packet before it is sent, in a [`Packet`](sixlock_base::Packet) with room before and behind it.
//! 3. [`Ipsec::inbound`] with each packet that came in, before anybody looks at what it holds.
//!
//! All of it, in memory: `examples/esp_round_trip.rs`.
#![no_std]

mod ah;
mod any;
mod association;
mod compression;
mod error;
mod esp;
mod event;
mod flow;
mod id;
mod ipsec;
mod joint;
mod keying;
mod layout;
mod lifetime;
mod packet_buffer;
mod policy;
mod protocol;
mod replay;
mod resynchronisation;
mod sequence;
pub mod suite;
mod table;
mod transform;
mod tunnel;

pub use ah::Ah;
pub use any::{AhOrEsp, AnyTransform};
pub use association::Association;
pub use compression::Contexts;
pub use error::{ConfigError, InboundError, OutboundError};
pub use esp::Esp;
pub use event::{AssociationId, Event, Refusal};
pub use flow::Flow;
pub use id::{InboundId, OutboundId};
pub use ipsec::Ipsec;
pub use joint::Joint;
pub use keying::{Automated, Keying, Manual};
pub use lifetime::{Expiry, Lifetime, Limits};
pub use packet_buffer::PacketBuffer;
pub use policy::{Action, Addresses, Policy, Ports, Protection, Selector};
pub use protocol::{Mode, Protocol};
pub use resynchronisation::{FAILURES, Resynchronised};
pub use sequence::SequenceNumber;
pub use transform::{Basic, Features, Opened, Sending, Transform};
