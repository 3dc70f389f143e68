//! The messages of DTLS 1.2 and what either side does with them; nothing else knows them.

mod client;
mod context;
mod cookie;
mod epochs;
mod extensions;
mod features;
mod flights;
mod message;
mod observe;
mod overheard;
mod parameters;
mod public_keys;
mod record;
mod refusal;
mod role;
mod schedule;
mod server;
mod session;
mod session_state;
#[cfg(not(target_os = "none"))]
mod suspended;
mod tickets;
#[cfg(test)]
mod transitions;
mod version;

pub use client::Client;
pub use cookie::{COOKIE, CookieSecrets, Listen, VerifiedClientHello, is_client_hello, listen};
pub use features::{
    Certificates, FeatureSet, Features, KeyFeature, RawPublicKeys, SessionTickets, TicketFeature,
};
pub use observe::Observer;
pub use overheard::Overheard;
pub use parameters::{MAX_COOKIE, MAX_IDENTITY, MAX_PSK};
pub use public_keys::{KeyParameters, MAX_CERTIFICATES};
pub use refusal::Refusal12;
pub use role::{FeaturesOf, Role};
pub use server::Server;
pub use session::{ClientSession, Handshake, KeyLogEntry, ServerSession};
pub use session_state::{MASTER_SECRET, SESSION_ID, SESSION_STATE, SessionState};
pub use sixlock_dtls_msg::NewSessionTicket;
#[cfg(not(target_os = "none"))]
pub use suspended::{SUSPENDED, Suspended};
pub use tickets::{MAX_TICKET, TicketParameters};
pub use version::Version12;
