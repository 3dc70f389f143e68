//! DTLS 1.2 ([RFC 6347](https://www.rfc-editor.org/rfc/rfc6347)) with
//! AES-CCM ([RFC 6655](https://www.rfc-editor.org/rfc/rfc6655)) or AES-GCM, by pre-shared keys, alone or with ephemeral ones
//! ([RFC 8442](https://www.rfc-editor.org/rfc/rfc8442)), or by public keys of P-256, raw
//! ([RFC 7250](https://www.rfc-editor.org/rfc/rfc7250)) or in certificates, client and server.
//!
//! A [`Session`] is fed datagrams and told the time; it lends decrypted data, says what to
//! transmit and when to call again. A server answers first hellos without keeping anything
//! ([`listen`]) and makes a session only for a client that showed its cookie.
//!
//! The key of an identity is never looked up inside: the session reports
//! [`Work::Psk`], stands still and goes on with the key at [`Session::complete`]. Nor is P-256 done inside: with
//! [`Credentials`], which a [`Handshake`] of a [`Certified`] session may have, or with ephemeral keys, [`Work::Task`] tells each
//! step that needs it. A caller without a better place for it calls [`perform`].
//!
//! A session that is over can be resumed by what is left of it, its [`SessionState`]: the next
//! handshake is then shorter by a flight, and needs no key. With [`Ticketed`] a client keeps it for the server as well, which then keeps
//! nothing: as a ticket that the server has sealed.
//!
//! What only the handshake needs lives in a [`Handshake`], which the session lets go of as soon as
//! it can: part of the session or lent to it on a device, in a box on a host ([`HandshakeSlot`]).
//! A session and a handshake that have not begun are all zero bytes, and begin where they are: a
//! device has them in a static, and never moves them.
//!
//! # Use
//! 1. Make an [`Environment`](sixlock_base::Environment), which lends time, crypto and entropy, and a [`Session`]: a client calls
//!    [`Session::connect`]; a server calls [`listen`] with each datagram of a stranger, and [`Session::server`] with the hello that it accepts.
//! 2. Feed it: [`Session::handle_all`] takes a datagram, [`Session::handle_timeout`] the time, [`Session::complete`] what an event asked for.
//! 3. After each of these, drain it: [`Session::poll_event`] until there is none, [`Session::poll_transmit`] until there is none, and
//!    then wait for the next datagram or for [`Session::poll_timeout`], whichever comes first.
//! 4. After [`Event::Connected`], [`Session::seal_into`] makes records of data.
//!
//! All of it, over UDP: `examples/psk_client.rs` and `examples/psk_server.rs`.
#![no_std]

mod config;
mod connection_id;
mod engine;
mod error;
mod event;
mod limit;
mod optional_part;
mod profile;
mod public_key;
mod reasons;
mod refusal;
mod server_name;
mod session;
mod suite;
mod v12;

pub use config::{Config, Losses};
pub use connection_id::{ConnectionId, MAX_CONNECTION_ID};
pub use engine::handshake::HandshakeSlot;
pub use engine::message_buffer::{MessageBuffer, message_buffer};
pub use engine::reassembly::MAX_FRAGMENTED_MESSAGE;
pub use engine::round_trip::{RoundTrip, RoundTrips};
pub use error::{Error, Failure};
pub use event::{Completion, Event, TicketOffer, Work};
pub use optional_part::OptionalPart;
pub use profile::{Certified, Full, Plain, Profile, Resuming, Ticketed};
pub use public_key::{Answer, Credentials, Task, Trusted, certificate_alert, perform};
pub use refusal::{KeptRefusal, Refusal};
pub use server_name::{MAX_HOST_NAME, ServerName};
pub use session::{Received, Session};
pub use sixlock_dtls_msg::{AlertDescription, CertificateType};
pub use suite::{MAX_RECORD_OVERHEAD, RECORD_FRONT, RECORD_OVERHEAD, RECORD_TAIL, Suite, Suites};
pub use v12::*;
