//! The cloud: it keeps readings so that what was acknowledged survives power loss, knows who may see them, and
//! shows them over HTTP.

mod access;
mod alerts;
mod backups;
mod brokers;
mod coap;
mod commands;
mod expiring;
mod fast;
mod http;
mod identities;
mod ingest;
mod mail;
mod networks;
mod offline;
mod offline_keys;
mod offline_users;
mod oidc;
mod pollers;
pub mod public_keys;
mod resource_logs;
mod role_names;
mod senml_records;
mod session_files;
mod start;
mod start_error;
mod tls;
mod tls_only;

pub use backups::Backups;
pub use fast::{AwsLc, Fast};
pub use http::{Document, Documents, LONGEST_IMPORT};
pub use lettre::message::Mailbox;
pub use mail::{MailSettings, SmtpServer};
pub use networks::Network;
pub use offline::Offline;
pub use oidc::{ClientId, ClientSecret, Issuer, Label, OidcSettings, PublicUrl, Scope};
pub use pollers::PollAllow;
pub use sixlock_coap_server::SystemEntropy;
pub use sixlock_endpoint::AuthenticationMethod;
pub use sixlock_store::{
    ADMIN_PASSWORD, ADMINISTRATOR, Append, BadDevice, CertificateTerms, Credential, CredentialId, Device,
    Enrolled, Error, HeldCredential, Holder, Idempotency, Known, LONGEST_PAGE, Latest, Listing, MadeIdentity,
    NewIdentity, Page, Parser, ParserId, Point, PointId, RETRANSMISSION_WINDOW_MS, Reading, Resource,
    ResourceId, Role, Rotated, Rotation, SIGN_IN_LINK, STREAMS_PER_RESOURCE, Secret, Store, Stream, StreamId,
    TokenScope, Transmission, User, UserId, UserIdentity, Writer, back_up, create_private, read_private,
    replace_private, restore,
};
pub use sixlock_telemetry::LogLevel;
pub use start::{Config, RouterMetrics, Running, start};
pub use start_error::StartError;
pub use tls::{Tls, certificate_fingerprint};
