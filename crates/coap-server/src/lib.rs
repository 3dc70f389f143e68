//! A CoAP server for many devices, over DTLS and plain, on sockets.
//!
//! It knows neither what is asked nor who may ask. It is handed a [`Service`], which answers requests and tells which topics have
//! changed, a [`Directory`], which knows identities and their keys, and a [`SessionStorage`], which keeps what outlives the process.
//! [`Server::start`] starts a thread for each shard; a shard has sockets, sessions and timers of its own, and waits for no other.
//!
//! `examples/coaps_server.rs` serves a fixed resource to a device with a pre-shared key.
#![forbid(unsafe_code)]

mod answer;
mod authentication;
mod command;
mod commanding;
mod commands;
mod datagrams;
mod directory;
mod error;
mod handshake_share;
mod handshakes;
mod host_context;
mod ids;
mod key_operation;
mod key_operations;
mod known_keys;
mod look_ups;
mod machine;
mod notifications;
mod observation_id;
mod observed;
mod observed_topics;
mod observers;
mod peer;
mod requests;
mod resumption;
mod server;
mod service;
mod serving;
mod session_storage;
mod session_store;
mod sessions;
mod shard;
mod shard_channel;
mod shard_io;
mod shard_messages;
mod snapshot;
mod sockets;
mod work;

pub use answer::{Answer, ETag, LONGEST_PAYLOAD};
pub use command::Command;
pub use directory::{Directory, Known, LookUpFailed, Revocation};
pub use error::Error;
pub use host_context::{DrawnAhead, HostContext, SystemEntropy};
pub use ids::{CommandId, CredentialId, DeviceId, Holder, Topic, UserId};
pub use key_operation::{KeyOperation, PeerKey, Performed};
pub use observed_topics::ObservedTopics;
pub use peer::{Association, Peer};
pub use server::{Config, Server};
pub use service::{Answering, Changes, Service};
pub use session_storage::{
    Continuation, Limits, NoStorage, OpenSession, SaveSession, Saving, SessionRecord, SessionStorage,
    StorageError,
};
pub use sixlock_endpoint::Unanswered;
pub use sockets::{Sockets, bind_all};
