//! A CoAP server of many peers, over DTLS and plain, sans-IO.
//!
//! An [`Endpoint`] is fed the datagrams of its two [`Transport`]s and lends the requests in them. Each is answered with
//! [`Endpoint::respond`], at once or after the database has said so, in any order. Keys are looked up outside, and P-256 is
//! done there: a handshake that needs one or the other says so in an [`Event`] and stands still, all others go on.
//!
//! After every call, what there is to send and to know is drained with [`Endpoint::poll_transmit`] and
//! [`Endpoint::poll_event`], and the timer is set to [`Endpoint::poll_timeout`].
//!
//! [`Datagrams`] is the same for a program that passes on what comes through the sessions without reading it.
//!
//! # Use
//! 1. [`Endpoint::new`], with a `Cx` and a [`Config`]. Type parameters say what an [`Address`] is, which [`Storage`] holds the
//!    sessions, and how many requests of each peer are remembered.
//! 2. [`Endpoint::handle`] with each datagram, until its `rest` is empty; [`Endpoint::respond`] to each request.
//! 3. [`Endpoint::poll_event`] until there is none; [`Endpoint::provide_key`] for each [`Event::Work`],
//!    and [`Endpoint::complete`] for each [`Event::Task`].
//! 4. [`Endpoint::handle_timeout`], and [`Endpoint::poll_transmit`] until there is none; then wait for a datagram or for
//!    [`Endpoint::poll_timeout`].
//!
//! All of it, over UDP: `examples/coaps_psk_server.rs`.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

mod address;
mod config;
mod datagrams;
mod endpoint;
mod id;
mod names;
mod plain;
mod prefixes;
mod reply;
mod secure;
mod session_cache;
mod session_event;
mod session_record;
mod shard;
mod storage;
#[cfg(all(feature = "alloc", not(target_os = "none")))]
mod suspended;
mod table;
mod tickets;
mod traffic;
mod under_way;

pub use address::{ADDRESS, Address};
pub use config::Config;
pub use datagrams::{Datagrams, Opened};
pub use endpoint::{Endpoint, Received, Request, Transmit};
pub use id::{AuthenticationMethod, PeerId, RequestId, SessionId, Stage, Transport};
pub use prefixes::NetworkLoad;
pub use session_event::Event;
pub use session_record::{FINGERPRINT_SECRET, MAX_SESSION_RECORD, Malformed, SessionUpdate};
pub use shard::Shard;
pub use sixlock_coap::{
    Answer, Answered, Ended, Notified, Outcome, OutgoingRequest, RespondError, Token, Unanswered,
};
pub use storage::{InPlace, Storage};
#[cfg(feature = "alloc")]
pub use storage::{OnHeap, Serving};
#[cfg(all(feature = "alloc", not(target_os = "none")))]
pub use suspended::{LONGEST_SUSPENDED, Suspension};
#[cfg(feature = "alloc")]
pub use table::SlabTable;
pub use table::{FixedTable, Queue, Slot, Table};
pub use tickets::{TICKET_KEY, TicketKeys, Tickets};
pub use under_way::UnderWay;
