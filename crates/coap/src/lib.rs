//! CoAP ([RFC 7252](https://www.rfc-editor.org/rfc/rfc7252)) as machines without input and output: they take the datagrams that a peer sent,
//! and write the datagrams to send to it. They know neither sockets nor what protects a datagram on its way.
//!
//! - [`Client`] sends one request at a time, and sends it again until its response has come. [`Notifications`] says of a resource that
//!   a client observes which messages are new.
//! - [`Exchanges`] is a server for one peer. It gives each request to the program once, and answers a repeated one from memory. It can
//!   send requests of its own, too.
//! - [`Responder`] answers requests that may be done twice, and remembers nothing.
//! - [`Observers`] holds the clients that observe a resource, and makes their notifications.
//!
//! # Use
//! A client makes these calls:
//!
//! 1. [`Client::request`] begins a request.
//! 2. [`Client::poll_transmit`] writes a datagram to send. Call it until it returns `None`.
//! 3. [`Client::handle`] takes each datagram that arrives, and lends the response.
//! 4. [`Client::handle_timeout`] is due at [`Client::poll_timeout`].
//! 5. [`Client::poll_event`] tells of a request that got no response.
//!
//! `examples/get.rs` does so over UDP. A server makes the same calls of [`Exchanges`], and answers each request by
//! [`Exchanges::respond`].
//!
//! ```
//! use sixlock_base::{Environment, Instant, entropy_from};
//! use sixlock_coap::Client;
//! use sixlock_coap_msg::{Code, Message};
//!
//! let mut environment = Environment::new((), entropy_from(|bytes: &mut [u8]| bytes.fill(7)), ());
//! let mut cx = environment.cx(Instant::from_millis(0));
//! let mut client = Client::<64>::new();
//! client.request(&mut cx, true, Code::GET, |mut builder| {
//!     builder.path(&["reading"])?;
//!     Ok(builder.finish())
//! })?;
//! let mut datagram = [0; 64];
//! let length = client.poll_transmit(&mut cx, &mut datagram).unwrap();
//! assert!(Message::parse(&datagram[..length])?.path_is(&["reading"]));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

mod answer;
#[cfg(feature = "alloc")]
mod assembly;
mod blockwise;
mod client;
mod ended;
mod entry;
mod notifications;
mod observation;
mod observers;
mod outgoing;
mod reachability;
mod reliability;
mod respond_error;
mod responder;
mod server;
mod store;
mod token;

pub use answer::Answer;
#[cfg(feature = "alloc")]
pub use assembly::{Assembly, AssemblyError};
pub use blockwise::{BeyondTheEnd, Part};
pub use client::{Client, Event, RequestError, TOKEN};
pub use ended::{Answered, Ended, Notified, Outcome, Unanswered};
pub use notifications::Notifications;
pub use observation::{Notice, Observation};
pub use observers::Observers;
pub use outgoing::OutgoingRequest;
pub use reliability::Transmission;
pub use respond_error::RespondError;
pub use responder::{Responder, Response};
pub use server::{ExchangeId, Exchanges, Request, ServerConfig};
#[cfg(feature = "alloc")]
pub use store::Heap;
pub use store::{ByteStore, Inline};
pub use token::Token;
