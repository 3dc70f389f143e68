//! What tests against other implementations share: the other implementation as a process,
//! and our DTLS sessions on loopback sockets.
//!
//! Every wait has a limit; a process ends with the value that stands for it.

mod authority;
mod gnutls;
mod java;
mod libcoap;
mod mosquitto;
mod nat;
mod oidc_provider;
mod peer;
mod ports;
mod process;
mod scapy;
mod secure;

pub use authority::Authority;
pub use gnutls::gnutls_serv;
pub use java::californium;
pub use libcoap::LibcoapServer;
pub use mosquitto::Mosquitto;
pub use nat::Nat;
pub use oidc_provider::OidcProvider;
pub use peer::{Authentication, Library, Peer, Settings};
pub use ports::{on_free_ports, two_free_ports};
pub use process::Process;
pub use scapy::{Scapy, altered, from_hex, to_hex};
pub use secure::{
    CertifiedClient, CertifiedServer, Credential, Keys, PlainClient, SecureClient, SecureServer,
    SecureSocket, Seen, TicketClient,
};

use std::time::Duration;

/// How long anything may take before a test fails. A Java machine or Python starts slowly, and slower beside other tests.
pub const PATIENCE: Duration = Duration::from_secs(120);
