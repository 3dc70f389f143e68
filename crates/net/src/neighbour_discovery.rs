//! Neighbour discovery for 6LoWPAN ([RFC 6775](https://www.rfc-editor.org/rfc/rfc6775),
//! [RFC 8505](https://www.rfc-editor.org/rfc/rfc8505)): a [`Host`], which finds a router, learns the prefix and the contexts from it
//! and registers its address there; and a [`Registrar`], the same at a router, with the table of registrations, and with the registry
//! of the whole network at the border router; and a [`Router`], which is both: as a host it joins, and then others join by it.
//!
//! A machine takes messages in by `handle` and the time by `handle_timeout`, writes whole packets in `poll_transmit` and says in
//! `poll_event` what has changed.
//!
//! Limits: link-layer addresses are EUI-64s, and a registration's owner proves nothing by its verifier
//! ([RFC 8928](https://www.rfc-editor.org/rfc/rfc8928)). A host has one prefix and registers at one router at a time. No address is
//! registered for another, no router is redirected to, and no neighbour's address is resolved: hosts send to their router
//! ([RFC 6775 section 5.6](https://www.rfc-editor.org/rfc/rfc6775#section-5.6)).

mod ask;
mod attempt;
mod contexts;
mod default_routers;
mod discovery;
mod error;
mod event;
mod expiry;
mod host;
mod network;
mod output;
mod registrar;
mod registrations;
mod registry;
mod reply;
mod router;
mod solicitation;
mod solicitors;
mod timer;

pub use contexts::LearntContext;
pub use default_routers::DefaultRouter;
pub use error::Error;
pub use event::Event;
pub use host::{Host, Settings};
pub use network::Network;
pub use output::Transmit;
pub use registrar::Registrar;
pub use registrations::Registration;
pub use router::Router;
