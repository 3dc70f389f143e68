//! The cloud: it keeps readings so that what was acknowledged survives power loss, knows who may see them, and
//! shows them over HTTP.

mod access;
mod audit;
mod coap;
mod doors;
mod error;
mod http;
mod ingest;
mod password;
mod secrets;
mod start;
mod store;

pub use error::Error;
pub use secrets::Secret;
pub use start::{Config, Running, start};
pub use store::{
    ADMINISTRATOR, Append, Credential, CredentialId, Device, Idempotency, LONGEST_PAGE, Page, Point, PointId,
    Psk, RETRANSMISSION_WINDOW_MS, Reading, Resource, ResourceId, Rotated, Rotation, STREAMS_PER_RESOURCE,
    Store, StoredPoint, Stream, StreamId, Transmission, User, UserId,
};
