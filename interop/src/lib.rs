//! What tests against other implementations share: the other implementation as a process,
//! and our DTLS sessions on loopback sockets.
//!
//! Every wait has a limit; a process ends with the value that stands for it.

mod authority;
mod java;
mod libcoap;
mod nat;
mod peer;
mod ports;
mod process;
mod secure;

pub use authority::Authority;
pub use java::californium;
pub use libcoap::LibcoapServer;
pub use nat::Nat;
pub use peer::{Library, Peer, Proof, Settings};
pub use ports::two_free_ports;
pub use process::Process;
pub use secure::{
    CertifiedClient, CertifiedServer, Credential, Keys, PlainClient, SecureClient, SecureServer,
    SecureSocket, Seen, TicketClient,
};

use std::time::Duration;

/// How long anything may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);
