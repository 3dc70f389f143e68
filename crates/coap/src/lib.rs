//! CoAP exchanges with one peer ([RFC 7252](https://www.rfc-editor.org/rfc/rfc7252)), sans-IO:
//! [`Client`] asks until it is answered and hears [`Notifications`], [`Exchanges`] does no request twice and makes its own in between, [`Responder`] answers those that may be, and
//! [`Observers`] are told beside it what has changed.
//!
//! They take the datagrams the peer sent and fill the datagrams to send to it; what protects these on the way, and
//! where they go, is not theirs to know.
//!
//! # Use
//! A client calls [`Client::request`], sends what [`Client::poll_transmit`] gives, hands each datagram to [`Client::handle`], which lends
//! the response, and calls [`Client::handle_timeout`] at [`Client::poll_timeout`]; [`Client::poll_event`] tells of a request that got no
//! response. `examples/get.rs` does so over UDP. A server does the same with [`Exchanges`], and answers each request by
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
