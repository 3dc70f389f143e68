//! The cloud: it keeps readings so that what was acknowledged survives power loss, knows who may see them, and
//! shows them over HTTP.

mod access;
mod backup;
mod coap;
mod doors;
mod error;
mod expiring;
mod fast;
mod hashing;
mod http;
mod ingest;
mod networks;
mod offline;
mod offline_keys;
mod offline_users;
mod password;
mod pollers;
mod private_files;
pub mod public_keys;
mod resumable;
mod sealed;
mod secrets;
mod sign_in_files;
mod start;
mod store;
mod suspended;
mod tls;
mod tls_only;

pub use backup::{back_up, restore};
pub use doors::SystemEntropy;
pub use error::Error;
pub use fast::Fast;
pub use http::LONGEST_IMPORT;
pub use networks::Network;
pub use offline::Offline;
pub use pollers::PollAllow;
pub use secrets::{Secret, create_private, read_private, replace_private};
pub use sign_in_files::{ADMIN_PASSWORD, SIGN_IN_LINK};
pub use sixlock_endpoint::Proof;
pub use sixlock_telemetry::LogLevel;
pub use start::{Config, RouterMetrics, Running, start};
pub use store::{
    ADMINISTRATOR, Append, BadDevice, CertificateTerms, Credential, CredentialId, Device, Enrolled,
    HeldCredential, Idempotency, Known, LONGEST_PAGE, Latest, Listing, Page, Parser, ParserId, Point,
    PointId, RETRANSMISSION_WINDOW_MS, Reading, Resource, ResourceId, Rotated, Rotation,
    STREAMS_PER_RESOURCE, Store, Stream, StreamId, Transmission, User, UserId, Writer,
};
pub use tls::Tls;
